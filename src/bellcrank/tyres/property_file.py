"""Tyre property files (.tir): sections of names and numbers, in the units they state."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from bellcrank.base.keys import NUMBER, TEXT, TRUTH, Keys, Kinds, by_name, list_of, may, must, words
from bellcrank.base.reach import LARGEST, within
from bellcrank.base.whole_files import read_given
from bellcrank.errors import ModelError
from bellcrank.tyres.brush import Brush
from bellcrank.tyres.fiala import Fiala
from bellcrank.tyres.law import TyreLaw
from bellcrank.tyres.linear import LinearTyre
from bellcrank.tyres.magic_formula import CAMBERED, MagicFormula, names
from bellcrank.tyres.magic_formula_2002 import MagicFormula2002, rising

LARGEST_FILE = 2**20
"""Bytes; files of tyres have some twenty thousand."""
LINE = re.compile(r"([A-Za-z][A-Za-z0-9_]*)\s*=\s*(.*)")
UNITS: Mapping[str, Mapping[str, float]] = {
    "LENGTH": {
        "meter": 1.0,
        "m": 1.0,
        "centimeter": 0.01,
        "cm": 0.01,
        "millimeter": 1e-3,
        "mm": 1e-3,
        "inch": 0.0254,
    },
    "FORCE": {"newton": 1.0, "n": 1.0, "kilonewton": 1e3, "kn": 1e3, "pound_force": 4.4482216152605},
    "ANGLE": {"radian": 1.0, "radians": 1.0, "rad": 1.0},
    "MASS": {"kg": 1.0, "kilogram": 1.0, "gram": 1e-3, "pound_mass": 0.45359237},
    "TIME": {"second": 1.0, "sec": 1.0, "s": 1.0, "millisecond": 1e-3},
    "PRESSURE": {"pascal": 1.0, "pa": 1.0, "kpascal": 1e3, "kpa": 1e3, "bar": 1e5, "psi": 6894.757293168},
}
DIMENSIONS: Mapping[tuple[str, ...], Mapping[str, int]] = {
    ("UNLOADED_RADIUS", "WIDTH", "RIM_RADIUS", "RIM_WIDTH", "BOTTOM_OFFST", "BOTTOMING_RADIUS"): {
        "LENGTH": 1
    },
    ("FNOMIN", "FZMIN", "FZMAX", "CSLIP", "CALPHA", "CGAMMA", "Q_FYS1", "Q_FYS2", "Q_FYS3"): {"FORCE": 1},
    ("LONGVL", "VXLOW"): {"LENGTH": 1, "TIME": -1},
    ("INFLPRES", "NOMPRES", "PRESMIN", "PRESMAX", "IP", "IP_NOM"): {"PRESSURE": 1},
    ("VERTICAL_STIFFNESS", "LONGITUDINAL_STIFFNESS", "LATERAL_STIFFNESS", "BOTTOM_STIFF"): {
        "FORCE": 1,
        "LENGTH": -1,
    },
    ("VERTICAL_DAMPING",): {"FORCE": 1, "TIME": 1, "LENGTH": -1},
    ("DAMP_VLOW",): {"TIME": 1},
    ("MBELT",): {"MASS": 1},
}
"""Powers of the units of numbers that have any; all others are pure numbers or angles in radians."""
ABOUT = frozenset(
    names(
        """
    FILE_TYPE FILE_VERSION FILE_FORMAT COMMENT FITTYP USE_MODE TYRESIDE USER_SUB_ID PROPERTY_FILE_FORMAT
    FUNCTION_NAME N_TIRE_STATES HMAX_LOCAL TIME_SWITCH_INTEG MESSAGES ROAD_INCREMENT ROAD_DIRECTION RIM_WIDTH
    FZMIN MASS IXX IYY GRAVITY SWITCH_INTEG BELT_DYNAMICS CONTACT_MODEL USER_SUB_ROUTINE NUMBER_OF_STATES
    ELLIPS_MAX_STEP ELLIPS_NWIDTH ELLIPS_NLENGTH
    """
    )
)
"""Names that say something of the file, its fit, the wheel or how finely to sample, and take no part in the forces."""
RING = frozenset(
    names(
        """
    BELT_MASS BELT_IXX BELT_IYY YAW_STIFFNESS PCMZ1 FREQ_LONG FREQ_LAT FREQ_YAW FREQ_WINDUP DAMP_LONG DAMP_LAT
    DAMP_YAW DAMP_WINDUP DAMP_RESIDUAL Q_BVX Q_BVT ENV_C1 ENV_C2 ENV_ATT1 ENV_ATT2 Q_A1 Q_A2
    """
    )
)
"""Of the rigid ring, another model in the same files."""
LAWS: tuple[type[TyreLaw], ...] = (MagicFormula, MagicFormula2002, Brush, Fiala, LinearTyre)
FIALA = names(
    """
    VERTICAL_STIFFNESS VERTICAL_DAMPING ROLLING_RESISTANCE CSLIP CALPHA UMIN UMAX
    """
)


RIM = names("RIM_RADIUS BOTTOM_OFFST BOTTOM_STIFF")


@dataclass
class PropertyFile:
    """What a file says: numbers and words by name, tables by the name of their section, all in SI units.

    units: Those it is written in.
    """

    path: str
    numbers: dict[str, float] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    tables: dict[str, tuple[tuple[float, ...], ...]] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)


def tyre(
    path: str | PathLike[str],
    *,
    side: str | None = None,
    pressure: float | None = None,
    turn_slip: bool = False,
    ignore: Collection[str] = (),
    scales: Mapping[str, float] | None = None,
) -> TyreLaw:
    """The tyre that a property file describes: Magic Formula 5.2, 2002, 6.1 or 6.2, or Fiala.

    side: "left" or "right", where the tyre is mounted; the side it was measured on where missing. pressure: Inflation
    [Pa]; that of the file where missing. turn_slip: Whether to take the path's curvature and turning on the spot into
    account. ignore: Coefficients to leave out though they have a meaning that is not computed. scales: Scaling factors
    in the place of those of the file, such as ``{"LMUX": 0.8}``.
    """
    found = read_property_file(path)
    for name, value in (scales or {}).items():
        if not name.startswith("L"):
            raise ModelError(f"{found.path}: {name!r} is no scaling factor; their names start with L")
        found.numbers[name] = float(value)
    form = found.words.get("PROPERTY_FILE_FORMAT", "").upper()
    fit = round(found.numbers.get("FITTYP", 0))
    if form == "FIALA":
        return _fiala(found, ignore)
    kind: type[MagicFormula] = MagicFormula
    if form in ("PAC2002", "MF_05") or fit in (5, 6, 21, 51, 52):
        kind = MagicFormula2002
    elif fit not in (60, 61, 62):
        raise ModelError(
            f"{found.path} has the format {form or 'of no name'!r} with FITTYP = {fit}; the tyres read are Magic "
            "Formula 5.2 (FITTYP 6 or 21, or the format PAC2002), 6.1 and 6.2 (FITTYP 61, 62), and FIALA"
        )
    known = kind.known if fit == 62 else kind.known - frozenset(CAMBERED)
    numbers = {name: x for name, x in found.numbers.items() if name in known}
    _check_names(found, known | ABOUT | RING, ignore)
    for name in kind.needed:
        if not numbers.get(name):
            raise ModelError(f"{found.path} gives no {name}, without which there is no Magic Formula")
    mirrored = _mirrored(found, side)
    more: dict[str, Any]
    if kind is MagicFormula2002:
        more = {
            "deflections": _curve(found, "DEFLECTION_LOAD_CURVE"),
            "bottoming": _curve(found, "BOTTOMING_CURVE"),
        }
    else:
        more = {"version": 62 if fit == 62 else 61}
    try:
        return kind(numbers, pressure, turn_slip, mirrored, **more)
    except ModelError as error:
        raise ModelError(f"{found.path}: {error}") from None


def read_property_file(path: str | PathLike[str]) -> PropertyFile:
    """What a tyre property file says, in SI units."""
    found = PropertyFile(str(path))
    data = read_given(path, LARGEST_FILE)
    if len(data) > LARGEST_FILE:
        raise ModelError(
            f"{path} is larger than {LARGEST_FILE // 2**20} MiB; tyre property files are short texts"
        )
    section = ""
    rows: list[tuple[float, ...]] = []
    for count, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        text = re.split(r"[$!]", line, maxsplit=1)[0].strip()
        where = f"{path}:{count}"
        if text.startswith("[") and text.endswith("]"):
            section, rows = text[1:-1].strip().upper(), []
        elif matched := LINE.fullmatch(text):
            name, value = matched[1].upper(), matched[2].strip()
            if section == "UNITS":
                found.units[name] = value.strip("'\" \t").lower()
            else:
                _set(found, name, value, where)
        elif text and not text.startswith("{"):
            rows.append(tuple(_number(word, where) for word in text.split()))
            found.tables[section] = tuple(rows)
    _convert(found)
    return found


def _set(found: PropertyFile, name: str, text: str, where: str) -> None:
    if not text:
        return
    if name in found.numbers or name in found.words:
        raise ModelError(f"{where}: {name} is given twice")
    if text[0] in "'\"":
        found.words[name] = text.strip("'\" \t")
    else:
        found.numbers[name] = _number(text, where)


def _number(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ModelError(f"{where}: {text[:40]!r} is not a number") from None
    if not math.isfinite(value) or not within(value):
        raise ModelError(f"{where}: {text[:40]!r} is not a finite number up to {LARGEST:g}")
    return value


def _convert(found: PropertyFile) -> None:
    factors = {}
    for name, known in UNITS.items():
        unit = found.units.get(name, next(iter(known)))
        if unit not in known:
            raise ModelError(f"{found.path} has {name} in {unit!r}; known are {', '.join(known)}")
        factors[name] = known[unit]
    for which, powers in DIMENSIONS.items():
        for name in found.numbers.keys() & set(which):
            found.numbers[name] *= math.prod(factors[unit] ** power for unit, power in powers.items())
    for name in ("DEFLECTION_LOAD_CURVE", "BOTTOMING_CURVE"):
        if name in found.tables:
            found.tables[name] = tuple(
                (row[0] * factors["LENGTH"], row[1] * factors["FORCE"])
                for row in found.tables[name]
                if len(row) > 1
            )


def _check_names(found: PropertyFile, known: Collection[str], ignore: Collection[str]) -> None:
    """Every coefficient has a meaning here, or is named."""
    unknown = [
        name for name, x in found.numbers.items() if name not in known and name not in ignore and x != 0.0
    ]
    if unknown:
        raise ModelError(
            f"{found.path} has coefficients that are not computed: {', '.join(sorted(unknown))}; pass "
            f"ignore={sorted(unknown)!r} to leave them out"
        )
    ring = sorted(name for name in found.numbers if name in RING and found.numbers[name] != 0.0)
    if ring and "rigid ring" not in ignore:
        warnings.warn(
            f"{found.path}: {len(ring)} coefficients of the rigid ring ({', '.join(ring[:3])}, ...) are left out; the "
            "belt moves with the rim here",
            stacklevel=3,
        )


def _mirrored(found: PropertyFile, side: str | None) -> bool:
    measured = found.words.get("TYRESIDE", "").lower()
    if side is None or measured not in ("left", "right"):
        return False
    if side not in ("left", "right"):
        raise ModelError(f"side of the tyre {found.path} must be 'left' or 'right', not {side!r}")
    return side != measured


def _curve(found: PropertyFile, section: str) -> tuple[tuple[float, ...], ...]:
    """Rows of a section; what is not a rising curve is refused with the file."""
    rows = found.tables.get(section, ())
    try:
        return rising(f"[{section}]", rows)
    except (ModelError, ValueError) as error:
        raise ModelError(f"{found.path}: {error}") from None


def _fiala(found: PropertyFile, ignore: Collection[str]) -> Fiala:
    known = {
        *FIALA,
        *ABOUT,
        "UNLOADED_RADIUS",
        "WIDTH",
        "ASPECT_RATIO",
        "CGAMMA",
        "RELAX_LENGTH_X",
        "RELAX_LENGTH_Y",
        *RIM,
    }
    _check_names(found, known - {"CGAMMA"}, ignore)
    for name in ("UNLOADED_RADIUS", *FIALA[:2], *FIALA[3:]):
        if name not in found.numbers:
            raise ModelError(f"{found.path} gives no {name}, without which there is no tyre by Fiala")
    n = found.numbers
    rim = None
    if n.get("BOTTOM_STIFF"):
        if not n.get("RIM_RADIUS"):
            raise ModelError(
                f"{found.path} gives BOTTOM_STIFF but no RIM_RADIUS, above which the tyre bottoms"
            )
        rim = n["RIM_RADIUS"] + n.get("BOTTOM_OFFST", 0.0)
    if not n["UNLOADED_RADIUS"] > 0.0:
        raise ModelError(f"{found.path}: UNLOADED_RADIUS must be greater than 0")
    lengths = None
    if "RELAX_LENGTH_X" in n and "RELAX_LENGTH_Y" in n:
        lengths = (n["RELAX_LENGTH_X"], n["RELAX_LENGTH_Y"])
    try:
        return Fiala(
            radius=n["UNLOADED_RADIUS"],
            stiffness=n["VERTICAL_STIFFNESS"],
            damping=n["VERTICAL_DAMPING"],
            width=n.get("WIDTH", 0.2),
            rolling_resistance=n.get("ROLLING_RESISTANCE", 0.0) / n["UNLOADED_RADIUS"],
            relaxation_lengths=lengths,
            longitudinal=n["CSLIP"],
            lateral=n["CALPHA"],
            friction=n["UMAX"],
            sliding_friction=n["UMIN"],
            rim_radius=rim,
            rim_stiffness=None if rim is None else n["BOTTOM_STIFF"],
        )
    except ModelError as error:
        raise ModelError(f"{found.path}: {error}") from None


FILE = Keys(
    "By a tyre property file.",
    must("file", TEXT, "Below the folder of the model.", python="path", files=(".tir",)),
    may("side", words("left", "right"), "Where it is mounted; the side it was measured on where missing."),
    may("pressure", NUMBER, "Inflation [Pa]; that of the file where missing.", plain=True),
    may("turn_slip", TRUTH, "Whether turning on the spot and curved paths count; false where missing."),
    may(
        "ignore", list_of(TEXT), "Coefficients to leave out though they have a meaning that is not computed."
    ),
    may("scales", by_name(NUMBER), "Scaling factors in the place of those of the file.", plain=True),
)
TYRES = Kinds(
    "Law of a tyre: load and forces of slip. All numbers are plain.",
    kinds={law.kind: law.keys for law in LAWS} | {"file": FILE},
    makes={law.kind: law for law in LAWS} | {"file": tyre},
)
"""Laws of tyres in model files."""

"""Tyre property files: what is read, what is named, what is refused."""

from __future__ import annotations

import random
import warnings
from pathlib import Path

import pytest

from bellcrank import BellcrankError
from bellcrank.errors import ModelError
from bellcrank.tyres import Fiala, MagicFormula, MagicFormula2002, Slip, read_property_file, tyre

DATA = Path(__file__).parent / "data"
OLD = (DATA / "passenger_52.tir").read_text()
FIALA = """
[UNITS]
LENGTH = 'mm'
FORCE = 'newton'
ANGLE = 'radians'
MASS = 'kg'
TIME = 'second'
[MODEL]
PROPERTY_FILE_FORMAT = 'FIALA'
[DIMENSION]
UNLOADED_RADIUS = 310.0
WIDTH = 235.0
[PARAMETER]
VERTICAL_STIFFNESS = 310.0 $ N/mm
VERTICAL_DAMPING = 3.1
ROLLING_RESISTANCE = 0.0
CSLIP = 80000.0
CALPHA = 60000.0
UMIN = 0.9
UMAX = 1.0
"""


def made(tmp_path: Path, text: str, **options: object) -> object:
    path = tmp_path / "made.tir"
    path.write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tyre(path, **options)  # type: ignore[arg-type]


def test_units_are_those_of_the_file(tmp_path: Path) -> None:
    law = made(tmp_path, FIALA)
    assert isinstance(law, Fiala)
    assert (law.radius, law.stiffness, law.damping) == (0.31, 310e3, 3100.0)
    in_metres = made(tmp_path, OLD)
    in_mm = made(
        tmp_path,
        OLD.replace("'meter'", "'mm'")
        .replace("UNLOADED_RADIUS = 0.4", "UNLOADED_RADIUS = 400")
        .replace("VERTICAL_STIFFNESS = 463000", "VERTICAL_STIFFNESS = 463")
        .replace("LONGVL = 15", "LONGVL = 15000"),
    )
    assert isinstance(in_metres, MagicFormula2002)
    assert isinstance(in_mm, MagicFormula2002)
    assert in_mm.forces(Slip(5e3, 0.1, 0.1)) == pytest.approx(in_metres.forces(Slip(5e3, 0.1, 0.1)))
    assert in_mm.relaxation(5e3, 0.0) == pytest.approx(in_metres.relaxation(5e3, 0.0))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("PDX1 = 0.885", "PDX1 = nan"), "made.tir:.*'nan' is not a finite number"),
        (("PDX1 = 0.885", "PDX1 = 1e400"), "not a finite number"),
        (("PDX1 = 0.885", "PDX1 = much"), "'much' is not a number"),
        (("PDX1 = 0.885", "PDX1 = 0.885\nPDX1 = 1"), "PDX1 is given twice"),
        (("PDX1 = 0.885", ""), "gives no PDX1"),
        (("PDX1 = 0.885", "PDX1 = 0.885\nQXX9 = 3"), "not computed: QXX9; pass ignore="),
        (("'meter'", "'furlong'"), "LENGTH in 'furlong'; known are meter"),
        (("'radians'", "'degrees'"), "ANGLE in 'degrees'"),
        (("FITTYP = 6\n", "FITTYP = 99\n"), "FITTYP = 99"),
    ],
)
def test_bad_files_are_refused_with_the_reason(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    text = OLD.replace(*change)
    assert text != OLD
    with pytest.raises(ModelError, match=said):
        made(tmp_path, text)


def test_fiala_bottoms_by_its_file(tmp_path: Path) -> None:
    rim = FIALA + "RIM_RADIUS = 200\nBOTTOM_OFFST = 10\nBOTTOM_STIFF = 2000\n"
    law = made(tmp_path, rim)
    assert isinstance(law, Fiala)
    assert (law.rim_radius, law.rim_stiffness) == (pytest.approx(0.21), 2e6)
    for wrong, said in (
        (FIALA + "BOTTOM_STIFF = 2000\n", "made.tir gives BOTTOM_STIFF but no RIM_RADIUS"),
        (rim.replace("200\n", "400\n"), "made.tir: rim_radius of a fiala tyre must be less"),
    ):
        with pytest.raises(ModelError, match=said):
            made(tmp_path, wrong)


def test_every_coefficient_is_used_or_named(tmp_path: Path) -> None:
    text = OLD.replace("PDX1 = 0.885", "PDX1 = 0.885\nQXX9 = 3")
    assert isinstance(made(tmp_path, text, ignore=["QXX9"]), MagicFormula)
    with pytest.warns(UserWarning, match="of the rigid ring"):
        tyre(DATA / "passenger_62.tir")
    for name in ("passenger_52.tir", "passenger_62.tir"):
        found = read_property_file(DATA / name)
        law = made(tmp_path, (DATA / name).read_text())
        assert isinstance(law, MagicFormula)
        changed = [k for k in found.numbers if k in law.known]
        assert len(changed) > 100


def test_scaling_factors_can_be_given(tmp_path: Path) -> None:
    wet, dry = made(tmp_path, OLD, scales={"LMUX": 0.5}), made(tmp_path, OLD)
    assert isinstance(wet, MagicFormula)
    assert isinstance(dry, MagicFormula)
    sliding = Slip(9416.6, kappa=0.5)
    assert 0.4 < float(wet.forces(sliding).longitudinal) / float(dry.forces(sliding).longitudinal) < 0.65
    with pytest.raises(ModelError, match="no scaling factor"):
        made(tmp_path, OLD, scales={"PDX1": 1.0})
    with pytest.raises(ModelError, match="must be 'left' or 'right'"):
        tyre(DATA / "passenger_62.tir", side="up", ignore=["rigid ring"])


def test_damaged_files_never_fail_otherwise(tmp_path: Path) -> None:
    rng = random.Random(5)
    text = (DATA / "passenger_62.tir").read_text()
    for _ in range(60):
        damaged = list(text)
        for _ in range(rng.randrange(1, 30)):
            place = rng.randrange(len(damaged))
            damaged[place : place + rng.randrange(3)] = rng.choice(
                ["", "\0", "=", "[", "9" * 400, "-", "\n", "'", "{"]
            )
        try:
            law = made(tmp_path, "".join(damaged))
        except BellcrankError:
            continue
        assert isinstance(law, MagicFormula)

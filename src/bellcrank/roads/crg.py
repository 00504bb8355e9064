"""OpenCRG files (.crg): heights on a regular grid that follows a reference line.

ASAM OpenCRG 1.2. A header of named blocks, ``$NAME`` to ``$``, with comments after ``*`` and ``!``, ends at a line that
begins with ``$$``; then come records with one number for each channel of ``$KD_DEFINITION``: text of 10 (LRFI) or 20
(LDFI) columns in lines of 80, or big-endian numbers of 4 (KRBI) or 8 bytes (KDBI). With the heading phi and the slope s
of each step of the reference line, the cross slope b and the heights g of the long sections,

    x_k = x_k-1 + du cos(phi_k),   z_k = z_k-1 + du s_k,   height(u, v) = z(u) + b(u) v + g(u, v)
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from os import PathLike

import numpy as np

from bellcrank.base.keys import NUMBER, TEXT, Keys, list_of, may, must
from bellcrank.base.reach import LARGEST
from bellcrank.base.whole_files import read_given
from bellcrank.errors import ModelError
from bellcrank.roads.grid import Grid
from bellcrank.roads.road import MOST_HEIGHTS, Array

LARGEST_FILE = 2**28
"""Bytes; the records of a file are bounded by the heights of a road besides."""
LARGEST_HEADER = 2**22
"""Bytes; a channel takes a line of some forty, and roads have some thousand of them."""
TEXT_COLUMNS = {"LRFI": 10, "LDFI": 20}
BINARY = {"KRBI": ">f4", "KDBI": ">f8"}
UNUSED = re.compile(r"\*+\s*\w*\s*\*+|nan", re.IGNORECASE)
SECTION = re.compile(r"long section\s+(?:at v\s*=\s*(?P<v>\S+)|(?P<number>\d+))")
STRAIGHT = 1e-9
"""Change of heading [rad] below which a reference line is straight: 1 um at the end of 1 km."""


@dataclass
class CrgFile:
    """What a file says. head: Numbers of ``$ROAD_CRG``. u, v: Lines of the grid [m]. z: Heights over the reference line
    [m], NaN where missing, a row for each u. phi: Heading of each step [rad]. base: Height of the reference line at
    each u [m]. bank: Cross slope there [m/m]."""

    path: str
    head: dict[str, float] = field(default_factory=dict)
    u: Array = field(default_factory=lambda: np.zeros(0))
    v: Array = field(default_factory=lambda: np.zeros(0))
    z: Array = field(default_factory=lambda: np.zeros((0, 0)))
    phi: Array = field(default_factory=lambda: np.zeros(0))
    base: Array = field(default_factory=lambda: np.zeros(0))
    bank: Array = field(default_factory=lambda: np.zeros(0))


def crg(
    path: str | PathLike[str], between: tuple[float, float] | None = None, cell: float | None = None
) -> Grid:
    """The road of an OpenCRG file.

    between: The part of the reference line to take, from u to u [m]; all of it where missing. cell: A road with a
    curved reference line is sampled on a grid of world axes, with this distance [m]; that of the file where missing.
    Missing heights are those of the nearest ones beside them.
    """
    found = read_crg(path, between)
    heights = _filled(found) + found.base[:, None] + found.bank[:, None] * found.v
    at = (found.head.get("reference_line_start_x", 0.0), found.head.get("reference_line_start_y", 0.0))
    try:
        if np.ptp(found.phi) <= STRAIGHT:
            return Grid(found.u, found.v, heights, at=at, heading=float(found.phi[0]))
        return _sampled(found, heights, at, cell)
    except ModelError as error:
        raise ModelError(f"{found.path}: {error}") from None


def read_crg(path: str | PathLike[str], between: tuple[float, float] | None = None) -> CrgFile:
    """What an OpenCRG file says of its grid; `between` as in :func:`crg`."""
    found = CrgFile(str(path))
    data = read_given(path, LARGEST_FILE)
    if len(data) > LARGEST_FILE:
        raise ModelError(f"{path} is larger than {LARGEST_FILE // 2**20} MiB")
    ends = re.search(rb"^\$\$[^\n]*(?:\n|$)", data[:LARGEST_HEADER], re.MULTILINE)
    if ends is None:
        raise ModelError(f"{path} has no line of $$ that ends the header; it is no OpenCRG file with heights")
    blocks = _blocks(data[: ends.start()].decode("latin-1"))
    if "ROAD_CRG_FILE" in blocks:
        raise ModelError(f"{path} only names another file; read that one")
    changes = [line.partition("=")[0].strip().lower() for line in blocks.get("ROAD_CRG_MODS", [])]
    if others := [name for name in changes if name not in ("", "grid_nan_mode", "grid_nan_offset")]:
        raise ModelError(
            f"{path} asks for changes that are not made here: {', '.join(others)}; make them in the file"
        )
    for line in blocks.get("ROAD_CRG", []):
        name, sign, value = line.partition("=")
        if sign:
            found.head[name.strip().lower()] = _number(found, name.strip(), value)
    if moved := [name for name, x in found.head.items() if name.startswith("reference_line_offset_") and x]:
        raise ModelError(
            f"{path} moves its reference line by {', '.join(moved)}, which is not done here; set it to 0"
        )
    form, channels, axis = _channels(blocks.get("KD_DEFINITION", []))
    if not channels:
        raise ModelError(f"{path} has no channels: lines D:... in $KD_DEFINITION")
    rows = _records(found, data[ends.end() :], form, len(channels))
    _grid(found, rows, channels, axis, between)
    return found


def _blocks(text: str) -> dict[str, list[str]]:
    """Lines of the blocks by name, without comments."""
    found: dict[str, list[str]] = {}
    lines: list[str] | None = None
    for raw in text.splitlines():
        line = raw[:72].partition("!")[0].rstrip()
        if raw.startswith("*") or not line:
            continue
        if line.startswith("$"):
            name = line[1:].strip().upper()
            lines = found.setdefault(name, []) if name else None
        elif lines is not None:
            lines.append(line)
    return found


def _channels(lines: list[str]) -> tuple[str, list[str], list[str]]:
    """The format, the channels of the records, and the virtual one of u."""
    form, channels, axis = "KRBI", [], []
    for line in lines:
        mark, _, rest = line.partition(":")
        words = [word.strip() for word in rest.split(",")]
        match mark.strip().upper():
            case "#":
                form = rest.strip().upper()
            case "D":
                channels.append(",".join(words))
            case "U" if words[0] == "reference line u":
                axis = words
    return form, channels, axis


def _records(found: CrgFile, data: bytes, form: str, width: int) -> Array:
    """Rows of numbers, one of `width` for each cross section."""
    if form in BINARY:
        kind = np.dtype(BINARY[form])
        with np.errstate(invalid="ignore"):
            values = np.frombuffer(data, kind, count=len(data) // kind.itemsize).astype(np.float64)
        rows = values[: len(values) // width * width].reshape(-1, width)
        # Records are filled up with NaN to lines of 80 bytes.
        filled = np.flatnonzero(~np.isnan(rows).all(axis=1))
        return rows[: filled[-1] + 1] if len(filled) else rows[:0]
    if form not in TEXT_COLUMNS:
        known = ", ".join((*TEXT_COLUMNS, *BINARY))
        raise ModelError(f"{found.path} has records of the format {form[:20]!r}; those read are {known}")
    columns = TEXT_COLUMNS[form]
    a_line = 80 // columns
    lines = [line for line in data.decode("latin-1").splitlines() if line.strip()]
    lines_each = -(-width // a_line)
    result = np.empty((len(lines) // lines_each, width))
    for k in range(len(result)):
        words = []
        for line in lines[k * lines_each : (k + 1) * lines_each]:
            words += [line[i : i + columns] for i in range(0, 80, columns)]
        for j in range(width):
            result[k, j] = (
                math.nan
                if UNUSED.fullmatch(words[j].strip())
                else _number(found, f"record {k + 1}", words[j])
            )
    return result


def _number(found: CrgFile, what: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ModelError(f"{found.path}: {what}: {text.strip()[:40]!r} is not a number") from None
    if not abs(value) <= LARGEST:
        raise ModelError(
            f"{found.path}: {what}: {text.strip()[:40]!r} is not a finite number up to {LARGEST:g}"
        )
    return value


def _grid(
    found: CrgFile, rows: Array, channels: list[str], axis: list[str], between: tuple[float, float] | None
) -> None:
    path, head = found.path, found.head
    if len(rows) < 2:
        raise ModelError(f"{path} has {len(rows)} cross sections; a road needs 2")
    start, step = head.get("reference_line_start_u", 0.0), head.get("reference_line_increment", 0.01)
    if len(axis) == 4 and axis[1] == "m":
        start, step = _number(found, "U:", axis[2]), _number(found, "U:", axis[3])
    if not step > 0.0:
        raise ModelError(f"{path}: the increment of the reference line must be greater than 0, not {step:g}")
    sections: list[tuple[float, int]] = []
    numbered = []
    named: dict[str, Array] = {}
    for k, channel in enumerate(channels):
        name, _, unit = channel.partition(",")
        if matched := SECTION.fullmatch(name):
            if unit != "m":
                raise ModelError(f"{path}: heights of {name!r} are in {unit!r}, not in m")
            numbered.append(matched["v"] is None)
            at = matched["number"] if matched["v"] is None else matched["v"]
            sections.append((_number(found, name, at), k))
        elif name in ("reference line phi", "reference line slope", "reference line banking"):
            if unit != ("rad" if name.endswith("phi") else "m/m"):
                raise ModelError(f"{path}: the unit of {name!r} is {unit!r}, not rad or m/m")
            named[name.rpartition(" ")[2]] = rows[:, k]
    if len(sections) < 2:
        raise ModelError(f"{path} has {len(sections)} long sections; a road needs 2")
    if any(numbered) and not all(numbered):
        raise ModelError(f"{path} gives some long sections by number and some by place")
    sections.sort()
    places = np.array([v for v, _ in sections])
    if all(numbered):
        if not np.array_equal(places, np.arange(1, len(places) + 1)):
            raise ModelError(f"{path}: long sections are not numbered from 1 to {len(places)}")
        apart = head.get("long_section_v_increment", 0.01)
        right = head.get("long_section_v_right", -0.5 * apart * (len(places) - 1))
        places = right + apart * (places - 1.0)
    found.v = places
    found.u = start + step * np.arange(len(rows), dtype=np.float64)
    found.z = rows[:, [k for _, k in sections]]
    steps = len(rows) - 1
    # What is said of a step stands in the record at its end; that of the first record means nothing.
    phi = named["phi"][1:] if "phi" in named else np.full(steps, head.get("reference_line_start_phi", 0.0))
    slope = (
        named["slope"][1:] if "slope" in named else np.full(steps, head.get("reference_line_start_s", 0.0))
    )
    bank = named.get("banking", np.full(len(rows), head.get("reference_line_start_b", 0.0)))
    for name, values in (("phi", phi), ("slope", slope), ("banking", bank)):
        if not np.all(np.abs(values) <= LARGEST):
            raise ModelError(f"{path}: {name} of the reference line has missing values")
    base = head.get("reference_line_start_z", 0.0) + step * np.concatenate([[0.0], np.cumsum(slope)])
    found.phi, found.base, found.bank = phi, base, bank
    if between is not None:
        _cut(found, *between)
    if found.z.size > MOST_HEIGHTS:
        raise ModelError(
            f"{path} has {found.z.size} heights; {MOST_HEIGHTS} are the most: take a part, between=(u, u)"
        )


def _cut(found: CrgFile, first: float, last: float) -> None:
    """Keep a part of the reference line, where it lies."""
    kept = np.flatnonzero((found.u >= first) & (found.u <= last))
    if len(kept) < 2:
        raise ModelError(
            f"{found.path} has no two cross sections between {first:g} and {last:g}; it goes from {found.u[0]:g} to "
            f"{found.u[-1]:g}"
        )
    a, b = int(kept[0]), int(kept[-1])
    step = found.u[1] - found.u[0]
    for name, turned in (("x", np.cos(found.phi[:a])), ("y", np.sin(found.phi[:a]))):
        key = f"reference_line_start_{name}"
        found.head[key] = found.head.get(key, 0.0) + step * float(turned.sum())
    found.u, found.z, found.base, found.bank = (
        values[a : b + 1] for values in (found.u, found.z, found.base, found.bank)
    )
    found.phi = found.phi[a:b]


def _filled(found: CrgFile) -> Array:
    """Heights with missing ones taken from beside them; a cross section without any is as the last one."""
    z = found.z.copy()
    if not np.all(np.abs(z[~np.isnan(z)]) <= LARGEST):
        raise ModelError(f"{found.path} has heights that are no finite numbers")
    last: Array | None = None
    empty = []
    for k, row in enumerate(z):
        known = ~np.isnan(row)
        if known.any():
            z[k] = last = np.interp(found.v, found.v[known], row[known])
        elif last is not None:
            z[k] = last
        else:
            empty.append(k)
    if last is None:
        raise ModelError(f"{found.path} has no heights")
    z[empty] = z[len(empty)]
    return z


def _sampled(found: CrgFile, heights: Array, at: tuple[float, float], cell: float | None) -> Grid:
    """A road along a curved line as a grid of world axes: each node has the height at its nearest point of the line."""
    from scipy.interpolate import RegularGridInterpolator
    from scipy.spatial import cKDTree

    du = float(found.u[1] - found.u[0])
    step = cell if cell is not None else min(du, float(np.diff(found.v).min()))
    if not step > 0.0:
        raise ModelError(f"cell must be greater than 0, not {step!r}")
    ahead = np.stack([np.cos(found.phi), np.sin(found.phi)], axis=1)
    line = np.asarray(at) + np.concatenate([[(0.0, 0.0)], np.cumsum(du * ahead, axis=0)])
    reach = float(np.abs(found.v).max())
    low, high = line.min(axis=0) - reach, line.max(axis=0) + reach
    counts = np.ceil((high - low) / step) + 1.0
    if counts[0] * counts[1] > MOST_HEIGHTS:
        raise ModelError(
            f"its reference line is curved, and a grid of world axes of {step:g} m would have {counts.prod():.3g} "
            f"heights; {MOST_HEIGHTS} are the most: take a part, between=(u, u), or a larger cell"
        )
    xs, ys = (low[k] + step * np.arange(int(counts[k])) for k in range(2))
    nodes = np.stack(np.meshgrid(xs, ys, indexing="ij"), axis=-1).reshape(-1, 2)
    nearest = cKDTree(line).query(nodes)[1]
    best = np.full(len(nodes), np.inf)
    u, v = np.empty(len(nodes)), np.empty(len(nodes))
    for k in (np.maximum(nearest - 1, 0), np.minimum(nearest, len(ahead) - 1)):
        away = nodes - line[k]
        s = np.clip((away * ahead[k]).sum(axis=1), 0.0, du)
        gap = np.linalg.norm(away - s[:, None] * ahead[k], axis=1)
        side = ahead[k, 0] * away[:, 1] - ahead[k, 1] * away[:, 0]
        closer = gap < best
        best = np.where(closer, gap, best)
        u = np.where(closer, found.u[k] + s, u)
        v = np.where(closer, np.copysign(gap, side), v)
    place = np.stack([np.clip(u, found.u[0], found.u[-1]), np.clip(v, found.v[0], found.v[-1])], axis=1)
    z = RegularGridInterpolator((found.u, found.v), heights)(place)
    return Grid(xs, ys, z.reshape(len(xs), len(ys)))


FILE = Keys(
    "An OpenCRG file.",
    must("file", TEXT, "Below the folder of the model.", python="path", files=(".crg",)),
    may("between", list_of(NUMBER, 2), "Part of the reference line to take, from u to u [m].", plain=True),
    may("cell", NUMBER, "Distance at which a curved road is sampled [m].", plain=True),
)
"""In model files; written again, such a road is a grid."""

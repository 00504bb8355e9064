"""Named quantities as curves: vectors taken apart, grouped by unit, thinned without losing peaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from bellcrank.result.result import Result

Array = NDArray[np.float64]

MARKS = 400
"""Places for marks along an axis of time, each some two pixels wide."""
COLOURS = ("#3b75af", "#e1792d", "#3c9a52", "#c14a4f", "#8a63b3", "#3aa6a6", "#c9a227", "#d77aa6")


@dataclass(frozen=True, eq=False)
class Curve:
    """One line: name, times [s] and values."""

    name: str
    time: Array
    values: Array
    colour: str


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves that share a unit and an axis."""

    unit: str
    curves: tuple[Curve, ...]


def marks(result: Result) -> tuple[list[float], list[float]]:
    """Times of events and of impacts [s], thinned to what an axis can show: one each 1/MARKS of it."""
    first, last = (float(result.time[k]) for k in (0, -1)) if len(result.time) else (0.0, 0.0)

    def thinned(times: Array) -> list[float]:
        cells = np.floor((times - first) / max(last - first, 1e-300) * MARKS)
        return [float(t) for t in np.sort(times[np.unique(cells, return_index=True)[1]])]

    return thinned(np.array([e.time for e in result.events])), thinned(result.impacts.times)


def pretty(unit: str) -> str:
    """A unit as it is written by hand."""
    return unit.replace("^2", "²").replace("^3", "³").replace(" ", "·")


def default_names(result: Result) -> list[str]:
    """What to show where nothing was asked for: energies, and where the moving bodies are."""
    names = ["energy.kinetic", "energy.gravity", "energy.total"]
    moving = [f"{name}.position" for name in result.mechanism.system.bodies]
    wanted = []
    for name in moving:
        spans = np.ptp(np.asarray(result[name]), axis=0) if len(result) else np.zeros(3)
        most = "xyz"[int(np.argmax(spans))]
        if spans.max() > 1e-9:
            wanted.append(f"{name}.{most}")
    return [*wanted[:3], *names]


def panels(result: Result, names: Sequence[str], points: int | None = None) -> list[Panel]:
    """Quantities grouped by unit in the order asked for; with `points`, at most about so many a curve."""
    columns: list[tuple[str, str, Array]] = []
    for series in result.compute(list(dict.fromkeys(names))):
        parts = result.quantities.find(series.name)[0].components
        flat = series.to_numpy().reshape(len(result), -1)
        if series.ndim == 1:
            columns.append((series.name, series.unit, flat[:, 0]))
        else:
            columns += [(f"{series.name}.{c}", series.unit, flat[:, i]) for i, c in enumerate(parts)]
    return grouped(result.time, columns, points)


def grouped(time: Array, columns: Sequence[tuple[str, str, Array]], points: int | None = None) -> list[Panel]:
    """Columns of name, unit and values as panels, one a unit."""
    found: dict[str, list[tuple[str, Array]]] = {}
    for name, unit, values in columns:
        found.setdefault(unit, []).append((name, values))
    made = []
    for unit, shared in found.items():
        curves = []
        for k, (name, values) in enumerate(shared):
            keep = thin(values, points) if points else np.arange(len(values))
            curves.append(Curve(name, time[keep], values[keep], COLOURS[k % len(COLOURS)]))
        made.append(Panel(unit, tuple(curves)))
    return made


def thin(values: Array, points: int) -> NDArray[np.int64]:
    """Rows to keep of a long curve: the lowest and the highest of each of points/2 stretches, and the ends."""
    n = len(values)
    if n <= points:
        return np.arange(n)
    edges = np.linspace(0, n, points // 2 + 1).astype(int)
    kept = {0, n - 1}
    for a, b in pairwise(edges.tolist()):
        if b > a:
            kept |= {a + int(np.argmin(values[a:b])), a + int(np.argmax(values[a:b]))}
    return np.array(sorted(kept))


def span(panel: Panel) -> tuple[float, float]:
    """Lowest and highest value shown, with some air; rounding noise on a constant is not blown up."""
    values = np.concatenate([c.values[np.isfinite(c.values)] for c in panel.curves])
    if not len(values):
        return -1.0, 1.0
    low, high = float(values.min()), float(values.max())
    least = max(1e-9 * max(abs(low), abs(high)), 1e-300)
    if high - low < least:
        middle, half = (low + high) / 2, max(0.05 * abs(low), 1e-12)
        return middle - half, middle + half
    air = 0.06 * (high - low)
    return low - air, high + air


def ticks(low: float, high: float, about: int = 5) -> Array:
    """Round numbers between two limits."""
    raw = (high - low) / max(about, 1)
    power = 10.0 ** np.floor(np.log10(raw))
    step = power * next(m for m in (1, 2, 2.5, 5, 10) if m * power >= raw * 0.999)
    first = np.ceil(low / step - 1e-9)
    return np.asarray(step * np.arange(first, np.floor(high / step + 1e-9) + 1))

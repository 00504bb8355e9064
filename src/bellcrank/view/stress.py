"""Stress of flexible bodies at the points they are drawn by, and colours for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.flexible.recovery import SYMMETRIC, equivalent_stress
from bellcrank.quantities.node_fields import node_rows

if TYPE_CHECKING:
    from bellcrank.result.result import Result

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

STOPS = ("#2c7bb6", "#6fb8d2", "#d8e6a8", "#fdae61", "#d7191c")
"""From no stress to the largest."""
PRESSED = ("#fff6c2", "#ffd166", "#f4845f", "#d62828", "#5c0411")
"""From no contact pressure to the largest."""


def stress_at(result: Result, body: str, points: Integers) -> Array | None:
    """Stress [Pa] over time, (k, points), at the points by which it is drawn, by number; None without such a field.

    Of beams the largest magnitude over the section, of solids that of von Mises.
    """
    member = result.mechanism.system.bodies[body].member
    if member is None or "stress" not in member.fields:
        return None
    field = member.fields["stress"]
    places = member.drawn_points
    eta = result[f"{body}.modes"].to_numpy()
    values = np.zeros((len(eta), len(points)))
    for k, point in enumerate(points):
        rows, _ = node_rows(field, places[point])
        found = eta @ rows.T
        if field.components == SYMMETRIC and found.shape[1] == len(SYMMETRIC):
            values[:, k] = equivalent_stress(found)
        else:
            values[:, k] = np.abs(found).max(axis=1)
    return values


def colours(share: Array, scale: tuple[str, ...] = STOPS) -> NDArray[np.uint8]:
    """Colours (..., 3) for shares 0 to 1 of the largest value, between those of a scale."""
    stops = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in scale], dtype=float)
    at = np.clip(np.nan_to_num(share), 0.0, 1.0) * (len(scale) - 1)
    mixed = np.stack([np.interp(at, np.arange(len(scale)), stops[:, i]) for i in range(3)], axis=-1)
    return np.asarray(np.round(mixed), dtype=np.uint8)


def scaled(value: float) -> str:
    """Three digits and the letter of a power of a thousand, to stand before a unit."""
    for factor, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g} {letter}"
    return f"{value:.3g} "

"""Fields of a flexible member at its nodes, as rows on the modal coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from bellcrank.flexible.recovery import Field

Array = NDArray[np.float64]

SAME_POINT = 1e-9
"""Share of the member's extent within which a sample point of a field and a node are one."""


def node_rows(found: Field, position: Array) -> tuple[Array, tuple[str, ...]]:
    """What a field says at a node: rows (c, n) on the modal coordinates, and names of the c components.

    The sample points nearest to the node; beams have several there, the extremes of the section, which are
    numbered in the order of the section's `extremes`.
    """
    near = near_node(found, position)
    rows = found.values[near].reshape(-1, found.values.shape[2])
    if len(near) == 1:
        return rows, found.components
    return rows, tuple(f"{c} {i + 1}" for i in range(len(near)) for c in found.components)


def near_node(found: Field, position: Array) -> list[int]:
    """The sample points at a node."""
    distance = np.linalg.norm(found.points - position, axis=1)
    if not found.cells.size:
        # Fields without cells are those of sections: all extremes of the section nearest along the axis.
        distance = np.abs(found.points[:, 0] - position[0])
    extent = float(np.linalg.norm(np.ptp(found.points, axis=0))) or 1.0
    return [int(i) for i in np.flatnonzero(distance <= distance.min() + SAME_POINT * extent)]

"""Which speeds are dependent: pivots of the numeric Jacobian, group by group (Ahn and Lee 1994, equations 24 to 27).

Full pivoting with a threshold: among the entries that are not much smaller than the largest left, the one
that makes the fewest operations is taken. Speeds that carry many other links of their group are left
for last, so that they tend to be the independent ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.formulations.loops import GroupPartition, Partition
from bellcrank.mechanics.constraints import Constraint, Equation, over_speeds
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import Linkage
from bellcrank.topology.groups import Group

THRESHOLD = 0.2
"""A pivot may be this much smaller than the largest entry left, where that saves operations."""

RANK_TOLERANCE = 1e-9
"""Entries below this share of the largest are taken for zero when rank is judged."""


@dataclass(frozen=True, eq=False)
class NumericRows:
    """All constraint rows in one state as a dense matrix over speeds, balls in their own axes."""

    J: NDArray[np.float64]
    residual: NDArray[np.float64]
    nu: NDArray[np.float64]
    equations: tuple[Equation, ...]


def numeric_rows(kin: Kinematics, constraints: Sequence[Constraint], t: float) -> NumericRows:
    """Residuals and Jacobian rows of a state of plain numbers."""
    equations = [e for c in constraints for e in c.equations(kin, t)]
    J = np.zeros((len(equations), kin.linkage.speeds))
    for i, e in enumerate(equations):
        for speed, value in over_speeds(kin, e).items():
            J[i, speed] = value
    residual = np.array([e.residual for e in equations], dtype=float)
    nu = np.array([e.nu for e in equations], dtype=float)
    return NumericRows(J, residual, nu, tuple(equations))


def compared(
    linkage: Linkage, constraints: Sequence[Constraint], J: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Rows in which lengths stand beside angles: speeds by their units, rows of size one, in large and small ones.

    Elsewhere they are left as they are.
    """
    if linkage.unit == 1.0:
        return J
    scaled = J * np.array(linkage.speed_units)
    sizes = np.abs(scaled).max(axis=1, initial=0.0)
    # What is left of a row by rounding alone is no row. Directions are rounded as unit vectors, whatever the lengths.
    axes = np.array([label.startswith("axes") for c in constraints for label in c.labels], dtype=bool)
    whole = np.where(axes, 1.0, sizes[~axes].max(initial=0.0))
    return np.asarray(scaled / np.where(sizes > 1e-12 * whole, sizes, np.inf)[:, None])


def equation_numbers(constraints: Sequence[Constraint]) -> list[range]:
    """The numbers of each constraint's equations."""
    found, first = [], 0
    for c in constraints:
        found.append(range(first, first + c.size))
        first += c.size
    return found


def nonholonomic(constraints: Sequence[Constraint]) -> frozenset[int]:
    """The numbers of the equations that are of velocities alone."""
    numbers = zip(constraints, equation_numbers(constraints), strict=True)
    return frozenset(own[k] for c, own in numbers for k in c.nonholonomic)


def independent_rows(J: NDArray[np.float64], later: Sequence[int] = ()) -> list[int]:
    """A largest set of independent rows, by full pivoting (rows of the block L U in Ahn and Lee 1994).

    later: Rows that are only taken when no other is left.
    """
    A = J.copy()
    rows: list[int] = []
    free_columns = list(range(A.shape[1]))
    largest = np.abs(A).max(initial=0.0)
    first = [r for r in range(A.shape[0]) if r not in set(later)]
    for free_rows, rest in ((first, list(later)), (list(later), [])):
        while free_rows and free_columns:
            part = np.abs(A[np.ix_(free_rows, free_columns)])
            i, j = np.unravel_index(int(part.argmax()), part.shape)
            if part[i, j] <= RANK_TOLERANCE * largest:
                break
            r, c = free_rows.pop(int(i)), free_columns.pop(int(j))
            left = free_rows + rest
            A[left] -= np.outer(A[left, c] / A[r, c], A[r])
            rows.append(r)
    return rows


def choose_partition(
    linkage: Linkage,
    constraints: Sequence[Constraint],
    groups: Sequence[Group],
    kept: Sequence[int],
    rows: NumericRows,
    avoid: frozenset[int] = frozenset(),
) -> Partition:
    """Pivots for every group in the state `rows` was taken in.

    kept: the equations that are not redundant. avoid: speeds that should stay independent if they can.
    """
    numbers = equation_numbers(constraints)
    keep = set(kept)
    chosen: list[GroupPartition] = []
    dependent: set[int] = set()
    for group in groups:
        equations = [e for c in group.constraints for e in numbers[c] if e in keep]
        if not equations:
            continue
        speeds = [s for k in sorted(group.links) for s in _speeds(linkage, k)]
        weights = _weights(linkage, group, speeds, avoid)
        turned = _single_base_balls(linkage, rows, group, equations)
        while True:
            J = compared(linkage, constraints, _turned_rows(linkage, rows, turned))
            found = tuple(
                (equations[i], speeds[j]) for i, j in _pivots(J[np.ix_(equations, speeds)], weights)
            )
            columns = {c for _, c in found}
            whole = frozenset(k for k in turned if columns.issuperset(_speeds(linkage, k)))
            if whole == turned:
                break
            turned = whole
        chosen.append(GroupPartition(found, turned))
        dependent |= columns
    independent = tuple(s for s in range(linkage.speeds) if s not in dependent)
    return Partition(tuple(chosen), independent)


def _speeds(linkage: Linkage, k: int) -> range:
    return linkage.links[k].own_speeds


def _weights(linkage: Linkage, group: Group, speeds: Sequence[int], avoid: frozenset[int]) -> list[float]:
    """Cost of making a speed dependent: how many links of the group it carries."""
    members = set(group.links)
    carried: dict[int, int] = dict.fromkeys(members, 0)
    for k in members:
        inner = linkage.links[k].parent
        while inner >= 0:
            if inner in members:
                carried[inner] += 1
            inner = linkage.links[inner].parent
    by_speed = {s: float(carried[k]) for k in members for s in _speeds(linkage, k)}
    return [by_speed[s] + (1000.0 if s in avoid else 0.0) for s in speeds]


def independence(block: NDArray[np.float64], sizes: NDArray[np.float64]) -> tuple[float, int]:
    """How far the rows of a square block are from depending on each other, 0 to 1, and the row that does first.

    The smallest singular value over the largest, with rows over `sizes`, what entries of such an equation amount to,
    and columns brought to size one, so that units and sizes of bodies do not matter.
    """
    if not block.size:
        return 1.0, 0
    scaled = block / np.maximum(sizes, 1e-300)[:, None]
    scaled = scaled / np.maximum(np.abs(scaled).max(axis=0), 1e-300)
    U, values, _ = np.linalg.svd(scaled)
    return float(values[-1] / values[0]), int(np.abs(U[:, -1]).argmax())


def _pivots(J: NDArray[np.float64], weights: Sequence[float]) -> list[tuple[int, int]]:
    """Pivot positions: large enough, few operations, light columns first."""
    A = J.copy()
    scale = np.abs(A).max(initial=0.0)
    rows, columns = list(range(A.shape[0])), list(range(A.shape[1]))
    weight = np.array(weights)
    found: list[tuple[int, int]] = []
    while rows:
        part = np.abs(A[np.ix_(rows, columns)])
        present = part > 1e-12 * scale
        best = part.max(initial=0.0)
        if best <= 1e-12 * scale:
            break
        in_row, in_column = present.sum(axis=1) - 1, present.sum(axis=0) - 1
        cost = np.outer(in_row, in_column) + 3.0 * weight[columns][None, :]
        # Within its own row a pivot must be good too, or the row would be divided by little.
        good = (part >= THRESHOLD * best) & (part >= THRESHOLD * part.max(axis=1, keepdims=True))
        cost = np.where(good, cost - part / (2.0 * best), np.inf)
        i, j = np.unravel_index(int(cost.argmin()), cost.shape)
        r, c = rows.pop(int(i)), columns.pop(int(j))
        A[rows] -= np.outer(A[rows, c] / A[r, c], A[r])
        A[np.ix_(rows, [c])] = 0.0
        found.append((r, c))
    return found


def _single_base_balls(
    linkage: Linkage, rows: NumericRows, group: Group, equations: Sequence[int]
) -> frozenset[int]:
    """Ball links of a group whose constraints are all seen from one base."""
    bases: dict[int, set[int]] = {}
    for e in equations:
        for k in rows.equations[e].row:
            bases.setdefault(k, set()).add(rows.equations[e].base)
    members = set(group.links)
    return frozenset(
        k
        for k, seen in bases.items()
        if k in members and linkage.links[k].kind.rows_in_base and len(seen) == 1
    )


def _turned_rows(linkage: Linkage, rows: NumericRows, turned: frozenset[int]) -> NDArray[np.float64]:
    """The Jacobian with the balls in `turned` in the axes of their constraints' base."""
    J = rows.J.copy()
    for k in turned:
        here = list(_speeds(linkage, k))
        for i, e in enumerate(rows.equations):
            if k in e.row:
                J[i, here] = np.array(e.row[k], dtype=float)
    return J


def by_name(partition: Partition, names: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Dependent and independent speeds in words."""
    return {
        "independent": tuple(names[i] for i in partition.independent),
        "dependent": tuple(names[i] for i in partition.dependent),
    }

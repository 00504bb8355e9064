"""Closed loops: dependent speeds by independent ones, group by group.

Sources: Kang and Yoon (about 2001), equations 24 to 30; Ahn and Lee (1994), equations 24 to 34.

For each body group the constraint rows are eliminated in a fixed order of pivots; the pivot columns are the
dependent speeds. Columns of lower groups that enter a group's constraints are inputs of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bellcrank.formulations.algebra import LU
from bellcrank.math.tuples import Vec, transposed_times
from bellcrank.mechanics.constraints import Constraint, Equation, over_speeds
from bellcrank.mechanics.dynamics import Column, tree_columns
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.program.trace import Scalar


@dataclass(frozen=True)
class GroupPartition:
    """The pivots (equation number, speed index) of one body group, in order of elimination.

    `turned` are ball links whose three speeds are all dependent and whose constraints share one base: they
    are eliminated in the axes of that base, in which their rows need no arithmetic.
    """

    pivots: tuple[tuple[int, int], ...]
    turned: frozenset[int]


@dataclass(frozen=True)
class Partition:
    """Dependent and independent speeds of a mechanism."""

    groups: tuple[GroupPartition, ...]
    independent: tuple[int, ...]

    @property
    def dependent(self) -> tuple[int, ...]:
        """The dependent speeds, group by group."""
        return tuple(c for g in self.groups for _, c in g.pivots)


class Loops:
    """The loops of a mechanism in one state, solved for the dependent speeds.

    After construction: `equations`, `B` (dependent by independent speeds, 28) and `b` (29) in the links'
    own axes. After :meth:`solve_accelerations`: `g` (30).
    """

    def __init__(
        self, kin: Kinematics, constraints: Sequence[Constraint], partition: Partition, t: Scalar
    ) -> None:
        self.kin, self.constraints, self.partition, self.t = kin, constraints, partition, t
        self.equations: list[Equation] = [e for c in constraints for e in c.equations(kin, t)]
        self._base = {k: e.base for e in self.equations for k in e.row}
        self.B: dict[int, dict[int, Scalar]] = {}
        self.b: dict[int, Scalar] = {}
        self.g: dict[int, Scalar] = {}
        self.eliminations: list[LU[int]] = []
        self._inputs: list[dict[int, dict[int, Scalar]]] = []
        for group in partition.groups:
            self._eliminate(group)

    def row(self, number: int, turned: frozenset[int] = frozenset()) -> dict[int, Scalar]:
        """One row of the Jacobian by speed index; balls in their own axes unless `turned`."""
        return over_speeds(self.kin, self.equations[number], turned)

    def _eliminate(self, group: GroupPartition) -> None:
        rows = {e: self.row(e, group.turned) for e, _ in group.pivots}
        lu = LU.of(rows, group.pivots)
        self.eliminations.append(lu)
        solution = lu.solve_columns()
        inputs: dict[int, dict[int, Scalar]] = {c: {} for c in solution}
        nu = {e: self.equations[e].nu for e, _ in group.pivots}
        steady = all(isinstance(x, float) and x == 0.0 for x in nu.values())
        shift = {} if steady else lu.solve(nu)
        B: dict[int, dict[int, Scalar]] = {}
        b: dict[int, Scalar] = {}
        for c, combination in solution.items():
            row: dict[int, Scalar] = {}
            rest = shift.get(c, 0.0)
            for j, x in combination.items():
                if j in self.B:
                    inputs[c][j] = x
                    for i, y in self.B[j].items():
                        row[i] = row.get(i, 0.0) + x * y
                    rest = rest + x * self.b.get(j, 0.0)
                else:
                    row[j] = row.get(j, 0.0) + x
            B[c], b[c] = row, rest
        self._inputs.append(inputs)
        self._turn_back(group, B, b)
        self.B.update(B)
        self.b.update(b)

    def _turn_back(
        self, group: GroupPartition, B: dict[int, dict[int, Scalar]], b: dict[int, Scalar]
    ) -> None:
        """Speeds of turned balls from the axes of the base to their own."""
        for k in sorted(group.turned):
            u = self.kin.linkage.links[k].u
            columns = sorted({i for j in range(3) for i in B[u + j]})
            for i in columns:
                local = self._own_axes(k, [B[u + j].get(i, 0.0) for j in range(3)])
                for j in range(3):
                    B[u + j][i] = local[j]
            local = self._own_axes(k, [b[u + j] for j in range(3)])
            for j in range(3):
                b[u + j] = local[j]

    def base_of(self, k: int) -> int:
        """The link from which the constraints of a turned ball are seen."""
        return self._base[k]

    def _own_axes(self, k: int, w: Sequence[Scalar]) -> Vec:
        return transposed_times(self.kin.pose(k, self._base[k]).R, (w[0], w[1], w[2]))

    def speeds(self, independent: Mapping[int, Scalar]) -> list[Scalar]:
        """All speeds from the independent ones (26)."""
        u: list[Scalar] = [0.0] * self.kin.linkage.speeds
        for i, value in independent.items():
            u[i] = value
        for c, row in self.B.items():
            total = self.b[c]
            for i, x in row.items():
                total = total + x * independent[i]
            u[c] = total
        return u

    def solve_accelerations(self) -> list[Scalar]:
        """g (30): the speed rates while the independent speeds stay constant; needs the speeds set."""
        gamma = [x for c in self.constraints for x in c.gammas(self.kin, self.t)]
        for group, lu, inputs in zip(self.partition.groups, self.eliminations, self._inputs, strict=True):
            self.g.update(self._group_solution(group, lu, inputs, gamma, self.g))
        self.gamma = gamma
        rates: list[Scalar] = [0.0] * self.kin.linkage.speeds
        for c, x in self.g.items():
            rates[c] = x
        return rates

    def position_step(self) -> list[Scalar]:
        """The Newton step (38) of all links along their speeds; independent ones stay."""
        step: dict[int, Scalar] = {}
        miss = [-e.residual for e in self.equations]
        for group, lu, inputs in zip(self.partition.groups, self.eliminations, self._inputs, strict=True):
            step.update(self._group_solution(group, lu, inputs, miss, step))
        return [step.get(i, 0.0) for i in range(self.kin.linkage.speeds)]

    def _group_solution(
        self,
        group: GroupPartition,
        lu: LU[int],
        inputs: Mapping[int, Mapping[int, Scalar]],
        rhs: Sequence[Scalar],
        earlier: Mapping[int, Scalar],
    ) -> dict[int, Scalar]:
        """Dependent quantities of one group for a right-hand side; `earlier` ones drive it."""
        solution = lu.solve(rhs)
        for c, combination in inputs.items():
            for j, x in combination.items():
                solution[c] = solution[c] + x * earlier[j]
        for k in sorted(group.turned):
            u = self.kin.linkage.links[k].u
            local = self._own_axes(k, [solution[u + j] for j in range(3)])
            solution.update({u + j: local[j] for j in range(3)})
        return solution

    def accelerations(self, independent: Mapping[int, Scalar]) -> list[Scalar]:
        """All speed rates from the independent ones (27)."""
        rates: list[Scalar] = [0.0] * self.kin.linkage.speeds
        for i, value in independent.items():
            rates[i] = value
        for c, row in self.B.items():
            total = self.g[c]
            for i, x in row.items():
                total = total + x * independent[i]
            rates[c] = total
        return rates

    def columns(self) -> list[Column]:
        """For each independent speed, the speeds of all links that go with it (33, 34)."""
        single = tree_columns(self.kin)
        followers: dict[int, list[tuple[int, Scalar]]] = {i: [(i, 1.0)] for i in self.partition.independent}
        for c, row in self.B.items():
            for i, x in row.items():
                followers[i].append((c, x))
        return [_combined(single, followers[i]) for i in self.partition.independent]


def _combined(single: Sequence[Column], parts: Sequence[tuple[int, Scalar]]) -> Column:
    """The sum of columns of single speeds, each times its share."""
    speeds: dict[int, tuple[Scalar, ...]] = {}
    modal: dict[int, tuple[Scalar, ...]] = {}
    for c, share in parts:
        for target, entries in ((speeds, single[c].speeds), (modal, single[c].modal)):
            for k, values in entries.items():
                before = target.get(k, (0.0,) * len(values))
                target[k] = tuple(a + share * b for a, b in zip(before, values, strict=True))
    return Column(speeds, modal)

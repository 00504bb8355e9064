"""Sparse elimination over scalars: pivots are chosen beforehand, the arithmetic is traced."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

from bellcrank.program.trace import Scalar

Key = TypeVar("Key", bound=Hashable)
Symmetric: TypeAlias = Mapping[tuple[int, int], Scalar]
"""Entries (i, j), i >= j, of a symmetric matrix; absent entries are zero."""


@dataclass
class LU(Generic[Key]):
    """Rows {column: entry} eliminated in a given order of pivots (row, column).

    Columns that are never a pivot stay as given quantities: the solution is expressed by them.
    """

    pivots: Sequence[tuple[int, Key]]
    upper: list[dict[Key, Scalar]] = field(default_factory=list)
    inverse: list[Scalar] = field(default_factory=list)
    factors: list[list[tuple[int, Scalar]]] = field(default_factory=list)

    @staticmethod
    def of(rows: Mapping[int, Mapping[Key, Scalar]], pivots: Sequence[tuple[int, Key]]) -> LU[Key]:
        """Eliminate. `pivots[k]` is the k-th pivot; every row has one."""
        lu = LU(pivots)
        work: dict[int, dict[Key, Scalar]] = {r: dict(rows[r]) for r, _ in pivots}
        place = {r: k for k, (r, _) in enumerate(pivots)}
        for r, c in pivots:
            pivot_row = work.pop(r)
            inverse = 1.0 / pivot_row[c]
            factors = []
            for other, row in work.items():
                if c in row:
                    f = row.pop(c) * inverse
                    factors.append((place[other], f))
                    for column, entry in pivot_row.items():
                        if column != c:
                            row[column] = row.get(column, 0.0) - f * entry
            lu.upper.append(pivot_row)
            lu.inverse.append(inverse)
            lu.factors.append(factors)
        return lu

    @property
    def pivot_values(self) -> list[Scalar]:
        """The pivots themselves: where one decays, another choice is due."""
        return [row[c] for row, (_, c) in zip(self.upper, self.pivots, strict=True)]

    def given_columns(self) -> list[Key]:
        """Columns that were never pivots, in order of appearance."""
        pivots = {c for _, c in self.pivots}
        return list(dict.fromkeys(c for row in self.upper for c in row if c not in pivots))

    def solve_columns(self) -> dict[Key, dict[Key, Scalar]]:
        """Each pivot column's unknown as a combination of the given columns: A_d x_d + A_g x_g = 0."""
        given = set(self.given_columns())
        solution: dict[Key, dict[Key, Scalar]] = {}
        for k in reversed(range(len(self.pivots))):
            c = self.pivots[k][1]
            total: dict[Key, Scalar] = {}
            for column, entry in self.upper[k].items():
                if column in given:
                    total[column] = total.get(column, 0.0) + entry
                elif column != c:
                    for g, x in solution[column].items():
                        total[g] = total.get(g, 0.0) + entry * x
            solution[c] = {g: -(x * self.inverse[k]) for g, x in total.items()}
        return solution

    def solve(self, rhs: Mapping[int, Scalar] | Sequence[Scalar]) -> dict[Key, Scalar]:
        """The unknowns for a right-hand side by original row, given columns zero."""
        b = [rhs[r] for r, _ in self.pivots]
        for k in range(len(b)):
            for other, f in self.factors[k]:
                b[other] = b[other] - f * b[k]
        x: dict[Key, Scalar] = {}
        for k in reversed(range(len(b))):
            total = b[k]
            for column, entry in self.upper[k].items():
                if column in x:
                    total = total - entry * x[column]
            x[self.pivots[k][1]] = total * self.inverse[k]
        return x

    def solve_transposed(self, rhs: Mapping[Key, Scalar]) -> dict[int, Scalar]:
        """A_d^T y = rhs: y by original row (multipliers)."""
        n = len(self.pivots)
        z: list[Scalar] = []
        for k in range(n):
            c = self.pivots[k][1]
            total = rhs.get(c, 0.0)
            for i in range(k):
                if c in self.upper[i]:
                    total = total - self.upper[i][c] * z[i]
            z.append(total * self.inverse[k])
        for k in reversed(range(n)):
            for other, f in self.factors[k]:
                z[k] = z[k] - f * z[other]
        return {r: z[k] for k, (r, _) in enumerate(self.pivots)}


@dataclass
class LDL:
    """A = L D L^T of a symmetric matrix, eliminated in a given order."""

    order: Sequence[int]
    inverse: dict[int, Scalar] = field(default_factory=dict)
    pivot: dict[int, Scalar] = field(default_factory=dict)
    columns: dict[int, dict[int, Scalar]] = field(default_factory=dict)

    @staticmethod
    def of(matrix: Symmetric, order: Sequence[int]) -> LDL:
        """Eliminate in `order`; zeros that stay zero cost nothing."""
        rows: dict[int, dict[int, Scalar]] = {i: {} for i in order}
        for (i, j), entry in matrix.items():
            rows[i][j] = entry
            rows[j][i] = entry
        ldl = LDL(order)
        for k in order:
            row = rows.pop(k)
            pivot = row.pop(k)
            inverse = 1.0 / pivot
            ldl.pivot[k], ldl.inverse[k] = pivot, inverse
            below = {i: entry for i, entry in row.items() if i in rows}
            factors = {i: entry * inverse for i, entry in below.items()}
            names = list(below)
            for a, i in enumerate(names):
                for j in names[a:]:
                    value = rows[i].get(j, 0.0) - factors[i] * below[j]
                    rows[i][j] = value
                    rows[j][i] = value
            for i in names:
                rows[i].pop(k, None)
            ldl.columns[k] = factors
        return ldl

    def solve(self, rhs: Mapping[int, Scalar]) -> dict[int, Scalar]:
        """A x = rhs."""
        b: MutableMapping[int, Scalar] = dict(rhs)
        for k in self.order:
            for i, f in self.columns[k].items():
                b[i] = b.get(i, 0.0) - f * b.get(k, 0.0)
        x: dict[int, Scalar] = {}
        for k in reversed(self.order):
            total = b.get(k, 0.0) * self.inverse[k]
            for i, f in self.columns[k].items():
                total = total - f * x[i]
            x[k] = total
        return x

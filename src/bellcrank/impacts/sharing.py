"""Closed contacts of which some are one too many: how they share what the others would bear alone.

The rows of closed contacts are J = C J_k, with J_k those of the equations kept; so forces f do what the multipliers
y of the kept ones do where C^T f = y. Rigid bodies leave open which f; here it is the one of the least norm
among those whose normal forces press (contacts that would pull are idle), and, where contacts stick, with friction in
proportion to normal forces and weights. The weights are one until a contact comes to its limit; then they are those
of the slip that is about to begin, f_i = -mu N_i v_i / |v_i|, so that no contact slips while others could hold it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bellcrank.formulations.algebra import LU
from bellcrank.program.functions import maximum, where
from bellcrank.program.trace import Scalar, compare

Array = NDArray[np.float64]
RowName = tuple[str, int]
"""A contact and the number of its row: 0 the normal."""

DIGITS = 9
"""Of the shares; any shares near these do, because the multipliers are solved with them."""
RANK = 1e-7
"""Singular values below this share of the largest are none."""
NEAR = 1e-6
"""Friction within this share of its limit asks for other weights."""
MOST_ROUNDS = 3000
"""Most rounds in the search for weights."""
COMPLIANT = 1e-5
"""Compliance over the mobility of a contact. Rounding shows in the shares over this; what is held without being one too
many is found in rounds, each of which leaves this over its mobility."""
ROUNDS = 12
EXACT = 1e-14
"""Change of the forces, over the greatest of them, at which a round is the last."""
SHARED = 1e-11
"""Forces of contacts that share, below this part of what moves them, are rounding: it is divided by compliances."""
PULLING = 1e-9
"""Forces below this share of the largest are none."""


@dataclass(frozen=True, eq=False)
class Sharing:
    """Contact rows over kept ones.

    rows: All rows of closed contacts. kept: Which of them are equations of the mechanism. C: The first over the second.
    idle: Contacts that bear nothing though they touch. weights: Of friction, over sticking contacts.
    """

    rows: tuple[RowName, ...]
    kept: tuple[RowName, ...]
    C: Array
    idle: frozenset[str] = frozenset()
    weights: tuple[tuple[str, float], ...] = ()

    @property
    def key(self) -> bytes:
        """Tells apart what is compiled for other shares."""
        names = (self.rows, self.kept, sorted(self.idle), self.weights)
        return self.C.round(DIGITS - 3).tobytes() + repr(names).encode()

    @property
    def shares(self) -> Array:
        """P in f = P y, of the least norm over the contacts that bear; rows of idle ones say what they would bear."""
        bearing = np.array([name not in self.idle for name, _ in self.rows])
        A = self.C[bearing]
        return np.asarray((self.C @ np.linalg.pinv(A.T @ A, rcond=RANK)).round(DIGITS))

    def bears_all(self, idle: frozenset[str]) -> bool:
        """Whether the contacts that are left can bear whatever comes."""
        left = self.C[[name not in idle for name, _ in self.rows]]
        return len(left) > 0 and np.linalg.matrix_rank(left, tol=RANK) == self.C.shape[1]

    def over(self, number: int) -> list[tuple[RowName, float]]:
        """The normal rows of contacts that bear, over a kept row, as far as they are not zero."""
        P = self.shares[:, number]
        return [
            (row, float(x))
            for row, x in zip(self.rows, P, strict=True)
            if row[1] == 0 and row[0] not in self.idle and x
        ]

    def normal(self, name: str, y: Sequence[Scalar]) -> Scalar:
        """The normal force of a contact, or what it would bear, from the multipliers of the kept rows."""
        return _combined(self.shares[self.rows.index((name, 0))], y)

    def friction(self, y: Sequence[Scalar]) -> dict[RowName, Scalar]:
        """The forces along the tangents of sticking contacts.

        The least norm gives one set of them; those in proportion to the normal forces do the same: with weights D
        and B independent columns of C_t, f_t = D B (B^T D B)^-1 B^T f.
        """
        numbers, columns, B = self._tangents()
        if not numbers:
            return {}
        P = self.shares
        plain = [_combined(P[i], y) for i in numbers]
        given = dict(self.weights)
        normals = {name: self.normal(name, y) for name in dict.fromkeys(self.rows[i][0] for i in numbers)}
        total: Scalar = 0.0
        for N in normals.values():
            total = total + maximum(N, 0.0)
        pressed = compare("lt", 1e-300, total)
        weights = [
            given.get(name := self.rows[i][0], 1.0)
            * where(pressed, maximum(normals[name], 1e-9 * total) / maximum(total, 1e-300), 1.0)
            for i in numbers
        ]
        wanted = [_combined(B[:, j], plain) for j in range(len(columns))]
        matrix: dict[int, dict[int, Scalar]] = {j: {} for j in range(len(columns))}
        for j in range(len(columns)):
            for k in range(len(columns)):
                products = B[:, j] * B[:, k]
                if np.any(products):
                    matrix[j][k] = _combined(products, weights)
        z = LU.of(matrix, [(j, j) for j in range(len(columns))]).solve(wanted)
        solved = [z[j] for j in range(len(columns))]
        return {self.rows[i]: weights[n] * _combined(B[n], solved) for n, i in enumerate(numbers)}

    def _tangents(self) -> tuple[list[int], list[int], Array]:
        """Rows of tangents that bear, independent columns of C over them, and C there."""
        numbers = [i for i, (name, k) in enumerate(self.rows) if k and name not in self.idle]
        columns = _independent_columns(self.C[numbers]) if numbers else []
        return numbers, columns, self.C[np.ix_(numbers, columns)].round(DIGITS)

    def held(
        self, y: Array, friction: Mapping[str, float]
    ) -> tuple[dict[str, float], dict[str, Array], float]:
        """Weights with which sticking contacts hold, the forces then, and the largest over its limit.

        The present weights, or where a contact is at its limit those that keep all farthest from it. These are of
        limit analysis, with the forces of the rigid slip z that makes the sum of mu N |v| least at the given
        power, found by weights 1 / |v| again and again.
        """
        numbers, _, B = self._tangents()
        f = self.shares @ y
        names = list(dict.fromkeys(self.rows[i][0] for i in numbers))
        if not names:
            return {}, {}, 0.0
        of = np.array([names.index(self.rows[i][0]) for i in numbers])
        limits = np.array([friction[n] * max(f[self.rows.index((n, 0))], 0.0) for n in names])
        limits = np.maximum(limits, 1e-9 * max(float(limits.max()), 1e-300))
        given = dict(self.weights)
        wanted, w = B.T @ f[numbers], np.array([given.get(n, 1.0) for n in names])
        best: tuple[float, Array, Array] | None = None
        first = True
        for _ in range(MOST_ROUNDS):
            D = (w * limits)[of]
            solved = np.linalg.lstsq(B.T @ (D[:, None] * B), wanted, rcond=None)[0]
            rub = D * (B @ solved)
            sizes = np.sqrt(np.bincount(of, rub**2, len(names)))
            used = float(np.max(sizes / limits))
            if best is None or used < best[0] * (1.0 - 1e-14):
                best = used, w, rub
            if first and used < 1.0 - NEAR:
                break
            first = False
            slip = np.sqrt(np.bincount(of, (B @ solved) ** 2, len(names)))
            new = 1.0 / np.maximum(slip, 1e-9 * max(float(slip.max()), 1e-300))
            new /= new.max()
            if np.max(np.abs(new - w)) < 1e-14:
                break
            w = new
        assert best is not None
        used, w, rub = best
        return (
            {n: float(f"{x:.{DIGITS}g}") for n, x in zip(names, w, strict=True)},
            {n: rub[of == k] for k, n in enumerate(names)},
            used,
        )

    def idling(self, y: Array) -> frozenset[str]:
        """Contacts that bear nothing in the nonnegative solution of the least norm, with those idle that are."""
        idle = self.idle
        normals = [(i, name) for i, (name, k) in enumerate(self.rows) if k == 0]
        for _ in range(2 * len(normals)):
            f = replace(self, idle=idle).shares @ y
            small = PULLING * max(float(np.max(np.abs(f))), 1e-300)
            pulling = sorted((f[i], name) for i, name in normals if name not in idle and f[i] < -small)
            out = next((name for _, name in pulling if self.bears_all(idle | {name})), None)
            if out is None:
                return idle
            idle = idle | {out}
        return idle


@dataclass(frozen=True, eq=False)
class SharedForces:
    """Forces of contacts in space that share as if they gave way a little; see :mod:`bellcrank.impacts.held_units`.

    J: Three rows a contact. inverse: M^-1 C. free: Accelerations without forces. give: Compliance of each [1/kg].
    """

    J: Array
    inverse: Array
    free: Array
    sticking: NDArray[np.bool_]
    give: Array

    def rows(self, bearing: Sequence[int]) -> list[int]:
        """The rows these contacts hold."""
        return [r for i in bearing for r in range(3 * i, 3 * i + (3 if self.sticking[i] else 1))]

    def borne(self, bearing: Sequence[int]) -> Array:
        """What each contact bears, or would bear, along its normal [N]."""
        held = self.rows(bearing)
        W = self.J[held] @ self.inverse[:, held]
        stiff = W + np.diag(self.give[[r // 3 for r in held]])
        f, borne = np.zeros(len(self.J)), np.zeros(len(self.give))
        for _ in range(ROUNDS):
            more = np.linalg.solve(stiff, -self.free[held] - W @ f[held])
            f[held] += more
            borne -= (self.free[::3] + self.J[::3] @ (self.inverse @ f)) / np.maximum(self.give, 1e-300)
            if np.max(np.abs(more)) <= EXACT * np.max(np.abs(f)):
                break
        return borne

    def idle(self) -> list[int]:
        """Contacts that bear nothing, so that none pulls that the others can do without."""
        count = len(self.give)
        rank = np.linalg.matrix_rank(self.J[self.rows(range(count))], tol=RANK)
        idle: list[int] = []
        for _ in range(2 * count):
            left = [i for i in range(count) if i not in idle]
            borne = self.borne(left)
            small = 0.1 * SHARED * max(float(np.max(np.abs(borne))), 1e-300)
            pulling = sorted((float(borne[i]), i) for i in left if borne[i] < -small)
            spared = [i for _, i in pulling if self._rank([k for k in left if k != i]) == rank]
            wanting = [i for i in idle if borne[i] > small]
            if spared:
                idle.append(spared[0])
            elif wanting:
                idle.remove(max(wanting, key=lambda i: float(borne[i])))
            else:
                break
        return idle

    def _rank(self, bearing: Sequence[int]) -> int:
        return int(np.linalg.matrix_rank(self.J[self.rows(bearing)], tol=RANK)) if bearing else 0


def _independent_columns(C: Array) -> list[int]:
    """Of a matrix, the first ones on which the others depend."""
    found: list[int] = []
    for j in range(C.shape[1]):
        if np.linalg.matrix_rank(C[:, [*found, j]], tol=RANK) > len(found):
            found.append(j)
    return found


def _combined(factors: Array, values: Sequence[Scalar]) -> Scalar:
    whole: Scalar = 0.0
    for x, value in zip(factors, values, strict=True):
        if x:
            whole = whole + float(x) * value
    return whole


def sharing_of(
    rows: Sequence[RowName],
    numbers: Sequence[int],
    kept: Sequence[int],
    J: Array,
    idle: frozenset[str],
    weights: tuple[tuple[str, float], ...] = (),
) -> Sharing | None:
    """How contacts share, or None where none is one too many.

    rows: Contact rows. numbers: Their equations. kept: All equations kept. J: The Jacobian of all equations.
    """
    needed = set(kept)
    mine = [row for row, e in zip(rows, numbers, strict=True) if e in needed]
    if len(mine) == len(rows):
        return None
    others = [e for e in kept if e not in set(numbers)]
    basis = J[[*others, *(e for e in numbers if e in needed)]]
    C = np.linalg.lstsq(basis.T, J[list(numbers)].T, rcond=1e-11)[0].T[:, len(others) :]
    return Sharing(tuple(rows), tuple(mine), np.asarray(C, dtype=float), idle, weights)

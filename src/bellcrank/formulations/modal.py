"""Mass matrices of flexible members factorised modes first: cost linear in the number of modes.

Over the independent speeds x the mass matrix is the modal masses D and few quantities besides,

    M = D + sum_k C_k^T N_k C_k + sum_f (C_f^T P_f + P_f^T C_f),

C_k the motion y_k = C_k x of link k, N_k its inertia, P_f the momentum of a member's modes on its floating frame.
Multiplied out it is dense. With y_k and the wrench l_k = N_k y_k + P_k x as unknowns of their own it is

    D x + P^T y + C^T l = b,    P x + N y - l = 0,    C x - y = 0,

whose modal block is D again. Modes are eliminated first, then the motions, whose pivots belong to the inertia
that remains of a link when its modes give way (positive, and the same for every position of the mechanism), then
the wrenches, whose block is definite because the links' motions are independent of each other, then all other
speeds. No pivot of a regular mechanism vanishes, but digits may be lost: the reference state decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bellcrank.formulations.algebra import LDL
from bellcrank.math.rotations import into
from bellcrank.math.tuples import Vec, add, cross
from bellcrank.mechanics.articulated import Articulated
from bellcrank.mechanics.dynamics import Column, armature_squares, brought, deformed, mass_matrix, regrouped
from bellcrank.mechanics.flexible import Deformed
from bellcrank.mechanics.inertia import NOTHING
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import Link
from bellcrank.program.trace import Scalar

Row = dict[int, Scalar]
"""Entries by column."""
Sample = Callable[[Sequence[Scalar]], list[float]]

SOUND = 1e-8
"""Smallest remaining inertia, against the whole, with which modes are taken out first."""
LOST = 1e-11
"""Largest relative error of the solution in the reference state with which modes are taken out first."""


@dataclass
class Part:
    """One link: its motions and their modal momenta by columns, six rows each and one for every mode that follows
    other speeds; and its inertia."""

    C: list[Row]
    P: list[Row]
    N: list[list[Scalar]]


@dataclass
class ModesFirst:
    """A mass matrix in the larger form, entries (i, j), i >= j, and the order of its elimination.

    Numbers below those of motions and wrenches are the columns. It solves like :class:`LDL`.
    """

    matrix: dict[tuple[int, int], Scalar]
    order: Sequence[int]
    columns: Sequence[int]

    @cached_property
    def factors(self) -> LDL:
        """Eliminated."""
        return LDL.of(self.matrix, self.order)

    def solve(self, rhs: Mapping[int, Scalar]) -> dict[int, Scalar]:
        """M x = rhs."""
        x = self.factors.solve(rhs)
        return {c: x[c] for c in self.columns}


def modes_first(
    kin: Kinematics,
    links: Sequence[int],
    inertias: Mapping[int, Articulated],
    columns: Mapping[int, Column],
    sample: Sample,
    rest: Mapping[tuple[int, int], Scalar] | None = None,
    squares: Sequence[tuple[Row, Scalar]] = (),
) -> ModesFirst | None:
    """M of some links' own inertias over columns; None where dense algebra is cheaper or safer.

    links: Outer ones last, with every link between. inertias: Own inertia of each, members included. rest: Other
    entries of M, of columns that are no modes. squares: Rows r and weights a of further terms a r^T r.
    """
    shapes = [shape for k in links if (shape := kin.linkage.links[k].shape) is not None]
    if not all(shape.has_constant_masses for shape in shapes):
        # The masses of the coordinates are full there and change with them: nothing is gained, and no pivot is known.
        return None
    D: dict[tuple[int, int], float] = {}
    parts = _parts(kin, links, inertias, columns, D)
    if not D:
        return None
    modes = sorted({c for c, _ in D})
    parts += [Part([dict(row)], [{}], [[weight]]) for row, weight in squares]
    for part in parts:
        _drop_idle(part)
    parts = [part for part in parts if part.C]
    motions = sum(len(part.C) for part in parts)
    borders = motions + sum(any(row) for part in parts for row in part.P)
    n = len(modes)
    # Operations of both methods; the dense one passes every pair of columns through all links, which doubles it.
    enlarged = n * (borders + 1) * (borders + 2) + (2 * motions) ** 3 / 3
    if enlarged >= 2 * (n**3 / 3 + n * n * (motions + 1)):
        return None
    if not all(_is_sound(part, D, sample) for part in parts):
        return None
    found = _enlarged(parts, D, modes, columns, rest or {})
    return found if _is_accurate(found, sample) else None


def armature_rows(
    kin: Kinematics, links: Iterable[int], columns: Mapping[int, Column]
) -> list[tuple[Row, Scalar]]:
    """Armatures of links as squares, see :func:`modes_first`."""
    found = []
    for k in links:
        moving = {c: column.speeds[k] for c, column in columns.items() if k in column.speeds}
        for square in armature_squares(kin, kin.linkage.links[k]):
            found.append(({c: square.over(speeds) for c, speeds in moving.items()}, square.weight))
    return found


def whole_mass(
    kin: Kinematics, columns: Sequence[Column], sample: Sample, squares: Sequence[tuple[Row, Scalar]] = ()
) -> ModesFirst | None:
    """M of a whole mechanism over its columns, see :func:`modes_first`."""
    links = kin.linkage.links
    moved = {k for column in columns if column.modal for k in column.links}
    for link in links:
        if link.parent in moved:
            moved.add(link.index)
    if not moved:
        return None
    inertias = regrouped(kin.linkage, frozenset(moved))
    own = {}
    for link in links:
        inertia = brought(kin, inertias[link.index]) if link.index in moved else NOTHING
        if link.shape is not None:
            inertia = inertia + deformed(kin, link).inertia()
        own[link.index] = Articulated.rigid(inertia)
    still = [NOTHING if k in moved else inertia for k, inertia in enumerate(inertias)]
    rest = mass_matrix(kin, still, columns, members=False)
    return modes_first(kin, list(own), own, dict(enumerate(columns)), sample, rest, squares)


def _parts(
    kin: Kinematics,
    links: Sequence[int],
    inertias: Mapping[int, Articulated],
    columns: Mapping[int, Column],
    D: dict[tuple[int, int], float],
) -> list[Part]:
    """All links; the masses of modes that are columns of their own go to `D`."""
    motion: dict[int, dict[int, tuple[Vec, Vec]]] = {}
    found = []
    for k in links:
        link = kin.linkage.links[k]
        motion[k] = _motions(kin, link, motion.get(link.parent, {}), columns)
        C: list[Row] = [{c: (*w, *v)[i] for c, (w, v) in motion[k].items()} for i in range(6)]
        part = Part(C, [{} for _ in range(6)], _full(inertias[k]))
        if link.shape is not None:
            member = deformed(kin, link)
            assert isinstance(member, Deformed)
            _add_modes(part, member, _modal_rows(link, columns), D)
        found.append(part)
    return found


def _modal_rows(link: Link, columns: Mapping[int, Column]) -> list[Row]:
    """The rate of each mode of a member by columns."""
    moving = {c: column.modal[link.index] for c, column in columns.items() if link.index in column.modal}
    return [{c: rates[j] for c, rates in moving.items() if _is(rates[j])} for j in range(link.modes)]


def _add_modes(part: Part, member: Deformed, rows: list[Row], D: dict[tuple[int, int], float]) -> None:
    """Modal momenta and masses; what follows other speeds counts as one more motion of the link.

    That are modes of a link that loops drive, and the second-order displacements.
    """
    rows = rows + [_followed(rates, rows) for rates in member.J]
    own = [_single(row) if j < member.shape.modes else None for j, row in enumerate(rows)]
    followers = [j for j, c in enumerate(own) if c is None and rows[j]]
    P, mass = member.every_P, member.shape.mass_of
    for j in followers:
        for i, x in enumerate((*P[j][0], *P[j][1])):
            part.N[i].append(x)
        part.N.append([*(row[-1] for row in part.N[:6]), *(mass(j, i) for i in followers)])
        part.C.append(dict(rows[j]))
        part.P.append({c: mass(j, i) for i, c in enumerate(own) if c is not None})
    for j, c in enumerate(own):
        if c is None:
            continue
        for row, x in zip(part.P, (*P[j][0], *P[j][1]), strict=False):
            row[c] = x
        for i, d in enumerate(own[: j + 1]):
            if d is not None and mass(j, i) != 0.0:
                D[max(c, d), min(c, d)] = mass(j, i)


def _followed(rates: Sequence[Scalar], rows: Sequence[Row]) -> Row:
    """The sum of some rows, each so many times."""
    found: Row = {}
    for rate, row in zip(rates, rows, strict=True):
        for c, x in row.items():
            found[c] = found.get(c, 0.0) + rate * x
    return {c: x for c, x in found.items() if _is(x)}


def _motions(
    kin: Kinematics, link: Link, inner: Mapping[int, tuple[Vec, Vec]], columns: Mapping[int, Column]
) -> dict[int, tuple[Vec, Vec]]:
    """Motion of a link for a unit of each column, in its own axes, its base at rest."""
    k = link.index
    found = {}
    for c, (w, v) in inner.items():
        found[c] = into(kin.turns[k], w), into(kin.turns[k], add(v, cross(w, kin.r[k])))
    for c, column in columns.items():
        if k in column.speeds:
            w, v = link.kind.velocity(kin, link, column.speeds[k])
            before = found.get(c)
            found[c] = (w, v) if before is None else (add(before[0], w), add(before[1], v))
    return found


def _full(inertia: Articulated) -> list[list[Scalar]]:
    def whole(s: Sequence[Scalar]) -> list[list[Scalar]]:
        xx, yy, zz, xy, xz, yz = s
        return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]

    A, B, C = whole(inertia.A), inertia.B, whole(inertia.C)
    top = [[*A[i], *B[i]] for i in range(3)]
    return top + [[B[0][i], B[1][i], B[2][i], *C[i]] for i in range(3)]


def _drop_idle(part: Part) -> None:
    """Leave out directions in which a link neither moves nor resists."""
    part.C = [{c: x for c, x in row.items() if _is(x)} for row in part.C]
    part.P = [{c: x for c, x in row.items() if _is(x)} for row in part.P]
    kept = [
        i
        for i, (C, P, N) in enumerate(zip(part.C, part.P, part.N, strict=True))
        if C and (P or any(_is(N[j]) and part.C[j] for j in range(len(N))))
    ]
    part.N = [[part.N[i][j] for j in kept] for i in kept]
    part.C = [part.C[i] for i in kept]
    part.P = [part.P[i] for i in kept]


def _is_sound(part: Part, D: Mapping[tuple[int, int], float], sample: Sample) -> bool:
    """Whether what remains of a link's inertia when its modes give way is well above rounding."""
    m = len(part.N)
    N = np.array(sample([x for row in part.N for x in row])).reshape(m, m)
    columns = sorted({c for row in part.P for c in row})
    remains = N
    if columns:
        P = np.array(sample([row.get(c, 0.0) for row in part.P for c in columns])).reshape(m, -1)
        masses = np.array([[D.get((max(c, d), min(c, d)), 0.0) for d in columns] for c in columns])
        try:
            remains = N - P @ np.linalg.solve(masses, P.T)
        except np.linalg.LinAlgError:
            return False
    size = np.sqrt(np.abs(np.diag(N)))
    if not (size > 0.0).all():
        return False
    scaled = 0.5 * (remains + remains.T) / np.outer(size, size)
    return bool(np.linalg.eigvalsh(scaled)[0] > SOUND)


def _is_accurate(found: ModesFirst, sample: Sample) -> bool:
    """Whether elimination in this order keeps its digits in the reference state.

    Heavy bodies on light members make the wrenches nearly dependent; the whole matrix then loses less.
    """
    values = sample(list(found.matrix.values()))
    place = {c: i for i, c in enumerate(found.order)}
    n = len(place)
    K = np.zeros((n, n))
    for (i, j), value in zip(found.matrix, values, strict=True):
        K[place[i], place[j]] = K[place[j], place[i]] = value
    at = [place[c] for c in found.columns]
    rhs = np.zeros((n, 3))
    rhs[at] = np.random.default_rng(0).uniform(-1.0, 1.0, (len(at), 3))
    plain, fine = (_eliminated(K.astype(kind), rhs.astype(kind))[at] for kind in (np.float64, np.longdouble))
    with np.errstate(all="ignore"):
        lost = np.abs(plain - fine).max(axis=0) / np.abs(fine).max(axis=0)
    return bool((lost < LOST).all())


def _eliminated(K: Any, rhs: Any) -> Any:
    """The solution by elimination in the given order, without pivoting."""
    n = len(K)
    with np.errstate(all="ignore"):
        for k in range(n):
            f = K[k + 1 :, k] / K[k, k]
            K[k + 1 :, k + 1 :] -= np.outer(f, K[k, k + 1 :])
            rhs[k + 1 :] -= np.outer(f, rhs[k])
        for k in reversed(range(n)):
            rhs[k] = (rhs[k] - K[k, k + 1 :] @ rhs[k + 1 :]) / K[k, k]
    return rhs


def _enlarged(
    parts: Sequence[Part],
    D: Mapping[tuple[int, int], float],
    modes: Sequence[int],
    columns: Mapping[int, Column],
    rest: Mapping[tuple[int, int], Scalar],
) -> ModesFirst:
    """To be eliminated: modes, motions, wrenches and other speeds, in this order."""
    matrix: dict[tuple[int, int], Scalar] = dict(rest)
    for key, mass in D.items():
        matrix[key] = matrix.get(key, 0.0) + mass
    y = max(columns) + 1
    motions, wrenches = [], []
    for part in parts:
        m = len(part.C)
        here = range(y, y + m)
        for i in range(m):
            own, push = here[i], here[i] + m
            matrix[push, own] = -1.0
            matrix.update({(own, here[j]): part.N[i][j] for j in range(i + 1) if _is(part.N[i][j])})
            matrix.update({(own, c): x for c, x in part.P[i].items()})
            matrix.update({(push, c): x for c, x in part.C[i].items()})
        motions += list(here)
        wrenches += list(range(y + m, y + 2 * m))
        y += 2 * m
    others = [c for c in reversed(list(columns)) if c not in set(modes)]
    return ModesFirst(matrix, [*modes, *motions, *wrenches, *others], list(columns))


def _is(x: Scalar) -> bool:
    return not (isinstance(x, float) and x == 0.0)


def _single(row: Row) -> int | None:
    """The column that is this mode itself, and nothing else."""
    entries = list(row.items())
    if len(entries) != 1:
        return None
    ((c, x),) = entries
    return c if isinstance(x, float) and x == 1.0 else None

"""Contact points on surfaces of data as subprograms: traced and compiled once for all points, bodies and programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from bellcrank.contact.local import Local, meet
from bellcrank.contact.partners import Symmetric
from bellcrank.contact.sampled import ENTRIES
from bellcrank.contact.shapes import Shape
from bellcrank.contact.source import Around, Source
from bellcrank.mechanics.vectors import Mat, Vec, mat, vec
from bellcrank.program.subprogram import Subprogram
from bellcrank.program.trace import Expr, ParameterGraph, Scalar

WORTH = 300
"""Operations from which on a surface is worth a call; a call costs some ten of them."""

POSE = 16
"""Numbers of a meeting before those of the surfaces: rotation, origin, hold."""

Points = tuple[Vec, Vec, Vec]

_meetings: WeakKeyDictionary[Source, dict[int, tuple[Shape, Subprogram]]] = WeakKeyDictionary()
_surfaces: WeakKeyDictionary[Source, Subprogram] = WeakKeyDictionary()


def met(a: Around, b: Shape, R: Mat, c: Vec) -> Points:
    """What :func:`bellcrank.contact.local.meet` finds, by a call where the pose belongs to a trace."""
    pose = [*R[0], *R[1], *R[2], *c]
    if not any(isinstance(x, Expr) and not isinstance(x.graph, ParameterGraph) for x in pose):
        return meet(a, b, R, c)
    found = _meeting(a, b)(*pose, *a.hold, *_numbers(a), *(_numbers(b) if isinstance(b, Around) else ()))
    return vec(found[0:3]), vec(found[3:6]), vec(found[6:9])


def _numbers(piece: Around) -> tuple[Scalar, ...]:
    return (*piece.start, *piece.inputs)


def _meeting(a: Around, b: Shape) -> Subprogram:
    """Pose of b seen from a, hold of a, the pieces of both surfaces -> normal, both points."""
    other = b.source if isinstance(b, Around) else b
    known = _meetings.setdefault(a.source, {})
    found = known.get(id(other))
    # The shape is kept beside its program, so that no other one can have its place in memory.
    if found is None or found[0] is not other:
        found = known[id(other)] = other, _traced(a, b)
    return found[1]


def _traced(a: Around, b: Shape) -> Subprogram:
    begin, end = POSE + 3, POSE + len(_numbers(a))
    blocks = [(begin, end - begin)]
    if isinstance(b, Around):
        blocks.append((end + 3, len(b.inputs)))

    def build(x: Sequence[Expr]) -> list[Scalar]:
        R, c = mat([x[0:3], x[3:6], x[6:9]]), vec(x[9:12])
        one = replace(_within(a, x[POSE:end]), hold=(x[12], x[13], x[14], x[15]))
        n, p, q = meet(one, _within(b, x[end:]) if isinstance(b, Around) else b, R, c)
        return [*n, *p, *q]

    return Subprogram.traced("meeting", sum(blocks[-1]), build, blocks)


def _within(piece: Around, x: Sequence[Expr]) -> Around:
    """A piece of surface on the inputs of a subprogram."""
    own = replace(piece, start=(x[0], x[1], x[2]), inputs=tuple(x[3:]), turn=1.0)
    surface = _surface(piece)
    if surface.count.total < WORTH:
        return own
    return _Called(own.source, own.start, own.inputs, own.turn, own.hold, own.leads, own=own, pulling=surface)


def _surface(piece: Around) -> Subprogram:
    """A point, the piece of surface -> the point pulled onto the surface, the normal there."""
    found = _surfaces.get(piece.source)
    if found is None:

        def build(x: Sequence[Expr]) -> list[Scalar]:
            own = replace(piece, start=(x[3], x[4], x[5]), inputs=tuple(x[6:]), turn=1.0)
            point, normal = own.pulled(vec(x[0:3]))
            return [*point, *normal]

        count = len(piece.inputs)
        found = Subprogram.traced("surface", 6 + count, build, [(6, count)], _twins(piece))
        _surfaces[piece.source] = found
    return found


def _twins(piece: Around) -> dict[int, int]:
    """Places of the numbers of neighbouring samples: what is done with one is done with the other."""
    if not isinstance(piece, Local):
        return {}
    found: dict[int, int] = {}
    # The first sample, which serves where no other reaches, stays by itself.
    for k in range(ENTRIES, len(piece.inputs) - ENTRIES, 2 * ENTRIES):
        for j in range(6 + k, 6 + k + ENTRIES):
            found[j], found[j + ENTRIES] = j + ENTRIES, j
    return found


@dataclass(frozen=True, eq=False, kw_only=True)
class _Called(Around):
    """A piece of surface onto which points are pulled by calls."""

    own: Around
    pulling: Subprogram

    @property
    def far(self) -> float:  # type: ignore[override]
        return self.own.far

    def pulled(self, x: Vec) -> tuple[Vec, Vec]:
        found = self.pulling(*x, *_numbers(self.own))
        return vec(found[0:3]), vec(found[3:6])

    def bend(self, x: Vec, e1: Vec, e2: Vec) -> Symmetric:
        return self.own.bend(x, e1, e2)

    def room(self, x: Vec) -> Scalar:
        return self.own.room(x)


__all__ = ["met"]

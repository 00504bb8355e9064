"""Searches for contact points as subprograms: traced and compiled once for all points, bodies and programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from weakref import WeakKeyDictionary

from bellcrank.contact.local import Local, meet
from bellcrank.contact.partners import Symmetric
from bellcrank.contact.sampled import ENTRIES
from bellcrank.contact.shapes import Shape
from bellcrank.contact.source import Around, Source
from bellcrank.math.tuples import Mat, Vec, mat, vec
from bellcrank.program.graph import ParameterGraph
from bellcrank.program.subprogram import Subprogram
from bellcrank.program.trace import Expr, Scalar

WORTH = 300
"""Operations from which on a surface is worth a call; a call costs some ten of them."""

POSE = 16
"""Numbers of a meeting before those of the surfaces: rotation, origin, hold."""

MOST_SEARCHES = 256
"""Searches kept for the next mechanism."""

Points = tuple[Vec, Vec, Vec]
Search = Callable[[Mat, Vec, "Vec | None"], Points]

# Shapes are kept beside their programs, so that no other one can have their place in memory.
_searches: dict[tuple[object, ...], tuple[Shape, Shape, Subprogram]] = {}

_meetings: WeakKeyDictionary[Source, dict[tuple[int, bool], tuple[Shape, Subprogram]]] = WeakKeyDictionary()
_surfaces: WeakKeyDictionary[Source, Subprogram] = WeakKeyDictionary()
_bends: WeakKeyDictionary[Source, Subprogram] = WeakKeyDictionary()
_rims: WeakKeyDictionary[Source, Subprogram] = WeakKeyDictionary()


def searched(
    a: Shape, b: Shape, R: Mat, c: Vec, guess: Vec | None, iterations: int, search: Search
) -> Points:
    """What `search` finds for this pose and guess, by a call where they belong to a trace."""

    def build(x: Sequence[Scalar]) -> list[Scalar]:
        R, c, toward = mat([x[0:3], x[3:6], x[6:9]]), vec(x[9:12]), vec(x[12:15]) if guess else None
        n, p, q = search(R, c, toward)
        return [*n, *p, *q]

    points = shared(a, b, iterations, [*R[0], *R[1], *R[2], *c, *(guess or ())], build)
    return vec(points[0:3]), vec(points[3:6]), vec(points[6:9])


def shared(
    a: Shape,
    b: Shape,
    what: int | str,
    given: Sequence[Scalar],
    build: Callable[[Sequence[Scalar]], Sequence[Scalar]],
) -> Sequence[Scalar]:
    """What `build` makes of these numbers for two shapes, by a call where they belong to a trace.

    Zeros and ones of the pose, as planar mechanisms have them, are part of the subprogram, so that they fold in it.
    what: Tells one `build` from another for the same shapes.
    """
    if not _in_trace(given):
        return build(given)
    folded = tuple(None if isinstance(x, Expr) or x not in (-1.0, 0.0, 1.0) else float(x) for x in given)
    key = _told(a), _told(b), what, folded
    found = _searches.get(key)
    if found is None:

        def whole(x: Sequence[Expr]) -> Sequence[Scalar]:
            left = iter(x)
            return build([next(left) if value is None else value for value in folded])

        found = a, b, Subprogram.traced("search", folded.count(None), whole)
        _searches[key] = found
        if len(_searches) > MOST_SEARCHES:
            del _searches[next(iter(_searches))]
    if found[2].count.total < WORTH:
        return build(given)
    return found[2](*(x for x, value in zip(given, folded, strict=True) if value is None))


def _told(shape: Shape) -> tuple[object, ...]:
    """A shape up to equality; where it has other fields than numbers, this very one."""
    values = [getattr(shape, f.name) for f in fields(shape)] if is_dataclass(shape) else [shape]
    parts = [x for v in values for x in (v if isinstance(v, tuple) else (v,))]
    numbers = [float(x) for x in parts if isinstance(x, int | float)]
    return (type(shape), *numbers) if len(numbers) == len(parts) else (type(shape), id(shape))


def _in_trace(values: Sequence[Scalar]) -> bool:
    return any(isinstance(x, Expr) and not isinstance(x.graph, ParameterGraph) for x in values)


def met(a: Around, b: Shape, R: Mat, c: Vec) -> Points:
    """What :func:`bellcrank.contact.local.meet` finds, by a call where the pose belongs to a trace."""
    pose = [*R[0], *R[1], *R[2], *c]
    if not _in_trace(pose):
        return meet(a, b, R, c)
    found = _meeting(a, b)(*pose, *a.hold, *_numbers(a), *(_numbers(b) if isinstance(b, Around) else ()))
    return vec(found[0:3]), vec(found[3:6]), vec(found[6:9])


def _numbers(piece: Around) -> tuple[Scalar, ...]:
    return (*piece.start, *piece.inputs)


def _meeting(a: Around, b: Shape) -> Subprogram:
    """Pose of b seen from a, hold of a, the pieces of both surfaces -> normal, both points."""
    other = b.source if isinstance(b, Around) else b
    known = _meetings.setdefault(a.source, {})
    key = id(other), a.exact
    found = known.get(key)
    if found is None or found[0] is not other:
        found = known[key] = other, _traced(a, b)
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
    return _Called(
        own.source, own.start, own.inputs, own.turn, own.hold, own.leads, own.exact, own=own, pulling=surface
    )


def _surface(piece: Around) -> Subprogram:
    """A point, the piece of surface -> the point pulled onto the surface, the normal there."""
    found = _surfaces.get(piece.source)
    if found is None:

        def build(x: Sequence[Expr]) -> list[Scalar]:
            own = replace(piece, start=(x[3], x[4], x[5]), inputs=tuple(x[6:]), turn=1.0)
            point, normal = own.pulled(vec(x[0:3]))
            return [*point, *normal]

        count = len(piece.inputs)
        found = Subprogram.traced("surface", 6 + count, build, [(6, count)], _twins(piece, 6))
        _surfaces[piece.source] = found
    return found


def _bend(piece: Around) -> Subprogram:
    """A point, two tangents, the piece of surface -> its curvature there."""
    found = _bends.get(piece.source)
    if found is None:

        def build(x: Sequence[Expr]) -> list[Scalar]:
            own = replace(piece, start=(x[9], x[10], x[11]), inputs=tuple(x[12:]), turn=1.0)
            return [*own.sharpened().bend(vec(x[0:3]), vec(x[3:6]), vec(x[6:9]))]

        count = len(piece.inputs)
        found = Subprogram.traced("bend", 12 + count, build, [(12, count)], _twins(piece, 12))
        _bends[piece.source] = found
    return found


def _rim(piece: Around) -> Subprogram | None:
    """A point, the piece of surface -> its rim there; None for a closed surface."""
    if not (isinstance(piece, Local) and piece.source.rim_room):
        return None
    found = _rims.get(piece.source)
    if found is None:
        count = len(piece.inputs)

        def build(x: Sequence[Expr]) -> list[Scalar]:
            return replace(piece, inputs=tuple(x[3:])).rim(vec(x[0:3])) or []

        found = _rims[piece.source] = Subprogram.traced("rim", 3 + count, build, [(3, count)])
    return found


def _twins(piece: Around, first: int) -> dict[int, int]:
    """Places of the numbers of neighbouring samples, the first of them at `first`: what is done with one is done with
    the other."""
    if not isinstance(piece, Local):
        return {}
    found: dict[int, int] = {}
    # The first sample, which serves where no other reaches, stays by itself.
    for k in range(ENTRIES, (piece.source.capacity - 1) * ENTRIES, 2 * ENTRIES):
        for j in range(first + k, first + k + ENTRIES):
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
        if not self.sharp:
            return self.own.bend(x, e1, e2)
        k11, k12, k22 = _bend(self.own)(*x, *e1, *e2, *_numbers(self.own))
        return k11, k12, k22

    def rim(self, x: Vec) -> list[Scalar] | None:
        found = _rim(self.own)
        return None if found is None else list(found(*x, *self.own.inputs))

    def room(self, x: Vec) -> Scalar:
        return self.own.room(x)


__all__ = ["met", "searched", "shared"]

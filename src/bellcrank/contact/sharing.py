"""Searches for contact points as subprograms: traced and compiled once for all points, bodies and programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass

from bellcrank.contact.shapes import Shape
from bellcrank.math.tuples import Mat, Vec, mat, vec
from bellcrank.program.graph import ParameterGraph
from bellcrank.program.subprogram import Subprogram
from bellcrank.program.trace import Expr, Scalar

WORTH = 300
"""Operations from which on a search is worth a call; a call costs some ten of them."""

MOST_SEARCHES = 256
"""Searches kept for the next mechanism."""

Points = tuple[Vec, Vec, Vec]
Search = Callable[[Mat, Vec, "Vec | None"], Points]

# Shapes are kept beside their programs, so that no other one can have their place in memory.
_searches: dict[tuple[object, ...], tuple[Shape, Shape, Subprogram]] = {}


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


__all__ = ["searched", "shared"]

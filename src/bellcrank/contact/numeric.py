"""Closest points of one pair as machine code, with several starts where nothing is known yet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.contact.closest import by_search, closest, has_closed_form
from bellcrank.contact.convex_search import ITERATIONS
from bellcrank.contact.nearest import MEMORY
from bellcrank.contact.shapes import Shape, sample_normals
from bellcrank.math.tuples import Mat, mat, vec
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.program import Program

TOLERANCE = 1e-9
"""Residual over the size of the pair below which a search has converged; the distance is good to its square."""
ROUNDS = 8
"""How often a search that has not converged goes on from where it is."""


@dataclass(frozen=True, eq=False)
class ClosestNumbers:
    """Closest points as arrays; the fields are those of :class:`bellcrank.contact.closest.Closest`."""

    distance: float
    normal: NDArray[np.float64]
    point_a: NDArray[np.float64]
    point_b: NDArray[np.float64]
    residual: float


def closest_program(shape_a: Shape, shape_b: Shape, guess: bool, iterations: int = ITERATIONS) -> Program:
    """Inputs: R_a (9, by rows), p_a, R_b, p_b and, where asked for, the guess; outputs: 11 numbers.

    A pair that is searched takes MEMORY numbers besides, where its search begins.
    """
    graph = Graph()
    inputs = [graph.input(f"pose {k}") for k in range(24)]
    normal = [graph.input(f"guess {k}") for k in range(3)] if guess else []
    memory = [graph.input(f"kept {k}") for k in range(MEMORY)] if by_search(shape_a, shape_b) else []
    poses = [
        (mat([inputs[k : k + 3], inputs[k + 3 : k + 6], inputs[k + 6 : k + 9]]), vec(inputs[k + 9 : k + 12]))
        for k in (0, 12)
    ]
    if shape_a.planar:
        poses = [(_level(R), (p[0], p[1], 0.0)) for R, p in poses]
    found = closest(
        shape_a, *poses[0], shape_b, *poses[1], vec(normal) if guess else None, iterations, memory
    )
    outputs = [found.distance, *found.normal, *found.point_a, *found.point_b, found.residual]
    names = f"closest points of {type(shape_a).__name__} and {type(shape_b).__name__}"
    return Program.of([*inputs, *normal, *memory], [graph.bring(o) for o in outputs], names)


def _level(R: Mat) -> Mat:
    return ((R[0][0], R[0][1], 0.0), (R[1][0], R[1][1], 0.0), (0.0, 0.0, 1.0))


class ClosestKernel:
    """The compiled search of one pair of shapes whose sizes are numbers."""

    def __init__(self, shape_a: Shape, shape_b: Shape, iterations: int = ITERATIONS) -> None:
        self.planar = shape_a.planar
        self.closed = has_closed_form(shape_a, shape_b)
        self.kept = np.full(MEMORY if by_search(shape_a, shape_b) else 0, -1.0)
        radii = [s.bounding_radius() for s in (shape_a, shape_b)]
        self.size = sum(float(r) for r in radii if np.isfinite(float(r)))
        self._cold = compile_program(closest_program(shape_a, shape_b, False, iterations))
        self._warm: Kernel | None = None
        if not (self.closed or len(self.kept)):
            self._warm = compile_program(closest_program(shape_a, shape_b, True, iterations))

    def __call__(
        self, R_a: ArrayLike, p_a: ArrayLike, R_b: ArrayLike, p_b: ArrayLike, guess: ArrayLike | None = None
    ) -> ClosestNumbers:
        """The closest points; without a guess, the largest converged separation of several starts."""
        pose = np.concatenate([np.asarray(x, dtype=float).ravel() for x in (R_a, p_a, R_b, p_b)])
        if self._warm is None:
            return _numbers(self._cold(np.concatenate([pose, self.kept])))
        if guess is not None:
            return _numbers(self._refined(pose, self._warm(np.concatenate([pose, np.asarray(guess)]))))
        first = self._refined(pose, self._cold(pose))
        if first[0] > 0.0 and self._converged(first):
            return _numbers(first)  # separate bodies have one stationary pair with d > 0
        found = [first]
        for n in sample_normals(self.planar):
            found.append(self._refined(pose, self._warm(np.concatenate([pose, n]))))
        valid = [row for row in found if self._converged(row)]
        return _numbers(max(valid or found, key=lambda row: row[0] if valid else -row[10]))

    def _converged(self, row: NDArray[np.float64]) -> bool:
        return bool(row[10] <= TOLERANCE * self.size)

    def _refined(self, pose: NDArray[np.float64], row: NDArray[np.float64]) -> NDArray[np.float64]:
        assert self._warm is not None
        for _ in range(ROUNDS):
            if self._converged(row) or not np.all(np.isfinite(row)):
                break
            row = self._warm(np.concatenate([pose, row[1:4]]))
        return row


def closest_numeric(
    shape_a: Shape,
    R_a: ArrayLike,
    p_a: ArrayLike,
    shape_b: Shape,
    R_b: ArrayLike,
    p_b: ArrayLike,
    guess: ArrayLike | None = None,
) -> ClosestNumbers:
    """The closest points of two shapes given in numbers; arguments as those of `closest`."""
    return ClosestKernel(shape_a, shape_b)(R_a, p_a, R_b, p_b, guess)


def _numbers(row: NDArray[np.float64]) -> ClosestNumbers:
    return ClosestNumbers(float(row[0]), row[1:4], row[4:7], row[7:10], float(row[10]))

"""Gathering the samples around a contact: the search of the tree, and Newton's method compiled once for a pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.closest import Closest, closest
from bellcrank.contact.local import Local
from bellcrank.contact.sampled import ENTRIES, Sampled
from bellcrank.contact.shapes import Plane, Shape, Sphere
from bellcrank.errors import ModelError
from bellcrank.mechanics.vectors import mat, vec
from bellcrank.program.kernel import compile_program
from bellcrank.program.program import Program
from bellcrank.program.trace import Graph, Scalar

Array = NDArray[np.float64]

ROUNDS = 30
"""How often samples are gathered anew on the way to a contact point."""


def input_names(source: Sampled, prefix: str) -> list[str]:
    """Names of the inputs of a local surface."""
    start = [f"{prefix} start {axis}" for axis in "xyz"]
    return start + [f"{prefix} sample {k} entry {j}" for k in range(source.capacity) for j in range(ENTRIES)]


def numbers(source: Sampled, x: Array) -> Array:
    """The values of those inputs around a point x of the surface's frame."""
    return np.concatenate([x, source.around(x).ravel()])


class SampledPair:
    """Closest points of a sampled surface and another shape, from anywhere or from the last ones."""

    def __init__(self, a: Shape, b: Shape) -> None:
        self.a, self.b = a, b
        graph = Graph()
        pose = [graph.input(f"pose {k}") for k in range(12)]
        inputs: list[Scalar] = [*pose]
        shapes: list[Shape] = []
        for shape, letter in ((a, "a"), (b, "b")):
            if isinstance(shape, Sampled):
                own = [graph.input(name) for name in input_names(shape, letter)]
                inputs += own
                shapes.append(Local.of(shape, own))
            else:
                shapes.append(shape)
        unit = mat(np.eye(3).tolist())
        R, c = mat([pose[0:3], pose[3:6], pose[6:9]]), vec(pose[9:12])
        found: Closest = closest(shapes[0], unit, (0.0, 0.0, 0.0), shapes[1], R, c)
        outputs = [found.distance, *found.normal, *found.point_a, *found.point_b]
        self._kernel = compile_program(Program.of(inputs, [graph.bring(o) for o in outputs], "sampled pair"))  # type: ignore[arg-type]

    def nearest(self, R: Array, c: Array) -> tuple[Array, Array]:
        """Points near the contact in each own frame, by the trees alone; R, c: pose of b seen from a."""
        a, b = self.a, self.b
        if isinstance(a, Sampled) and isinstance(b, Sampled):
            if len(a.points) < len(b.points):
                far, near = b.tree.query((a.points - c) @ R)
                k = int(np.argmin(far))
                return a.points[k], b.points[near[k]]
            far, near = a.tree.query(b.points @ R.T + c)
            k = int(np.argmin(far))
            return a.points[near[k]], b.points[k]
        if isinstance(b, Sampled):
            y = self._nearest_sample(b, a, -R.T @ c, R.T)
            return R @ y + c, y
        assert isinstance(a, Sampled)
        x = self._nearest_sample(a, b, c, R)
        return x, R.T @ (x - c)

    @staticmethod
    def _nearest_sample(source: Sampled, other: Shape, c: Array, R: Array) -> Array:
        """The sample nearest to another shape at c, turned by R, in the surface's frame."""
        if isinstance(other, Plane):
            return np.asarray(source.points[int(np.argmin(source.points @ R[:, 2]))])
        assert isinstance(other, Sphere)
        return np.asarray(source.points[source.tree.query(c)[1]])

    def __call__(
        self, R: Array, c: Array, start: tuple[Array, Array] | None = None
    ) -> tuple[float, Array, Array, Array, Array, Array]:
        """Distance, normal and points in the frame of a, and the points in each own frame.

        start: The points of the last time in each own frame; without them the trees are searched.
        """
        x, y = self.nearest(R, c) if start is None else start
        pose = np.concatenate([R.ravel(), c])
        for _ in range(ROUNDS):
            own = [numbers(s, p) for s, p in ((self.a, x), (self.b, y)) if isinstance(s, Sampled)]
            row = self._kernel(np.concatenate([pose, *own]))
            if not np.all(np.isfinite(row)):
                break
            before = x, y
            x, y = row[4:7].copy(), R.T @ (row[7:10] - c)
            moved = [
                float(np.linalg.norm(p - q)) > 0.1 * s.margin
                for s, p, q in zip((self.a, self.b), (x, y), before, strict=True)
                if isinstance(s, Sampled)
            ]
            if not any(moved):
                return float(row[0]), row[1:4], row[4:7], row[7:10], x, y
        if start is not None:
            return self(R, c)
        raise ModelError(
            "no contact point found on a sampled surface: it is flat, or too coarse for its curvature"
        )


__all__ = ["SampledPair", "input_names", "numbers"]

"""The surface of a body for contact by fields: triangles in small clusters, clusters in a tree of boxes.

The tree is walked depth first: each node says where to go on if it is left out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.math.vectors import ZERO, Matrix, Vector
from bellcrank.program.loops import Records, value

Floats = NDArray[np.float64]
Faces = NDArray[np.int64]

TRIANGLES = 24
"""Most triangles of a cluster. Smaller ones follow the rim of a patch more closely, larger ones share more vertices;
from 8 to 20 the time of an evaluation changes little."""
VERTICES = 36
"""Most vertices of a cluster: triangles that share none."""


ROUNDING = 1e-12
"""Part of its radius by which a box is larger than its points: far above rounding."""


class Node(NamedTuple):
    """A box around some clusters; a leaf is one of them, with its vertices and triangles in a row.

    radius: Of the sphere about its centre that holds the clusters [m]. axes: Rows are the directions of its edges.
    half: Of the edges [m]. skip: The node to go on with if this one is left out.
    """

    centre: Vector
    radius: float
    axes: Matrix
    half: Vector
    skip: int
    first_vertex: int
    vertices: int
    first_triangle: int
    triangles: int


class Triangle(NamedTuple):
    """A triangle by the places of its vertices in its cluster; area [m^2]."""

    a: int
    b: int
    c: int
    area: float


class Surface(NamedTuple):
    """The surface of a body in its own frame. Vertices on borders of clusters stand in each of them.

    inner, inner_radius: A ball within the body [m]; none where the radius is negative. Bodies within each other
    have few vertices in each other, or none, but their inner balls are deep.
    """

    nodes: Records[Node]
    vertices: Records[Vector]
    triangles: Records[Triangle]
    inner: Vector = Vector(0.0, 0.0, 0.0)
    inner_radius: float = -1.0

    def vertex(self, k: int) -> Vector:
        """A vertex in the frame of the surface [m]."""
        return self.vertices[k]

    def area(self, triangle: Triangle, first: int) -> float:
        """Of a triangle [m^2]; first: Vertex of its cluster."""
        return triangle.area

    def speed(self, k: int) -> Vector:
        """Of a vertex against the frame of the surface [m/s]."""
        return ZERO

    def centre(self, i: int) -> Vector:
        """Of the sphere around a node [m]."""
        return self.nodes[i].centre

    def reach(self, i: int) -> float:
        """Radius of that sphere [m]."""
        return self.nodes[i].radius

    def rise(self, i: int, g: Vector) -> float:
        """No vertex of a node lies further along g from its centre, times the length of g."""
        node = self.nodes[i]
        along = node.axes @ g
        return node.half.x * abs(along.x) + node.half.y * abs(along.y) + node.half.z * abs(along.z)  # type: ignore[no-any-return]

    def push(self, k: int, force: Vector, case: int) -> None:
        """A force on a vertex [N]; a rigid body feels it by force and moment alone."""

    def weigh(self, k: int, load: float) -> None:
        """The normal load on a vertex, which a rigid body need not know."""

    def scale_pushes(self, contact: float, units: float) -> None:
        """Forces on vertices become so many times as large."""


class Resized(NamedTuple):
    """A surface that was made for a body of other sizes.

    rest: That surface. field: With the sizes of now. before: With those it was made for.
    """

    rest: Surface
    field: Any
    before: Any

    @property
    def nodes(self) -> Records[Node]:
        return self.rest.nodes

    @property
    def triangles(self) -> Records[Triangle]:
        return self.rest.triangles

    @property
    def inner(self) -> Vector:
        return self.rest.inner

    @property
    def inner_radius(self) -> float:
        return self.rest.inner_radius - value(self.field.change(self.before))  # type: ignore[no-any-return]

    def vertex(self, k: int) -> Vector:
        return self.field.carried(self.rest.vertices[k], self.before)  # type: ignore[no-any-return]

    def area(self, triangle: Triangle, first: int) -> float:
        a = self.vertex(first + triangle.a)
        b, c = self.vertex(first + triangle.b) - a, self.vertex(first + triangle.c) - a
        return 0.5 * b.cross(c).length

    def speed(self, k: int) -> Vector:
        return ZERO

    def centre(self, i: int) -> Vector:
        return self.rest.nodes[i].centre

    def reach(self, i: int) -> float:
        return self.rest.nodes[i].radius + value(self.field.change(self.before))  # type: ignore[no-any-return]

    def rise(self, i: int, g: Vector) -> float:
        return self.rest.rise(i, g) + value(self.field.change(self.before)) * g.length  # type: ignore[no-any-return]

    def push(self, k: int, force: Vector, case: int) -> None:
        """A rigid body feels forces by their sum and moment alone."""

    def weigh(self, k: int, load: float) -> None:
        """A rigid body need not know it."""

    def scale_pushes(self, contact: float, units: float) -> None:
        """There are none."""


NOTHING = Surface(Records.empty(Node, 0), Records.empty(Vector, 0), Records.empty(Triangle, 0))
"""Of what has no end, as a plane: it is touched, and touches nothing."""


def surface_of(vertices: Floats, faces: Faces) -> Surface:
    """Clusters and tree of a triangulated surface; triangles without area are left out."""
    corners = vertices[faces]
    areas = 0.5 * np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    faces, areas = faces[areas > 0.0], areas[areas > 0.0]
    centres = vertices[faces].mean(axis=1)
    nodes: list[tuple[float, ...]] = []
    points: list[Floats] = []
    sides: list[tuple[Faces, Floats]] = []
    counts = [0, 0]

    def add(chosen: NDArray[np.int64]) -> None:
        own = np.unique(faces[chosen])
        around = _around(vertices[own])
        place = len(nodes)
        if len(chosen) <= TRIANGLES and len(own) <= VERTICES:
            local = np.searchsorted(own, faces[chosen])
            nodes.append((*around, place + 1, counts[0], len(own), counts[1], len(chosen)))
            points.append(vertices[own])
            sides.append((local, areas[chosen]))
            counts[0] += len(own)
            counts[1] += len(chosen)
            return
        nodes.append(())
        axis = int(np.argmax(np.ptp(centres[chosen], axis=0)))
        order = chosen[np.argsort(centres[chosen, axis], kind="stable")]
        # Halves whose sizes are whole clusters keep the leaves full.
        half = TRIANGLES * (1 << max(0, (-(-len(order) // TRIANGLES) - 1).bit_length() - 1))
        half = half if half < len(order) else len(order) // 2
        add(order[:half])
        add(order[half:])
        nodes[place] = (*around, len(nodes), 0, 0, 0, 0)

    if len(faces):
        add(np.arange(len(faces)))
    if not nodes:
        return NOTHING
    rows = np.array(nodes)
    local = np.concatenate([f for f, _ in sides])
    return Surface(
        Records.columns(Node, rows[:, :-5], rows[:, -5:].astype(np.int64)),
        Records.columns(Vector, np.concatenate(points)),
        Records.columns(Triangle, local, np.concatenate([a for _, a in sides])),
    )


def vertices_of(points: Floats) -> Surface:
    """Clusters and tree of points alone, for searches: a surface without triangles."""
    nodes: list[tuple[float, ...]] = []
    rows: list[NDArray[np.int64]] = []
    count = 0

    def add(chosen: NDArray[np.int64]) -> None:
        nonlocal count
        around = _around(points[chosen])
        place = len(nodes)
        if len(chosen) <= TRIANGLES:
            nodes.append((*around, place + 1, count, len(chosen), 0, 0))
            rows.append(chosen)
            count += len(chosen)
            return
        nodes.append(())
        axis = int(np.argmax(np.ptp(points[chosen], axis=0)))
        order = chosen[np.argpartition(points[chosen, axis], len(chosen) // 2)]
        add(order[: len(order) // 2])
        add(order[len(order) // 2 :])
        nodes[place] = (*around, len(nodes), 0, 0, 0, 0)

    add(np.arange(len(points)))
    table = np.array(nodes)
    return Surface(
        Records.columns(Node, table[:, :-5], table[:, -5:].astype(np.int64)),
        Records.columns(Vector, points[np.concatenate(rows)]),
        Records.empty(Triangle, 0),
    )


def _around(points: Floats) -> tuple[float, ...]:
    """The box of a node along the principal axes of its points, and the radius of the sphere about its centre."""
    middle = points.mean(axis=0)
    axes = np.linalg.eigh((points - middle).T @ (points - middle))[1].T
    along = (points - middle) @ axes.T
    low, high = along.min(axis=0), along.max(axis=0)
    centre = middle + (0.5 * (low + high)) @ axes
    radius = float(np.sqrt(((points - centre) ** 2).sum(axis=1).max()))
    half = 0.5 * (high - low) + ROUNDING * radius
    return *centre.tolist(), radius, *axes.reshape(-1).tolist(), *half.tolist()

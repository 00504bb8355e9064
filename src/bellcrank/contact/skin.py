"""The surface of a flexible member as a contact shape: it bends with the member and touches rigid shapes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.keys import PACKED, Keys, must
from bellcrank.contact.field_energy import (
    MEMORY,
    Coefficients,
    Pose,
    Pressed,
    Twist,
    mean_fourth,
    mean_square,
    pressed,
)
from bellcrank.contact.field_surface import NOTHING, Bent, Node, Surface, surface_of
from bellcrank.contact.fields import FieldLaw
from bellcrank.contact.given import FACES, numbers
from bellcrank.contact.shapes.base import FieldShape, Shape
from bellcrank.contact.triangles import Triangles
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec
from bellcrank.math.vectors import Vector
from bellcrank.program.loops import Reals, Reals2, Records, Routine
from bellcrank.program.trace import Scalar

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Skin(FieldShape):
    """Triangles in the axes of a member, whose vertices move with its modes.

    vertices: At rest (n, 3) [m]. corners: Of the triangles, (m, 3). modes: Displacement of each vertex per unit modal
    coordinate, (n, 3, k).
    """

    kind: ClassVar[str] = "skin"
    keys: ClassVar[Keys] = Keys(
        "The surface of a flexible body, which bends with it; touches rigid shapes.",
        must("vertices", PACKED, "At rest, in the axes of the body [m], written like points.", dimensions=2),
        replace(FACES, needed=True, python="corners"),
        must(
            "modes",
            PACKED,
            "Displacement of each vertex for each modal coordinate, three rows a vertex.",
            dimensions=3,
        ),
    )

    vertices: Floats
    corners: NDArray[np.int64]
    modes: Floats

    def __post_init__(self) -> None:
        vertices, modes = numbers(self.vertices, "vertices of a skin"), numbers(self.modes, "modes of a skin")
        if vertices.ndim != 2 or vertices.shape[1:] != (3,) or not len(vertices):
            raise ModelError(f"vertices of a skin have the shape (n, 3), not {vertices.shape}")
        if modes.ndim != 3 or modes.shape[:2] != vertices.shape or not modes.shape[2]:
            raise ModelError(f"modes of a skin have the shape ({len(vertices)}, 3, modes), not {modes.shape}")
        corners = self.corners
        if corners.ndim != 2 or corners.shape[1:] != (3,) or not len(corners):
            raise ModelError(f"triangles of a skin have the shape (m, 3), not {corners.shape}")
        if corners.min() < 0 or corners.max() >= len(vertices):
            raise ModelError(f"triangles of a skin name vertices from 0 to {len(vertices) - 1}")
        if not (np.isfinite(vertices).all() and np.isfinite(modes).all()):
            raise ModelError("a skin has a vertex or a mode that is not a number")
        sides = vertices[corners[:, 1:]] - vertices[corners[:, :1]]
        if not np.cross(sides[:, 0], sides[:, 1]).any():
            raise ModelError("all triangles of a skin are without area")

    @property
    def is_open(self) -> bool:
        """What lies behind it is not known."""
        return True

    def implicit(self, s: Vec) -> Scalar:
        raise ModelError("the skin of a flexible member has no implicit function")

    def bounding_radius(self) -> float:
        return float(np.linalg.norm(self.vertices, axis=1).max())

    def triangles(self, spacing: float | None = None) -> Triangles:
        return Triangles(self.vertices, self.corners)

    def drawn(self) -> None:
        """The member itself is drawn, as it bends."""

    @cached_property
    def tables(self) -> tuple[Surface, Floats, Floats, Floats]:
        """The surface at rest; modes of its vertices; of its nodes the mean modes, and how far vertices leave those."""
        made = surface_of(self.vertices, self.corners)
        count = self.modes.shape[2]
        # Clusters hold copies of vertices, found again by their place.
        placed = {v.tobytes(): k for k, v in enumerate(np.ascontiguousarray(self.vertices))}
        rows = np.array([placed[np.ascontiguousarray(v).tobytes()] for v in made.vertices.words])
        shapes = self.modes[rows]
        nodes = len(made.nodes)
        middles, spreads = np.zeros((nodes, 3, count)), np.zeros((nodes, count))
        tree = [made.nodes[i] for i in range(nodes)]
        for i, node in enumerate(tree):
            # The vertices of all clusters below lie in a row.
            leaves = [x for x in tree[i : max(node.skip, i + 1)] if x.vertices]
            own = shapes[leaves[0].first_vertex : leaves[-1].first_vertex + leaves[-1].vertices]
            middles[i] = 0.5 * (own.min(axis=0) + own.max(axis=0))
            spreads[i] = np.linalg.norm(own - middles[i], axis=1).max(axis=0)
        return made, shapes.reshape(-1, count), middles.reshape(-1, count), spreads

    def deformed(self, eta: Floats) -> Surface:
        """The surface at modal coordinates."""
        made, shapes, middles, spreads = self.tables
        vertices = made.vertices.words + (shapes @ eta).reshape(-1, 3)
        nodes = made.nodes.words.copy()
        nodes[:, :3] += (middles @ eta).reshape(-1, 3)
        nodes[:, 3] += spreads @ np.abs(eta)
        return made._replace(nodes=Records(Node, nodes), vertices=Records(Vector, vertices))


class Met(NamedTuple):
    """A skin and the rigid shape that it meets: tables of the skin, field of the shape, and whether its law is that of
    a half-space."""

    rest: Surface
    shapes: Reals2
    middles: Reals2
    spreads: Reals2
    field: Any
    half_space: bool
    nothing: Surface = NOTHING

    def bent(self, eta: Reals, rates: Reals, pushes: Reals) -> Bent:
        """The skin at modal coordinates."""
        return Bent(self.rest, self.shapes, self.middles, self.spreads, eta, rates, pushes)


def _on_b(
    pose: Pose,
    twist: Twist,
    law: Coefficients,
    eta: Reals,
    rates: Reals,
    met: Met,
    warm: Reals,
    pushes: Reals,
) -> Pressed:
    skin = met.bent(eta, rates, pushes)
    if met.half_space:
        return pressed(mean_fourth, True, pose, twist, law, met.field, met.nothing, met.field, skin, warm)
    return pressed(mean_square, False, pose, twist, law, met.field, met.nothing, met.field, skin, warm)


def _on_a(
    pose: Pose,
    twist: Twist,
    law: Coefficients,
    eta: Reals,
    rates: Reals,
    met: Met,
    warm: Reals,
    pushes: Reals,
) -> Pressed:
    skin = met.bent(eta, rates, pushes)
    if met.half_space:
        return pressed(mean_fourth, True, pose, twist, law, met.field, skin, met.field, met.nothing, warm)
    return pressed(mean_square, False, pose, twist, law, met.field, skin, met.field, met.nothing, warm)


_routines: WeakKeyDictionary[Any, dict[Any, tuple[Any, Routine]]] = WeakKeyDictionary()


def skin_routine(skin: Skin, other: Shape, law: FieldLaw, first: bool) -> Routine:
    """The contact of a skin with a rigid shape, made once; first: Whether the skin is side a.

    Besides pose, twist and coefficients it takes the modal coordinates and their rates, and gives the modal forces.
    """
    known = _routines.setdefault(skin, {})
    key = id(other), law, first
    if key not in known:
        modes = skin.modes.shape[2]
        met = Met(*skin.tables, other.field, law is FieldLaw.HALF_SPACE)
        function = _on_a if first else _on_b
        known[key] = other, Routine(function, (met,), MEMORY, "skin", (), (modes, modes), modes)
    return known[key][1]


__all__ = ["Skin", "skin_routine"]

"""The surface of a flexible member as a contact shape: it bends with the member, and so does the depth within it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.keys import NUMBER, PACKED, PART, Keys, may, must
from bellcrank.contact.bending import CASES, CELL, Bent, Grid, grid_of
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
from bellcrank.contact.field_surface import NOTHING, Resized, Surface, surface_of
from bellcrank.contact.fields import FieldLaw, balanced, deepest, surface
from bellcrank.contact.given import FACES, is_positive, numbers
from bellcrank.contact.mesh import Mesh
from bellcrank.contact.rod_bending import NUMBERS, BentRod, Bounds, Line, handed
from bellcrank.contact.shapes import Part, Plane
from bellcrank.contact.shapes.base import PLAIN, FieldShape, Shape, has_parameters
from bellcrank.contact.shapes.fields import Field, PlacedField, Resizable, onto
from bellcrank.contact.shapes.splines import PIECE, coefficients
from bellcrank.contact.triangles import Triangles, refined
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec
from bellcrank.math.vectors import IDENTITY, Matrix, Vector
from bellcrank.program.loops import Reals, Reals2, Routine, reals
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.flexible.rods import Rod

Floats = NDArray[np.float64]

POOR = 0.01
"""Misfit of the displacement within a member, over the largest of a mode, that a note names."""
STATIONS = 4
"""Stations along a rod for each coordinate of a strain: a quintic spline then follows the axis to 1e-5 of its bend."""
MOST = 200_000
"""Triangles of a skin."""
USUAL = 40_000
"""Triangles of a skin at most where no spacing is given, about."""
LONGEST = 0.02
"""Longest edge of triangles around an axis over the extent of the member, where nothing is said: a bent beam leaves a
chord of that length by a part of 5e-5 of the extent at most, at a radius of curvature of the extent."""
AROUND = "The undeformed body around the axis, with its position and rotation"


class Outside(NamedTuple):
    """The field of a body whose depth nobody asks for."""

    away: float

    def depth(self, x: Vector) -> float:
        return -self.away

    def bound(self, x: Vector, r: float) -> float:
        return -self.away


def _no_grid(modes: int) -> Grid:
    """Of a body whose depth nobody asks for."""
    return Grid(
        Vector(0.0, 0.0, 0.0), IDENTITY, Vector(1.0, 1.0, 1.0), 1, 1, 1, 4, np.zeros((192, modes)), 1.0
    )


class Fixed(NamedTuple):
    """In place of a field with sizes that are given, where they are numbers."""

    nothing: float


class Deformed(NamedTuple):
    """One side of a contact now: coordinates q and their rates, and room for what is computed from them.

    frames, moves, loads: Of its shape. pushes: Forces on the coordinates of both sides, those of this one from `first`
    on, in so many `cases` of load.
    """

    q: Reals
    rates: Reals
    frames: Reals
    moves: Reals
    loads: Reals
    pushes: Reals
    first: int
    cases: int


class Rigid(NamedTuple):
    """One side of a contact that does not deform."""

    field: Any
    surface: Surface

    def posed(self, now: Deformed, sizes: Any) -> Rigid:
        """It is as it is."""
        return self


class Sized(NamedTuple):
    """One side of a contact whose sizes depend on parameters.

    before: Its field with the sizes that its surface was made for.
    """

    before: Any
    rest: Surface

    def posed(self, now: Deformed, sizes: Any) -> Rigid:
        """With the sizes of now; sizes: Its field."""
        return Rigid(sizes, Resized(self.rest, sizes, self.before))  # type: ignore[arg-type]


class Modal(NamedTuple):
    """A member with modes, as one side of a contact; fields as in :class:`Bent`."""

    rest: Surface
    shapes: Reals2
    middles: Reals2
    spreads: Reals2
    body: Any
    grid: Grid
    strains: Reals

    def posed(self, now: Deformed, sizes: Any) -> Bent:
        """At modal coordinates."""
        return Bent(*self, now.q, now.rates, now.frames, now.pushes, now.first, now.cases)


class RodSide(NamedTuple):
    """A rod as one side of a contact."""

    line: Line

    def posed(self, now: Deformed, sizes: Any) -> BentRod:
        """At strain coordinates."""
        return self.line.posed(now.q, now.rates, now.frames, now.moves, now.loads)


class SkinShape(FieldShape):
    """The surface of a flexible member; its frame is that of the member."""

    around: Part | None

    @property
    def is_open(self) -> bool:
        """Without a shape around an axis, what lies behind the surface is looked at only where it is needed."""
        return self.around is None

    def implicit(self, s: Vec) -> Scalar:
        raise ModelError("the skin of a flexible member has no implicit function")

    def drawn(self) -> None:
        """The member itself is drawn, as it bends."""

    def coordinates(self, member: Any) -> int:
        """How many coordinates of the member move it."""
        raise NotImplementedError

    def side(self, member: Any, alone: bool) -> Any:
        """What the loops see; alone: Whether the partner has no surface that could lie within this one."""
        raise NotImplementedError

    def room(self, member: Any) -> tuple[int, int]:
        """Numbers of its shape that are kept while a contact is evaluated, and those of them that forces act on."""
        raise NotImplementedError

    def deformed(self, member: Any, q: Floats) -> Any:
        """Surface and field at coordinates."""
        side = self.side(member, False)
        q = np.ascontiguousarray(q, float)
        rates, out = np.zeros(len(q)), np.zeros(len(q))
        sections, own = self.room(member)
        now = Deformed(q, rates, np.zeros(sections), np.zeros(own), np.zeros(own), out, 0, 1)
        found = side.posed(now, Fixed(0.0))
        if isinstance(found, BentRod):
            found = found._replace(bounds=Bounds(*(float(x) for x in found.bounds)))
        return found


@dataclass(frozen=True, eq=False)
class Skin(SkinShape):
    """Triangles in the axes of a member, whose vertices move with its modes.

    vertices: At rest (n, 3) [m]. corners: Of the triangles, (m, 3). modes: Displacement of each vertex per unit modal
    coordinate, (n, 3, k). around: The undeformed body, where it is known as a shape; otherwise it is what the triangles
    enclose.
    """

    kind: ClassVar[str] = "skin"
    keys: ClassVar[Keys] = Keys(
        "The surface of a flexible body, which bends with it.",
        must("vertices", PACKED, "At rest, in the axes of the body [m], written like points.", dimensions=2),
        replace(FACES, needed=True, python="corners"),
        must(
            "modes",
            PACKED,
            "Displacement of each vertex for each modal coordinate, three rows a vertex.",
            dimensions=3,
        ),
        may("around", PART, f"{AROUND} in the axes of the body; what the triangles enclose where missing."),
    )

    vertices: Floats
    corners: NDArray[np.int64]
    modes: Floats
    around: Part | None = None

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

    def to_keys(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in ("vertices", "corners", "modes", "around")}

    def bounding_radius(self) -> float:
        return float(np.linalg.norm(self.vertices, axis=1).max())

    def triangles(self, spacing: float | None = None) -> Triangles:
        return Triangles(self.vertices, self.corners)

    @cached_property
    def field(self) -> Field:
        """The depth at rest."""
        return Mesh(self.vertices, self.corners).field if self.around is None else placed_field(self.around)

    def coordinates(self, member: Any) -> int:
        return int(self.modes.shape[2])

    def room(self, member: Any) -> tuple[int, int]:
        return CELL, 1

    @property
    def notes(self) -> tuple[str, ...]:
        """How well the displacement within the member is known, where that is poor."""
        misfit = self._grid[1]
        worst = int(np.argmax(misfit))
        if misfit[worst] <= POOR:
            return ()
        return (
            f"the depth within the skin follows mode {worst + 1} to {100 * misfit[worst]:.2g} % of its largest "
            "displacement",
        )

    @cached_property
    def _grid(self) -> tuple[Grid, Floats, Floats]:
        return grid_of(self.vertices, self.modes)

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
        for i, (first, last) in enumerate(_vertices_below(made)):
            own = shapes[first:last]
            middles[i] = 0.5 * (own.min(axis=0) + own.max(axis=0))
            spreads[i] = np.linalg.norm(own - middles[i], axis=1).max(axis=0)
        return made, shapes.reshape(-1, count), middles.reshape(-1, count), spreads

    def side(self, member: Any, alone: bool) -> Modal:
        if alone:
            return Modal(
                *self.tables, Outside(1.0), _no_grid(self.modes.shape[2]), np.zeros(self.modes.shape[2])
            )
        grid, _, strains = self._grid
        return Modal(*self.tables, self.field, grid, strains)


@dataclass(frozen=True, eq=False)
class RodSkin(SkinShape):
    """The surface of a rod: a shape around its axis, as if the rod were straight along x from its start.

    around: The shape, its place and rotation. spacing: Longest edge of its triangles [m].
    """

    kind: ClassVar[str] = "rod skin"
    keys: ClassVar[Keys] = Keys(
        "The surface of a rod, which bends with it.",
        must("around", PART, f"{AROUND} on the straight rod, which lies along x from its start."),
        may("spacing", NUMBER, "Longest edge of its triangles [m]. A plain number.", plain=True),
    )

    around: Part
    spacing: float | None = None

    def __post_init__(self) -> None:
        if self.spacing is not None and not is_positive(self.spacing):
            raise ModelError(f"spacing of a skin must be a positive length [m], not {self.spacing!r}")

    @classmethod
    def of_keys(cls, given: Mapping[str, Any]) -> RodSkin:
        return cls(given["around"], given.get("spacing"))

    def bounding_radius(self) -> float:
        return float(np.linalg.norm(self.triangles().vertices, axis=1).max())

    @cached_property
    def _triangles(self) -> Triangles:
        return surface_around(self.around, self.around.shape.extent, self.spacing)[0]

    def triangles(self, spacing: float | None = None) -> Triangles:
        return self._triangles

    @cached_property
    def field(self) -> Field:
        """The depth in the straight rod."""
        return placed_field(self.around)

    def coordinates(self, member: Rod) -> int:
        return member.modes

    def room(self, member: Rod) -> tuple[int, int]:
        stations = STATIONS * max(member.counts) + 9
        own = NUMBERS * (stations + 4)
        return own + (3 + 6 * member.modes) * stations, own

    @cached_property
    def _sides(self) -> WeakKeyDictionary[Any, RodSide]:
        return WeakKeyDictionary()

    def side(self, member: Rod, alone: bool) -> RodSide:
        if member not in self._sides:
            self._sides[member] = RodSide(self._line(member))
        return self._sides[member]

    def _line(self, rod: Rod) -> Line:
        count = STATIONS * max(rod.counts) + 9
        pieces, ends = rod.pieces(np.linspace(0.0, rod.length, count))
        made = surface_of(self._triangles.vertices, self._triangles.faces)
        x = made.vertices.words
        middles = made.nodes.words[:, :3]
        spans = np.zeros((len(made.nodes), 3))
        for i, (first, last) in enumerate(_vertices_below(made)):
            own, middle = x[first:last], middles[i]
            spans[i, 0] = np.abs(own[:, 0] - middle[0]).max()
            spans[i, 1] = np.linalg.norm(own[:, 1:] - middle[1:], axis=1).max()
            spans[i, 2] = np.linalg.norm(middle[1:])
        out = x - np.column_stack([np.clip(x[:, 0], 0.0, rod.length), np.zeros((len(x), 2))])
        return Line(
            rod.chain,
            pieces,
            ends,
            count,
            coefficients(np.eye(count)),
            PIECE[:1, :5].copy(),
            rod.length / (count - 1),
            rod.length,
            made,
            spans,
            float(np.linalg.norm(out, axis=1).max()),
            self.field,
        )


def surface_around(part: Part, extent: float, spacing: float | None) -> tuple[Triangles, float]:
    """Triangles around an axis, and their longest edge [m]; also straight sides have short ones, since they will bend.

    spacing: The longest edge [m]; where it is missing a quarter of the thickness, and no more than a part of the
    member's extent [m].
    """
    shape = part.shape
    whole = shape.drawn()
    if whole is None:
        raise ModelError(f"a {type(shape).__name__} has no end, and cannot be the surface of a member")
    if spacing is None:
        sides = whole.corners[:, 1:] - whole.corners[:, :1]
        area = 0.5 * float(np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1).sum())
        # Triangles with sides of that length cover 0.43 of its square each, and bisection makes about twice as many.
        spacing = max(min(LONGEST * extent, 0.5 * deepest(shape)), (area / (0.2 * USUAL)) ** 0.5)
    coarse = shape.even_triangles(spacing)
    assert coarse is not None

    def too_long(a: Floats, b: Floats) -> NDArray[np.bool_]:
        return np.asarray(np.linalg.norm(b - a, axis=1) > 1.0001 * spacing)

    found = refined(coarse, too_long, lambda a, b: onto(shape.field, 0.5 * (a + b)), MOST)
    if len(found.faces) > MOST:
        raise ModelError(f"spacing {spacing:g} m gives more than {MOST:,} triangles; give a larger one")
    found = balanced(found, shape.field)
    return found.placed(np.asarray(part.rotation, float), np.asarray(part.at, float)), spacing


def placed_field(part: Part) -> PlacedField:
    """The depth in a shape at its place."""
    at, turned = np.asarray(part.at, float), np.asarray(part.rotation, float)
    return PlacedField(
        part.shape.field, Vector(*at.tolist()), Matrix(*(Vector(*row) for row in turned.tolist()))
    )


def _vertices_below(made: Surface) -> list[tuple[int, int]]:
    """For each node the vertices of all clusters below it, which lie in a row."""
    tree = [made.nodes[i] for i in range(len(made.nodes))]
    found = []
    for i, node in enumerate(tree):
        leaves = [x for x in tree[i : max(node.skip, i + 1)] if x.vertices]
        found.append((leaves[0].first_vertex, leaves[-1].first_vertex + leaves[-1].vertices))
    return found


@cache
def _meeting(
    half_space: bool,
    room_a: tuple[int, int],
    room_b: tuple[int, int],
    cases: int,
    sizes: tuple[type, type],
) -> Callable[..., Pressed]:
    """The function below; what is kept of shapes needs constant room. sizes: Classes of fields that are given."""
    (sections_a, own_a), (sections_b, own_b) = room_a, room_b
    loads_a, loads_b = cases * own_a, cases * own_b

    def meet(
        pose: Pose,
        twist: Twist,
        law: Coefficients,
        sizes_a: Any,
        sizes_b: Any,
        q_a: Reals,
        rates_a: Reals,
        q_b: Reals,
        rates_b: Reals,
        side_a: Any,
        side_b: Any,
        warm: Reals,
        out: Reals,
    ) -> Pressed:
        """Two sides that deform or whose sizes are given; out: Forces on the coordinates of a, then on those of b."""
        frames = reals(sections_a)
        moves = reals(own_a)
        loads = reals(loads_a)
        a = side_a.posed(Deformed(q_a, rates_a, frames, moves, loads, out, 0, cases), sizes_a)
        frames_b = reals(sections_b)
        moves_of_b = reals(own_b)
        loads_of_b = reals(loads_b)
        first = cases * len(q_a)
        b = side_b.posed(Deformed(q_b, rates_b, frames_b, moves_of_b, loads_of_b, out, first, cases), sizes_b)
        found = (
            pressed(mean_fourth, True, pose, twist, law, a.field, a.surface, b.field, b.surface, warm)
            if half_space
            else pressed(mean_square, False, pose, twist, law, a.field, a.surface, b.field, b.surface, warm)
        )
        if found.energy > 0.0:
            if isinstance(a, BentRod):
                handed(a, len(q_a), out, 0)
            if isinstance(b, BentRod):
                handed(b, len(q_b), out, first)
        return found

    meet.__annotations__ |= {"sizes_a": sizes[0], "sizes_b": sizes[1]}
    return meet


_routines: WeakKeyDictionary[Any, dict[Any, tuple[Any, Routine]]] = WeakKeyDictionary()


def one_sided(a: Shape, b: Shape) -> bool:
    """Whether the surface of a skin alone lies in the field of its partner.

    A plane has no surface. Behind triangles without a shape lies a grid of depths, which is less exact than the field
    of a rigid shape.
    """
    skins = [s for s in (a, b) if isinstance(s, SkinShape)]
    return len(skins) == 1 and (skins[0].around is None or Plane in (type(a), type(b)))


class _Meeting(Routine):
    """Of a contact: thousands of vertices, so that a single state too is worth machine code."""

    def evaluate(self, x: Floats) -> Floats:
        return super().evaluate(x) if x.ndim == 2 else self.kernel(x)


class Party(NamedTuple):
    """One side of a contact: its shape, that with the present values of its parameters, and its flexible member."""

    shape: Shape
    present: Shape
    member: Any = None

    @property
    def sizes(self) -> Any:
        """What the routine is given: the field with its parameters, where it has some."""
        return self.shape.field if has_parameters(self.shape) else Fixed(0.0)


def check_resizable(who: str, shape: Shape) -> None:
    """Raise for a shape whose sizes cannot be parameters in contact by fields; who: What errors call the contact."""
    if has_parameters(shape) and not isinstance(shape.field, Resizable):
        raise ModelError(
            f"{who}: the sizes of a {type(shape).__name__} are plain numbers in contact by fields; {PLAIN}"
        )


def skin_routine(a: Party, b: Party, law: FieldLaw, bristles: bool = False) -> Routine:
    """The contact of two sides of which one at least is a skin, or has sizes that depend on parameters.

    Besides pose, twist and coefficients it takes the sizes of both, their coordinates, and the rates of these. It gives
    the forces on the coordinates; with bristles those of the unit loads too (:data:`bellcrank.contact.bending.CASES`).
    """
    known = _routines.setdefault(a.present, {})
    key = id(a.member), id(b.present), id(b.member), type(a.sizes), type(b.sizes), law, bristles
    if key not in known:
        one = one_sided(a.present, b.present)
        sides, room, count = list[Any](), list[tuple[int, int]](), list[int]()
        for own, other in ((a, b), (b, a)):
            shape = own.present
            if isinstance(shape, SkinShape):
                sides.append(shape.side(own.member, one))
                room.append(shape.room(own.member))
                count.append(shape.coordinates(own.member))
                continue
            room.append((1, 1))
            count.append(0)
            made = NOTHING if one else surface(shape, other.present)
            sides.append(Sized(shape.field, made) if has_parameters(own.shape) else Rigid(shape.field, made))
        cases = CASES if bristles else 1
        given = type(a.sizes), type(b.sizes)
        function = _meeting(law is FieldLaw.HALF_SPACE, *room, cases, given)
        rows = (count[0], count[0], count[1], count[1])
        made_routine = _Meeting(function, tuple(sides), MEMORY, "skin", (), rows, max(cases * sum(count), 1))
        # Both sides are kept with the routine, so that their identities stay their own.
        known[key] = (a, b), made_routine
    return known[key][1]


__all__ = ["Party", "RodSkin", "Skin", "SkinShape", "check_resizable", "skin_routine"]

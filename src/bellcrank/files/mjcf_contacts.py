"""Contacts of MJCF geoms: groups of shapes that collide, with their friction.

Source: MuJoCo documentation, computation, collision detection and contact parameters. Two geoms collide where the bits
of one's contype meet the other's conaffinity, unless they stand on one body, on bodies welded together, or on a body
and its parent that is not the world. Friction of a pair is the larger of both, or that of the higher priority; condim
says how much of it acts. Contacts are soft in MuJoCo; here they are rigid and without rebound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from bellcrank.contact.mesh import Mesh
from bellcrank.contact.shapes import Plane, Shape
from bellcrank.errors import ModelError
from bellcrank.files.elements import Element
from bellcrank.files.imported import Builder, Pose
from bellcrank.files.mjcf_values import Compiler
from bellcrank.files.visuals import Unseen, mjcf_shape
from bellcrank.model import Body
from bellcrank.model.contacts import PlacedShape

FRICTION = (1.0, 0.005, 0.0001)
"""MuJoCo's: sliding, spinning [m] and rolling [m]."""
RESTITUTION = 0.0


class Kind(NamedTuple):
    """What decides with which geoms a geom collides, and how."""

    contype: int
    conaffinity: int
    condim: int
    priority: int
    friction: tuple[float, float, float]

    def meets(self, other: Kind) -> bool:
        """Whether the bits of both meet."""
        return bool(self.contype & other.conaffinity or other.contype & self.conaffinity)

    def beside(self, other: Kind) -> tuple[float, float, float]:
        """Friction, spinning and rolling resistance of the pair."""
        if self.priority != other.priority:
            first = max(self, other, key=lambda kind: kind.priority)
            return acting(first.condim, first.friction)
        a, b, c = (max(x, y) for x, y in zip(self.friction, other.friction, strict=True))
        return acting(max(self.condim, other.condim), (a, b, c))


def acting(condim: int, friction: tuple[float, float, float]) -> tuple[float, float, float]:
    """The friction that acts in a contact of so many dimensions."""
    slide, spin, roll = friction
    return (slide if condim >= 3 else 0.0, spin if condim >= 4 else 0.0, roll if condim >= 6 else 0.0)


@dataclass(frozen=True, eq=False)
class Seat:
    """A body of the file. weld: Bodies welded together share it; 0 is the world. above: The weld that it hangs on."""

    body: Body
    pose: Pose
    weld: int
    above: int


@dataclass(frozen=True, eq=False)
class Geom:
    """A geom that may collide."""

    placed: PlacedShape
    seat: Seat
    kind: Kind
    of: str


class Contacts:
    """Geoms of a model as they are read, and the groups made of them."""

    def __init__(
        self, build: Builder, compiler: Compiler, meshes: Callable[[str], Mesh], wanted: bool
    ) -> None:
        self.build, self.compiler, self.meshes = build, compiler, meshes
        self.wanted = wanted and compiler.contacts
        self.geoms: list[Geom] = []
        self.named: dict[str, Geom] = {}

    def add(self, element: Element, frame: Pose, seat: Seat, of: str) -> None:
        """Read a geom; those that collide with nothing are left to the list of what is not imported."""
        if not self.wanted:
            return
        contype, conaffinity = (int(element.number(key, 1.0)) for key in ("contype", "conaffinity"))
        condim, priority = int(element.number("condim", 3.0)), int(element.number("priority", 0.0))
        given = element.numbers("friction", (1, 2, 3), FRICTION)
        a, b, c = [*given, *FRICTION[len(given) :]]
        kind = Kind(contype, conaffinity, condim, priority, (a, b, c))
        name = element.attributes.get("name")
        if not (contype or conaffinity) and name is None:
            return
        try:
            kind_of_shape = (
                element.text("type", "mesh" if element.text("mesh") is not None else "sphere") or ""
            )
            shape, pose = mjcf_shape(self.compiler, element, kind_of_shape, self.meshes)
            placed = self._placed(convex(shape), frame @ pose, seat)
        except (Unseen, ModelError, ValueError) as error:
            self.build.ignore(element, f"it collides with nothing: {error}")
            return
        element.seen = True
        element.taken.add("name")
        for key in ("solref", "solimp", "solmix", "margin", "gap"):
            self.build.skip(element, key, "contacts are soft in MuJoCo, rigid here")
        found = Geom(placed, seat, kind, of)
        if name is not None:
            self.named[name] = found
        if contype or conaffinity:
            self.geoms.append(found)

    def _placed(self, shape: Shape, pose: Pose, seat: Seat) -> PlacedShape:
        """On its body; on the ground where the body is welded to the world."""
        if seat.weld:
            return seat.body.shape(shape, tuple(pose.p), pose.R)
        whole = seat.pose @ pose
        return self.build.system.ground.shape(shape, tuple(whole.p), whole.R)

    def finish(self, sections: list[Element]) -> None:
        """Make the groups, and the pairs that are named."""
        if not self.wanted:
            return
        excluded: set[frozenset[str]] = set()
        for section in sections:
            for element in section.all("exclude"):
                element.taken.add("name")
                excluded.add(frozenset((element.needed("body1"), element.needed("body2"))))
            for element in section.all("pair"):
                self._pair(element)
        joined = self._joined()
        kinds = list(dict.fromkeys(geom.kind for geom in self.geoms))
        for one, other in combinations_with_replacement(kinds, 2):
            if one.meets(other):
                self._groups(one, other, excluded, joined)

    def _joined(self) -> set[frozenset[str]]:
        """Pairs of bodies that a joint joins, which never collide in a group."""
        joints = self.build.system.joints.values()
        pairs = [(j.a.body, j.b.body) for j in joints if not (j.a.body.is_ground or j.b.body.is_ground)]
        return {frozenset((a.name, b.name)) for a, b in pairs}

    def _groups(
        self, one: Kind, other: Kind, excluded: set[frozenset[str]], joined: set[frozenset[str]]
    ) -> None:
        """All geoms of two kinds; bodies with partners that a group cannot leave out have groups of their own."""

        def apart(x: Geom, y: Geom) -> bool:
            a, b = x.seat, y.seat
            same = a.weld == b.weld or frozenset((x.of, y.of)) in excluded
            return same or bool(a.weld and b.weld and (a.above == b.weld or b.above == a.weld))

        def known(x: Geom, y: Geom) -> bool:
            a, b = x.placed.frame.body, y.placed.frame.body
            return a is b or frozenset((a.name, b.name)) in joined

        both = [geom for geom in self.geoms if geom.kind in (one, other)]
        special: dict[str, None] = {}
        for k, x in enumerate(both):
            for y in both[:k]:
                if apart(x, y) and not known(x, y) and x.of not in special and y.of not in special:
                    special[x.of] = None
        friction = one.beside(other)
        plain = [geom for geom in both if geom.of not in special]
        self._group(one, other, plain, plain, friction)
        before = plain
        for name in special:
            own = [geom for geom in both if geom.of == name]
            allowed = [y for y in before if not apart(own[0], y)]
            self._group(one, other, own, allowed, friction)
            before = [*before, *own]

    def _group(
        self, one: Kind, other: Kind, first: list[Geom], second: list[Geom], friction: tuple[float, ...]
    ) -> None:
        if first is second and one == other:
            self._between([g.placed for g in first], None, friction)
            return
        kinds = ((one, other),) if one == other or first is second else ((one, other), (other, one))
        for i, j in kinds:
            a = [g.placed for g in first if g.kind == i]
            b = [g.placed for g in second if g.kind == j]
            self._between(a, b, friction)

    def _between(
        self, a: list[PlacedShape], b: list[PlacedShape] | None, friction: tuple[float, ...]
    ) -> None:
        bodies = {side.frame.body.name for side in (*a, *(b or ()))}
        if not a or (b is not None and not b) or len(bodies) < 2:
            return
        mu, spin, roll = friction
        name = self.build.name("contacts", "contact")
        self.build.system.contacts_between(
            a, b, RESTITUTION, mu, rolling_resistance=roll, spinning_resistance=spin, name=name
        )

    def _pair(self, element: Element) -> None:
        """A pair of geoms with friction of its own."""
        sides = [element.needed(key) for key in ("geom1", "geom2")]
        given = element.numbers("friction", (), (1.0, 1.0, 0.005, 0.0001, 0.0001))
        slide, spin, roll = [*given, *(1.0, 1.0, 0.005, 0.0001, 0.0001)[len(given) :]][0:5:2]
        mu, spin, roll = acting(int(element.number("condim", 3.0)), (slide, spin, roll))
        if any(name not in self.named for name in sides):
            self.build.ignore(element, "a geom of it has no shape here")
            return
        a, b = (self.named[name].placed for name in sides)
        if isinstance(b.shape, Plane):
            a, b = b, a
        label = element.attributes.get("name") or f"{sides[0]} and {sides[1]}"
        name = self.build.name(label, "contact", element if "name" in element.attributes else None)
        element.taken.add("name")
        for key in ("solref", "solimp", "solreffriction", "margin", "gap"):
            self.build.skip(element, key, "contacts are soft in MuJoCo, rigid here")
        try:
            self.build.system.contact(
                name, a, b, RESTITUTION, mu, rolling_resistance=roll, spinning_resistance=spin
            )
        except ModelError as error:
            self.build.ignore(element, str(error))


def convex(shape: Shape) -> Shape:
    """The convex hull of a mesh, by which MuJoCo's meshes touch; other shapes as they are."""
    if not isinstance(shape, Mesh):
        return shape
    from scipy.spatial import ConvexHull, QhullError

    points = shape.triangles().vertices
    try:
        hull = ConvexHull(points)
    except QhullError as error:
        raise ModelError("its mesh has no volume") from error
    corners = hull.points[hull.simplices]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("ij,ij->i", normals, hull.equations[:, :3]) < 0.0
    faces = np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices)
    used, numbered = np.unique(faces, return_inverse=True)
    return Mesh(hull.points[used], numbered.reshape(faces.shape))


__all__ = ["Contacts", "Seat"]

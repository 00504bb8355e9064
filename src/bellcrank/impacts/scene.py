"""The arrays of a run by steps, from a mechanism with its contacts and colliding groups."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.closest import by_search
from bellcrank.contact.mesh import Mesh
from bellcrank.contact.nearest import MEMORY as SEARCH
from bellcrank.contact.shapes import Box, Capsule, Cylinder, Shape
from bellcrank.impacts import moreau
from bellcrank.impacts.broad_phase import Broad
from bellcrank.impacts.changes import changes_of
from bellcrank.impacts.colliders import Collider, Frames, Rule
from bellcrank.impacts.cones import cones_of
from bellcrank.impacts.meeting import (
    POSE,
    SPOT,
    Meeting,
    Placed,
    flat_axis,
    kind_of,
    open_shape,
    shape_key,
    sizes_of,
)
from bellcrank.impacts.patches import Patch
from bellcrank.impacts.units import group_units, placed_pairs
from bellcrank.mechanics.constraints import Marker
from bellcrank.mechanics.contacts import ContactPair, placed_marker
from bellcrank.mechanics.joint_coordinates import in_tree
from bellcrank.mechanism import Mechanism
from bellcrank.mechanism.carried_loads import lagging_loads
from bellcrank.mechanism.machines import Machine
from bellcrank.model.collisions import Collisions
from bellcrank.model.contacts import PlacedShape
from bellcrank.model.field_contacts import check_points
from bellcrank.model.striking import in_patch, stand_on_rims, struck_sides
from bellcrank.program.graph import Graph
from bellcrank.program.loops import Records
from bellcrank.program.trace import Expr, Scalar

Array = NDArray[np.float64]
Index = NDArray[np.int64]

ENDLESS = 1e6
"""Reach over the size of the largest body from which a shape has no end."""
PATCH = "patch"
"""What keys of programs of patches begin with."""
IMPACT_ROOM = 256
"""Impacts that are kept in compiled code before they are read."""


@dataclass(frozen=True, eq=False)
class Meet:
    """The contacts of one pair of shapes of the model: their numbers, its colliders, its program, law and units."""

    numbers: range
    a: int
    b: int
    program: Hashable
    couple: int
    law: tuple[Scalar, ...]
    units: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Law:
    """How two kinds of colliders in groups meet: the group, its program, its law and units."""

    group: Collisions
    program: Hashable
    warm: int
    law: tuple[Scalar, ...]
    units: tuple[float, float, float]

    @property
    def patch(self) -> bool:
        """Whether the shapes touch in a patch."""
        return isinstance(self.program, tuple) and self.program[0] == PATCH


class Parts:
    """Colliders, the pairs of the model's contacts, and the rules of its groups; the same in every partition.

    made: Programs of pairs, by what they are of.
    """

    def __init__(self, mechanism: Mechanism, made: dict[Hashable, object]) -> None:
        self.mechanism, self.made = mechanism, made
        self.pairs: tuple[ContactPair, ...] = placed_pairs(mechanism)
        self.frames: list[Marker] = []
        self.frame_bodies: list[str] = []
        self.frame_places: list[str] = []
        self.shapes: list[Shape] = []
        self.colliders: list[Collider] = []
        self.grouped: list[int] = []
        self.numbers: list[float] = []
        self._frame: dict[int, int] = {}
        self._collider: dict[tuple[int, int], int] = {}
        self._kinds: dict[Hashable, int] = {}
        self._lengths, self.speed, self.fall = group_units(mechanism)
        self.meets = list(self._met())
        self.kinds: list[tuple[PlacedShape, frozenset[tuple[str, int]]]] = []
        self._group()
        self.rules = self._rules()
        self.excluded = self._excluded()

    def _add(self, side: PlacedShape, kind: int = 0) -> int:
        """The collider of a shape on a body."""
        shape = side.shape.whole
        key = id(side.frame), id(shape)
        if key not in self._collider:
            if id(side.frame) not in self._frame:
                self._frame[id(side.frame)] = len(self.frames)
                self.frames.append(placed_marker(side, self.mechanism.linkage))
                self.frame_bodies.append(side.frame.body.name)
                self.frame_places.append(side.place)
            self._collider[key] = len(self.colliders)
            name = side.frame.body.name
            length, sizes = self._lengths.get(name, 0.0) or math.inf, sizes_of(shape).values()
            frame, first = self._frame[id(side.frame)], len(self.numbers)
            self.numbers += sizes
            self.colliders.append(
                Collider(
                    frame,
                    kind,
                    flat_axis(shape),
                    shape.extent,
                    *_box(shape),
                    length,
                    first,
                    len(sizes),
                )
            )
            self.shapes.append(shape)
        return self._collider[key]

    def _met(self) -> Any:
        """The contacts of the model by pair of shapes; those of a pair follow each other."""
        first, pairs = 0, self.pairs
        while first < len(pairs):
            contact, one = pairs[first].contact, pairs[first]
            own = [pair.contact for pair in pairs[first : first + contact.points]]
            spots = [(c.a.shape, c.b.shape) for c in own]
            program = self._program(spots, len(contact.warm), self._counted(one))
            law = contact.friction, contact.restitution, 0.0, 0.0
            yield Meet(
                range(first, first + len(own)),
                self._add(contact.a),
                self._add(contact.b),
                program,
                int(one.couples),
                law,
                (one.length, one.speed, 0.0),
            )
            first += len(own)

    def _counted(self, pair: ContactPair) -> bool:
        """Whether it is the stop of an angle whose turns are counted in the tree."""
        limits, linkage = pair.contact.limits, self.mechanism.linkage
        return limits is not None and pair.couples and in_tree(linkage, limits.joint, limits.coordinate)

    def _program(self, spots: Sequence[tuple[Shape, Shape]], warm: int, counted: bool) -> Hashable:
        """The key of the program of a pair of shapes, made where it is new; pairs of equal shapes share it."""
        key = tuple((shape_key(a), shape_key(b)) for a, b in spots), warm, counted
        if key not in self.made:
            self.made[key] = Meeting(spots, warm, counted=counted)
        return key

    def _shared(self, a: PlacedShape, b: PlacedShape, warm: int) -> Hashable:
        """The key of the program of two shapes of any sizes."""
        key = "any sizes", kind_of(a.shape), kind_of(b.shape), warm
        if key not in self.made:
            graph = Graph()
            (first, of_a), (second, of_b) = open_shape(graph, "a", a.shape), open_shape(graph, "b", b.shape)
            spots = struck_sides(replace(a, shape=first), replace(b, shape=second))
            self.made[key] = Meeting([(x.shape, y.shape) for x, y in spots], warm, [*of_a, *of_b])
        return key

    def _patch(self, a: Shape, b: Shape) -> Hashable:
        """The key of the program of the patch of two shapes."""
        key = PATCH, shape_key(a), shape_key(b)
        if key not in self.made:
            self.made[key] = Patch(a, b)
        return key

    def meeting(self, key: Hashable) -> Meeting | Patch:
        """A program by its key."""
        return cast("Meeting | Patch", self.made[key])

    def _group(self) -> None:
        """Kinds of the colliders of groups: shapes alike but for their sizes, in the same groups."""
        member: dict[PlacedShape, set[tuple[str, int]]] = {}
        for group in self.mechanism.system.collisions.values():
            for number, sides in enumerate((group.a, group.b or ())):
                for side in sides:
                    member.setdefault(side, set()).add((group.name, number))
        shapes = {kind_of(side.shape): side.shape for side in member}
        whole = {k for k, a in shapes.items() if any(touch_in_patch(a, b) for b in shapes.values())}
        for side, groups in member.items():
            k = self._add(side)
            kind = kind_of(side.shape)
            # Programs of patches know the sizes of their shapes.
            alike = shape_key(side.shape) if kind in whole else kind
            key = alike, frozenset(groups), side.frame.body.is_ground
            if key not in self._kinds:
                self._kinds[key] = len(self.kinds)
                self.kinds.append((side, frozenset(groups)))
            self.colliders[k] = self.colliders[k]._replace(kind=self._kinds[key])
            self.grouped.append(k)

    def _rules(self) -> dict[tuple[int, int], Law]:
        """Of the pairs of kinds that collide; of several groups a pair of its own counts, or the last one said."""
        found: dict[tuple[int, int], Law] = {}
        for i, (a, of_a) in enumerate(self.kinds):
            for j, (b, of_b) in enumerate(self.kinds[i:], i):
                if a.frame.body.is_ground and b.frame.body.is_ground:
                    continue
                if i == j and len({self.frame_bodies[c.frame] for c in self.colliders if c.kind == i}) < 2:
                    continue
                for group in sorted(self.mechanism.system.collisions.values(), key=lambda g: g.pair):
                    other = 0 if group.b is None else 1
                    sides = ((group.name, 0), (group.name, other))
                    if (sides[0] in of_a and sides[1] in of_b) or (sides[1] in of_a and sides[0] in of_b):
                        found[i, j] = self._law(group, a, b)
        return found

    def _law(self, group: Collisions, a: PlacedShape, b: PlacedShape) -> Law:
        resistance = group.rolling_resistance, group.spinning_resistance
        law, units = (group.friction, group.restitution, *resistance), (0.0, self.speed, self.fall)
        check_points(group.who, a, b)
        if touch_in_patch(a.shape, b.shape):
            return Law(group, self._patch(a.shape, b.shape), 0, law, units)
        warm = SEARCH if by_search(a.shape, b.shape) else 0
        return Law(group, self._shared(a, b, warm), warm, law, units)

    def _excluded(self) -> list[set[int]]:
        """For each collider the others with which it never collides in a group."""
        found: list[set[int]] = [set() for _ in self.colliders]
        if not self.grouped:
            return found
        on: dict[str, list[int]] = {}
        for k in self.grouped:
            on.setdefault(self.frame_bodies[self.colliders[k].frame], []).append(k)
        joints = [(j.a.body, j.b.body) for j in self.mechanism.system.joints.values()]
        joined = [(a.name, b.name) for a, b in joints if not (a.is_ground or b.is_ground)]
        for a, b in [*((name, name) for name in on), *joined]:
            for i in on.get(a, ()):
                for j in on.get(b, ()):
                    found[i].add(j)
                    found[j].add(i)
        for meet in self.meets:
            found[meet.a].add(meet.b)
            found[meet.b].add(meet.a)
        for group in self.mechanism.system.collisions.values():
            if group.pair:
                i, j = self._add(group.a[0]), self._add(group.b[0])
                found[i].discard(j)
                found[j].discard(i)
        return found

    def bodies_of(self, a: int, b: int) -> tuple[str, str]:
        """The names of the bodies of two colliders."""
        return self.frame_bodies[self.colliders[a].frame], self.frame_bodies[self.colliders[b].frame]

    def places_of(self, a: int, b: int) -> tuple[str, str]:
        """Where two colliders stand: bodies, or nodes of flexible ones."""
        return self.frame_places[self.colliders[a].frame], self.frame_places[self.colliders[b].frame]

    @cached_property
    def laws(self) -> list[tuple[str, tuple[Scalar, ...]]]:
        """Whose law it is and its numbers, rule by rule: of the model's contacts, then of groups."""
        own = [(f"contact {self.pairs[m.numbers.start].contact.group!r}", m.law) for m in self.meets]
        return own + [(law.group.who, law.law) for law in self.rules.values()]

    def name_of(self, number: int, a: int, b: int) -> str:
        """Of a contact of the model, or of two colliders of a group."""
        if number >= 0:
            return self.pairs[number].contact.name
        first, second = self.colliders[a], self.colliders[b]
        law = self.rules[min(first.kind, second.kind), max(first.kind, second.kind)]
        return f"{law.group.name}: {' '.join(self.bodies_of(a, b))}"


def touch_in_patch(a: Shape, b: Shape) -> bool:
    """Whether two shapes of groups touch in a patch."""
    return in_patch(a, b) or stand_on_rims(a, b)


def _box(shape: Shape) -> tuple[float, float, float]:
    """Half the edges of a box about the origin of its frame that holds a shape [m]."""
    if isinstance(shape, Box):
        x, y, z = (float(cast("float", v)) for v in shape.half_lengths)
        return x, y, z
    if isinstance(shape, Mesh):
        x, y, z = np.abs(shape.triangles().vertices).max(axis=0).tolist()
        return x, y, z
    if isinstance(shape, Capsule | Cylinder):
        r, half = float(cast("float", shape.radius)), float(cast("float", shape.half_length))
        return r, r, half + (r if isinstance(shape, Capsule) else 0.0)
    return (shape.extent,) * 3


def scene_of(parts: Parts, machine: Machine, contacts: int) -> moreau.Scene:
    """The arrays of a partition, with room for so many contacts."""
    mechanism, made = parts.mechanism, parts.made
    partition = machine.partition
    laws = [law for _, law in parts.laws]
    given = [(k, i, x) for k, law in enumerate(laws) for i, x in enumerate(law) if isinstance(x, Expr)]
    if partition not in made:
        numbers = [x for _, _, x in given]
        made[partition] = Placed(mechanism.mechanics, partition, parts.frames, parts.pairs, numbers)
    seen = cast("Placed", made[partition])
    n, q = seen.n, mechanism.linkage.positions
    nodes = seen.nodes()
    block = np.concatenate(nodes) if nodes else np.zeros(0, np.int64)
    first = np.cumsum([0, *map(len, nodes)]).astype(np.int64)
    place = np.empty(n, np.int64)
    place[block] = np.arange(n)
    node = np.repeat(np.arange(len(nodes)), np.diff(first))
    twists = np.array(
        [(k, i, place[i] - first[node[place[i]]]) for k, i in seen.twists.tolist()], np.int64
    ).reshape(-1, 3)
    masses = []
    for i, j in seen.mass.tolist():
        a, b = max(place[i], place[j]), min(place[i], place[j])
        masses.append((a, b - first[node[b]], b))
    frame_node = [
        node[place[seen.twists[seen.begin[k], 1]]] if seen.begin[k] < seen.begin[k + 1] else -1
        for k in range(len(parts.frames))
    ]
    frames = Frames(
        seen.first,
        seen.begin,
        twists,
        np.array(frame_node, np.int64),
        np.zeros((len(parts.frames), 4)),
        np.zeros((len(parts.frames), 6)),
    )
    rules: list[Rule] = []
    pairs: list[moreau.Pair] = []
    inputs = 0
    for meet in parts.meets:
        meeting = parts.meeting(meet.program)
        turned = seen.turned[meet.numbers.start]
        pairs.append(moreau.Pair(meet.a, meet.b, len(rules), meet.numbers.start, inputs, turned))
        rules.append(Rule(meeting.kernel.address, meeting.spots, 0, 0, meet.couple, *meet.units))
        inputs += meeting.inputs
    table = np.full((len(parts.kinds), len(parts.kinds)), -1, np.int64)
    behind = 0
    for (i, j), law in parts.rules.items():
        meeting = parts.meeting(law.program)
        table[i, j] = len(rules)
        rules.append(Rule(meeting.kernel.address, meeting.spots, law.warm, int(law.patch), 0, *law.units))
        behind = max(behind, meeting.inputs)
    most = max([2, *(rule.spots for rule in rules)]) * (SPOT + 1)
    size = max([1e-300, *(c.length for c in parts.colliders if c.length < math.inf)])
    endless = [k for k in parts.grouped if parts.colliders[k].reach > ENDLESS * size]
    bounded = [k for k in parts.grouped if k not in set(endless)]
    lists = [sorted(found) for found in parts.excluded]
    count = len(parts.colliders)
    whole = np.int64
    broad = Broad(
        np.array([bounded] * 3, whole),
        np.array(endless, whole),
        np.zeros((count, 3)),
        np.zeros((count, 3)),
        np.zeros(len(bounded) + 2, whole),
        # A box lies in two strips, and in as many more as it is wide: half a strip in the mean, and one for rounding.
        np.zeros(4 * len(bounded), whole),
        table,
        np.cumsum([0, *map(len, lists)]).astype(whole),
        np.array([k for found in lists for k in found], whole),
        np.zeros((2 * contacts + 8 * len(bounded), 2), whole),
        inputs,
    )
    projected = bool(mechanism.kept) or mechanism.linkage.has_quaternions
    loads, states = lagging_loads(mechanism), len(mechanism.linkage.states)
    programs = moreau.Programs(
        machine.rates.address,
        seen.kernel.address,
        machine.projection.address if projected else 0,
        machine.loads.address if loads else 0,
    )
    follows = np.full(states, -1, whole)
    for k, load in enumerate(loads):
        follows[load.place - q + states] = k
    places = {name: k for k, name in enumerate(mechanism.system.colliding)}
    carried = moreau.Carried(
        follows,
        np.array([places.get(name, -1) for name in parts.frame_places], whole),
        np.zeros(machine.loads.n_in if loads else 0),
        np.zeros(len(loads)),
    )
    near = moreau.Near(
        np.zeros(contacts, whole),
        np.zeros(contacts, whole),
        np.zeros(contacts, whole),
        np.zeros(contacts, whole),
        np.zeros(contacts, whole),
        np.zeros(contacts),
        np.zeros(contacts),
        np.zeros((contacts, moreau.PLACE)),
        np.zeros((contacts, 3)),
        np.zeros((contacts, 4)),
        np.zeros((contacts, 3)),
        np.zeros(contacts, whole),
        np.zeros(contacts, whole),
        np.zeros(contacts, whole),
        np.zeros(len(first) - 1, whole),
        np.zeros((len(parts.frames), POSE)),
        np.zeros(len(parts.frames), whole),
    )
    memory = moreau.Memory(
        # An odd size, so that no multiplier shares a factor of two with it; a third full at most.
        np.full(3 * contacts + 7 | 1, -1, whole),
        np.zeros(contacts, whole),
        np.zeros(contacts, whole),
        np.zeros((contacts, 3)),
        np.zeros((contacts, 4)),
        np.zeros((contacts, 4)),
    )
    statistics = np.zeros(moreau.STATISTICS)
    statistics[[moreau.DEEPEST, moreau.MARGIN]] = 1.0
    log = moreau.Log(
        np.zeros((len(parts.pairs), 3)),
        np.zeros((len(parts.frames) if parts.grouped else 0, 6)),
        np.zeros((IMPACT_ROOM, 5 + q + 2 * n)),
        Records.empty(moreau.StruckContact, IMPACT_ROOM + contacts),
        changes_of(contacts, IMPACT_ROOM),
        np.zeros(moreau.COUNTERS, whole),
        statistics,
    )
    state = 1 + q + n + len(mechanism.parameter_values)
    cones = cones_of(first, contacts)
    return moreau.Scene(
        programs,
        q,
        n,
        states,
        np.zeros(state),
        np.zeros(state),
        np.zeros(q + n),
        np.zeros(q + n),
        np.zeros(q + n),
        np.zeros(states),
        np.zeros(q + n + 3),
        np.zeros(seen.kernel.n_out),
        np.zeros((moreau.ROWS, n)),
        np.array(masses, whole).reshape(-1, 3),
        np.zeros_like(cones.mass),
        block,
        carried,
        frames,
        Records.of(Collider, parts.colliders),
        Records.of(Rule, rules),
        np.array([[0.0 if isinstance(x, Expr) else x for x in law] for law in laws]).reshape(-1, moreau.LAW),
        np.array([(k, i, seen.laws + m) for m, (k, i, _) in enumerate(given)], whole).reshape(-1, 3),
        Records.of(moreau.Pair, pairs),
        broad,
        np.array(parts.numbers, float),
        # A search that begins knows nothing of its place.
        np.full(inputs + max(behind, 2 * POSE), -1.0),
        np.zeros(most),
        near,
        memory,
        cones,
        log,
    )


__all__ = ["Parts", "scene_of"]

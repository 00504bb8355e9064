"""Contact points on surfaces of data during a run: found, followed, and looked for anew before others could touch.

A program holds the pieces of surface around the contact points, as parameters. Where a contact point has moved by a
margin its piece is gathered anew. Where the bodies have moved so far against each other since the last search that
another point might touch, all of them are searched; the bound on that motion is exact, so no contact is missed.

What is remembered between searches is kept in parameters too: a run depends on its state and parameters alone.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from bellcrank.quantities.snapshot import Snapshot
from numpy.typing import NDArray

from bellcrank.contact.found import NONE
from bellcrank.contact.meeting import Meeting
from bellcrank.contact.meeting_layout import FOUND, HOLD
from bellcrank.contact.refinement import BEYOND
from bellcrank.contact.search import EDGES_END, SampledPair
from bellcrank.contact.shapes import Shape
from bellcrank.contact.source import Around, Source, input_names, leader
from bellcrank.errors import ModelError
from bellcrank.integrate.events import RATE
from bellcrank.math.tuples import dot, matmul, sub, transpose, transposed_times
from bellcrank.mechanics.contacts import ContactPair
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.model.contacts import Contact
from bellcrank.model.forces import ContactForce
from bellcrank.program.functions import maximum, where
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.made import Table
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar, compare, logical
from bellcrank.run.events import ClosingRate, Event, StateEvent, Watched

if TYPE_CHECKING:
    from bellcrank.mechanism import Mechanism, State

Array = NDArray[np.float64]

NEAR = 30.0
"""Radii of both bodies together within which points are followed; farther apart nothing touches, and gaps are those of
spheres around the bodies."""


SEARCHES: Table[tuple[str, int], SampledPair] = Table("searches by thread")
POSES: Table[str, Kernel] = Table("poses of sampled shapes")


def groups(contacts: Iterable[Contact]) -> dict[str, list[Contact]]:
    """Contacts with surfaces of data, by what the user called them."""
    found: dict[str, list[Contact]] = {}
    for contact in contacts:
        if any(isinstance(side.shape, Around) for side in (contact.a, contact.b)):
            found.setdefault(contact.group, []).append(contact)
    return found


def trackers(mechanism: Mechanism) -> list[Tracker]:
    """One for every contact with a surface of data, in either treatment."""
    system = mechanism.system
    pressing = [f.contact for f in system.forces.values() if isinstance(f, ContactForce)]
    return [Tracker(mechanism, c) for c in groups([*pressing, *system.contacts.values()]).values()]


class _Slot:
    """Where the numbers of one contact point stand among the parameters."""

    def __init__(self, name: str, shapes: tuple[Shape, Shape], places: Mapping[str, int]) -> None:
        self.hold = np.array([places[f"{name} hold {j}"] for j in range(4)])
        self.sample, self.partner = places[f"{name} sample"], places[f"{name} partner"]
        self.pieces = tuple(
            np.array([places[key] for key in input_names(shape, f"{name} {letter}")])
            if isinstance(shape, Source)
            else None
            for shape, letter in zip(shapes, "ab", strict=True)
        )
        self.turns = {
            letter: places[f"{name} {letter} turn"]
            for letter, shape in zip("ab", shapes, strict=True)
            if isinstance(shape, Source)
        }

    def empty(self, p: Array) -> bool:
        """Whether there is no point in it."""
        return bool(p[self.hold[0]] < 0.0 or p[self.sample] < 0.0)

    def clear(self, p: Array) -> None:
        """Take the point out."""
        p[self.hold], p[self.sample], p[self.partner] = NONE, -1.0, -1.0

    @cached_property
    def all(self) -> NDArray[np.int64]:
        """All of them but the turns."""
        return np.concatenate(
            [self.hold, [self.sample, self.partner], *(x for x in self.pieces if x is not None)]
        )

    def samples(self, p: Array) -> tuple[int, int]:
        """Of the surface that leads, and of the other."""
        return int(p[self.sample]), int(p[self.partner])

    def points(self, R: Array, c: Array, p: Array) -> tuple[Array, Array]:
        """The last points in each own frame; R, c: Pose of b seen from a."""
        on_a, on_b = (None if piece is None else p[piece[:3]] for piece in self.pieces)
        x = R @ on_b + c if on_a is None and on_b is not None else on_a
        assert x is not None
        return x, R.T @ (x - c) if on_b is None else on_b


class Tracker:
    """The contact points of one contact."""

    def __init__(self, mechanism: Mechanism, contacts: list[Contact]) -> None:
        self.mechanism, self.contacts, self.name = mechanism, contacts, contacts[0].group
        self.sides = contacts[0].a, contacts[0].b
        a, b = (side.shape.source if isinstance(side.shape, Around) else side.shape for side in self.sides)
        self.shapes = a, b
        places = {name: k for k, name in enumerate(mechanism.mechanics.parameters)}
        self.slots = [_Slot(contact.name, self.shapes, places) for contact in contacts]
        self._clearance, self._turn = places[f"{self.name} clearance"], places[f"{self.name} search turn"]
        self._pose = np.array([places[f"{self.name} pose {k}"] for k in range(12)])

    @property
    def pair(self) -> SampledPair:
        """The search, one for each thread, since it keeps scratch."""
        key = self.name, threading.get_ident()
        return self.mechanism.compiled.once(SEARCHES, key, lambda: SampledPair(*self.shapes))

    @property
    def _kernel(self) -> Kernel:
        """[t, q, u, p] to the poses of both shapes."""
        known = self.mechanism.compiled.table(POSES)
        if self.name not in known:
            m = self.mechanism
            s = Snapshot(m.system, m.tree, m.mechanics)
            poses = [
                x
                for side in self.sides
                for x in (*(y for r in s.rotation(side.frame) for y in r), *s.point(side.frame).position())
            ]
            known[self.name] = compile_program(Program.of([s.t, *s.q, *s.u, *s.parameters], poses, "poses"))
        return known[self.name]

    def _relative(self, state: State, p: Array) -> tuple[Array, Array]:
        """Pose of b seen from a."""
        row = self._kernel(np.concatenate([[state.t], state.q, state.u, p]))
        R_a, p_a, R_b, p_b = row[0:9].reshape(3, 3), row[9:12], row[12:21].reshape(3, 3), row[21:24]
        return R_a.T @ R_b, R_a.T @ (p_b - p_a)

    def search(self, state: State, p: Array, watched: Watched | None = None) -> None:
        """All contact points anew, into the parameters, and the turn of the other event that calls for it."""
        self._search_all(state, p)
        p[self._turn] = -p[self._turn]

    def _search_all(self, state: State, p: Array) -> None:
        """All contact points anew; the turn stays, since the event that calls for a search may be met at the same time
        and would get its turn back."""
        R, c = self._relative(state, p)
        pair = self.pair
        try:
            clearance = self._search(R, c, p)
        except ModelError as error:
            raise ModelError(f"contact {self.name!r}: {error}") from error
        Q, q = (R.T, -R.T @ c) if pair.first else (R, c)
        # Half of what is allowed: the event is met before a contact is.
        p[self._clearance] = 0.5 * clearance
        p[self._pose[:9]], p[self._pose[9:]] = Q.ravel(), q
        if float(q @ q) > self._near**2:
            for slot in self.slots:
                slot.clear(p)

    @cached_property
    def _near(self) -> float:
        """Distance of the bodies [m] beyond which no points are followed."""
        if any(shape.planar for shape in self.shapes):
            return math.inf
        radii = [shape.bounding_radius() for shape in self.shapes]
        return NEAR * sum(r if isinstance(r, int | float) else math.inf for r in radii)

    def _search(self, R: Array, c: Array, p: Array) -> float:
        """Into the slots; how far the bodies may move."""
        pair, points = self.pair, len(self.slots)
        meeting = pair.meeting
        meeting.pose(*pair.seen(R, c))
        for k, slot in enumerate(self.slots):
            if slot.empty(p):
                meeting.empty(k)
            else:
                meeting.put(k, *pair.turned(*slot.points(R, c, p)), slot.samples(p), p[slot.hold])
        pair.check(meeting.search(points))
        nothing = bool((meeting.kept[points : 2 * points, 0] < 0).all())
        for k, slot in enumerate(self.slots):
            if meeting.kept[points + k, 0] < 0:
                slot.clear(p)
            if not nothing:
                self._write(k, points + k, p)
        return meeting.clearance

    def _write(self, k: int, row: int, p: Array) -> None:
        """A slot of the meeting, and the pieces of surface around its points."""
        pair, slot = self.pair, self.slots[k]
        meeting = pair.meeting
        if meeting.kept[row, 0] >= 0:
            p[slot.hold] = meeting.slots[row, HOLD : HOLD + 4]
            p[slot.sample], p[slot.partner] = meeting.samples(row)
        for places, numbers in zip(pair.turned(*slot.pieces), meeting.pieces, strict=True):
            if places is not None:
                p[places] = numbers[k]

    def gather(self, k: int, letter: str, state: State, p: Array, watched: Watched | None = None) -> None:
        """The pieces of surface around one contact point that has moved, into the parameters."""
        R, c = self._relative(state, p)
        slot, pair = self.slots[k], self.pair
        meeting = pair.meeting
        turn = -p[slot.turns[letter]]
        if float(c @ c) > self._near**2:
            slot.clear(p)
        elif slot.empty(p):
            self._search_all(state, p)
        else:
            meeting.pose(*pair.seen(R, c))
            meeting.put(k, *pair.turned(*slot.points(R, c, p)), slot.samples(p), p[slot.hold])
            how = meeting.follow(k)
            if how == FOUND:
                self._write(k, k, p)
            elif how in EDGES_END:
                raise ModelError(f"contact {self.name!r}: {EDGES_END[how]}")
            elif how == BEYOND:
                p[slot.hold] = NONE
                if meeting.patched or (isinstance(meeting, Meeting) and meeting.edged):
                    # Behind a crease another point may carry, and behind a rim it may come back.
                    self._search_all(state, p)
            else:
                self._search_all(state, p)
        p[slot.turns[letter]] = turn

    def place(self, k: int, p: Array) -> Array | None:
        """The last point of a slot on the surface that leads; None for an empty one."""
        slot = self.slots[k]
        piece = slot.pieces[leader(*self.shapes)]
        return None if piece is None or slot.empty(p) else p[piece[:3]]

    def exchange(self, j: int, k: int, p: Array) -> None:
        """Let two slots change places."""
        first, second = self.slots[j].all, self.slots[k].all
        p[first], p[second] = p[second], p[first]

    def events(self) -> list[Event]:
        """Where points have moved far, and where others might touch."""
        pairs = [ContactPair.of(contact, self.mechanism.linkage) for contact in self.contacts]
        found: list[Event] = []
        for k, pair in enumerate(pairs):
            for j, side in enumerate((pair.contact.a.shape, pair.contact.b.shape)):
                if isinstance(side, Around):
                    letter = "ab"[j]
                    anew = partial(self.gather, k, letter)
                    for turn, even in ((1.0, "odd"), (-1.0, "even")):
                        room = partial(_room_left, pair, j, turn)
                        label = f"{pair.contact.name}: gather {letter} {even}"
                        found.append(StateEvent(label, direction=-1, trace=room, revise=anew, recorded=False))
        for turn, even in ((1.0, "odd"), (-1.0, "even")):
            room = partial(self._unmoved, pairs[0], turn)
            label = f"{self.name}: search {even}"
            found.append(StateEvent(label, direction=-1, trace=room, revise=self.search, recorded=False))
            if self._near < math.inf:
                rate = partial(self._nearing, pairs[0], turn)
                found.append(ClosingRate(f"{self.name}: nearing {even}", direction=RATE, trace=rate))
        return found

    def _nearing(self, pair: ContactPair, turn: float, kin: Kinematics, t: Scalar) -> Scalar:
        """Rate of what :meth:`_unmoved` tells of bodies far from each other; zero of others."""
        (_, p_a), (_, p_b) = (pair.seen(kin, m) for m in (pair.a, pair.b))
        c = sub(p_b, p_a)
        v = sub(pair.velocity_of(kin, pair.b.link, p_b), pair.velocity_of(kin, pair.a.link, p_a))
        waits = compare("le", turn * kin.parameter(f"{self.name} search turn"), 0.0)
        near = compare("lt", dot(c, c), self._near**2)
        return where(logical("or", waits, near), 0.0, 2.0 * self._near**-2 * dot(c, v))

    def _unmoved(self, pair: ContactPair, turn: float, kin: Kinematics, t: Scalar) -> Scalar:
        """1 less the motion since the last search over what it allows, both squared.

        The pose Q, q of the surface seen from the other body has changed; no point x of the surface has moved by more
        than |q - q0| + |x| |Q - Q0|, the norm of a change of rotation being its Frobenius norm over root two.
        """
        source = leader(*self.shapes)
        markers = (pair.a, pair.b)
        R_s, p_s = pair.seen(kin, markers[source])
        R_o, p_o = pair.seen(kin, markers[1 - source])
        Q, q = matmul(transpose(R_o), R_s), transposed_times(R_o, sub(p_s, p_o))
        before = [kin.parameter(f"{self.name} pose {k}") for k in range(12)]
        turned: Scalar = 0.0
        for k, value in enumerate(x for row in Q for x in row):
            turned = turned + (value - before[k]) * (value - before[k])
        moved: Scalar = 0.0
        for k in range(3):
            moved = moved + (q[k] - before[9 + k]) * (q[k] - before[9 + k])
        radius = float(self.shapes[source].bounding_radius())
        clearance = kin.parameter(f"{self.name} clearance")
        room = 1.0 - 2.0 * (moved + (0.5 * radius * radius) * turned) / (clearance * clearance)
        if self._near < math.inf:
            # Bodies that turn far from each other do not come closer.
            room = maximum(room, dot(q, q) * self._near**-2 - 1.0)
        return where(compare("lt", 0.0, turn * kin.parameter(f"{self.name} search turn")), room, 1.0)


def _room_left(pair: ContactPair, side: int, turn: float, kin: Kinematics, t: Scalar) -> Scalar:
    """How far the contact point on a surface of data may still move.

    Of an event just met the search for events knows no sign, and would miss it where it is met again within a quarter
    of a step. So two events take turns.
    """
    found, shapes = pair.closest(kin), (pair.contact.a.shape, pair.contact.b.shape)
    shape = shapes[side]
    assert isinstance(shape, Around)
    graph = next((v.graph for v in kin.q if hasattr(v, "graph")), None)
    here = shape if graph is None else shape.brought(graph)
    R, p = pair.seen(kin, (pair.a, pair.b)[side])
    x = transposed_times(R, sub((found.point_a, found.point_b)[side], p))
    leads = next(s for s in shapes if isinstance(s, Around) and s.leads)
    none = compare("lt", kin.number(leads.hold[0]), -0.5)
    waits = where(none, 1.0, here.room(x))
    return where(compare("lt", 0.0, turn * kin.number(shape.turn)), waits, 1.0)


__all__ = ["Tracker", "groups", "trackers"]

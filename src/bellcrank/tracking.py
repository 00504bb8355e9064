"""Contact points on surfaces of data during a run: found, followed, and looked for anew before others could touch.

A program holds the pieces of surface around the contact points, as parameters. Where a contact point has moved by a
margin its piece is gathered anew. Where the bodies have moved so far against each other since the last search that
another point might touch, all of them are searched; the bound on that motion is exact, so no contact is missed.

What is remembered between searches is kept in parameters too: a run depends on its state and parameters alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.search import Found, SampledPair
from bellcrank.contact.source import Around, Source, input_names, leader
from bellcrank.errors import ModelError
from bellcrank.events import Event, StateEvent
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import Linkage
from bellcrank.mechanics.pressing import Pressing
from bellcrank.mechanics.vectors import matmul, sub, transpose, transposed_times
from bellcrank.model.forces import ContactForce
from bellcrank.program.evaluate import evaluate
from bellcrank.program.functions import where
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar, compare
from bellcrank.result.snapshot import Snapshot

if TYPE_CHECKING:
    from bellcrank.mechanism import Mechanism, State

Array = NDArray[np.float64]
Values = Mapping[str, float]
Update = Callable[["State", Values], Values]


def groups(forces: list[ContactForce]) -> dict[str, list[ContactForce]]:
    """The forces of contacts with surfaces of data, by what the user called the contact."""
    found: dict[str, list[ContactForce]] = {}
    for force in forces:
        if any(isinstance(side.shape, Around) for side in (force.contact.a, force.contact.b)):
            found.setdefault(force.group, []).append(force)
    return found


class Tracker:
    """The contact points of one contact."""

    def __init__(self, mechanism: Mechanism, forces: list[ContactForce]) -> None:
        self.mechanism, self.forces, self.name = mechanism, forces, forces[0].group
        self.sides = forces[0].contact.a, forces[0].contact.b
        self.shapes = tuple(
            side.shape.source if isinstance(side.shape, Around) else side.shape for side in self.sides
        )
        s = Snapshot(mechanism.system, mechanism.tree, mechanism.mechanics)
        poses = [
            x
            for side in self.sides
            for x in (*(y for r in s.rotation(side.frame) for y in r), *s.point(side.frame).position())
        ]
        self._program = Program.of([s.t, *s.q, *s.u, *s.parameters], poses)

    @property
    def pair(self) -> SampledPair:
        """The search, one for each thread, since it keeps scratch."""
        key = ("sampled pair", self.name, threading.get_ident())
        return self.mechanism.once(key, lambda: SampledPair(*self.shapes))

    def _poses(self, state: State, values: Values) -> tuple[Array, ...]:
        row = evaluate(self._program, np.concatenate([[state.t], state.q, state.u, list(values.values())]))
        return row[0:9].reshape(3, 3), row[9:12], row[12:21].reshape(3, 3), row[21:24]

    def search(self, state: State, values: Values) -> Values:
        """All contact points anew."""
        R_a, p_a, R_b, p_b = self._poses(state, values)
        R, c = R_a.T @ R_b, R_a.T @ (p_b - p_a)
        pair = self.pair
        before = [self._remembered(k, R, c, values) for k in range(len(self.forces))]
        try:
            found, clearance = pair.contacts(R, c, len(self.forces), before)
        except ModelError as error:
            raise ModelError(f"contact {self.name!r}: {error}") from error
        changed: dict[str, float] = {}
        for k, point in enumerate(found):
            changed |= self._written(k, point)
        Q, q = (R.T, -R.T @ c) if pair.first else (R, c)
        # Half of what is allowed: the event is met before a contact is.
        changed[f"{self.name} clearance"] = 0.5 * clearance
        changed |= {f"{self.name} pose {k}": float(x) for k, x in enumerate((*Q.ravel(), *q))}
        changed[f"{self.name} search turn"] = -values[f"{self.name} search turn"]
        return changed

    def _remembered(self, k: int, R: Array, c: Array, values: Values) -> Found | None:
        """The point of a slot as it is now; None for an empty one."""
        name = self.forces[k].name
        hold = tuple(values[f"{name} hold {j}"] for j in range(4))
        sample = int(values[f"{name} sample"])
        if hold[0] < 0.0 or sample < 0:
            return None
        x, y = self._points(k, R, c, values)
        try:
            return self.pair.refined(R, c, x, y, sample, hold, int(values[f"{name} partner"]))
        except ModelError:
            return None

    def _points(self, k: int, R: Array, c: Array, values: Values) -> tuple[Array, Array]:
        """The last points of a slot in each own frame."""
        name = self.forces[k].name
        starts = [
            np.array([values[f"{name} {letter} start {axis}"] for axis in "xyz"])
            if isinstance(shape, Source)
            else None
            for shape, letter in zip(self.shapes, "ab", strict=True)
        ]
        x, y = starts
        if x is None:
            assert y is not None
            x = R @ y + c
        return x, R.T @ (x - c) if y is None else y

    def _written(self, k: int, found: Found) -> dict[str, float]:
        """A contact point as parameters of its slot."""
        name = self.forces[k].name
        changed = {f"{name} hold {j}": float(h) for j, h in enumerate(found.hold)}
        changed[f"{name} sample"], changed[f"{name} partner"] = float(found.sample), float(found.partner)
        for shape, letter, x in zip(self.shapes, "ab", (found.x, found.y), strict=True):
            if isinstance(shape, Source):
                numbers, _ = shape.numbers(x)
                changed |= zip(input_names(shape, f"{name} {letter}"), numbers.tolist(), strict=True)
        return changed

    def gather(self, k: int, letter: str, state: State, values: Values) -> Values:
        """The pieces of surface around one contact point that has moved."""
        R_a, p_a, R_b, p_b = self._poses(state, values)
        R, c = R_a.T @ R_b, R_a.T @ (p_b - p_a)
        turn = f"{self.forces[k].name} {letter} turn"
        found = self._remembered(k, R, c, values)
        changed = self.search(state, values) if found is None else self._written(k, found)
        return {**changed, turn: -values[turn]}

    def events(self) -> list[Event]:
        """Where points have moved far, and where others might touch."""
        linkage, found = self.mechanism.linkage, list[Event]()
        for k, force in enumerate(self.forces):
            for j, side in enumerate((force.contact.a.shape, force.contact.b.shape)):
                if isinstance(side, Around):
                    letter = "ab"[j]
                    anew = partial(self.gather, k, letter)
                    for turn, even in ((1.0, "odd"), (-1.0, "even")):
                        room = partial(_room_left, force, linkage, j, turn)
                        label = f"{force.name}: gather {letter} {even}"
                        found.append(StateEvent(label, direction=-1, trace=room, update=anew, recorded=False))
        for turn, even in ((1.0, "odd"), (-1.0, "even")):
            room = partial(self._unmoved, linkage, turn)
            label = f"{self.name}: search {even}"
            found.append(StateEvent(label, direction=-1, trace=room, update=self.search, recorded=False))
        return found

    def _unmoved(self, linkage: Linkage, turn: float, kin: Kinematics, t: Scalar) -> Scalar:
        """1 less the motion since the last search over what it allows, both squared.

        The pose Q, q of the surface seen from the other body has changed; no point x of the surface has moved by more
        than |q - q0| + |x| |Q - Q0|, the norm of a change of rotation being its Frobenius norm over root two.
        """
        source = leader(*self.shapes)
        found = Pressing.of(self.forces[0], linkage, kin)
        markers = (found.pair.a, found.pair.b)
        R_s, p_s = found.seen(markers[source])
        R_o, p_o = found.seen(markers[1 - source])
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
        return where(compare("lt", 0.0, turn * kin.parameter(f"{self.name} search turn")), room, 1.0)


def _room_left(
    force: ContactForce, linkage: Linkage, side: int, turn: float, kin: Kinematics, t: Scalar
) -> Scalar:
    """How far the contact point on a surface of data may still move.

    Of an event just met the search for events knows no sign, and would miss it where it is met again within a quarter
    of a step. So two events take turns.
    """
    found = Pressing.of(force, linkage, kin)
    shape = (force.contact.a.shape, force.contact.b.shape)[side]
    assert isinstance(shape, Around)
    graph = next((v.graph for v in kin.q if hasattr(v, "graph")), None)
    here = shape if graph is None else shape.brought(graph)
    R, p = found.seen((found.pair.a, found.pair.b)[side])
    x = transposed_times(R, sub((found.closest.point_a, found.closest.point_b)[side], p))
    leads = next(
        s for s in (force.contact.a.shape, force.contact.b.shape) if isinstance(s, Around) and s.leads
    )
    none = compare("lt", kin.number(leads.hold[0]), -0.5)
    waits = where(none, 1.0, here.room(x))
    return where(compare("lt", 0.0, turn * kin.number(shape.turn)), waits, 1.0)


__all__ = ["Tracker", "groups"]

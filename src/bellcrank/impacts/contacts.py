"""The contacts of one mechanism during a run: what strikes, what stays, and the programs compiled for it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError
from bellcrank.formulations.loops import Partition
from bellcrank.impacts.checks import TOUCHING, check_apart, check_dimensions, check_movable
from bellcrank.impacts.clock import Clock
from bellcrank.impacts.errors import ContactError
from bellcrank.impacts.gaps import MISSED
from bellcrank.impacts.impulses import Impact, ImpactError, Propagation
from bellcrank.impacts.lasting import ContactState as Lasting
from bellcrank.impacts.lasting import JammedContact, contact_forces
from bellcrank.impacts.modes import (
    ContactForces,
    FreeAccelerations,
    Gaps,
    Mode,
    Modes,
    variant_of,
)
from bellcrank.impacts.rows import ContactRows
from bellcrank.impacts.sharing import COMPLIANT, SHARED, SharedForces, Sharing
from bellcrank.impacts.solver import ContactState, ImpactProgram, Instant, delassus, impact
from bellcrank.impacts.units import placed_pairs
from bellcrank.mechanics.contacts import ContactPair
from bellcrank.mechanism import Mechanism, State
from bellcrank.mechanism.carried_loads import LaggingLoad, lagging_loads
from bellcrank.model.parameters import names_in
from bellcrank.program.made import Table
from bellcrank.result.impact_table import ContactChange, ImpactRecord

Array = NDArray[np.float64]
Made = TypeVar("Made")

AT_REST = 2e-6
"""A bounce slower than this share of the fastest approach has converged: its height is nearly lost in rounding."""
HIDDEN = 1e-4
"""The same where the last impact was not seen at zero gap but below, and where contacts strike together though one of
them is not quite closed: the bounce is as low as that. Its height, the square of this, is what counts as touching."""
LOW = 1e-2
"""Bounces slower than this part of the unit of speed may be so low that they do not leave what counts as touching."""
MISSED_LAW = 1e-6
"""Miss of Coulomb's law in an impact, over its speed, that is reported; the tolerance of steps."""
SLOWEST = 1e-3
"""Approaches are never taken to be slower than this part of the unit of speed when rest is judged by them."""
HOLDING = 1e-9
"""Friction nearer to its limit than this share has reached it."""
STILL = 2e-9
"""Slip below this part of the unit of speed is none; more than that with which sliding without a heading ends."""
UNRESOLVED = 4.0
"""Speeds are known to this times the tolerance of a step, after some of them."""
LEAST = 1e-11
"""Tolerance below which slip is not resolved either, for rounding."""
LOCKED = 1e-12
"""Mobility of a contact along a direction that a joint locks, over that along its others: rounding."""
APART = 1e-9
"""Least eigenvalue of the scaled W of contacts that move independently of each other."""
ROUNDING = 1e-12
"""Forces below this share of what moves the contacts are rounding; of those on flexible bodies, whose stiff modes take
part in it, below YIELDING."""
YIELDING = 1e-9


CONTACTS: Table[Hashable, tuple[dict[Hashable, object], dict[Hashable, Mechanism]]] = Table("of contacts")


@dataclass(eq=False)
class Contacts:
    """The contacts of a mechanism, and what is compiled for them."""

    base: Mechanism
    pairs: tuple[ContactPair, ...]
    propagation: Propagation = Propagation.SEQUENTIAL
    tolerance: float = 1e-8
    fastest: dict[str, float] = field(default_factory=dict)
    records: list[ImpactRecord] = field(default_factory=list)
    changes: list[ContactChange] = field(default_factory=list)
    _made: dict[Hashable, object] = field(default_factory=dict)
    _variants: dict[Hashable, Mechanism] = field(default_factory=dict)
    _shared: dict[Hashable, Sharing | None] = field(default_factory=dict)

    @staticmethod
    def of(
        base: Mechanism, propagation: Propagation = Propagation.SEQUENTIAL, tolerance: float = 1e-8
    ) -> Contacts:
        """Place all contacts; pairs that overlap at the start, or can never meet, are refused.

        tolerance: Relative error to which a run knows its speeds.
        """
        pairs = placed_pairs(base)
        contacts = Contacts(base, pairs, propagation, tolerance)
        # Compiled once for all runs of a mechanism; contacts are known by identity.
        units = tuple((pair.length, pair.speed) for pair in pairs)
        shared = base.compiled.once(CONTACTS, (*base.system.contacts.values(), units), lambda: ({}, {}))
        contacts._made, contacts._variants = shared
        for pair in pairs:
            check_movable(pair, base)
        check_dimensions(pairs)
        states = contacts.impact_program(base.partition).evaluate(base.kernel_input()).contacts
        for pair, s in zip(pairs, states, strict=True):
            bodies = pair.contact.a.frame.body.name, pair.contact.b.frame.body.name
            stop = pair.contact if pair.contact.limits is not None else None
            check_apart(pair.contact.name, bodies, s.gap, s.normal, pair.length, stop)
        return contacts

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of all contacts."""
        return tuple(pair.contact.name for pair in self.pairs)

    @cached_property
    def clock(self) -> Clock:
        """Whether the run gets on."""
        return Clock(self.pairs)

    @cached_property
    def headings(self) -> dict[str, int]:
        """Where among the parameters the headings of contacts that rub in space begin."""
        names = self.base.mechanics.parameters
        return {
            pair.contact.name: names.index(names_in(pair.contact.heading[0])[0])
            for pair in self.pairs
            if pair.contact.heading is not None
        }

    def head(self, modes: Modes, state: State, p: Array) -> None:
        """Put the directions in which contacts slide in space into the parameters p."""
        sliding = [name for name in self.headings if name in modes and not modes[name].sticking]
        if not sliding:
            return
        _, states, u_i, _ = self.at(state, p)
        for name in sliding:
            s = states[self.names.index(name)]
            slip = (s.rows[1:] @ u_i + s.drift[1:]) @ s.directions[1:]
            speed = float(np.linalg.norm(slip))
            p[self.headings[name] :][:3] = slip / speed if speed > 0.0 else 0.0

    @cached_property
    def loads(self) -> list[LaggingLoad]:
        """Loads that follow reactions, which feel contacts through their forces."""
        return lagging_loads(self.base)

    @property
    def tangents(self) -> int:
        """Tangential rows a contact."""
        return 1 if all(pair.planar for pair in self.pairs) else 2

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What `make` gives, made once for a key."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]  # type: ignore[return-value]

    def impact_program(self, partition: Partition) -> ImpactProgram:
        """Impacts of the open mechanism in a partition."""
        return self.once(
            ("impact", partition), lambda: ImpactProgram(self.base.mechanics, partition, self.pairs)
        )

    def free_accelerations(self, partition: Partition) -> FreeAccelerations:
        """Relative accelerations at all contacts without contact forces, in a partition."""
        return self.once(("free", partition), lambda: FreeAccelerations(self.base, partition, self.pairs))

    def forces(
        self, variant: Mechanism, partition: Partition, modes: Modes, sharing: Sharing | None
    ) -> ContactForces:
        """The forces of lasting contacts that share like this in the variant."""
        key = ("forces", shared_key(modes, sharing), partition)
        return self.once(key, lambda: ContactForces(variant, partition, self.pairs, modes, sharing))

    def sharing(self, modes: Modes) -> Sharing | None:
        """How the contacts share in the variant last asked for with these modes."""
        return self._shared.get(modes_key(modes))

    def variant(self, modes: Modes, state: State, p: Array) -> Mechanism:
        """The mechanism with lasting contacts closed, from `state` on with the parameter values p."""
        values = tuple(float(x) for x in p)
        if not modes:
            return replace(self.base, start=state, parameter_values=values).with_programs_of(self.base)
        base = replace(self.base, parameter_values=values)
        rows = self.once("rows", lambda: ContactRows(self.base.mechanics, self.pairs))
        fresh, sharing = variant_of(base, self.pairs, modes, state, rows)
        if sharing is not None and self.loads:
            raise ModelError(
                f"contacts {', '.join(map(repr, modes))} share their load, and joints with friction by their reaction "
                "need to know how: use solid shapes, such as a plane and a sphere in the place of plane curves, or "
                "runs by steps, impacts='stepping' with step="
            )
        self._shared[modes_key(modes)] = sharing
        key = shared_key(modes, sharing)
        known = self._variants.get(key)
        if known is not None and known.kept == fresh.kept:
            fresh = replace(known, start=fresh.start, parameter_values=values).with_programs_of(known)
        self._variants[key] = fresh
        return fresh

    def shared(self, modes: Modes, state: State, p: Array) -> dict[str, Mode]:
        """The modes of contacts that share.

        Those are idle that would have to pull though the others can bear it all. Those that stick have weights with
        which none is past its limit; where there are none, they slip.
        """
        plain = {name: replace(mode, idle=False) for name, mode in modes.items()}
        if len(plain) < 2 or self.apart(plain, state, p):
            return plain
        if self.held(plain, state, p):
            return self._shared_in_space(plain, state, p)
        shared, idle = plain, frozenset[str]()
        for _ in range(len(plain)):
            found, y = self._borne(shared, state, p)
            if found is None:
                return plain
            sharing = found
            # Friction of contacts that slide depends on who bears, and so does what there is to bear.
            more = sharing.idling(y)
            if more == idle:
                break
            idle = more
            shared = {name: replace(mode, idle=name in idle) for name, mode in plain.items()}
        friction = dict(zip(self.names, self.instant(state, p)[0].friction.tolist(), strict=True))
        weights, forces, used = sharing.held(y, friction)
        for name, rub in forces.items():
            if used < 1.0 - HOLDING:
                shared[name] = replace(shared[name], weight=weights[name])
            elif np.linalg.norm(rub) > 0.0:
                away = -rub / np.linalg.norm(rub)
                toward = tuple(float(x) for x in away) if self.tangents == 2 else ()
                shared[name] = Mode(False, 1.0 if away[0] >= 0.0 else -1.0, name in idle, toward=toward)
        return shared

    def held(self, modes: Modes, state: State, p: Array) -> bool:
        """Whether the forces of these contacts come from the open mechanism: all in space, and those on nodes of
        flexible bodies of which none is one too many.

        Then they need no program of their own. Nor is a speed made dependent to hold them: speeds of a free body are in
        its own axes, and of a ball that rolls each of them comes to be along the floor in turn, where it can hold
        nothing.
        """
        if not modes:
            return False
        if self.tangents == 2:
            return True
        if self.loads and self.apart(modes, state, p):
            return True
        own = [pair for pair in self.pairs if pair.contact.name in modes]
        return all(pair.lasting and pair.yields for pair in own) and self.apart(modes, state, p)

    def apart(self, modes: Modes, state: State, p: Array) -> bool:
        """Whether each of these contacts is movable without the others, along all rows that are held."""
        wanted = [k for k, name in enumerate(self.names) if name in modes]
        M, states, _, _ = self.at(state, p)
        rows = [states[k].rows if modes[self.names[k]].sticking else states[k].rows[:1] for k in wanted]
        W = delassus(M, rows)
        mobility = np.diag(W)
        first = 0
        for block in rows:
            own = mobility[first : first + len(block)]
            if own.min() <= LOCKED * own.max():
                return False
            first += len(block)
        scale = 1.0 / np.sqrt(mobility)
        return bool(np.linalg.eigvalsh(scale[:, None] * W * scale)[0] > APART)

    def compliance(self, modes: Modes, state: State, p: Array) -> dict[str, float]:
        """How little contacts that share give way [1/kg], alike between two bodies; none where none shares."""
        bearing = {name: mode for name, mode in modes.items() if not mode.idle}
        if len(bearing) == len(modes) and self.apart(modes, state, p):
            return {}
        M, states, _, _ = self.at(state, p)
        most: dict[tuple[int, int], float] = {}
        links = {}
        for k, (pair, s) in enumerate(zip(self.pairs, states, strict=True)):
            if pair.contact.name in modes:
                links[k] = min(pair.a.link, pair.b.link), max(pair.a.link, pair.b.link)
                mobility = float(np.max(np.diag(delassus(M, [s.rows]))))
                most[links[k]] = max(most.get(links[k], 0.0), mobility)
        return {self.names[k]: COMPLIANT * most[both] for k, both in links.items()}

    def _shared_in_space(self, modes: dict[str, Mode], state: State, p: Array) -> dict[str, Mode]:
        """As `shared`, by the forces that contacts have in the open mechanism; those that stick need no weights."""
        wanted = [k for k, name in enumerate(self.names) if name in modes]
        names = [self.names[k] for k in wanted]
        found, u_i, partition = self.instant(state, p)
        M, states = found.M, found.contacts
        free = self.free(state, p, partition, u_i, wanted)
        give = self.compliance(modes, state, p)
        friction = found.friction[wanted]
        sticking = np.array([modes[name].sticking for name in names])
        J = np.vstack([states[k].rows for k in wanted])
        slip = (J @ u_i + np.concatenate([states[k].drift for k in wanted])).reshape(-1, 3)[:, 1:]
        along = slip / np.maximum(np.linalg.norm(slip, axis=1), 1e-300)[:, None]
        C = J.copy()
        for i in np.flatnonzero(~sticking):
            C[3 * i] -= friction[i] * (along[i] @ J[3 * i + 1 : 3 * i + 3])
        inverse = np.asarray(np.linalg.solve(M, C.T), dtype=float)
        problem = SharedForces(J, inverse, free, sticking, np.array([give.get(n, 0.0) for n in names]))
        idle = {names[i] for i in problem.idle()}
        return {name: replace(mode, idle=name in idle) for name, mode in modes.items()}

    def slack(self, modes: Modes, state: State, p: Array) -> dict[str, float]:
        """Forces so small beside those that accelerate the contacts here that they are none [N]."""
        M, states, u_i, partition = self.at(state, p)
        free = self.free(state, p, partition, u_i, range(len(self.names)))
        size = max(p.speed / p.time for p in self.pairs) + float(np.abs(free).max())
        share = YIELDING if any(pair.yields for pair in self.pairs) else ROUNDING
        if self.held(modes, state, p) and self.compliance(modes, state, p):
            share = max(share, SHARED)
        return {
            name: share * size / float(s.rows[0] @ np.linalg.solve(M, s.rows[0]))
            for name, s in zip(self.names, states, strict=True)
            if name in modes
        }

    def _borne(self, modes: Modes, state: State, p: Array) -> tuple[Sharing | None, Array]:
        """How contacts share, and the forces of the kept rows."""
        variant = self.variant(modes, state, p)
        sharing = self.sharing(modes)
        if sharing is None:
            return None, np.zeros(0)
        start = variant.start
        x = np.concatenate([[start.t], start.q, start.u[list(variant.partition.independent)], p])
        return sharing, self.forces(variant, variant.partition, modes, sharing).kept(x)

    def approach(self, state: State, p: Array) -> tuple[Array, Array]:
        """The gaps of all contacts [m], and their rates [m/s]."""
        gaps = self.once("gaps", lambda: Gaps(self.base.mechanics, self.pairs))
        return gaps.at(np.concatenate([[state.t], state.q, state.u, p]))

    def at(self, state: State, p: Array) -> tuple[Array, list[ContactState], Array, Partition]:
        """Reduced mass matrix, contact states, independent speeds and their partition."""
        found, u_i, partition = self.instant(state, p)
        return found.M, found.contacts, u_i, partition

    def instant(self, state: State, p: Array) -> tuple[Instant, Array, Partition]:
        """All contacts at once, independent speeds and their partition."""
        partition = self.base.choose_partition(state, p.tolist())
        u_i = state.u[list(partition.independent)]
        x = np.concatenate([[state.t], state.q, u_i, p])
        return self.impact_program(partition).evaluate(x), u_i, partition

    def strike(
        self, state: State, p: Array, struck: Collection[str] = (), jammed: Collection[str] = ()
    ) -> tuple[State, list[str]]:
        """The state after all touching contacts have struck, and those of them that stay in touch.

        struck: Contacts that touch, whatever their gap says: it was located with an error.
        jammed: Contacts that slide and strike without approaching.
        """
        found, u_i, partition = self.instant(state, p)
        names = self.names
        touching, said = self._touching(found), {*struck, *jammed}
        near = [k for k, name in enumerate(names) if touching[k] or name in said]
        digging = [k for k in near if names[k] in jammed]
        program = self.impact_program(partition)
        try:
            record, solved = impact(program, state.t, state.q, u_i, p, near, self.propagation, digging)
        except ImpactError as error:
            raise ContactError(state.t, tuple(names[k] for k in near), f"{error}.") from error
        if record is None:
            return state, self._staying(near, state, p)
        self.records.append(record)
        self._note(state.t, [names[k] for k in near], solved)
        parting = found.parting(u_i).tolist()
        for k in near:
            self.fastest[names[k]] = max(self.fastest.get(names[k], 0.0), -parting[k])
        struck_off = State(state.t, state.q, record.speeds_after.copy())
        return struck_off, self._staying(near, struck_off, p)

    def _note(self, t: float, near: Sequence[str], solved: Impact) -> None:
        """Record where an impact did not keep to its law, with a warning where more is lost than a run resolves."""
        plastic = [near[i] for i in solved.plastic]
        self.changes += [ContactChange(t, name, "plastic") for name in plastic]
        if solved.plastic_loss > self.tolerance:
            contacts = ", ".join(map(repr, plastic))
            warnings.warn(
                f"the impact at t = {t:.9g} s did not end after {len(solved.strikes)} strikes; contact {contacts} met "
                f"without restitution, and {solved.plastic_loss:.2g} of the energy of the impact is lost. "
                "propagation='simultaneous' keeps it.",
                stacklevel=3,
            )
        if solved.residual > MISSED_LAW:
            self.changes += [ContactChange(t, name, "approximate") for name in near]
            contacts = ", ".join(map(repr, near))
            warnings.warn(
                f"the impact at t = {t:.9g} s of contact {contacts} misses Coulomb's law by {solved.residual:.2g} of "
                "its speed: its friction is that of a cone with flat sides.",
                stacklevel=3,
            )

    @cached_property
    def lengths(self) -> Array:
        """Units of length of all contacts [m]."""
        return np.array([pair.length for pair in self.pairs])

    def _touching(self, found: Instant) -> list[bool]:
        """Which of all contacts touch."""
        return list((found.gaps <= TOUCHING * self.lengths).tolist())

    def _fastest(self, k: int) -> float:
        """The fastest approach of a contact so far [m/s], or so slow a one that it does not matter."""
        return max(self.fastest.get(self.names[k], 0.0), SLOWEST * self.pairs[k].speed)

    def _staying(self, near: Sequence[int], state: State, p: Array) -> list[str]:
        """Contacts that touch and part so slowly that their bouncing has converged."""
        found = []
        seen_now, u_i, partition = self.instant(state, p)
        gaps, parting = seen_now.gaps.tolist(), seen_now.parting(u_i).tolist()
        highest = max((gaps[k] for k in near), default=0.0)
        for k in near:
            pair, gap, speed = self.pairs[k], gaps[k], parting[k]
            # A bounce that hides its own end between rounding and what is missed is as good as none. So is one that
            # stays within the gap in which contacts strike together: which of them comes first is lost there.
            seen = 0.5 * MISSED[0] * pair.length
            together = highest > seen
            hides = gap < -seen or together
            slow = (HIDDEN if hides else AT_REST) * self._fastest(k)
            if hides and slow < abs(speed) < LOW * pair.speed:
                # And one that does not even lead out of the overlap would never be seen to end.
                height = max(-gap, TOUCHING * pair.length if together else 0.0)
                falls = -float(self.free(state, p, partition, u_i, [k])[0])
                slow = max(slow, math.sqrt(max(2.0 * height * falls, 0.0)))
            if abs(speed) <= slow:
                found.append(self.names[k])
        return found

    def resting(self, state: State, p: Array) -> list[str]:
        """Contacts that touch, and do not bounce any more."""
        touching = self._touching(self.instant(state, p)[0])
        return self._staying([k for k, touches in enumerate(touching) if touches], state, p)

    def settle(
        self, names: Collection[str], state: State, p: Array, stopped: Collection[str] = ()
    ) -> tuple[State, dict[str, Mode]]:
        """Modes of contacts that touch at rest: those that press last, sticking where friction can hold them.

        Where sliding friction jams a contact, so that no finite force belongs to it (Painleve's paradox), it strikes
        without a collision, as a stiff but not rigid body would; the state is that after it.

        stopped: Contacts whose slip has just come to rest.
        """
        for _ in range(1 + len(self.names)):
            try:
                return state, self._modes(names, state, p, stopped)
            except JammedContact as error:
                wanted = [name for name in self.names if name in names]
                jammed = [wanted[i] for i in error.contacts]
                if not jammed:
                    raise ContactError(state.t, tuple(wanted), f"{error}.") from error
                state, staying = self.strike(state, p, jammed=jammed)
                names, stopped = staying, ()
        why = "friction jams contacts again and again (Painleve's paradox); use less friction."
        raise ContactError(state.t, tuple(names), why)

    def lasts(self, modes: Modes, state: State, p: Array) -> bool:
        """Whether these contacts stay as they are, however they share."""
        try:
            found = self._modes(list(modes), state, p, ())
        except JammedContact:
            return False
        return found == {name: replace(mode, idle=False, weight=1.0) for name, mode in modes.items()}

    def _modes(
        self, names: Collection[str], state: State, p: Array, stopped: Collection[str]
    ) -> dict[str, Mode]:
        wanted = [k for k, name in enumerate(self.names) if name in names]
        if not wanted:
            return {}
        now, u_i, partition = self.instant(state, p)
        states = now.contacts
        free = self.free(state, p, partition, u_i, wanted)
        W = delassus(now.M, [states[k].rows for k in wanted])
        slip = np.array([states[k].rows[1:] @ u_i + states[k].drift[1:] for k in wanted])
        for i, k in enumerate(wanted):
            none = max(1e-7 * self._fastest(k), self.unresolved(k, states[k], u_i))
            if self.names[k] in stopped or np.linalg.norm(slip[i]) <= none:
                slip[i] = 0.0
        friction = now.friction[wanted].tolist()
        found = contact_forces(W, free, friction, slip, tangents=self.tangents)
        # All that begin to slip do it together: as fast as they are accelerated.
        begins = found.accelerations.reshape(len(wanted), -1)[:, 1:]
        fastest = max(
            (float(np.linalg.norm(a)) for a, v in zip(begins, slip, strict=True) if not v.any()), default=0.0
        )
        modes: dict[str, Mode] = {}
        for i, k in enumerate(wanted):
            if found.states[i] is Lasting.OPEN:
                continue
            sticking = found.states[i] is Lasting.STICK and friction[i] > 0.0
            sign = 1.0 if sticking or found.slip[i][0] >= 0.0 else -1.0
            sets_off = not sticking and self.tangents == 2 and friction[i] > 0.0 and not np.any(slip[i])
            toward = tuple(float(x) for x in begins[i] / fastest) if sets_off else ()
            modes[self.names[k]] = Mode(sticking, sign, toward=toward)
        return modes

    def unresolved(self, k: int, s: ContactState, u_i: Array) -> float:
        """Slip of which a run does not know the direction, because it is what is left of speeds known to the tolerance
        [m/s]; what it does from there follows from the accelerations. In the plane it has but a sign.
        """
        return max(STILL * self.pairs[k].speed, self.resolution(k, s, u_i) if self.tangents == 2 else 0.0)

    def resolution(self, k: int, s: ContactState, u_i: Array) -> float:
        """Error to which a run knows the slip of a contact in space [m/s]."""
        speeds = float(np.linalg.norm(np.abs(s.rows[1:]) @ np.abs(u_i) + np.abs(s.drift[1:])))
        return UNRESOLVED * max(self.tolerance, LEAST) * (speeds + self.pairs[k].speed)

    def free(self, state: State, p: Array, partition: Partition, u_i: Array, wanted: Sequence[int]) -> Array:
        """Relative accelerations of some contacts without contact forces [m/s^2]; raises where they are not numbers."""
        free = self.free_accelerations(partition).at(np.concatenate([[state.t], state.q, u_i, p]))
        lost = [self.names[k] for k in wanted if not np.isfinite(free[k]).all()]
        if lost:
            why = (
                "how its point of contact moves is not a number there: a shape is flat at that point without being a "
                "plane, as a superellipsoid at its poles. Turn it a little, or take treatment='continuous'."
            )
            raise ContactError(state.t, tuple(lost), why)
        return np.concatenate([free[k] for k in wanted])


def modes_key(modes: Modes) -> Hashable:
    """Modes as a key."""
    return tuple(sorted(modes.items(), key=lambda item: item[0]))


def shared_key(modes: Modes, sharing: Sharing | None) -> Hashable:
    """Modes, and how contacts share in them, as a key."""
    return (modes_key(modes), None if sharing is None else sharing.key)

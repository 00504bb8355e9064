"""Sensitivities through the touches of continuous contacts.

The derivatives of a run are continuous within a phase. Where the event g = 0 moves by dt = -(g_Y s + g_p) / g-dot and
the rates jump from F- to F+, they change by (F- - F+) dt; the speed of approach v0 that a law keeps from the touch gets
the derivative v_Y (s + F- dt) + v_p + v_t dt, and is constant afterwards.

Source: Galan, Feehery, Barton (1999), Parametric sensitivity functions for hybrid systems, equations (16) to (20).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.analyses.lasting import contacts_of
from bellcrank.errors import ModelError
from bellcrank.impacts.gaps import Gap, GapRate, Missed, watching
from bellcrank.mechanics.pressing import Pressing
from bellcrank.model.forces import ContactForce
from bellcrank.model.parameters import names_in
from bellcrank.program.derive import jvp_program
from bellcrank.program.evaluate import evaluate
from bellcrank.program.kernel import compile_program
from bellcrank.program.program import Program
from bellcrank.run.events import ClosingRate, Event, StateEvent, Watched, watch_program
from bellcrank.run.touch import (
    BESIDE,
    continuous,
    sinking_speed,
    starting_gaps,
    starting_speed,
    taken_over,
    touch_events,
)

if TYPE_CHECKING:
    from bellcrank.formulations.loops import Partition
    from bellcrank.mechanism import Mechanism
    from bellcrank.mechanism.traced import Traced

Array = NDArray[np.float64]

AFTER = 1e-9
"""How far beside an event, over its time or a second, rates are taken as those of its side."""


class Touches:
    """The events of continuous contacts in a run with derivatives.

    kept: Which parameters hold speeds of approach, by number. tangents: Their derivatives, (kept, columns).
    """

    def __init__(self, mechanism: Mechanism, columns: Sequence[int]) -> None:
        self.mechanism, self.columns = mechanism, list(columns)
        self.gaps = self._open(mechanism)
        self.events: list[Event] = [*touch_events(mechanism), *self.gaps]
        self.struck: tuple[str, float] | None = None
        places = {name: k for k, name in enumerate(mechanism.mechanics.parameters)}
        self.forces: dict[str, ContactForce] = {}
        self.kept: list[int] = []
        for force in continuous(mechanism):
            self.forces[f"{force.name}: touch"] = force
            self.kept += [places[name] for name in names_in(force.approach_speed)]
        self.tangents = np.zeros((len(self.kept), len(self.columns)))

    @staticmethod
    def _open(mechanism: Mechanism) -> list[Event]:
        """What is watched of impulsive contacts, through which no derivatives go: they must be open and stay so."""
        contacts = contacts_of(mechanism, "sensitivity")
        if contacts is None:
            return []
        p = np.array(mechanism.parameter_values)
        touching = contacts.resting(mechanism.start, p)
        if touching:
            raise ModelError(
                f"sensitivity: contact {touching[0]!r} touches at the start, and derivatives go through continuous "
                "contacts alone; give it treatment='continuous', or take differences of runs"
            )
        return [event for pair in contacts.pairs for event in watching(pair)]

    def begin(self, dq: Array, du: Array) -> None:
        """Derivatives of the speeds that damping refers to from the start on, by differences: no program gives them.

        dq, du: Derivatives of the start, (positions, columns) and (speeds, columns).
        """
        m = self.mechanism
        gaps, p, start = starting_gaps(m), np.array(m.parameter_values), m.start
        for row, place in enumerate(self.kept):
            force = self._of_parameter(place)
            if gaps[force.name] > taken_over(m, force):
                continue
            for k, column in enumerate(self.columns):
                h = BESIDE * (abs(p[column]) or 1.0)
                ends = []
                for d in (h, -h):
                    there, numbers = (
                        replace(start, q=start.q + d * dq[:, k], u=start.u + d * du[:, k]),
                        p.copy(),
                    )
                    numbers[column] += d
                    ends.append(starting_speed(m, force, there, numbers))
                self.tangents[row, k] = (ends[0] - ends[1]) / (2.0 * h)

    def _of_parameter(self, place: int) -> ContactForce:
        """The contact whose speed of approach stands in a parameter."""
        name = self.mechanism.mechanics.parameters[place]
        return next(force for force in self.forces.values() if name in names_in(force.approach_speed))

    def check(self) -> None:
        """Raise where an impulsive contact has met."""
        if self.struck is not None:
            name, t = self.struck
            raise ModelError(
                f"sensitivity: contact {name!r} strikes at t = {t:.6g} s, and derivatives go through continuous "
                "contacts alone; end the run before, give it treatment='continuous', or take differences of runs"
            )

    def __bool__(self) -> bool:
        return bool(self.events)

    def program(self, partition: Partition) -> Program:
        """[t, Y, p] to the event functions."""
        return watch_program(self.mechanism, partition, self.events)

    def speed_program(self, partition: Partition, force: ContactForce) -> Program:
        """[t, Y, p] to the speed of approach."""
        linkage = self.mechanism.linkage
        rate = StateEvent("rate", trace=lambda kin, t: Pressing.of(force, linkage, kin).rate)
        return watch_program(self.mechanism, partition, [rate])

    def directions(self, S: Array, p: int) -> Array:
        """Changes of [t, Y, p] along the columns."""
        n, k = S.shape[1], len(self.columns)
        dx = np.zeros((1 + n + p, k))
        dx[1 : 1 + n] = S.T
        dx[1 + n + np.array(self.columns), range(k)] = 1.0
        for row, place in enumerate(self.kept):
            dx[1 + n + place] += self.tangents[row]
        return dx

    def met(
        self, traced: Traced, t: float, Y: Array, S: Array, hits: Sequence[int], p: Array
    ) -> tuple[Array, Array]:
        """Derivatives and parameters after the events that were met; `tangents` follow."""
        from bellcrank.mechanism import State
        from bellcrank.run.events import react

        met = [self.events[i] for i in hits if isinstance(self.events[i], Gap | Missed)]
        if met:
            self.struck = met[0].name, t
            return S, p
        partition = traced.partition
        known = [i for i in hits if not isinstance(self.events[i], ClosingRate | GapRate)]
        x, dx = np.concatenate([[t], Y, p]), self.directions(S, len(p))
        full = evaluate(traced.full, x)
        state = State(t, Y[: self.mechanism.linkage.positions], full[: self.mechanism.linkage.speeds])

        kernel = compile_program(self.program(partition))

        def watched(at: State | None = None, numbers: Array | None = None) -> dict[str, float]:
            independent = list(partition.independent)
            now = Y if at is None else np.concatenate([at.q, at.u[independent]])
            values = kernel(np.concatenate([[t], now, p if numbers is None else numbers]))
            return dict(zip([e.name for e in self.events], values.tolist(), strict=True))

        changed = react(self.mechanism, [self.events[i] for i in known], state, p, watched)
        new_p = p if changed is None or changed[1] is None else changed[1]
        moving = [i for i in known if self.events[i].recorded]
        if not moving:
            return S, new_p
        self._check_gradual(t, moving, watched())
        F = evaluate(traced.rates, x)
        flow = np.concatenate([[1.0], F, np.zeros(len(p))])
        g = self.program(partition)
        number = len(g.outputs)
        by = evaluate(
            jvp_program(g),
            np.vstack([np.tile(x[:, None], (1, dx.shape[1] + 1)), np.column_stack([dx, flow])]),
        )
        slopes = by[number:]
        new_S, new_tangents = S.copy(), self.tangents.copy()
        beside = AFTER * max(1.0, abs(t))
        ahead = np.concatenate([[t + beside], Y + beside * F, new_p])
        behind = np.concatenate([[t - beside], Y - beside * F, p])
        before, after = evaluate(traced.rates, behind), evaluate(traced.rates, ahead)
        for i in moving:
            dt = -slopes[i, :-1] / slopes[i, -1]
            new_S = new_S + np.outer(dt, before - after)
            force = self.forces.get(self.events[i].name)
            if force is None or not names_in(force.approach_speed):
                continue
            speed = self.speed_program(partition, force)
            along = dx + np.outer(flow, dt)
            slope = evaluate(jvp_program(speed), np.vstack([np.tile(x[:, None], (1, dx.shape[1])), along]))[1]
            place = self.mechanism.mechanics.parameters.index(names_in(force.approach_speed)[0])
            if new_p[place] != -watched()[f"{force.name}: rate"]:
                slope = self._of_sinking(traced, force, x, along, watched)
            new_tangents[self.kept.index(place)] = slope
        self.tangents = new_tangents
        return new_S, new_p

    def _of_sinking(
        self, traced: Traced, force: ContactForce, x: Array, along: Array, watched: Watched
    ) -> Array:
        """Derivatives of the speed by which bodies sink in, by differences: no program gives it."""
        from bellcrank.mechanism import State

        n, m = len(traced.rates.outputs), self.mechanism
        found = np.zeros(along.shape[1])
        for k, column in enumerate(self.columns):
            h = BESIDE * (abs(x[1 + n + column]) or 1.0)
            ends = []
            for there in (x + h * along[:, k], x - h * along[:, k]):
                full = evaluate(traced.full, there)
                state = State(there[0], there[1 : 1 + m.linkage.positions], full[: m.linkage.speeds])
                ends.append(sinking_speed(m, force, state, there[1 + n :], watched))
            found[k] = (ends[0] - ends[1]) / (2.0 * h)
        return found

    def _check_gradual(self, t: float, moving: Sequence[int], values: Mapping[str, float]) -> None:
        """Raise where a contact point appears or vanishes abruptly: no gap function gives the time of that."""
        for i in moving:
            contact, what = self.events[i].name.rsplit(": ", 1)
            force = self.forces.get(f"{contact}: touch")
            if force is None or what not in ("touch", "part"):
                continue
            if abs(values[self.events[i].name]) > taken_over(self.mechanism, force):
                raise ModelError(
                    f"at t = {t:.6g} s contact {contact!r} passes over an edge, where it ends or begins at once; no "
                    "derivatives go through that. Take differences of runs instead, or end the run before"
                )


def begun_at(mechanism: Mechanism) -> Mechanism:
    """The mechanism as its contacts begin."""
    from bellcrank.run.touch import begun

    return begun(mechanism) if continuous(mechanism) else replace(mechanism)


__all__ = ["Touches", "begun_at"]

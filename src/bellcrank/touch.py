"""Continuous contacts during a run: where they begin and end, and how fast they began.

The start and the end of a contact are located as events, and the step begins anew there, so that no step runs over a
kink of the force. The laws of the force remember the speed at which the bodies met; it is kept in a parameter that
changes at the touch, so that the equations stay a function of state and parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from bellcrank.contact.gather import SampledPair, input_names, numbers
from bellcrank.contact.laws import ForceLaw
from bellcrank.contact.local import Local
from bellcrank.contact.sampled import Sampled
from bellcrank.errors import ModelError
from bellcrank.events import Event, StateEvent, measuring
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import Linkage
from bellcrank.mechanics.pressing import Pressing
from bellcrank.mechanics.vectors import dot, sub, transposed_times
from bellcrank.model.forces import ContactForce
from bellcrank.model.parameters import names_in
from bellcrank.program.evaluate import evaluate
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar, compare, where
from bellcrank.result.snapshot import Snapshot
from bellcrank.simulate.events import RATE

if TYPE_CHECKING:
    from bellcrank.mechanism import Mechanism, State

SLOWEST = 1e-12
"""Approaches are never taken to be slower than this [m/s]."""

Update = Callable[["State", Mapping[str, float]], Mapping[str, float]]


class ClosingRate(StateEvent):
    """The rate of the gap before it: tells where the gap is smallest, so that no short overlap is missed."""

    def __post_init__(self) -> None:
        assert self.direction == RATE


def continuous(mechanism: Mechanism) -> list[ContactForce]:
    """All contacts in the continuous treatment."""
    return [f for f in mechanism.system.forces.values() if isinstance(f, ContactForce)]


def refuse_continuous(mechanism: Mechanism, what: str) -> None:
    """Raise where something that meets no events is asked of a mechanism with continuous contacts."""
    for force in continuous(mechanism):
        raise ModelError(f"{what} does not follow contacts yet, here {force.name!r}; use simulate")


def begun(mechanism: Mechanism) -> Mechanism:
    """The mechanism with the approach speeds of contacts that close as the run begins."""
    values = dict(zip(mechanism.mechanics.parameters, mechanism.parameter_values, strict=True))
    for force in continuous(mechanism):
        values |= gathering(force, mechanism)(mechanism.start, values)
        p = np.array(list(values.values()))
        here = measuring(mechanism, [f"{force.name}.gap", f"{force.name}.rate"])(mechanism.start, p)
        if here[f"{force.name}.gap"] <= 0.0 < here[f"{force.name}.rate"]:
            values |= {name: float(here[f"{force.name}.rate"]) for name in names_in(force.approach_speed)}
    changed = replace(mechanism, parameter_values=tuple(values.values()))
    return changed.with_programs_of(mechanism)


def touch_events(mechanism: Mechanism) -> list[Event]:
    """Touch and parting of every continuous contact."""
    found: list[Event] = []
    for force in continuous(mechanism):
        found += _events(force, mechanism)
    return found


def _events(force: ContactForce, mechanism: Mechanism) -> list[Event]:
    linkage, name = mechanism.linkage, force.name

    def gap(kin: Kinematics, t: Scalar) -> Scalar:
        return -Pressing.of(force, linkage, kin).depth

    def rate(kin: Kinematics, t: Scalar) -> Scalar:
        return -Pressing.of(force, linkage, kin).rate

    def push(kin: Kinematics, t: Scalar) -> Scalar:
        return Pressing.of(force, linkage, kin).push

    found: list[Event] = [
        StateEvent(f"{name}: touch", direction=-1, trace=gap, update=_approach(force, mechanism)),
        ClosingRate(f"{name}: rate", direction=RATE, trace=rate),
        StateEvent(f"{name}: part", direction=1, trace=gap, update=_nothing),
    ]
    for k, side in enumerate((force.contact.a.shape, force.contact.b.shape)):
        if isinstance(side, Local):
            anew = partial(_gather, f"{name} {'ab'[k]} turn", gathering(force, mechanism))
            for turn, even in ((1.0, "odd"), (-1.0, "even")):
                room = partial(_room_left, force, linkage, k, turn)
                label = f"{name}: gather {'ab'[k]} {even}"
                found.append(StateEvent(label, direction=-1, trace=room, update=anew, recorded=False))
    if force.law is ForceLaw.KELVIN_VOIGT:
        # Its force ends before the overlap does.
        found.append(StateEvent(f"{name}: release", direction=-1, trace=push, update=_nothing))
    return found


def _room_left(
    force: ContactForce, linkage: Linkage, side: int, turn: float, kin: Kinematics, t: Scalar
) -> Scalar:
    """How far the contact point on a sampled surface may still move, squared over the margin squared.

    Of an event just met the search for events knows no sign, and would miss it where it is met again within a quarter
    of a step. So two events take turns.
    """
    found = Pressing.of(force, linkage, kin)
    shape = (force.contact.a.shape, force.contact.b.shape)[side]
    assert isinstance(shape, Local)
    R, p = found.seen((found.pair.a, found.pair.b)[side])
    x = transposed_times(R, sub((found.closest.point_a, found.closest.point_b)[side], p))
    way = sub(x, (kin.number(shape.start[0]), kin.number(shape.start[1]), kin.number(shape.start[2])))
    room = 1.0 - dot(way, way) / shape.source.margin**2
    return where(compare("lt", 0.0, turn * kin.number(shape.turn)), room, 1.0)


def _gather(turn: str, gathers: Update, state: State, parameters: Mapping[str, float]) -> Mapping[str, float]:
    return {**gathers(state, parameters), turn: -parameters[turn]}


def gathering(force: ContactForce, mechanism: Mechanism) -> Update:
    """Finds the contact point on sampled surfaces in a state, and the samples around it."""
    sides = (force.contact.a, force.contact.b)
    if not any(isinstance(side.shape, Local) for side in sides):
        return _nothing
    a, b = (side.shape.source if isinstance(side.shape, Local) else side.shape for side in sides)
    names = [
        input_names(side.shape.source, f"{force.name} {letter}") if isinstance(side.shape, Local) else []
        for side, letter in zip(sides, "ab", strict=True)
    ]
    search = mechanism.compiled.setdefault(("sampled pair", force.name), None) or SampledPair(a, b)
    mechanism.compiled["sampled pair", force.name] = search
    s = Snapshot(mechanism.system, mechanism.tree, mechanism.mechanics)
    poses = [
        x
        for side in sides
        for x in (*(y for r in s.rotation(side.frame) for y in r), *s.point(side.frame).position())
    ]
    program = Program.of([s.t, *s.q, *s.u, *s.parameters], poses)

    def update(state: State, parameters: Mapping[str, float]) -> Mapping[str, float]:
        row = evaluate(program, np.concatenate([[state.t], state.q, state.u, list(parameters.values())]))
        R_a, p_a, R_b, p_b = row[0:9].reshape(3, 3), row[9:12], row[12:21].reshape(3, 3), row[21:24]
        own = search(R_a.T @ R_b, R_a.T @ (p_b - p_a))[4:6]
        changed: dict[str, float] = {}
        for side, keys, x in zip((a, b), names, own, strict=True):
            if isinstance(side, Sampled):
                changed |= zip(keys, numbers(side, x).tolist(), strict=True)
        return changed

    return update


def _nothing(state: State, parameters: Mapping[str, float]) -> Mapping[str, float]:
    return {}


def _approach(force: ContactForce, mechanism: Mechanism) -> Update:
    names = names_in(force.approach_speed)
    if not names:
        return _nothing
    measure = measuring(mechanism, [f"{force.name}.rate"])

    def update(state: State, parameters: Mapping[str, float]) -> Mapping[str, float]:
        speed = float(measure(state, np.array(list(parameters.values())))[f"{force.name}.rate"])
        return {names[0]: max(speed, SLOWEST)}

    return update


__all__ = ["begun", "continuous", "refuse_continuous", "touch_events"]

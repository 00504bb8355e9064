"""Continuous contacts during a run: where they begin and end, and how fast they began.

The start and the end of a contact are located as events, and the step begins anew there, so that no step runs over a
kink of the force. The laws of the force remember the speed at which the bodies met; it is kept in a parameter that
changes at the touch, so that the equations stay a function of state and parameters.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.fields import deepest
from bellcrank.contact.laws import ForceLaw
from bellcrank.contact.notes import ContactNote
from bellcrank.contact.shapes import Plane
from bellcrank.errors import ModelError
from bellcrank.formulations.loops import Partition
from bellcrank.integrate.crossings import RATE
from bellcrank.math.tuples import dot
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.pressing import Pressing
from bellcrank.mechanism.machines import Machines
from bellcrank.mechanism.sizes import contact_length, tolerance_scales
from bellcrank.model.forces import ContactForce, FieldContact
from bellcrank.model.parameters import names_in
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.made import Table
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar
from bellcrank.run.events import ClosingRate, Event, StateEvent, Watched, watch_program

if TYPE_CHECKING:
    from bellcrank.mechanism import Mechanism, State

Array = NDArray[np.float64]
Revise = Callable[["State", Array, Watched], None]

TAKEN_OVER = 1e-9
"""Overlap at a touch, over the size of the smaller body, from which on the gap has not fallen to zero but jumped."""
MIDDLE = 0.8
"""Depth over the largest there is in a body at which another has come to its middle: forces still lead back there."""
DEEP = 0.05
"""Overlap at the start of a run, over the size of the smaller body, above which a warning is given."""


UNDAMPED = 1e300
"""Speed of approach [m/s] beside which every rate is nothing."""
BESIDE = 1e-5
"""Change of coordinates over their scale for a central difference: the cube root of the rounding of doubles."""
SAME = 1e-9
"""Relative error of a time of sinking; derivatives of the speed are taken by differences of it."""

TOUCH_EVENTS: Table[None, list[Event]] = Table("touch events")
WATCHING: Table[Partition, Kernel] = Table("touch events as a run begins")
ARRIVING: Table[tuple[str, Partition], Kernel] = Table("contacts that overlap as a run begins")


def continuous(mechanism: Mechanism) -> list[ContactForce]:
    """All contacts in the continuous treatment."""
    return [f for f in mechanism.system.forces.values() if isinstance(f, ContactForce)]


def followed(mechanism: Mechanism) -> bool:
    """Whether contacts are followed by events of their own."""
    return bool(continuous(mechanism))


def refuse_continuous(mechanism: Mechanism, what: str) -> None:
    """Raise where something that meets no events is asked of a mechanism with continuous contacts."""
    for force in continuous(mechanism):
        raise ModelError(f"{what} does not follow contacts yet, here {force.name!r}; use simulate")


def begun(mechanism: Mechanism) -> Mechanism:
    """The mechanism with the approach speeds of contacts that close as the run begins."""
    values = dict(zip(mechanism.mechanics.parameters, mechanism.parameter_values, strict=True))
    gaps = starting_gaps(mechanism)
    p = np.array(mechanism.parameter_values)
    for force in continuous(mechanism):
        if names_in(force.approach_speed) and gaps[force.name] <= taken_over(mechanism, force):
            speed = starting_speed(mechanism, force, mechanism.start, p)
            if speed > 0.0:
                values |= dict.fromkeys(names_in(force.approach_speed), max(speed, force.slowest))
    _note_deep(mechanism, {name: -gap for name, gap in gaps.items()})
    changed = replace(mechanism, parameter_values=tuple(values.values()))
    return changed.with_programs_of(mechanism)


def starting_gaps(mechanism: Mechanism) -> dict[str, float]:
    """The gaps of continuous contacts at the start [m], negative where bodies overlap."""
    forces = continuous(mechanism)
    if not forces:
        return {}
    here = _watching(mechanism)(mechanism.start, np.array(mechanism.parameter_values))
    return {force.name: here[f"{force.name}: touch"] for force in forces}


def starting_speed(mechanism: Mechanism, force: ContactForce, state: State, p: Array) -> float:
    """What damping refers to where bodies touch as a run begins [m/s]: they may move already, or overlap."""
    watched = _watching(mechanism)
    now = watched(state, p)
    speed = sinking_speed(mechanism, force, state, p, watched)
    if now[f"{force.name}: touch"] < -taken_over(mechanism, force):
        speed += arriving_speed(mechanism, force, state, p)
    return max(-now[f"{force.name}: rate"], speed)


def _watching(mechanism: Mechanism) -> Watched:
    """The functions of the touch events, compiled as a run compiles them."""
    events = touch_events(mechanism)
    partition = mechanism.partition
    kernel = mechanism.compiled.once(
        WATCHING, partition, lambda: compile_program(watch_program(mechanism, partition, events))
    )

    def watched(state: State | None = None, p: Array | None = None, /) -> dict[str, float]:
        values = kernel(mechanism.kernel_input(state, None if p is None else p.tolist()))
        return dict(zip([e.name for e in events], values.tolist(), strict=True))

    return watched


def sinking_speed(
    mechanism: Mechanism, force: ContactForce, state: State, p: Array, watched: Watched
) -> float:
    """The speed that bodies in touch gain by sinking in under their load, sqrt(a d) [m/s].

    a: Acceleration at which they close while the contact does not press. d: How much deeper they are where it carries
    that load, on the path that they would take without it: q + q' t + q'' t^2 / 2. Zero for bodies that are not
    pressed, or that are slower there than they touch. A linear spring without damping gives just this speed to a body
    that is laid on it; damping that refers to it is a fixed part of the critical one, whatever stiffness and load are.
    """
    from scipy.optimize import brentq

    machine = Machines(mechanism).for_partition(mechanism.partition)
    n, number = len(state.q), len(state.u)
    known = tolerance_scales(mechanism, machine.partition)[0]
    scales = np.ones(n) if known is None else known[:n]
    free = _undamped(mechanism, p)

    def rates(q: Array, u: Array) -> Array:
        return np.array(machine.rates(np.concatenate([[state.t], machine.pack(q, u), free]))[:n])

    def depth(q: Array) -> float:
        return -watched(replace(state, q=q), free)[f"{force.name}: touch"]

    def rate(q: Array, u: Array) -> float:
        return -watched(replace(state, q=q, u=u), free)[f"{force.name}: rate"]

    def closing(q: Array) -> tuple[float, Array]:
        """Acceleration at which they close [m/s^2], and that of the mechanism."""
        full = machine.full(np.concatenate([[state.t], machine.pack(q, state.u), free]))
        du = full[number : 2 * number]
        along = rates(q, state.u)
        fastest = float(np.max(np.abs(along) / scales, initial=0.0))
        found = rate(q, state.u + du) - rate(q, state.u)
        if fastest > 0.0:
            h = BESIDE / fastest
            found += (rate(q + h * along, state.u) - rate(q - h * along, state.u)) / (2.0 * h)
        return found, du

    a, du = closing(state.q)
    if not (np.isfinite(a) and a > 0.0):
        return 0.0
    first = rates(state.q, state.u)
    second = rates(state.q, state.u + du) - first

    def path(t: float) -> Array:
        return np.asarray(state.q + t * first + 0.5 * t * t * second)

    def unloaded(t: float) -> float:
        return closing(path(t))[0]

    size = contact_length(mechanism.system, force.contact)
    # A touch that is faster than what it gains meanwhile is the usual one, and one look tells it.
    low, t = 0.0, max(rate(state.q, state.u) / a, np.sqrt(2.0 * TAKEN_OVER * size / a))
    last = np.sqrt(2.0 * size / a)
    while t < last and unloaded(t) > 0.0:
        low, t = t, 2.0 * t
    if low == 0.0:
        return 0.0
    if t < last:
        t = float(brentq(unloaded, low, t, rtol=SAME))
    return float(np.sqrt(a * max(depth(path(t)) - max(depth(state.q), 0.0), 0.0)))


def arriving_speed(mechanism: Mechanism, force: ContactForce, state: State, p: Array) -> float:
    """The speed at which bodies meet that come as deep as these are, sqrt(2 U n M^-1 n) [m/s].

    U: Elastic energy of the overlap. n: What the normal force does to the speeds. It is also the speed at which they
    would part without damping, and for a linear spring what it lacks to the speed of one that is laid on it
    (:func:`sinking_speed`), so that the sum of both does not ask how deep bodies were put into each other.
    """
    machine = Machines(mechanism).for_partition(mechanism.partition)
    linkage, independent = mechanism.linkage, list(mechanism.partition.independent)

    def energy(kin: Kinematics, t: Scalar) -> Scalar:
        return Pressing.of(force, linkage, kin).energy

    def closing(kin: Kinematics, t: Scalar) -> Scalar:
        pressing = Pressing.of(force, linkage, kin)
        return -dot(pressing.normal, pressing.velocity)

    def arriving() -> Kernel:
        traces = [StateEvent(force.name, trace=trace) for trace in (energy, closing)]
        return compile_program(watch_program(mechanism, mechanism.partition, traces))

    kernel = mechanism.compiled.once(ARRIVING, (force.name, mechanism.partition), arriving)
    free = _undamped(mechanism, p)

    def at(numbers: Array) -> tuple[Array, Array]:
        """Energy and closing speed, and all speeds, at independent speeds."""
        given = np.concatenate([[state.t], state.q, numbers, free])
        return np.asarray(kernel(given)), np.asarray(machine.full(given)[: linkage.speeds])

    (stored, still), held = at(np.zeros(len(independent)))
    ways = [at(row) for row in np.eye(len(independent))]
    normal = np.array([found[1] - still for found, _ in ways])
    moves = np.array([speeds - held for _, speeds in ways])
    here = replace(mechanism, parameter_values=tuple(p.tolist())).with_programs_of(mechanism)
    mass = moves @ here.mass_matrix(state) @ moves.T
    return float(np.sqrt(max(2.0 * stored * (normal @ np.linalg.solve(mass, normal)), 0.0)))


def _undamped(mechanism: Mechanism, p: Array) -> Array:
    """Parameters with which no contact is damped."""
    places = {name: k for k, name in enumerate(mechanism.mechanics.parameters)}
    free = p.copy()
    free[[places[name] for f in continuous(mechanism) for name in names_in(f.approach_speed)]] = UNDAMPED
    return free


def _note_deep(mechanism: Mechanism, depths: Mapping[str, float]) -> None:
    """Warn of bodies that begin deep within each other, once for all points of a contact; depths [m] by force."""
    warned = set[str]()
    for force in sorted(continuous(mechanism), key=lambda force: -depths[force.name]):
        group, depth = force.group or force.name, depths[force.name]
        if group in warned or not depth > 0.0:
            continue
        share = depth / contact_length(mechanism.system, force.contact)
        if not share > DEEP:
            continue
        warned.add(group)
        first, second = (side.frame.body.name for side in (force.contact.a, force.contact.b))
        warnings.warn(
            f"contact {group!r}: {first!r} and {second!r} start {depth * 1e3:.3g} mm inside each other, {share:.0%} of "
            "the smaller one, and will be driven apart; see where they start, and that boxes and cylinders are given "
            "by half their lengths",
            ContactNote,
            stacklevel=5,
        )


def touch_events(mechanism: Mechanism) -> list[Event]:
    """Touch and parting of every continuous contact.

    The same ones for all runs, so that their programs serve again.
    """

    def make() -> list[Event]:
        found: list[Event] = []
        for force in continuous(mechanism):
            found += _events(force, mechanism)
        return found

    return [*mechanism.compiled.once(TOUCH_EVENTS, None, make)]


def gap_program(mechanism: Mechanism, partition: Partition | None = None) -> Program:
    """[t, q, u_i, p] to the gaps of all continuous contacts [m], then the rates at which they close [m/s].

    partition: Which speeds are u_i (default: those of the start).
    """
    linkage = mechanism.linkage

    def gap(force: ContactForce, kin: Kinematics, t: Scalar) -> Scalar:
        return -Pressing.of(force, linkage, kin).depth

    def rate(force: ContactForce, kin: Kinematics, t: Scalar) -> Scalar:
        return Pressing.of(force, linkage, kin).rate

    watched = [
        StateEvent(force.name, trace=partial(trace, force))
        for trace in (gap, rate)
        for force in continuous(mechanism)
    ]
    return watch_program(mechanism, partition or mechanism.partition, watched)


def _events(force: ContactForce, mechanism: Mechanism) -> list[Event]:
    linkage, name = mechanism.linkage, force.name

    def gap(kin: Kinematics, t: Scalar) -> Scalar:
        return -Pressing.of(force, linkage, kin).depth

    def rate(kin: Kinematics, t: Scalar) -> Scalar:
        return -Pressing.of(force, linkage, kin).rate

    def push(kin: Kinematics, t: Scalar) -> Scalar:
        return Pressing.of(force, linkage, kin).push

    found: list[Event] = [
        StateEvent(f"{name}: touch", direction=-1, trace=gap, revise=_approach(force, mechanism)),
        ClosingRate(f"{name}: rate", direction=RATE, trace=rate),
        StateEvent(f"{name}: part", direction=1, trace=gap, revise=_nothing),
    ]
    if isinstance(force, FieldContact):
        found += _middle(force, mechanism)
    if force.law is ForceLaw.KELVIN_VOIGT:
        # Its force ends before the overlap does.
        found.append(StateEvent(f"{name}: release", direction=-1, trace=push, revise=_nothing))
    return found


def _middle(force: FieldContact, mechanism: Mechanism) -> list[Event]:
    """A note where a body is pressed to the middle of another.

    An energy of positions has a ridge there. Whether the wall holds or the body comes out behind it, with the energy
    that it brought, is a matter of stiffness and speed.
    """
    sides = force.contact.a, force.contact.b
    # A plane has no surface that the field of the other body could drive out.
    most = [
        np.inf if isinstance(other.shape, Plane) else deepest(side.present)
        for side, other in zip(sides, sides[::-1], strict=True)
    ]
    thin = min(most)
    if not 0.0 < thin < np.inf:
        return []
    whole, into = (side.frame.body.name for side in (sides if most[1] == thin else sides[::-1]))

    def past(kin: Kinematics, t: Scalar) -> Scalar:
        return Pressing.of(force, mechanism.linkage, kin).depth - MIDDLE * thin

    def note(state: State, p: Array, watched: Watched) -> None:
        warnings.warn(
            f"contact {force.name!r}: at t = {state.t:.4g} s {whole!r} is pressed {1e3 * MIDDLE * thin:.3g} mm deep "
            f"into {into!r}, to its middle; forces beyond it lead out on the other side, so that it may come through. "
            "To hold it, give a larger young= or stiffness=, a thicker shape, or a slower start",
            ContactNote,
            stacklevel=2,
        )

    return [StateEvent(f"{force.name}: middle", direction=1, trace=past, revise=note)]


def taken_over(mechanism: Mechanism, force: ContactForce) -> float:
    """The overlap [m] beyond which a place of contact has taken over from another one."""
    return TAKEN_OVER * contact_length(mechanism.system, force.contact)


def _nothing(state: State, p: Array, watched: Watched) -> None:
    """The step begins anew, no more."""


def _approach(force: ContactForce, mechanism: Mechanism) -> Revise:
    """Keeps the speed at which the bodies meet.

    Where a place takes over from another one, as two crossings from a corner, they have met before.
    """
    names = names_in(force.approach_speed)
    if not names:
        return _nothing
    place = mechanism.mechanics.parameters.index(names[0])
    jumped = taken_over(mechanism, force)

    def revise(state: State, p: Array, watched: Watched) -> None:
        now = watched()
        if now[f"{force.name}: touch"] < -jumped:
            return
        # The event function is the rate of the gap.
        speed = -now[f"{force.name}: rate"]
        p[place] = max(speed, sinking_speed(mechanism, force, state, p, watched), force.slowest)

    return revise


__all__ = [
    "begun",
    "continuous",
    "followed",
    "gap_program",
    "refuse_continuous",
    "sinking_speed",
    "starting_gaps",
    "starting_speed",
    "taken_over",
    "touch_events",
]

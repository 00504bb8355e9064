"""Start values given by the user, by joint name."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError, unknown_name
from bellcrank.math.rotations import from_quaternion
from bellcrank.mechanics.links import Link, Linkage
from bellcrank.mechanics.start import from_joint, numbers, to_joint
from bellcrank.mechanism.assembly import LoopState
from bellcrank.model import checks
from bellcrank.model.parameters import value

if TYPE_CHECKING:
    from bellcrank.model.joints import Joint
    from bellcrank.model.system import System

Array = NDArray[np.float64]

ROUNDED = 1e-9
"""Coordinates [m or rad] that differ by less are alike: descriptions are rounded to nine digits."""

LARGEST_ANGLE = 2.0**26
"""The largest angle to start from [rad]: there, neighbouring numbers lie as far apart as the usual tolerance, 1e-8."""


class StartNote(UserWarning):
    """A start value that means different poses by where coordinates are zero, and the system does not say where."""


def apply_initial(
    system: System,
    linkage: Linkage,
    loops: LoopState,
    q: Array,
    u: Array,
    initial: Mapping[str, Any],
    described: bool = True,
) -> tuple[Array, Array, list[int], list[int]]:
    """Positions, speeds, and the speeds whose positions and whose values are held.

    For a joint with one coordinate: a number (position) or a pair (position, rate). For others: a mapping of
    coordinate names to positions or pairs, or of ``NAME_rate`` to a rate alone; for ball and free joints also
    ``position``, ``quaternion``, ``velocity`` and ``angular_velocity`` (both of B seen from A, velocity in A's axes,
    angular velocity in B's), and for free joints one component at a time, ``x`` [m] or ``x_rate`` [m/s]. For a flexible
    body, by its own name, a mapping of its modes; modal coordinates and rates that are not given stay as they are
    unless the loops do not close then. For a state, by its name, its value. What is not given comes from the described
    start (:meth:`bellcrank.System.initial`), coordinate by coordinate, or stays as it is where `described` is False; a
    position alone leaves the rate, a rate alone the position.
    """
    given_now = separate(system, initial)
    initial = combined(_said(system, loops.parameters), given_now) if described else given_now
    q, u = q.copy(), u.copy()
    held_q: list[int] = []
    held_u: list[int] = []
    for link in linkage.links:
        if link.shape is not None:
            held_q += link.own_speeds
            held_u += link.own_speeds
    for name, given in initial.items():
        if name in system.bodies and system.bodies[name].member is not None:
            _set_modes(linkage, name, given, q, u)
            continue
        if name in linkage.states:
            q[linkage.positions - len(linkage.states) + linkage.states.index(name)] = _value(
                name, "value", given
            )
            continue
        if name in system.constraints and system.constraints[name].unknowns():
            own = [link for link in linkage.links if link.joint == name]
            _set_single(name, own, q, u, held_q, held_u, given)
            continue
        if name not in system.joints:
            raise unknown_name("joint", name, [*system.joints, *_flexible(system), *linkage.states])
        joint = system.joints[name]
        links = [link for link in linkage.links if link.joint == name]
        if not links:
            raise ModelError(
                f"initial: joint {name!r} closes a loop here and has no coordinate of its own; "
                f"give the start values of another joint of the loop{f', or give {name!r} cut=False' * joint.in_tree}"
            )
        if links[0].kind.has_quaternion:
            _set_whole(joint, linkage, links[0], loops.parameters, q, u, held_q, held_u, given)
        else:
            _note_zero(system, joint, given)
            _set_single(name, links, q, u, held_q, held_u, given)
    return q, u, held_q, held_u


def bendable(
    system: System, linkage: Linkage, loops: LoopState, initial: Mapping[str, Any], described: bool = True
) -> tuple[frozenset[int], frozenset[int]]:
    """Speeds of members whose positions, and whose values, nobody gave: those that may move to close the loops."""
    given_now = separate(system, initial)
    given = combined(_said(system, loops.parameters), given_now) if described else given_now
    places: set[int] = set()
    values: set[int] = set()
    for name in _flexible(system):
        link = linkage.links[linkage.placements[name].link]
        said = given.get(name, {})
        places |= {link.eta_u + k for k, mode in enumerate(link.coordinates) if mode not in said}
        values |= {link.eta_u + k for k, mode in enumerate(link.coordinates) if f"{mode}_rate" not in said}
    return frozenset(places), frozenset(values)


def _note_zero(system: System, joint: Joint, given: Mapping[str, Any]) -> None:
    """Warn of positions that would be others if they counted from the described pose."""
    if system.zero_is_said:
        return
    for name, at in zip(joint.coordinates, joint.start_coordinates(), strict=True):
        if name in given and abs(at) > ROUNDED and abs(_value(joint.name, name, given[name]) - at) > ROUNDED:
            warnings.warn(
                f"{joint.name!r} starts at a given {name}, which counts from where the frames of the joint coincide: "
                f"as described it is {at:.6g}, not 0; say System(..., zero='axes') to keep it so, or "
                "zero='described' to count from the described pose",
                StartNote,
                stacklevel=2,
            )


def separate(system: System, initial: Mapping[str, Any]) -> dict[str, Any]:
    """Start values with positions and rates apart: a pair (position, rate) becomes ``NAME`` and ``NAME_rate``."""
    if not isinstance(initial, Mapping):
        raise ModelError(f"initial must be a mapping such as {{'pin': (0.5, 1.0)}}, not {initial!r}")
    result: dict[str, Any] = {}
    for name, given in initial.items():
        if name in system.joints:
            joint = system.joints[name]
            result[name] = _apart(name, joint.scalar_coordinates, _as_mapping(joint, given))
        elif name in system.bodies and (member := system.bodies[name].member) is not None:
            if not isinstance(given, Mapping):
                first = member.coordinate_names[0]
                raise ModelError(
                    f"initial: give the coordinates of {name!r} as a mapping such as {{{first!r}: 0.001}}"
                )
            result[name] = _apart(name, member.coordinate_names, given)
        elif name in system.constraints and (unknowns := system.constraints[name].unknowns()):
            if not isinstance(given, Mapping):
                raise ModelError(
                    f"initial: give the place of {name!r} as a mapping such as {{{unknowns[0].name!r}: 0.1}}"
                )
            result[name] = _apart(name, [unknown.name for unknown in unknowns], given)
        else:
            result[name] = given
    return result


def _apart(owner: str, coordinates: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, x in given.items():
        if key not in coordinates:
            result[key] = x
            continue
        position, rate = _pair(owner, key, x)
        result[key] = position
        if rate is not None:
            if f"{key}_rate" in given:
                raise ModelError(f"initial: {owner!r} gives the rate of {key!r} twice")
            result[f"{key}_rate"] = rate
    return result


def combined(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Two starts with positions and rates apart, the second over the first, coordinate by coordinate."""
    result = dict(first)
    for name, given in second.items():
        known = result.get(name)
        both = isinstance(known, Mapping) and isinstance(given, Mapping)
        result[name] = {**known, **given} if both else given  # type: ignore[dict-item]
    return result


def rates_alone(system: System, initial: Mapping[str, Any]) -> dict[str, Any]:
    """What a start says of speeds; without it, positions and first-order states remain."""
    result = {}
    for name, given in separate(system, initial).items():
        if isinstance(given, Mapping):
            result[name] = {k: x for k, x in given.items() if k.endswith(("_rate", "velocity"))}
    return {name: given for name, given in result.items() if given}


def _said(system: System, parameters: Mapping[str, float]) -> dict[str, Any]:
    """The described start with these parameters."""
    said = {
        name: {key: [value(x, parameters) for x in row] for key, row in start.items()}
        for name, start in system.initials.items()
    }
    return separate(system, said)


def _flexible(system: System) -> list[str]:
    return [name for name, body in system.bodies.items() if body.member is not None]


def _set_modes(linkage: Linkage, name: str, given: Mapping[str, Any], q: Array, u: Array) -> None:
    """Coordinates of a flexible body by their names, "mode 1" and so on, and their rates."""
    link = linkage.links[linkage.placements[name].link]
    for key, x in given.items():
        known = {mode: k for k, mode in enumerate(link.coordinates)}
        rates = {f"{mode}_rate": k for mode, k in known.items()}
        if key in known:
            q[link.eta_q + known[key]] = _value(name, key, x)
        elif key in rates:
            u[link.eta_u + rates[key]] = _value(name, key, x)
        else:
            raise unknown_name(f"mode of body {name!r}", key, known)


def _as_mapping(joint: Joint, given: Any) -> Mapping[str, Any]:
    if isinstance(given, Mapping):
        return given
    names = joint.scalar_coordinates
    if len(names) != 1 or len(joint.coordinates) != 1:
        shown = ", ".join(joint.coordinates)
        raise ModelError(
            f"initial: joint {joint.name!r} has the coordinates {shown}; give a mapping such as "
            f"{{{joint.name!r}: {{{joint.coordinates[0]!r}: value}}}}"
        )
    return {names[0]: given}


def _pair(owner: str, name: str, given: Any) -> tuple[float, float | None]:
    try:
        values = [float(x) for x in np.atleast_1d(np.asarray(given, dtype=float))]
    except (TypeError, ValueError) as error:
        raise ModelError(f"initial: {owner!r}, {name!r}: {given!r} is not a number or a pair") from error
    if len(values) not in (1, 2) or not all(np.isfinite(values)):
        raise ModelError(f"initial: {owner!r}, {name!r}: give a finite position or (position, rate)")
    for x in values:
        checks.number(f"initial: {name!r} of {owner!r}", x)
    return values[0], values[1] if len(values) == 2 else None


def _value(owner: str, name: str, given: Any) -> float:
    """One number."""
    position, rate = _pair(owner, name, given)
    if rate is not None:
        raise ModelError(f"initial: {owner!r}, {name!r}: give one number, not {given!r}")
    return position


def _set_single(
    joint: str,
    links: Sequence[Link],
    q: Array,
    u: Array,
    held_q: list[int],
    held_u: list[int],
    wanted: Mapping[str, Any],
) -> None:
    by_name = {link.coordinates[0]: link for link in links}
    rates = {f"{name}_rate": link for name, link in by_name.items()}
    for name, given in wanted.items():
        if name not in by_name and name not in rates:
            raise unknown_name(f"coordinate of joint {joint!r}", name, [*by_name, *rates])
        x = _value(joint, name, given)
        if name in rates:
            u[rates[name].u] = x
            held_u.append(rates[name].u)
            continue
        link = by_name[name]
        if name.startswith("angle") and abs(x) > LARGEST_ANGLE:
            raise ModelError(
                f"initial: {name!r} of joint {joint!r} is {x:g} rad; angles beyond {LARGEST_ANGLE:.3g} rad "
                "are too coarse to compute with: leave out whole turns"
            )
        q[link.q] = x
        held_q.append(link.u)


def _set_whole(
    joint: Joint,
    linkage: Linkage,
    link: Link,
    parameters: Mapping[str, float],
    q: Array,
    u: Array,
    held_q: list[int],
    held_u: list[int],
    wanted: Mapping[str, Any],
) -> None:
    wanted = dict(wanted)
    single = _components(joint, wanted)
    known = joint.start_keys()
    for name in wanted:
        if name not in known:
            raise unknown_name(f"start value of joint {joint.name!r}", name, known)
    here = slice(link.q, link.q + link.kind.positions)
    coordinates = to_joint(linkage, link, q[here], parameters)
    turning = [link.u, link.u + 1, link.u + 2]
    moving = [link.u + 3, link.u + 4, link.u + 5]
    velocity = np.zeros(3)
    if single["velocity"]:
        toward_a, arm = _axes(linkage, link, parameters, q, u)
        velocity = toward_a @ (u[moving] + arm)
    if "position" in wanted:
        coordinates[:3] = _numbers(joint, "position", wanted["position"], 3)
        held_q += moving
    for axis, x in single["position"].items():
        coordinates[axis] = x
        held_q += moving
    if "quaternion" in wanted:
        coordinates[-4:] = _numbers(joint, "quaternion", wanted["quaternion"], 4)
        if not np.linalg.norm(coordinates[-4:]) > 0.0:
            raise ModelError(f"initial: the quaternion of joint {joint.name!r} is zero")
        held_q += turning
    q[here] = from_joint(linkage, link, coordinates, parameters)
    map_ = linkage.maps[link.index]
    rates = single["velocity"]
    if map_.reverse and (rates or "velocity" in wanted or "angular_velocity" in wanted):
        raise ModelError(
            f"initial: joint {joint.name!r} runs from the moving body to the other here; "
            "swap its two bodies to give its rates"
        )
    right = numbers(map_.right, parameters)
    if "angular_velocity" in wanted:
        u[turning] = right.T @ _numbers(joint, "angular_velocity", wanted["angular_velocity"], 3)
        held_u += turning
    if rates or "velocity" in wanted:
        toward_a, arm = _axes(linkage, link, parameters, q, u)
        if "velocity" in wanted:
            velocity = _numbers(joint, "velocity", wanted["velocity"], 3)
        for axis, x in rates.items():
            velocity[axis] = x
        u[moving] = toward_a.T @ velocity - arm
        held_u += moving


def _axes(
    linkage: Linkage, link: Link, parameters: Mapping[str, float], q: Array, u: Array
) -> tuple[Array, Array]:
    """From the link's own axes to those of A, and the velocity of B's origin by rotation alone [m/s]."""
    left = numbers(linkage.maps[link.index].left, parameters)
    R = np.array(from_quaternion(q[link.q + 3 : link.q + 7].tolist()), dtype=float)
    arm = np.cross(u[link.u : link.u + 3], numbers(linkage.joint_frames[link.index][1].p, parameters))
    return left.T @ R, arm


def _components(joint: Joint, wanted: dict[str, Any]) -> dict[str, dict[int, float]]:
    """Positions and velocities given one axis at a time, taken out of `wanted`."""
    found: dict[str, dict[int, float]] = {"position": {}, "velocity": {}}
    for axis, name in enumerate(joint.scalar_coordinates):
        for which, key in (("position", name), ("velocity", f"{name}_rate")):
            if key in wanted:
                found[which][axis] = float(_numbers(joint, key, wanted.pop(key), 1)[0])
    return found


def _numbers(joint: Joint, name: str, given: Any, size: int) -> Array:
    try:
        values = np.asarray(given, dtype=float).ravel()
    except (TypeError, ValueError) as error:
        raise ModelError(f"initial: {name!r} of joint {joint.name!r}: {given!r} are not numbers") from error
    if values.size != size or not np.isfinite(values).all():
        raise ModelError(f"initial: {name!r} of joint {joint.name!r} needs {size} finite numbers")
    for x in values.tolist():
        checks.number(f"initial: {name!r} of joint {joint.name!r}", x)
    return values

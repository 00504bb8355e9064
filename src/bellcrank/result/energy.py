"""Energies and powers of a mechanism, element by element."""

from __future__ import annotations

from typing import Any

from bellcrank.math.tuples import Mat, Vec, dot, scale, times
from bellcrank.mechanics.constraints import Seen
from bellcrank.mechanics.forces import (
    bushing_motion,
    coordinate_force,
    line_force,
    on_body,
    point_arguments,
    stretch,
    tyre_forces,
)
from bellcrank.mechanics.joint_coordinates import joint_coordinate
from bellcrank.mechanics.pressing import Pressing
from bellcrank.model import forces as described
from bellcrank.program.functions import maximum
from bellcrank.program.trace import Scalar
from bellcrank.quantities.snapshot import Snapshot, total


def kinetic(s: Snapshot) -> Scalar:
    """Kinetic energy [J]."""
    return total([_kinetic(s, name) for name in s.system.bodies])


def _kinetic(s: Snapshot, name: str) -> Scalar:
    link = s.linkage.placements[name].link
    if link < 0:
        return 0.0
    w, v = s.kin.w(link), s.kin.v(link)
    member = s.member(name)
    if member is not None:
        return member.kinetic(w, v, s.kin.eta_rates(s.linkage.links[link]))
    n, f = s.inertia(name).momentum(w, v)
    return 0.5 * (dot(n, w) + dot(f, v))


def gravity(s: Snapshot) -> Scalar:
    """Potential energy of the weights, zero at the world's origin [J]."""
    parts: list[Scalar] = []
    for name, body in s.system.bodies.items():
        p = s.center(name).position()
        parts.append(-(s.kin.number(body.mass) * dot(s.gravity, p)))
    return total(parts)


def stored(s: Snapshot, force: described.Force) -> Scalar | None:
    """Energy stored in a force element [J], or None where it stores none."""
    kin = s.kin
    if isinstance(force, described.Spring):
        _, length, _ = line_motion(s, force)
        x = length - kin.number(force.free_length)
        return 0.5 * kin.number(force.stiffness) * (x * x)
    if isinstance(force, described.LineForce):
        return None if force.energy is None else kin.number(force.energy(line_motion(s, force)[1]))
    if isinstance(force, described.TorsionSpring):
        x = joint_coordinate(s.linkage, kin, force.joint, force.coordinate)[0] - kin.number(force.free_angle)
        return 0.5 * kin.number(force.stiffness) * (x * x)
    if isinstance(force, described.Bushing):
        gap, turn, _, _, _ = bushing_state(s, force)
        k = [kin.number(x) for x in force.stiffness]
        parts = [0.5 * k[i] * (gap[i] * gap[i]) for i in range(3)]
        return total(parts + [0.5 * k[3 + i] * (turn[i] * turn[i]) for i in range(3)])
    if isinstance(force, described.GroundSpring) and force.road is None:
        c = s.point(force.frame).position()
        depth = maximum(0.0, kin.number(force.radius) - c[2])
        return 0.5 * kin.number(force.stiffness) * (depth * depth)
    if isinstance(force, described.ContactForce):
        return Pressing.of(force, s.linkage, kin).energy
    return None


def strain(s: Snapshot) -> Scalar:
    """Energy stored in all flexible members [J]."""
    members = [s.member(name) for name in s.system.bodies]
    return total([m.strain_energy() for m in members if m is not None])


def material_power(s: Snapshot) -> Scalar:
    """Power of the damping of flexible members [W], negative."""
    parts: list[Scalar] = []
    for name in s.system.bodies:
        member = s.member(name)
        if member is not None:
            rates = s.kin.eta_rates(s.linkage.links[s.linkage.placements[name].link])
            still = [0.0] * len(rates)
            for all_of_it, elastic, rate in zip(
                member.elastic_forces(rates), member.elastic_forces(still), rates, strict=True
            ):
                parts.append((all_of_it - elastic) * rate)
    return total(parts)


def line_motion(s: Snapshot, force: Any) -> tuple[Vec, Scalar, Scalar]:
    """Direction, length and rate of a spring or line force."""
    a, b = on_body(s.linkage, force.a), on_body(s.linkage, force.b)
    base = s.linkage.common(a.link, b.link)
    return stretch(s.kin, Seen(s.kin, a, base), Seen(s.kin, b, base))


def bushing_state(s: Snapshot, force: described.Bushing) -> tuple[Vec, Vec, Vec, Vec, Mat]:
    """Displacement, rotation, their rates, and the axes of a."""
    a, b = on_body(s.linkage, force.a), on_body(s.linkage, force.b)
    base = s.linkage.common(a.link, b.link)
    A, B = Seen(s.kin, a, base), Seen(s.kin, b, base)
    axes_a: Mat = (A.axis(0), A.axis(1), A.axis(2))
    axes_b: Mat = (B.axis(0), B.axis(1), B.axis(2))
    return (*bushing_motion(s.kin, A, B, axes_a, axes_b, base), axes_a)


def power(s: Snapshot, force: described.Force) -> Scalar:
    """Power a force element gives to the mechanism [W], all of it: stored and dissipated."""
    kin = s.kin
    if isinstance(force, described.Spring | described.LineForce):
        _, length, rate = line_motion(s, force)
        return line_force(force, kin, length, rate, s.t) * rate
    if isinstance(force, described.JointForce | described.TorsionSpring):
        x, rate = joint_coordinate(s.linkage, kin, force.joint, force.coordinate)
        return coordinate_force(force, kin, x, rate, s.t) * rate
    if isinstance(force, described.Bushing):
        return _bushing_power(s, force)
    if isinstance(force, described.GroundSpring):
        return _tyre_power(s, force)
    if isinstance(force, described.ContactForce):
        return Pressing.of(force, s.linkage, kin).working
    values = applied(s, force)
    point = s.point(force.frame)
    if isinstance(force, described.AppliedForce):
        return dot(values, point.velocity())
    return dot(values, s.angular_velocity(force.frame.body.name))


def _bushing_power(s: Snapshot, force: described.Bushing) -> Scalar:
    """Work of the six components; the moment works on the true relative angular velocity."""
    gap, turn, gap_rate, turn_rate, _ = bushing_state(s, force)
    k, c = [s.kin.number(x) for x in force.stiffness], [s.kin.number(x) for x in force.damping]
    parts = [-(k[i] * gap[i] + c[i] * gap_rate[i]) * gap_rate[i] for i in range(3)]
    return total(parts + [-(k[3 + i] * turn[i] + c[3 + i] * turn_rate[i]) * turn_rate[i] for i in range(3)])


def applied(s: Snapshot, force: described.AppliedForce | described.AppliedTorque) -> Vec:
    """An applied force or torque in world axes."""
    arguments = point_arguments(force.function, s.linkage, s.kin, force.frame, s.t)
    values = s.kin.vector(force.function(**arguments))
    return times(s.rotation(force.frame.body.name), values) if force.axes == described.Axes.BODY else values


def tyre(s: Snapshot, force: described.GroundSpring) -> tuple[Scalar, tuple[Scalar, Scalar], Scalar]:
    """Load, horizontal force and road height under a wheel."""
    name = force.frame.body.name
    point = s.point(force.frame)
    spin = times(s.rotation(name), s.kin.vector(force.axis))
    return tyre_forces(force, s.kin, s.t, point.position(), point.velocity(), s.angular_velocity(name), spin)


def _tyre_power(s: Snapshot, force: described.GroundSpring) -> Scalar:
    load, slip, height = tyre(s, force)
    point = s.point(force.frame)
    c, v, w = point.position(), point.velocity(), s.angular_velocity(force.frame.body.name)
    drop = height - c[2]
    at_ground = (v[0] + w[1] * drop, v[1] - w[0] * drop, v[2])
    return dot((slip[0], slip[1], load), at_ground)


def force_vector(s: Snapshot, force: Any) -> Vec:
    """The force of a line element on point b, in world axes."""
    a, b = on_body(s.linkage, force.a), on_body(s.linkage, force.b)
    A, B = Seen(s.kin, a, -1), Seen(s.kin, b, -1)
    e, length, rate = stretch(s.kin, A, B)
    return scale(line_force(force, s.kin, length, rate, s.t), e)

"""Quantities of a mechanism as a whole: energies, powers, momenta, how well its loops are closed."""

from __future__ import annotations

from bellcrank.math.tuples import ZERO, Vec, add, cross, dot, scale, sub, times
from bellcrank.mechanics.dynamics import modal_wrench
from bellcrank.program.functions import maximum
from bellcrank.program.trace import Scalar, function
from bellcrank.quantities import energy
from bellcrank.quantities.multipliers import row_over_speeds
from bellcrank.quantities.snapshot import Snapshot, total
from bellcrank.quantities.traceable import XYZ, Traceable


def whole(s: Snapshot) -> dict[str, Traceable]:
    """Energies, powers, momenta and residuals by name."""
    return {
        "energy.kinetic": Traceable(lambda: [energy.kinetic(s)], (), "J"),
        "energy.gravity": Traceable(lambda: [energy.gravity(s)], (), "J"),
        "energy.stored": Traceable(lambda: [_stored(s)], (), "J"),
        "energy.total": Traceable(lambda: [energy.kinetic(s) + energy.gravity(s) + _stored(s)], (), "J"),
        "power.forces": Traceable(lambda: [_lost(s)], (), "W"),
        "power.contacts": Traceable(lambda: [_rubbed(s)], (), "W", True),
        "power.drivers": Traceable(lambda: [_driven(s)], (), "W", True, True),
        "center_of_mass": Traceable(lambda: _center(s), XYZ, "m"),
        "momentum": Traceable(lambda: _momentum(s), XYZ, "kg m/s"),
        "angular_momentum": Traceable(lambda: _angular_momentum(s), XYZ, "kg m^2/s"),
        "constraints.position": Traceable(lambda: [_position_residual(s)], (), "m"),
        "constraints.velocity": Traceable(lambda: [_velocity_residual(s)], (), "m/s"),
    }


def _stored(s: Snapshot) -> Scalar:
    parts = [energy.stored(s, f) for f in s.system.forces.values()]
    return total([*(e for e in parts if e is not None), energy.strain(s)])


def _lost(s: Snapshot) -> Scalar:
    """Power of all forces that is not the rate of a stored energy: what changes the total energy."""
    lost = [energy.nonconservative_power(s, f) for f in s.system.forces.values()]
    return total([*lost, energy.material_power(s)])


def _rubbed(s: Snapshot) -> Scalar:
    """Power of lasting contacts: of their friction, and of all forces where groups collide."""
    parts = [c.power() for c in s.contacts.values()]
    for name, (force, moment) in s.collided.items():
        frame = s.system.colliding[name]
        origin = s.point(frame)
        about = sub(moment, cross(origin.position(), force))
        turning = s.kin.motion(s.linkage.seat(frame).link).w
        parts.append(dot(force, origin.velocity()) + dot(about, turning))
    return total(parts)


def _driven(s: Snapshot) -> Scalar:
    return total([m * e.nu for m, e in zip(s.mu, s.equations, strict=True)])


def _center(s: Snapshot) -> Vec:
    """Of all bodies that have mass, in world axes."""
    h, mass = ZERO, total([])
    for name, body in s.system.bodies.items():
        if s.linkage.placements[name].link < 0:
            continue
        member = s.member(name)
        own: Scalar = s.kin.number(body.mass) if member is None else member.inertia().m
        h, mass = add(h, scale(own, s.center(name).position())), mass + own
    # Without any mass there is no centre, and no motion either.
    return ZERO if isinstance(mass, float) and mass == 0.0 else scale(1.0 / mass, h)


def _momentum(s: Snapshot) -> Vec:
    p = ZERO
    for name, body in s.system.bodies.items():
        link = s.linkage.placements[name].link
        if s.member(name) is None:
            v = s.center(name).velocity()
            p = add(p, scale(s.kin.number(body.mass), v))
        else:
            p = add(p, times(s.kin.pose(link).R, _member_momentum(s, name)[1]))
    return p


def _member_momentum(s: Snapshot, name: str) -> tuple[Vec, Vec]:
    """Angular momentum about the floating frame's origin and momentum, in its axes."""
    link = s.linkage.links[s.linkage.placements[name].link]
    member = s.member(name)
    assert member is not None
    n, f = member.inertia().momentum(s.kin.w(link.index), s.kin.v(link.index))
    dn, df = modal_wrench(member, s.kin.eta_rates(link))
    return add(n, dn), add(f, df)


def _angular_momentum(s: Snapshot) -> Vec:
    h = ZERO
    for name in s.system.bodies:
        link = s.linkage.placements[name].link
        if link < 0:
            continue
        if s.member(name) is None:
            n, f = s.inertia(name).momentum(s.kin.w(link), s.kin.v(link))
        else:
            n, f = _member_momentum(s, name)
        pose = s.kin.pose(link)
        n, f = times(pose.R, n), times(pose.R, f)
        h = add(h, add(n, cross(pose.p, f)))
    return h


def _position_residual(s: Snapshot) -> Scalar:
    worst: Scalar = 0.0
    for e in s.equations:
        worst = maximum(worst, function("abs", e.residual))
    return worst


def _velocity_residual(s: Snapshot) -> Scalar:
    worst: Scalar = 0.0
    for e in s.equations:
        row = row_over_speeds(s, e)
        rate = total([x * s.u[i] for i, x in row.items()]) - e.nu
        worst = maximum(worst, function("abs", rate))
    return worst

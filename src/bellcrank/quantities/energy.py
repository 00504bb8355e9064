"""Energies and powers of a mechanism, element by element."""

from __future__ import annotations

from bellcrank.math.tuples import dot
from bellcrank.mechanics.dynamics import armature_squares
from bellcrank.mechanics.links import Link
from bellcrank.mechanics.pressing import Pressing
from bellcrank.model.forces import ContactForce, Force
from bellcrank.program.derive import directional
from bellcrank.program.trace import Expr, Scalar
from bellcrank.quantities.snapshot import Snapshot, total


def kinetic(s: Snapshot) -> Scalar:
    """Kinetic energy [J]."""
    armatures = [_of_armature(s, link) for link in s.linkage.links if link.armature is not None]
    return total([*(_kinetic(s, name) for name in s.system.bodies), *armatures])


def _of_armature(s: Snapshot, link: Link) -> Scalar:
    speeds = [s.kin.speed(link, k) for k in range(link.kind.speeds)]
    squares = armature_squares(s.kin, link)
    return total([0.5 * (square.weight * square.over(speeds) * square.over(speeds)) for square in squares])


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


def stored(s: Snapshot, force: Force) -> Scalar | None:
    """Energy stored in a force element [J], or None where it stores none."""
    if isinstance(force, ContactForce):
        return Pressing.of(force, s.linkage, s.kin).energy
    return force.stored(s)


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


def power(s: Snapshot, force: Force) -> Scalar:
    """Power a force gives to the mechanism [W], all of it: stored and dissipated."""
    if isinstance(force, ContactForce):
        return Pressing.of(force, s.linkage, s.kin).working
    return force.power(s)


def nonconservative_power(s: Snapshot, force: Force) -> Scalar:
    """Power of a force [W] less the rate at which it gives back stored energy."""
    kept = stored(s, force)
    if kept is None or not isinstance(kept, Expr):
        return power(s, force)
    return power(s, force) + energy_rate(s, kept)


def energy_rate(s: Snapshot, stored: Expr) -> Scalar:
    """The rate of an energy along the motion, exactly: its derivative by q times q-dot."""
    tangents = {q.id: rate for q, rate in zip(s.q, s.kin.position_rates(), strict=True)}
    tangents[s.t.id] = 1.0
    return directional([stored], tangents)[0]

"""What each kind of force does to a mechanism: from the user's description to loads on links."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from bellcrank.math.tuples import (
    Mat,
    Vec,
    add,
    cross,
    dot,
    mat,
    matmul,
    norm,
    scale,
    sub,
    times,
    transpose,
    transposed_times,
    vec,
)
from bellcrank.mechanics.constraints import Marker, Seen, marker
from bellcrank.mechanics.functions import substituted
from bellcrank.mechanics.joint_coordinates import joint_coordinate, loaded_direction
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import GROUND, Linkage
from bellcrank.mechanics.loads import Loads
from bellcrank.mechanics.pressing import press
from bellcrank.model import forces as described
from bellcrank.program.derive import directional
from bellcrank.program.functions import maximum, where
from bellcrank.program.graph import Graph
from bellcrank.program.trace import Expr, Scalar, compare

if TYPE_CHECKING:
    from bellcrank.model.frames import Frame

Effect: TypeAlias = Callable[[Kinematics, Scalar, Loads], None]
"""Adds the loads of one force in one state at one time."""


def effect(force: described.Force, linkage: Linkage) -> Effect:
    """The loads of a described force on the links of a mechanism."""
    return partial(_EFFECTS[type(force)], force, linkage)


def on_body(linkage: Linkage, frame: Frame) -> Marker:
    """A frame of a body as a marker on its link."""
    return marker(linkage.seat(frame), mat(frame.rotation), vec(frame.position))


def stretch(kin: Kinematics, a: Seen, b: Seen) -> tuple[Vec, Scalar, Scalar]:
    """Unit vector from a to b, distance and its rate."""
    d = sub(b.point, a.point)
    length = norm(d)
    e = scale(1.0 / length, d)
    return e, length, dot(e, sub(b.velocity(), a.velocity()))


def _line(force: Any, linkage: Linkage, kin: Kinematics, t: Scalar, loads: Loads) -> None:
    a, b = on_body(linkage, force.a), on_body(linkage, force.b)
    base = linkage.common(a.link, b.link)
    A, B = Seen(kin, a, base), Seen(kin, b, base)
    loads.line(A, B, base, lambda length, rate: line_force(force, kin, length, rate, t))


def line_force(force: Any, kin: Kinematics, length: Scalar, rate: Scalar, t: Scalar) -> Scalar:
    """The force that pushes the two points of a spring or line force apart [N]."""
    if isinstance(force, described.LineForce):
        return kin.number(force.function(length, rate, t))
    k, c, free = (kin.number(x) for x in (force.stiffness, force.damping, force.free_length))
    return -(k * (length - free) + c * rate)


def coordinate_force(force: Any, kin: Kinematics, x: Scalar, rate: Scalar, t: Scalar) -> Scalar:
    """The force or torque of a joint force or torsion spring along its coordinate."""
    if isinstance(force, described.JointForce):
        return kin.number(force.function(x, rate, t))
    k, c, free = (kin.number(v) for v in (force.stiffness, force.damping, force.free_angle))
    return -(k * (x - free) + c * rate)


def _joint(force: Any, linkage: Linkage, kin: Kinematics, t: Scalar, loads: Loads) -> None:
    x, rate = joint_coordinate(linkage, kin, force.joint, force.coordinate)
    push = coordinate_force(force, kin, x, rate, t)
    link = next((k for k in linkage.links if k.joint == force.joint.name), None)
    if link is not None and not link.kind.floats:
        loads.on_speed(linkage.coordinate(force.joint.name, force.coordinate)[2], push)
        return
    a, b, base, at, direction, turning = loaded_direction(linkage, kin, force.joint, force.coordinate)
    along = scale(push, direction)
    zero: Vec = (0.0, 0.0, 0.0)
    pair = (zero, along) if turning else (along, zero)
    loads.between(a, b, base, at, at, *pair)


def _bushing(force: described.Bushing, linkage: Linkage, kin: Kinematics, t: Scalar, loads: Loads) -> None:
    a, b = on_body(linkage, force.a), on_body(linkage, force.b)
    base = linkage.common(a.link, b.link)
    A, B = Seen(kin, a, base), Seen(kin, b, base)
    axes_a: Mat = (A.axis(0), A.axis(1), A.axis(2))
    axes_b: Mat = (B.axis(0), B.axis(1), B.axis(2))
    gap, turn, gap_rate, turn_rate = bushing_motion(kin, A, B, axes_a, axes_b, base)
    k, c = [kin.number(x) for x in force.stiffness], [kin.number(x) for x in force.damping]
    f = vec([-(k[i] * gap[i] + c[i] * gap_rate[i]) for i in range(3)])
    m = vec([-(k[3 + i] * turn[i] + c[3 + i] * turn_rate[i]) for i in range(3)])
    # Both sides act at b's origin, so that force and moment balance exactly.
    loads.between(
        a.link, b.link, base, B.point, B.point, transposed_times(axes_a, f), transposed_times(axes_a, m)
    )


def bushing_motion(
    kin: Kinematics, A: Seen, B: Seen, axes_a: Mat, axes_b: Mat, base: int
) -> tuple[Vec, Vec, Vec, Vec]:
    """Displacement, small rotation and their rates of b in the axes of a (rows of `axes_a`)."""
    d = sub(B.point, A.point)
    w_a, w_b = kin.motion(A.link, base).w, kin.motion(B.link, base).w
    R = matmul(axes_a, transpose(axes_b))
    turn = scale(0.5, vec([R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1]]))
    gap_rate = times(axes_a, sub(sub(B.velocity(), A.velocity()), cross(w_a, d)))
    return times(axes_a, d), turn, gap_rate, times(axes_a, sub(w_b, w_a))


def _applied(
    force: described.AppliedForce | described.AppliedTorque,
    linkage: Linkage,
    kin: Kinematics,
    t: Scalar,
    loads: Loads,
) -> None:
    at = on_body(linkage, force.frame)
    values = vec(
        [
            kin.number(x)
            for x in force.function(**point_arguments(force.function, linkage, kin, force.frame, t))
        ]
    )
    zero: Vec = (0.0, 0.0, 0.0)
    is_force = isinstance(force, described.AppliedForce)
    if force.axes == described.Axes.BODY:
        placement = linkage.seat(force.frame)
        local = times(mat_in(kin, placement.r), values)
    else:
        local = transposed_times(kin.pose(at.link, GROUND).R, values)
    loads.on_link(at.link, kin.vector(at.p), *((local, zero) if is_force else (zero, local)))


def mat_in(kin: Kinematics, m: Mat) -> Mat:
    """A constant matrix of the model in this trace."""
    return (kin.vector(m[0]), kin.vector(m[1]), kin.vector(m[2]))


def point_arguments(
    function: Any, linkage: Linkage, kin: Kinematics, frame: Frame, t: Scalar
) -> Mapping[str, Any]:
    """The quantities a user function of a point asked for, in world axes."""
    wants = getattr(
        function, "wants", frozenset({"t", "position", "velocity", "rotation", "angular_velocity"})
    )
    at = on_body(linkage, frame)
    seen = Seen(kin, at, GROUND)
    found: dict[str, Any] = {}
    if "t" in wants:
        found["t"] = t
    if "position" in wants:
        found["position"] = seen.point
    if "velocity" in wants:
        found["velocity"] = seen.velocity()
    if "rotation" in wants:
        body = linkage.seat(frame)
        found["rotation"] = matmul(kin.pose(at.link, GROUND).R, mat_in(kin, body.r))
    if "angular_velocity" in wants:
        found["angular_velocity"] = kin.motion(at.link, GROUND).w
    return found


def _ground(
    force: described.GroundSpring, linkage: Linkage, kin: Kinematics, t: Scalar, loads: Loads
) -> None:
    """A wheel's tyre; its force is put on the wheel's carrier, so that the spin of the wheel never enters.

    The wheel is seen from the body that floats (the chassis) where there is one: loops see its carrier from
    there too, and vectors are turned into the world by one rotation instead of a chain of them.
    """
    centre = on_body(linkage, force.frame)
    wheel = carrier = centre.link
    if wheel != GROUND and linkage.links[wheel].kind.spins:
        carrier = linkage.links[wheel].parent
    floating = _floating(linkage, carrier)
    world, seen = kin.pose(floating), Seen(kin, centre, floating)
    w_base, v_base = kin.w(floating), kin.v(floating)
    v = add(seen.velocity(), add(v_base, cross(w_base, seen.point)))
    w = add(w_base, kin.motion(wheel, floating).w)
    axis = times(mat_in(kin, linkage.seat(force.frame).r), kin.vector(force.axis))
    spin = times(kin.pose(wheel, floating).R, axis)
    c = add(world.p, times(world.R, seen.point))
    load, slip_force, height = tyre_forces(
        force, kin, t, c, times(world.R, v), times(world.R, w), times(world.R, spin)
    )
    drop = height - c[2]
    F = transposed_times(world.R, (*slip_force, load))
    m = transposed_times(world.R, (-(drop * slip_force[1]), drop * slip_force[0], 0.0))
    R, at = kin.pose(carrier, floating).R, Seen(kin, centre, carrier).point
    loads.seen_from(wheel, carrier, at, transposed_times(R, F), transposed_times(R, m))


def _floating(linkage: Linkage, link: int) -> int:
    """The innermost link on the way to the ground where that one is free, else the ground."""
    inmost = linkage.path(link)[-1] if link != GROUND else GROUND
    return inmost if inmost != GROUND and linkage.links[inmost].kind.floats else GROUND


def tyre_forces(
    force: described.GroundSpring, kin: Kinematics, t: Scalar, c: Vec, v: Vec, w: Vec, a: Vec
) -> tuple[Scalar, tuple[Scalar, Scalar], Scalar]:
    """Load, horizontal force components and road height under a wheel centre (all world axes)."""
    h, h_x, h_y = _road(force, kin, t, c)
    depth = kin.number(force.radius) + h - c[2]
    k, damping = kin.number(force.stiffness), kin.number(force.damping)
    closing = h_x * v[0] + h_y * v[1] - v[2]
    load = where(compare("lt", 0.0, depth), maximum(0.0, k * depth + damping * closing), 0.0)
    drop = h - c[2]
    v_x, v_y = v[0] + w[1] * drop, v[1] - w[0] * drop
    # Along and across the wheel, both directions left unnormalised: their length comes in squared only.
    e = (a[1], -a[0])
    unit = load / (a[0] * a[0] + a[1] * a[1])
    share = 1.0 / kin.number(force.reference_load)
    along = -(unit * (kin.number(force.longitudinal) * share)) * (v_x * e[0] + v_y * e[1])
    across = -(unit * (kin.number(force.lateral) * share)) * (v_y * e[0] - v_x * e[1])
    return load, (along * e[0] - across * e[1], along * e[1] + across * e[0]), h


def _road(force: described.GroundSpring, kin: Kinematics, t: Scalar, c: Vec) -> tuple[Scalar, Scalar, Scalar]:
    """Road height and its slopes, the slopes by exact differentiation of the user's function."""
    if force.road is None:
        return 0.0, 0.0, 0.0
    road = Graph()
    x, y, clock = road.input("x."), road.input("y."), road.input("t.")
    height = force.road(x, y, clock)
    if not isinstance(height, Expr):
        return height, 0.0, 0.0
    height = road.bring(height)
    outputs = [height, directional([height], {x.id: 1.0})[0], directional([height], {y.id: 1.0})[0]]
    values = substituted(outputs, {x.id: c[0], y.id: c[1], clock.id: t}, kin)
    return values[0], values[1], values[2]


_EFFECTS: Mapping[type, Callable[..., None]] = {
    described.LineForce: _line,
    described.Spring: _line,
    described.JointForce: _joint,
    described.TorsionSpring: _joint,
    described.Bushing: _bushing,
    described.AppliedForce: _applied,
    described.AppliedTorque: _applied,
    described.GroundSpring: _ground,
    described.ContactForce: press,
    described.FieldContact: press,
}

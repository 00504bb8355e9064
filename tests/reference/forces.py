"""The forces of :mod:`reference.newton_euler`: numbers from the user's own functions, one force at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.spatial.transform import Rotation

from bellcrank.program.graph import Graph
from reference.engine import Array, Engine, members, number, numbers
from reference.jets import Jet, evaluate


def add_forces(engine: Engine, f: Array) -> None:
    """Add every force of the system to f (six numbers a body, about the origin, world axes)."""
    for force in members(engine.system.forces):
        FORCES[type(force).__name__](engine, f, force)


def add_along(engine: Engine, f: Array, name_a: str, name_b: str, quantity: Jet, value: float) -> None:
    """A force `value` along a scalar `quantity` of the poses of two bodies: virtual work."""
    row = np.zeros((1, f.size))
    engine.add_unit_twists(row, name_a, name_b, Jet(quantity.f[:, None], quantity.f1[:, None]))
    f += value * row[0]


def add_at(engine: Engine, f: Array, name: str, point: Array, force: Array, torque: Array) -> None:
    """A force at a world point, and a torque, on one body."""
    if name in engine.index:
        i = engine.index[name]
        f[i : i + 3] += force
        f[i + 3 : i + 6] += torque + np.cross(point - engine.poses[name][0], force)


def line_force(engine: Engine, f: Array, force: Any) -> None:
    """A force of length, rate and time that pushes two points apart."""
    length = distance(engine, force)
    value = call_in_order(engine, force.function, float(length.f[0]), float(length.f1[0]))
    add_along(engine, f, force.a.body.name, force.b.body.name, length, value)


def spring(engine: Engine, f: Array, force: Any) -> None:
    """A linear spring with damper between two points."""
    length = distance(engine, force)
    k, c, free = (number(x, engine.values) for x in (force.stiffness, force.damping, force.free_length))
    value = -k * (length.f[0] - free) - c * length.f1[0]
    add_along(engine, f, force.a.body.name, force.b.body.name, length, float(value))


def distance(engine: Engine, force: Any) -> Jet:
    """The length between the two points of a force."""
    r_a, _ = engine.frame(force.a, 0)
    r_b, _ = engine.frame(force.b, 1)
    gap = r_b - r_a
    return (gap[:, 0] * gap[:, 0] + gap[:, 1] * gap[:, 1] + gap[:, 2] * gap[:, 2]).sqrt()


def joint_force(engine: Engine, f: Array, force: Any) -> None:
    """A force or torque along a joint coordinate."""
    c = engine.coordinate(force.joint, force.coordinate)
    value = call_in_order(engine, force.function, float(c.f[0]), float(c.f1[0]))
    add_along(engine, f, force.joint.a.body.name, force.joint.b.body.name, c, value)


def torsion_spring(engine: Engine, f: Array, force: Any) -> None:
    """A linear spring with damper along a joint coordinate."""
    c = engine.coordinate(force.joint, force.coordinate)
    k, damping, free = (number(x, engine.values) for x in (force.stiffness, force.damping, force.free_angle))
    value = -k * (c.f[0] - free) - damping * c.f1[0]
    add_along(engine, f, force.joint.a.body.name, force.joint.b.body.name, c, float(value))


def rotation_spring(engine: Engine, f: Array, force: Any) -> None:
    """A torque along the rotation vector between two frames, and along their relative angular velocity."""
    _, C = engine.relative(force.a, force.b)
    spin = C.f1[0] @ C.f[0].T
    w = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    turn = Rotation.from_matrix(C.f[0]).as_rotvec()
    k, c = number(force.stiffness, engine.values), number(force.damping, engine.values)
    torque = engine.frame(force.a, 0)[1].f[0] @ (-k * turn - c * w)
    for name, sign in ((force.a.body.name, -1.0), (force.b.body.name, 1.0)):
        add_at(engine, f, name, np.zeros(3), np.zeros(3), sign * torque)


def bushing(engine: Engine, f: Array, force: Any) -> None:
    """Six springs with dampers in the axes of a, acting at the origin of b."""
    k, c = numbers(force.stiffness, engine.values), numbers(force.damping, engine.values)
    d, C = engine.relative(force.a, force.b)
    half = (C.f[0] - C.f[0].T) / 2
    spin = C.f1[0] @ C.f[0].T
    angle = np.array([half[2, 1], half[0, 2], half[1, 0]])
    angle_rate = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    r_b, _ = engine.frame(force.b, 1)
    _, R_a = engine.frame(force.a, 0)
    at = np.array([*d.f[0], *angle])
    axes = ("x", "y", "z", "rx", "ry", "rz")
    tables = np.array([tabulated(force, axis, x) for axis, x in zip(axes, at, strict=True)])
    push = R_a.f[0] @ (-k[:3] * d.f[0] - c[:3] * d.f1[0] - tables[:3])
    twist = R_a.f[0] @ (-k[3:] * angle - c[3:] * angle_rate - tables[3:])
    add_at(engine, f, force.b.body.name, r_b.f[0], push, twist)
    add_at(engine, f, force.a.body.name, r_b.f[0], -push, -twist)


def tabulated(force: Any, axis: str, x: float) -> float:
    """A bushing's table by SciPy, straight on beyond its ends."""
    if axis not in (force.tables or {}):
        return 0.0
    xs, ys = np.array(force.tables[axis]).T
    spline = PchipInterpolator(xs, ys)
    end = np.clip(x, xs[0], xs[-1])
    return float(spline(end) + spline(end, 1) * (x - end))


def applied_force(engine: Engine, f: Array, force: Any) -> None:
    """A force at a point."""
    point, value = applied(engine, force)
    add_at(engine, f, force.frame.body.name, point, value, np.zeros(3))


def applied_torque(engine: Engine, f: Array, force: Any) -> None:
    """A torque on a body."""
    point, value = applied(engine, force)
    add_at(engine, f, force.frame.body.name, point, np.zeros(3), value)


def applied(engine: Engine, force: Any) -> tuple[Array, Array]:
    """The point, and the three components of the user's function in world axes."""
    position, _ = engine.frame(force.frame, 0)
    R, w = body_rotation(engine, force.frame.body)
    result = force.function(
        t=float(engine.t), position=position.f[0], velocity=position.f1[0], rotation=R, angular_velocity=w
    )
    value = numbers(result, engine.values)
    return position.f[0], R @ value if force.axes == "body" else value


def body_rotation(engine: Engine, body: Any) -> tuple[Array, Array]:
    """Rotation and angular velocity of a body."""
    if body.name in engine.index:
        return engine.poses[body.name][1], engine.velocities[body.name][1]
    return numbers(body.rotation, engine.values), np.zeros(3)


def ground_spring(engine: Engine, f: Array, force: Any) -> None:
    """A wheel on the road: one-sided normal force and slip forces at the point below the centre."""
    names = ("radius", "stiffness", "damping", "longitudinal", "lateral", "reference_load")
    radius, stiffness, damping, longitudinal, lateral, load = (
        number(getattr(force, name), engine.values) for name in names
    )
    centre, _ = engine.frame(force.frame, 0)
    R, w = body_rotation(engine, force.frame.body)
    c, v = centre.f[0], centre.f1[0]
    axis = R @ numbers(force.axis, engine.values)
    h, h_x, h_y = road(engine, force.road, c)
    depth = radius + h - c[2]
    normal = max(0.0, stiffness * depth + damping * (h_x * v[0] + h_y * v[1] - v[2])) if depth > 0 else 0.0
    up = np.array([0.0, 0.0, 1.0])
    e_x = np.cross(axis, up)
    e_x /= np.linalg.norm(e_x)
    e_y = np.cross(up, e_x)
    contact = np.array([c[0], c[1], h])
    slip = v + np.cross(w, contact - c)
    push = normal * up - normal / load * (longitudinal * (slip @ e_x) * e_x + lateral * (slip @ e_y) * e_y)
    add_at(engine, f, force.frame.body.name, contact, push, np.zeros(3))


def road(engine: Engine, function: Any, c: Array) -> tuple[float, float, float]:
    """Height and slopes of the road."""
    if function is None:
        return 0.0, 0.0, 0.0
    graph = Graph()
    height = function(*(graph.input(f"reference {name}") for name in "xyt"))
    along = [
        evaluate(
            height,
            {
                **engine.values,
                "reference x": Jet(c[0], dx),
                "reference y": Jet(c[1], dy),
                "reference t": engine.t,
            },
        )
        for dx, dy in ((1.0, 0.0), (0.0, 1.0))
    ]
    return float(along[0].f), float(along[0].f1), float(along[1].f1)


def call_in_order(engine: Engine, function: Any, value: float, rate: float) -> float:
    """A user's function of a coordinate, its rate and time."""
    return float(number(function(value, rate, float(engine.t)), engine.values))


FORCES = {
    "LineForce": line_force,
    "Spring": spring,
    "JointForce": joint_force,
    "TorsionSpring": torsion_spring,
    "Bushing": bushing,
    "RotationSpring": rotation_spring,
    "AppliedForce": applied_force,
    "AppliedTorque": applied_torque,
    "GroundSpring": ground_spring,
}

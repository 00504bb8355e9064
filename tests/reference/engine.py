"""The bodies of one state as jets, and the constraint equations written on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bellcrank.program.graph import Graph
from reference.constraints import described_rows
from reference.jets import Jet, atan2, evaluate, stack

Array: TypeAlias = npt.NDArray[np.float64]
ByBody: TypeAlias = Mapping[str, tuple[Array, Array]]

RANK_TOLERANCE = 1e-9
"""Singular values of the constraint Jacobian below this part of the largest are redundant rows."""
TIME = "time of the reference"
"""The input of traced functions of time; no parameter of a model is called so."""


class Singular(ArithmeticError):
    """The accelerations are not determined, or the velocities break the constraints."""


SCALAR_COORDINATES: dict[str, tuple[str, ...]] = {
    "fixed": (),
    "revolute": ("angle",),
    "prismatic": ("displacement",),
    "cylindrical": ("angle", "displacement"),
    "screw": ("angle",),
    "universal": ("angle_a", "angle_b"),
    "planar": ("x", "y", "angle"),
    "spherical": (),
    "free": ("x", "y", "z"),
    "distance": (),
}


class Engine:
    """The jets of all bodies of one state, and the rows built on them.

    Jets carry a leading axis of 13 motions: number 0 is the motion of the state; numbers 1 to 6 and
    7 to 12 move the first and the second body of a pair with unit twists, for the Jacobian.
    """

    def __init__(
        self,
        system: Any,
        parameters: Mapping[str, float] | None,
        t: float,
        poses: ByBody,
        velocities: ByBody,
        body_accelerations: Mapping[str, tuple[Array, Array]] | None = None,
    ) -> None:
        self.system = system
        self.t = t
        self.values = parameter_values(system, parameters)
        self.bodies = moving_bodies(system)
        self.joints = members(system.joints)
        self.index = {body.name: 6 * i for i, body in enumerate(self.bodies)}
        self.poses = {name: (np.asarray(r, float), np.asarray(R, float)) for name, (r, R) in poses.items()}
        self.velocities = {
            name: (np.asarray(v, float), np.asarray(w, float)) for name, (v, w) in velocities.items()
        }
        zero = (np.zeros(3), np.zeros(3))
        self.accelerations = {b.name: (body_accelerations or {}).get(b.name, zero) for b in self.bodies}

    def by_body(self, x: Array) -> dict[str, tuple[Array, Array]]:
        """A vector of six numbers a body, as a dictionary."""
        return {name: (x[i : i + 3], x[i + 3 : i + 6]) for name, i in self.index.items()}

    def kind(self, joint: Any) -> str:
        """The kind of a joint as a lower-case word."""
        return str(getattr(joint.kind, "value", joint.kind)).lower()

    def frame(self, frame: Any, slot: int) -> tuple[Jet, Jet]:
        """Position and rotation of a frame in the world, moved by unit twists number `slot` (0 or 1)."""
        p, Q = numbers(frame.position, self.values), numbers(frame.rotation, self.values)
        name = frame.body.name
        if name not in self.index:
            r0, R0 = numbers(frame.body.position, self.values), numbers(frame.body.rotation, self.values)
            return Jet(np.broadcast_to(r0 + R0 @ p, (13, 3))), Jet(np.broadcast_to(R0 @ Q, (13, 3, 3)))
        r, R = self.poses[name]
        v, w = self.velocities[name]
        a, alpha = self.accelerations[name]
        linear, angular = np.zeros((13, 3)), np.zeros((13, 3))
        linear[0], angular[0] = v, w
        first = 1 + 6 * slot
        linear[first : first + 3] = np.eye(3)
        angular[first + 3 : first + 6] = np.eye(3)
        linear2, angular2 = np.zeros((13, 3)), np.zeros((13, 3))
        linear2[0], angular2[0] = a, alpha
        W = skew(angular)
        rotation = Jet(np.broadcast_to(R, (13, 3, 3)), W @ R, (skew(angular2) + W @ W) @ R)
        origin = Jet(np.broadcast_to(r, (13, 3)), linear, linear2)
        return origin + (rotation @ p), rotation @ Q

    def relative(self, a: Any, b: Any) -> tuple[Jet, Jet]:
        """d = R_A^T (r_B - r_A) and C = R_A^T R_B."""
        r_a, R_a = self.frame(a, 0)
        r_b, R_b = self.frame(b, 1)
        difference = r_b - r_a
        column = Jet(difference.f[..., None], difference.f1[..., None], difference.f2[..., None])
        return (R_a.transposed @ column)[..., 0], R_a.transposed @ R_b

    def joint_rows(self, joint: Any) -> Jet:
        """The equations of a joint."""
        kind = self.kind(joint)
        d, C = self.relative(joint.a, joint.b)
        point = [d[:, 0], d[:, 1], d[:, 2]]
        same_axis = [C[:, 0, 2], C[:, 1, 2]]
        same_rotation = [(C[:, i, j] - C[:, j, i]) * 0.5 for i, j in ((2, 1), (0, 2), (1, 0))]
        if kind == "free":
            return Jet(np.zeros((13, 0)))
        if kind == "distance":
            squared = d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1] + d[:, 2] * d[:, 2]
            length = self.function_of_time(joint.length)
            return stack([squared - length * length])
        if kind == "screw":
            advance = self.coordinate(joint, "angle", (d, C)) * self.pitch(joint)
            return stack([*point[:2], *same_axis, d[:, 2] - advance])
        rows = {
            "fixed": point + same_rotation,
            "revolute": point + same_axis,
            "prismatic": point[:2] + same_rotation,
            "cylindrical": point[:2] + same_axis,
            "universal": [*point, C[:, 2, 2]],
            "planar": [d[:, 2], *same_axis],
            "spherical": point,
        }[kind]  # fmt: skip
        return stack(rows)

    def pitch(self, joint: Any) -> float:
        """Advance of a screw [m/rad]."""
        return float(number(joint.pitch, self.values))

    def coordinate(self, joint: Any, name: str, relative: tuple[Jet, Jet] | None = None) -> Jet:
        """A coordinate of a joint read off the frames."""
        d, C = self.relative(joint.a, joint.b) if relative is None else relative
        kind = self.kind(joint)
        if kind == "universal":
            if name.endswith("a"):
                return atan2(C[:, 1, 2], C[:, 0, 2])
            return atan2(C[:, 2, 1], -C[:, 2, 0])
        if name == "angle":
            angle = atan2(C[:, 1, 0], C[:, 0, 0])
            if kind == "screw" and self.pitch(joint) != 0.0:
                # The displacement tells which turn of the thread it is.
                turns = np.round((d.f[:, 2] / self.pitch(joint) - angle.f) / (2 * np.pi))
                angle = angle + 2 * np.pi * turns
            return angle
        return d[:, {"x": 0, "y": 1, "z": 2, "displacement": 2}[name]]

    def function_of_time(self, function: Any) -> Jet:
        """A driver's function with its exact derivatives in the motion of the state."""
        traced = function(Graph().input(TIME)) if callable(function) else function
        moving = np.zeros(13)
        moving[0] = 1.0
        return evaluate(traced, {**self.values, TIME: Jet(np.full(13, float(self.t)), moving)}) + np.zeros(13)

    def constraints(self) -> list[tuple[str, Jet, list[tuple[str, str, Jet]]]]:
        """Every set of equations: name, rows, and the pairs of bodies its unit twists belong to."""
        found: list[tuple[str, Jet, list[tuple[str, str, Jet]]]] = []
        for joint in self.joints:
            rows = self.joint_rows(joint)
            found.append((joint.name, rows, [(joint.a.body.name, joint.b.body.name, rows)]))
        for driver in members(self.system.drivers):
            target = driver.target
            if hasattr(target, "joint"):
                value = self.coordinate(target.joint, target.coordinate)
                pair = (target.joint.a.body.name, target.joint.b.body.name)
                periodic = target.coordinate.startswith("angle") and self.kind(target.joint) != "screw"
            else:
                position, _ = self.frame(target.frame, 0)
                value = position[:, "xyz".index(target.axis)]
                pair = (target.frame.body.name, "")
                periodic = False
            wanted = self.function_of_time(driver.function)
            if periodic:
                wanted = wanted - 2 * np.pi * np.round((wanted.f - value.f) / (2 * np.pi))
            rows = stack([value - wanted])
            found.append((driver.name, rows, [(*pair, rows)]))
        for coupling in members(self.system.couplings):
            parts = []
            total = -number(coupling.offset, self.values) + Jet(np.zeros(13))
            for joint, name, factor in coupling.terms:
                part = self.coordinate(joint, name) * number(factor, self.values)
                parts.append((joint.a.body.name, joint.b.body.name, stack([part])))
                total = total + part
            found.append((coupling.name, stack([total]), parts))
        for item in members(self.system.constraints):
            found.append((item.name, *described_rows(self, item)))
        return found

    def constraint_rows(self) -> tuple[Array, Array]:
        """J and gamma, so that J a + gamma = 0."""
        n = 6 * len(self.bodies)
        blocks, gammas = [np.zeros((0, n))], [np.zeros(0)]
        for _, rows, parts in self.constraints():
            block = np.zeros((rows.f.shape[1], n))
            for name_a, name_b, part in parts:
                self.add_unit_twists(block, name_a, name_b, part)
            blocks.append(block)
            gammas.append(rows.f2[0])
        return np.concatenate(blocks), np.concatenate(gammas)

    def add_unit_twists(self, block: Array, name_a: str, name_b: str, part: Jet) -> None:
        """Add the rates under unit twists to the columns of the two bodies."""
        for name, first in ((name_a, 1), (name_b, 7)):
            if name in self.index:
                i = self.index[name]
                block[:, i : i + 6] += part.f1[first : first + 6].T


def row_space(J: Array, rank: int | None = None) -> tuple[Array, Array, Array]:
    """U, s, V of the rows that count: J = U diag(s) V; `rank` of them where it is known."""
    if J.shape[0] == 0:
        return np.zeros((0, 0)), np.zeros(0), np.zeros((0, J.shape[1]))
    U, s, V = np.linalg.svd(J, full_matrices=False)
    if rank is None:
        rank = int(np.sum(s > RANK_TOLERANCE * s[0]))
    return U[:, :rank], s[:rank], V[:rank]


def skew(v: Array) -> Array:
    """The matrix of the cross product with v (last axis)."""
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    o = np.zeros_like(x)
    return np.stack(
        [np.stack([o, -z, y], -1), np.stack([z, o, -x], -1), np.stack([-y, x, o], -1)],
        -2,
    )


def vee(S: Array) -> Array:
    """The vector of the antisymmetric part of a matrix."""
    return 0.5 * np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]])


def turn(rotation_vector: Array) -> Array:
    """The rotation by a rotation vector (Rodrigues)."""
    angle = float(np.linalg.norm(rotation_vector))
    S = skew(np.asarray(rotation_vector, float))
    if angle < 1e-9:
        return np.eye(3) + S + 0.5 * S @ S
    return np.eye(3) + np.sin(angle) / angle * S + (1 - np.cos(angle)) / angle**2 * (S @ S)


def members(collection: Any) -> list[Any]:
    """The things of a system, whether it keeps them in a mapping or in a sequence."""
    return list(collection.values()) if isinstance(collection, Mapping) else list(collection)


def moving_bodies(system: Any) -> list[Any]:
    """All bodies but the ground."""
    return [body for body in members(system.bodies) if body.name != system.ground.name]


def parameter_values(system: Any, parameters: Mapping[str, float] | None) -> dict[str, float]:
    """Numbers of all parameters by the name of their input."""
    found = {}
    for parameter in members(system.parameters):
        found[parameter.name] = float(parameter.value)
    found.update({name: float(value) for name, value in (parameters or {}).items()})
    return found


def number(value: Any, values: Mapping[str, float]) -> float:
    """A float, of a float or of a traced value of parameters."""
    return float(evaluate(value, values).f)


def numbers(value: Any, values: Mapping[str, float]) -> Array:
    """The same for nested tuples."""
    if isinstance(value, Sequence | np.ndarray):
        return np.array([numbers(v, values) for v in value], dtype=float)
    return np.array(number(value, values))

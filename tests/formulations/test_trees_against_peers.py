"""Tree mechanisms against mujoco and pinocchio, each built from the same random data on its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from bellcrank.formulations.registry import FORMULATIONS
from bellcrank.model import System
from formulations.comparison import AGREEMENT, body_difference, body_motion, redrawn, solved
from reference.engine import turn

Array = np.ndarray
KINDS = ("revolute", "prismatic", "spherical", "free", "universal", "planar", "cylindrical")
CHAINS = {
    "revolute": ("hinge z",),
    "prismatic": ("slide z",),
    "spherical": ("ball",),
    "free": ("free",),
    "universal": ("hinge z", "hinge x"),
    "planar": ("slide x", "slide y", "hinge z"),
    "cylindrical": ("slide z", "hinge z"),
}
"""The elementary joints of each kind, along the axes of the joint's frame, from the parent outwards."""


@dataclass(frozen=True)
class Part:
    """One body and its joint, all in world axes in the start pose."""

    name: str
    kind: str
    parent: int
    position: Array
    rotation: Array
    mass: float
    center: Array
    inertia: Array
    at: Array
    axes: Array


def random_parts(seed: int, kinds: tuple[str, ...]) -> list[Part]:
    rng = np.random.default_rng(seed)
    parts: list[Part] = []
    for i, kind in enumerate(kinds):
        shape = rng.uniform(-0.5, 0.5, (4, 3))
        masses = rng.uniform(0.2, 1.0, 4)
        center = masses @ shape / masses.sum()
        arms = shape - center
        inertia = sum(
            m * ((r @ r) * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, arms, strict=True)
        ) + 0.02 * np.eye(3)
        parent = -1 if kind == "free" else int(rng.integers(-1, i)) if i else -1
        parts.append(
            Part(
                f"part {i}",
                kind,
                parent,
                rng.uniform(-1, 1, 3),
                turn(rng.uniform(-1.5, 1.5, 3)),
                float(masses.sum()),
                center,
                inertia,
                rng.uniform(-1, 1, 3),
                turn(rng.uniform(-1.5, 1.5, 3)),
            )
        )
    return parts


GRAVITY = np.array([1.0, -2.0, -9.0])


def as_system(parts: list[Part]) -> System:
    system = System("tree", gravity=GRAVITY)
    for part in parts:
        body = system.body(
            part.name, part.mass, part.inertia, part.center, at=part.position, rotation=part.rotation
        )
        parent = system.ground if part.parent < 0 else parts[part.parent].name
        name, x, z = f"joint of {part.name}", part.axes[:, 0], part.axes[:, 2]
        match part.kind:
            case "free":
                system.free(name, parent, body)
            case "spherical":
                system.spherical(name, parent, body, at=part.at)
            case "universal":
                system.universal(name, parent, body, at=part.at, axis_a=z, axis_b=x)
            case kind:
                getattr(system, kind)(name, parent, body, at=part.at, axis=z)
    return system


def local(parts: list[Part], part: Part) -> tuple[Array, Array, Array, Array]:
    """Place and rotation of the body in its parent, place of the joint and its axes in the body."""
    R = np.eye(3) if part.parent < 0 else parts[part.parent].rotation
    p = np.zeros(3) if part.parent < 0 else parts[part.parent].position
    here = part.rotation.T
    return (
        R.T @ (part.position - p),
        R.T @ part.rotation,
        here @ (part.at - part.position),
        here @ part.axes,
    )


def text(values: Array) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(values))


def as_mujoco(parts: list[Part]):
    mujoco = pytest.importorskip("mujoco")
    lines: list[str] = []

    def add(i: int) -> None:
        part = parts[i]
        p, R, at, axes = local(parts, part)
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, R.ravel())
        lines.append(f'<body name="{part.name}" pos="{text(p)}" quat="{text(quaternion)}">')
        for n, step in enumerate(CHAINS[part.kind]):
            word, _, axis = step.partition(" ")
            place = "" if word == "free" else f' pos="{text(at)}"'
            along = f' axis="{text(axes[:, "xyz".index(axis)])}"' if axis else ""
            lines.append(f'<joint name="{i} {n}" type="{word}"{place}{along}/>')
        J = part.inertia
        six = np.array([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])
        lines.append(f'<inertial pos="{text(part.center)}" mass="{part.mass!r}" fullinertia="{text(six)}"/>')
        for k, other in enumerate(parts):
            if other.parent == i:
                add(k)
        lines.append("</body>")

    for k, part in enumerate(parts):
        if part.parent < 0:
            add(k)
    body = "\n".join(lines)
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian"/><option gravity="{text(GRAVITY)}"/>'
        f"<worldbody>{body}</worldbody></mujoco>"
    )
    return mujoco, model


def mujoco_state(mujoco, model, rng: np.random.Generator, spread: float):
    data = mujoco.MjData(model)
    mujoco.mj_integratePos(model, data.qpos, rng.uniform(-spread, spread, model.nv), 1.0)
    data.qvel[:] = rng.uniform(-2, 2, model.nv)
    mujoco.mj_forward(model, data)
    return data


def mujoco_motion(mujoco, model, data, parts: list[Part]):
    """Poses, velocities and true accelerations (gravity taken back out) of the body origins."""
    mujoco.mj_rnePostConstraint(model, data)
    poses, velocities, accelerations = {}, {}, {}
    for part in parts:
        k = model.body(part.name).id
        poses[part.name] = (data.xpos[k].copy(), data.xmat[k].reshape(3, 3).copy())
        six = np.empty(6)
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, k, six, 0)
        w, v = six[:3].copy(), six[3:].copy()
        mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_XBODY, k, six, 0)
        velocities[part.name] = (v, w)
        accelerations[part.name] = (six[3:] + GRAVITY, six[:3].copy())
    return poses, velocities, accelerations


CASES = [(kind,) for kind in KINDS] + [
    ("free", "revolute", "spherical", "universal"),
    ("planar", "cylindrical", "revolute", "prismatic", "spherical"),
    ("free", *KINDS),
    ("universal", "planar", "free", "spherical", "cylindrical", "revolute"),
]


@pytest.mark.parametrize("kinds", CASES, ids="-".join)
def test_accelerations_are_those_of_mujoco(kinds: tuple[str, ...]) -> None:
    parts = random_parts(len(kinds), kinds)
    mujoco, model = as_mujoco(parts)
    data = mujoco_state(mujoco, model, np.random.default_rng(3), 0.5)
    poses, velocities, expected = mujoco_motion(mujoco, model, data, parts)
    found, state = redrawn(as_system(parts), poses, velocities)
    assert found.degrees_of_freedom == model.nv
    seen = body_motion(found, state)
    assert body_difference(seen[1], velocities) < 1e-10
    for formulation in FORMULATIONS:
        way = solved(found.traced(formulation), state, ())
        assert body_difference(body_motion(found, state, way.du)[2], expected) < AGREEMENT, formulation


@pytest.mark.parametrize("seed", range(3))
def test_mass_matrix_gives_the_kinetic_energy_of_mujoco(seed: int) -> None:
    """u^T M u for random u: all of M, as far as a symmetric matrix goes."""
    parts = random_parts(seed, ("universal", "planar", "spherical", "cylindrical", "revolute"))
    mujoco, model = as_mujoco(parts)
    rng = np.random.default_rng(seed)
    data = mujoco_state(mujoco, model, rng, 0.5)
    for _ in range(3):
        data.qvel[:] = rng.standard_normal(model.nv)
        mujoco.mj_forward(model, data)
        mujoco.mj_energyVel(model, data)
        poses, velocities, _ = mujoco_motion(mujoco, model, data, parts)
        found, state = redrawn(as_system(parts), poses, velocities)
        M = found.mass_matrix(state)
        assert 0.5 * state.u @ M @ state.u == pytest.approx(data.energy[1], rel=1e-10)
        assert np.linalg.eigvalsh(M).min() > 0.0


def as_pinocchio(parts: list[Part]):
    pin = pytest.importorskip("pinocchio")
    model = pin.Model()
    model.gravity = pin.Motion(GRAVITY, np.zeros(3))
    steps = {
        "hinge x": pin.JointModelRX,
        "hinge z": pin.JointModelRZ,
        "slide x": pin.JointModelPX,
        "slide y": pin.JointModelPY,
        "slide z": pin.JointModelPZ,
        "ball": pin.JointModelSpherical,
        "free": pin.JointModelFreeFlyer,
    }
    carrying: dict[int, tuple[int, object]] = {-1: (0, pin.SE3.Identity())}
    for i, part in enumerate(parts):
        joint, world_of_joint = carrying[part.parent]
        in_world = pin.SE3(part.axes, part.at)
        for n, step in enumerate(CHAINS[part.kind]):
            place = world_of_joint.inverse() * in_world
            joint = model.addJoint(joint, steps[step](), place, f"{i} {n}")
            world_of_joint = in_world
        body = in_world.inverse() * pin.SE3(part.rotation, part.position)
        inertia = pin.Inertia(part.mass, part.center, part.inertia)
        model.appendBodyToJoint(joint, inertia, body)
        model.addFrame(pin.Frame(part.name, joint, 0, body, pin.FrameType.OP_FRAME))
        carrying[i] = (joint, world_of_joint)
    return pin, model


@pytest.mark.parametrize("kinds", CASES, ids="-".join)
def test_accelerations_are_those_of_pinocchio(kinds: tuple[str, ...]) -> None:
    parts = random_parts(10 + len(kinds), kinds)
    pin, model = as_pinocchio(parts)
    data = model.createData()
    rng = np.random.default_rng(4)
    q = pin.integrate(model, pin.neutral(model), rng.uniform(-0.5, 0.5, model.nv))
    v = rng.uniform(-2, 2, model.nv)
    a = pin.aba(model, data, q, v, np.zeros(model.nv))
    pin.forwardKinematics(model, data, q, v, a)
    pin.updateFramePlacements(model, data)
    poses, velocities, expected = {}, {}, {}
    world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    for part in parts:
        frame = model.getFrameId(part.name)
        placement = data.oMf[frame]
        rate = pin.getFrameVelocity(model, data, frame, world)
        second = pin.getFrameClassicalAcceleration(model, data, frame, world)
        poses[part.name] = (placement.translation.copy(), placement.rotation.copy())
        velocities[part.name] = (rate.linear.copy(), rate.angular.copy())
        expected[part.name] = (second.linear.copy(), second.angular.copy())
    found, state = redrawn(as_system(parts), poses, velocities)
    assert found.degrees_of_freedom == model.nv
    for formulation in FORMULATIONS:
        way = solved(found.traced(formulation), state, ())
        assert body_difference(body_motion(found, state, way.du)[2], expected) < AGREEMENT, formulation

"""Whether the peers hold the same car: equal accelerations of the tree and of the closed loops."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pinocchio as pin

from benchmarks.peers import mujoco_models, pinocchio_models
from benchmarks.peers.car import Array, Car, Link


def deviations(car: Car, seed: int = 1) -> dict[str, float]:
    """Largest relative deviations between the peers [-], and the loop gap of the design pose [m]."""
    found = {}
    tree_model, tree_data = mujoco_models.model_and_data(mujoco_models.car_mjcf(car, loops=False))
    ours = pinocchio_models.car_model(car)
    rng = np.random.default_rng(seed)
    scatter_pose(car, tree_model, tree_data, rng)
    tree_data.qvel[:] = rng.uniform(-1, 1, tree_model.nv)
    mujoco.mj_forward(tree_model, tree_data)
    q, v = to_pinocchio(car, tree_model, tree_data, ours.model)
    a = pin.aba(ours.model, ours.model.createData(), q, v, np.zeros(ours.model.nv))
    found["tree: pinocchio aba and mujoco"] = deviation(
        from_pinocchio(car, tree_model, ours.model, q, v, a), tree_data.qacc
    )
    model, data = mujoco_models.model_and_data(mujoco_models.car_mjcf(car, "dense"))
    data.qvel[:] = mujoco_models.consistent_speeds(model, data, seed)
    mujoco.mj_forward(model, data)
    found["loop gap in the design pose"] = float(np.abs(data.efc_pos).max())
    q, v = to_pinocchio(car, model, data, ours.model)
    exact = np.array(pinocchio_models.constraint_dynamics(ours)(q, v))
    aba = np.array(pinocchio_models.loop_constrained_aba(ours)(q, v))
    found["loops: pinocchio constraintDynamics and lcaba"] = deviation(aba, exact)
    # Soft constraints: MuJoCo is off by what its impedance leaves.
    found["loops: pinocchio constraintDynamics and mujoco"] = deviation(
        data.qacc, from_pinocchio(car, model, ours.model, q, v, exact)
    )
    return found


def moving_state(car: Car, seed: int = 1) -> tuple[Any, Array, Array]:
    """The car in pinocchio in its design pose, with random speeds that keep the loops closed."""
    model, data = mujoco_models.model_and_data(mujoco_models.car_mjcf(car, "dense"))
    data.qvel[:] = mujoco_models.consistent_speeds(model, data, seed)
    ours = pinocchio_models.car_model(car)
    return (ours, *to_pinocchio(car, model, data, ours.model))


def deviation(a: Any, b: Any) -> float:
    """Largest difference over the largest number."""
    return float(np.abs(np.asarray(a) - b).max() / np.abs(b).max())


def scatter_pose(car: Car, model: Any, data: Any, rng: np.random.Generator) -> None:
    """A random pose of the tree."""
    velocity = rng.uniform(-0.3, 0.3, model.nv)
    mujoco.mj_integratePos(model, data.qpos, velocity, 1.0)


def places(model: Any, link: Link) -> tuple[int, int]:
    """Where coordinates and speeds of a link begin in MuJoCo."""
    joint = model.body(link.name).jntadr[0]
    return int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])


def rotation(quaternion: Array) -> Array:
    """The rotation of a quaternion (w, x, y, z)."""
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, quaternion)
    return R.reshape(3, 3)


def to_pinocchio(car: Car, model: Any, data: Any, other: Any) -> tuple[Array, Array]:
    """Coordinates and speeds of MuJoCo in the conventions of pinocchio."""
    q, v = pin.neutral(other), np.zeros(other.nv)
    for link in car.links:
        i, j = places(model, link)
        joint = other.joints[other.getJointId(link.name)]
        n, m = slice(joint.idx_q, joint.idx_q + joint.nq), slice(joint.idx_v, joint.idx_v + joint.nv)
        v[m] = data.qvel[j : j + joint.nv]
        if link.joint == "free":
            w, x, y, z = data.qpos[i + 3 : i + 7]
            q[n] = [*data.qpos[i : i + 3], x, y, z, w]
            v[m][:3] = rotation(data.qpos[i + 3 : i + 7]).T @ data.qvel[j : j + 3]
        elif link.joint == "spherical":
            w, x, y, z = data.qpos[i : i + 4]
            q[n] = [x, y, z, w]
        else:
            q[n] = data.qpos[i : i + joint.nq]
    return q, v


def from_pinocchio(car: Car, model: Any, other: Any, q: Array, v: Array, a: Array) -> Array:
    """Accelerations of pinocchio in the conventions of MuJoCo."""
    result = np.zeros(model.nv)
    for link in car.links:
        _, j = places(model, link)
        joint = other.joints[other.getJointId(link.name)]
        m = slice(joint.idx_v, joint.idx_v + joint.nv)
        result[j : j + joint.nv] = a[m]
        if link.joint == "free":
            x, y, z, w = q[joint.idx_q + 3 : joint.idx_q + 7]
            spin = np.cross(v[m][3:], v[m][:3])
            result[j : j + 3] = rotation(np.array([w, x, y, z])) @ (a[m][:3] + spin)
    return result

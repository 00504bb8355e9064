"""Imported models beside mujoco and pinocchio: mass matrix and bias forces in their coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.files.imported import Imported
from bellcrank.mechanism import Mechanism, analyse
from bellcrank.model.forces import JointForce, Spring
from formulations.comparison import difference, solved

Array = NDArray[np.float64]
TURNING = [f"angular_velocity_{c}" for c in "xyz"]
MOVING = [f"velocity_{c}" for c in "xyz"]


class Chart:
    """The peer's speeds in terms of ours: u = G v, one block a joint."""

    def __init__(self, found: Mechanism, size: int) -> None:
        self.found = found
        self.place = {name: i for i, name in enumerate(found.speed_names)}
        self.G = np.zeros((found.coordinates, size))
        self.shift = np.zeros(found.coordinates)
        """What du has besides G times the peer's accelerations."""

    def single(self, joint: str, coordinate: str, column: int) -> None:
        self.G[self.place[f"{joint}.{coordinate}"], column] = 1.0
        wheel = self.place.get(f"{joint} armature bearing.angle")
        if wheel is not None:
            self.G[wheel, column] = 1.0

    def turning(self, joint: str, columns: range) -> None:
        """Angular velocity of the peer in the body's axes; ours is in those of the link that carries it."""
        rows = [self.place[f"{joint}.{name}"] for name in TURNING]
        self.G[np.ix_(rows, columns)] = self._seat(joint)[1]

    def moving(self, joint: str, columns: range, turning: range, R: Array, v: Array, world: bool) -> None:
        """Velocity of the peer, of the body's origin in axes that R turns the body's into; ours is the link's."""
        rows = [self.place[f"{joint}.{name}"] for name in MOVING]
        p, r = self._seat(joint)
        arm = np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])
        self.G[np.ix_(rows, columns)] = r @ R.T
        self.G[np.ix_(rows, turning)] = arm @ r
        if world:
            self.shift[rows] = -np.cross(r @ v[turning], r @ R.T @ v[columns])

    def _seat(self, joint: str) -> tuple[Array, Array]:
        seat = self.found.linkage.placements[self.found.system.joints[joint].b.body.name]
        return np.array(seat.p, dtype=float), np.array(seat.r, dtype=float)


def differences(
    found: Mechanism, chart: Chart, v: Array, M: Array, bias: Array
) -> tuple[float, float, float]:
    """Of speeds, mass matrix and bias forces (M dv + bias = 0 without further forces), relative."""
    state, G = found.start, chart.G
    du = solved(found.traced(), state, found.parameter_values).du
    M_tree = found.mass_matrix(state)
    ours = G.T @ M_tree @ G
    accelerations = np.linalg.lstsq(G, du - chart.shift, rcond=None)[0]
    forces = found.bias_forces(state) - found.applied_forces(state)
    terms = relative(G.T @ (M_tree @ chart.shift + forces), bias)
    return difference(G @ v, state.u), relative(ours, M), max(relative(-ours @ accelerations, bias), terms)


def relative(a: Array, b: Array) -> float:
    return float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-300))


def against_mujoco(mujoco: Any, model: Any, imported: Imported, seed: int = 0) -> tuple[float, float, float]:
    """An imported model in a random state beside MuJoCo's, equality constraints taken out of both."""
    rng = np.random.default_rng(seed)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    model.opt.density = model.opt.viscosity = 0.0
    for array in (model.body_gravcomp, model.tendon_stiffness, model.tendon_damping):
        array[:] = 0.0
    data = mujoco.MjData(model)
    mujoco.mj_integratePos(model, data.qpos, rng.uniform(-0.5, 0.5, model.nv), 1.0)
    data.qvel[:] = rng.uniform(-2.0, 2.0, model.nv)
    mujoco.mj_forward(model, data)
    system = imported.system
    for name in [n for n, j in system.joints.items() if j.cut]:
        del system.joints[name]
    for name in [n for n in system.couplings if not n.endswith("armature gear")]:
        del system.couplings[name]
    for name in [n for n, f in system.forces.items() if isinstance(f, Spring | JointForce)]:
        del system.forces[name]  # those of tendons, taken out of the model above, and of actuators
    labels = iter(n for n in system.joints if not n.endswith(("armature bearing", "mount")))
    joints = [(k, next(labels)) for k in range(model.njnt)]
    initial: dict[str, Any] = {}
    for k, name in joints:
        q, v = data.qpos[model.jnt_qposadr[k] :], data.qvel[model.jnt_dofadr[k] :]
        match int(model.jnt_type[k]):
            case 0:
                initial[name] = {
                    "position": q[:3],
                    "quaternion": q[3:7],
                    "velocity": v[:3],
                    "angular_velocity": v[3:6],
                }
            case 1:
                initial[name] = {"quaternion": q[:4], "angular_velocity": v[:3]}
            case _:
                initial[name] = (q[0] - model.qpos0[model.jnt_qposadr[k]], v[0])
    found = analyse(system, initial=initial)
    chart = Chart(found, model.nv)
    for k, name in joints:
        first = int(model.jnt_dofadr[k])
        match int(model.jnt_type[k]):
            case 0:
                chart.turning(name, range(first + 3, first + 6))
                R = data.xmat[model.jnt_bodyid[k]].reshape(3, 3)
                chart.moving(name, range(first, first + 3), range(first + 3, first + 6), R, data.qvel, True)
            case 1:
                chart.turning(name, range(first, first + 3))
            case kind:
                chart.single(name, "displacement" if kind == 2 else "angle", first)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    return differences(found, chart, data.qvel.copy(), M, data.qfrc_bias - data.qfrc_passive)


def against_pinocchio(pin: Any, model: Any, imported: Imported, seed: int = 0) -> tuple[float, float, float]:
    """An imported robot in a random state beside pinocchio's, dampers and mimics taken out."""
    rng = np.random.default_rng(seed)
    data = model.createData()
    q = pin.integrate(model, pin.neutral(model), rng.uniform(-0.5, 0.5, model.nv))
    v = rng.uniform(-2.0, 2.0, model.nv)
    system = imported.system
    system.forces.clear()
    system.couplings.clear()
    initial: dict[str, Any] = {}
    steps = []
    for k in range(1, model.njoints):
        joint, name = model.joints[k], model.names[k]
        own_q, own_v = q[joint.idx_q : joint.idx_q + joint.nq], v[joint.idx_v : joint.idx_v + joint.nv]
        if joint.nv == 6:
            name = next(n for n in system.joints if n.startswith("free base"))
            R = pin.Quaternion(own_q[3:]).toRotationMatrix()
            w, x, y, z = own_q[[6, 3, 4, 5]]
            initial[name] = {
                "position": own_q[:3],
                "quaternion": (w, x, y, z),
                "velocity": R @ own_v[:3],
                "angular_velocity": own_v[3:],
            }
        else:
            angle = float(own_q[0]) if joint.nq == 1 else float(np.arctan2(own_q[1], own_q[0]))
            name = imported.renamed.get(f"joint {name}", name)
            initial[name] = (angle, float(own_v[0]))
        steps.append((joint, name))
    found = analyse(system, initial=initial)
    chart = Chart(found, model.nv)
    for joint, name in steps:
        if joint.nv == 6:
            chart.turning(name, range(joint.idx_v + 3, joint.idx_v + 6))
            first = joint.idx_v
            chart.moving(name, range(first, first + 3), range(first + 3, first + 6), np.eye(3), v, False)
        else:
            chart.single(name, system.joints[name].coordinates[0], joint.idx_v)
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    return differences(found, chart, v, M, pin.nonLinearEffects(model, data, q, v))


__all__ = ["against_mujoco", "against_pinocchio"]

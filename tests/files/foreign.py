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

    def coupled(self, tendon: str) -> None:
        """The slider of a fixed tendon, whose speed is a sum of those of joints."""
        terms = self.found.system.couplings[f"{tendon} coupling"].terms
        for joint, coordinate, factor in terms:
            if joint.name != tendon:
                row = self.G[self.place[f"{joint.name}.{coordinate}"]]
                self.G[self.place[f"{tendon}.displacement"]] -= float(factor) * row

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


def _numbered(model: Any, imported: Imported) -> list[tuple[int, str]]:
    """MuJoCo's joints by number, with their names here."""
    labels = (n for n in imported.system.joints if not n.endswith("mount"))
    return list(zip(range(model.njnt), labels, strict=False))


def _chart(
    model: Any, data: Any, found: Mechanism, joints: list[tuple[int, str]], tendons: dict[int, str]
) -> Chart:
    """MuJoCo's speeds in terms of ours."""
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
    for name in tendons.values():
        chart.coupled(name)
    return chart


def equalities_against_mujoco(mujoco: Any, model: Any, imported: Imported) -> float | None:
    """How far apart the motions that equality constraints leave are, as the sine of an angle; None without any.

    Both in the pose of the file, where the constraints must hold.
    """
    system, bits = imported.system, mujoco.mjtDisableBit
    if not model.neq or not (model.eq_active0 != 0).any():
        return None
    for bit in (bits.mjDSBL_CONTACT, bits.mjDSBL_LIMIT, bits.mjDSBL_FRICTIONLOSS):
        model.opt.disableflags |= int(bit)
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    theirs = data.efc_J.reshape(-1, model.nv)[: data.nefc]
    tendons = fixed_tendons(mujoco, model, imported)
    system.contacts.clear()
    system.collisions.clear()
    found = analyse(system)
    if float(np.abs(data.efc_pos[: data.nefc]).max(initial=0.0)) > 1e-9:
        return None
    chart = _chart(model, data, found, _numbered(model, imported), tendons)
    ours = found.constraint_jacobian()[0] @ chart.G
    spaces = []
    for J in (ours, theirs):
        _, sizes, rows = np.linalg.svd(J / max(np.abs(J).max(initial=0.0), 1e-300))
        spaces.append(rows[: int(np.sum(sizes > 1e-9))])
    if len(spaces[0]) != len(spaces[1]):
        return np.inf
    a, b = spaces
    return float(np.abs(a - (a @ b.T) @ b).max(initial=0.0))


def against_mujoco(mujoco: Any, model: Any, imported: Imported, seed: int = 0) -> tuple[float, float, float]:
    """An imported model in a random state beside MuJoCo's, equality constraints taken out of both."""
    rng = np.random.default_rng(seed)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    model.opt.density = model.opt.viscosity = 0.0
    model.body_gravcomp[:] = 0.0
    system = imported.system
    tendons = fixed_tendons(mujoco, model, imported)
    for k in range(model.ntendon):
        if k not in tendons:
            model.tendon_stiffness[k] = model.tendon_damping[k] = 0.0
    data = mujoco.MjData(model)
    mujoco.mj_integratePos(model, data.qpos, rng.uniform(-0.5, 0.5, model.nv), 1.0)
    data.qvel[:] = rng.uniform(-2.0, 2.0, model.nv)
    mujoco.mj_forward(model, data)
    for name in [n for n, j in system.joints.items() if j.cut]:
        del system.joints[name]
    geared = {f"{name} coupling" for name in tendons.values()}
    for name in [n for n in system.couplings if n not in geared]:
        del system.couplings[name]
    system.constraints.clear()
    system.contacts.clear()
    system.collisions.clear()
    for name in [n for n, f in system.forces.items() if isinstance(f, Spring | JointForce)]:
        del system.forces[
            name
        ]  # those of tendons between sites, taken out of the model above, and of actuators
    joints = _numbered(model, imported)
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
    chart = _chart(model, data, found, joints, tendons)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    return differences(found, chart, data.qvel.copy(), M, data.qfrc_bias - data.qfrc_passive)


def fixed_tendons(mujoco: Any, model: Any, imported: Imported) -> dict[int, str]:
    """Fixed tendons that were imported, by their numbers in MuJoCo, with the names of their sliders."""
    found = {}
    for k in range(model.ntendon):
        given = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_TENDON, k)
        name = imported.renamed.get(f"tendon {given}", given)
        if name in imported.system.joints and f"{name} coupling" in imported.system.couplings:
            found[k] = name
    return found


def limits_against_mujoco(model: Any, imported: Imported) -> float:
    """The largest difference between limits of joints [m or rad], zero where all are where MuJoCo has them."""
    system = imported.system
    ours: dict[str, list[float]] = {}
    for contact in system.contacts.values():
        if contact.limits is not None:
            ours[contact.limits.joint.name] = [contact.limits.low, contact.limits.high]
    worst = 0.0
    for k, name in _numbered(model, imported):
        if int(model.jnt_type[k]) < 2:
            continue
        zero = model.qpos0[model.jnt_qposadr[k]]
        theirs = model.jnt_range[k] - zero if model.jnt_limited[k] else None
        if (theirs is None) != (name not in ours):
            return np.inf
        if theirs is not None:
            worst = max(worst, float(np.abs(theirs - ours[name]).max()))
    return worst


def against_pinocchio(pin: Any, model: Any, imported: Imported, seed: int = 0) -> tuple[float, float, float]:
    """An imported robot in a random state beside pinocchio's, dampers and mimics taken out."""
    rng = np.random.default_rng(seed)
    data = model.createData()
    q = pin.integrate(model, pin.neutral(model), rng.uniform(-0.5, 0.5, model.nv))
    v = rng.uniform(-2.0, 2.0, model.nv)
    system = imported.system
    system.forces.clear()
    system.couplings.clear()
    system.contacts.clear()
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


__all__ = ["against_mujoco", "against_pinocchio", "equalities_against_mujoco", "limits_against_mujoco"]

"""The full car over the bump with the dynamics of pinocchio and SciPy's DOP853.

The integrator is Python, so the forces are too: plain floats, which is quicker than small arrays. Pinocchio's share is
the kinematics, the loads on the joints (recursive Newton-Euler with external forces) and constraintDynamics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp

from benchmarks.peers.car import load_car
from benchmarks.peers.pinocchio_models import CarModel, car_model
from benchmarks.simulation import Rung
from benchmarks.simulation_car import error, reference
from benchmarks.simulation_slider_crank import ladder


def car() -> Iterator[Rung]:
    """Rungs of falling tolerance."""
    model = car_model(load_car())
    rates, begin = dynamics(model), beginning(model)
    times = reference()[0]
    design = model.model.jointPlacements[1].translation
    for tolerance in ladder(1e-2, 1e-8, 2):

        def run(tolerance: float = tolerance) -> Any:
            return solve_ivp(rates, (0.0, 1.0), begin, "DOP853", times, rtol=tolerance, atol=0.01 * tolerance)

        yield Rung(f"tolerance {tolerance:.1e}", run, lambda found: found.y[:3].T + design, error)


def dynamics(car: CarModel) -> Callable[[float, Any], Any]:
    """Rates of coordinates (quaternions included) and speeds."""
    from bellcrank.verify.full_car import full_car_data

    model = car.model
    data, other = model.createData(), model.createData()
    datas = pin.StdVec_RigidConstraintData([c.createData() for c in car.constraints])
    pin.initConstraintDynamics(model, data, car.constraints, datas)
    settings = pin.ProximalSettings(1e-12, 0.0, 1)
    numbers = full_car_data()
    bump = numbers["scenarios"]["bump"]["bump"]
    names = {b["id"]: b["name"] for b in numbers["bodies"]}
    origin = {link.name: link.point for link in load_car().links}
    centres = {b["name"]: np.array(b["com"]) for b in numbers["bodies"]}

    def joint_and_point(body: int, point: Any) -> tuple[int, Any]:
        name = names[body]
        return model.getJointId(name), np.array(point) - origin[name]

    springs = [
        (*joint_and_point(s["body_a"], s["point_a"]), *joint_and_point(s["body_b"], s["point_b"]),
         s["stiffness"], s["damping"], s["free_length"])
        for s in numbers["springs"]
    ]  # fmt: skip
    tyres = [
        (*joint_and_point(t["body"], centres[names[t["body"]]]),
         *(t[k] for k in ("radius", "stiffness", "damping", "c_long", "c_lat", "N_ref")))
        for t in numbers["tyres"]
    ]  # fmt: skip
    rack = model.joints[model.getJointId(names[numbers["rack_actuator"]["body"]])]
    k_rack, c_rack = numbers["rack_actuator"]["stiffness"], numbers["rack_actuator"]["damping"]
    turning = [
        (j.idx_q + j.nq - 4, j.idx_v + j.nv - 3)
        for j in list(model.joints)[1:]
        if j.shortname() in ("JointModelFreeFlyer", "JointModelSpherical")
    ]
    plain = [(j.idx_q, j.idx_v, j.nq) for j in list(model.joints)[1:] if j.nq == j.nv]
    single_q = np.concatenate([np.arange(q, q + n) for q, _, n in plain])
    single_v = np.concatenate([np.arange(v, v + n) for _, v, n in plain])
    nq, nv = model.nq, model.nv
    still = np.zeros(nv)
    H, x0, length = bump["H"], bump["x0"], bump["length"]

    def rates(t: float, y: Any) -> Any:
        q, v = y[:nq].copy(), y[nq:]
        for i, _ in turning:
            q[i : i + 4] /= math.sqrt(q[i : i + 4] @ q[i : i + 4])
        pin.forwardKinematics(model, other, q, v)
        forces = [pin.Force.Zero() for _ in range(model.njoints)]

        def place(joint: int, point: Any) -> tuple[Any, Any, Any, Any]:
            M, motion = other.oMi[joint], other.v[joint]
            R = M.rotation
            arm = R @ point
            w = R @ motion.angular
            return M.translation + arm, R @ motion.linear + _cross(w, arm), w, R

        def push(joint: int, R: Any, point: Any, force: Any) -> None:
            local = R.T @ force
            forces[joint] += pin.Force(local, _cross(point, local))

        for ja, pa, jb, pb, k, c, rest in springs:
            xa, va, _, Ra = place(ja, pa)
            xb, vb, _, Rb = place(jb, pb)
            between = xb - xa
            size = math.sqrt(between @ between)
            unit = between / size
            pull = (k * (size - rest) + c * ((vb - va) @ unit)) * unit
            push(ja, Ra, pa, pull)
            push(jb, Rb, pb, -pull)
        for joint, point, radius, k, c, c_long, c_lat, load in tyres:
            x, vel, w, R = place(joint, point)
            s = (x[0] - x0) / length
            h = hx = 0.0
            if 0.0 < s < 1.0 and x[1] > 0.0:
                sine = math.sin(math.pi * s)
                h = H * sine**4
                hx = 4.0 * H * sine**3 * math.cos(math.pi * s) * math.pi / length
            depth = radius + h - x[2]
            N = k * depth + c * (hx * vel[0] - vel[2]) if depth > 0.0 else 0.0
            if N > 0.0:
                a0, a1 = R[0, 1], R[1, 1]
                size = math.sqrt(a0 * a0 + a1 * a1)
                ex0, ex1 = a1 / size, -a0 / size
                down = h - x[2]
                p0, p1 = vel[0] + w[1] * down, vel[1] - w[0] * down
                along = N / load * c_long * (p0 * ex0 + p1 * ex1)
                across = N / load * c_lat * (-p0 * ex1 + p1 * ex0)
                force = np.array([-along * ex0 + across * ex1, -along * ex1 - across * ex0, N])
                push(joint, R, point + R.T @ np.array([0.0, 0.0, down]), force)
        # Loads on the joints by external forces alone: the weight is taken off again.
        tau = pin.computeGeneralizedGravity(model, other, q) - pin.rnea(model, other, q, still, still, forces)
        tau[rack.idx_v] -= k_rack * q[rack.idx_q] + c_rack * v[rack.idx_v]
        a = pin.constraintDynamics(model, data, q, v, tau, car.constraints, datas, settings)
        rate = np.empty(nq + nv)
        rate[single_q] = v[single_v]
        rate[:3] = other.oMi[1].rotation @ v[:3]
        for i, j in turning:
            qx, qy, qz, qw = y[i : i + 4]
            wx, wy, wz = v[j : j + 3]
            rate[i] = 0.5 * (qw * wx + qy * wz - qz * wy)
            rate[i + 1] = 0.5 * (qw * wy + qz * wx - qx * wz)
            rate[i + 2] = 0.5 * (qw * wz + qx * wy - qy * wx)
            rate[i + 3] = -0.5 * (qx * wx + qy * wy + qz * wz)
        rate[nq:] = a
        return rate

    return rates


def _cross(a: Any, b: Any) -> Any:
    a0, a1, a2 = a
    b0, b1, b2 = b
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])


def beginning(car: CarModel) -> Any:
    """Our start state, through MuJoCo's coordinates."""
    from benchmarks.peers.agreement import to_pinocchio
    from benchmarks.peers.mujoco_car_simulation import beginning as in_mujoco
    from benchmarks.peers.mujoco_car_simulation import built

    model, data = built("RK4")
    data.qpos[:], data.qvel[:] = in_mujoco(model, data)
    q, v = to_pinocchio(load_car(), model, data, car.model)
    # The free joint of this model is counted from the design pose, MuJoCo's from the world.
    q[:3] -= car.model.jointPlacements[1].translation
    return np.concatenate([q, v])

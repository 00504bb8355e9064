"""The car and the planar chain in pinocchio."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks.peers.car import Array, Car, depth_first
from benchmarks.timing import REPEATS, Timing, per_call

JOINTS: dict[str, Callable[..., Any]] = {
    "free": pin.JointModelFreeFlyer,
    "spherical": pin.JointModelSpherical,
    "revolute": pin.JointModelRevoluteUnaligned,
    "prismatic": pin.JointModelPrismaticUnaligned,
    "universal": pin.JointModelUniversal,
}
LONGEST_CHAIN = 500
"""Data of a model grow with the cube of its size: 0.45 GB at 200 links, 3.5 GB at 400, some 50 GB at 1000."""


@dataclass(frozen=True)
class CarModel:
    """Model, and the loop constraints as 3D contacts between two bodies."""

    model: Any
    constraints: Any


def car_model(car: Car) -> CarModel:
    """The tree with 39 speeds and 8 spherical loop closures."""
    model = pin.Model()
    model.gravity.linear = car.gravity
    joint_of = {0: 0}
    origin = {0: np.zeros(3)}
    # The recursions of this code rest on subtrees being numbered without gaps.
    for link in depth_first(car):
        place = pin.SE3(np.eye(3), link.point - origin[link.parent])
        joint = model.addJoint(joint_of[link.parent], JOINTS[link.joint](*link.axes), place, link.name)
        # Joint frames sit at the joint's point, parallel to the world in the design pose.
        inertia = pin.Inertia(link.mass, link.centre - link.point, link.inertia)
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
        joint_of[link.number], origin[link.number] = joint, link.point
    constraints = pin.StdVec_RigidConstraintModel()
    for cut in car.cuts:
        a, b = cut.body_a, cut.body_b
        constraints.append(
            pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D,
                model,
                joint_of[a],
                pin.SE3(np.eye(3), cut.point - origin[a]),
                joint_of[b],
                pin.SE3(np.eye(3), cut.point - origin[b]),
                pin.ReferenceFrame.LOCAL,
            )
        )
    return CarModel(model, constraints)


def constraint_dynamics(car: CarModel) -> Callable[[Array, Array], Array]:
    """Accelerations by the sparse factorisation of the multiplier system."""
    data = car.model.createData()
    datas = pin.StdVec_RigidConstraintData([c.createData() for c in car.constraints])
    pin.initConstraintDynamics(car.model, data, car.constraints, datas)
    settings = pin.ProximalSettings(1e-12, 0.0, 1)
    tau = np.zeros(car.model.nv)

    def evaluate(q: Array, v: Array) -> Array:
        return pin.constraintDynamics(car.model, data, q, v, tau, car.constraints, datas, settings)

    return evaluate


def loop_constrained_aba(
    car: CarModel, mu: float = 1e-8, iterations: int = 1
) -> Callable[[Array, Array], Array]:
    """Accelerations by the loop-constrained articulated body algorithm (proximal)."""
    data = car.model.createData()
    datas = pin.StdVec_RigidConstraintData([c.createData() for c in car.constraints])
    pin.computeJointMinimalOrdering(car.model, data, car.constraints)
    settings = pin.ProximalSettings(1e-14, mu, iterations)
    tau = np.zeros(car.model.nv)

    def evaluate(q: Array, v: Array) -> Array:
        return pin.lcaba(car.model, data, q, v, tau, car.constraints, datas, settings)

    return evaluate


def chain_model(links: int, length: float = 0.1, mass: float = 0.1) -> Any:
    """Links hanging one on the other by revolute joints about z; gravity along -y."""
    model = pin.Model()
    model.gravity.linear = np.array([0.0, -9.81, 0.0])
    moment = mass * length**2 / 12.0
    inertia = pin.Inertia(mass, np.array([length / 2, 0.0, 0.0]), np.diag([1e-2 * moment, moment, moment]))
    joint = 0
    for i in range(links):
        place = pin.SE3(np.eye(3), np.array([length if i else 0.0, 0.0, 0.0]))
        joint = model.addJoint(joint, pin.JointModelRZ(), place, f"joint_{i}")
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    return model


def call_overhead() -> float:
    """What a call from Python costs before the algorithm starts: the same kind of call on one link [s]."""
    model = chain_model(1)
    data = model.createData()
    q, v, tau = np.zeros(1), np.zeros(1), np.zeros(1)
    return per_call(lambda: pin.aba(model, data, q, v, tau))


def time_chain(links: int, repeats: int = REPEATS) -> Timing:
    """The articulated body algorithm on the chain."""
    model = chain_model(links)
    data = model.createData()
    rng = np.random.default_rng(0)
    q, v, tau = rng.uniform(-1, 1, links), rng.uniform(-1, 1, links), np.zeros(links)
    overhead = call_overhead()
    seconds = per_call(lambda: pin.aba(model, data, q, v, tau), repeats)
    return Timing(seconds - overhead, overhead, "aba")


LCABA_SETTINGS = {"lcaba": (1e-8, 1), "lcaba, refined": (1e-6, 2)}
"""mu and iterations of the proximal method: the quickest, and the quickest that agrees to about 1e-9."""


def time_car(car: CarModel, q: Array, v: Array, method: str, repeats: int = REPEATS) -> Timing:
    """One evaluation of the car; `method` is "constraintDynamics" or one of :data:`LCABA_SETTINGS`."""
    exact = constraint_dynamics(car)
    evaluate = exact if method == "constraintDynamics" else loop_constrained_aba(car, *LCABA_SETTINGS[method])
    reference = np.array(exact(q, v))
    off = float(np.abs(evaluate(q, v) - reference).max() / np.abs(reference).max())
    overhead = call_overhead()
    return Timing(
        per_call(lambda: evaluate(q, v), repeats) - overhead, overhead, f"{method}, off by {off:.0e}"
    )

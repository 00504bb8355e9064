"""The free slider-crank with the dynamics of pinocchio and SciPy's DOP853."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp

from benchmarks.peers import minimal_simulation as minimal
from benchmarks.simulation import Rung
from benchmarks.simulation_slider_crank import error, ladder

CRANK, ROD = minimal.CRANK, minimal.ROD


def slider_crank(way: str) -> Iterator[Rung]:
    """Rungs of falling tolerance; `way` is "loop" (constraintDynamics) or "minimal" (one coordinate)."""
    rates, start = loop() if way == "loop" else one_coordinate()
    speed = len(start) // 2
    for tolerance in ladder(1e-3, 1e-13):

        def run(tolerance: float = tolerance) -> Any:
            return solve_ivp(
                rates, (0.0, minimal.DURATION), start, "DOP853", rtol=tolerance, atol=0.01 * tolerance
            )

        yield Rung(f"tolerance {tolerance:.1e}", run, lambda found: found.y[[0, speed], -1], error)


def tree(slider: bool) -> Any:
    """Crank and rod; the slider on its guide, or as the point mass at the end of the rod that it amounts to."""
    model = pin.Model()
    model.gravity.linear = np.array([0.0, -minimal.GRAVITY, 0.0])
    crank = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "crank")
    rod = model.addJoint(crank, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([CRANK, 0.0, 0.0])), "rod")
    for joint, mass, moment, half in zip(
        (crank, rod), minimal.MASSES, minimal.INERTIAS, (0.5 * CRANK, 0.5 * ROD), strict=False
    ):
        inertia = pin.Inertia(mass, np.array([half, 0.0, 0.0]), moment * np.eye(3))
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    if slider:
        guide = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "slider")
        model.appendBodyToJoint(
            guide, pin.Inertia(minimal.MASSES[2], np.zeros(3), np.eye(3)), pin.SE3.Identity()
        )
    else:
        point = pin.Inertia(minimal.MASSES[2], np.zeros(3), np.zeros((3, 3)))
        model.appendBodyToJoint(rod, point, pin.SE3(np.eye(3), np.array([ROD, 0.0, 0.0])))
    return model


def rod_angle(angle: float) -> tuple[float, float, float]:
    """Angle of the rod against the crank, and its first and second derivative by the crank angle."""
    s, c = math.sin(angle), math.cos(angle)
    sb = -CRANK / ROD * s
    cb = math.sqrt(1.0 - sb * sb)
    b1 = -CRANK / ROD * c / cb
    return math.asin(sb) - angle, b1 - 1.0, (CRANK / ROD * s + sb * b1 * b1) / cb


def one_coordinate() -> tuple[Callable[..., Any], Any]:
    """The tree's dynamics along the closed loop: recursive Newton-Euler and composite bodies."""
    model = tree(slider=False)
    data = model.createData()
    q, v, bend = np.zeros(2), np.zeros(2), np.zeros(2)

    def rates(t: float, y: Any) -> Any:
        angle, rate = y[0], y[1]
        b0, b1, b2 = rod_angle(angle)
        q[0], q[1] = angle, b0
        v[0], v[1] = rate, b1 * rate
        bend[1] = b2 * rate * rate
        load = pin.rnea(model, data, q, v, bend)
        force = load[0] + b1 * load[1]
        mass = pin.crba(model, data, q)
        inertia = mass[0, 0] + 2.0 * b1 * mass[0, 1] + b1 * b1 * mass[1, 1]
        return (rate, -force / inertia)

    return rates, np.array([minimal.ANGLE, minimal.RATE])


def loop() -> tuple[Callable[..., Any], Any]:
    """Crank, rod and slider with the wrist pin as a constraint; DOP853 keeps it to its tolerance."""
    model = tree(slider=True)
    data = model.createData()
    constraints = pin.StdVec_RigidConstraintModel()
    constraints.append(
        pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D, model, 2, pin.SE3(np.eye(3), np.array([ROD, 0.0, 0.0])),
            3, pin.SE3.Identity(), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
        )
    )  # fmt: skip
    datas = pin.StdVec_RigidConstraintData([c.createData() for c in constraints])
    pin.initConstraintDynamics(model, data, constraints, datas)
    # The third equation of the planar pin is redundant: the proximal iteration copes with it.
    settings = pin.ProximalSettings(1e-14, 1e-8, 3)
    tau = np.zeros(3)
    dynamics = pin.constraintDynamics

    def rates(t: float, y: Any) -> Any:
        v = y[3:]
        return np.concatenate((v, dynamics(model, data, y[:3], v, tau, constraints, datas, settings)))

    b0, b1, _ = rod_angle(minimal.ANGLE)
    lean = b0 + minimal.ANGLE
    reach = CRANK * math.cos(minimal.ANGLE) + ROD * math.cos(lean)
    pull = -CRANK * math.sin(minimal.ANGLE) - ROD * math.sin(lean) * (b1 + 1.0)
    w = minimal.RATE
    return rates, np.array([minimal.ANGLE, b0, reach, w, b1 * w, pull * w])

"""The free slider-crank in Exudyn: planar rigid bodies, joints by multipliers, implicit fixed steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import exudyn as exu
import numpy as np
from exudyn.itemInterface import (
    CoordinateConstraint,
    Force,
    MarkerBodyPosition,
    MarkerNodeCoordinate,
    MassPoint2D,
    ObjectGround,
    Point2D,
    PointGround,
    RevoluteJoint2D,
    Rigid2D,
    RigidBody2D,
)

from benchmarks.peers import minimal_simulation as minimal
from benchmarks.simulation import Rung
from benchmarks.simulation_slider_crank import error, ladder

CRANK, ROD = minimal.CRANK, minimal.ROD


def slider_crank(method: str) -> Iterator[Rung]:
    """Rungs of falling step; `method` is "alpha" (spectral radius 1) or "trapezoidal"."""
    system, crank = build()
    solver = (
        exu.DynamicSolverType.GeneralizedAlpha
        if method == "alpha"
        else exu.DynamicSolverType.TrapezoidalIndex2
    )
    for h in ladder(2e-2, 2e-5, 4):
        settings = settings_for(h, method)

        def run(settings: Any = settings) -> Any:
            if not system.SolveDynamic(settings, solverType=solver, storeSolver=False, showHints=False):
                raise ArithmeticError("the solver gave up")
            return None

        def state(_: Any) -> Any:
            angle = system.GetNodeOutput(crank, exu.OutputVariableType.Coordinates)[2]
            rate = system.GetNodeOutput(crank, exu.OutputVariableType.Coordinates_t)[2]
            return np.array([angle + minimal.ANGLE, rate])

        yield Rung(f"step {h:.1e} s", run, state, error)


def settings_for(h: float, method: str) -> Any:
    """Settings of a run with the step h [s]."""
    settings = exu.SimulationSettings()
    settings.timeIntegration.endTime = minimal.DURATION
    settings.timeIntegration.numberOfSteps = round(minimal.DURATION / h)
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.generalizedAlpha.spectralRadius = 1.0 if method == "trapezoidal" else 0.95
    settings.timeIntegration.generalizedAlpha.computeInitialAccelerations = True
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = minimal.DURATION
    settings.displayComputationTime = False
    settings.linearSolverType = exu.LinearSolverType.EXUdense
    return settings


def varied_run(masses: Sequence[float], h: float) -> tuple[float, float]:
    """Crank angle and rate at the end for other masses, by the trapezoidal rule of index 2: for worker processes."""
    system, crank = build(masses)
    solver = exu.DynamicSolverType.TrapezoidalIndex2
    if not system.SolveDynamic(
        settings_for(h, "trapezoidal"), solverType=solver, storeSolver=False, showHints=False
    ):
        raise ArithmeticError("the solver gave up")
    angle = system.GetNodeOutput(crank, exu.OutputVariableType.Coordinates)[2]
    rate = system.GetNodeOutput(crank, exu.OutputVariableType.Coordinates_t)[2]
    return float(angle + minimal.ANGLE), float(rate)


def build(masses: Sequence[float] = minimal.MASSES) -> tuple[Any, Any]:
    """The assembled system and the node of the crank."""
    container = exu.SystemContainer()
    system = container.AddSystem()
    a, w = minimal.ANGLE, minimal.RATE
    pin = np.array([CRANK * math.cos(a), CRANK * math.sin(a)])
    b = math.asin(-pin[1] / ROD)
    reach = pin[0] + ROD * math.cos(b)
    wb = -CRANK * math.cos(a) * w / (ROD * math.cos(b))
    pin_speed = w * np.array([-pin[1], pin[0]])
    end_speed = pin_speed + wb * ROD * np.array([-math.sin(b), math.cos(b)])
    gravity = [0.0, -minimal.GRAVITY, 0.0]
    rod_centre = 0.5 * (pin + np.array([reach, 0.0]))

    def body(
        mass: float, moment: float, place: Any, angle: float, velocity: Any, rate: float
    ) -> tuple[Any, Any]:
        node = system.AddNode(
            Rigid2D(
                referenceCoordinates=[*place, angle],
                initialVelocities=[*velocity, rate],
                initialCoordinates=[0, 0, 0],
            )
        )
        item = system.AddObject(RigidBody2D(physicsMass=mass, physicsInertia=moment, nodeNumber=node))
        system.AddLoad(Force(
            markerNumber=system.AddMarker(MarkerBodyPosition(bodyNumber=item)),
            loadVector=[mass * g for g in gravity],
        ))  # fmt: skip
        return node, item

    crank, crank_body = body(masses[0], minimal.INERTIAS[0], 0.5 * pin, a, 0.5 * pin_speed, w)
    middle_speed = 0.5 * (pin_speed + end_speed)
    _, rod_body = body(masses[1], minimal.INERTIAS[1], rod_centre, b, middle_speed, wb)
    ground = system.AddObject(ObjectGround())
    slider_node = system.AddNode(
        Point2D(referenceCoordinates=[reach, 0.0], initialVelocities=[float(end_speed[0]), 0.0])
    )
    slider = system.AddObject(MassPoint2D(physicsMass=masses[2], nodeNumber=slider_node))

    def marker(item: Any, place: list[float]) -> Any:
        return system.AddMarker(MarkerBodyPosition(bodyNumber=item, localPosition=place))

    half_crank, half_rod = 0.5 * CRANK, 0.5 * ROD
    for first, second in (
        (marker(ground, [0, 0, 0]), marker(crank_body, [-half_crank, 0, 0])),
        (marker(crank_body, [half_crank, 0, 0]), marker(rod_body, [-half_rod, 0, 0])),
        (marker(rod_body, [half_rod, 0, 0]), marker(slider, [0, 0, 0])),
    ):
        system.AddObject(RevoluteJoint2D(markerNumbers=[first, second]))
    still = system.AddNode(PointGround())
    system.AddObject(CoordinateConstraint(markerNumbers=[
        system.AddMarker(MarkerNodeCoordinate(nodeNumber=still, coordinate=0)),
        system.AddMarker(MarkerNodeCoordinate(nodeNumber=slider_node, coordinate=1)),
    ]))  # fmt: skip
    system.Assemble()
    # The container owns the system and must live as long.
    system.variables["container"] = container
    return system, crank

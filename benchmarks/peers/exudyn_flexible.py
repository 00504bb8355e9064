"""The flexible slider-crank of paper B in Exudyn: ANCF cable elements, fully nonlinear, implicit fixed steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import exudyn as exu
import numpy as np
from exudyn.itemInterface import (
    Cable2D,
    CoordinateConstraint,
    MarkerBodyPosition,
    MarkerNodeCoordinate,
    MarkerNodePosition,
    ObjectGround,
    Point2DS1,
    PointGround,
    RevoluteJoint2D,
    Rigid2D,
    RigidBody2D,
    SensorNode,
)

from bellcrank.verify.flexible_slider_crank import CRANK, DIAMETER, ROD, SPEED, STEEL, TURN


def prepared(elements: int, steps: int) -> tuple[Callable[[], None], Callable[[], float]]:
    """A run of one turn, and the largest deflection over the length it found."""
    container = exu.SystemContainer()
    system = container.AddSystem()
    area, second = math.pi * DIAMETER**2 / 4, math.pi * DIAMETER**4 / 64
    ground = system.AddObject(ObjectGround())
    fixed = system.AddMarker(MarkerNodeCoordinate(nodeNumber=system.AddNode(PointGround()), coordinate=0))
    node = system.AddNode(Rigid2D(referenceCoordinates=[0.0, 0.0, 0.0], initialVelocities=[0.0, 0.0, SPEED]))
    crank = system.AddObject(RigidBody2D(nodeNumber=node, physicsMass=0.1, physicsInertia=1e-3))
    at = [
        system.AddMarker(MarkerBodyPosition(bodyNumber=b, localPosition=[x, 0.0, 0.0]))
        for b, x in ((ground, 0.0), (crank, 0.0), (crank, CRANK))
    ]
    system.AddObject(RevoluteJoint2D(markerNumbers=at[:2]))
    angle = system.AddMarker(MarkerNodeCoordinate(nodeNumber=node, coordinate=2))
    system.AddObject(CoordinateConstraint(markerNumbers=[fixed, angle], offset=SPEED, velocityLevel=True))
    # Rigid-body velocities of the extended start: the far end stands still, the rod turns backwards.
    rate = -SPEED * CRANK / ROD
    nodes = []
    for k in range(elements + 1):
        x = ROD * k / elements
        start = [0.0, SPEED * CRANK + rate * x, 0.0, rate]
        nodes.append(
            system.AddNode(
                Point2DS1(referenceCoordinates=[CRANK + x, 0.0, 1.0, 0.0], initialVelocities=start)
            )
        )
    for a, b in pairwise(nodes):
        system.AddObject(
            Cable2D(
                physicsLength=ROD / elements,
                physicsMassPerLength=STEEL.density * area,
                physicsBendingStiffness=STEEL.young * second,
                physicsAxialStiffness=STEEL.young * area,
                nodeNumbers=[a, b],
            )
        )
    first = system.AddMarker(MarkerNodePosition(nodeNumber=nodes[0]))
    system.AddObject(RevoluteJoint2D(markerNumbers=[at[2], first]))
    guided = system.AddMarker(MarkerNodeCoordinate(nodeNumber=nodes[-1], coordinate=1))
    system.AddObject(CoordinateConstraint(markerNumbers=[fixed, guided]))
    watched = [
        system.AddSensor(
            SensorNode(nodeNumber=n, storeInternal=True, outputVariableType=exu.OutputVariableType.Position)
        )
        for n in (nodes[0], nodes[elements // 2], nodes[-1])
    ]
    system.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.endTime = TURN
    settings.timeIntegration.numberOfSteps = steps
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.generalizedAlpha.computeInitialAccelerations = True
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = TURN / steps
    settings.displayComputationTime = False
    settings.linearSolverType = exu.LinearSolverType.EXUdense

    def run() -> None:
        try:
            done = system.SolveDynamic(
                settings,
                solverType=exu.DynamicSolverType.TrapezoidalIndex2,
                storeSolver=False,
                showHints=False,
            )
        except exu.SolverError as error:
            raise ArithmeticError("the solver gave up") from error
        if not done:
            raise ArithmeticError("the solver gave up")

    def peak() -> float:
        a, m, b = (np.asarray(system.GetSensorStoredData(s))[:, 1:3] for s in watched)
        chord: Any = (b - a) / np.linalg.norm(b - a, axis=1)[:, None]
        arm = m - a
        return float(np.abs(chord[:, 0] * arm[:, 1] - chord[:, 1] * arm[:, 0]).max() / ROD)

    return run, peak

"""The slider-crank and the four-bar of :mod:`benchmarks.rods` in Exudyn: geometrically exact beams, implicit steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import exudyn as exu
import numpy as np
from exudyn.itemInterface import (
    Beam2D,
    CoordinateConstraint,
    MarkerBodyPosition,
    MarkerBodyRigid,
    MarkerNodeCoordinate,
    MarkerNodePosition,
    ObjectGround,
    PointGround,
    RevoluteJoint2D,
    Rigid2D,
    RigidBody2D,
    SensorNode,
    Torque,
)

from benchmarks.rods import (
    CRANK,
    CRANK_INERTIA,
    CRANK_MASS,
    DURATION,
    SAMPLES,
    SECTION,
    SLIDER,
    STUFF,
    TORQUE,
    Layout,
)


def prepared(
    layout: Layout, elements: int, steps: int
) -> tuple[Callable[[], None], Callable[[], np.ndarray[Any, Any]]]:
    """A run, and what it found: places of the last joint and of the middle of the first rod at the samples."""
    container = exu.SystemContainer()
    system = container.AddSystem()
    ground = system.AddObject(ObjectGround())
    fixed = system.AddMarker(MarkerNodeCoordinate(nodeNumber=system.AddNode(PointGround()), coordinate=0))
    c = np.array(layout.crank) / CRANK
    node = system.AddNode(Rigid2D(referenceCoordinates=[0.0, 0.0, float(np.arctan2(c[1], c[0]))]))
    # The crank's mass lies in its bearing.
    crank = system.AddObject(
        RigidBody2D(nodeNumber=node, physicsMass=CRANK_MASS, physicsInertia=CRANK_INERTIA)
    )
    at = [
        system.AddMarker(MarkerBodyPosition(bodyNumber=b, localPosition=[x, 0.0, 0.0]))
        for b, x in ((ground, 0.0), (crank, 0.0), (crank, CRANK))
    ]
    system.AddObject(RevoluteJoint2D(markerNumbers=at[:2]))
    turned = system.AddMarker(MarkerBodyRigid(bodyNumber=crank, localPosition=[0.0, 0.0, 0.0]))
    system.AddLoad(Torque(markerNumber=turned, loadVector=[0.0, 0.0, TORQUE]))
    last = at[2]
    chains = []
    for a, b in pairwise(layout.joints):
        nodes = _rod(system, a, b, elements)
        chains.append(nodes)
        first = system.AddMarker(MarkerNodePosition(nodeNumber=nodes[0]))
        system.AddObject(RevoluteJoint2D(markerNumbers=[last, first]))
        last = system.AddMarker(MarkerNodePosition(nodeNumber=nodes[-1]))
    if layout.slides:
        end = chains[-1][-1]
        system.AddObject(RigidBody2D(nodeNumber=end, physicsMass=SLIDER, physicsInertia=0.0))
        guided = system.AddMarker(MarkerNodeCoordinate(nodeNumber=end, coordinate=1))
        system.AddObject(CoordinateConstraint(markerNumbers=[fixed, guided]))
    else:
        pivot = [*layout.joints[-1], 0.0]
        there = system.AddMarker(MarkerBodyPosition(bodyNumber=ground, localPosition=pivot))
        system.AddObject(RevoluteJoint2D(markerNumbers=[there, last]))
    watched = [
        system.AddSensor(
            SensorNode(nodeNumber=n, storeInternal=True, outputVariableType=exu.OutputVariableType.Position)
        )
        for n in (chains[0][-1], chains[0][elements // 2])
    ]
    system.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.endTime = DURATION
    settings.timeIntegration.numberOfSteps = steps
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.generalizedAlpha.computeInitialAccelerations = True
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.7
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = DURATION / SAMPLES
    settings.displayComputationTime = False
    settings.linearSolverType = exu.LinearSolverType.EigenSparse

    def run() -> None:
        try:
            done = system.SolveDynamic(
                settings,
                solverType=exu.DynamicSolverType.GeneralizedAlpha,
                storeSolver=False,
                showHints=False,
            )
        except exu.SolverError as error:
            raise ArithmeticError("the solver gave up") from error
        if not done:
            raise ArithmeticError("the solver gave up")

    def found() -> np.ndarray[Any, Any]:
        columns = [np.asarray(system.GetSensorStoredData(s)) for s in watched]
        times = np.linspace(0.0, DURATION, SAMPLES + 1)
        return np.column_stack([np.interp(times, one[:, 0], one[:, k]) for one in columns for k in (1, 2)])

    return run, found


def _rod(system: Any, a: Sequence[float], b: Sequence[float], elements: int) -> list[Any]:
    start, end = np.array(a), np.array(b)
    angle = float(np.arctan2(*(end - start)[::-1]))
    length = float(np.linalg.norm(end - start))
    nodes = [
        system.AddNode(Rigid2D(referenceCoordinates=[*(start + (end - start) * k / elements), angle]))
        for k in range(elements + 1)
    ]
    for pair in pairwise(nodes):
        system.AddObject(
            Beam2D(
                nodeNumbers=list(pair),
                physicsLength=length / elements,
                physicsMassPerLength=STUFF.density * SECTION.area,
                physicsCrossSectionInertia=STUFF.density * SECTION.bending_z,
                physicsBendingStiffness=STUFF.young * SECTION.bending_z,
                physicsAxialStiffness=STUFF.young * SECTION.area,
                physicsShearStiffness=SECTION.shear_y * STUFF.shear * SECTION.area,
                includeReferenceRotations=False,
            )
        )
    return nodes

"""The bouncing ball: time of the first impact, speed of the rebound, and what a second of it costs.

A ball of 1 kg and radius 0.2 m falls from 1 m with e = 0.8. Closed forms: sqrt(2 h / g) and 0.8 sqrt(2 g h) with
h = 0.8 m. Peers other than PyBullet know no coefficient of restitution: their contact is a spring and damper whose
damping gives that e where the contact cannot pull (Schwager and Poeschel, 2007; Drake: Hunt and Crossley), as stiff as
their step bears. Each runs one second. A peer's impact is the first step at which it has met the ground, its rebound
the largest speed afterwards.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.timing import Timing

G, HEIGHT, RADIUS, RESTITUTION, DURATION = 9.81, 1.0, 0.2, 0.8, 1.0
FALL = HEIGHT - RADIUS
FIRST = math.sqrt(2.0 * FALL / G)
REBOUND = RESTITUTION * math.sqrt(2.0 * G * FALL)
STEPS = (1e-3, 1e-4)
STEPS_IN_CONTACT = 20
"""Steps during half an oscillation of a peer's contact."""


def damping_ratio(e: float) -> float:
    """Of a spring and damper that lets go when its force is zero, so that speeds are in the ratio e."""
    low, high = 0.0, 0.7
    for _ in range(60):
        zeta = 0.5 * (low + high)
        root = math.sqrt(1.0 - zeta * zeta)
        turn = math.pi - math.atan2(2.0 * zeta * root, 1.0 - 2.0 * zeta * zeta)
        low, high = (zeta, high) if math.exp(-zeta / root * turn) > e else (low, zeta)
    return low


DAMPING_RATIO = damping_ratio(RESTITUTION)


def stiffness(step: float) -> float:
    """Of a contact that lasts so many steps [N/m], for 1 kg."""
    return (math.pi / (STEPS_IN_CONTACT * step)) ** 2


def timed(run: Callable[[], tuple[float, float]], repeats: int = 5) -> Timing:
    """The fastest of a few runs, with the errors of impact time and rebound speed as its note."""
    best = math.inf
    first = rebound = math.nan
    for _ in range(repeats):
        began = time.perf_counter()
        first, rebound = run()
        best = min(best, time.perf_counter() - began)
    return Timing(best, note=f"impact {first - FIRST:+.1e} s, rebound {rebound - REBOUND:+.1e} m/s")


def ours(**options: Any) -> Timing:
    """Bellcrank at its usual tolerance; the first run, which compiles, is not counted."""
    from bellcrank.model import System

    system = System("ball", gravity=(0.0, 0.0, -G))
    ball = system.body("ball", mass=1.0, inertia=(0.4, 0.4, 0.4), at=(0.0, 0.0, HEIGHT))
    system.prismatic("shaft", system.ground, ball, axis="z")
    system.contact("bounce", system.ground.plane(), ball.sphere(RADIUS), restitution=RESTITUTION)
    mechanism = system.mechanism()

    def run() -> tuple[float, float]:
        impact = mechanism.simulate(DURATION, output=10, **options).impacts[0]
        return impact.time, impact.contacts[0].speed_after

    run()
    return timed(run)


def mujoco(step: float) -> Timing:
    """MuJoCo: contact by solref as stiffness and damping, impedance next to one."""
    import mujoco as mj

    k = stiffness(step)
    b = 2.0 * DAMPING_RATIO * math.sqrt(k)
    model = mj.MjModel.from_xml_string(f"""
    <mujoco><option timestep="{step}" gravity="0 0 -{G}" integrator="implicitfast"/>
      <worldbody>
        <geom type="plane" size="5 5 1" solref="-{k} -{b}" solimp="0.9999 0.9999 0.001"/>
        <body pos="0 0 {HEIGHT}"><joint type="slide" axis="0 0 1"/>
          <geom type="sphere" size="{RADIUS}" mass="1" solref="-{k} -{b}" solimp="0.9999 0.9999 0.001"/></body>
      </worldbody></mujoco>""")
    data = mj.MjData(model)

    def run() -> tuple[float, float]:
        mj.mj_resetData(model, data)
        first, rebound = math.nan, 0.0
        while data.time < DURATION:
            mj.mj_step(model, data)
            # Contacts are those of the state the step began with.
            if math.isnan(first) and data.ncon:
                first = data.time - step
            if not math.isnan(first):
                rebound = max(rebound, float(data.qvel[0]))
        return first, rebound

    return timed(run)


def exudyn(step: float) -> Timing:
    """Exudyn: a mass on a coordinate whose limit stop is a spring and damper."""
    import exudyn as exu
    import numpy as np
    from exudyn.itemInterface import (
        CoordinateSpringDamperExt,
        LoadCoordinate,
        MarkerNodeCoordinate,
        Mass1D,
        Node1D,
        NodeGenericData,
        NodePointGround,
        SensorNode,
    )

    k = stiffness(step)
    container = exu.SystemContainer()
    system = container.AddSystem()
    node = system.AddNode(Node1D(referenceCoordinates=[0.0]))
    system.AddObject(Mass1D(physicsMass=1.0, nodeNumber=node))
    marker = system.AddMarker(MarkerNodeCoordinate(nodeNumber=node, coordinate=0))
    ground = system.AddMarker(
        MarkerNodeCoordinate(nodeNumber=system.AddNode(NodePointGround()), coordinate=0)
    )
    system.AddLoad(LoadCoordinate(markerNumber=marker, load=-G))
    data = system.AddNode(NodeGenericData(initialCoordinates=[0.0] * 3, numberOfDataCoordinates=3))
    system.AddObject(
        CoordinateSpringDamperExt(
            markerNumbers=[ground, marker],
            nodeNumber=data,
            useLimitStops=True,
            limitStopsLower=-FALL,
            limitStopsUpper=10.0,
            limitStopsStiffness=k,
            limitStopsDamping=2.0 * DAMPING_RATIO * math.sqrt(k),
        )
    )
    sensors = [
        system.AddSensor(SensorNode(nodeNumber=node, storeInternal=True, outputVariableType=kind))
        for kind in (exu.OutputVariableType.Coordinates, exu.OutputVariableType.Coordinates_t)
    ]
    system.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.endTime = DURATION
    settings.timeIntegration.numberOfSteps = round(DURATION / step)
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.generalizedAlpha.spectralRadius = 1.0
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = step

    def run() -> tuple[float, float]:
        if not system.SolveDynamic(settings, storeSolver=False, showHints=False):
            raise ArithmeticError("the solver gave up")
        place, speed = (np.asarray(system.GetSensorStoredData(s)) for s in sensors)
        touched = np.flatnonzero(place[:, 1] <= -FALL)
        return float(place[touched[0], 0]), float(speed[touched[0] :, 1].max())

    return timed(run)


def dissipation(e: float, speed: float) -> float:
    """Of Hunt and Crossley's force k x (1 + d v), so that e of this speed is left after it [s/m].

    With a = d speed the work in and out balances where a - ln(1 + a) = -e a - ln(1 - e a).
    """
    low, high = 0.0, (1.0 - 1e-12) / e
    for _ in range(200):
        a = 0.5 * (low + high)
        left = a - math.log1p(a) + e * a + math.log1p(-e * a)
        low, high = (a, high) if left > 0.0 else (low, a)
    return low / speed


def drake(step: float) -> Timing:
    """Drake: point contact after Hunt and Crossley, whose dissipation gives e at the speed of the first impact.

    With a step its discrete solver, as stiff as that bears. Its implicit Euler step damps a contact of so few steps by
    itself: that is what the rebound lacks. Without a step its continuous plant, error control 1e-8 and 1e8 N/m,
    looked at every 0.1 ms.
    """
    import numpy as np
    from pydrake.geometry import AddContactMaterial, HalfSpace, ProximityProperties, Sphere
    from pydrake.math import RigidTransform
    from pydrake.multibody.plant import (
        AddMultibodyPlantSceneGraph,
        CoulombFriction,
        DiscreteContactApproximation,
    )
    from pydrake.multibody.tree import PrismaticJoint, SpatialInertia, UnitInertia
    from pydrake.systems.analysis import Simulator
    from pydrake.systems.framework import DiagramBuilder

    k = stiffness(step) if step else 1e8
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, time_step=step)
    if step:
        plant.set_discrete_contact_approximation(DiscreteContactApproximation.kLagged)
    inertia = SpatialInertia(1.0, np.zeros(3), UnitInertia.SolidSphere(RADIUS))
    body = plant.AddRigidBody("ball", inertia)
    joint = plant.AddJoint(PrismaticJoint("shaft", plant.world_frame(), body.body_frame(), [0.0, 0.0, 1.0]))
    for owner, shape in ((plant.world_body(), HalfSpace()), (body, Sphere(RADIUS))):
        properties = ProximityProperties()
        # Two equal springs in series; dissipation is averaged over both.
        AddContactMaterial(
            dissipation=dissipation(RESTITUTION, math.sqrt(2.0 * G * FALL)),
            point_stiffness=2.0 * k,
            friction=CoulombFriction(0.0, 0.0),
            properties=properties,
        )
        plant.RegisterCollisionGeometry(owner, RigidTransform(), shape, f"{owner.name()} shape", properties)
    plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -G])
    plant.Finalize()
    diagram = builder.Build()
    simulator = Simulator(diagram)
    if not step:
        simulator.get_mutable_integrator().set_target_accuracy(1e-8)
    look = step or STEPS[-1]

    def run() -> tuple[float, float]:
        context = simulator.get_mutable_context()
        context.SetTime(0.0)
        mine = plant.GetMyMutableContextFromRoot(context)
        joint.set_translation(mine, HEIGHT)
        joint.set_translation_rate(mine, 0.0)
        simulator.Initialize()
        first, rebound = math.nan, 0.0
        for n in range(1, round(DURATION / look) + 1):
            simulator.AdvanceTo(n * look)
            speed = joint.get_translation_rate(mine)
            if math.isnan(first) and (speed > 0.0 or joint.get_translation(mine) <= RADIUS):
                first = n * look
            if not math.isnan(first):
                rebound = max(rebound, speed)
        return first, rebound

    return timed(run, 2)


def measurements() -> Iterator[tuple[str, str, Callable[[], Timing]]]:
    """(case, code, measurement)."""
    case = "ball, 1 s"
    for name, peer in (("mujoco", mujoco), ("exudyn", exudyn), ("drake", drake), ("pybullet", pybullet)):
        for step in STEPS:
            yield case, f"{name}, step {step:g} s", lambda p=peer, h=step: p(h)
    yield case, "drake, continuous", lambda: drake(0.0)
    yield case, "bellcrank dense", lambda: ours()
    yield case, "bellcrank queue, 0.01 s", lambda: ours(impacts="queue", max_step=0.01)


def pybullet(step: float) -> Timing:
    """PyBullet: restitution as a property of both bodies.

    By default it brakes bodies that are about to touch, and nothing of their speed is left to give back; so contacts
    are dealt with only where shapes overlap. Pushing overlapping shapes apart would add 0.2 m/s: switched off.
    """
    import pybullet as pb

    client = pb.connect(pb.DIRECT)
    pb.setTimeStep(step)
    pb.setGravity(0.0, 0.0, -G)
    pb.setPhysicsEngineParameter(contactERP=0.0, restitutionVelocityThreshold=0.0)
    floor = pb.createMultiBody(0.0, pb.createCollisionShape(pb.GEOM_PLANE))
    ball = pb.createMultiBody(1.0, pb.createCollisionShape(pb.GEOM_SPHERE, radius=RADIUS))
    for body, e in ((floor, 1.0), (ball, RESTITUTION)):
        pb.changeDynamics(body, -1, restitution=e, contactProcessingThreshold=0.0)
    pb.changeDynamics(ball, -1, linearDamping=0.0, angularDamping=0.0)

    def run() -> tuple[float, float]:
        pb.resetBasePositionAndOrientation(ball, (0.0, 0.0, HEIGHT), (0.0, 0.0, 0.0, 1.0))
        pb.resetBaseVelocity(ball, (0.0, 0.0, 0.0))
        first, rebound = math.nan, 0.0
        for n in range(1, round(DURATION / step) + 1):
            pb.stepSimulation()
            speed = pb.getBaseVelocity(ball)[0][2]
            if math.isnan(first) and speed > 0.0:
                first = n * step
            rebound = max(rebound, speed)
        return first, rebound

    try:
        return timed(run, 2)
    finally:
        pb.disconnect(client)

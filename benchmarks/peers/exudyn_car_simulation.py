"""The full car over the bump in Exudyn: 22 rigid bodies, all joints by multipliers, implicit fixed steps.

Springs, dampers and the actuator of the rack are Exudyn's own connectors. The tyre law is a symbolic user function:
recorded once from Python and evaluated inside Exudyn, so that no interpreter is in its loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import exudyn as exu
import numpy as np
from exudyn.itemInterface import (
    GenericJoint,
    LinearSpringDamper,
    MarkerBodyRigid,
    ObjectGround,
    PrismaticJointX,
    RevoluteJointZ,
    RigidBodySpringDamper,
    SensorBody,
    SphericalJoint,
    SpringDamper,
)
from exudyn.rigidBodyUtilities import RigidBodyInertia
from exudyn.utilities import CreateSymbolicUserFunction

from benchmarks import varied
from benchmarks.peers.car import load_car
from benchmarks.peers.car_state import placements
from benchmarks.simulation import Rung
from benchmarks.simulation_car import error, reference, start
from benchmarks.simulation_slider_crank import ladder

Places = Mapping[str, tuple[Any, Any, Any, Any]]
"""Of all bodies, as `placements` gives them."""


@dataclass(frozen=True)
class Model:
    """The assembled system, its bodies by name, the sensor on the chassis, and what must live as long."""

    system: Any
    bodies: dict[str, Any]
    chassis: Any
    kept: tuple[Any, ...]


def car(method: str) -> Iterator[Rung]:
    """Rungs of falling step; `method` is "alpha" (spectral radius 0.95) or "trapezoidal"."""
    model = build()
    samples = len(reference()[0]) - 1
    for h in ladder(1e-2, 3e-4, 6):
        steps = samples * max(1, round(1.0 / (samples * h)))

        def run(steps: int = steps) -> Any:
            solve(model.system, method, 1.0, steps, 1.0 / samples)
            return np.array(model.system.GetSensorStoredData(model.chassis))[:, 1:4]

        yield Rung(f"step {1e3 / steps:.3g} ms", run, lambda found: found, error)


def solve(system: Any, method: str, duration: float, steps: int, period: float) -> None:
    """Run with fixed steps; the sensors write once a period [s]."""
    settings = exu.SimulationSettings()
    integration = settings.timeIntegration
    integration.endTime = duration
    integration.numberOfSteps = steps
    integration.verboseMode = 0
    integration.newton.useModifiedNewton = True
    integration.generalizedAlpha.spectralRadius = 0.95 if method == "alpha" else 1.0
    integration.generalizedAlpha.computeInitialAccelerations = True
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = period
    settings.show.computationTime = False
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    solvers = exu.DynamicSolverType
    kind = solvers.GeneralizedAlpha if method == "alpha" else solvers.TrapezoidalIndex2
    if not system.SolveDynamic(settings, solverType=kind, storeSolver=False, showHints=False):
        raise ArithmeticError("the solver gave up")


def varied_run(places: Places, factors: Mapping[str, float], method: str, steps: int, samples: int) -> Any:
    """Chassis positions [m] over one second of another car, from its own start: for worker processes."""
    model = build(places, factors)
    solve(model.system, method, 1.0, steps, 1.0 / samples)
    return np.array(model.system.GetSensorStoredData(model.chassis))[:, 1:4]


def build(places: Places | None = None, factors: Mapping[str, float] | None = None) -> Model:
    """The car, standing as our start state or as `places` say.

    factors: on what is varied, by the names of our parameters: "front spring", "rear damper", "mass of chassis".
    """
    from bellcrank.verify.full_car import full_car_data

    numbers, design = full_car_data(), load_car()
    if places is None:
        places = placements(start())
    changed, used = dict(factors or {}), set()

    def factor(name: str) -> float:
        used.add(name)
        return changed.get(name, 1.0)

    container = exu.SystemContainer()
    system = container.AddSystem()
    ground = system.AddObject(ObjectGround())
    centres = {link.number: link.centre for link in design.links}
    names = {link.number: link.name for link in design.links}
    bodies = {}
    for link in design.links:
        position, rotation, velocity, spin = places[link.name]
        bodies[link.name] = system.CreateRigidBody(
            name=link.name,
            referencePosition=position,
            referenceRotationMatrix=rotation,
            initialVelocity=velocity,
            initialAngularVelocity=spin,
            inertia=RigidBodyInertia(
                mass=link.mass * factor(f"mass of {link.name}"), inertiaTensor=link.inertia
            ),
            gravity=design.gravity,
        )

    def marker(body: int, point: Any) -> Any:
        # Bodies keep the axes of the world in the design pose, so points are given by differences.
        place = np.asarray(point) - centres[body]
        return system.AddMarker(MarkerBodyRigid(bodyNumber=bodies[names[body]], localPosition=place))

    for link in design.links:
        if link.joint == "free":
            continue
        ends = [marker(link.parent, link.point), marker(link.number, link.point)]
        system.AddObject(joint(link.joint, ends, link.axes))
    for cut in design.cuts:
        ends = [marker(cut.body_a, cut.point), marker(cut.body_b, cut.point)]
        system.AddObject(SphericalJoint(markerNumbers=ends))
    for spring in numbers["springs"]:
        axle = varied.axle(spring["name"])
        system.AddObject(SpringDamper(
            markerNumbers=[marker(spring[f"body_{side}"], spring[f"point_{side}"]) for side in "ab"],
            stiffness=spring["stiffness"] * factor(f"{axle} spring"),
            damping=spring["damping"] * factor(f"{axle} damper"),
            referenceLength=spring["free_length"],
        ))  # fmt: skip
    if changed.keys() - used:
        raise KeyError(f"nothing here varies with {', '.join(sorted(changed.keys() - used))}")
    actuator = numbers["rack_actuator"]
    system.AddObject(LinearSpringDamper(
        markerNumbers=[marker(actuator[side], actuator["point"]) for side in ("parent", "body")],
        axisMarker0=actuator["axis"], stiffness=actuator["stiffness"], damping=actuator["damping"],
    ))  # fmt: skip
    road = system.AddMarker(MarkerBodyRigid(bodyNumber=ground))
    bump = numbers["scenarios"]["bump"]["bump"]
    laws = []
    for tyre in numbers["tyres"]:
        ends = [road, marker(tyre["body"], centres[tyre["body"]])]
        item = system.AddObject(RigidBodySpringDamper(markerNumbers=ends))
        law = CreateSymbolicUserFunction(
            system, tyre_law(tyre, bump), "springForceTorqueUserFunction", itemIndex=item
        )
        system.SetObjectParameter(item, "springForceTorqueUserFunction", law)
        laws.append(law)
    chassis = system.AddSensor(SensorBody(
        bodyNumber=bodies["chassis"], storeInternal=True, outputVariableType=exu.OutputVariableType.Position
    ))  # fmt: skip
    system.Assemble()
    return Model(system, bodies, chassis, (container, *laws))


def joint(kind: str, ends: list[Any], axes: tuple[Any, ...]) -> Any:
    """Exudyn's joint; the axis of a revolute one is z, of a prismatic one x, of a universal one y and z."""
    if kind == "spherical":
        return SphericalJoint(markerNumbers=ends)
    if kind == "universal":
        y, z = axes
        turned = np.column_stack([np.cross(y, z), y, z])
        # One rotation about x is locked: y of the first body stays at right angles to z of the second.
        return GenericJoint(
            markerNumbers=ends,
            constrainedAxes=[1, 1, 1, 1, 0, 0],
            rotationMarker0=turned,
            rotationMarker1=turned,
        )
    along = axes[0] / np.linalg.norm(axes[0])
    across = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
    across /= np.linalg.norm(across)
    third = np.cross(along, across)
    if kind == "revolute":
        turned = np.column_stack([across, third, along])
        return RevoluteJointZ(markerNumbers=ends, rotationMarker0=turned, rotationMarker1=turned)
    turned = np.column_stack([along, across, third])
    return PrismaticJointX(markerNumbers=ends, rotationMarker0=turned, rotationMarker1=turned)


def tyre_law(tyre: dict[str, Any], bump: dict[str, Any]) -> Callable[..., Any]:
    """Force and torque of the road on the wheel, about its centre, in world axes.

    The marker of the road lies at the origin, so displacement, rotation (about x, y, z one after the other) and
    velocities are those of the wheel; a connector pulls back where its force is positive.
    """
    sym = exu.symbolic
    radius, k, c = tyre["radius"], tyre["stiffness"], tyre["damping"]
    c_long, c_lat, load = tyre["c_long"], tyre["c_lat"], tyre["N_ref"]
    H, x0, length = bump["H"], bump["x0"], bump["length"]

    def law(mbs, t, item, x, angles, v, w, stiffness, damping, rotJ0, rotJ1, offset):  # type: ignore[no-untyped-def]
        # The second column of Rot(x) Rot(y) Rot(z), without its z component: the axle on the ground.
        sx, cx = sym.sin(angles[0]), sym.cos(angles[0])
        sy, cy = sym.sin(angles[1]), sym.cos(angles[1])
        sz, cz = sym.sin(angles[2]), sym.cos(angles[2])
        ax = -cy * sz
        ay = cx * cz - sx * sy * sz
        size = sym.sqrt(ax * ax + ay * ay)
        ex, ey = ay / size, -ax / size
        s = (x[0] - x0) / length
        inside = (s > 0.0) * (s < 1.0) * (x[1] > 0.0)
        sine = sym.sin(math.pi * s)
        cube = sine * sine * sine
        h = inside * (H * cube * sine)
        hx = inside * (4.0 * H * math.pi / length * cube * sym.cos(math.pi * s))
        depth = radius + h - x[2]
        raw = k * depth + c * (hx * v[0] - v[2])
        N = (depth > 0.0) * sym.max(raw, sym.Real(0.0))
        down = h - x[2]
        px, py = v[0] + w[1] * down, v[1] - w[0] * down
        along = N / load * c_long * (px * ex + py * ey)
        across = N / load * c_lat * (py * ex - px * ey)
        fx = across * ey - along * ex
        fy = -along * ey - across * ex
        return sym.Vector([-fx, -fy, -N, down * fy, -down * fx, sym.Real(0.0)])

    return law

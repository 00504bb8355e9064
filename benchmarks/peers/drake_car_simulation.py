"""The full car over the bump in Drake: a tree with ball constraints, fixed steps of its SAP solver.

Springs, dampers and the actuator of the rack are Drake's own force elements. Drake takes forces like those of the
tyres from a system of the user; here that is a LeafSystem in Python, on plain floats, called once a step. Constraints
need a discrete plant, which is of order 1 and keeps them a little soft; below 0.3 ms its error grows again. Loops
closed by bushings in a continuous plant with Drake's Radau method are no quicker at 1e-4 m (4300 evaluations at
3e7 N/m) and stall at the stiffness that 1e-6 m would need.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydrake.common.value import AbstractValue
from pydrake.math import RigidTransform, RollPitchYaw, RotationMatrix
from pydrake.multibody.math import SpatialForce
from pydrake.multibody.plant import ExternallyAppliedSpatialForce, MultibodyPlant
from pydrake.multibody.tree import (
    BallRpyJoint,
    FixedOffsetFrame,
    JacobianWrtVariable,
    LinearSpringDamper,
    PrismaticJoint,
    PrismaticSpring,
    RevoluteJoint,
    RotationalInertia,
    SpatialInertia,
    UniversalJoint,
)
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder, LeafSystem

from benchmarks.peers.car import load_car
from benchmarks.peers.car_state import placements
from benchmarks.simulation import Rung
from benchmarks.simulation_car import error, reference, start
from benchmarks.simulation_slider_crank import ladder


@dataclass(frozen=True)
class Model:
    """A diagram of plant and tyres with the state to start from."""

    diagram: Any
    plant: Any
    q: Any
    v: Any

    def simulator(self) -> Any:
        """A simulator that stands at the start."""
        simulator = Simulator(self.diagram)
        context = self.plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
        self.plant.SetPositions(context, self.q)
        self.plant.SetVelocities(context, self.v)
        simulator.Initialize()
        return simulator


def car() -> Iterator[Rung]:
    """Rungs of falling step."""
    times = reference()[0]
    samples = len(times) - 1
    for h in ladder(2e-3, 3e-4, 6):
        steps = max(1, round(1.0 / (samples * h)))
        model = build(1.0 / (samples * steps))
        chassis = model.plant.GetBodyByName("chassis")

        def run(model: Model = model, chassis: Any = chassis) -> Any:
            simulator = model.simulator()
            context = model.plant.GetMyContextFromRoot(simulator.get_context())
            # A step is made at its beginning, so half a step before an output time exactly those before it are made.
            half = 0.5 * model.plant.time_step()
            found = [chassis.EvalPoseInWorld(context).translation()]
            for t in times[1:]:
                simulator.AdvanceTo(float(t) - half)
                found.append(chassis.EvalPoseInWorld(context).translation())
            return np.array(found)

        yield Rung(f"step {1e3 / (samples * steps):.3g} ms", run, lambda found: found, error)


def build(time_step: float) -> Model:
    """The car in our start state; every body frame lies in the centre of mass, with world axes in the design pose."""
    from bellcrank.verify.full_car import full_car_data

    numbers, design = full_car_data(), load_car()
    builder = DiagramBuilder()
    plant = builder.AddSystem(MultibodyPlant(time_step=time_step))
    plant.mutable_gravity_field().set_gravity_vector(design.gravity)
    centres = {link.number: link.centre for link in design.links}
    names = {link.number: link.name for link in design.links}
    bodies = {}
    for link in design.links:
        J = link.inertia
        moments = RotationalInertia(J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
        inertia = SpatialInertia.MakeFromCentralInertia(link.mass, np.zeros(3), moments)
        bodies[link.number] = plant.AddRigidBody(link.name, inertia)

    def frame(name: str, body: int, point: Any, axes: Any) -> Any:
        place = RigidTransform(RotationMatrix(axes), np.asarray(point) - centres[body])
        return plant.AddFrame(FixedOffsetFrame(name, bodies[body].body_frame(), place))

    joints = {}
    for link in design.links:
        if link.joint == "free":
            continue
        axes = np.column_stack([*link.axes, np.cross(*link.axes)]) if link.joint == "universal" else np.eye(3)
        ends = (frame(f"{link.name} {side}", body, link.point, axes)
                for side, body in (("inner", link.parent), ("outer", link.number)))  # fmt: skip
        match link.joint:
            case "revolute":
                made: Any = RevoluteJoint(link.name, *ends, link.axes[0])
            case "prismatic":
                damped = numbers["rack_actuator"]["body"] == link.number
                damping = numbers["rack_actuator"]["damping"] if damped else 0.0
                made = PrismaticJoint(link.name, *ends, link.axes[0], damping=damping)
            case "spherical":
                made = BallRpyJoint(link.name, *ends)
            case "universal":
                made = UniversalJoint(link.name, *ends)
        joints[link.number] = plant.AddJoint(made)
    for cut in design.cuts:
        a, b = cut.body_a, cut.body_b
        plant.AddBallConstraint(bodies[a], cut.point - centres[a], bodies[b], cut.point - centres[b])
    for spring in numbers["springs"]:
        ends = ((bodies[spring[f"body_{s}"]], np.array(spring[f"point_{s}"]) - centres[spring[f"body_{s}"]])
                for s in "ab")  # fmt: skip
        (a, at), (b, bt) = ends
        law = (spring["free_length"], spring["stiffness"], spring["damping"])
        plant.AddForceElement(LinearSpringDamper(a, at, b, bt, *law))
    actuator = numbers["rack_actuator"]
    plant.AddForceElement(PrismaticSpring(joints[actuator["body"]], 0.0, actuator["stiffness"]))
    plant.Finalize()
    tyres = builder.AddSystem(Tyres(plant, numbers, names))
    builder.Connect(plant.get_body_poses_output_port(), tyres.poses)
    builder.Connect(plant.get_body_spatial_velocities_output_port(), tyres.velocities)
    builder.Connect(tyres.forces, plant.get_applied_spatial_force_input_port())
    diagram = builder.Build()
    return Model(diagram, plant, *beginning(plant, design, joints))


def beginning(plant: Any, design: Any, joints: dict[int, Any]) -> tuple[Any, Any]:
    """Our start state in Drake's coordinates: angles from the rotations, speeds from the velocities of all bodies."""
    places = placements(start())
    context = plant.CreateDefaultContext()
    names = {link.number: link.name for link in design.links}
    for link in design.links:
        position, rotation, *_ = places[link.name]
        if link.joint == "free":
            pose = RigidTransform(RotationMatrix(rotation), position)
            plant.SetFreeBodyPose(context, plant.GetBodyByName(link.name), pose)
            continue
        at, turned, *_ = places[names[link.parent]]
        relative, joint = turned.T @ rotation, joints[link.number]
        across = [
            relative[2, 1] - relative[1, 2],
            relative[0, 2] - relative[2, 0],
            relative[1, 0] - relative[0, 1],
        ]
        match link.joint:
            case "revolute":
                angle = math.atan2(0.5 * np.dot(across, link.axes[0]), 0.5 * (np.trace(relative) - 1.0))
                joint.set_angle(context, angle)
            case "prismatic":
                parent = next(other for other in design.links if other.number == link.parent)
                moved = turned.T @ (position - at) - (link.centre - parent.centre)
                joint.set_translation(context, float(moved @ link.axes[0]))
            case "spherical":
                joint.set_angles(context, RollPitchYaw(RotationMatrix(relative)).vector())
            case "universal":
                axes = np.column_stack([*link.axes, np.cross(*link.axes)])
                R = axes.T @ relative @ axes
                joint.set_angles(context, [math.atan2(R[2, 1], R[1, 1]), math.atan2(R[0, 2], R[0, 0])])
    world = plant.world_frame()
    rows, wanted = [], []
    for link in design.links:
        body = plant.GetBodyByName(link.name).body_frame()
        rows.append(plant.CalcJacobianSpatialVelocity(
            context, JacobianWrtVariable.kV, body, np.zeros(3), world, world
        ))  # fmt: skip
        _, _, velocity, spin = places[link.name]
        wanted.append(np.concatenate([spin, velocity]))
    v = np.linalg.lstsq(np.vstack(rows), np.concatenate(wanted), rcond=None)[0]
    return plant.GetPositions(context).copy(), v


class Tyres(LeafSystem):  # type: ignore[misc]
    """The tyre law as applied forces; see "tyres" and "road bump" in the conventions of fullcar.json."""

    def __init__(self, plant: Any, numbers: dict[str, Any], names: dict[int, str]):
        super().__init__()
        self.plant = plant
        poses, velocities = (
            plant.get_body_poses_output_port(),
            plant.get_body_spatial_velocities_output_port(),
        )
        self.poses = self.DeclareAbstractInputPort("poses", poses.Allocate())
        self.velocities = self.DeclareAbstractInputPort("velocities", velocities.Allocate())
        empty = AbstractValue.Make([ExternallyAppliedSpatialForce()])
        self.forces = self.DeclareAbstractOutputPort("forces", lambda: empty.Clone(), self.push)
        self.bump = tuple(numbers["scenarios"]["bump"]["bump"][k] for k in ("H", "x0", "length"))
        keys = ("radius", "stiffness", "damping", "c_long", "c_lat", "N_ref")
        self.tyres = [
            (plant.GetBodyByName(names[t["body"]]).index(), *(t[k] for k in keys)) for t in numbers["tyres"]
        ]

    def push(self, context: Any, output: Any) -> None:
        """Forces of the road on the wheels at their lowest points, in world axes."""
        poses, velocities = self.poses.Eval(context), self.velocities.Eval(context)
        H, x0, length = self.bump
        pushed = []
        for index, radius, k, c, c_long, c_lat, load in self.tyres:
            pose, moving = poses[index], velocities[index]
            x, y, z = pose.translation()
            R = pose.rotation().matrix()
            vx, vy, vz = moving.translational()
            wx, wy, _ = moving.rotational()
            s = (x - x0) / length
            h = hx = 0.0
            if 0.0 < s < 1.0 and y > 0.0:
                sine = math.sin(math.pi * s)
                h = H * sine**4
                hx = 4.0 * H * sine**3 * math.cos(math.pi * s) * math.pi / length
            depth = radius + h - z
            N = k * depth + c * (hx * vx - vz) if depth > 0.0 else 0.0
            if N <= 0.0:
                continue
            ax, ay = R[0, 1], R[1, 1]
            size = math.sqrt(ax * ax + ay * ay)
            ex, ey = ay / size, -ax / size
            down = h - z
            px, py = vx + wy * down, vy - wx * down
            along = N / load * c_long * (px * ex + py * ey)
            across = N / load * c_lat * (py * ex - px * ey)
            force = ExternallyAppliedSpatialForce()
            force.body_index = index
            force.p_BoBq_B = R.T @ np.array([0.0, 0.0, down])
            force.F_Bq_W = SpatialForce(np.zeros(3), [across * ey - along * ex, -along * ey - across * ex, N])
            pushed.append(force)
        output.set_value(pushed)

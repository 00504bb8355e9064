"""The planar chain in Drake."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydrake.math import RigidTransform
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import FixedOffsetFrame, RevoluteJoint, SpatialInertia, UnitInertia

from benchmarks.timing import REPEATS, Timing, per_call


def chain_plant(links: int, length: float = 0.1, mass: float = 0.1) -> Any:
    """Links hanging one on the other by revolute joints about z; gravity along -y; continuous time."""
    plant = MultibodyPlant(time_step=0.0)
    plant.mutable_gravity_field().set_gravity_vector([0.0, -9.81, 0.0])
    square = length**2 / 12.0
    about_centre = UnitInertia(1e-2 * square, square, square)
    centre = np.array([length / 2, 0.0, 0.0])
    inertia = SpatialInertia(mass, centre, about_centre.ShiftFromCenterOfMass(centre))
    parent = plant.world_body()
    for i in range(links):
        body = plant.AddRigidBody(f"link_{i}", inertia)
        place = RigidTransform([length if i else 0.0, 0.0, 0.0])
        plant.AddJoint(
            RevoluteJoint(
                f"joint_{i}",
                plant.AddFrame(FixedOffsetFrame(f"pin_{i}", parent.body_frame(), place)),
                body.body_frame(),
                [0, 0, 1],
            )
        )
        parent = body
    plant.Finalize()
    return plant


def time_chain(links: int, repeats: int = REPEATS) -> Timing:
    """The accelerations of the chain, by its articulated body algorithm."""
    plant = chain_plant(links)
    context = plant.CreateDefaultContext()
    rng = np.random.default_rng(0)
    state = rng.uniform(-1, 1, 2 * links)
    plant.get_actuation_input_port().FixValue(context, np.zeros(plant.num_actuators()))
    port = plant.get_generalized_acceleration_output_port()

    def evaluate() -> Any:
        # Setting the state marks what is cached as out of date, otherwise nothing would be computed.
        plant.SetPositionsAndVelocities(context, state)
        return port.Eval(context)

    overhead = per_call(lambda: plant.SetPositionsAndVelocities(context, state), repeats)
    return Timing(per_call(evaluate, repeats) - overhead, overhead, "generalized acceleration")

"""Forces on welded bodies: on posts that never move, and on plates that ride on others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from bellcrank.mechanism import Formulation, analyse
from bellcrank.model import System
from formulations.comparison import AGREEMENT, body_difference, body_motion, random_state, solved
from reference import newton_euler
from reference.engine import turn


def yard() -> System:
    """A post on the ground, an arm with a plate welded to it, and a wheel on the plate."""
    system = System("yard", gravity=(0.3, -0.2, -9.81))
    system.body("post", 3.0, (1, 1, 1), at=(0.1, 0.2, 0.3), rotation=turn(np.array([0.3, -0.2, 0.5])))
    system.body("arm", 2.0, (0.5, 0.6, 0.7), (0.2, 0, 0.1), at=(1, 0, 0.2))
    system.body("plate", 1.0, (0.3, 0.2, 0.3), (0, 0.1, 0), at=(1.5, 0.5, 0.1), angle=0.7)
    system.body("wheel", 1.5, (0.2, 0.3, 0.2), at=(1.6, 0.9, 0.3), rotation=turn(np.array([0.2, 0.1, 0.4])))
    system.fixed("base", "ground", "post")
    system.spherical("shoulder", "post", "arm", at=(0.6, 0.1, 0.3))
    system.fixed("weld", "arm", "plate")
    system.revolute("axle", "plate", "wheel", at=(1.6, 0.8, 0.3), axis=(0.1, 1.0, 0.2))
    return system


def bushing(system: System, name: str, a: str, b: str) -> None:
    frame = system.body_named(a).frame((0.1, 0.2, 0.0), turn(np.array([0.1, 0.5, -0.3])))
    system.bushing(name, frame, b, (9, 8, 7, 3, 2, 1), (0.9, 0.8, 0.7, 0.3, 0.2, 0.1))


def tyre(system: System, name: str, body: str) -> None:
    system.ground_spring(
        name,
        system.body_named(body).point(0.1, 0, 0),
        axis="y",
        radius=0.9,
        stiffness=50.0,
        damping=2.0,
        longitudinal=3.0,
        lateral=4.0,
        reference_load=20.0,
        road=lambda x, y, t: 0.1 * np.sin(x + 2 * y + t),
    )


def applied(system: System, name: str, body: str, kind: str = "applied_force") -> None:
    def law(t, position, velocity, rotation, angular_velocity):
        return position - velocity + rotation[:, 1] + angular_velocity * np.cos(t)

    for axes in ("world", "body"):
        getattr(system, kind)(f"{name} {axes}", system.body_named(body).point(0.3, 0, 0.1), law, axes=axes)


PAIRS = (("post", "plate"), ("plate", "ground"), ("plate", "wheel"), ("arm", "plate"), ("ground", "post"))
FORCES: dict[str, Callable[[System], None]] = {
    **{
        f"spring {a} {b}": lambda s, a=a, b=b: s.spring(
            "coil", a, s.body_named(b).point(0, 0.1, 0.2), 30, 2, 0.4
        )
        for a, b in PAIRS
    },
    **{f"bushing {a} {b}": lambda s, a=a, b=b: bushing(s, "pad", a, b) for a, b in PAIRS},
    **{
        f"tyre {body}": lambda s, body=body: tyre(s, "tyre", body)
        for body in ("post", "plate", "wheel", "arm")
    },
    **{f"force {body}": lambda s, body=body: applied(s, "jet", body) for body in ("post", "plate", "wheel")},
    **{
        f"torque {body}": lambda s, body=body: applied(s, "motor", body, "applied_torque")
        for body in ("post", "plate", "wheel")
    },
    "torsion": lambda s: s.torsion_spring("clock spring", "axle", 3.0, 0.4, 0.2),
}


@pytest.mark.parametrize("force", FORCES)
def test_forces_on_welded_bodies_are_those_of_the_reference(force: str) -> None:
    system = yard()
    FORCES[force](system)
    found = analyse(system)
    state = random_state(found, np.random.default_rng(2), 0.2, t=0.4)
    for formulation in (Formulation.INDEPENDENT, Formulation.RECURSIVE):
        way = solved(found.traced(formulation), state, ())
        poses, velocities, accelerations = body_motion(found, state, way.du)
        expected = newton_euler.accelerations(system, None, state.t, poses, velocities)
        assert body_difference(accelerations, expected) < AGREEMENT


def test_forces_between_parts_that_cannot_move_apart_do_nothing() -> None:
    free = analyse(yard())
    state = random_state(free, np.random.default_rng(2), 0.2)
    expected = solved(free.traced(Formulation.INDEPENDENT), state, ()).du
    for force in ("tyre post", "spring arm plate", "spring ground post", "bushing ground post", "force post"):
        system = yard()
        FORCES[force](system)
        du = solved(analyse(system).traced(Formulation.INDEPENDENT), state, ()).du
        np.testing.assert_allclose(du, expected, atol=1e-11, err_msg=force)

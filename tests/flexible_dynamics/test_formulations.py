"""Flexible bodies in open and closed loops: all formulations, joints, forces, drivers and integrators."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.formulations.registry import FORMULATIONS
from bellcrank.integrate.methods import METHODS
from bellcrank.mechanism import Formulation
from bellcrank.program.functions import cos
from flexible_dynamics.members import FRAMES, LENGTH, rod, slider_crank
from formulations.comparison import AGREEMENT, difference, random_state, solved


def agree(system: bc.System, spread: float = 0.02, seed: int = 0) -> None:
    """All five formulations give the same accelerations in two states."""
    found = system.mechanism()
    rng = np.random.default_rng(seed)
    for away in (0.0, spread):
        state = random_state(found, rng, away, t=0.1)
        ways = {f: solved(found.traced(f), state, found.parameter_values) for f in FORMULATIONS}
        one = ways[Formulation.INDEPENDENT]
        for formulation, way in ways.items():
            assert difference(way.du, one.du) < AGREEMENT, formulation
            assert np.abs(way.residuals).max(initial=0.0) < 1e-11, formulation


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("cut", ["guide", "main", "pin", "wrist"])
def test_closed_loops_with_any_joint_cut(cut: str, frame: str) -> None:
    agree(slider_crank(rod(frame), cut))


JOINTS = (
    "fixed",
    "revolute",
    "prismatic",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "screw",
    "free",
)


AXES: dict[str, dict[str, object]] = {
    "fixed": {},
    "spherical": {},
    "free": {},
    "universal": {"axis_a": "z", "axis_b": "y"},
    "screw": {"axis": "z", "pitch": 0.03},
}


def joined(system: bc.System, kind: str, a: bc.Frame, b: bc.Frame, **more: object) -> None:
    getattr(system, kind)("between", a, b, **AXES.get(kind, {"axis": "z"}), **more)


@pytest.mark.parametrize("kind", JOINTS)
def test_every_joint_between_two_flexible_bodies(kind: str) -> None:
    """A chain that hangs on a middle node and carries a rod by its far end, seen from both sides."""
    system = bc.System("chain", gravity=(0.0, 0.0, -9.81))
    first = system.flexible_body("first", rod("mean axes", 3))
    second = system.flexible_body("second", rod("clamped", 3), at=(LENGTH, 0.0, 0.0))
    system.revolute("hinge", system.ground.point(0.5 * LENGTH, 0, 0), first.node("middle"), axis="y")
    joined(system, kind, first.node("end"), second.node("start"))
    agree(system)
    turned = bc.System("turned", gravity=(0.0, 0.0, -9.81))
    first = turned.flexible_body("first", rod("mean axes", 3))
    second = turned.flexible_body("second", rod("clamped", 3), at=(LENGTH, 0.0, 0.0))
    turned.revolute("hinge", first.node("middle"), turned.ground.point(0.5 * LENGTH, 0, 0), axis="y")
    joined(turned, kind, second.node("start"), first.node("end"))
    agree(turned)


@pytest.mark.parametrize("kind", [k for k in JOINTS if k != "free"])
def test_every_joint_as_a_cut_on_a_node(kind: str) -> None:
    """Two hanging rods tied together at their middles by a cut joint."""
    system = bc.System("tied", gravity=(0.0, 0.0, -9.81))
    first = system.flexible_body("first", rod("chord", 3))
    second = system.flexible_body("second", rod("mean axes", 3))
    system.spherical("a", system.ground.point(0, 0, 0), first.node("start"))
    system.free("b", system.ground.point(LENGTH, 0, 0), second.node("end"))
    joined(system, kind, first.node("middle"), second.node("middle"), cut=True)
    agree(system)


def test_forces_and_drivers_on_nodes() -> None:
    system = bc.System("loaded", gravity=(0.0, -9.81, 0.0))
    first = system.flexible_body("first", rod("chord", 4))
    second = system.flexible_body("second", rod("mean axes", 4), at=(0.0, 0.5, 0.0))
    drive = system.universal("u", system.ground.point(0, 0, 0), first.node("start"), axis_a="z", axis_b="y")
    system.spherical("s", system.ground.point(0, 0.5, 0), second.node("start"))
    system.spring(
        "spring", first.node("middle"), second.node("middle"), stiffness=500.0, free_length=0.4, damping=3.0
    )
    system.bushing(
        "bushing", first.node("end"), second.node("end"), stiffness=(100.0,) * 6, damping=(1.0,) * 6
    )
    system.applied_force("push", first.node("end"), lambda t: (1.0, 2.0 * cos(t), 3.0))
    system.applied_torque("twist", second.node("middle"), lambda t: (0.1, 0.2, 0.3))
    system.driver(drive, lambda t: 0.3 * t * t, coordinate="angle_a", name="motor")
    agree(system)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_all_integrators_take_flexible_bodies(method: str) -> None:
    system = slider_crank(rod("chord", 2, planar=True))
    more = {"step": 5e-5} if method in ("runge_kutta4", "generalised_alpha", "milne_hamming") else {}
    fine = system.simulate(0.02, initial={"main": (0.0, 5.0)}, tolerance=1e-11, integrator="dop853", output=3)
    run = system.simulate(0.02, initial={"main": (0.0, 5.0)}, integrator=method, output=3, **more)
    slip = np.abs(run["slider.position.x"][-1] - fine["slider.position.x"][-1])
    assert slip < 1e-5


def test_coordinates_chosen_as_dependent_do_not_matter() -> None:
    """Every cut chooses other coordinates; the motion stays (1e-6)."""
    ends = []
    for cut in ("guide", "main", "pin", "wrist"):
        for formulation in ("recursive", "partitioning", "lagrange"):
            system = slider_crank(rod("chord", 3, planar=True), cut)
            run = system.simulate(0.05, tolerance=1e-10, output=2, formulation=formulation)
            ends.append(np.append(run["slider.position"][-1], run["rod.modes"][-1]))
    spread = np.ptp(np.array(ends), axis=0)
    assert (spread < 1e-6 * np.abs(ends).max()).all()

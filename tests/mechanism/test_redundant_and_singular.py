"""Redundant, locked, contradictory, singular and massless mechanisms."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.errors import AssemblyError, SingularMechanism
from bellcrank.formulations.registry import FORMULATIONS
from bellcrank.mechanism import Formulation, State, analyse
from bellcrank.model import System
from bellcrank.program.evaluate import evaluate
from formulations.comparison import AGREEMENT, body_difference, body_motion, solved
from mechanism.linkages import bar, engine, four_bar, truss
from reference import newton_euler
from reference.mechanisms import mechanism


def test_a_plane_four_bar_of_spatial_hinges_drops_three_equations() -> None:
    found = analyse(four_bar())
    assert (found.coordinates, found.constraints, found.degrees_of_freedom) == (3, 5, 1)
    assert sorted(found.redundant) == [
        "cut joint 'elbow': axes x, z perpendicular",
        "cut joint 'elbow': axes y, z perpendicular",
        "cut joint 'elbow': z of the point",
    ]
    report = str(found)
    assert "5 constraint equations (3 redundant), 1 degree of freedom" in report
    for name in found.redundant:
        assert name in report
    assert analyse(engine(0.8)).degrees_of_freedom == 1


@pytest.mark.parametrize(
    ("family", "freedoms", "redundant"),
    [("bennett", 1, 3), ("bricard", 1, 1), ("parallel cranks", 1, 7), ("nested planar loops", 1, 12)],
)
@pytest.mark.parametrize("seed", range(2))
def test_overconstrained_linkages(family: str, freedoms: int, redundant: int, seed: int) -> None:
    found = analyse(mechanism(family, seed))
    assert (found.degrees_of_freedom, len(found.dropped)) == (freedoms, redundant)
    assert sorted([*found.kept, *found.dropped]) == list(range(found.constraints))


def test_a_triangle_is_locked() -> None:
    with pytest.raises(AssemblyError, match=r"'ridge' is locked: .*left, right cannot move; free a joint"):
        analyse(truss())
    hung = truss()
    hung.body("lamp", 1, (1, 1, 1), at=(1, 1, 0))
    hung.revolute("hook", "left", "lamp", at=(1, 1, 0))
    with pytest.raises(AssemblyError, match="'ridge' is locked"):
        analyse(hung)
    hinges = System("two hinges")
    hinges.body("door", 1, (1, 1, 1))
    hinges.revolute("upper", "ground", "door", at=(0, 0, 1))
    hinges.revolute("skew", "ground", "door", at=(0.2, 0, 0))
    with pytest.raises(AssemblyError, match=r"'skew' is locked.*door cannot move"):
        analyse(hinges)


def test_a_door_on_two_aligned_hinges_moves() -> None:
    system = System("door")
    system.body("door", 1, (1, 1, 1))
    system.revolute("upper", "ground", "door", at=(0, 0, 1))
    system.revolute("lower", "ground", "door", at=(0, 0, 0))
    found = analyse(system)
    assert (found.degrees_of_freedom, len(found.redundant)) == (1, 5)


def test_a_loop_moved_by_a_driver_is_not_locked() -> None:
    system = four_bar()
    system.driver("main", lambda t: np.pi / 2 + 2.0 * t)
    found = analyse(system)
    assert found.degrees_of_freedom == 0
    assert found.start.u[found.linkage.coordinate("main", "angle")[2]] == pytest.approx(2.0)
    ways = [solved(found.traced(f), found.start, ()).du for f in FORMULATIONS]
    poses, velocities, accelerations = body_motion(found, found.start, ways[0])
    expected = newton_euler.accelerations(system, None, 0.0, poses, velocities)
    assert body_difference(accelerations, expected) < AGREEMENT
    for way in ways:
        np.testing.assert_allclose(way, ways[0], atol=1e-12)


def two_drivers(second) -> System:
    system = System("overdriven")
    system.body("arm", 1, (1, 1, 1))
    system.revolute("hinge", "ground", "arm", at=(0, 0, 0))
    system.driver("hinge", lambda t: t, name="first")
    system.driver("hinge", second, name="second")
    return system


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (lambda t: 2 * t + 1, r"driver 'second' of 'overdriven' cannot be satisfied: nearest miss 500 mm"),
        (lambda t: 2 * t, "driver 'second' asks for a motion that is impossible.*let the drivers agree"),
        (lambda t: t + t**2, "driver 'second' fits the other drivers and joints at t = 0 s but not after"),
    ],
)
def test_contradictory_drivers(second, message: str) -> None:
    with pytest.raises(AssemblyError, match=message):
        analyse(two_drivers(second))


def test_drivers_that_agree_are_redundant() -> None:
    found = analyse(two_drivers(lambda t: 1.0 * t + 0.0))
    assert found.redundant == ("driver 'second': coordinate",)


def test_two_welds_fit_or_contradict() -> None:
    system = System("welded")
    plate = system.body("plate", 1, (1, 1, 1))
    system.fixed("first", "ground", plate)
    system.fixed("second", "ground", plate)
    found = analyse(system)
    assert (found.coordinates, found.degrees_of_freedom, len(found.redundant)) == (0, 0, 6)
    for formulation in FORMULATIONS:
        assert len(found.traced(formulation).du) == 0
    apart = System("apart")
    plate = apart.body("plate", 1, (1, 1, 1))
    apart.fixed("first", "ground", plate)
    apart.fixed("second", apart.ground.point(0, 0, 0.1), plate.point(0, 0, 0))
    with pytest.raises(
        AssemblyError, match=r"'second' of 'apart' cannot be satisfied: nearest miss 100 mm.*plate"
    ):
        analyse(apart)


def test_a_parallelogram_moves_but_not_through_its_change_point() -> None:
    assert analyse(four_bar((0, 0), (0, 1), (2, 1), (2, 0))).degrees_of_freedom == 1
    folded = analyse(four_bar((0, 0), (1, 0), (3, 0), (2, 0)))
    with pytest.raises(SingularMechanism, match=r"'four-bar' stands in a singular .*'elbow'.*to one side"):
        folded.traced()


def test_dead_centre() -> None:
    """The crank leads over the dead centre; a driven slider cannot begin there."""
    found = analyse(engine(0.0))
    assert found.degrees_of_freedom == 1
    assert "guide.displacement" not in [found.speed_names[i] for i in found.partition.independent]
    driven = engine(0.0)
    driven.driver("guide", lambda t: -0.1 * t, name="hydraulics")
    with pytest.raises(AssemblyError, match=r"'hydraulics' asks for a motion .*impossible.*dead centre"):
        analyse(driven)
    aside = engine(0.5)
    aside.driver("guide", lambda t: -0.1 * t, name="hydraulics")
    assert analyse(aside).degrees_of_freedom == 0


GHOSTS = {
    "free": "velocity_",
    "revolute": "angle",
    "prismatic": "displacement",
    "spherical": "angular_velocity_",
    "planar": "angle|x|y",
    "universal": "angle_",
    "screw": "angle",
}


@pytest.mark.parametrize("kind", GHOSTS)
def test_a_massless_body_that_moves_alone_is_refused(kind: str) -> None:
    system = System("haunted")
    system.body("ghost", 0.0)
    more = {} if kind == "free" else {"at": (0, 0, 0)}
    more |= {"pitch": 0.1} if kind == "screw" else {}
    more |= {"axis_a": "z", "axis_b": "x"} if kind == "universal" else {}
    getattr(system, kind)("tie", "ground", "ghost", **more)
    with pytest.raises(
        SingularMechanism, match=f"no mass or inertia opposes.*'tie.({GHOSTS[kind]}).*'ghost'"
    ):
        analyse(system)


def test_a_massless_tip_on_a_heavy_arm_is_refused_even_with_a_spring() -> None:
    system = System("feeler")
    system.body("arm", 1.0, (1, 1, 1))
    system.body("tip", 0.0, at=(1, 0, 0))
    system.revolute("shoulder", "ground", "arm", at=(0, 0, 0))
    system.revolute("wrist", "arm", "tip", at=(1, 0, 0))
    system.spring("hair", "tip", "ground", 1.0, 0.0, 0.5)
    with pytest.raises(
        SingularMechanism, match=r"'feeler': no mass .*'wrist.angle'.*'tip' a mass or an inertia"
    ):
        analyse(system)


def test_a_needle_may_not_spin_about_itself() -> None:
    """Mass without a moment about its axis: fine as a pendulum, not as a spindle."""
    for axis, fine in (("z", True), ("x", False)):
        system = System("needle")
        system.body("needle", 1.0, (0, 1, 1))
        system.revolute("bearing", "ground", "needle", at=(0, 0, 0), axis=axis)
        if fine:
            analyse(system)
        else:
            with pytest.raises(SingularMechanism, match=r"'bearing\.angle'"):
                analyse(system)


def test_a_rod_between_balls_may_not_spin_freely_without_inertia() -> None:
    def machine(rod_mass: float, moments: tuple[float, float, float]) -> System:
        system = System("linkage")
        system.body("crank", 1.0, (1, 1, 1), at=(0, 0, 0))
        system.body("rod", rod_mass, moments, at=(1, 0, 0))
        system.body("rocker", 1.0, (1, 1, 1), at=(1, 2, 0.5))
        system.revolute("a", "ground", "crank", at=(0, 0, 0), axis="z")
        system.spherical("b", "crank", "rod", at=(1, 0, 0))
        system.spherical("c", "rod", "rocker", at=(1, 1, 0))
        system.revolute("d", "ground", "rocker", at=(1, 2, 0.5), axis="x")
        return system

    assert analyse(machine(0.5, (0.1, 0.1, 0.1))).degrees_of_freedom == 2
    with pytest.raises(SingularMechanism, match=r"'b\.angular_velocity_.*'rod'"):
        analyse(machine(0.0, (0, 0, 0)))


@pytest.mark.parametrize(
    "family", ["massless rod", "massless coupler", "massless crank and slider", "massless cross"]
)
def test_massless_members_are_legal_where_others_carry_the_inertia(family: str) -> None:
    for seed in range(3):
        found = analyse(mechanism(family, seed))
        way = solved(found.traced(Formulation.AUTO), found.start, found.parameter_values)
        assert np.isfinite(way.du).all()


def test_very_light_members_are_legal() -> None:
    system = System("light")
    system.body("arm", 1.0, (1, 1, 1))
    system.body("tip", 1e-9, (1e-12, 1e-12, 1e-12), at=(1, 0, 0))
    system.revolute("shoulder", "ground", "arm", at=(0, 0, 0))
    system.revolute("wrist", "arm", "tip", at=(1, 0, 0))
    found = analyse(system)
    du = evaluate(found.traced(Formulation.RECURSIVE).accelerations, found.kernel_input())
    assert np.isfinite(du).all()


def test_partition_takes_the_whole_where_groups_are_not_enough() -> None:
    """Every state of a driven loop has a full partition, also where the drawing was not closed."""
    system = four_bar()
    bar(system, "tail", (2, 1.5), (3, 2))
    system.revolute("hinge", "rocker", "tail", at=(2, 1.5, 0))
    found = analyse(system)
    partition = found.choose_partition(State(0.0, found.start.q, found.start.u))
    assert len(partition.dependent) == len(found.kept) == 2
    assert len(partition.independent) == 2

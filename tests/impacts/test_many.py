"""Many contacts with friction, followed event by event: runs that end where they should, by both treatments alike."""

from __future__ import annotations

import math
from copy import deepcopy

import numpy as np
import pytest

from bellcrank.impacts import clock, coulomb_units, strikes
from bellcrank.mechanism import Mechanism, analyse
from bellcrank.model import System
from impacts.models import G
from impacts.test_stepping import box, on_floor

HALF = 0.1


def cube(restitution: float) -> System:
    """Of 0.2 m, tilted by 0.3 rad and dropped."""
    return on_floor((HALF,) * 3, 0.5, 0.3, restitution, 0.5)


def hopper() -> System:
    """A ball above three planes at 45 degrees."""
    system = System("hopper", gravity=(0.0, 0.0, -G))
    body = system.body("ball", mass=1.0, inertia=(0.004,) * 3, at=(0.03, 0.02, 0.5))
    system.free("flight", system.ground, body)
    sphere = body.sphere(HALF)
    for k in range(3):
        a = 2.0 * math.pi * k / 3.0
        wall = system.ground.plane(normal=(-math.cos(a), -math.sin(a), 1.0))
        system.contact(f"wall {k}", wall, sphere, restitution=0.5, friction=0.2)
    return system


def misses(mechanism: Mechanism, steps: list[float]) -> list[float]:
    """Mean distance of runs by steps from the one followed event by event [m]."""
    exact = mechanism.simulate(2.0, output=100)
    assert not exact.run.stepped
    found = []
    for step in steps:
        result = mechanism.simulate(2.0, impacts="stepping", step=step, output=100)
        found.append(float(np.linalg.norm(result.q[:, :3] - exact.q[:, :3], axis=1).mean()))
    return found


@pytest.mark.parametrize("restitution", [0.0, 0.3])
def test_cube_comes_to_rest_on_a_face(restitution: float) -> None:
    result = cube(restitution).simulate(2.0)
    assert not result.run.stepped
    assert result["box.position.z"][-1] == pytest.approx(HALF, abs=1e-10)
    assert np.abs(result.u[-1]).max() < 1e-12
    # It does not leave its plane of symmetry.
    assert np.abs(result["box.position.y"]).max() < 1e-8
    borne = sum(float(result[f"floor {k}.normal_force"][-1]) for k in range(1, 9))
    assert borne == pytest.approx(8.0 * G, rel=1e-9)
    assert result.ledger.relative_residual < 1e-6


def test_free_cube_falls_like_one_on_a_planar_joint() -> None:
    """Its joint locks one tangent of each corner."""
    system = System("box", gravity=(0.0, 0.0, -G))
    c, s = math.cos(0.3), math.sin(0.3)
    turned = [[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]
    inertia = (8.0 * 2.0 * HALF**2 / 3.0,) * 3
    body = system.body("box", mass=8.0, inertia=inertia, at=(0.0, 0.0, 0.5), rotation=turned)
    system.planar("plane", system.ground, body, axis="y")
    system.contact("floor", system.ground.plane(), body.box(*(HALF,) * 3), restitution=0.3, friction=0.5)
    guided, free = (each.simulate(2.0, output=50) for each in (system, cube(0.3)))
    assert guided["box.position"][-1] == pytest.approx(free["box.position"][-1], abs=1e-6)


def test_cube_by_steps_comes_to_that_by_events() -> None:
    steps = np.array([4e-3, 1e-3, 2.5e-4])
    found = misses(analyse(cube(0.0)), steps.tolist())
    assert np.polyfit(np.log(steps), np.log(found), 1)[0] > 0.9
    assert found[-1] < 1e-4


def test_ball_in_a_hopper_by_steps_comes_to_that_by_events() -> None:
    mechanism = analyse(hopper())
    result = mechanism.simulate(2.0)
    assert result["ball.position"][-1] == pytest.approx([0.0, 0.0, HALF * math.sqrt(2.0)], abs=1e-9)
    assert np.diff(result["energy.total"]).max() < 1e-8 * np.ptp(result["energy.total"])
    steps = np.array([4e-3, 1e-3, 2.5e-4])
    found = misses(mechanism, steps.tolist())
    assert np.polyfit(np.log(steps), np.log(found), 1)[0] > 0.7


def test_elastic_balls_that_fall_in_touch_keep_their_energy() -> None:
    system = System("balls", gravity=(0.0, 0.0, -G))
    shapes = []
    for name, height in (("lower", 0.5), ("upper", 0.7)):
        body = system.body(name, mass=1.0, inertia=(0.004,) * 3, at=(0.0, 0.0, height))
        system.prismatic(f"{name} guide", system.ground, body, axis="z")
        shapes.append(body.sphere(HALF))
    system.contact("floor", system.ground.plane(), shapes[0])
    system.contact("between", *shapes)
    result = system.simulate(2.0, output=100)
    assert np.ptp(result["energy.total"]) < 1e-9 * result["energy.total"][0]
    assert not any(change.what == "plastic" for change in result.contact_changes)


def test_dominoes_fall_by_events_as_by_steps() -> None:
    """Three of them; the first leans, and tips the next."""
    system = System("dominoes", gravity=(0.0, 0.0, -G))
    floor, half, shapes = system.ground.plane(), (0.004, 0.012, 0.024), []
    for k, turn in enumerate((0.2, 0.0, 0.0)):
        high = half[2] * math.cos(turn) + half[0] * math.sin(turn)
        shapes.append(box(system, f"domino {k}", half, (0.02 * k, 0.0, high + 1e-9), turn).box(*half))
        system.contact(f"floor {k}", floor, shapes[k], restitution=0.0, friction=0.5)
        if k:
            system.contact(f"pair {k}", shapes[k - 1], shapes[k], restitution=0.0, friction=0.3)
    mechanism = analyse(system)
    events = mechanism.simulate(0.25, output=50)
    steps = mechanism.simulate(0.25, impacts="stepping", step=2.5e-4, output=50)
    assert not events.run.stepped
    assert np.diff(events["energy.total"]).max() < 1e-8 * events["energy.total"][0]
    for k in range(3):
        away = events[f"domino {k}.position"] - steps[f"domino {k}.position"]
        assert np.abs(away).max() < 0.02 * half[2]


def woodpecker() -> System:
    """A bird on a sleeve on a pole, in the plane. Glocker (1995); his geometry is linear in the angles."""
    r, inner, half, tip = 2.5e-3, 3.1e-3, 5.8e-3, 1e-6
    system = System("woodpecker", gravity=(0.0, -G, 0.0))
    carriage, sleeve = (
        system.body(name, mass=1.5e-4, inertia=(5e-9,) * 3) for name in ("carriage", "sleeve")
    )
    bird = system.body("bird", mass=4.5e-3, inertia=(7e-7,) * 3, at=(0.025, 0.0, 0.0))
    system.prismatic("pole", system.ground, carriage, axis="y")
    system.revolute("tilt", carriage, sleeve, at=(0.0, 0.0, 0.0), axis="z")
    system.revolute("neck", sleeve, bird, at=(0.01, 0.0, 0.0), axis="z")
    system.torsion_spring("spring", "neck", stiffness=5.6e-3)
    beak = bird.circle(tip, at=(-0.0201 + tip, 0.02, 0.0))
    corners = {
        name: sleeve.circle(tip, at=(inner + tip, y, 0.0)) for name, y in (("low", -half), ("up", half))
    }
    for name, shape, e in (("beak", beak, 0.5), *((n, c, 0.0) for n, c in corners.items())):
        side = system.ground.line(at=(r, 0.0, 0.0), angle=-0.5 * math.pi)
        system.contact(name, side, shape, restitution=e, friction=0.3)
    system.initial("pole", (0.0, -0.3411))
    system.initial("tilt", (-0.098, 0.0))
    system.initial("neck", (-0.1808, -7.4583))
    return system


def test_woodpecker_comes_to_its_limit_cycle() -> None:
    """It pecks once a period, and the pecks come to be alike."""
    result = woodpecker().simulate(1.5, output=150)
    assert not result.run.stepped
    pecks = [i.time for i in result.impacts if any(c.contact == "beak" for c in i.contacts)]
    periods = np.diff(pecks)
    # Disturbances fade by a factor of about five a period.
    assert np.abs(periods[-3:] - periods[-1]).max() < 1e-5 * periods[-1]
    assert np.abs(periods[0] - periods[-1]) > 1e-3 * periods[-1]


@pytest.mark.filterwarnings("ignore:from t =")
def test_run_that_does_not_get_on_takes_a_stretch_by_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here it is said not to after a few changes of contacts."""
    exact = cube(0.0).simulate(1.0, output=200)
    for name, value in (("STALLED", 3), ("STALLED_EACH", 0), ("NO_TIME", 10.0)):
        monkeypatch.setattr(clock, name, value)
    with pytest.warns(UserWarning, match=r"taken by steps.*'floor 2', 'floor 4'"):
        result = cube(0.0).simulate(1.0, output=200)
    begin, end, why = result.run.stepped[0]
    assert begin < end
    assert "'floor 2'" in why
    assert result.time == pytest.approx(exact.time)
    assert np.abs(result["box.position"] - exact["box.position"]).max() < 1e-3
    assert result["box.position.z"][-1] == pytest.approx(HALF, abs=1e-9)
    assert result.ledger.relative_residual < 1e-4


def random_problem(seed: int) -> coulomb_units.Coulomb:
    """Four corners of a face, more rows than speeds."""
    rng = np.random.default_rng(seed)
    J = []
    for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        arm = np.array([x, y, -0.5])
        J += [np.concatenate([d, np.cross(arm, d)]) for d in np.eye(3)[[2, 0, 1]]]
    rows = np.array(J)
    given = coulomb_units.room(4)
    given.W[:], given.b[:] = rows @ rows.T, rows @ rng.normal(size=6)
    given.mu[:] = rng.uniform(0.1, 1.0, 4)
    return given


@pytest.mark.parametrize("seed", range(8))
def test_forces_of_a_face_fulfil_the_laws(seed: int) -> None:
    given = random_problem(seed)
    assert coulomb_units.solve_problem(given) == 1
    p, v = given.p.reshape(4, 3), (given.W @ given.p + given.b).reshape(4, 3)
    assert p[:, 0].min() >= 0.0
    assert v[:, 0].min() > -1e-10
    assert np.abs(p[:, 0] * v[:, 0]).max() < 1e-9
    rub, slip = np.linalg.norm(p[:, 1:], axis=1), np.linalg.norm(v[:, 1:], axis=1)
    assert np.all(rub <= given.mu * p[:, 0] * (1.0 + 1e-9) + 1e-12)
    assert np.abs((p[:, 1:] * v[:, 1:]).sum(axis=1) + given.mu * p[:, 0] * slip).max() < 1e-9


def test_compiled_problems_are_those_of_the_interpreter() -> None:
    machine, plain = random_problem(1), random_problem(1)
    coulomb_units.solve_problem(machine)
    coulomb_units.solve_problem.function(plain)
    assert plain.p == pytest.approx(machine.p, rel=1e-7, abs=1e-9)
    W, v = np.array(machine.W[:6, :6]), np.array([-1.0, 0.3, 0.2, -0.5, -0.4, 0.1])
    striking = strikes.sequence_of(W, v, np.full(2, 0.5), np.full(2, 0.3), 3, 0)
    copied = deepcopy(striking.arguments[0])
    assert striking() == strikes.strike_on.function(copied) == strikes.ENDED
    assert copied.p == pytest.approx(striking.arguments[0].p, rel=1e-9)

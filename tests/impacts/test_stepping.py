"""Runs by steps: closed forms, laws of conservation, and scenes that stall when followed event by event."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bellcrank.errors import ModelError
from bellcrank.impacts.stepping import SteppedRun
from bellcrank.mechanism import analyse
from bellcrank.model import Body, System
from bellcrank.result.result import Result
from bellcrank.run.events import Controller, Event
from impacts.models import G, ball, disc

HALF = 0.1


def box(
    system: System,
    name: str,
    half: tuple[float, float, float],
    at: tuple[float, float, float],
    turn: float = 0.0,
) -> Body:
    """A free box of 1000 kg/m^3, turned about y [rad]."""
    x, y, z = (h * h for h in half)
    mass = 8000.0 * math.prod(half)
    inertia = tuple(mass / 3.0 * s for s in (y + z, x + z, x + y))
    c, s = math.cos(turn), math.sin(turn)
    rotation = [[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]
    body = system.body(name, mass=mass, inertia=inertia, at=at, rotation=rotation)
    system.free(f"{name} flight", system.ground, body)
    return body


def on_floor(
    half: tuple[float, float, float], height: float, turn: float, restitution: float, friction: float
) -> System:
    """A box above a plane."""
    system = System("box", gravity=(0.0, 0.0, -G))
    body = box(system, "box", half, (0.0, 0.0, height), turn)
    system.contact(
        "floor", system.ground.plane(), body.box(*half), restitution=restitution, friction=friction
    )
    return system


def stepped(system: System, duration: float, step: float, **more: object) -> Result:
    """A run by steps."""
    return system.simulate(duration, impacts="stepping", step=step, **({"output": 100} | more))


def energy(result: Result) -> NDArray[np.float64]:
    """Of motion and gravity [J]."""
    return np.asarray(result["energy.kinetic"]) + np.asarray(result["energy.gravity"])


def test_block_slides_to_its_stop() -> None:
    """v^2 / (2 mu g); the error falls at least with the step."""
    misses = []
    for step in (4e-3, 1e-3):
        system = on_floor((0.2, 0.1, 0.05), 0.05, 0.0, 0.0, 0.3)
        result = stepped(system, 0.8, step, initial={"box flight": {"velocity": (2.0, 0.0, 0.0)}})
        misses.append(abs(float(result["box.position.x"][-1]) - 4.0 / (0.6 * G)))
        assert np.diff(energy(result)).max() < 1e-7
    assert misses[1] < 1e-6
    assert misses[1] < 0.5 * misses[0]


def test_ball_bounces_to_first_order() -> None:
    """Height after the first bounce, e^2 of the fall: the mean error over falls that meet the steps at random."""
    mechanism, steps, means = analyse(ball(0.5)), np.array([4e-3, 2e-3, 1e-3]), []
    for step in steps:
        misses = []
        for more in np.random.default_rng(0).uniform(0.0, 0.05, 12):
            result = mechanism.simulate(
                0.7, impacts="stepping", step=float(step), output=175, initial={"shaft": more}
            )
            late = result.time > math.sqrt(2.0 * (0.8 + more) / G) + 0.01
            misses.append(float(result["ball.position.z"][late].max()) - 0.2 - 0.25 * (0.8 + more))
        # The speed turns around that it has at the beginning of the step, half to one and a half steps above the floor.
        assert min(misses) > 0.0
        assert max(misses) < (1.0 - 0.25) * 1.5 * 4.2 * step
        means.append(np.mean(misses))
    assert np.polyfit(np.log(steps), np.log(means), 1)[0] == pytest.approx(1.0, abs=0.25)


def test_elastic_ball_keeps_its_energy() -> None:
    result = stepped(ball(1.0), 3.0, 1e-3)
    assert len(result.impacts) == 4
    assert np.ptp(energy(result)) < 1e-12 * G
    assert result.ledger.relative_residual < 1e-12


def test_elastic_cube_without_friction_keeps_its_energy() -> None:
    """A gain within the residual of the impulses is no reason to lower restitution."""
    result = stepped(on_floor((HALF,) * 3, 0.5, 0.3, 1.0, 0.0), 2.0, 1e-3, output=50)
    assert len(result.impacts) > 4
    assert not any(impact.law_limited for impact in result.impacts)
    assert np.ptp(energy(result)) < 1e-4 * energy(result)[0]


def test_tangents_that_joints_lock_take_no_friction() -> None:
    """A ball on a guide along the normal comes to rest on a rough floor."""
    result = stepped(ball(0.5, friction=0.5), 2.0, 1e-3)
    assert result["ball.position.z"][-1] == pytest.approx(0.2, abs=1e-7)
    assert result["bounce.normal_force"][-1] == pytest.approx(G, rel=1e-4)
    assert np.asarray(result["bounce.force"])[-1, :2] == pytest.approx(0.0, abs=1e-4)


def test_disc_rolls_in_the_plane() -> None:
    """Pure rolling down a slope of friction enough: g sin / (1 + I / m r^2)."""
    slope = 0.3
    result = stepped(disc(0.5, 0.01, slope), 1.0, 1e-3)
    assert result["disc.position.x"][-1] == pytest.approx(0.5 * G * math.sin(slope) / 1.5, rel=1e-4)


@pytest.mark.parametrize("restitution", [0.0, 0.3])
def test_tilted_cube_comes_to_rest(restitution: float) -> None:
    result = stepped(on_floor((HALF,) * 3, 0.5, 0.3, restitution, 0.5), 2.0, 2e-3)
    assert result["box.position.z"][-1] == pytest.approx(HALF, abs=1e-6 * HALF)
    assert result["energy.kinetic"][-1] < 1e-8
    scale = np.ptp(energy(result))
    assert np.diff(energy(result)).max() < 1e-4 * scale
    assert result.run.penetration < 1e-6
    forces = np.array([np.asarray(result[f"floor {k}.force"]) for k in range(1, 9)])
    rub = np.linalg.norm(forces[..., :2], axis=-1)
    assert (rub <= 0.5 * forces[..., 2] * (1.0 + 1e-9) + 1e-9).all()
    assert sum(r.energy_lost for r in result.impacts) == pytest.approx(result.impacts.energy_lost)


def test_sphere_settles_in_a_hopper() -> None:
    """Three planes at 45 degrees: the centre rests sqrt(2) radii above their apex."""
    system = System("hopper", gravity=(0.0, 0.0, -G))
    body = system.body("ball", mass=1.0, inertia=(0.004,) * 3, at=(0.03, 0.02, 0.5))
    system.free("flight", system.ground, body)
    sphere = body.sphere(0.1)
    for k in range(3):
        a = 2.0 * math.pi * k / 3.0
        wall = system.ground.plane(normal=(-math.cos(a), -math.sin(a), 1.0))
        system.contact(f"wall {k}", wall, sphere, restitution=0.5, friction=0.2)
    result = stepped(system, 2.0, 2e-3)
    assert result["ball.position.z"][-1] == pytest.approx(0.1 * math.sqrt(2.0), rel=1e-6)
    assert np.diff(energy(result)).max() < 1e-4 * np.ptp(energy(result))


def test_stack_of_boxes_rests() -> None:
    """The floor bears the weight of all of them, and none strikes."""
    system, count = System("stack", gravity=(0.0, 0.0, -G)), 4
    below = system.ground.plane()
    for k in range(count):
        shape = box(system, f"box {k}", (0.05,) * 3, (0.0, 0.0, 0.05 + 0.1 * k)).box(0.05, 0.05, 0.05)
        system.contact(f"joint {k}", below, shape, restitution=0.0, friction=0.5)
        below = shape
    result = stepped(system, 0.5, 1e-3, output=10)
    assert not result.impacts
    assert result["box 3.position.z"][-1] == pytest.approx(0.35, abs=1e-7)
    borne = sum(np.asarray(result[f"joint 0 {k}.normal_force"]) for k in range(1, 9))
    assert borne == pytest.approx(count * G, rel=1e-4)


@pytest.mark.parametrize("friction", [0.0, 1.0])
def test_lasting_contact_is_of_second_order(friction: float) -> None:
    """A board rocks on a ball, and slides on it or rolls: with half the step, differences and the drift of energy are a
    fourth."""
    system = System("board", gravity=(0.0, 0.0, -G))
    board = system.body("board", mass=1.0, inertia=(0.02,) * 3, at=(0.0, 0.0, 0.32))
    system.free("flight", system.ground, board)
    under = board.plane(at=(0.0, 0.0, -0.02), normal=(0.0, 0.0, -1.0))
    system.contact("touch", system.ground.sphere(0.3), under, restitution=0.0, friction=friction)
    start = {"flight": {"velocity": (0.02, 0.0, 0.0), "angular_velocity": (0.0, 1.0, 0.0)}}
    mechanism = analyse(system, initial=start)
    ends, drifts = [], []
    for step in (2e-3, 1e-3, 5e-4):
        result = mechanism.simulate(0.2, impacts="stepping", step=step, output=2)
        ends.append(result.q[-1])
        drifts.append(abs(energy(result)[-1] - energy(result)[0]))
    first, second = (float(np.abs(a - b).max()) for a, b in itertools.pairwise(ends))
    assert first / second == pytest.approx(4.0, rel=0.1)
    assert drifts[2] < drifts[0] / 8.0
    assert drifts[0] < 1e-4 * np.ptp(result["energy.kinetic"])


def rolling(grouped: bool) -> System:
    """A ball on a plane, with a force that may lift it; the contact is one of its own or of a group."""
    system = System("ball", gravity=(0.0, 0.0, -G))
    body = system.body("ball", mass=1.0, inertia=(0.004,) * 3, at=(0.0, 0.0, 0.1))
    system.free("flight", system.ground, body)
    lift = system.parameter("lift", 0.0, "N")
    system.applied_force("hand", body.origin, lambda t: (0.0, 0.0, lift + 0.0 * t))
    floor, skin = system.ground.plane(), body.sphere(0.1)
    if grouped:
        system.contacts_between(floor, skin, restitution=0.0, friction=0.3, name="all")
    else:
        system.contact("floor", floor, skin, restitution=0.0, friction=0.3)
    return system


def test_changes_of_contacts_are_those_of_a_run_by_events() -> None:
    """A ball slides until it rolls, and is lifted."""
    lifted = Controller("lift", 1.0, [], lambda t, measured: {"lift": 20.0 if t > 0.5 else 0.0})
    more = {"initial": {"flight": {"velocity": (1.0, 0.0, 0.0)}}, "controllers": [lifted]}
    events = rolling(False).simulate(1.2, output=4, **more).contact_changes
    assert [c.what for c in events] == ["rest", "stick", "release"]
    for grouped, name in ((False, "floor"), (True, "all: ground ball")):
        found = stepped(rolling(grouped), 1.2, 1e-3, **more).contact_changes
        assert [c.what for c in found] == ["rest", "stick", "release"]
        assert {c.contact for c in found} == {name}
        assert [c.time for c in found] == pytest.approx([c.time for c in events], abs=2e-3)


def test_loops_stay_closed_and_carry_the_blow() -> None:
    """A slider-crank strikes a stop: the loop is closed to 1e-10, energy never rises."""
    system = System("crank", gravity=(0.0, -G, 0.0))
    crank = system.body("crank", mass=1.0, inertia=(0.01,) * 3, at=(0.1, 0.0, 0.0))
    rod = system.body("rod", mass=1.0, inertia=(0.02,) * 3, at=(0.4, 0.0, 0.0))
    slider = system.body("slider", mass=2.0, inertia=(0.01,) * 3, at=(0.6, 0.0, 0.0))
    system.revolute("bearing", system.ground, crank, at=(0.0, 0.0, 0.0), axis="z")
    system.revolute("pin", crank, rod, at=(0.2, 0.0, 0.0), axis="z")
    system.revolute("wrist", rod, slider, at=(0.6, 0.0, 0.0), axis="z")
    system.prismatic("guide", system.ground, slider, axis="x")
    stop = system.ground.plane(at=(0.4, 0.0, 0.0), normal=(1.0, 0.0, 0.0))
    system.contact("stop", stop, slider.sphere(0.05), restitution=0.5, friction=0.3)
    result = stepped(system, 1.0, 1e-3, initial={"bearing": (0.5, 6.0)})
    assert len(result.impacts) > 0
    across = np.asarray(result["slider.position"])[:, 1:]
    assert np.abs(across).max() < 1e-10
    assert np.diff(energy(result)).max() < 1e-3 * np.ptp(energy(result))
    assert float(result["slider.position.x"].min()) > 0.45 - 1e-7


def test_events_and_controllers_act_between_steps() -> None:
    system = ball(0.0)
    push = system.parameter("push", 0.0, "N")
    system.applied_force("hand", system.bodies["ball"].origin, lambda t: (0.0, 0.0, push + 0.0 * t))
    called: list[float] = []

    def note(t: float, measured: object) -> dict[str, float]:
        called.append(t)
        return {"push": -1.0}

    press = Controller("press", 0.25, ["ball.position.z"], note, offset=0.7)
    late = Event("late", lambda m: m["t"] - 1.6, stops=True)
    result = stepped(system, 2.0, 1e-2, controllers=[press], events=[late])
    assert called == pytest.approx([0.7, 0.95, 1.2, 1.45])
    assert [e.name for e in result.events] == ["late"]
    assert result.time[-1] == pytest.approx(1.6, abs=1e-2)
    assert result["bounce.normal_force"][-1] == pytest.approx(G + 1.0, rel=1e-4)


def test_many_runs_by_steps_are_those_of_one() -> None:
    mechanism, options = analyse(ball(0.5)), {"impacts": "stepping", "step": 1e-3, "output": 20}
    starts = [0.0, 0.1, 0.2]
    many = mechanism.simulate_many(
        {"shaft.displacement": starts}, 1.0, quantities=["ball.position.z"], **options
    )
    for k, start in enumerate(starts):
        one = mechanism.simulate(1.0, initial={"shaft": start}, **options)
        assert np.asarray(many["ball.position.z"])[k] == pytest.approx(
            np.asarray(one["ball.position.z"]), abs=1e-12
        )


def test_what_it_does_not_take_is_refused_by_name() -> None:
    with pytest.raises(ModelError, match="give step="):
        ball(0.5).simulate(1.0, impacts="stepping")
    with pytest.raises(ModelError, match=r"bounce.*poisson"):
        stepped(ball(0.5, law="poisson"), 1.0, 1e-3)
    with pytest.raises(ModelError, match="inside each other"):
        stepped(on_floor((HALF,) * 3, 0.05, 0.0, 0.0, 0.5), 0.1, 1e-3)


def test_impulses_that_miss_their_tolerance_are_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = SteppedRun.go_on

    def missed(self: SteppedRun, *arguments: Any) -> Result:
        found = whole(self, *arguments)
        return replace(found, run=replace(found.run, unsolved=3, residual=2e-4))

    monkeypatch.setattr(SteppedRun, "go_on", missed)
    with pytest.warns(UserWarning, match=r"in 3 of \d+ steps .* 2.0e-04"):
        stepped(on_floor((HALF,) * 3, HALF, 0.0, 0.0, 0.5), 0.01, 1e-3)


def test_contacts_that_are_forces_keep_the_speed_at_which_they_began() -> None:
    """A ball on an elastic floor beside one that strikes rebounds as in a run that locates its touch."""
    system = System("two floors", gravity=(0.0, 0.0, -9.81))
    floor = system.ground.plane(normal=(0.0, 0.0, 1.0))
    for name, place, law in (("soft", 0.0, {"treatment": "continuous", "young": 1e6}), ("hard", 1.0, {})):
        body = system.body(name, 1.0, (0.004, 0.004, 0.004), at=(place, 0.0, 0.4))
        system.free(f"motion of {name}", system.ground, body)
        system.contact(f"{name} floor", floor, body.sphere(0.1), restitution=0.5, **law)
    mechanism = system.mechanism()
    located = mechanism.simulate(0.4, output=400)["soft.velocity.z"].max()
    for step in (1e-3, 2.5e-4):
        found = mechanism.simulate(0.4, output=400, impacts="stepping", step=step)["soft.velocity.z"].max()
        assert found == pytest.approx(located, rel=2e-3)

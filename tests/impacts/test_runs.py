"""Runs with contacts beside events, controllers, parameters, failures and bad input."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bellcrank import SimulationError
from bellcrank.contact import Implicit
from bellcrank.errors import ModelError
from bellcrank.impacts.contacts import Contacts
from bellcrank.impacts.errors import ContactError
from bellcrank.impacts.run import _check_outside
from bellcrank.impacts.segment import Segment
from bellcrank.model import System
from bellcrank.run.events import Controller, Event
from impacts.models import TIGHT, G, ball, block_on_slope

REST = math.sqrt(1.6 / G) * 3.0
"""When the ball with e = 0.5 comes to rest [s]."""


def pushed_ball(restitution: float = 0.5) -> System:
    """The ball with a vertical force that is a parameter."""
    system = ball(restitution)
    push = system.parameter("push", 0.0, "N")
    system.applied_force("hand", system.bodies["ball"].origin, lambda t: (0.0, 0.0, push + 0.0 * t))
    return system


def test_parameters_changed_by_an_event_last_over_segments() -> None:
    """Pressed down before the impact, the ball presses with weight and push when it rests."""
    press = Event("press", lambda m: m["t"] - 0.1, parameters={"push": -5.0})
    result = pushed_ball().simulate(4.0, events=[press], **TIGHT)
    assert [e.name for e in result.events] == ["press"]
    assert np.all(result.parameters[result.time > 0.11, 0] == -5.0)
    assert result["bounce.normal_force"][-1] == pytest.approx(G + 5.0)


def test_event_in_lasting_contact_lifts_the_ball() -> None:
    lift = Event("lift", lambda m: m["t"] - 2.0, parameters={"push": 2.0 * G})
    result = pushed_ball().simulate(3.0, events=[lift], **TIGHT)
    assert [c.what for c in result.contact_changes] == ["rest", "release"]
    assert result["ball.position.z"][-1] == pytest.approx(0.2 + 0.5 * G, rel=1e-9)


def test_controller_keeps_its_instants() -> None:
    called: list[float] = []

    def note(t: float, measured: object) -> dict[str, float]:
        called.append(t)
        return {"push": -float(len(called))}

    watch = Controller("watch", 0.1, ["ball.position.z"], note, offset=0.05)
    result = pushed_ball().simulate(3.0, controllers=[watch], **TIGHT)
    assert any(c.what == "rest" for c in result.contact_changes)
    assert np.unique(np.round(called, 9)) == pytest.approx(0.05 + 0.1 * np.arange(30))
    assert result["bounce.normal_force"][-1] == pytest.approx(G + len(called))


@pytest.mark.parametrize("at", [0.2, 1.0, 2.5])
def test_stop_ends_the_whole_run(at: float) -> None:
    stop = Event("stop", lambda m: m["t"] - at, stops=True)
    result = ball(0.5).simulate(4.0, events=[stop], **TIGHT)
    assert result.run.status == "event"
    assert result.time[-1] == result.events[-1].time
    assert [e.time for e in result.events] == pytest.approx([at])


def test_stop_at_the_impact_itself() -> None:
    stop = Event("floor", lambda m: m["ball.position.z"] - 0.2, direction=-1, stops=True)
    result = ball(0.5).simulate(4.0, events=[stop], **TIGHT)
    assert len(result.impacts) <= 1
    assert result.time[-1] <= math.sqrt(1.6 / G) + 1e-12


def test_jump_out_of_lasting_contact() -> None:
    from bellcrank.mechanism import State

    kick = Event("kick", lambda m: m["t"] - 2.0, jump=lambda s, p: State(s.t, s.q, s.u + 1.0))
    result = ball(0.5).simulate(4.0, events=[kick], **TIGHT)
    assert [c.what for c in result.contact_changes] == ["rest", "release", "rest"]
    again = result.contact_changes[-1].time
    assert again == pytest.approx(2.0 + 2.0 / G / (1.0 - 0.5), rel=1e-8)


def test_a_failing_run_keeps_all_segments() -> None:
    system = ball(0.5)
    victim = system.body("victim", mass=1.0, inertia=(1.0,) * 3, at=(5.0, 0.0, 0.0))
    system.prismatic("rail", system.ground, victim, axis="x")
    system.applied_force("spoiler", victim.origin, lambda t: (1.0 / (2.5 - t) ** 2, 0.0, 0.0))
    with pytest.raises(SimulationError) as caught:
        system.simulate(4.0, **TIGHT)
    kept = caught.value.result
    assert kept.time[0] == 0.0
    assert kept.time[-1] > 2.4
    assert np.all(np.diff(kept.time) > 0.0)
    assert len(kept.impacts) > 5


def test_interrupt_keeps_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []

    def interrupt(t: float, measured: object) -> None:
        seen.append(t)
        if t > 2.0:
            raise KeyboardInterrupt

    result = ball(0.5).simulate(4.0, controllers=[Controller("key", 0.25, [], interrupt)], **TIGHT)
    assert result.run.status == "interrupted"
    assert result.time[0] == 0.0
    assert 1.9 < result.time[-1] <= 2.25


def test_programs_are_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    plain = Segment._event_program
    monkeypatch.setattr(Segment, "_event_program", lambda self: made.append(1) or plain(self))
    block_on_slope(0.2, 0.3).simulate(1.0, initial={"plane": {"x": (0.0, -1.0), "y": (0.0, 0.0)}})
    assert len(made) <= 3


def test_overlapping_start_is_refused() -> None:
    with pytest.raises(ModelError, match=r"'bounce'.*100 mm inside.*move 'ball' by \(0, 0, 0.1\)"):
        ball(0.5, height=0.1).simulate(1.0)


@pytest.mark.parametrize("e", [-0.1, 1.1, math.nan])
def test_restitution_outside_its_range(e: float) -> None:
    with pytest.raises(ModelError, match="restitution"):
        ball(e)


def test_negative_friction_and_unknown_law() -> None:
    with pytest.raises(ModelError, match="friction"):
        ball(0.5, friction=-0.1)
    with pytest.raises(ModelError, match="stronge"):
        ball(0.5, law="hertz")


def test_non_convex_surface_is_refused() -> None:
    with pytest.raises(ModelError, match="convex"):
        Implicit(lambda x, y, z: x**4 - x**2 + y**2 + z**2 - 0.02, 1.2, "peanut")


def test_pairs_that_can_never_touch() -> None:
    system = ball(0.5)
    system.body("frame", mass=1.0, inertia=(1.0, 1.0, 1.0), at=(0.0, 0.0, 5.0))
    system.fixed("weld", system.ground, system.bodies["frame"])
    system.contact("idle", system.ground.plane(), system.bodies["frame"].sphere(0.1))
    with pytest.raises(ModelError, match="'idle' can never close"):
        system.simulate(1.0)
    with pytest.raises(ModelError, match="itself"):
        system.contact("own", system.ground.plane(), system.ground.sphere(0.1))


def test_plane_curves_and_solids_do_not_mix() -> None:
    system = ball(0.5)
    other = system.body("other", mass=1.0, inertia=(1.0,) * 3, at=(3.0, 3.0, 0.0))
    system.planar("plane", system.ground, other, axis="z")
    system.contact("flat", system.ground.line(), other.circle(0.1))
    with pytest.raises(ModelError, match="use one kind"):
        system.simulate(1.0)


def test_bodies_that_end_within_each_other_are_told() -> None:
    system = System("ball", gravity=(0.0, 0.0, -9.81))
    body = system.body("ball", mass=1.0, inertia=(0.004,) * 3, at=(0.0, 0.0, 0.3))
    system.free("flight", system.ground, body)
    system.contact("floor", system.ground.plane(), body.sphere(0.1), restitution=0.5)
    result = system.simulate(0.1, output=2)
    contacts = Contacts.of(result.mechanism)
    _check_outside(contacts, result)
    sunk = result.q.copy()
    sunk[-1, 2] -= 0.25
    with pytest.raises(
        ContactError, match=r"contact 'floor': its bodies have passed through each other"
    ) as told:
        _check_outside(contacts, replace(result, q=sunk))
    assert len(told.value.result) == len(result)

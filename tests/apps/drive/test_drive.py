"""The loop around the car: controls, clock, timing, a scripted drive, and the page's server."""

from __future__ import annotations

import http.client
import json
import math
import threading
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.apps.drive.controls import Chauffeur, Controls, Wish, manoeuvre
from bellcrank.apps.drive.drive import Drive
from bellcrank.apps.drive.laps import Laps
from bellcrank.apps.drive.realtime import GIVEN_UP, Pace
from bellcrank.apps.drive.server import DriveServer
from bellcrank.apps.drive.timing import Stopwatch
from bellcrank.errors import UnknownName
from cli.conftest import Call, call

__all__ = ["call"]


@pytest.fixture(scope="module")
def drive() -> Drive:
    return Drive("bumps", 10.0)


@pytest.mark.parametrize("said", [None, [], "go", 3, {"steer": "left"}, {"throttle": None}, {"brake": True}])
def test_what_is_no_wish_counts_as_none(said: object) -> None:
    assert Wish.of(said) == Wish()


def test_wishes_are_clipped_and_finite() -> None:
    assert Wish.of({"steer": 7, "throttle": -3, "brake": -1}) == Wish(1.0, -1.0, 0.0)
    assert Wish.of({"steer": math.nan, "throttle": math.inf}) == Wish()


def test_controls_follow_at_their_own_rate() -> None:
    controls = Controls()
    for _ in range(10):
        controls.follow(Wish(steer=1.0, brake=1.0), 0.01)
    assert controls.steer == pytest.approx(0.3)
    assert controls.brake == pytest.approx(0.5)
    for _ in range(100):
        controls.follow(Wish(steer=1.0, brake=1.0), 0.01)
    assert (controls.steer, controls.brake) == (1.0, 1.0)
    assert controls.rack(30.0) < 0.2 * controls.rack(0.0)


def test_the_clock_is_held_and_time_too_far_gone_is_dropped() -> None:
    now = [0.0]
    pace = Pace(1e-3, clock=lambda: now[0])
    assert pace.wait() == (0.0, 0.0)
    now[0] = 0.011
    assert pace.wait()[0] == pytest.approx(0.010)
    now[0] = 5.0
    lag, dropped = pace.wait()
    assert lag == GIVEN_UP
    assert dropped == pytest.approx(5.0 - 0.002)
    now[0] += 0.0015
    assert pace.wait()[0] == pytest.approx(0.0005)


def test_a_stopwatch_counts_what_is_late() -> None:
    watch = Stopwatch(1e-3, 4)
    for seconds in (1e-4, 2e-4, 3e-3, 1e-4, 1e-4):
        watch.add(seconds)
    found = watch.summary()
    assert (found["steps"], found["late"], found["worst"]) == (5, 1, 3e-3)
    assert found["share_of_real_time"] == pytest.approx(0.7)


def test_a_scripted_drive_is_the_same_every_time(drive: Drive) -> None:
    first = drive.scripted(1.5, real=False)
    drive._back("")
    again = drive.scripted(1.5, real=False)
    assert first["timing"]["steps"] == 1500
    assert first["put_back"] == ""
    assert first["position"].tolist() == again["position"].tolist()
    assert first["position"][0] > 10.0
    assert manoeuvre(0.9).brake > 0


def test_a_step_that_fails_puts_the_car_back_and_says_so(drive: Drive) -> None:
    drive.stepper.set({"throttle": math.nan})
    drive._step(1)
    assert "failed" in drive.put_back
    assert drive.stepper.time == 0.0
    drive._step(1)
    assert drive.stepper.time == pytest.approx(1e-3)


def test_an_unknown_terrain_is_told() -> None:
    with pytest.raises(UnknownName, match="did you mean 'bumps'"):
        Drive("bump")


def _circle(radius: float) -> np.ndarray:
    angles = np.linspace(0.0, 2.0 * np.pi, 720, endpoint=False)
    return radius * np.column_stack([np.sin(angles), 1.0 - np.cos(angles)])


def test_lap_times_on_a_circle() -> None:
    """A car at constant speed takes the circumference over its speed; one that cuts across makes no lap."""
    laps, speed, radius = Laps(_circle(50.0)), 12.5, 50.0
    for k in range(8000):
        turned = speed * 0.01 * k / radius
        laps.look(0.01 * k, 47.0 * math.sin(turned), 50.0 - 47.0 * math.cos(turned))
    assert laps.times == pytest.approx([2.0 * math.pi * radius / speed] * 3, rel=1e-5)
    short = Laps(_circle(50.0))
    for k in range(4000):
        # Forth and back over the line.
        short.look(0.01 * k, 6.0 + 5.0 * math.sin(0.01 * k), 0.3)
    assert short.times == []
    assert short.begun is not None
    short.put_back()
    assert short.current(40.0) == 0.0


def test_a_car_follows_its_course_and_keeps_what_it_did() -> None:
    drive = Drive("circuit", 10.0, remember=True)
    first = drive.scripted(3.0, real=False)
    assert first["put_back"] == ""
    result = drive.results()[0]
    assert len(drive.results()) == 1
    assert result.time[-1] == pytest.approx(2.99)
    assert np.asarray(result["chassis.velocity"])[0] == pytest.approx([10.0, 0.0, 0.0], abs=0.01)
    course = drive.terrain.course
    assert course is not None
    for place in np.asarray(result["chassis.position"])[::20, :2]:
        assert np.min(np.linalg.norm(course - place, axis=1)) < 1.5
    drive.reset()
    drive._back("")
    drive.scripted(0.1, real=False)
    assert [len(found) for found in drive.results()] == [300, 10]


def test_a_chauffeur_goes_only_as_fast_as_bends_and_brakes_allow(drive: Drive) -> None:
    chauffeur = Chauffeur(drive.vehicle, _circle(25.0), sideways=4.0)
    assert chauffeur.speeds == pytest.approx(10.0, rel=1e-3)
    oval = np.array([(0.0, 0.0), (200.0, 0.0), (400.0, 0.0), (402.0, 1.0), (400.0, 2.0), (200.0, 2.0)])
    speeds = Chauffeur(drive.vehicle, oval, fastest=30.0, back=2.0).speeds
    assert speeds[1] == pytest.approx(math.sqrt(speeds[2] ** 2 + 2.0 * 2.0 * 200.0))


def test_headless_on_the_command_line(call: Call, tmp_path: Path) -> None:
    found = call("drive", "--headless", "--fast", "--duration", "0.5", "--speed", "10", "--json").json
    assert found["timing"]["steps"] == 500
    assert found["timing"]["median"] > 0.0
    assert "worst step" in call("drive", "--headless", "-d", "0.2").out
    path = tmp_path / "run.h5"
    lapped = call(
        "drive", "--headless", "--fast", "-d", "0.3", "--terrain", "circuit", "--save", str(path), "--json"
    )
    assert lapped.json["laps"] == []
    assert bc.load_result(path).time[-1] == pytest.approx(0.29)
    for wrong in (
        ["--duration", "-1"],
        ["--speed", "nan"],
        ["--port", "99999"],
        ["--fast"],
        ["--tyre", "none.tir"],
    ):
        answer = call("drive", *wrong)
        assert answer.status == 2
        assert wrong[-1] in answer.err or wrong[0] in answer.err


def _status(port: int, path: str, **headers: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def test_the_server_answers_its_own_page_alone(drive: Drive) -> None:
    before = set(threading.enumerate())
    with DriveServer(drive) as server:
        assert _status(server.port, "/") == 200
        assert _status(server.port, "/", Host=f"localhost:{server.port}") == 200
        assert _status(server.port, "/secrets") == 404
        assert _status(server.port, "/", Host="somewhere.else") == 403
        upgrade = {
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        }
        assert _status(server.port, "/socket", Origin="http://somewhere.else", **upgrade) == 403
        assert _status(server.port, "/socket", **upgrade) == 403
    assert set(threading.enumerate()) <= before


def test_the_socket_takes_wishes_and_forgets_them_at_the_end(drive: Drive) -> None:
    from websockets.sync.client import connect

    with DriveServer(drive) as server:
        server.show(drive.frame())
        address = f"ws://127.0.0.1:{server.port}/socket"
        with connect(
            address, origin=f"http://127.0.0.1:{server.port}", compression=None, max_size=None
        ) as page:  # type: ignore[arg-type]
            shapes = json.loads(page.recv(timeout=10))
            assert shapes["bodies"][0] == "chassis"
            for junk in ("{", "[" * 900, '{"steer": "x"}', b"\xff\xfe"):
                page.send(junk)
            page.send(json.dumps({"throttle": 0.5}))
            for _ in range(500):
                page.recv(timeout=10)
                server.show(drive.frame())
                if drive.wish.throttle == 0.5:
                    break
            assert drive.wish == Wish(throttle=0.5)
    assert drive.wish == Wish()

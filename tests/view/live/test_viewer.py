"""The viewer without a browser: what it shows, runs again, follows; and that nothing is left of it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import ModelError, UnknownName
from bellcrank.flexible.recovery import outer_faces
from bellcrank.view.live import Viewer
from bellcrank.view.live.again import again, at_start, with_parameters
from bellcrank.view.live.controls import jumps, slider_range
from bellcrank.view.live.stage import _Part, clipped
from bellcrank.view.scene import scene
from bellcrank.view.shapes import box
from bellcrank.view.stress import STOPS, colours
from view.live.conftest import ball_system


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    left = [t for t in threading.enumerate() if t not in before]
    for thread in left:
        # One that is about to end, such as that of a page just closed, is given the time.
        thread.join(10.0)
    assert not [t for t in left if t.is_alive()]


def test_it_listens_on_this_machine_alone(crank: bc.Result) -> None:
    with crank.view(browser=False) as viewer:
        assert viewer.url.startswith("http://127.0.0.1:")
        assert answers("127.0.0.1", viewer.port)
        own = socket.gethostbyname(socket.gethostname())
        assert own.startswith("127.") or not answers(own, viewer.port)
        assert viewer.url in viewer._repr_html_()
        assert viewer._repr_html_().startswith("<iframe")
    assert not answers("127.0.0.1", viewer.port)


def answers(host: str, port: int) -> bool:
    """Whether somebody listens there."""
    try:
        with socket.create_connection((host, port), timeout=2):
            return True
    except OSError:
        return False


def test_seeking_puts_bodies_where_they_are(crank: bc.Result) -> None:
    with crank.view(browser=False) as viewer:
        for time in (0.0, 0.7, 2.0):
            viewer.seek(time)
            viewer._show()
            row = int(np.argmin(np.abs(crank.time - time)))
            for k, name in enumerate(("crank", "rod", "slider")):
                expected = crank[f"{name}.position"][row]
                assert viewer.stage.frames[k].position == pytest.approx(expected, abs=1e-9)
            assert viewer.controls.slider.value == pytest.approx(time, abs=1e-9)


def test_playing_moves_the_time_and_stops_at_the_end(crank: bc.Result) -> None:
    with crank.view(browser=False) as viewer:
        viewer.controls.speeds.value = "10 x"
        viewer.play()
        for _ in range(200):
            if not viewer.playing:
                break
            threading.Event().wait(0.02)
        assert not viewer.playing
        assert viewer.time == pytest.approx(2.0)


def test_a_run_again_is_the_run_with_those_parameters(ball: bc.Result) -> None:
    again_slow = again(ball, {"weight": 4.0})
    expected = ball_system().simulate(1.5, parameters={"weight": 4.0}, output=300)
    assert again_slow["ball.position.z"] == pytest.approx(np.asarray(expected["ball.position.z"]), abs=1e-9)
    # Free fall of 0.9 m at 4 m/s^2 ends at sqrt(2 * 0.9 / 4) s.
    assert again_slow.impacts[0].time == pytest.approx(np.sqrt(0.45), abs=1e-8)
    with pytest.raises(UnknownName, match="weight"):
        again(ball, {"wait": 4.0})
    stepped = ball_system().simulate(0.5, output=20, impacts="stepping", step=1e-3)
    faster = again(stepped, {"weight": 12.0})
    alone = ball_system().simulate(0.5, parameters={"weight": 12.0}, output=20, impacts="stepping", step=1e-3)
    np.testing.assert_array_equal(faster.q, alone.q)


def test_loops_are_closed_again_where_a_length_changes() -> None:
    system = bc.System("slider crank", gravity=(0, -9.81, 0))
    length = system.parameter("length", 1.0, "m")
    crank = system.body("crank", mass=1.0, inertia=(0.1, 0.1, 0.1))
    rod = system.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 1, 0), angle=-0.5236)
    slider = system.body("slider", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1.7320508, 0, 0))
    system.revolute("main", system.ground, crank, at=(0, 0, 0))
    system.revolute("pin", crank.point(0, length, 0), rod.point(0, 0, 0))
    system.revolute("wrist", rod.point(2, 0, 0), slider.point(0, 0, 0))
    system.prismatic("guide", system.ground, slider, axis="x")
    mechanism = system.mechanism()
    changed = with_parameters(mechanism, {"length": 0.8})
    loops = changed.loop_state()
    assert np.abs(loops.rows(changed.start.q, 0.0).residual).max() < 1e-10
    assert changed.compiled.shares(mechanism.compiled)


def test_sliders_run_again_and_curves_follow(ball: bc.Result) -> None:
    with ball.view(["ball.position.z"], browser=False) as viewer:
        assert set(viewer.parameters.sliders) == {"weight"}
        viewer.run_again({"weight": 2.0})
        assert viewer.finished(30)
        assert float(viewer.result.parameters[0, 0]) == 2.0
        drawn = viewer.curves.plots[0].data
        assert drawn.names == ["ball.position.z"]
        assert drawn.values[0] == pytest.approx(
            np.interp(drawn.time, ball.time, viewer.result["ball.position.z"])
        )
        viewer.curves.choose(["ball.velocity", "energy.kinetic"])
        assert [len(p.data.names) for p in viewer.curves.plots] == [3, 1]
        viewer.curves.choose([])
        assert viewer.curves.plots == []


def test_a_run_is_followed_while_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bellcrank.run.watching.PERIOD", 0.05)
    mechanism = bc.System("pendulum", gravity=(0, 0, -9.81))
    rod = mechanism.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0))
    mechanism.revolute("pivot", mechanism.ground, rod, at=(0, 0, 0), axis="y")
    seen: list[bc.Result] = []
    whole = mechanism.simulate(80_000.0, output=2000, tolerance=1e-12, watch=seen.append, progress=False)
    assert seen, "a run of a second is told of"
    for part in seen:
        assert part.run.status == "running"
        n = len(part)
        assert 0 < n <= len(whole)
        assert np.array_equal(part.q, whole.q[:n])
        assert np.array_equal(part.du, whole.du[:n])
    with Viewer(mechanism.mechanism()) as viewer:
        assert len(viewer.result) == 1
        viewer.run(0.5, output=50)
        assert viewer.finished(30)
        assert len(viewer.result) == 51
        viewer.follow(seen[-1])
        assert viewer.finished(30)
        for _ in range(200):
            if viewer.time == pytest.approx(float(seen[-1].time[-1])):
                break
            threading.Event().wait(0.02)
        assert viewer.time == pytest.approx(float(seen[-1].time[-1]))


def test_contacts_are_followed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bellcrank.run.watching.PERIOD", 0.0)
    seen: list[bc.Result] = []
    ball_system().simulate(4.0, output=100, watch=seen.append, progress=False)
    assert seen
    assert all(len(a) <= len(b) for a, b in pairwise(seen))
    assert seen[-1].impacts


def test_impacts_can_be_jumped_to(ball: bc.Result) -> None:
    found = jumps(ball)
    assert next(iter(found)).startswith("1: 0.428")
    assert "floor" in next(iter(found))
    with ball.view(browser=False) as viewer:
        viewer.seek(found[next(iter(found))] + 0.01)
        viewer._show()
        time, mark = viewer.stage.impacts[0]
        assert mark.visible
        assert time == pytest.approx(np.sqrt(2 * 0.9 / 9.81), abs=1e-8)
        viewer.seek(0.0)
        viewer._show()
        assert not mark.visible


def test_contact_shapes_are_drawn_in_their_size(ball: bc.Result) -> None:
    drawn = scene(ball)
    sphere = next(s for k, s in drawn.solids if k == 0)
    assert np.linalg.norm(sphere.corners, axis=1) == pytest.approx(0.1)
    plane = next(s for k, s in drawn.solids if k < 0)
    assert plane.ground
    assert np.abs(plane.corners[:, 2]).max() == 0.0


def test_stress_of_a_bent_rod_is_that_of_its_sections(bent: bc.Result) -> None:
    drawn = scene(bent).deforming[0]
    assert drawn.stress is not None
    name = bent.mechanism.system.bodies and next(
        n for n, b in bent.mechanism.system.bodies.items() if b.member is not None
    )
    middle = np.abs(np.asarray(bent[f"{name}.middle.stress"])).max(axis=1)
    member = bent.mechanism.system.bodies[name].member
    assert member is not None
    places = member.fields["displacement"].points
    row = int(np.argmin(np.linalg.norm(places - member.node("middle").position, axis=1)))
    assert drawn.stress[:, row] == pytest.approx(middle, rel=1e-9)
    with bent.view(browser=False) as viewer:
        viewer.seek(float(bent.time[60]))
        viewer._show()
        shown = np.vstack([m.vertices for m in viewer.stage.deforming[0].surface if m.visible])
        skin = drawn.skin(60)[np.unique(drawn.skin_faces)]
        assert np.ptp(shown, axis=0) == pytest.approx(np.ptp(skin, axis=0), abs=1e-6)


def test_a_section_leaves_nothing_beyond_it(bent: bc.Result) -> None:
    with bent.view(browser=False) as viewer:
        viewer.seek(float(bent.time[60]))
        viewer._show()
        stage, scene = viewer.stage, viewer.stage.scene
        whole = [np.array(part.handle.vertices) for part in stage._parts if isinstance(part, _Part)]
        viewer.controls.section.value, viewer.controls.place.value = "x", 0.4
        viewer.controls.show_section()
        assert stage.cut is not None
        place = stage.cut[1]
        seen = [
            scene.placed(part.body, np.array(part.handle.vertices)[np.unique(part.handle.faces)], 60)
            for part in stage._parts
            if isinstance(part, _Part) and part.handle.visible
        ]
        seen += [np.array(m.vertices) for m in stage.deforming[0].surface if m.visible]
        assert 0 < len(seen) < len(whole) + len(stage.deforming[0].surface)
        assert max(float(points[:, 0].max()) for points in seen) == pytest.approx(place, abs=1e-6)
        viewer.controls.section.value = "off"
        viewer.controls.show_section()
        again = [np.array(part.handle.vertices) for part in stage._parts if isinstance(part, _Part)]
        assert all(np.allclose(a, b) for a, b in zip(whole, again, strict=True))


def test_a_cut_box_keeps_its_share_of_the_surface() -> None:
    made = box(np.zeros(3), np.eye(3), (2.0, 2.0, 2.0), "#000000")
    normal = np.array([1.0, 1.0, 1.0]) / np.sqrt(3.0)
    halves = [clipped(made.corners, made.faces, side * normal, side * 0.2) for side in (1.0, -1.0)]

    def area(vertices: np.ndarray, faces: np.ndarray) -> float:
        a, b, c = (vertices[faces[:, k]] for k in range(3))
        return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()) / 2.0

    # Triangles before and beyond the plane make up all of them, and none crosses it.
    assert sum(area(*half) for half in halves) == pytest.approx(area(made.corners, made.faces), rel=1e-12)
    assert (halves[0][0][np.unique(halves[0][1])] @ normal).max() == pytest.approx(0.2)


def test_colours_run_from_first_to_last_stop() -> None:
    found = colours(np.array([0.0, 1.0, 7.0, np.nan]))
    ends = [[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in (STOPS[0], STOPS[-1])]
    assert found.tolist() == [ends[0], ends[1], ends[1], ends[0]]


def test_outer_faces_close_a_body() -> None:
    cube = np.arange(8)[None]
    two = np.array([[0, 1, 2, 3, 4, 5, 6, 7], [1, 8, 4, 5, 9, 10, 7, 11]])
    assert len(outer_faces(cube)) == 12
    assert len(outer_faces(two)) == 20
    assert len(outer_faces(np.array([[0, 1, 2, 3], [1, 2, 3, 4]]))) == 6
    edges = [tuple(sorted(p)) for f in outer_faces(cube) for p in ((f[0], f[1]), (f[1], f[2]), (f[0], f[2]))]
    assert all(edges.count(e) == 2 for e in edges)


def test_of_many_wishes_the_newest_counts(ball: bc.Result) -> None:
    with ball.view(browser=False) as viewer:
        for weight in np.linspace(1.0, 5.0, 40):
            viewer.run_again({"weight": float(weight)})
        assert viewer.finished(60)
        assert float(viewer.result.parameters[0, 0]) == 5.0


def test_closing_ends_a_long_run_of_its_own() -> None:
    system = bc.System("pendulum", gravity=(0, 0, -9.81))
    rod = system.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0))
    system.revolute("pivot", system.ground, rod, at=(0, 0, 0), axis="y")
    with Viewer(system) as viewer:
        viewer.run(1e9, output=20_000)
        for _ in range(500):
            if viewer.running:
                break
            threading.Event().wait(0.01)
        assert viewer.running
        begun = time.monotonic()
    assert time.monotonic() - begun < 20.0
    assert viewer._runner is not None
    assert not viewer._runner.is_alive()


def test_a_browser_is_opened_outside_of_notebooks(crank: bc.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    with crank.view() as viewer:
        assert opened == [viewer.url]
    monkeypatch.setattr("bellcrank.view.live.player.in_notebook", lambda: True)
    with crank.view():
        assert len(opened) == 1


def test_what_a_contact_remembers_has_no_slider() -> None:
    system = bc.System("ball")
    ball = system.body("ball", mass=1.0, inertia=(0.004, 0.004, 0.004), at=(0, 0, 0.2))
    system.free("fall", system.ground, ball)
    floor = system.ground.plane()
    system.contact("floor", floor, ball.sphere(0.1), restitution=0.7, treatment="continuous", stiffness=1e6)
    with Viewer(system) as viewer:
        assert viewer.result.mechanism.system.parameters
        assert viewer.parameters.sliders == {}


def test_ranges_of_sliders_hold_the_value() -> None:
    for value in (3.0, -2.0, 0.0, 1e-12, 1e9):
        low, high = slider_range(value)
        assert low <= value <= high
        assert low < high


def test_a_mistyped_quantity_is_told_before_anything_starts(crank: bc.Result) -> None:
    with pytest.raises(ModelError, match=r"slider\.velocity"):
        crank.view(["slidr.velocity.x"], browser=False)


def test_the_start_alone_can_be_looked_at(crank: bc.Result) -> None:
    result = at_start(crank.mechanism)
    assert len(result) == 1
    assert result.q[0] == pytest.approx(crank.q[0])
    assert result.du[0] == pytest.approx(crank.du[0])


def test_its_socket_belongs_to_its_own_page(crank: bc.Result) -> None:
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    def opened(host: str, origin: str | None) -> int:
        """The status of opening the socket as a page of `origin` that asked for `host` does."""
        named = f"ws://{host}/"
        with socket.create_connection(("127.0.0.1", viewer.port)) as line:
            try:
                with connect(named, sock=line, origin=origin, max_size=None) as page:  # type: ignore[arg-type]
                    return page.response.status_code if page.response else 0
            except InvalidStatus as error:
                return error.response.status_code

    with crank.view(browser=False) as viewer:
        own = f"127.0.0.1:{viewer.port}"
        assert opened(own, f"http://{own}") == 101
        assert opened(f"localhost:{viewer.port}", f"http://localhost:{viewer.port}") == 101
        assert opened(own, "http://somewhere.else") == 403
        assert opened(own, f"http://localhost:{viewer.port}") == 403
        assert opened(own, None) == 403
        foreign = f"somewhere.else:{viewer.port}"
        assert opened(foreign, f"http://{foreign}") == 403

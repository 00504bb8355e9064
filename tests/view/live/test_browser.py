"""In a real browser: scenes that are not empty, sliders that move bodies, curves, and silence towards the outside."""

from __future__ import annotations

import io
import threading
import time
from pathlib import Path
from urllib.parse import urlparse

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.apps.drive.drive import Drive
from bellcrank.apps.drive.server import DriveServer
from view.live.chromium import Browser, Page

SCENE = (slice(130, None), slice(0, 330))
"""The part of a small viewer's picture that shows the scene, below notices and left of the panel."""


def pixels(page: Page) -> np.ndarray:
    from matplotlib.image import imread

    return np.asarray(imread(io.BytesIO(page.picture()))[..., :3], dtype=float)


def ball_at(page: Page) -> tuple[float, float, int]:
    """Where the ball is in the picture and its pixels, when it has stood still for two looks; the coloured ones."""
    last = (-1.0, -1.0)
    for _ in range(60):
        rows, columns = np.nonzero(np.ptp(pixels(page)[SCENE], axis=-1) > 0.25)
        here = (float(rows.mean()), float(columns.mean())) if len(rows) > 300 else (-1.0, -1.0)
        if here[0] >= 0.0 and np.abs(np.subtract(here, last)).max() < 0.5:
            return *here, len(rows)
        last = here
        time.sleep(0.05)
    pytest.fail("there is no ball in the picture")


def colourful(picture: np.ndarray) -> float:
    """Share of pixels that have a colour of their own: bodies, not grid or background."""
    return float((np.ptp(picture, axis=-1) > 0.2).mean())


def only_this_machine(page: Page) -> None:
    outside = [r for r in page.requests if urlparse(r).scheme not in ("data", "blob", "file")]
    assert {urlparse(r).hostname for r in outside} <= {"127.0.0.1"}
    assert page.complaints == []


def test_html_file(browser: Browser, crank: bc.Result, tmp_path: Path) -> None:
    crank.html(tmp_path / "crank.html", ["slider.velocity.x", "energy.total"])
    with browser.page(f"file://{tmp_path}/crank.html") as page:
        page.until("document.documentElement.dataset.ready === '1'")
        first = page.value("document.getElementById('scene').toDataURL()")
        assert colourful(pixels(page)) > 0.005
        assert page.coloured(".panel canvas") > 200
        page.set("slider", 600)
        page.until("document.getElementById('clock').textContent.startsWith('1.200')")
        assert page.value("document.getElementById('scene').toDataURL()") != first
        assert page.value("document.documentElement.dataset.error") is None
        assert page.requests == [f"file://{tmp_path}/crank.html"]
        only_this_machine(page)


def test_html_file_shows_stress(browser: Browser, bent: bc.Result, tmp_path: Path) -> None:
    bent.html(tmp_path / "bent.html", magnified=3.0)
    with browser.page(f"file://{tmp_path}/bent.html#t={bent.time[50]}") as page:
        page.until("document.documentElement.dataset.ready === '1'")
        red = pixels(page)[:, :700]
        assert ((red[..., 0] > 0.75) & (red[..., 1] < 0.45) & (red[..., 2] < 0.4)).sum() > 30
        only_this_machine(page)


def ticked(page: Page, name: str) -> None:
    """Tick a box and wait for the picture."""
    page.value(f"document.getElementById({name!r}).click()")
    page.value("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")


def blue_and_green(page: Page) -> tuple[int, int]:
    """Pixels of reactions and of velocities."""
    r, g, b = np.moveaxis(pixels(page)[60:, :760], -1, 0)
    return int(((b > r + 0.35) & (b > g + 0.25)).sum()), int(((g > r + 0.25) & (g > b + 0.15)).sum())


def test_html_file_shows_arrows_traces_and_sections(
    browser: Browser, crank: bc.Result, tmp_path: Path
) -> None:
    crank.html(tmp_path / "crank.html", [], traces=["rod.center"])
    with browser.page(f"file://{tmp_path}/crank.html#t=0.6") as page:
        page.until("document.documentElement.dataset.ready === '1'")
        scene = "document.getElementById('scene').toDataURL()"
        with_trace = page.value(scene)
        ticked(page, "traces")
        plain = page.value(scene)
        assert plain != with_trace
        assert page.value("document.getElementById('arrows-force').parentElement.hidden")
        before = blue_and_green(page)
        ticked(page, "arrows-reaction")
        ticked(page, "arrows-velocity")
        after = blue_and_green(page)
        assert after[0] > before[0] + 30
        assert after[1] > before[1] + 30
        coloured = colourful(pixels(page))
        choose = (
            "(n, v) => { const s = document.getElementById(n); s.value = v;"
            " for (const e of ['input', 'change']) s.dispatchEvent(new Event(e)); }"
        )
        page.value(f"({choose})('section', 'x')")
        page.value("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")
        assert colourful(pixels(page)) < 0.8 * coloured
        page.value(f"({choose})('section', '')")
        page.value(f"({choose})('from', '+x')")
        page.value("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")
        assert page.value(scene) not in (plain, with_trace)
        only_this_machine(page)


def test_html_file_shows_contact_patches(browser: Browser, tmp_path: Path) -> None:
    system = bc.System("press", gravity=(0, 0, -9.81))
    ball = system.body("ball", mass=50.0, inertia=(0.2,) * 3, at=(0, 0, 0.0295))
    system.free("fall", system.ground, ball)
    system.contact(
        "floor",
        system.ground.box(0.2, 0.2, 0.05, at=(0, 0, -0.05)),
        ball.torus(0.07, 0.03),
        0.3,
        treatment="continuous",
        young=1e6,
    )
    run = system.simulate(0.02, output=4)
    run.html(tmp_path / "press.html", [])
    with browser.page(f"file://{tmp_path}/press.html#t=0.02") as page:
        page.until("document.documentElement.dataset.ready === '1'")
        assert page.value("document.documentElement.dataset.error") is None
        shown = page.value("JSON.parse(document.getElementById('data').textContent).scales.map(s => s.label)")
        r, g, b = np.moveaxis(pixels(page)[60:, :760], -1, 0)
        assert any("pressure" in label for label in shown)
        assert ((r > 0.9) & (g > 0.5) & (b < 0.8) & (r > b + 0.15)).sum() > 20
        only_this_machine(page)


def test_names_stay_names_in_the_html_file(browser: Browser, evil: bc.Result, tmp_path: Path) -> None:
    evil.html(tmp_path / "evil.html")
    with browser.page(f"file://{tmp_path}/evil.html") as page:
        page.until("document.documentElement.dataset.ready === '1'")
        assert page.value("document.title") == evil.mechanism.system.name
        assert page.value("document.querySelectorAll('img').length") == 0
        only_this_machine(page)


def test_viewer(browser: Browser, ball: bc.Result) -> None:
    """A slider that moves the ball, its curve, arrows, and views with lines that stay parallel."""
    shown = ball.view(["ball.position.z"], browser=False, traces=["ball"])
    with shown as viewer, browser.page(viewer.url, 660, 420) as page:
        viewer.seek(0.3)
        page.until(
            "document.querySelectorAll('canvas').length > 1 && !!document.querySelector('.uplot canvas')"
        )
        page.until("!!document.querySelector('[role=slider]')")
        first = ball_at(page)
        x, y = page.middle("[role=slider]")
        page.mouse("mousePressed", x, y)
        page.mouse("mouseMoved", x + 11, y)
        page.mouse("mouseReleased", x + 11, y)
        for _ in range(100):
            if viewer.time > 0.35:
                break
            time.sleep(0.05)
        assert viewer.time > 0.35, "dragging the slider reaches the viewer"
        low = ball_at(page)
        fallen = np.interp([0.3, viewer.time], ball.time, ball["ball.position.z"])
        assert fallen[0] - fallen[1] > 0.1
        assert low[0] > first[0] + 15, "a ball that has fallen is lower in the picture"
        assert abs(low[1] - first[1]) < 10
        assert page.coloured(".uplot canvas") > 100, "a curve shows"
        viewer.seek(0.3)
        ball_at(page)
        before = pixels(page)[SCENE]
        viewer.controls.arrows["velocity"].value = True
        viewer.controls.show_arrows()
        for _ in range(60):
            changed = np.abs(pixels(page)[SCENE] - before).max(axis=-1) > 0.2
            if changed.sum() > 30:
                break
            time.sleep(0.1)
        assert changed.sum() > 30, "an arrow shows"
        viewer.controls.arrows["velocity"].value = False
        viewer.controls.show_arrows()
        assert len(viewer.stage.traces) == 1
        sizes = {}
        for flat in (False, True):
            viewer.eye.flatten(flat)
            viewer.eye.side("+z")
            for moment in (0.0, 0.4):
                viewer.seek(moment)
                sizes[flat, moment] = ball_at(page)[2]
        assert sizes[False, 0.0] > 1.3 * sizes[False, 0.4], "from above, a ball that falls grows smaller"
        assert sizes[True, 0.0] == pytest.approx(sizes[True, 0.4], rel=0.1), (
            "not where parallel lines stay so"
        )
        only_this_machine(page)


def test_names_stay_names_in_the_viewer(browser: Browser, evil: bc.Result) -> None:
    with evil.view(browser=False) as viewer, browser.page(viewer.url, 640, 400) as page:
        viewer.stage.show_names(True)
        page.until("!!document.querySelector('.uplot canvas')")
        time.sleep(0.5)
        assert page.value("document.title") != "owned"
        assert page.value("document.querySelectorAll('img[src=x]').length") == 0
        only_this_machine(page)


@pytest.fixture
def drive() -> Drive:
    return Drive("bumps", 8.0)


def test_drive(browser: Browser, drive: Drive) -> None:
    stop = threading.Event()
    with DriveServer(drive) as server:
        driving = threading.Thread(target=drive.run, args=(stop, server.show))
        driving.start()
        try:
            with browser.page(server.url) as page:
                page.until("document.documentElement.dataset.ready === '1'")
                first = pixels(page)
                assert colourful(first) > 0.01
                page.key("keyDown", "ArrowUp")
                page.key("keyDown", "ArrowLeft")
                page.until("Number(document.getElementById('is-throttle').style.width.replace('%', '')) > 40")
                assert drive.wish.throttle == 1.0
                assert drive.wish.steer == 1.0
                page.key("keyUp", "ArrowLeft")
                page.key("keyUp", "ArrowUp")
                page.set("brake", 0.5)
                page.until("document.getElementById('is-brake').style.width === '50%'")
                page.set("brake", 0.0)
                page.value(
                    "navigator.getGamepads = () => [{connected: true, axes: [-1], "
                    "buttons: Array.from({length: 17}, (_, i) => ({value: i === 7 ? 0.75 : 0}))}]"
                )
                page.until("Number(document.getElementById('is-throttle').style.width.replace('%', '')) > 37")
                assert (drive.wish.throttle, drive.wish.steer, drive.wish.brake) == (0.75, 1.0, 0.0)
                assert np.abs(pixels(page) - first).mean() > 0.005
                assert page.value("document.getElementById('median').textContent").endswith(("µs", "ms"))
                assert page.value("document.documentElement.dataset.error") is None
                only_this_machine(page)
        finally:
            stop.set()
            driving.join()

"""Elastic bodies in contact in the viewer: what it shows, and in a real browser that it shows it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bellcrank import elastic
from bellcrank.contact.shapes import Ellipsoid
from bellcrank.elastic.page import scene
from bellcrank.errors import UnknownName
from bellcrank.view.animation import SPEEDS, speeds_for
from bellcrank.view.placing import GROUND
from view.live.chromium import Browser
from view.live.test_browser import colourful, only_this_machine, pixels
from view.live.test_viewer import _no_thread_is_left, answers

__all__ = ["_no_thread_is_left"]


@pytest.fixture(scope="module")
def disc() -> elastic.ElasticResult:
    """Falls on a wall that comes to meet it, and is pressed most at the end."""
    soft = elastic.Material(young=1e7, poisson=0.3, density=1000.0)
    body = elastic.disc(0.5, soft, divisions=4, centre=(0.0, 0.51), velocity=(0.0, -2.0), name="disc")
    wall = elastic.RigidPlane((0.0, 0.0), (0.0, 1.0), velocity=(0.0, 0.5))
    return elastic.simulate(body, elastic.Contact(body, wall), 0.02, 4e-4)


def test_it_listens_on_this_machine_alone_and_takes_names_it_knows(disc: elastic.ElasticResult) -> None:
    with disc.view(browser=False) as viewer:
        assert viewer.url.startswith("http://127.0.0.1:")
        assert answers("127.0.0.1", viewer.port)
        assert viewer.curves.names == ["contact.force", "energy.kinetic", "energy.strain", "energy.total"]
    assert not answers("127.0.0.1", viewer.port)
    with pytest.raises(UnknownName, match=r"contact\.farce"):
        disc.view(["contact.farce"], browser=False)


def test_seeking_shows_the_body_as_it_is_deformed_then(disc: elastic.ElasticResult) -> None:
    with disc.view(browser=False) as viewer:
        frame = len(disc.frame_times) // 2
        viewer.seek(float(disc.frame_times[frame]))
        viewer._show()
        assert viewer.controls.slider.value == pytest.approx(disc.frame_times[frame], abs=1e-9)
        meshes = [m for m in viewer.stage.deforming[0].surface if m.visible]
        shown = np.vstack([m.vertices for m in meshes])[:, :2]
        nodes = disc.bodies[0].nodes + disc.displacement(frame)
        nearest = np.linalg.norm(shown[:, None] - nodes[None], axis=2).min(axis=1)
        assert nearest.max() < 1e-6
        assert viewer.stage.scene.stress == pytest.approx(
            max(disc.stress(k).von_mises.max() for k in range(len(disc.frame_times)))
        )
        # The wall has travelled at its speed.
        wall = viewer.stage.frames[1]
        assert wall.position == pytest.approx((0.0, 0.5 * disc.frame_times[frame], 0.0), abs=1e-9)


@pytest.mark.parametrize("solid", [False, True])
def test_obstacles_of_any_shape_are_drawn_where_they_are(solid: bool) -> None:
    soft = elastic.Material(young=1e7, poisson=0.3, density=1000.0)
    if solid:
        body = elastic.block(
            (0.4, 0.4, 0.2), soft, divisions=(1, 1, 1), lowest=(-0.2, -0.2, 0.0), name="body"
        )
    else:
        body = elastic.block((0.4, 0.2), soft, divisions=(2, 1), lowest=(-0.2, 0.0), name="body")
    axes, at = np.array([0.3, 0.2, 0.2]), np.array([0.05, 0.0, -0.21] if solid else [0.05, -0.21, 0.0])
    egg = elastic.rigid_shape(Ellipsoid(*axes), at=at)
    run = elastic.simulate(body, elastic.Contact(body, egg), 1e-4, 1e-4)
    ((number, shape),) = scene(run, 2).solids
    assert number == GROUND
    seen = shape.corners * (1.0 if solid else np.array([1.0, 1.0, 0.0]))
    assert np.abs(np.sqrt((((seen - at) / axes) ** 2).sum(axis=1)) - 1.0).max() < 1e-3
    assert np.ptp(seen[:, 0]) > 0.4


def test_playing_comes_to_the_end(disc: elastic.ElasticResult) -> None:
    assert min(speeds_for(1e-4)) < 2e-5
    assert speeds_for(10.0) == SPEEDS
    with disc.view(browser=False) as viewer:
        assert viewer.controls.speed < 0.01, "twenty milliseconds last some seconds"
        viewer.controls.speeds.value = "0.05 x"
        viewer.play()
        for _ in range(200):
            if not viewer.playing:
                break
            time.sleep(0.02)
        assert viewer.time == pytest.approx(disc.frame_times[-1])


def test_in_a_browser(browser: Browser, disc: elastic.ElasticResult) -> None:
    with disc.view(browser=False) as viewer, browser.page(viewer.url, 700, 420) as page:
        page.until("!!document.querySelector('.uplot canvas')")

        def red() -> int:
            rgb = pixels(page)[150:, :380]
            return int(((rgb[..., 0] > 0.6) & (rgb[..., 1] < 0.35) & (rgb[..., 2] < 0.35)).sum())

        for _ in range(100):
            if colourful(pixels(page)[150:, :380]) > 0.05:
                break
            time.sleep(0.1)
        assert colourful(pixels(page)[150:, :380]) > 0.05, "the body shows"
        assert red() == 0, "a body that flies has no stress"
        viewer.seek(disc.peak()[1])
        for _ in range(100):
            if red() > 30:
                break
            time.sleep(0.1)
        assert red() > 30, "where it is pressed it turns red"
        assert page.coloured(".uplot canvas") > 100
        only_this_machine(page)


def test_the_command(disc: elastic.ElasticResult, tmp_path: Path) -> None:
    disc.save(tmp_path / "disc.h5")
    command = [
        sys.executable,
        "-m",
        "bellcrank.cli",
        "view",
        str(tmp_path / "disc.h5"),
        "--no-browser",
        "--json",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            lines = [process.stdout.readline()]
            while lines[-1].rstrip() != "}":
                lines.append(process.stdout.readline())
            told: dict[str, Any] = json.loads("".join(lines))
            port = int(told["url"].rsplit(":", 1)[1])
            assert answers("127.0.0.1", port)
        finally:
            process.kill()

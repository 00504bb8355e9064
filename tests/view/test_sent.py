"""What is sent: pictures, films decoded again, glTF files read by others, elements of notebooks."""

from __future__ import annotations

import json
import struct
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import ModelError
from bellcrank.view.render import Renderer
from bellcrank.view.scene import rgb, scene

SIZE = (160, 100)
RED = "#d01020"


@pytest.fixture(scope="module")
def arm() -> bc.Result:
    """A red box that turns about z at 1 rad/s, 1 m long from the origin along x at the start."""
    from bellcrank.contact import Box

    system = bc.System("arm", gravity=(0, -9.81, 0))
    body = system.body("arm", mass=1.0, inertia=(0.1,) * 3, at=(0.5, 0, 0))
    system.revolute("pivot", system.ground, body, at=(0, 0, 0), axis="z")
    body.visual(Box(0.5, 0.1, 0.1), colour=RED)
    system.driver("pivot", lambda t: t)
    return system.simulate(1.5, output=30)


def pixels(path: Path) -> np.ndarray:
    from PIL import Image

    return np.asarray(Image.open(path).convert("RGB"), dtype=float)


def reddish(picture: np.ndarray) -> np.ndarray:
    """Where the arm is."""
    return (picture[..., 0] > 100) & (picture[..., 1] < 90) & (picture[..., 2] < 90)


def spread(picture: np.ndarray) -> tuple[int, int]:
    """Columns and rows that the arm takes up."""
    rows, columns = np.nonzero(reddish(picture))
    return int(np.ptp(columns)) + 1, int(np.ptp(rows)) + 1


def direction(picture: np.ndarray) -> float:
    """The angle of the arm in the picture [rad], by its longest axis."""
    rows, columns = np.nonzero(reddish(picture))
    points = np.column_stack([columns - columns.mean(), rows.mean() - rows])
    x, y = np.linalg.svd(points, full_matrices=False)[2][0]
    return float(np.arctan2(y, x) % np.pi)


@pytest.mark.parametrize("at", [0.0, 0.7, 1.31])
def test_a_picture_shows_the_body_where_it_is(arm: bc.Result, tmp_path: Path, at: float) -> None:
    arm.picture(tmp_path / "arm.png", at=at, size=SIZE)
    found = pixels(tmp_path / "arm.png")
    assert found.shape == (100, 160, 3)
    assert direction(found) == pytest.approx(at, abs=0.05)


def test_pictures_from_other_sides_and_cut(arm: bc.Result, tmp_path: Path) -> None:
    counts = {}
    for name, options in {
        "front": {"view": "+z"},
        "end": {"view": "+x"},
        "cut": {"view": "+z", "section": ("x", 0.5)},
        "arrows": {"view": "+z", "arrows": ("velocity", "reaction"), "traces": ["arm.center"]},
    }.items():
        arm.picture(tmp_path / "arm.png", size=SIZE, **options)  # type: ignore[arg-type]
        counts[name] = pixels(tmp_path / "arm.png")
    slender = {name: np.divide(*spread(counts[name])) for name in ("front", "end", "cut")}
    # From its end the arm, 1 m by 0.2 m by 0.2 m, is a square, and half of it is left of the section.
    assert slender["front"] == pytest.approx(5.0, rel=0.1)
    assert slender["end"] == pytest.approx(1.0, rel=0.3)
    assert slender["cut"] == pytest.approx(2.5, rel=0.1)
    for name, seen in (("front", False), ("arrows", True)):
        r, g, b = np.moveaxis(counts[name], -1, 0)
        assert ((g > r + 30) & (g > b + 20)).any() == seen, "velocities are green"
        assert ((b > r + 60) & (b > g + 40)).any() == seen, "reactions are blue"


def test_a_film_is_decoded_to_the_frames_that_were_drawn(arm: bc.Result, tmp_path: Path) -> None:
    import imageio_ffmpeg

    arm.video(tmp_path / "arm.mp4", size=SIZE, fps=8, speed=1.0)
    reader = imageio_ffmpeg.read_frames(str(tmp_path / "arm.mp4"))
    told = next(reader)
    assert told["size"] == SIZE
    assert told["fps"] == 8
    frames = [np.frombuffer(f, np.uint8).reshape(100, 160, 3).astype(float) for f in reader]
    assert len(frames) == 13
    drawn = scene(arm)
    with Renderer(drawn.resampled(np.arange(13) / 8), SIZE, whole=drawn, finer=1) as renderer:
        for k in (0, 5, 12):
            assert direction(frames[k]) == pytest.approx(k / 8, abs=0.05)
            # What compression costs.
            assert np.abs(frames[k] - renderer.frame(k)).mean() < 4.0


def test_a_gif_plays_the_motion(arm: bc.Result, tmp_path: Path) -> None:
    from PIL import Image

    arm.video(tmp_path / "arm.gif", size=SIZE, fps=5, speed=1.0)
    with Image.open(tmp_path / "arm.gif") as found:
        assert found.n_frames == 8
        found.seek(4)
        assert direction(np.asarray(found.convert("RGB"), dtype=float)) == pytest.approx(0.8, abs=0.05)


def glb(path: Path) -> tuple[dict[str, Any], bytes]:
    raw = path.read_bytes()
    magic, version, length = struct.unpack("<4sII", raw[:12])
    assert (magic, version, length) == (b"glTF", 2, len(raw))
    size = struct.unpack("<I", raw[12:16])[0]
    return json.loads(raw[20 : 20 + size]), raw[28 + size :]


def values(document: dict[str, Any], content: bytes, number: int) -> np.ndarray:
    accessor = document["accessors"][number]
    view = document["bufferViews"][accessor["bufferView"]]
    wide = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
    flat = np.frombuffer(content, "<f4", accessor["count"] * wide, view["byteOffset"])
    return flat.reshape(-1, wide)


def test_gltf_files_hold_the_motion_and_others_read_them(crank: bc.Result, tmp_path: Path) -> None:
    import trimesh

    crank.gltf(tmp_path / "crank.glb")
    document, content = glb(tmp_path / "crank.glb")
    (run,) = document["animations"]
    numbers = {node["name"]: k for k, node in enumerate(document["nodes"])}
    for channel in run["channels"]:
        if channel["target"] == {"node": numbers["slider"], "path": "translation"}:
            sampler = run["samplers"][channel["sampler"]]
            time, place = (values(document, content, sampler[key]) for key in ("input", "output"))
            expected = np.interp(time[:, 0], crank.time, crank["slider.position.x"])
            assert place[:, 0] == pytest.approx(expected, abs=1e-5)
            break
    else:
        pytest.fail("the slider does not move")
    found = trimesh.load(tmp_path / "crank.glb")
    low, high = found.bounds
    drawn = scene(crank, 600)
    every = np.vstack([drawn.placed(k, s.corners, 0) for k, s in drawn.solids])
    # glTF has y upwards, as this mechanism.
    assert high - low == pytest.approx(np.ptp(every, axis=0), rel=1e-5)


def test_flexible_bodies_morph(tmp_path: Path) -> None:
    from bellcrank.verify import flexible_slider_crank as paper

    run = paper.mechanism(paper.rod(4, bending=2, stiffening=False)).simulate(0.002, output=6)
    run.gltf(tmp_path / "rod.glb", magnified=10.0)
    document, content = glb(tmp_path / "rod.glb")
    (mesh,) = (m for m in document["meshes"] if "weights" in m)
    (primitive,) = mesh["primitives"]
    bent = scene(run, magnified=10.0).deforming[0]
    last = values(document, content, primitive["targets"][-1]["POSITION"])
    first = values(document, content, primitive["attributes"]["POSITION"])
    assert first + last == pytest.approx(bent.skin(6), abs=1e-6)


def test_notebooks_show_results_and_systems(arm: bc.Result) -> None:
    for shown in (arm, arm.mechanism.system):
        text = shown._repr_html_()
        assert text.startswith("<iframe srcdoc=")
        assert 'sandbox="allow-scripts"' in text
        assert text.count("<script") == 0, "the page stays inside its frame"
    broken = bc.System("broken <b>")
    broken.body("loose", mass=1.0)
    assert "<b>" not in broken._repr_html_()


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (lambda r, p: r.picture(p / "a.png", at=9.0), "9 s is not in it"),
        (lambda r, p: r.picture(p / "a.png", view="top"), r"\+x"),
        (lambda r, p: r.picture(p / "a.png", section=("w", 1.0)), "x, y or z"),
        (lambda r, p: r.video(p / "a.avi"), "mp4"),
        (lambda r, p: r.video(p / "a.mp4", speed=1e-6), "speed="),
        (lambda r, p: r.video(p / "a.mp4", size=(161, 100), speed=1.0), "even"),
        (lambda r, p: r.gltf(p / "a.obj"), "glb"),
    ],
)
def test_wrong_wishes_say_what_to_do(arm: bc.Result, tmp_path: Path, write: Any, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        write(arm, tmp_path)


def test_what_travels_and_turns_stays_in_the_picture(tmp_path: Path) -> None:
    """A long bar that flies off and turns round: in every picture all of it, in the middle."""
    from bellcrank.contact import Box

    system = bc.System("bar", gravity=(0, 0, 0))
    bar = system.body("bar", mass=1.0, inertia=(0.01, 0.1, 0.1))
    bar.visual(Box(0.05, 0.5, 0.05), colour=RED)
    system.free("flight", system.ground, bar)
    mechanism = system.mechanism()
    u = mechanism.start.u.copy()
    u[[2, 4]] = np.pi, 3.0
    start = replace(mechanism.start, u=u)
    run = mechanism.simulate(0.5, start=start, output=20)
    for at in (0.0, 0.25, 0.5):
        run.picture(tmp_path / "bar.png", at=at, size=(240, 100), view="+z")
        rows, columns = np.nonzero(reddish(pixels(tmp_path / "bar.png")))
        assert abs(rows.mean() - 49.5) < 5
        assert abs(columns.mean() - 119.5) < 5
        assert min(rows.min(), columns.min()) > 1
        assert rows.max() < 98
        assert columns.max() < 238


@pytest.mark.parametrize(
    ("module", "said", "ask"),
    [
        ("vtkmodules", r"vtk: pip install 'bellcrank\[picture\]'", lambda r, at: r.picture(at / "a.png")),
        ("PIL", r"pillow: pip install 'bellcrank\[picture\]'", lambda r, at: r.picture(at / "a.png")),
        ("imageio_ffmpeg", r"bellcrank\[picture\]", lambda r, at: r.video(at / "a.mp4")),
        ("matplotlib.figure", r"bellcrank\[view\]", lambda r, at: r.plot("energy.total")),
        ("pandas", r"to_pandas needs pandas: pip install 'bellcrank\[frames\]'", lambda r, at: r.to_pandas()),
        ("pandas", r"bellcrank\[frames\]", lambda r, at: r.impacts.to_pandas()),
        ("xarray", r"bellcrank\[frames\]", lambda r, at: r.to_xarray()),
    ],
)
def test_the_missing_package_is_named(
    arm: bc.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, said: str, ask: Any
) -> None:
    for name in [module, *(n for n in sys.modules if n.startswith(f"{module}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ModelError, match=said):
        ask(arm, tmp_path)


def test_colours_are_read() -> None:
    assert rgb(RED) == (208, 16, 32)

"""Animation and report: self-contained, bounded, closed to what a model's names try."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

import bellcrank as bc
from bellcrank.view import animation, report
from bellcrank.view.placing import quaternions
from bellcrank.view.scene import scene
from bellcrank.view.svg import mechanism

CURVES = ["slider.velocity.x", "energy.total", "energy.kinetic"]


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def numbers(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype="<f4")


def test_animation_holds_the_motion(crank: bc.Result) -> None:
    page = animation.page(crank, CURVES)
    data = data_of(page)
    assert [b["name"] for b in data["bodies"]] == ["crank", "rod", "slider"]
    times = numbers(data["time"])
    poses = numbers(data["poses"]).reshape(len(times), 3, 7)
    assert len(times) <= animation.FRAMES
    rows = np.searchsorted(crank.time, times.astype(float) - 1e-4)
    assert np.allclose(poses[:, 2, 0], crank["slider.position.x"][rows], atol=1e-5)
    assert len(page) < 400_000
    assert [len(p["curves"]) for p in data["panels"]] == [1, 2]


def test_pages_ask_for_nothing(crank: bc.Result) -> None:
    for page in (animation.page(crank, CURVES), report.page(crank, CURVES)):
        assert not re.search(r"""(src|href)\s*=|@import|url\(|https?://""", page)
        assert "default-src 'none'" in html.unescape(page)
    page = animation.page(crank, CURVES)
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)
    assert script
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    assert f"'sha256-{digest}'" in html.unescape(page)
    assert "<script" not in report.page(crank, CURVES)


def test_names_stay_names(evil: bc.Result) -> None:
    animated, reported = animation.page(evil), report.page(evil)
    assert animated.count("<script") == 2
    assert "<script" not in reported
    for page in (animated, reported):
        assert "<img" not in page
        assert "&lt;/script&gt;" in page
    assert data_of(animated)["bodies"][0]["name"] in evil.mechanism.system.bodies


def test_report_says_what_matters(crank: bc.Result, tmp_path: Path) -> None:
    crank.report(tmp_path / "report.html", CURVES)
    page = html.unescape((tmp_path / "report.html").read_text(encoding="utf-8"))
    for words in (
        "Topology",
        "Energy ledger",
        "held",
        "redundant",
        "Dormand",
        "evaluations",
        "faster than real time",
    ):
        assert words in page
    assert "exceeded" not in page
    assert page.count("<svg") == 3


def test_citations_follow_the_methods(crank: bc.Result) -> None:
    assert "Bellcrank" in crank.cite()[0]
    explicit = crank.mechanism.system.simulate(0.1, integrator="dormand_prince5", output=5).cite()
    assert any("embedded Runge-Kutta" in c for c in explicit)
    assert not any("Stiff" in c for c in explicit)
    system = bc.System("ball", gravity=(0.0, 0.0, -9.81))
    ball = system.body("ball", mass=1.0, inertia=(1.0, 1.0, 1.0), at=(0.0, 0.0, 0.1))
    system.free("flight", system.ground, ball)
    system.contact("floor", system.ground.plane(), ball.sphere(0.1))
    stepped = system.simulate(0.01, output=2, impacts="stepping", step=1e-3)
    assert any("Moreau" in c for c in stepped.cite())
    assert "Moreau" in report.page(stepped)


def test_quaternions_turn_like_their_matrices(crank: bc.Result) -> None:
    drawn = scene(crank, 50)
    assert drawn.planar
    assert np.allclose(drawn.view, (0, 0, 1))
    q = drawn.quaternions
    w, x, y, z = np.moveaxis(q, -1, 0)
    assert np.allclose(np.linalg.norm(q, axis=-1), 1)
    assert np.allclose(x, 0, atol=1e-12)
    assert np.allclose(y, 0, atol=1e-12)
    assert np.all(np.sum(q[1:] * q[:-1], axis=-1) > 0)
    rng = np.random.default_rng(1)
    given = rng.standard_normal((1, 40, 4))
    given /= np.linalg.norm(given, axis=-1, keepdims=True)
    w, x, y, z = np.moveaxis(given, -1, 0)
    R = np.moveaxis(
        np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        ),
        (0, 1),
        (-2, -1),
    )
    assert np.allclose(np.abs(np.sum(quaternions(R) * given, axis=-1)), 1)


def every_kind() -> bc.System:
    """Bodies that hang by no, one, two, three and more points, and every kind of joint."""
    system = bc.System("all sorts", gravity=(0, 0, -9.81))
    names = ("revolute", "prismatic", "cylindrical", "spherical", "planar", "free", "fixed")
    for k, kind in enumerate(names):
        body = system.body(kind, mass=1.0, inertia=(0.1, 0.1, 0.1), at=(k, 0, 0))
        where = {} if kind in ("free",) else {"at": (k, 0, 0)}
        getattr(system, kind)(f"{kind} joint", system.ground, body, **where)
        for j in range(k):
            corner = body.point(0.3 * (j % 3), 0.3 * (j // 2), 0.2 * (j // 3))
            system.spring(
                f"{kind} {j}", system.ground.point(k, 0.1 * j, 2), corner, stiffness=10, free_length=2
            )
    cross = system.body("cross", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(-2, 0, 0))
    system.universal("cardan", system.ground, cross, at=(-1, 0, 0), axis_a="x", axis_b="y")
    nut = system.body("nut", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(-3, 0, 0))
    system.screw("thread", system.ground, nut, at=(-3, 0, 0), axis="z", pitch=0.1)
    return system


def test_every_kind_of_body_and_joint_is_drawn(tmp_path: Path) -> None:
    result = every_kind().simulate(0.05, output=5)
    drawn = scene(result)
    assert set(range(len(drawn.bodies))) <= {body for body, _ in drawn.solids}
    assert "nan" not in mechanism(drawn)
    result.html(tmp_path / "animation.html")
    result.report(tmp_path / "report.html")

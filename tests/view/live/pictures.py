"""The pictures of viewer, animation and drive in docs/pictures, taken in a real browser.

From the root of the repository: python tests/view/live/pictures.py
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import nbformat
import numpy as np

import bellcrank as bc
from bellcrank.apps.drive.controls import Chauffeur
from bellcrank.apps.drive.drive import Drive
from bellcrank.apps.drive.server import DriveServer
from bellcrank.files.urdf import load_urdf
from bellcrank.verify import flexible_slider_crank
from bellcrank.verify.full_car import full_car_system
from bellcrank.verify.full_car_bump import rolling_start
from view.live.chromium import Browser, Page
from view.test_parts import planetary

FOLDER = Path(__file__).parents[3] / "docs" / "pictures"
WIDE, HIGH = 1400, 800


def keep(page: Page, name: str) -> None:
    """Write the picture, packed as tightly as it goes."""
    from PIL import Image

    with Image.open(io.BytesIO(page.picture())) as picture:
        picture.convert("RGB").save(FOLDER / f"{name}.png", optimize=True)
    print(FOLDER / f"{name}.png")


def viewed(browser: Browser, result: bc.Result, name: str, at: float, **options: object) -> None:
    """The viewer at a time, without its remark on drawing without a graphics card."""
    with result.view(browser=False, **options) as viewer, browser.page(viewer.url, WIDE, HIGH) as page:  # type: ignore[arg-type]
        page.until("!!document.querySelector('.uplot canvas')")
        time.sleep(4.0)
        page.value("document.querySelectorAll('.mantine-Notification-closeButton').forEach(b => b.click())")
        viewer.seek(at)
        time.sleep(3.0)
        keep(page, name)


def car(browser: Browser) -> None:
    """The car over the bump of its left side."""
    mechanism = full_car_system("bump").mechanism()
    start = rolling_start(mechanism, 10.0)
    result = mechanism.simulate(1.2, start=start, integrator="dop853", output=600)
    curves = ["chassis.position.z", *(f"{wheel}_tyre.load" for wheel in ("FL", "FR", "RL", "RR"))]
    viewed(browser, result, "viewer", 0.21, quantities=curves)


def flexible(browser: Browser) -> None:
    """The flexible rod of paper B in stress colours, its bending drawn five times as large."""
    member = flexible_slider_crank.rod(10, bending=5, stiffening=True)
    result = flexible_slider_crank.mechanism(member).simulate(flexible_slider_crank.TURN, output=400)
    at = float(result.time[int(np.argmax(np.abs(flexible_slider_crank.deflection(result))))])
    curves = ["slider.position.x", "rod.middle.stress"]
    curves = [name for name in curves if name in result] or None  # type: ignore[assignment]
    viewed(browser, result, "viewer_flexible", at, quantities=curves, magnified=5.0)


def animation(browser: Browser) -> None:
    """The page to send: the slider crank that strikes a block."""
    system = bc.System("slider crank", gravity=(0, -9.81, 0))
    pin = 3 * np.array([np.cos(np.pi / 6), np.sin(np.pi / 6), 0])
    end = np.array([pin[0] + np.sqrt(16 - pin[1] ** 2), 0, 0])
    lean = np.arctan2(-pin[1], end[0] - pin[0])
    crank = system.body("crank", mass=2.0, inertia=(1, 1, 1), at=pin / 2, angle=np.pi / 6)
    rod = system.body("rod", mass=3.0, inertia=(2, 2, 2), at=(pin + end) / 2, angle=lean)
    slider = system.body("slider", mass=4.0, inertia=(1, 1, 1), at=end)
    block = system.body("block", mass=5.0, inertia=(1, 1, 1), at=(7, 0, 0))
    system.revolute("main bearing", system.ground, crank, at=(0, 0, 0), axis="z")
    system.revolute("crank pin", crank, rod, at=pin)
    system.revolute("wrist pin", rod, slider, at=end)
    system.prismatic("guide", system.ground, slider, axis="x")
    system.prismatic("rail", system.ground, block, axis="x")
    system.contact("bump", slider.circle(0.1), block.circle(0.1), restitution=0.8)
    result = system.simulate(4.0, initial={"main bearing": (np.pi / 6, 1.0)})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.html")
        result.html(
            path, ["slider.velocity.x", "block.velocity.x", "energy.kinetic", "energy.total", "guide.force.y"]
        )
        with browser.page(f"file://{path}#t=3.1", WIDE, HIGH) as page:
            page.until("document.documentElement.dataset.ready === '1'")
            page.value("document.getElementById('labels').click()")
            time.sleep(0.5)
            keep(page, "animation")


def suspension(browser: Browser) -> None:
    """The double wishbone of the notebook, without a browser."""
    book = nbformat.read(FOLDER.parent / "notebooks" / "suspension.ipynb", as_version=4)
    scope: dict[str, Any] = {}
    exec(next(cell.source for cell in book.cells if cell.cell_type == "code"), scope)
    scope["result"].picture(
        FOLDER / "suspension.png", at=0.8, size=(1400, 860), arrows=["force"], traces=["wheel"]
    )


def trebuchet() -> bc.Result:
    """A beam with a counterweight, and a sling."""
    system = bc.System("trebuchet", gravity=(0, 0, -9.81))
    axle, along = np.array([0.0, 0.0, 3.0]), np.array([np.cos(0.52), 0.0, np.sin(0.52)])
    heavy, tip = axle + 1.2 * along, axle - 4.0 * along
    pouch = tip + np.array([2.5, 0.0, 0.0])
    beam = system.body("beam", mass=60, inertia=(100, 100, 1), at=axle - 1.4 * along)
    weight = system.body("counterweight", mass=900, inertia=(60, 60, 60), at=heavy - (0.0, 0.0, 0.9))
    sling = system.body("sling", mass=0.5, inertia=(0.01, 0.3, 0.3), at=(tip + pouch) / 2)
    shot = system.body("shot", mass=20, inertia=(0.2, 0.2, 0.2), at=pouch)
    for name, a, b, at in (
        ("axle", system.ground, beam, axle),
        ("hanger", beam, weight, heavy),
        ("loop", beam, sling, tip),
        ("pouch", sling, shot, pouch),
    ):
        system.revolute(name, a, b, at=at, axis="y")
    return system.simulate(1.2, output=120)


def cam() -> bc.Result:
    """A cam and a follower on its roller."""
    system = bc.System("cam and follower", gravity=(0, 0, -9.81))
    disc = system.body("cam", mass=2, inertia=(0.01, 0.01, 0.01))
    follower = system.body("follower", mass=0.5, inertia=(0.001, 0.001, 0.001), at=(0, 0, 0.15))
    system.revolute("shaft", system.ground, disc, at=(0, 0, 0), axis="y")
    system.prismatic("guide", system.ground, follower, at=(0, 0, 0.3), axis="z")
    seat = follower.point(0, 0, 0.02)
    system.spring("return", system.ground.point(0, 0, 0.5), seat, stiffness=800, damping=2, free_length=0.5)
    upright = ((1, 0, 0), (0, 0, -1), (0, 1, 0))

    def profile(s: Any) -> tuple[Any, Any, float]:
        r = 0.08 + 0.03 * np.cos(s) + 0.01 * np.cos(2 * s)
        return r * np.cos(s), r * np.sin(s), 0.0

    system.curve_on_curve(
        "contact",
        disc.frame(rotation=upright),
        follower.frame(rotation=upright),
        profile,
        lambda s: (0.02 * np.cos(s), 0.02 * np.sin(s), 0.0),
        np.pi / 2,
        -np.pi / 2,
    )
    system.driver("shaft", lambda t: 10 * t)
    return system.simulate(1.0, output=60)


def robot() -> bc.Result:
    """A robot from its URDF file, by the meshes that come along."""
    import pinocchio

    prefix = next(p for p in Path(pinocchio.__file__).parents if p.name == "cmeel.prefix")
    path = prefix / "share/example-robot-data/robots/solo_description/robots/solo12.urdf"
    found = load_urdf(path, allow=["all"], base="free")
    knees = {f"{leg}_KFE": (-1.6 if leg[0] == "F" else 1.6, 0.0) for leg in ("FL", "FR", "HL", "HR")}
    hips = {f"{leg}_HFE": (0.8 if leg[0] == "F" else -0.8, 0.0) for leg in ("FL", "FR", "HL", "HR")}
    return found.system.simulate(0.02, output=4, initial={**hips, **knees})


def parts(browser: Browser) -> None:
    """Mechanisms that look like their parts, without a browser."""
    from PIL import Image

    planets = planetary().simulate(0.5, output=20, initial={"sun shaft": (0.0, 5.0)})
    sheet, wide, high = Image.new("RGB", (1400, 860), "white"), 700, 430
    for k, (result, at, options) in enumerate(
        [(trebuchet(), 0.75, {"traces": ["shot"]}), (planets, 0.3, {}), (cam(), 0.3, {}), (robot(), 0.01, {})]
    ):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "one.png")
            result.picture(path, at=at, size=(wide, high), **options)
            with Image.open(path) as one:
                sheet.paste(one, (wide * (k % 2), high * (k // 2)))
    sheet.save(FOLDER / "parts.png", optimize=True)
    print(FOLDER / "parts.png")


def drive(browser: Browser) -> None:
    """The car on its circuit, seen from behind."""
    made, stop = Drive("circuit", 11.0), threading.Event()
    sys.setswitchinterval(2e-4)

    # The browser draws without a graphics card and takes every core; the car is not to wait for it.
    with suppress(AttributeError, OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    with DriveServer(made) as server:
        driving = threading.Thread(target=made.run, args=(stop, server.show))
        driving.start()
        try:
            with browser.page(server.url, WIDE, HIGH) as page:
                page.until("document.documentElement.dataset.ready === '1'")
                page.value("document.getElementById('reset').click()")
                time.sleep(0.3)
                assert made.terrain.course is not None
                chauffeur = Chauffeur(made.vehicle, made.terrain.course)
                while made.stepper.time < 9.0:
                    made.wish = chauffeur.wish(made.stepper.time, made._measured)
                    time.sleep(0.005)
                keep(page, "drive")
        finally:
            stop.set()
            driving.join()


def main(names: list[str]) -> None:
    """All of them, or those named."""
    with Browser() as browser:
        for take in (car, flexible, animation, suspension, parts, drive):
            if not names or take.__name__ in names:
                take(browser)


if __name__ == "__main__":
    main(sys.argv[1:])

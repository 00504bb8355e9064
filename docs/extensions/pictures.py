"""Draws the pictures of the gallery by running the examples: ``python docs/extensions/pictures.py [NAME ...]``.

A model file is simulated and shown as the animation shows it; an example that is Python
alone draws its own curves. What moves is kept as data for a page that plays: the site puts them into the page as the
package writes it then.
"""

from __future__ import annotations

import json
import lzma
import math
import runpy
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from gallery import PICTURES

from bellcrank.cli.library import Example, examples
from bellcrank.files import load
from bellcrank.view.animation import described

RUNS: dict[str, dict[str, Any]] = {
    "flexible_slider_crank": {"duration": 0.0058},
    "four_bar": {"duration": 0.4},
    "pendulum": {"duration": 0.4},
    "quarter_car": {"duration": 0.3},
    "slider_crank": {"duration": 1.5, "initial": {"main bearing": (math.pi / 6, 1.0)}},
    "slider_crank_impact": {"duration": 2.9},
    "spatial_pendulums": {"duration": 0.5},
    "two_pendulums": {"duration": 0.66},
}
"""How model files are run for their picture; 1 s from the described start where nothing is said."""


def of_model(example: Example, target: Path) -> None:
    """The mechanism at the end of a run."""
    system = load(str(example.model))
    options = dict(RUNS.get(example.name, {}))
    result = system.simulate(options.pop("duration", 1.0), output=40, **options)
    result.picture(target, at=float(result.time[-1]), size=(1140, 645))


def curves(x: Any, lines: dict[str, Any], across: str, up: str) -> Any:
    """A figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    for label, y in lines.items():
        axes.plot(x, y, label=label)
    axes.set(xlabel=across, ylabel=up)
    axes.grid(alpha=0.3)
    if len(lines) > 1:
        axes.legend(frameon=False)
    return figure


def _controller(module: dict[str, Any]) -> Any:
    run = module["run"](angle=0.4, duration=5.0)
    lines = {"hinge [rad]": run["hinge.angle"], "cart [m]": run["cart.position.x"]}
    return curves(run.time, lines, "time [s]", "angle, place")


def _events(module: dict[str, Any]) -> Any:
    run = module["system"].simulate(3.0, events=[module["bounce"]])
    return curves(run.time, {"ball": run["ball.position.z"]}, "time [s]", "height [m]")


def _sweep(module: dict[str, Any]) -> Any:
    k = np.geomspace(50.0, 800.0, 12)
    lines = {f"{m:g} kg": [module["period"](m, float(x)) for x in k] for m in (0.5, 1.0, 2.0)}
    return curves(k, lines, "stiffness [N/m]", "period [s]")


def _four_bar(module: dict[str, Any]) -> Any:
    run = module["system"].simulate(1.0, output=360)
    return curves(
        360 * run.time, {"motor": run["motor.effort"]}, "crank angle [degrees]", "motor torque [N m]"
    )


def _car(module: dict[str, Any]) -> Any:
    mechanism = module["full_car_system"]("bump").mechanism()
    start = module["rolling_start"](mechanism, speed=10.0)
    run = mechanism.simulate(1.5, start=start, output=300)
    names = {"front left": "FL", "front right": "FR", "rear left": "RL", "rear right": "RR"}
    lines = {words: 1e-3 * run[f"{short}_tyre.load"] for words, short in names.items()}
    return curves(run.time, lines, "time [s]", "tyre load [kN]")


def _sphere(module: dict[str, Any]) -> Any:
    on, off = (module["strike"](0.02, compatible=compatible) for compatible in (True, False))
    lines = {
        "without the compatibilities": off["contact.force"],
        "with them": on["contact.force"],
    }
    return curves(on.time, lines, "time", "contact force")


def _discs(module: dict[str, Any]) -> Any:
    run = module["discs"]()
    lines = {name: run[f"{name}.velocity"][:, 1] for name in ("upper", "lower")}
    return curves(run.time, lines, "time", "velocity upwards")


def _impact_figures(module: dict[str, Any]) -> Any:
    runs = module["slider_speeds"]()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    for name in ("naive, 0.1 s", "proposed, 0.1 s", "dense"):
        axes.plot(runs[name].time, runs[name]["slider.velocity.x"], label=name)
    axes.set(xlabel="time [s]", ylabel="slider speed [m/s]")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return figure


def _ball(example: Example) -> Any:
    run = load(str(example.model)).simulate(4.0, initial={"plane": {"x": (0.0, 0.1)}})
    return curves(run.time, {"ball": run["ball.position.y"]}, "time [s]", "height [m]")


def _impacts(module: dict[str, Any]) -> Any:
    run = module["two_pendulums"]() if "two_pendulums" in module else module["pendulums"]()
    run = run.simulate(2.5, output=500)
    lines = {"first": run["first pivot.angle_rate"], "second": run["second pivot.angle_rate"]}
    return curves(run.time, lines, "time [s]", "rate [rad/s]")


def _laws(module: dict[str, Any]) -> Any:
    from bellcrank.contact.laws import FACTORS, ForceLaw, delivered_restitution

    asked = np.linspace(0.05, 1.0, 40)
    lines = {
        law: [delivered_restitution(FACTORS[ForceLaw(law)](float(e))) for e in asked]
        for law in module["LAWS"]
    }
    return curves(asked, lines, "restitution asked", "restitution delivered")


def _gears(module: dict[str, Any]) -> Any:
    pitch = 2.0 * math.pi / module["TEETH"]["pinion"]
    run = module["turning"](module["gear_pair"](), module["PITCHES"] * pitch / module["SPEED"], 601, 0.0)
    calm = run.time > 0.3 * run.time[-1]
    error = 1e6 * module["transmission_error"](run)[calm]
    turned = np.degrees(run["input.angle"][calm])
    return curves(turned, {"wheel": error - error.mean()}, "pinion [degrees]", "transmission error [um]")


def _bevel(module: dict[str, Any]) -> Any:
    run = module["turning"]()
    error = 1e6 * module["transmission_error"](run)[60:]
    turned = np.degrees(run["input.angle"][60:])
    return curves(turned, {"wheel": error - error.mean()}, "pinion [degrees]", "transmission error [um]")


def _geneva(module: dict[str, Any]) -> Any:
    run = module["geneva_drive"]().simulate(0.5, output=1001)
    lines = {"crank": np.degrees(run["drive.angle"]), "star": -np.degrees(run["axle.angle"])}
    return curves(run.time, lines, "time [s]", "angle [degrees]")


def _machines(module: dict[str, Any]) -> Any:
    """The heights of thrown dice."""
    run = module["thrown_dice"]()
    lines = {name: 1e3 * run[f"{name}.position.z"] for name in ("die 0", "die 1", "die 2")}
    return curves(run.time, lines, "time [s]", "height of the middle [mm]")


def _rods(module: dict[str, Any]) -> Any:
    """The chain as it falls."""
    run = module["chain"]().simulate(1.0)
    return lambda path: run.picture(path.with_suffix(".png"), at=1.0, size=(800, 500))


def _link(module: dict[str, Any]) -> Any:
    strikes = [module["with_all_elements"](), module["in_a_mechanism"](12)]
    return lambda path: module["draw"](strikes, path)


def _hopper(module: dict[str, Any]) -> Any:
    """Heights while the rule of the example pushes."""
    env = module["environment"]()
    seen, _ = env.reset(seed=1)
    rows, ended = [seen], False
    while not ended:
        seen, _, terminated, truncated, _ = env.step(module["rule"](seen))
        rows.append(seen)
        ended = terminated or truncated
    torso, _, foot, _, _ = np.array(rows).T
    time = module["STEP"] * np.arange(len(rows))
    return curves(time, {"torso": torso, "foot": foot}, "time [s]", "height [m]")


def _truck(module: dict[str, Any]) -> Any:
    """On its circle, seen from above and behind."""
    run = turning(module)
    options = {"at": float(run.time[-1]), "size": (1140, 645), "view": (0.2, -1.0, 0.8)}
    return lambda path: run.picture(path.with_suffix(".png"), **options)


def turning(module: dict[str, Any]) -> Any:
    """The truck and its trailer as they come onto the circle."""
    from bellcrank.vehicles import Vehicle

    return Vehicle(module["truck"](), "truck", steering="").run(3.0, 12.0, output=240, tolerance=1e-6)


def _suspension(module: dict[str, Any]) -> Any:
    def ride(path: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            tempfile.tempdir = folder
            module["main"]()
            tempfile.tempdir = None
            shutil.copyfile(next(Path(folder).rglob("ride.png")), path.with_suffix(".png"))

    return ride


def _bat(example: Example) -> Any:
    run = load(str(example.model)).simulate(7e-3, formulation="recursive", output=400)
    lines = {name: np.linalg.norm(run[f"{name}.velocity"], axis=1) for name in ("ball", "bat")}
    return curves(1e3 * run.time, lines, "time [ms]", "speed [m/s]")


MODELS: dict[str, Callable[[Example], Any]] = {"ball_on_ground": _ball, "bat_and_ball": _bat}
"""Model files that are better seen as curves."""
PYTHON: dict[str, Callable[[dict[str, Any]], Any]] = {
    "bevel_gears": _bevel,
    "contact_of_shapes": _laws,
    "controller": _controller,
    "elastic_discs": _discs,
    "elastic_sphere_on_wall": _sphere,
    "elastic_link_on_stop": _link,
    "events": _events,
    "four_bar_full_turn": _four_bar,
    "full_car_bump": _car,
    "gear_pair": _gears,
    "geneva_drive": _geneva,
    "hopper": _hopper,
    "impacts": _impacts,
    "machines_in_contact": _machines,
    "impact_figures": _impact_figures,
    "parameter_sweep": _sweep,
    "rods": _rods,
    "suspension_optimum": _suspension,
    "truck_trailer": _truck,
}


PLAYED: dict[str, dict[str, Any]] = {
    "ball_on_ground": {"duration": 4.0, "initial": {"plane": {"x": (0.0, 0.1)}}},
    "bat_and_ball": {"duration": 7e-3, "formulation": "recursive"},
    "flexible_slider_crank": {"duration": 0.04},
    "four_bar": {"duration": 2.0},
    "full_car": {"duration": 2.0},
    "pendulum": {"duration": 4.0},
    "quarter_car": {"duration": 2.0},
    "slider_crank": {"duration": 6.0, "initial": {"main bearing": (math.pi / 6, 1.0)}},
    "slider_crank_impact": {"duration": 5.0},
    "spatial_pendulums": {"duration": 4.0},
    "two_balls": {"duration": 1.0},
    "two_pendulums": {"duration": 2.5},
}
"""Model files that play, and how they are run for it."""
FRAMES_PLAYED = 90


def played(example: Example, module: dict[str, Any]) -> Any:
    """The run of an example that plays; None for one that does not."""
    if example.name in PLAYED and example.model is not None:
        options = dict(PLAYED[example.name])
        return load(str(example.model)).simulate(options.pop("duration"), output=360, **options)
    match example.name:
        case "geneva_drive":
            return module["geneva_drive"]().simulate(1.0, output=360)
        case "machines_in_contact":
            return module["thrown_dice"]()
        case "rods":
            return module["chain"]().simulate(1.5, output=180)
        case "truck_trailer":
            return turning(module)
    return None


def keep(example: Example, module: dict[str, Any]) -> None:
    """Keep what the page of an example plays."""
    result = played(example, module)
    if result is None:
        return
    subtitle, data = described(result, [], frames=FRAMES_PLAYED)
    text = json.dumps({"title": result.mechanism.system.name, "subtitle": subtitle, "data": data})
    target = PICTURES / f"{example.name}.scene"
    target.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(target, target.stat().st_size)


def main(names: list[str]) -> None:
    """Draw the named pictures, or all."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name, example in examples().items():
        if names and name not in names:
            continue
        target = PICTURES / f"{name}.svg"
        module: dict[str, Any] = {}
        if example.model is None and str(example.files[0]).endswith(".py"):
            with tempfile.TemporaryDirectory() as folder:
                module = runpy.run_path(str(example.files[0]), run_name=folder)
        keep(example, module)
        if name in MODELS:
            MODELS[name](example).savefig(target)
        elif example.model is not None:
            target = target.with_suffix(".png")
            of_model(example, target)
        elif name in PYTHON:
            made = PYTHON[name](module)
            made(target) if callable(made) else made.savefig(target)
        else:
            print(f"{name}: no picture")
            continue
        print(target)


if __name__ == "__main__":
    main(sys.argv[1:])

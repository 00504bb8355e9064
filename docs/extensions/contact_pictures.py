"""Draws the pictures of the page on contact: ``python docs/extensions/contact_pictures.py``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import bellcrank as bc
from bellcrank.contact import Box
from bellcrank.contact.shapes.fields import depths

PICTURES = Path(__file__).parents[1] / "pictures"
MASS, RADIUS, SPEED = 0.5, 0.05, 1.0


def struck(restitution: float, young: float | None) -> bc.Result:
    """A ball that hits the floor; without a modulus by an impulse."""
    system = bc.System("ball", gravity=(0.0, 0.0, 0.0))
    ball = system.body("ball", mass=MASS, inertia=(0.4 * MASS * RADIUS**2,) * 3, at=(0.0, 0.0, RADIUS + 2e-3))
    system.prismatic("fall", system.ground, ball, axis="z")
    how: dict[str, Any] = {}
    if young is not None:
        how = {"treatment": "continuous", "young": (young, math.inf), "poisson": 0.0}
    system.contact("floor", system.ground.plane(), ball.sphere(RADIUS), restitution, **how)
    return system.simulate(0.025, initial={"fall": (0.0, -SPEED)}, output=1501, tolerance=1e-8)


def treatments() -> Figure:
    """Speed and force of an impact."""
    figure = Figure(figsize=(6.8, 2.9), layout="constrained")
    left, right = figure.subplots(1, 2)
    for label, young in (("impulsive", None), ("E* = 1e7 Pa", 1e7), ("E* = 1e6 Pa", 1e6)):
        run = struck(0.6, young)
        (line,) = left.plot(1e3 * run.time, run["ball.velocity.z"], label=label)
        if young is not None:
            right.plot(1e3 * run.time, run["floor.normal_force"], color=line.get_color(), label=label)
    left.set(xlabel="time [ms]", ylabel="speed [m/s]")
    right.set(xlabel="time [ms]", ylabel="force [N]")
    left.legend(frameon=False, loc="lower right")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    return figure


def modulus() -> Figure:
    """Overlap and duration of an elastic impact against E*: closed forms and runs."""
    figure = Figure(figsize=(6.8, 2.9), layout="constrained")
    left, right = figure.subplots(1, 2)
    line = np.geomspace(1e6, 1e11, 50)
    deep = (15.0 / 16.0 * MASS * SPEED**2 / (line * math.sqrt(RADIUS))) ** 0.4
    left.loglog(line, 1e3 * deep, label="closed form")
    right.loglog(line, 1e3 * 2.94 * deep / SPEED, label="closed form")
    dots = np.geomspace(1e6, 1e11, 6)
    runs = [struck(1.0, float(young)) for young in dots]
    found = [1e3 * run["floor.penetration"].max() for run in runs]
    left.loglog(dots, found, "o", label="runs")
    right.loglog(dots, [1e3 * _duration(run) for run in runs], "o", label="runs")
    left.set(xlabel="E* [Pa]", ylabel="largest overlap [mm]")
    right.set(xlabel="E* [Pa]", ylabel="duration [ms]")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    return figure


def _duration(run: bc.Result) -> float:
    """From the touch to the parting [s]."""
    times = [event.time for event in run.events]
    return float(times[1] - times[0])


def patch() -> Figure:
    """Section through a tilted box that has sunk into the floor, with the load on it."""
    tilt, half = 0.12, (0.05, 0.03, 0.03)
    c, s = math.cos(tilt), math.sin(tilt)
    rotation = np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
    middle = np.array([0.0, 0.0, half[2] * c + half[0] * s - 0.008])
    x, z = np.meshgrid(np.linspace(-0.075, 0.075, 600), np.linspace(-0.022, 0.07, 400))
    places = np.stack([x.ravel(), 0.0 * x.ravel(), z.ravel()], 1)
    box = depths(Box(*half).field, (places - middle) @ rotation)[0].reshape(x.shape)
    figure = Figure(figsize=(6.8, 3.4), layout="constrained")
    axes = figure.subplots()
    axes.contourf(1e3 * x, 1e3 * z, box, levels=[0.0, 1.0], colors=["#9db8d9"])
    axes.contourf(1e3 * x, 1e3 * z, -z, levels=[0.0, 1.0], colors=["#c9c9c9"], alpha=0.75)
    axes.contourf(1e3 * x, 1e3 * z, np.minimum(box, -z), levels=[0.0, 1.0], colors=["#d9765a"])
    axes.contour(1e3 * x, 1e3 * z, box, levels=[0.0], colors="#33506e", linewidths=1.2)
    axes.axhline(0.0, color="#555555", linewidth=1.2)
    # Along the slope of the floor's depth, in proportion to the third power of the depth.
    along = np.linspace(-half[0] + 1e-3, half[0] - 1e-3, 25)
    feet = middle + np.stack([along, 0.0 * along, np.full(25, -half[2])], 1) @ rotation.T
    depth = np.maximum(-feet[:, 2], 0.0)
    load = (depth / depth.max()) ** 3
    up = np.array([0.0, 0.0, 1.0])
    for foot, arrow in zip(feet, load, strict=True):
        if arrow > 0.01:
            tip = 1e3 * (foot + 0.02 * arrow * up)
            style = {"arrowstyle": "-|>", "color": "black", "lw": 1.0, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", xy=(tip[0], tip[2]), xytext=(1e3 * foot[0], 1e3 * foot[2]), arrowprops=style)
    axes.text(10, 40, "box", fontsize=11)
    axes.text(48, -11, "floor", fontsize=11)
    axes.text(-70, -19, "overlap; arrows: load on the box, as depth cubed", fontsize=9)
    axes.set(xlabel="x [mm]", ylabel="z [mm]", aspect="equal")
    return figure


def main() -> None:
    """Draw all."""
    for name, made in (("treatments", treatments), ("modulus", modulus), ("patch", patch)):
        target = PICTURES / f"contact_{name}.svg"
        made().savefig(target)
        print(target)


if __name__ == "__main__":
    main()

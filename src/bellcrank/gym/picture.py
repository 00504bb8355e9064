"""A mechanism in one state as an array of pixels: the drawing of the report, painted by matplotlib."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.optional import needed
from bellcrank.gym.motions import Row
from bellcrank.mechanism import Mechanism
from bellcrank.result.result import Result, RunReport
from bellcrank.view.scene import scene
from bellcrank.view.svg import mechanism as drawn

WIDTH, HEIGHT = 640, 400
ELEMENT = re.compile(r"<(polygon|polyline|line) ([^>]*)/>")
ATTRIBUTE = re.compile(r'([a-z0-9-]+)="([^"]*)"')


def picture(mechanism: Mechanism, row: Row) -> NDArray[np.uint8]:
    """Pixels (height, width, 3); the view is that of the animation, with all bodies in sight."""
    needed("matplotlib", "render_mode='rgb_array'", "matplotlib", "view")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    contacts = None if row.contacts is None else row.contacts[None]
    report = RunReport("running", "", "", 0, 0, 0, 0.0)
    states = row.q[None], row.u[None], row.du[None], row.p[None]
    result = Result(mechanism, np.array([row.t]), *states, report, contact_forces=contacts)
    figure = Figure(figsize=(WIDTH / 100, HEIGHT / 100), dpi=100)
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0), xlim=(0, WIDTH), ylim=(HEIGHT, 0))
    axes.set_axis_off()
    for kind, text in ELEMENT.findall(drawn(scene(result, 1), 0, WIDTH, HEIGHT)):
        axes.add_artist(_shape(kind, dict(ATTRIBUTE.findall(text))))
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _shape(kind: str, given: dict[str, str]) -> Any:
    """One element of the drawing."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon

    width = 0.72 * float(given.get("stroke-width", 1.0))
    if kind == "line":
        x, y = ([float(given[f"{axis}{k}"]) for k in (1, 2)] for axis in "xy")
        return Line2D(x, y, color=given["stroke"], linewidth=width)
    points = np.array([[float(v) for v in pair.split(",")] for pair in given["points"].split()])
    if kind == "polyline":
        return Line2D(points[:, 0], points[:, 1], color=given["stroke"], linewidth=width)
    fill = given["fill"]
    if fill.startswith("rgb"):
        fill = "#" + "".join(f"{int(v):02x}" for v in re.findall(r"\d+", fill))
    return Polygon(
        points,
        facecolor=fill,
        edgecolor=given.get("stroke", "none"),
        alpha=float(given.get("fill-opacity", 1.0)),
    )


__all__ = ["picture"]

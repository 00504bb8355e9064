"""An animation as one HTML file: no network, no other file, nothing to install."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.errors import ModelError
from bellcrank.model.parameters import value
from bellcrank.view.curves import Panel, default_names, panels, pretty, span, ticks
from bellcrank.view.pages import animation, counted, floats
from bellcrank.view.scene import Scene, scene
from bellcrank.view.stress import PRESSED, STOPS, scaled
from bellcrank.view.svg import placed, tick_labels

if TYPE_CHECKING:
    from bellcrank.result.result import Result

FRAMES = 600
POINTS = 1200
MOST_FACES = 20_000
"""Of one flexible body; finer ones are drawn by their lines alone."""
SPEEDS = (0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10)


def speeds_for(duration: float) -> tuple[float, ...]:
    """Speeds to choose from; impacts last milliseconds or less: slow enough that the film takes some seconds."""
    slow = 10.0 ** np.floor(np.log10(max(duration, 1e-12) / 8.0))
    return tuple(
        sorted({*SPEEDS, *(float(f"{f * slow:.0e}") for f in (0.1, 0.2, 0.5, 1, 2, 5) if f * slow < 0.05)})
    )


def html(
    result: Result,
    path: str | PathLike[str],
    quantities: Sequence[str] | None = None,
    magnified: float = 1.0,
) -> None:
    """Write the animation of a result, with curves of quantities (a choice where None) beside it."""
    Path(path).write_text(page(result, quantities, magnified), encoding="utf-8")


def page(result: Result, quantities: Sequence[str] | None = None, magnified: float = 1.0) -> str:
    """The text of the page."""
    if not len(result):
        raise ModelError("the result has no outputs: there is nothing to show")
    names = default_names(result) if quantities is None else list(quantities)
    data = _data(result, scene(result, FRAMES, magnified), panels(result, names, POINTS) if names else [])
    system = result.mechanism.system
    subtitle = (
        f"{counted(len(system.bodies), 'body', 'bodies')}, "
        f"{counted(result.mechanism.degrees_of_freedom, 'degree', 'degrees')} of freedom, "
        f"{result.time[0]:g} to {result.time[-1]:g} s"
    )
    return animation(system.name, subtitle, data)


def _data(result: Result, drawn: Scene, curves: Sequence[Panel]) -> dict[str, Any]:
    bodies = result.mechanism.system.bodies
    parameters = dict(zip(result.mechanism.system.parameters, result.parameters[0].tolist(), strict=True))
    poses = np.concatenate([drawn.positions, drawn.quaternions], axis=2)
    target, box, follow = camera(drawn)
    masses = [value(b.mass, parameters) for b in bodies.values()]
    anchor = int(np.argmax(masses))
    most = drawn.stress
    duration = float(result.time[-1] - result.time[0])
    seconds = ticks(float(result.time[0]), float(result.time[-1]), 6) if duration > 0 else result.time[:1]
    return {
        "bodies": [
            *(
                {"name": n, "center": [value(x, parameters) for x in b.center_of_mass]}
                for n, b in bodies.items()
            ),
            *({"name": "", "center": [0.0, 0.0, 0.0]} for _ in drawn.bodies[len(bodies) :]),
        ],
        "solids": [
            {
                "b": body,
                "v": floats(s.corners),
                "f": s.faces,
                "c": _compact(s.colours),
                "o": s.opacity,
                "g": int(s.ground),
                "s": s.shell,
                "e": s.edges,
            }
            for body, s in drawn.solids
        ],
        "springs": [
            {
                "a": s.a,
                "pa": s.at_a.tolist(),
                "b": s.b,
                "pb": s.at_b.tolist(),
                "plain": s.plain,
                "ma": None if s.moving_a is None else floats(s.moving_a),
                "mb": None if s.moving_b is None else floats(s.moving_b),
            }
            for s in drawn.springs
        ],
        "deforming": [
            {
                "p": floats(d.points),
                "n": d.points.shape[1],
                "l": d.lines.tolist(),
                "f": d.faces.tolist() if d.stress is not None and len(d.faces) <= MOST_FACES else [],
                "c": d.colour,
                "w": d.width,
                "s": None if d.stress is None else floats(d.stress / (most or 1.0)),
            }
            for d in drawn.deforming
        ],
        "patches": [
            {
                "v": floats(p.corners),
                "p": floats(p.pressure.mean(axis=1) / (drawn.pressure or 1.0)),
                "first": p.first.tolist(),
            }
            for p in drawn.patches
        ],
        "time": floats(drawn.time),
        "poses": floats(poses),
        "up": drawn.up.tolist(),
        "view": drawn.view.tolist(),
        "size": drawn.size,
        "target": target,
        "box": box,
        "follow": follow,
        "anchor": anchor,
        "anchor_start": drawn.positions[0, anchor].tolist(),
        "events": sorted(
            {*(e.time for e in result.events[:200]), *(i.time for i in list(result.impacts)[:200])}
        ),
        "stops": {"stress": STOPS, "pressure": PRESSED},
        "scales": [
            {"label": f"{what}: 0 to {scaled(most)}Pa", "stops": colours}
            for what, most, colours in (
                ("stress", drawn.stress, STOPS),
                ("contact pressure", drawn.pressure, PRESSED),
            )
            if most > 0.0
        ],
        "speeds": speeds_for(duration),
        "speed": min(
            speeds_for(duration),
            key=lambda s: abs(np.log(max(duration, 1e-9) / s / 8.0)) if s <= 1 else np.inf,
        ),
        "ticks": seconds.tolist(),
        "labels": tick_labels(seconds)[0],
        "panels": [panel_data(p) for p in curves],
    }


def _compact(colours: tuple[str, ...]) -> tuple[str, ...]:
    return colours[:1] if len(set(colours)) == 1 else colours


def panel_data(panel: Panel) -> dict[str, Any]:
    low, high = span(panel)
    marks = ticks(low, high, 4)
    labels, scale = tick_labels(marks)
    unit = pretty(panel.unit)
    return {
        "unit": f"[{scale}{unit}]" if unit or scale else "",
        "low": low,
        "high": high,
        "ticks": marks.tolist(),
        "labels": labels,
        "curves": [
            {"name": c.name, "t": floats(c.time), "v": floats(c.values), "colour": c.colour}
            for c in panel.curves
        ],
    }


def camera(drawn: Scene) -> tuple[list[float], list[float], bool]:
    """Where to look, width and height to be seen [m], and whether to follow a mechanism that travels."""
    right = np.cross(drawn.up, drawn.view)
    right /= np.linalg.norm(right)
    above = np.cross(drawn.view, right)
    centers = drawn.positions.mean(axis=1)
    travels = bool(np.linalg.norm(np.ptp(centers, axis=0)) > 1.2 * drawn.size)
    frames = [0] if travels else np.unique(np.linspace(0, len(drawn.time) - 1, 40).astype(int)).tolist()
    corners = []
    for body, solid in drawn.solids:
        if solid.ground:
            continue
        for k in frames if body >= 0 else frames[:1]:
            corners.append(placed(drawn, body, solid.corners, k))
    corners += [d.points[k] for d in drawn.deforming for k in frames]
    every = np.vstack(corners)
    seen = np.column_stack([every @ right, every @ above, every @ drawn.view])
    low, high = seen.min(axis=0), seen.max(axis=0)
    middle = (low + high) / 2
    target = middle[0] * right + middle[1] * above + middle[2] * drawn.view
    least = 0.3 * drawn.size
    return (
        target.tolist(),
        [max(float(high[0] - low[0]), least), max(float(high[1] - low[1]), least)],
        travels,
    )

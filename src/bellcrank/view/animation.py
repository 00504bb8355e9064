"""An animation as one HTML file: no network, no other file, nothing to install."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.errors import ModelError
from bellcrank.view.curves import Panel, default_names, marks, panels, pretty, span, ticks
from bellcrank.view.pages import animation, counted, floats, packed
from bellcrank.view.parts import ARROWS
from bellcrank.view.scene import Scene, scene
from bellcrank.view.shapes import Array, Solid
from bellcrank.view.stress import PRESSED, STOPS, scaled
from bellcrank.view.svg import tick_labels

if TYPE_CHECKING:
    from bellcrank.result.result import Result

FRAMES = 600
POINTS = 1200
SPEEDS = (0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10)


def speeds_for(duration: float) -> tuple[float, ...]:
    """Speeds to choose from; impacts last milliseconds or less: slow enough that the film takes some seconds."""
    slow = 10.0 ** np.floor(np.log10(max(duration, 1e-12) / 8.0))
    return tuple(
        sorted({*SPEEDS, *(float(f"{f * slow:.0e}") for f in (0.1, 0.2, 0.5, 1, 2, 5) if f * slow < 0.05)})
    )


def usual_speed(duration: float) -> float:
    """The speed at which a run is first shown: not faster than real time, and in some eight seconds."""
    paces = [s for s in speeds_for(duration) if s <= 1]
    return min(paces, key=lambda s: abs(float(np.log(max(duration, 1e-12) / s / 8.0))))


def html(
    result: Result,
    path: str | PathLike[str],
    quantities: Sequence[str] | None = None,
    magnified: float = 1.0,
    traces: Sequence[str] = (),
) -> None:
    """Write the animation of a result, with curves of quantities (a choice where None) beside it."""
    Path(path).write_text(page(result, quantities, magnified, traces), encoding="utf-8")


def page(
    result: Result,
    quantities: Sequence[str] | None = None,
    magnified: float = 1.0,
    traces: Sequence[str] = (),
    frames: int = FRAMES,
) -> str:
    """The text of the page."""
    subtitle, data = described(result, quantities, magnified, traces, frames)
    return animation(result.mechanism.system.name, subtitle, data)


def described(
    result: Result,
    quantities: Sequence[str] | None = None,
    magnified: float = 1.0,
    traces: Sequence[str] = (),
    frames: int = FRAMES,
) -> tuple[str, dict[str, Any]]:
    """What stands under the title of the page, and what its script reads."""
    if not len(result):
        raise ModelError("the result has no outputs: there is nothing to show")
    names = default_names(result) if quantities is None else list(quantities)
    drawn = scene(result, frames, magnified, tuple(ARROWS), traces)
    curves = panels(result, names, POINTS) if names else []
    system = result.mechanism.system
    subtitle = (
        f"{counted(len(system.bodies), 'body', 'bodies')}, "
        f"{counted(result.mechanism.degrees_of_freedom, 'degree', 'degrees')} of freedom, "
        f"{result.time[0]:g} to {result.time[-1]:g} s"
    )
    events, impacts = marks(result)
    return subtitle, page_data(drawn, result.time, curves, sorted({*events, *impacts}))


def page_data(
    drawn: Scene, time: Array, curves: Sequence[Panel], events: Sequence[float] = (), stress: str = "stress"
) -> dict[str, Any]:
    """What the script of the page reads: a scene, and curves over `time` [s]. stress: What its stress is called."""
    own = len(drawn.bodies) - len(drawn.links)
    poses = np.concatenate([drawn.positions, drawn.quaternions], axis=2)[:, :own]
    target, box = drawn.extent()
    most = drawn.stress
    duration = float(time[-1] - time[0])
    seconds = ticks(float(time[0]), float(time[-1]), 6) if duration > 0 else time[:1]
    speeds = speeds_for(duration)
    centers = np.zeros((own, 3))
    if drawn.centers is not None:
        centers[: len(drawn.centers)] = drawn.centers
    return {
        "bodies": [
            {"name": name, "center": at}
            for name, at in zip(drawn.bodies[:own], centers.tolist(), strict=True)
        ],
        "solids": [_solid(body, s) for body, s in drawn.solids],
        "links": [
            {
                "a": s.a,
                "pa": s.at_a.tolist(),
                "b": s.b,
                "pb": s.at_b.tolist(),
                "end": int(s.from_b),
                "length": s.length,
                "ma": None if s.moving_a is None else floats(s.moving_a),
                "mb": None if s.moving_b is None else floats(s.moving_b),
            }
            for s in drawn.links
        ],
        "deforming": [
            {
                "p": floats(d.points),
                "n": d.points.shape[1],
                "f": d.faces.tolist(),
                "paths": [path.tolist() for path in d.paths],
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
        "arrows": [
            {
                "kind": a.kind,
                "names": a.names,
                "at": floats(a.at),
                "v": floats(a.vectors),
                "most": a.largest,
                "label": f"{a.kind}: up to {scaled(a.largest)}{pretty(a.unit)}",
                "c": a.colour,
                "colour": a.colour,
            }
            for a in drawn.arrows
        ],
        "traces": [{"name": p.name, "p": floats(p.points), "c": p.colour} for p in drawn.traces],
        "time": floats(drawn.time),
        "poses": floats(poses),
        "up": drawn.up.tolist(),
        "view": drawn.view.tolist(),
        "planar": drawn.planar,
        "size": drawn.size,
        "reach": float(np.linalg.norm(box)),
        "target": target.tolist(),
        "box": box.tolist(),
        "floor": floor(drawn),
        "follow": drawn.travels,
        "anchor": drawn.anchor,
        "anchor_start": drawn.positions[0, drawn.anchor].tolist(),
        "events": list(events),
        "stops": {"stress": STOPS, "pressure": PRESSED},
        "scales": [
            {"label": f"{what}: 0 to {scaled(largest)}Pa", "stops": colours}
            for what, largest, colours in (
                (stress, drawn.stress, STOPS),
                ("contact pressure", drawn.pressure, PRESSED),
            )
            if largest > 0.0
        ],
        "speeds": speeds,
        "speed": usual_speed(duration),
        "ticks": seconds.tolist(),
        "labels": tick_labels(seconds)[0],
        "panels": [panel_data(p) for p in curves],
    }


def floor(drawn: Scene) -> dict[str, Any] | None:
    """Where shadows fall: below everything, behind it where it moves in a plane; nowhere on a floor of its own."""
    if any(s.ground for _, s in drawn.solids) and not drawn.planar:
        return None
    normal = drawn.view if drawn.planar else drawn.up
    middle, box = drawn.extent(
        (*drawn.axes[:2], normal)
        if drawn.planar
        else (drawn.axes[0], np.cross(normal, drawn.axes[0]), normal)
    )
    return {"normal": normal.tolist(), "level": float(middle @ normal - 0.5 * box[2] - 0.01 * drawn.size)}


def _solid(body: int, solid: Solid) -> dict[str, Any]:
    """A part with 16 bits a coordinate and 8 a component of a normal: finer than a screen shows."""
    vertices, normals, triangles = solid.surface
    ends = solid.corners[solid.edges.ravel()]
    every = np.vstack([vertices, ends])
    low, high = every.min(axis=0), every.max(axis=0)
    span = np.where(high > low, high - low, 1.0)

    def fine(points: Array) -> str:
        return packed(np.round((points - low) / span * 65535.0), "<u2")

    wide = len(vertices) > 65535
    return {
        "b": body,
        "low": low.tolist(),
        "high": (low + span).tolist(),
        "v": fine(vertices),
        "n": packed(np.round(127.0 * normals), "<i1"),
        "f": packed(triangles, "<u4" if wide else "<u2"),
        "wide": wide,
        "e": fine(ends),
        "c": solid.colour,
        "o": solid.opacity,
        "g": int(solid.endless),
    }


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

"""Pictures as SVG text, without any library: charts of curves and a mechanism in one frame."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from bellcrank.view.curves import Panel, pretty, span, ticks
from bellcrank.view.scene import Scene, rgb
from bellcrank.view.stress import PRESSED, colours

Array = NDArray[np.float64]

LEFT, RIGHT, TOP, BOTTOM = 78, 14, 26, 34
SMALLEST = 0.15
"""Of a triangle [px^2]; smaller ones are covered by the seams of their neighbours."""


def chart(
    panel: Panel, events: Sequence[float] = (), width: int = 760, height: int = 210, axis: str = "time [s]"
) -> str:
    """Curves of one unit over time, or over what `axis` says."""
    times = np.concatenate([c.time for c in panel.curves])
    t0, t1 = (float(times.min()), float(times.max())) if len(times) else (0.0, 1.0)
    t1 = t1 if t1 > t0 else t0 + 1.0
    low, high = span(panel)
    plot_w, plot_h = width - LEFT - RIGHT, height - TOP - BOTTOM

    def x(t: Array | float) -> Array:
        return np.asarray(LEFT + plot_w * (np.asarray(t) - t0) / (t1 - t0))

    def y(v: Array | float) -> Array:
        return np.asarray(TOP + plot_h * (high - np.asarray(v)) / (high - low))

    out = [f'<svg class="chart" viewBox="0 0 {width} {height}" role="img">']
    marks, (labels, scale) = ticks(low, high, 4), tick_labels(ticks(low, high, 4))
    for value, label in zip(marks, labels, strict=True):
        out.append(
            f'<line class="grid" x1="{LEFT}" x2="{width - RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>'
        )
        out.append(
            f'<text class="tick" x="{LEFT - 8}" y="{y(value) + 3.5:.1f}" text-anchor="end">{label}</text>'
        )
    seconds = ticks(t0, t1, 8)
    for value, label in zip(seconds, tick_labels(seconds)[0], strict=True):
        out.append(
            f'<line class="grid" x1="{x(value):.1f}" x2="{x(value):.1f}" y1="{TOP}" y2="{height - BOTTOM}"/>'
        )
        out.append(
            f'<text class="tick" x="{x(value):.1f}" y="{height - BOTTOM + 15}" text-anchor="middle">{label}</text>'
        )
    for t in events:
        out.append(f'<line class="event" x1="{x(t):.1f}" x2="{x(t):.1f}" y1="{TOP}" y2="{height - BOTTOM}"/>')
    for curve in panel.curves:
        good = np.isfinite(curve.values)
        points = " ".join(
            f"{a:.1f},{b:.1f}" for a, b in zip(x(curve.time[good]), y(curve.values[good]), strict=True)
        )
        out.append(f'<polyline fill="none" stroke="{curve.colour}" stroke-width="1.5" points="{points}"/>')
    unit = escape(pretty(panel.unit))
    title = f"[{scale}{unit}]" if unit or scale else ""
    out.append(
        f'<text class="unit" transform="translate(14 {TOP + plot_h / 2:.0f}) rotate(-90)">{title}</text>'
    )
    out.append(f'<text class="unit" x="{LEFT + plot_w / 2:.0f}" y="{height - 4}">{escape(axis)}</text>')
    at = float(LEFT)
    for curve in panel.curves:
        name = curve.name if len(curve.name) < 44 else curve.name[:42] + "…"
        out.append(f'<rect x="{at:.0f}" y="8" width="14" height="3.5" fill="{curve.colour}"/>')
        out.append(f'<text class="key" x="{at + 19:.0f}" y="14">{escape(name)}</text>')
        at += 32 + 6.4 * len(name)
    return "".join([*out, "</svg>"])


def tick_labels(values: Array) -> tuple[list[str], str]:
    """Short texts for round numbers, and a power of ten taken out of them where they are large or small."""
    largest = float(np.abs(values).max(initial=0.0))
    power = int(np.floor(np.log10(largest))) if largest > 0 else 0
    scale = ""
    if power >= 5 or power <= -4:
        scale, values = f"1e{power} ", values / 10.0**power
    step = float(np.abs(np.diff(values)).min()) if len(values) > 1 else 1.0
    digits = int(max(0, np.ceil(-np.log10(step) - 1e-9))) if step > 0 else 0
    digits += int(abs(step * 10**digits - round(step * 10**digits)) > 1e-6)
    return [f"{v + 0.0:.{digits}f}".replace("-0" if v == 0 else "\0", "0") for v in values], scale


def mechanism(scene: Scene, frame: int = 0, width: int = 760, height: int = 430) -> str:
    """The mechanism in one frame, seen as the animation first shows it: faces from back to front."""
    right, above, eye = scene.axes
    axes = np.column_stack([right, above, eye])
    light = _light(scene)
    middle, extent = scene.extent(at=frame)
    scale = 0.9 * min(width / extent[0], height / extent[1])
    center = middle @ axes

    def place(points: Array) -> Array:
        """Pixels from the left and from above, and the depth [m] towards the eye."""
        seen = points @ axes - center
        return np.stack(
            [width / 2 + scale * seen[..., 0], height / 2 - scale * seen[..., 1], seen[..., 2]], axis=-1
        )

    drawn: list[tuple[int, float, str]] = []

    def faces(corners: Array, colour: Array, opacity: float, ground: bool) -> None:
        """Triangles (m, 3, 3) of a colour (m, 3) each, those that are turned away or too small to see left out."""
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        length = np.linalg.norm(normals, axis=1)
        seen = place(corners)
        facing = normals @ eye
        keep = (0.5 * np.abs(facing) * scale**2 > SMALLEST) & ((facing > 0.0) | ground | (opacity < 1.0))
        bright = 0.62 + 0.38 * np.maximum(0.0, normals @ light / np.maximum(length, 1e-300))
        shades = np.clip(np.round(colour * bright[:, None]), 0, 255).astype(int)
        for points, (r, g, b) in zip(seen[keep], shades[keep], strict=True):
            text = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
            fill = f"#{r:02x}{g:02x}{b:02x}"
            more = f'fill-opacity="{opacity:g}"' if opacity < 1.0 else f'stroke="{fill}" stroke-width="0.6"'
            depth = float(points[:, 2].mean())
            drawn.append((0 if ground else 1, depth, f'<polygon points="{text}" fill="{fill}" {more}/>'))

    def lines(ends: Array, colour: str, ground: bool = False) -> None:
        """Lines (m, 2, 3)."""
        for points in place(ends):
            (x1, y1, z1), (x2, y2, z2) = points
            ends_at = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
            line = f'<line {ends_at} stroke="{colour}" stroke-width="0.6"/>'
            drawn.append((0 if ground else 1, float(0.5 * (z1 + z2)) + 1e-6 * scene.size, line))

    for body, solid in scene.solids:
        world = scene.placed(body, solid.corners, frame)
        colour = np.broadcast_to(rgb(solid.colour), (len(solid.faces), 3))
        faces(world[solid.faces], colour, solid.opacity, solid.ground)
        if len(solid.lines):
            lines(world[solid.lines], "#b9c0c8" if solid.endless else solid.colour, solid.ground)
    for d in scene.deforming:
        corners, triangles = d.skin(frame), d.skin_faces
        colour = np.broadcast_to(rgb(d.colour), (len(triangles), 3))
        if d.stress is not None:
            shown = colours(d.stress[frame] / (scene.stress or 1.0)).astype(float)[d.skin_points]
            colour = shown[triangles].mean(axis=1)
        faces(corners[triangles], colour, 1.0, False)
        if not len(triangles):
            lines(d.points[frame][d.lines], d.colour)
    out = [f'<svg class="mechanism" viewBox="0 0 {width} {height}" role="img">']
    out += [text for _, _, text in sorted(drawn, key=lambda item: item[:2])]
    # Patches lie between two bodies: over everything else, so that they are seen.
    for patch in scene.patches:
        corners, pressure = patch.of(frame)
        shades = colours(pressure.mean(axis=1) / (scene.pressure or 1.0), PRESSED)
        for points, shade in zip(place(corners), shades, strict=True):
            text = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
            fill = f"rgb({shade[0]},{shade[1]},{shade[2]})"
            out.append(f'<polygon points="{text}" fill="{fill}" fill-opacity="0.85"/>')
    return "".join([*out, "</svg>"])


def _light(scene: Scene) -> Array:
    light = 0.9 * scene.up + 0.7 * scene.view - 0.25 * np.cross(scene.up, scene.view)
    return np.asarray(light / np.linalg.norm(light))

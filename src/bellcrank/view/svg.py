"""Pictures as SVG text, without any library: charts of curves and a mechanism in one frame."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from bellcrank.math.normals import across
from bellcrank.view.curves import Panel, pretty, span, ticks
from bellcrank.view.placing import GROUND
from bellcrank.view.scene import Scene
from bellcrank.view.stress import PRESSED, colours

Array = NDArray[np.float64]

LEFT, RIGHT, TOP, BOTTOM = 78, 14, 26, 34


def chart(panel: Panel, events: Sequence[float] = (), width: int = 760, height: int = 210) -> str:
    """Curves of one unit over time."""
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
    out.append(f'<text class="unit" x="{LEFT + plot_w / 2:.0f}" y="{height - 4}">time [s]</text>')
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
    """The mechanism in one frame, seen as the animation first shows it."""
    eye = scene.view
    right = np.cross(scene.up, eye)
    right /= np.linalg.norm(right)
    above = np.cross(eye, right)
    light = _light(scene)
    flat: list[tuple[bool, float, Array, str, float]] = []
    every: list[Array] = []
    lines: list[tuple[Array, str]] = []
    for body, solid in scene.solids:
        world = placed(scene, body, solid.corners, frame)
        seen = np.column_stack([world @ right, world @ above, world @ eye])
        center = world.mean(axis=0)
        if not solid.ground:
            every.append(seen)
        lines += [(seen[list(edge)], solid.colours[0]) for edge in solid.edges]
        for k, face in enumerate(solid.faces):
            corners = world[list(face)]
            normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
            length = float(np.linalg.norm(normal)) or 1.0
            normal = normal / length
            if solid.ground:
                normal *= np.sign(normal @ scene.up) or 1.0
            elif solid.shell == "open":
                normal *= np.sign(normal @ eye) or 1.0
            elif not solid.shell:
                normal *= np.sign(normal @ (corners.mean(axis=0) - center)) or 1.0
            if not solid.ground and solid.opacity == 1.0 and normal @ eye < 0:
                continue
            colour = shaded(
                solid.colours[k % len(solid.colours)], 0.62 + 0.38 * max(0.0, float(normal @ light))
            )
            flat.append(
                (not solid.ground, float(seen[list(face), 2].mean()), seen[list(face)], colour, solid.opacity)
            )
    bent: list[tuple[Array, str, float]] = []
    for d in scene.deforming:
        seen = np.column_stack([d.points[frame] @ axis for axis in (right, above, eye)])
        every.append(seen)
        bent += [(seen[line], d.colour, d.width) for line in d.lines]
    points = np.vstack(every)
    low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
    scale = 0.88 * min(width / max(high[0] - low[0], 1e-9), height / max(high[1] - low[1], 1e-9))
    middle = (low + high) / 2

    def place(p: Array) -> Array:
        return np.column_stack(
            [width / 2 + scale * (p[:, 0] - middle[0]), height / 2 - scale * (p[:, 1] - middle[1])]
        )

    out = [f'<svg class="mechanism" viewBox="0 0 {width} {height}" role="img">']
    drawn: list[tuple[bool, float, str]] = []
    for above_ground, depth, corners, colour, opacity in flat:
        text = " ".join(f"{a:.1f},{b:.1f}" for a, b in place(corners))
        more = (
            f'fill-opacity="{opacity:g}"'
            if opacity < 1
            else f'stroke="{colour if above_ground else "#b9c0c8"}"'
        )
        drawn.append((above_ground, depth, f'<polygon points="{text}" fill="{colour}" {more}/>'))
    for corners, colour in lines:
        (x1, y1), (x2, y2) = place(corners)
        line = f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'
        drawn.append((True, float(corners[:, 2].mean()), line))
    for corners, colour, thick in bent:
        (x1, y1), (x2, y2) = place(corners)
        line = (
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{max(scale * thick, 0.5):.2f}" stroke-linecap="round"/>'
        )
        drawn.append((True, float(corners[:, 2].mean()), line))
    for spring in scene.springs:
        at_a, at_b = spring.ends(frame)
        a, b = placed(scene, spring.a, at_a[None], frame)[0], placed(scene, spring.b, at_b[None], frame)[0]
        path = coil(a, b, 0.012 * scene.size, spring.plain)
        seen = np.column_stack([path @ right, path @ above, path @ eye])
        text = " ".join(f"{u:.1f},{v:.1f}" for u, v in place(seen))
        line = f'<polyline points="{text}" fill="none" stroke="#5b6470" stroke-width="1.2"/>'
        drawn.append((True, float(seen[:, 2].mean()), line))
    out += [text for _, _, text in sorted(drawn, key=lambda item: item[:2])]
    # Patches lie between two bodies: over everything else, so that they are seen.
    for patch in scene.patches:
        corners, pressure = patch.of(frame)
        seen = np.stack([corners @ right, corners @ above], axis=-1)
        for triangle, shade in zip(
            seen, colours(pressure.mean(axis=1) / (scene.pressure or 1.0), PRESSED), strict=True
        ):
            text = " ".join(f"{u:.1f},{v:.1f}" for u, v in place(triangle))
            out.append(
                f'<polygon points="{text}" fill="rgb({shade[0]},{shade[1]},{shade[2]})" fill-opacity="0.85"/>'
            )
    return "".join([*out, "</svg>"])


def placed(scene: Scene, body: int, points: Array, frame: int) -> Array:
    """Points of a body in world axes in one frame."""
    if body == GROUND or not len(scene.time):
        return points
    return np.asarray(points @ _matrix(scene.quaternions[frame, body]).T + scene.positions[frame, body])


def _matrix(q: Array) -> Array:
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _light(scene: Scene) -> Array:
    light = 0.9 * scene.up + 0.7 * scene.view + 0.25 * np.cross(scene.up, scene.view)
    return np.asarray(light / np.linalg.norm(light))


def shaded(colour: str, factor: float) -> str:
    """A colour made darker."""
    parts = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
    return "#" + "".join(f"{int(np.clip(round(p * factor), 0, 255)):02x}" for p in parts)


def coil(a: Array, b: Array, radius: float, plain: bool) -> Array:
    """The line of a coil spring between two points."""
    length = float(np.linalg.norm(b - a))
    if plain or length < 1e-9:
        return np.array([a, b])
    x, y = across(b - a)
    s = np.linspace(0, 1, 97)
    wound = np.clip((s - 0.12) / 0.76, 0, 1)
    turn = 2 * np.pi * 8 * wound
    size = radius * np.clip(np.minimum(s - 0.08, 0.92 - s) / 0.04, 0, 1)
    return np.asarray(
        a + s[:, None] * (b - a) + size[:, None] * (np.cos(turn)[:, None] * x + np.sin(turn)[:, None] * y)
    )

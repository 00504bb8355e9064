"""Cams, rollers and tracks, from constraints of curves that touch and of points on curves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.model.constraints.curves import CurveOnCurve, PointOnCurve, SplineCurve
from bellcrank.model.parameters import value
from bellcrank.view.scene import GROUND_COLOUR, Array, colour_of
from bellcrank.view.shapes import Solid, cylinder, drawn_out, swept

if TYPE_CHECKING:
    from bellcrank.model.frames import Frame
    from bellcrank.view.placing import Placing

POINTS = 180
"""Along a curve."""
SAME = 1e-9
"""Distance of the ends of a closed curve over its size: what rounding leaves."""


def cams(placing: Placing) -> dict[str, list[Solid]]:
    """Plates with the outlines of closed plane curves, and wires along others, by the body that carries them."""
    made: dict[str, list[Solid]] = {}
    for constraint in placing.system.constraints.values():
        if isinstance(constraint, CurveOnCurve):
            pairs = [(constraint.a, constraint.curve_a, "s_a"), (constraint.b, constraint.curve_b, "s_b")]
        elif isinstance(constraint, PointOnCurve):
            pairs = [(constraint.a, constraint.curve, "s")]
        else:
            continue
        for frame, curve, word in pairs:
            solids = _drawn(placing, frame, curve, f"{constraint.name}.{word}")
            made.setdefault(frame.body.name, []).extend(solids)
    return made


def _drawn(placing: Placing, frame: Frame, curve: Any, name: str) -> Iterator[Solid]:
    w, k = placing.width, placing.number[frame.body.name]
    colour = colour_of(k) if k >= 0 else GROUND_COLOUR
    turned, at = placing.matrix(frame.rotation), placing.vector(frame.position)
    points, closed = _sampled(placing, curve, name)
    flat = bool(np.abs(points[:, 2] - points[0, 2]).max() <= SAME * max(float(np.ptp(points)), 1e-300))
    middle = _seen_whole(points[:, :2]) if closed and flat else None
    if middle is None:
        yield swept(points @ turned.T + at, 0.25 * w, colour)
        return
    outline = points[:, :2] - middle
    if np.sum(outline[:, 0] * np.roll(outline[:, 1], -1) - outline[:, 1] * np.roll(outline[:, 0], -1)) < 0.0:
        outline = outline[::-1]
    center = at + turned @ np.array([*middle, points[0, 2]])
    yield drawn_out(outline, center, turned[:, 0], turned[:, 1], 1.6 * w, colour)
    if np.linalg.norm(outline, axis=1).min() > 1.2 * w:
        yield cylinder(
            at,
            turned[:, 2],
            min(1.6 * w, 0.5 * float(np.linalg.norm(outline, axis=1).min())),
            2.2 * w,
            colour,
        )


def _sampled(placing: Placing, curve: Any, name: str) -> tuple[Array, bool]:
    """Points of a curve, and whether it is closed; of an open one as much as the run came to, and some more."""
    own = getattr(curve, "function", curve)
    visited = np.asarray(placing.result[name], dtype=float) if name in placing.result else np.zeros(1)
    low, high = float(visited.min()), float(visited.max())

    def at(s: float) -> Array:
        return np.array([value(x, placing.parameters) for x in curve(s)], dtype=float)

    periods = [2.0 * np.pi, 1.0]
    if isinstance(own, SplineCurve):
        periods = [own.length] if own.closed else []
    for period in periods:
        points = np.array([at(low + period * i / POINTS) for i in range(POINTS + 1)])
        step = float(np.linalg.norm(points[1] - points[0]))
        if float(np.linalg.norm(points[-1] - points[0])) <= max(SAME * float(np.ptp(points)), 1e-6 * step):
            return points[:-1], True
    if isinstance(own, SplineCurve):
        low, high = min(low, 0.0), max(high, own.length)
    else:
        room = 0.2 * max(high - low, 1e-300)
        low, high = low - room, high + room
    return np.array([at(s) for s in np.linspace(low, high, POINTS)]), False


def _seen_whole(points: Array) -> Array | None:
    """A place from which a closed plane curve is seen whole: its origin or its middle; None where neither is."""
    for middle in (np.zeros(2), points.mean(axis=0)):
        arms = points - middle
        turns = arms[:, 0] * np.roll(arms[:, 1], -1) - arms[:, 1] * np.roll(arms[:, 0], -1)
        angle = np.unwrap(np.arctan2(arms[:, 1], arms[:, 0]))
        once = abs(abs(angle[-1] - angle[0]) - 2.0 * np.pi * (1.0 - 1.0 / len(points))) < np.pi
        if once and (np.all(turns > 0.0) or np.all(turns < 0.0)):
            return middle
    return None


__all__ = ["cams"]

"""The outside of the car, for the eye alone: translucent sheet metal around the mechanism, in chassis axes."""

from __future__ import annotations

import numpy as np

from bellcrank.view.shapes import Array, Solid, polygons

PAINT, GLASS = "#2f6db5", "#8fb2d4"
SECTIONS = (
    # x from the chassis's centre, half width, lower and upper height [m], design position
    (2.06, 0.58, 0.34, 0.56),
    (1.95, 0.74, 0.24, 0.68),
    (1.25, 0.80, 0.22, 0.80),
    (0.72, 0.82, 0.20, 0.90),
    (-0.60, 0.82, 0.20, 0.92),
    (-1.45, 0.80, 0.22, 0.92),
    (-2.10, 0.74, 0.28, 0.86),
    (-2.18, 0.62, 0.36, 0.70),
)
CABIN = (
    (0.72, 0.70, 0.86, 0.90),
    (0.10, 0.62, 0.88, 1.36),
    (-0.95, 0.62, 0.88, 1.38),
    (-1.72, 0.68, 0.86, 0.92),
)


def bodywork(centre: Array) -> list[Solid]:
    """Body and cabin; `centre`: the chassis's centre in the design position [m]."""
    return [_loft(SECTIONS, centre, PAINT, 0.45), _loft(CABIN, centre, GLASS, 0.5)]


def _loft(sections: tuple[tuple[float, ...], ...], centre: Array, colour: str, opacity: float) -> Solid:
    """A skin over cross-sections with cut corners."""
    rings = []
    for x, half, low, high in sections:
        cut = 0.3 * min(half, high - low)
        y = np.array([half - cut, half, half, half - cut])
        z = np.array([low, low + cut, high - cut, high])
        ring = np.column_stack([np.full(8, x), np.r_[y, -y[::-1]], np.r_[z, z[::-1]]])
        rings.append(ring - [0.0, centre[1], centre[2]])
    faces: list[tuple[int, ...]] = [tuple(range(8)), tuple(range(8 * (len(rings) - 1), 8 * len(rings)))[::-1]]
    edges: list[tuple[int, int]] = []
    for k in range(len(rings) - 1):
        a, b = 8 * k, 8 * (k + 1)
        faces += [(a + i, b + i, b + (i + 1) % 8, a + (i + 1) % 8) for i in range(8)]
        edges += [(a + i, b + i) for i in range(8)]
    return Solid(np.vstack(rings), polygons(faces), colour, opacity, lines=np.array(edges))

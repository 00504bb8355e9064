"""Gears with teeth, from couplings of angles: their radii follow from the ratio and the distance of their axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.model.parameters import value
from bellcrank.view.scene import colour_of
from bellcrank.view.shapes import Solid, gear, rack

if TYPE_CHECKING:
    from bellcrank.model.joints import Joint
    from bellcrank.view.placing import Placing

Array = NDArray[np.float64]

FEWEST = 17
"""Teeth of the smallest gear of a train: fewer are undercut at 20 degrees."""
MOST = 240
PARALLEL = 1e-6


@dataclass(eq=False)
class _Wheel:
    """A gear in the start pose: centre, axis and the direction of a tooth in world axes, teeth, the phase there."""

    body: str
    center: Array
    axis: Array
    start: Array
    radius: float
    phase: float


def gears(placing: Placing) -> dict[str, list[Solid]]:
    """Gears and racks by the body that carries them, in its axes."""
    wheels: dict[tuple[str, int], _Wheel] = {}
    racks: dict[str, list[Solid]] = {}
    pairs = []
    for coupling in placing.system.couplings.values():
        if len(coupling.terms) != 2:
            continue
        (a, key_a, f_a), (b, key_b, f_b) = coupling.terms
        factors = value(f_a, placing.parameters), value(f_b, placing.parameters)
        if 0.0 in factors:
            continue
        if (key_a, key_b) == ("angle", "angle"):
            pairs.append((a, b, -factors[1] / factors[0]))
        elif {key_a, key_b} == {"angle", "displacement"}:
            turning, sliding, radius = (
                (b, a, -factors[1] / factors[0]) if key_b == "angle" else (a, b, -factors[0] / factors[1])
            )
            _rack(placing, turning, sliding, radius, wheels, racks)
    sizes = [r for a, b, ratio in pairs for r in _radii(placing, a, b, ratio) or ()]
    sizes += [w.radius for w in wheels.values()]
    if not sizes:
        return racks
    module = max(2.0 * min(sizes) / FEWEST, 2.0 * max(sizes) / MOST)
    for a, b, ratio in pairs:
        _pair(placing, a, b, ratio, module, wheels)
    made = dict(racks)
    for w in wheels.values():
        k = placing.number[w.body]
        R, p = placing.rotations[0, k], placing.positions[0, k]
        width = float(np.clip(0.35 * w.radius, 5.0 * module, 12.0 * module))
        made.setdefault(w.body, []).extend(
            gear(
                (w.center - p) @ R,
                w.axis @ R,
                w.start @ R,
                w.radius,
                _teeth(w.radius, module),
                width,
                colour_of(k),
                w.phase,
            )
        )
    return made


def _teeth(radius: float, module: float) -> int:
    return max(6, round(2.0 * radius / module))


def _axis(placing: Placing, joint: Joint) -> tuple[str, Array, Array]:
    """The body that turns in a joint, a point and the direction of the axis in world axes at the start."""
    moving = joint.b if placing.number[joint.b.body.name] >= 0 else joint.a
    k = placing.number[moving.body.name]
    R, p = placing.rotations[0, k], placing.positions[0, k]
    at = R @ placing.vector(moving.position) + p
    return moving.body.name, at, R @ placing.matrix(moving.rotation)[:, 2]


def _radii(placing: Placing, a: Joint, b: Joint, ratio: float) -> tuple[float, float] | None:
    """Pitch radii of gears in mesh; None where the axes are not parallel or too close."""
    _, p, u = _axis(placing, a)
    _, q, v = _axis(placing, b)
    if np.linalg.norm(np.cross(u, v)) > PARALLEL:
        return None
    gap = (q - p) - u * float((q - p) @ u)
    distance = float(np.linalg.norm(gap))
    if distance < 1e-3 * placing.size:
        return None
    turns = ratio * float(np.sign(u @ v))
    share = abs(turns)
    if turns < 0.0:
        return distance / (1.0 + share), distance * share / (1.0 + share)
    # One inside the other, where the ratio tells them apart; a belt or an idler between them otherwise.
    return None


def _pair(
    placing: Placing, a: Joint, b: Joint, ratio: float, module: float, wheels: dict[tuple[str, int], _Wheel]
) -> None:
    radii = _radii(placing, a, b, ratio)
    if radii is None:
        return
    (name, p, u), (other, q, _) = _axis(placing, a), _axis(placing, b)
    gap = (q - p) - u * float((q - p) @ u)
    across = gap / np.linalg.norm(gap)
    keys = [(n, round(64 * r / placing.size)) for n, r in zip((name, other), radii, strict=True)]
    if keys[1] in wheels and keys[0] not in wheels:
        _mesh(wheels, keys[1], keys[0], name, p, -across, radii[0], module, u)
        return
    if keys[0] not in wheels:
        wheels[keys[0]] = _Wheel(name, p, u, across, radii[0], 0.0)
    if keys[1] not in wheels:
        _mesh(wheels, keys[0], keys[1], other, p + gap, across, radii[1], module, u)


def _mesh(
    wheels: dict[tuple[str, int], _Wheel],
    known: tuple[str, int],
    new: tuple[str, int],
    body: str,
    center: Array,
    across: Array,
    radius: float,
    module: float,
    axis: Array,
) -> None:
    """Put a gear beside one that is there, a gap where that has a tooth."""
    a = wheels[known]
    side = np.cross(axis, a.start)
    angle = float(np.arctan2(across @ side, across @ a.start))
    teeth = angle * _teeth(a.radius, module) / (2.0 * np.pi) - a.phase
    wheels[new] = _Wheel(body, center, axis, -across, radius, teeth % 1.0 + 0.5)


def _rack(
    placing: Placing,
    turning: Joint,
    sliding: Joint,
    radius: float,
    wheels: dict[tuple[str, int], _Wheel],
    racks: dict[str, list[Solid]],
) -> None:
    """A pinion and its rack: the rack lies where the rim moves as it does."""
    name, center, axis = _axis(placing, turning)
    body, _, along = _axis(placing, sliding)
    if abs(float(axis @ along)) > PARALLEL or radius == 0.0:
        return
    out = np.cross(along, axis) * float(np.sign(radius))
    size = abs(radius)
    key = (name, round(64 * size / placing.size))
    wheels.setdefault(key, _Wheel(name, center, axis, out, size, 0.5))
    k = placing.number[body]
    R, p = placing.rotations[0, k], placing.positions[0, k]
    moved = (placing.positions[:, k] - placing.positions[0, k]) @ along
    reach = float(np.ptp(moved)) if len(moved) else 0.0
    middle = center + size * out - along * (float(moved.min() + moved.max()) / 2 if len(moved) else 0.0)
    module = 2.0 * size / FEWEST
    made = rack(middle, along, -out, reach + 2.5 * size, module, 5.0 * module, colour_of(k))
    racks.setdefault(body, []).append(Solid((made.corners - p) @ R, made.faces, made.colour))

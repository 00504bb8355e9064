"""Gears with teeth, from couplings of angles: their radii follow from the ratio and the place of their axes.

Parallel axes give spur gears, one inside the other where both turn the same way; axes that meet give bevel gears.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.model.parameters import value
from bellcrank.view.scene import colour_of
from bellcrank.view.shapes import Solid, bevel_gear, gear, rack, ring_gear

if TYPE_CHECKING:
    from bellcrank.model.joints import Joint
    from bellcrank.view.placing import Placing

Array = NDArray[np.float64]

FEWEST = 17
"""Teeth of the smallest gear of a train: fewer are undercut at 20 degrees."""
MOST = 240
PARALLEL = 1e-6
WIDEST = 8.0
"""Radius of a ring over the distance of its axis from that of the gear inside."""


@dataclass(eq=False)
class _Wheel:
    """A gear in the start pose: centre, axis and the direction of a tooth in world axes, teeth, the phase there.

    inner: Whether its teeth point inwards. apex: Of its cone in world axes, for a bevel gear.
    """

    body: str
    center: Array
    axis: Array
    start: Array
    radius: float
    phase: float
    inner: bool = False
    apex: Array | None = None


def gears(placing: Placing) -> dict[str, list[Solid]]:
    """Gears and racks by the body that carries them, in its axes."""
    wheels: dict[tuple[str, int], _Wheel] = {}
    racks: dict[str, list[Solid]] = {}
    pairs = list(_meshing(placing))
    for coupling in placing.system.couplings.values():
        if len(coupling.terms) != 2:
            continue
        (a, key_a, f_a), (b, key_b, f_b) = coupling.terms
        factors = value(f_a, placing.parameters), value(f_b, placing.parameters)
        if {key_a, key_b} == {"angle", "displacement"} and 0.0 not in factors:
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
        own = (w.center - p) @ R, w.axis @ R, w.start @ R
        teeth, colour = _teeth(w.radius, module), colour_of(k)
        width = float(np.clip(0.35 * w.radius, 5.0 * module, 12.0 * module))
        if w.apex is not None:
            solids = bevel_gear(*own, w.radius, teeth, (w.apex - p) @ R, colour, w.phase)
        elif w.inner:
            solids = [ring_gear(*own, w.radius, teeth, width, colour, w.phase)]
        else:
            solids = gear(*own, w.radius, teeth, width, colour, w.phase)
        made.setdefault(w.body, []).extend(solids)
    return made


def _meshing(placing: Placing) -> Iterator[tuple[Joint, Joint, float]]:
    """Pairs of joints whose angles are in mesh, with the turns of the first for one of the second.

    A third angle is that of the arm that carries axes; seen from it, the pair is one of two.
    """
    for coupling in placing.system.couplings.values():
        joints = [joint for joint, _, _ in coupling.terms]
        factors = [value(f, placing.parameters) for _, _, f in coupling.terms]
        if any(key != "angle" for _, key, _ in coupling.terms) or 0.0 in factors:
            continue
        if len(joints) == 3:
            arm = _arm(placing, joints, factors)
            if arm is None:
                continue
            joints.pop(arm)
            factors.pop(arm)
        # A belt has radii as factors; teeth are counted over those of the first.
        if len(joints) == 2 and factors[0] == 1.0:
            yield joints[0], joints[1], -factors[1]


def _arm(placing: Placing, joints: list[Joint], factors: list[float]) -> int | None:
    """Which of three angles is that of the arm; None for a differential and the like."""
    if abs(sum(factors)) <= PARALLEL * max(map(abs, factors)) and sorted(map(abs, factors))[0] < max(factors):
        # All against one body: factors 1, -ratio, ratio - 1. The arm comes last.
        return 2
    for k in (1, 2):
        other = joints[3 - k]
        carried = {f.body.name for f in (other.a, other.b)}
        if abs(factors[0] + factors[k]) <= PARALLEL and _axis(placing, joints[k])[0] in carried:
            return k
    return None


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
    """Pitch radii of gears in mesh; None where their axes are skew or too close."""
    _, p, u = _axis(placing, a)
    _, q, v = _axis(placing, b)
    if np.linalg.norm(np.cross(u, v)) > PARALLEL:
        cones = _cones(placing, a, b, ratio)
        return None if cones is None else (cones[1], cones[2])
    gap = (q - p) - u * float((q - p) @ u)
    distance = float(np.linalg.norm(gap))
    if distance < 1e-3 * placing.size:
        return None
    turns = ratio * float(np.sign(u @ v))
    share = abs(turns)
    if turns < 0.0:
        return distance / (1.0 + share), distance * share / (1.0 + share)
    # One inside the other. Nearly equal ones would be far larger than their distance: there, an idler is between them.
    larger = max(1.0, share) / abs(1.0 - share) if share != 1.0 else np.inf
    return (distance / abs(1.0 - share), distance * share / abs(1.0 - share)) if larger <= WIDEST else None


def _cones(
    placing: Placing, a: Joint, b: Joint, ratio: float
) -> tuple[Array, float, float, Array, Array] | None:
    """Of bevel gears: the common apex, pitch radii, and the directions from the apex to both gears."""
    _, p, u = _axis(placing, a)
    _, q, v = _axis(placing, b)
    normal = np.cross(u, v)
    if abs(float((q - p) @ normal)) > 1e-3 * placing.size * float(np.linalg.norm(normal)):
        return None
    # Where the axes meet: p + s u = q + t v.
    s, t = np.linalg.lstsq(np.column_stack([u, -v]), q - p, rcond=None)[0]
    apex = p + s * u
    out_a, out_b = (
        -float(np.sign(x)) * w if abs(x) > 1e-3 * placing.size else w for x, w in ((s, u), (t, v))
    )
    if ratio * float(np.sign(out_a @ u)) * float(np.sign(out_b @ v)) > 0.0:
        # Rims that roll on each other turn opposite ways, seen from the apex.
        if abs(t) > abs(s):
            out_a = -out_a
        else:
            out_b = -out_b
    share, angle = abs(ratio), float(np.arccos(np.clip(out_a @ out_b, -1.0, 1.0)))
    first = float(np.arctan2(np.sin(angle), share + np.cos(angle)))
    second = angle - first
    if not (0.05 < first < 1.52 and 0.05 < second < 1.52):
        return None
    reach = max(abs(float(s)) / np.cos(first), abs(float(t)) / np.cos(second))
    if reach < 1e-3 * placing.size:
        return None
    return apex, reach * float(np.sin(first)), reach * float(np.sin(second)), out_a, out_b


def _pair(
    placing: Placing, a: Joint, b: Joint, ratio: float, module: float, wheels: dict[tuple[str, int], _Wheel]
) -> None:
    radii = _radii(placing, a, b, ratio)
    if radii is None:
        return
    (name, p, u), (other, q, v) = _axis(placing, a), _axis(placing, b)
    keys = [(n, round(64 * r / placing.size)) for n, r in zip((name, other), radii, strict=True)]
    if np.linalg.norm(np.cross(u, v)) > PARALLEL:
        found = _cones(placing, a, b, ratio)
        assert found is not None
        apex, _, _, out_a, out_b = found
        for key, body, radius, own, away, phase in (
            (keys[0], name, radii[0], out_a, out_b, 0.0),
            (keys[1], other, radii[1], out_b, out_a, 0.5),
        ):
            across = away - own * float(away @ own)
            # The pitch circle lies where the cone has its radius.
            high = radius * float(np.linalg.norm(across)) / _slope(radii, radius, float(own @ away))
            wheels.setdefault(key, _Wheel(body, apex + high * own, own, across, radius, phase, apex=apex))
        return
    gap = (q - p) - u * float((q - p) @ u)
    across = gap / np.linalg.norm(gap)
    inside = ratio * float(np.sign(u @ v)) > 0.0
    # From each centre to where they touch; the smaller one lies inside the larger.
    towards = [across, -across]
    if inside:
        towards = [-across, -across] if radii[0] < radii[1] else [across, across]
    inner = [inside and radii[0] > radii[1], inside and radii[1] > radii[0]]
    if keys[1] in wheels and keys[0] not in wheels:
        wheels[keys[0]] = _mesh(wheels[keys[1]], name, p, towards[1], towards[0], radii[0], module, inner[0])
        return
    if keys[0] not in wheels:
        wheels[keys[0]] = _Wheel(name, p, u, towards[0], radii[0], 0.0, inner[0])
    if keys[1] not in wheels:
        place = p + gap
        wheels[keys[1]] = _mesh(
            wheels[keys[0]], other, place, towards[0], towards[1], radii[1], module, inner[1]
        )


def _slope(radii: tuple[float, float], radius: float, cosine: float) -> float:
    """Sine of the angle between the axes times the tangent of the cone of the gear of this radius."""
    other = radii[1] if radius == radii[0] else radii[0]
    return (1.0 - cosine**2) * radius / (other + radius * cosine)


def _mesh(
    known: _Wheel,
    body: str,
    center: Array,
    touched: Array,
    own: Array,
    radius: float,
    module: float,
    inner: bool,
) -> _Wheel:
    """A gear beside one that is there, a gap where that has a tooth.

    touched, own: From the centres of both to where they touch.
    """
    side = np.cross(known.axis, known.start)
    angle = float(np.arctan2(touched @ side, touched @ known.start))
    teeth = angle * _teeth(known.radius, module) / (2.0 * np.pi) - known.phase
    # Seen from the place where they touch, outer teeth run the other way, those of a ring the same.
    turned = -1.0 if known.inner or inner else 1.0
    return _Wheel(body, center, known.axis, own, radius, (turned * teeth) % 1.0 + 0.5, inner)


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

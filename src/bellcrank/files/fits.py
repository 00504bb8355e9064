"""Joints that the faces of two parts suggest: a pin in a bore, a flat side on another, a ball in its socket.

Every pair of faces that fit takes freedoms from the motion of one part against the other. The twists that are left name
the joint, however many faces take part: a pin with a shoulder turns, two pins side by side do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.files.step_reader import CYLINDER, PLANE, SPHERE
from bellcrank.math.arrays import tidy

Array = NDArray[np.float64]

SAME = 1e-4
"""Angle [rad], and share of the size of the smaller part, that is none: files keep 1e-6, gaps are 1e-3."""
CLEARANCE = 0.06
"""Share of its radius by which a bore may be wider than its pin: H11/c11 of 3 mm, the loosest fit of ISO 286."""
DEPENDENT = 1e-2
"""Singular value below which a row of the unit twist is another's: far above SAME, far below two real directions."""


@dataclass(frozen=True, eq=False)
class Placed:
    """Faces and triangles of a part where it stands, in world axes.

    surfaces: Rows of :data:`~bellcrank.files.step_reader.FACE_COLUMNS`. spans: Triangles of each.
    """

    name: str
    surfaces: Array
    spans: NDArray[np.int64]
    corners: Array
    low: Array
    high: Array

    @property
    def size(self) -> float:
        """The diagonal of the box around the part [m]."""
        return float(np.linalg.norm(self.high - self.low))

    def of(self, kind: int) -> list[int]:
        """Numbers of the faces of a kind."""
        return [int(k) for k in np.flatnonzero(self.surfaces[:, 0] == kind)]


@dataclass(frozen=True, eq=False)
class Proposal:
    """A joint that faces of two parts suggest.

    a, b: Parts. kind: Of the joint. at: World point [m]. axis: World direction, None of a weld and a ball. why: The
    faces that fit, in words.
    """

    a: str
    b: str
    kind: str
    at: tuple[float, float, float]
    axis: tuple[float, float, float] | None
    why: str


@dataclass(frozen=True, eq=False)
class _Fit:
    kind: int
    at: Array
    axis: Array
    radius: float = 0.0


def proposals(parts: Sequence[Placed]) -> tuple[list[Proposal], list[str]]:
    """A joint for every pair of parts with faces that fit, and in words the pairs whose freedom no joint has."""
    found: list[Proposal] = []
    left: list[str] = []
    directions: list[Array] = []
    for k, a in enumerate(parts):
        for b in parts[k + 1 :]:
            near = SAME * min(a.size, b.size)
            if (a.low > b.high + near).any() or (b.low > a.high + near).any():
                continue
            fits = [*_pins(a, b, near), *_flats(a, b, near), *_balls(a, b, near)]
            if fits:
                joint = _joint(a, b, fits, directions)
                if isinstance(joint, Proposal):
                    found.append(joint)
                else:
                    left.append(joint)
    return found, left


def _pins(a: Placed, b: Placed, near: float) -> list[_Fit]:
    """Cylinders on one axis, one hollow and one full, that reach into each other; each axis once."""
    found: list[_Fit] = []
    for i in a.of(CYLINDER):
        p, axis, radius, sense, low, high = _face(a, i)
        for j in b.of(CYLINDER):
            q, other, r, way, start, end = _face(b, j)
            if sense * way > 0.0 or np.linalg.norm(np.cross(axis, other)) > SAME:
                continue
            bore, pin = (radius, r) if sense < 0.0 else (r, radius)
            off = q - p
            if not -near <= bore - pin <= CLEARANCE * bore + near:
                continue
            if np.linalg.norm(off - (off @ axis) * axis) > near:
                continue
            ends = sorted(float((q + s * other - p) @ axis) for s in (start, end))
            first, last = max(low, ends[0]), min(high, ends[1])
            if last - first > near:
                found.append(_Fit(CYLINDER, p + (first + last) / 2.0 * axis, axis, pin))
    return found


def _flats(a: Placed, b: Placed, near: float) -> list[_Fit]:
    """Flat faces that look at each other in one plane and overlap."""
    found: list[_Fit] = []
    for i in a.of(PLANE):
        _, normal, *_ = _face(a, i)
        own = a.corners[slice(*a.spans[i])]
        for j in b.of(PLANE):
            _, other, *_ = _face(b, j)
            if normal @ other > -1.0 + SAME**2 / 2.0:
                continue
            theirs = b.corners[slice(*b.spans[j])]
            if abs(float((theirs.reshape(-1, 3).mean(0) - own.reshape(-1, 3).mean(0)) @ normal)) > near:
                continue
            at = _overlap(own, theirs, normal, near)
            if at is not None:
                found.append(_Fit(PLANE, at, normal))
    return found


def _balls(a: Placed, b: Placed, near: float) -> list[_Fit]:
    """Spheres about one point, one hollow and one full."""
    found: list[_Fit] = []
    for i in a.of(SPHERE):
        p, axis, radius, sense, *_ = _face(a, i)
        for j in b.of(SPHERE):
            q, _, r, way, *_ = _face(b, j)
            socket, ball = (radius, r) if sense < 0.0 else (r, radius)
            fits = -near <= socket - ball <= CLEARANCE * socket + near
            if sense * way < 0.0 and fits and np.linalg.norm(q - p) <= near:
                found.append(_Fit(SPHERE, p, axis, ball))
    return found


def _face(part: Placed, k: int) -> tuple[Array, Array, float, float, float, float]:
    row = part.surfaces[k]
    return row[1:4], row[4:7], float(row[7]), float(row[8]), float(row[9]), float(row[10])


def _overlap(a: Array, b: Array, normal: Array, near: float) -> Array | None:
    """The middle of what two sets of triangles in a plane have in common; None where they overlap by less than `near`.

    Two triangles are apart where an edge of one of them separates their corners.
    """
    x = np.linalg.svd(normal[None])[2][1]
    plane = np.stack([x, np.cross(normal, x)])
    flat_a, flat_b = a @ plane.T, b @ plane.T
    places: list[Array] = []
    for one, corners in zip(flat_a, a, strict=True):
        low, high = one.min(0), one.max(0)
        close = ((flat_b.min(1) < high - near) & (flat_b.max(1) > low + near)).all(1)
        for k in np.flatnonzero(close):
            if not (_apart(one, flat_b[k], near) or _apart(flat_b[k], one, near)):
                both = np.concatenate([one, flat_b[k]])
                inside = [p for p in both if _inside(p, one, near) and _inside(p, flat_b[k], near)]
                middle = np.mean(inside, axis=0) if inside else (one.mean(0) + flat_b[k].mean(0)) / 2.0
                places.append(middle @ plane + (corners[0] @ normal) * normal)
    return np.mean(places, axis=0) if places else None


def _apart(one: Array, other: Array, near: float) -> bool:
    """Whether an edge of a triangle has all of another beyond it."""
    for k in range(3):
        edge = one[(k + 1) % 3] - one[k]
        length = float(np.hypot(*edge))
        if length <= near:
            # A sliver separates nothing: what lies beside it lies beside its neighbours.
            return True
        across = np.array([edge[1], -edge[0]]) / length
        inner = (one[(k + 2) % 3] - one[k]) @ across
        side = -1.0 if inner > 0.0 else 1.0
        if (side * ((other - one[k]) @ across)).min() > -near:
            return True
    return False


def _inside(p: Array, triangle: Array, near: float) -> bool:
    edges = np.roll(triangle, -1, axis=0) - triangle
    sides = edges[:, 0] * (p - triangle)[:, 1] - edges[:, 1] * (p - triangle)[:, 0]
    slack = near * np.hypot(edges[:, 0], edges[:, 1])
    return bool((sides >= -slack).all() or (sides <= slack).all())


def _joint(a: Placed, b: Placed, fits: list[_Fit], directions: list[Array]) -> Proposal | str:
    """The joint whose freedoms are the twists that all fits leave."""
    centre = np.mean([fit.at for fit in fits], axis=0)
    size = min(a.size, b.size)
    rows = np.concatenate([_rows(fit, centre, size) for fit in fits])
    _, values, vectors = np.linalg.svd(rows)
    rank = int((values > DEPENDENT).sum())
    free = vectors[rank:]
    turns = np.linalg.svd(free[:, :3])[1] if len(free) else np.zeros(0)
    rotations = int((turns > DEPENDENT).sum())
    slides = len(free) - rotations
    said = _words(fits)
    pins = [fit for fit in fits if fit.kind == CYLINDER]
    if (rotations, slides) == (0, 0):
        return _proposal(a, b, "fixed", centre, None, said)
    if (rotations, slides) == (0, 1):
        axis = next((f.axis for f in pins), free[0, 3:] / np.linalg.norm(free[0, 3:]))
        return _proposal(a, b, "prismatic", centre, _shared(axis, directions), said)
    if rotations == 1 and slides <= 1 and pins:
        kind = "cylindrical" if slides else "revolute"
        at = np.mean([fit.at for fit in pins], axis=0)
        return _proposal(a, b, kind, at, _shared(pins[0].axis, directions), said)
    if (rotations, slides) == (1, 2):
        flat = next(fit for fit in fits if fit.kind == PLANE)
        return _proposal(a, b, "planar", centre, _shared(flat.axis, directions), said)
    if (rotations, slides) == (3, 0):
        ball = next(fit for fit in fits if fit.kind == SPHERE)
        return _proposal(a, b, "spherical", ball.at, None, said)
    what = f"{rotations} rotations and {slides} translations"
    return f"{a.name!r} and {b.name!r}: {said}, which leave {what}; no joint has these"


def _rows(fit: _Fit, centre: Array, size: float) -> Array:
    """What a fit takes of the twist (rotation times size, velocity of the centre)."""
    arm = (fit.at - centre) / size
    across = np.linalg.svd(fit.axis[None])[2][1:]
    # Velocity of a point in a direction d: d.v + (arm x d).w
    moves = fit.axis[None] if fit.kind == PLANE else np.eye(3) if fit.kind == SPHERE else across
    still = np.concatenate([np.cross(arm, moves), moves], axis=1)
    if fit.kind == SPHERE:
        return still
    return np.concatenate([still, np.concatenate([across, np.zeros((2, 3))], axis=1)])


def _shared(axis: Array, directions: list[Array]) -> Array:
    """The direction of an axis, the same to the bit for all that are parallel: loops of hinges close exactly."""
    leading = int(np.argmax(np.abs(axis)))
    axis = axis if axis[leading] > 0.0 else -axis
    for known in (*np.eye(3), *directions):
        if np.linalg.norm(np.cross(axis, known)) < SAME and axis @ known > 0.0:
            return np.asarray(known, float)
    directions.append(tidy(axis / np.linalg.norm(axis)))
    return directions[-1]


def _proposal(a: Placed, b: Placed, kind: str, at: Array, axis: Array | None, why: str) -> Proposal:
    where = (float(at[0]), float(at[1]), float(at[2]))
    along = None if axis is None else (float(axis[0]), float(axis[1]), float(axis[2]))
    return Proposal(a.name, b.name, kind, where, along, why)


def _words(fits: list[_Fit]) -> str:
    """Such as "pin of 8 mm in a bore, 2 flat faces"."""
    found = []
    for radius in sorted({round(2e3 * f.radius, 3) for f in fits if f.kind == CYLINDER}):
        found.append(f"pin of {radius:g} mm in a bore")
    flats = sum(f.kind == PLANE for f in fits)
    if flats:
        found.append("flat faces" if flats == 1 else f"{flats} pairs of flat faces")
    if any(f.kind == SPHERE for f in fits):
        found.append("ball in a socket")
    return ", ".join(found)

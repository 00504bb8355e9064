"""The ground a car drives on: hills, bumps on either side and across, a washboard, a circuit, or the road of a file."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.base.whole_files import read_regular
from bellcrank.errors import ModelError, UnknownName, unknown_name
from bellcrank.fe.triangle_files import KINDS, read_triangles
from bellcrank.program.functions import cos, sin
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar, function
from bellcrank.roads import Grid, Road, crg, read_crg
from bellcrank.roads.road import MOST_HEIGHTS
from bellcrank.roads.roughness import CLASSES, REFERENCE

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Bumps:
    """Bumps every `period` along x, h = height exp(((cos(2 pi (x - first)/period) - 1) k), one at x = `first`.

    height, first, period: [m]. length: Standard length along x, k = (period/(2 pi length))^2 [m]. side: +1 raises
    the ground to the left of the x axis, -1 to the right, 0 across; sides repeat every `lane` [m] along y.
    """

    height: float
    first: float
    period: float
    length: float
    side: int = 0
    lane: float = 3.2

    def at(self, x: Scalar, y: Scalar) -> Scalar:
        """Height [m]."""
        turn = 2.0 * math.pi / self.period
        k = (1.0 / (turn * self.length)) ** 2
        shape = self.height * function("exp", k * (cos(turn * (x - self.first)) - 1.0))
        if not self.side:
            return shape
        beside = 2.0 * math.pi / self.lane * (y - 0.25 * self.lane * self.side)
        return 0.5 * shape * (1.0 + cos(beside))


@dataclass(frozen=True)
class Washboard:
    """Ripples, h = height sin(pi x/ripple)^2, in a stretch of standard length `length` every `period` [m]."""

    height: float
    ripple: float
    first: float
    period: float
    length: float

    def at(self, x: Scalar, y: Scalar) -> Scalar:
        """Height [m]."""
        s = sin(math.pi / self.ripple * x)
        return Bumps(self.height, self.first, self.period, self.length).at(x, y) * s * s


@dataclass(frozen=True)
class Hills:
    """Long waves, h = height (sin(pi x/along)^2 + sin(pi y/across)^2), all lengths in [m]."""

    height: float
    along: float
    across: float

    def at(self, x: Scalar, y: Scalar) -> Scalar:
        """Height [m]."""
        s, c = sin(math.pi / self.along * x), sin(math.pi / self.across * y)
        return self.height * (s * s + c * c)


@dataclass(frozen=True)
class Rough:
    """A random surface alike in all directions, whose sections have the spectrum of a class of ISO 8608.

    A section with G_d = c n^-2 belongs to the spectrum c/4 k^-3 of the surface over the plane of wave vectors. It is
    made of waves of one direction each, evenly spread over the logarithm of k from `longest` to `shortest` [m]. Level
    within some metres of the origin, where the car starts.
    """

    roughness: str
    seed: int = 0
    waves: int = 32
    longest: float = 40.0
    shortest: float = 0.6
    level: float = 5.0

    @cached_property
    def parts(self) -> tuple[tuple[float, float, float, float], ...]:
        """Amplitude [m], wave vector [rad/m] and phase of each wave."""
        rng = np.random.default_rng(self.seed)
        ends = np.linspace(math.log(1.0 / self.longest), math.log(1.0 / self.shortest), self.waves + 1)
        k = np.exp(0.5 * (ends[:-1] + ends[1:]))
        c = CLASSES[self.roughness] * REFERENCE**2
        amplitude = np.sqrt(2.0 * 2.0 * math.pi * c / 4.0 / k * np.diff(ends))
        # Directions in equal steps in a random order, so that few waves still cover all of them.
        turned = math.pi * (rng.permutation(self.waves) + 0.5) / self.waves
        phases = rng.uniform(0.0, 2.0 * math.pi, self.waves)
        wave = 2.0 * math.pi * k
        rows = np.column_stack([amplitude, wave * np.cos(turned), wave * np.sin(turned), phases])
        return tuple((a, b, c, d) for a, b, c, d in rows.tolist())

    def at(self, x: Scalar, y: Scalar) -> Scalar:
        """Height [m]."""
        height: Scalar = 0.0
        for a, k_x, k_y, phase in self.parts:
            height = height + a * cos(k_x * x + k_y * y + phase)
        q = (x * x + y * y) / self.level**2
        return height * (1.0 - function("exp", -(q * q)))


Feature = Bumps | Washboard | Hills | Rough


@dataclass(frozen=True)
class Features(Road):
    """A sum of features; none is level ground at height 0."""

    features: tuple[Feature, ...] = ()

    def __call__(self, x: Scalar, y: Scalar, t: Scalar = 0.0) -> Scalar:
        height: Scalar = 0.0
        for feature in self.features:
            height = height + feature.at(x, y)
        return height


@dataclass(frozen=True, eq=False)
class Terrain:
    """A road with what a page shows of it.

    road: Height [m] of (x, y, t). unevenness: The part of it that a driver sees as bumps. course: The middle of a
    closed lane to drive around, points [m], shape (n, 2), the first one at the start; None where there is none.
    """

    road: Road
    unevenness: Road = Features()
    course: Array | None = None

    @cached_property
    def _heights(self) -> Kernel:
        graph = Graph()
        x, y = graph.input("x"), graph.input("y")
        return compile_program(Program.of([x, y], [self.road(x, y), self.unevenness(x, y)], "terrain"))

    def at(self, x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        """Heights [m] at places [m], and how far they stand above the hills."""
        x, y = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
        found = self._heights.many(np.stack([x.ravel(), y.ravel()], axis=1))
        return found[:, 0].reshape(x.shape), found[:, 1].reshape(x.shape)

    def highest(self, x: float, y: float, reach: float = 3.0) -> float:
        """The highest ground within a square around a place [m]."""
        beside = np.linspace(-reach, reach, 61)
        return float(self.at(x + beside[:, None], y + beside)[0].max())


def featured(*features: Feature, course: Array | None = None) -> Terrain:
    """A terrain of features."""
    return Terrain(
        Features(features), Features(tuple(f for f in features if not isinstance(f, Hills))), course
    )


def circuit(spacing: float = 2.0) -> Array:
    """A closed course through the origin, where it goes along x: bends of radii from 17 m to straight [m].

    Its distance from a centre is r = R (1 + 0.3 cos 2 a + 0.12 cos 3 a) over the angle a.
    """
    a = np.linspace(-np.pi, np.pi, 2001)
    r = 75.0 * (1.0 + 0.3 * np.cos(2.0 * a) + 0.12 * np.cos(3.0 * a))
    return level_course(np.column_stack([r * np.cos(a), r * np.sin(a)]), 0.125, spacing)


def level_course(points: Array, start: float, spacing: float) -> Array:
    """A closed curve moved so that it begins at the origin along x, `start` of its length after its first point,
    by points of equal `spacing` [m] as nearly as its length allows."""
    closed = np.vstack([points, points[:1]])
    steps = np.linalg.norm(np.diff(closed, axis=0), axis=1)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    count = max(round(along[-1] / spacing), 8)
    s = (start + np.arange(count) / count) % 1.0 * along[-1]
    found = np.column_stack([np.interp(s, along, closed[:, k]) for k in range(2)])
    ahead = found[1] - found[-1]
    c, w = ahead / np.linalg.norm(ahead)
    return np.asarray((found - found[0]) @ np.array([[c, -w], [w, c]]))


FLAT = featured()
PROVING_GROUND = featured(
    Bumps(0.07, first=30.0, period=80.0, length=0.45, side=1),
    Bumps(0.05, first=50.0, period=80.0, length=0.45),
    Bumps(0.07, first=70.0, period=80.0, length=0.45, side=-1),
    Washboard(0.015, ripple=0.9, first=105.0, period=160.0, length=5.0),
    Hills(0.7, along=150.0, across=130.0),
)
"""A bump under the left wheels, one across, one under the right wheels every 80 m; level where the car starts."""
TERRAINS = {
    "bumps": PROVING_GROUND,
    "flat": FLAT,
    "rough": featured(Rough("D", seed=1)),
    "circuit": featured(Hills(0.7, along=150.0, across=130.0), course=circuit()),
}
LARGEST_COURSE = 10_000_000
"""Bytes of the file of a course: some hundred thousand points."""
CELL = 0.1
"""Distance of the heights that are taken of a mesh [m]: less than the contact of a tyre is long."""


def terrain(name: str | PathLike[str]) -> Terrain:
    """One of `TERRAINS`, an OpenCRG file or the upper side of a mesh file."""
    if name in TERRAINS:
        return TERRAINS[str(name)]
    kind = Path(name).suffix.lower().lstrip(".")
    if kind == "crg":
        return Terrain(_from_its_start(name))
    if kind in KINDS:
        return Terrain(_upper_side(name))
    known = unknown_name("terrain", str(name), TERRAINS)
    raise UnknownName(f"{known}; or a file of {', '.join(KINDS)} or .crg")


BEHIND = 3.0
"""How far behind the middle of the car a road begins [m]: all wheels stand on it."""


def _from_its_start(path: str | PathLike[str]) -> Grid:
    """The road of an OpenCRG file, moved so that its reference line begins behind the car, along x, at height 0."""
    found, road = read_crg(path), crg(path)
    heading = float(found.phi[0])
    start = np.array([found.head.get(f"reference_line_start_{c}", 0.0) for c in "xy"])
    c, s = math.cos(heading), math.sin(heading)
    x, y = np.array([[c, s], [-s, c]]) @ (np.array(road.at) - start)
    height = float(road(*start.tolist()))
    return replace(road, z=road.z - height, at=(x - BEHIND, y), heading=road.heading - heading)


def _upper_side(path: str | PathLike[str]) -> Grid:
    vertices, faces = read_triangles(path)
    size = np.ptp(vertices[:, :2], axis=0) + 2.0 * CELL
    # Of larger grounds as fine a grid as a road may have.
    cell = max(CELL, math.sqrt(float(np.prod(size)) / (0.9 * MOST_HEIGHTS)))
    try:
        return Grid.from_mesh(vertices, faces, cell)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None


def read_course(path: str | PathLike[str]) -> Array:
    """A closed course of a text file: rows of x and y [m], by commas or blanks, in the order they are passed."""
    try:
        text = read_regular(path, LARGEST_COURSE).decode()
        rows = [line.replace(",", " ").split() for line in text.splitlines() if line.strip()]
        points = np.array([[float(x) for x in row] for row in rows], dtype=float)
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: not a course of rows of x and y: {error}") from None
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 3 or not np.all(np.isfinite(points)):
        raise ModelError(f"{path}: a course has three or more rows of two finite numbers, x and y [m]")
    return points

"""Nodes that the search for the closest points looks at, against the number of samples: a table.

    python -m benchmarks.contact_looks [--most 1000000] [--surfaces ellipsoid,bumpy,...] [--partners plane,...]

A search that costs the logarithm of the number adds as many nodes for each ten times the samples; one that costs the
root of it looks at three times as many. Gaps are in sizes of the sampled body, poses are drawn at random, and each
number is the mean over the poses; nothing is known of a search before.

Two things grow otherwise. Where bodies touch (gap 0) all samples within a band above the other shape are looked at. It
is a share of the size for coarse surfaces, and as many samples lie in it as grow with their number; from some hundred
thousand on it shrinks as their distance squared, and there are as many, whatever their number. And where sides or rims
are exactly parallel, every place is as near as every other: on curved surfaces that is told by heights that are equal,
of nearest samples by leaving out what would be nearer only for standing opposite each other; along parallel edges as
many nodes are looked at as there are samples along them, a root of their number.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from bellcrank.contact import Plane, Sampled, Sphere
from bellcrank.contact.meeting import Meeting
from bellcrank.contact.search import SampledPair
from bellcrank.contact.shapes import Capsule, Ellipsoid, Shape, Superellipsoid
from bellcrank.contact.shapes.implicit import Implicit
from bellcrank.contact.shapes.revolution import Revolution
from benchmarks.contact import samples

Array = NDArray[np.float64]
NUMBERS = (1_000, 10_000, 100_000, 1_000_000)
GAPS = (0.0, 0.1, 0.6, 3.0, 10.0)
POSES = 6


def ellipsoid(number: int) -> Sampled:
    """A convex closed body."""
    return Sampled(*samples(number))


def bumpy(number: int) -> Sampled:
    """A closed body with hills and dents: |x| = 1 + 0.15 sin 5x sin 5y cos 5z of the direction."""
    u = samples(number)[0] / np.array([1.0, 0.8, 1.3])
    (sx, sy, sz), (cx, cy, cz) = np.sin(5.0 * u.T), np.cos(5.0 * u.T)
    r = 1.0 + 0.15 * sx * sy * cz
    slope = 0.75 * np.stack([cx * sy * cz, sx * cy * cz, -sx * sy * sz], axis=1)
    across = slope - np.einsum("ij,ij->i", slope, u)[:, None] * u
    return Sampled(u * r[:, None], u - across / r[:, None])


def sheet(number: int) -> Sampled:
    """An open wavy surface."""
    t = np.linspace(-1.0, 1.0, round(number**0.5))
    x, y = np.meshgrid(t, t, indexing="ij")
    return Sampled.from_grid(np.stack([x, y, 0.1 * np.sin(4.0 * x) * np.cos(3.0 * y)], axis=2))


def cap(number: int) -> Sampled:
    """An open surface with a round rim: a piece of a ball, its samples in no rows."""
    points = samples(4 * number)[0] / np.array([1.0, 0.8, 1.3])
    points = points[points[:, 2] > 0.5]
    return Sampled(points, points)


SURFACES: dict[str, Callable[[int], Sampled]] = {
    "ellipsoid": cache(ellipsoid), "bumpy": cache(bumpy), "sheet": cache(sheet), "cap": cache(cap),
}  # fmt: skip
PARTNERS: dict[str, Shape | None] = {
    "plane": Plane(),
    "sphere": Sphere(0.6),
    "capsule": Capsule(0.3, 0.5),
    "ellipsoid": Ellipsoid(0.3, 0.7, 1.1),
    "superellipsoid": Superellipsoid(0.5, 0.4, 0.6, (3.0, 2.5)),
    "implicit": Implicit(lambda x, y, z: 2.0 * x**2 + 3.0 * y**2 + z**2 + 0.5 * x**4 - 0.5, 1.0),
    "revolution": Revolution(lambda z: 0.25 + 0.1 * np.cos(3.0 * z), 2.0),
    "samples": None,
}


def poses(surface: Sampled, other: Shape, gap: float) -> list[tuple[Array, Array]]:
    """Random turns and ways; the other shape stands so far along them that a plane between both leaves that gap."""
    random = np.random.default_rng(5)
    rays = samples(2000)[0]
    rays /= np.linalg.norm(rays, axis=1)[:, None]
    found = []
    for _ in range(POSES):
        R = np.linalg.qr(random.normal(size=(3, 3)))[0]
        R *= np.sign(np.linalg.det(R))
        way = random.normal(size=3)
        way /= np.linalg.norm(way)
        if len(found) % 2 and surface.normals[:, 2].min() > 0.0:
            # Above an open surface as well as beside it.
            way = np.array([0.1, 0.2, 1.0]) / np.sqrt(1.05)
        here = float((surface.points @ way).max())
        if isinstance(other, Plane):
            turned = np.linalg.qr(np.column_stack([-way, random.normal(size=(3, 2))]))[0]
            R = np.column_stack([turned[:, 1], turned[:, 2], -way])
            R *= np.array([np.linalg.det(R), 1.0, 1.0])
            found.append((R, (here + gap) * way))
            continue
        if isinstance(other, Sampled):
            there = float((other.points @ (R.T @ -way)).max())
        elif isinstance(other, Revolution):
            z = np.linspace(0.0, other.length, 400)
            r = 0.25 + 0.1 * np.cos(3.0 * z)
            n = R.T @ -way
            there = float((r * np.hypot(n[0], n[1]) + z * n[2]).max())
        else:
            there = support(other, R.T @ -way)
        found.append((R, (here + there + gap) * way))
    return found


def support(shape: Shape, n: Array) -> float:
    """How far a convex shape reaches along a unit vector."""
    point = shape.support((float(n[0]), float(n[1]), float(n[2]))).point
    return float(sum(float(p) * float(m) for p, m in zip(point, n, strict=True)))  # type: ignore[arg-type]


def looks(surface: Sampled, other: Shape, gap: float) -> float:
    """On the mean over the poses."""
    pair = SampledPair(surface, other)
    meeting = pair.meeting
    assert isinstance(meeting, Meeting)
    seen = []
    for R, c in poses(surface, other, gap * float(surface.bounding_radius())):
        meeting.pose(*pair.seen(R, c))
        meeting.empty(0)
        meeting.search(1)
        seen.append(meeting.looked)
    return float(np.mean(seen))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Count what searches look at.")
    parser.add_argument("--most", type=int, default=NUMBERS[-1])
    parser.add_argument("--surfaces", default=",".join(SURFACES))
    parser.add_argument("--partners", default=",".join(PARTNERS))
    arguments = parser.parse_args()
    numbers = [n for n in NUMBERS if n <= arguments.most]
    console = Console(width=120)
    table = Table(title="nodes looked at by one search")
    for column in ("surface", "partner", "gap", *(f"{n:,}" for n in numbers)):
        table.add_column(column, justify="right")
    for name in arguments.surfaces.split(","):
        for partner in arguments.partners.split(","):
            for gap in GAPS:
                row = []
                for n in numbers:
                    surface = SURFACES[name](n)
                    row.append(looks(surface, PARTNERS[partner] or surface, gap))
                table.add_row(name, partner, f"{gap:g}", *(f"{x:.0f}" for x in row))
                console.print(f"{name:10} {partner:15} {gap:5g} " + " ".join(f"{x:9.0f}" for x in row))
    console.print(table)


if __name__ == "__main__":
    main()

"""Elastic throws of every pair of shapes by their fields: how well energy is kept, and what a throw costs.

    python -m benchmarks.throws [--count 300] [--only TEXT] [--limit 60]

Two bodies of 0.5 kg and 0.1 m meet at 2 m/s, off centre and turned at random, without gravity, damping or friction,
at tolerance 1e-8; on a plane and on a height field one body falls tumbling. The pairs follow each other until the count
is reached, each time with other rotations. A throw that takes longer than the limit [s] of processor time is ended and
counted. Printed: for each pair the largest change of energy over its first value, and processor time.
"""

from __future__ import annotations

import argparse
import itertools
import signal
import time
from collections.abc import Iterator

import numpy as np
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.contact import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    HeightField,
    Implicit,
    Mesh,
    Parametric,
    Part,
    Plane,
    Revolution,
    Sampled,
    Shape,
    Sphere,
    Superellipsoid,
    Torus,
    Union,
)
from bellcrank.errors import BellcrankError

MASS, INERTIA = 0.5, (1e-3, 1.5e-3, 2e-3)


def shapes() -> dict[str, Shape]:
    """One of every kind, some 0.1 m in size; the first two have no end and stay on the ground."""
    x = np.linspace(-1.0, 1.0, 41)
    k = np.arange(1500)
    z, turn = 1.0 - (2 * k + 1) / 1500, np.pi * (3.0 - np.sqrt(5.0)) * k
    u = np.stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z], axis=1)
    axes = np.array([0.09, 0.07, 0.06])
    return {
        "plane": Plane(),
        "height field": HeightField(0.02 * np.cos(6.0 * x)[:, None] * np.cos(5.0 * x), 0.05),
        "sphere": Sphere(0.08),
        "capsule": Capsule(0.04, 0.06),
        "ellipsoid": Ellipsoid(0.1, 0.07, 0.05),
        "superellipsoid": Superellipsoid(0.09, 0.07, 0.06, (4.0, 4.0)),
        "box": Box(0.1, 0.07, 0.05),
        "cylinder": Cylinder(0.06, 0.08),
        "cone": Cone(0.08, 0.08),
        "torus": Torus(0.08, 0.03),
        "revolution": Revolution(lambda z: 0.05 + 0.2 * z * (0.2 - z), 0.2),
        "implicit": Implicit(lambda x, y, z: (x / 0.1) ** 4 + (y / 0.08) ** 4 + (z / 0.06) ** 4 - 1.0, 0.15),
        "mesh": star(),
        "sampled": Sampled(u * axes, u / axes),
        "splines": ring(),
        "union": Union((Part(Box(0.08, 0.03, 0.03)), Part(Sphere(0.05), at=(0.08, 0.0, 0.0)))),
    }


def star() -> Mesh:
    """A solid with four blunt arms, which is not convex."""
    from bellcrank.contact.shapes.geodesic import geodesic

    ball = geodesic(0.15)
    turn = np.arctan2(ball.vertices[:, 1], ball.vertices[:, 0])
    flat = np.hypot(ball.vertices[:, 0], ball.vertices[:, 1])
    size = 0.07 * (1.0 + 0.35 * np.cos(4.0 * turn) * flat**2)
    return Mesh(ball.vertices * size[:, None], ball.faces)


def ring() -> Parametric:
    """A ring of B-splines."""
    a, b = np.meshgrid(2 * np.pi * np.arange(10) / 10, 2 * np.pi * np.arange(8) / 8, indexing="ij")
    r = 0.07 + 0.03 * np.cos(b)
    net = np.stack([r * np.cos(a), r * np.sin(a), 0.03 * np.sin(b)], axis=2)
    return Parametric.b_spline(net, around=(True, True))


def throw(a: Shape, b: Shape, seed: int) -> tuple[float, float]:
    """Largest change of energy over its first value, and the deepest penetration [m]."""
    turns = [Rotation.random(random_state=2 * seed + k).as_matrix() for k in (0, 1)]
    falls = isinstance(a, Plane | HeightField)
    system = bc.System("throw", gravity=(0.0, 0.0, -9.81 if falls else 0.0))
    right = system.body(
        "right",
        mass=MASS,
        inertia=INERTIA,
        at=(0.0, 0.0, 0.3) if falls else (0.2, 0.0, 0.0),
        rotation=turns[0],
    )
    system.free("right flight", system.ground, right)
    start = {"right flight": {"angular_velocity": (3.0, -2.0, 4.0)}}
    side = system.ground.shape(a, at=(-1.0, -1.0, 0.0) if isinstance(a, HeightField) else (0.0, 0.0, 0.0))
    if not falls:
        left = system.body("left", mass=MASS, inertia=INERTIA, at=(-0.2, 0.02, 0.0), rotation=turns[1])
        system.free("left flight", system.ground, left)
        side = left.shape(a)
        start["left flight"] = {"velocity": (2.0, 0.0, 0.0), "angular_velocity": (2.0, 1.0, -3.0)}
    system.contact("hit", side, right.shape(b), 1.0, treatment="continuous", method="field")
    run = system.simulate(0.5 if falls else 0.25, initial=start, tolerance=1e-8, output=200)
    energy = np.asarray(run["energy.total"])
    return float(np.abs(energy - energy[0]).max() / energy[0]), float(np.max(run["hit.penetration"]))


def pairs(count: int, only: str) -> Iterator[tuple[str, str, int]]:
    """Names of the shapes of each throw, and its number."""
    names = list(shapes())
    every = [
        pair
        for pair in itertools.combinations_with_replacement(names, 2)
        if pair[1] not in ("plane", "height field") and only in " on ".join(pair)
    ]
    for k in range(count):
        yield (*every[k % len(every)], k)


class SlowError(Exception):
    """A throw past its limit."""


def ended(signum: int, frame: object) -> None:
    raise SlowError


def main() -> None:
    parser = argparse.ArgumentParser(description="Elastic throws of every pair of shapes")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=float, default=60.0)
    given = parser.parse_args()
    known = shapes()
    signal.signal(signal.SIGVTALRM, ended)
    worst, times, failed, missed = 0.0, list[float](), 0, 0
    for a, b, seed in pairs(given.count, given.only):
        begin, said = time.process_time(), ""
        signal.setitimer(signal.ITIMER_VIRTUAL, given.limit)
        try:
            change, depth = throw(known[a], known[b], seed)
            said = f"{change:9.1e} {1e3 * depth:8.3f} mm"
            worst = max(worst, change) if depth > 0.0 else worst
            missed += depth <= 0.0
        except SlowError:
            failed, said = failed + 1, f"ended after {given.limit:g} s"
        except BellcrankError as error:
            failed, said = failed + 1, f"{type(error).__name__}: {error}"
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        times.append(time.process_time() - begin)
        print(f"{seed:4d} {a:>14} on {b:<14} {times[-1]:7.2f} s  {said}", flush=True)
    print(
        f"{len(times)} throws, {failed} failed, {missed} missed; worst change of energy {worst:.1e}; "
        f"processor time {np.median(times):.2f} s in the median, {max(times):.2f} s at most"
    )


if __name__ == "__main__":
    main()

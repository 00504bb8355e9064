"""Microseconds of one search for contact points near contact, against the number of samples: a table.

    python -m benchmarks.contact_times [--most 1000000] [--surfaces ellipsoid,...] [--partners plane,...] [--points 1,4]

The bodies overlap by OVERLAP of the size of the sampled one and turn by STEP from search to search; each search knows
the points of the one before, as in a run, and is the fastest of a few rounds. Beside the time stand the nodes looked at
and the clearance over the size of the body, which is how far a run goes before it searches again: time over clearance
is what a motion costs. The sampled partner is the ellipsoid.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from bellcrank.contact import Sampled
from bellcrank.contact.meeting_layout import HOLD, SEVERAL
from bellcrank.contact.search import SampledPair
from bellcrank.contact.shapes import Shape
from bellcrank.errors import ModelError
from benchmarks.contact_looks import NUMBERS, PARTNERS, SURFACES, poses

Array = NDArray[np.float64]
OVERLAP = 1e-4
STEP = np.deg2rad(0.05)
STEPS = 12
ROUNDS = 7
CASES = 3


def turned(R: Array, k: int) -> Array:
    """So many steps further about an axis askew to all."""
    axis = np.array([0.36, 0.48, 0.8])
    cross = np.cross(np.eye(3), axis)
    turn: Array = np.eye(3) + np.sin(k * STEP) * cross + (1.0 - np.cos(k * STEP)) * cross @ cross
    return turn @ R


def motion(pair: SampledPair, R: Array, c: Array) -> list[tuple[Array, Array]]:
    """Poses of the partner along a turn, each at that overlap."""
    found = []
    size = float(pair.source.bounding_radius())
    for k in range(STEPS):
        S = turned(R, k)
        gap, normal, *_ = pair(S, c)
        if gap == np.inf:
            raise ModelError("beyond a rim")
        found.append((S, c - (gap + OVERLAP * size) * normal))
    return found


def timed(surface: Sampled, other: Shape, points: int) -> tuple[float, float, float] | None:
    """Microseconds of a search, nodes it looks at and clearance over the size, on the mean; None where none is met."""
    pair = SampledPair(surface, other)
    meeting = pair.meeting
    size = float(surface.bounding_radius())
    times, looked, clear = [], [], []
    for R, c in poses(surface, other, 0.02 * size)[:CASES]:
        try:
            every = motion(pair, R, c)
        except ModelError:
            continue
        best = np.full(len(every), np.inf)
        for _ in range(ROUNDS):
            for k in range(points):
                meeting.empty(k)
            for m, pose in enumerate(every):
                meeting.pose(*pair.seen(*pose))
                began = time.perf_counter()
                came = meeting.search(points)
                best[m] = min(best[m], time.perf_counter() - began)
                if came >= SEVERAL:
                    break
                looked.append(meeting.looked)
                clear.append(meeting.clearance / size)
                for k in range(points):
                    row = meeting.slots[points + k].copy()
                    meeting.put(k, row[4:7], row[7:10], meeting.samples(points + k), row[HOLD : HOLD + 4])
        times += [t for t in best[1:] if t < np.inf]
    if not times:
        return None
    return 1e6 * float(np.mean(times)), float(np.mean(looked)), float(np.mean(clear))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Time searches near contact.")
    parser.add_argument("--most", type=int, default=NUMBERS[-1])
    parser.add_argument("--least", type=int, default=NUMBERS[0])
    parser.add_argument("--surfaces", default=",".join(SURFACES))
    parser.add_argument("--partners", default=",".join(PARTNERS))
    parser.add_argument("--points", default="1,4")
    arguments = parser.parse_args()
    numbers = [n for n in NUMBERS if arguments.least <= n <= arguments.most]
    console = Console(width=150)
    console.print("microseconds, (nodes looked at, clearance over size) of one search for " + str(numbers))
    for name in arguments.surfaces.split(","):
        for partner in arguments.partners.split(","):
            for points in map(int, arguments.points.split(",")):
                row = []
                for n in numbers:
                    surface = SURFACES[name](n)
                    found = timed(surface, PARTNERS[partner] or SURFACES["ellipsoid"](n), points)
                    row.append("-" if found is None else "{:.1f} ({:.0f}, {:.4f})".format(*found))
                console.print(f"{name:10} {partner:15} {points:2} " + " ".join(f"{x:>24}" for x in row))


if __name__ == "__main__":
    main()

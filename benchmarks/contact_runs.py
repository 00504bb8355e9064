"""Seconds of whole runs with sampled bodies in contact, and how often they search: a table.

    python -m benchmarks.contact_runs [--number 100000]

A ball of samples rolls on a plane for a second; a ball of samples rolls on another one for 0.3 s; a box
lies and slides on four points for half a second. The second call counts, whose programs are compiled.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from rich.console import Console

from bellcrank.contact import Sampled
from bellcrank.contact.meeting import Meeting
from bellcrank.mechanism import Mechanism
from bellcrank.model import System
from benchmarks.contact import samples

RADIUS = 0.1
LAW = {"stiffness": 1e6, "restitution": 0.5, "friction": 0.3, "treatment": "continuous"}


def ball(number: int) -> Sampled:
    """Of RADIUS."""
    points = samples(number)[0] / np.array([1.0, 0.8, 1.3])
    return Sampled(RADIUS * points, points)


def box(number: int) -> Sampled:
    """The vertices of a cube of 2 RADIUS with squares on its sides, normals averaged at edges and corners."""
    per = round((number / 6) ** 0.5)
    t = np.arange(per)
    every = np.stack(np.meshgrid(t, t, t, indexing="ij"), axis=3).reshape(-1, 3)
    sides = (every == per - 1).astype(float) - (every == 0)
    outer = np.abs(sides).sum(axis=1) > 0
    return Sampled(RADIUS * (2.0 * every[outer] / (per - 1) - 1.0), sides[outer])


def on_plane(shape: Sampled, points: int) -> Mechanism:
    """A body of 1 kg that lies on the ground."""
    system = System("on a plane")
    body = system.body("body", mass=1.0, inertia=(0.004,) * 3, at=(0.0, 0.0, RADIUS - 1e-5))
    system.free("flight", system.ground, body)
    system.contact("floor", system.ground.plane(), body.shape(shape), points=points, **LAW)  # type: ignore[arg-type]
    return system.mechanism()


def on_ball(shape: Sampled) -> Mechanism:
    """A ball that lies on another one."""
    system = System("on a ball")
    body = system.body("body", mass=1.0, inertia=(0.004,) * 3, at=(0.0, 0.0, 2.0 * RADIUS - 1e-5))
    system.free("flight", system.ground, body)
    system.contact("floor", system.ground.shape(shape), body.shape(shape), **LAW)  # type: ignore[arg-type]
    return system.mechanism()


def timed(mechanism: Mechanism, duration: float, speed: float, spin: float) -> tuple[float, int, float]:
    """Seconds of the second run, how many searches, and where it ended."""
    start = {"flight": {"velocity": (speed, 0.0, 0.0), "angular_velocity": (0.0, spin, 0.0)}}
    best = np.inf
    for _ in range(3):
        began = time.perf_counter()
        run = mechanism.simulate(
            duration, initial=start, integrator="runge_kutta5", tolerance=1e-6, output=20
        )
        best = min(best, time.perf_counter() - began)
    counts = [0]
    search = Meeting.search

    def counted(self: Meeting, points: int) -> int:
        counts[0] += 1
        return search(self, points)

    Meeting.search = counted  # type: ignore[method-assign]
    mechanism.simulate(duration, initial=start, integrator="runge_kutta5", tolerance=1e-6, output=20)
    Meeting.search = search  # type: ignore[method-assign]
    return best, counts[0], float(run["body.position.x"][-1])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Time runs with sampled bodies in contact.")
    parser.add_argument("--number", type=int, default=100_000)
    number = parser.parse_args().number
    console = Console(width=120)
    round_one = ball(number)
    cases = {
        "ball rolls on a plane, 1 s": (on_plane(round_one, 1), 1.0, 1.0, 1.0 / RADIUS),
        "ball rolls on a ball, 0.3 s": (on_ball(round_one), 0.3, 0.2, 0.2 / RADIUS),
        "box slides on four points, 0.5 s": (on_plane(box(number), 4), 0.5, 1.0, 0.0),
    }
    for name, case in cases.items():
        seconds, searches, x = timed(*case)
        console.print(f"{name:40} {seconds:.3f} s, {searches} searches, ends at x = {x:.9f}")


if __name__ == "__main__":
    main()

"""Seconds of whole runs with sampled bodies in contact, and how often they are evaluated: a table.

    python -m benchmarks.contact_runs [--number 100000]

A ball of samples rolls on a plane for a second; a ball of samples rolls on another one for 0.3 s; a box slides by its
field for half a second. The fastest of three runs counts, whose programs are compiled.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from rich.console import Console

from bellcrank.contact import Sampled
from bellcrank.contact.shapes import Box, Shape
from bellcrank.mechanism import Mechanism
from bellcrank.model import System
from benchmarks.contact import samples

RADIUS = 0.1
LAW = {"restitution": 0.5, "friction": 0.3, "treatment": "continuous"}


def ball(number: int) -> Sampled:
    """Of RADIUS."""
    points = samples(number)[0] / np.array([1.0, 0.8, 1.3])
    return Sampled(RADIUS * points, points)


def on_plane(shape: Shape, **law: float) -> Mechanism:
    """A body of 1 kg that lies on the ground."""
    system = System("on a plane")
    body = system.body("body", mass=1.0, inertia=(0.004,) * 3, at=(0.0, 0.0, RADIUS - 1e-5))
    system.free("flight", system.ground, body)
    system.contact("floor", system.ground.plane(), body.shape(shape), **LAW, **law)  # type: ignore[arg-type]
    return system.mechanism()


def on_ball(shape: Sampled) -> Mechanism:
    """A ball that lies on another one."""
    system = System("on a ball")
    body = system.body("body", mass=1.0, inertia=(0.004,) * 3, at=(0.0, 0.0, 2.0 * RADIUS - 1e-5))
    system.free("flight", system.ground, body)
    system.contact("floor", system.ground.shape(shape), body.shape(shape), stiffness=1e6, **LAW)  # type: ignore[arg-type]
    return system.mechanism()


def timed(mechanism: Mechanism, duration: float, speed: float, spin: float) -> tuple[float, int, float]:
    """Seconds of the fastest run, how many evaluations, and where it ended."""
    start = {"flight": {"velocity": (speed, 0.0, 0.0), "angular_velocity": (0.0, spin, 0.0)}}
    best = np.inf
    for _ in range(3):
        began = time.perf_counter()
        run = mechanism.simulate(
            duration, initial=start, integrator="runge_kutta5", tolerance=1e-6, output=20
        )
        best = min(best, time.perf_counter() - began)
    return best, run.run.evaluations, float(run["body.position.x"][-1])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Time runs with sampled bodies in contact.")
    parser.add_argument("--number", type=int, default=100_000)
    number = parser.parse_args().number
    console = Console(width=120)
    round_one = ball(number)
    cases = {
        "ball rolls on a plane, 1 s": (on_plane(round_one, stiffness=1e6), 1.0, 1.0, 1.0 / RADIUS),
        "ball rolls on a ball, 0.3 s": (on_ball(round_one), 0.3, 0.2, 0.2 / RADIUS),
        "box slides by its field, 0.5 s": (on_plane(Box(RADIUS, RADIUS, RADIUS)), 0.5, 1.0, 0.0),
    }
    for name, case in cases.items():
        seconds, evaluations, x = timed(*case)
        console.print(f"{name:40} {seconds:.3f} s, {evaluations} evaluations, ends at x = {x:.9f}")


if __name__ == "__main__":
    main()

"""Granular column: how far a column of discs spreads when it is let go, and how steep the heap is.

Discs of about 1 cm and friction 0.5 in a plane, restitution 0.3, laid in rows and shaken by their unequal sizes; the
column stands between a wall and the open floor, about as high as it is wide; discs fixed to the floor make it rough. By
steps of 1 ms. The front is that of the heap, without grains that roll off alone, in the mean of four columns: that of
one differs by a tenth, and with rounding as much. It runs out by 1.2 times the height in channels of sand and glass
(Lube; Lajeunesse), and by 2.5 times in simulations of discs (Staron, Hinch); the free surface is flatter than the angle
of friction of the grains, 26.6 degrees.

Source: Lube, Huppert, Sparks, Freundt (2005), "Collapses of two-dimensional granular columns", Phys. Rev. E 72, 041301;
Lajeunesse, Monnier, Homsy (2005), "Granular slumping on a horizontal surface", Phys. Fluids 17, 103302; Staron, Hinch
(2005), "Study of the collapse of granular columns using two-dimensional discrete-grain simulation", J. Fluid Mech. 545.
"""

from __future__ import annotations

import math
import warnings
from itertools import pairwise

import numpy as np

from bellcrank.model import System
from bellcrank.result.result import Result
from bellcrank.verify.cases import Quantity, Within

COLUMNS, ROWS, RADIUS, FRICTION = 12, 12, 0.005, 0.5


COUNT, DURATION = 4, 1.0
"""Columns over which run-out and angle are averaged, and how long they collapse [s]: ten times sqrt(height / g)."""


def column(seed: int) -> System:
    """A column against a wall, on a rough floor."""
    rng = np.random.default_rng(seed)
    system = System("column", gravity=(0.0, -9.81, 0.0))
    for row in range(ROWS):
        for k in range(COLUMNS):
            r = RADIUS * rng.uniform(0.85, 1.0)
            x, y = RADIUS * (2.0 * k + 1.0 + row % 2), RADIUS * (1.0 + 1.75 * row)
            disc = system.body(
                f"disc {row} {k}", mass=1e3 * r * r, inertia=(500.0 * r**4,) * 3, at=(x, y, 0.0)
            )
            system.planar(f"plane {row} {k}", system.ground, disc, axis="z")
            disc.collides(disc.sphere(r))
    system.ground.collides(system.ground.plane(normal=(1.0, 0.0, 0.0)))
    for k in range(5 * COLUMNS):
        system.ground.collides(system.ground.sphere(RADIUS, at=(RADIUS * (2 * k + 1), -RADIUS, 0.0)))
    system.contacts_between(restitution=0.3, friction=FRICTION)
    return system


def heap(system: System, run: Result) -> tuple[float, float]:
    """Run-out over the height, and the slope of the surface."""
    places = np.array([np.asarray(run[f"{name}.position"])[:, :2] for name in system.bodies])
    width, height = (float(places[:, 0, i].max()) + RADIUS for i in (0, 1))
    x, y = places[:, -1].T
    # The heap ends where the next grain is more than two grains away: one that rolls off alone is not of it.
    along = np.sort(x)
    alone = np.flatnonzero(np.diff(along) > 6.0 * RADIUS)
    front = float(along[alone[0] if len(alone) else -1]) + RADIUS
    edges = np.linspace(0.0, front, 9)
    middles = 0.5 * (edges[1:] + edges[:-1])
    tops = [float(y[(x >= a) & (x < b)].max(initial=0.0)) for a, b in pairwise(edges)]
    return (front - width) / height, -float(np.polyfit(middles, tops, 1)[0])


def quantities() -> list[Quantity]:
    """Run-out over the height, the angle of the surface, and what the solver left."""
    runs, shapes, lasting = [], [], []
    for seed in range(COUNT):
        system = column(seed)
        with warnings.catch_warnings():
            # What it warns of, steps whose impulses miss their tolerance, is a quantity below.
            warnings.simplefilter("ignore", UserWarning)
            run = system.simulate(DURATION, impacts="stepping", step=1e-3, output=10)
        runs.append(run.run)
        shapes.append(heap(system, run))
        lasting.append(float(run["energy.kinetic"][-1] / np.max(run["energy.kinetic"])))
    run_out, slope = np.mean(shapes, axis=0).tolist()
    unsolved, steps = sum(run.unsolved for run in runs), sum(run.steps for run in runs)
    at_most = Within.AT_MOST
    return [
        Quantity("run_out_at_least", run_out, 1.2, 0.0, "height", Within.AT_LEAST),
        Quantity("run_out_at_most", run_out, 2.5, 0.0, "height", at_most),
        Quantity(
            "angle", math.degrees(math.atan(slope)), math.degrees(math.atan(FRICTION)), 0.0, "deg", at_most
        ),
        Quantity("kinetic_energy_left", max(lasting), 0.02, 0.0, "", at_most),
        Quantity("penetration", max(run.penetration for run in runs), 1e-6, 0.0, "size", at_most),
        # The pile is chaotic, so these differ with rounding: a twentieth of the steps, by two digits of 1e-6.
        Quantity("steps_beyond_tolerance", unsolved / steps, 0.05, 0.0, "", at_most),
        Quantity("residual", max(run.residual for run in runs), 1e-4, 0.0, "fastest speed", at_most),
    ]

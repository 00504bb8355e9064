"""Sphere known by its samples: error of gap and normal against their number, for both surfaces over samples.

A sphere of 1 m, given by points, is brought near a ball of 0.5 m in random directions, where gap and normal are known.
The surface through the samples has a gap of fourth order in their distance and a normal of third order. The patch of
Park, Shin, Sohn and Yoo, whose control points are the samples, lies inside by (h1^2 + h2^2) / 4 at a sample and stays
of second order. Then the ball, a tenth as large, of 2000 samples, bounces off a plane a hundred times as it spins,
without loss; of 8000 samples it rolls on it, and its energy and its load hardly waver.

Source: geometry of spheres; the middle of a quadratic patch over 3 x 3 points of a sphere (Park, Shin, Sohn, Yoo 2003,
equations 1 to 3) by Taylor's series.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from bellcrank.contact import ClosestKernel, Sampled, Sphere
from bellcrank.contact.bezier import BezierGrid
from bellcrank.model import System
from bellcrank.verify.cases import Quantity, Within

Array = NDArray[np.float64]
NUMBERS = (500, 2000, 8000)
ROWS = (16, 32, 64)
TRIES = 60
OTHER = 0.5


def on_sphere(number: int) -> Array:
    """Points of a unit sphere, spread evenly (Fibonacci's lattice)."""
    k = np.arange(number)
    z, turn = 1.0 - (2 * k + 1) / number, np.pi * (3.0 - np.sqrt(5.0)) * k
    r = np.sqrt(1.0 - z * z)
    return np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)


def globe(rows: int) -> Array:
    """A grid of points between the poles, twice as many columns as rows."""
    polar = np.linspace(0.0, np.pi, rows + 2)[1:-1, None]
    turn = np.linspace(0.0, 2.0 * np.pi, 2 * rows, endpoint=False)
    parts = np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar) + 0.0 * turn
    return np.stack(parts, axis=2)


def errors(sphere: Sampled | BezierGrid, steepest: float = 1.0) -> tuple[float, float]:
    """Root mean square errors of gap and normal in random poses; steepest: |z| of the directions."""
    pair, random = ClosestKernel(sphere, Sphere(OTHER)), np.random.default_rng(1)
    gaps: list[float] = []
    normals: list[float] = []
    while len(gaps) < TRIES:
        R = Rotation.random(random_state=random).as_matrix()
        gap, way = random.uniform(-0.02, 0.1), random.normal(size=3)
        way /= np.linalg.norm(way)
        if abs(way[2]) > steepest:
            continue
        found = pair(np.eye(3), np.zeros(3), R, (1.0 + OTHER + gap) * way)
        gaps.append(found.distance - gap)
        normals.append(float(np.linalg.norm(found.normal - way)))
    return float(np.sqrt(np.mean(np.square(gaps)))), float(np.sqrt(np.mean(np.square(normals))))


def ball_on_floor(number: int, radius: float = 0.1, **contact: object) -> System:
    """A ball of so many samples just above the floor."""
    points = on_sphere(number)
    system = System("sampled ball", gravity=(0.0, 0.0, -9.81))
    ball = system.body("ball", mass=1.0, inertia=(0.4 * radius**2,) * 3, at=(0.0, 0.0, 1.02 * radius))
    system.free("flight", system.ground, ball)
    system.contact(
        "floor",
        system.ground.plane(),
        ball.shape(Sampled(radius * points, points)),
        treatment="continuous",
        law="hertz",
        stiffness=1e7,
        **contact,  # type: ignore[arg-type]
    )
    return system


def energies() -> tuple[int, float, float, float]:
    """Contacts of the bouncing ball and how its energy wavers; the same and the load of the rolling one."""
    bouncing = ball_on_floor(2000).simulate(
        4.8,
        initial={"flight": {"velocity": (0.3, 0.0, 0.0), "angular_velocity": (0.0, 3.0, 1.0)}},
        tolerance=1e-9,
        formulation="recursive",
    )
    contacts = sum(event.name == "floor: touch" for event in bouncing.events)
    depth = (9.81 / 1e7) ** (2.0 / 3.0)
    rolling = ball_on_floor(8000, friction=0.3).simulate(
        0.3,
        initial={
            "flight": {
                "position": (0.0, 0.0, 0.1 - depth),
                "velocity": (0.5, 0.0, 0.0),
                "angular_velocity": (0.0, 5.0, 0.0),
            }
        },
        tolerance=1e-9,
        formulation="recursive",
    )
    kept, kept_rolling = (
        float(np.ptp(run["energy.total"]) / run["energy.kinetic"].max()) for run in (bouncing, rolling)
    )
    return contacts, kept, kept_rolling, float(np.abs(rolling["floor.normal_force"] / 9.81 - 1.0).max())


def quantities() -> list[Quantity]:
    """Errors against the number of samples with their orders, then energies."""
    rows = []
    through = []
    for number in NUMBERS:
        points = on_sphere(number)
        through.append(errors(Sampled(points, points)))
        rows += [
            Quantity(f"gap_{number}", through[-1][0], 0.0, 1.2e-4 * (500 / number) ** 2, "m"),
            Quantity(f"normal_{number}", through[-1][1], 0.0, 1.5e-3 * (500 / number) ** 1.5),
        ]
    patches = []
    for number in ROWS:
        # Between the poles, where neighbours lie about as far apart in both directions.
        patches.append(errors(BezierGrid(globe(number), around=True), steepest=0.5)[0])
        rows.append(
            Quantity(f"bezier_gap_{number}_rows", patches[-1], 0.0, 0.6 * (np.pi / (number + 1)) ** 2, "m")
        )
    gaps, normals = (np.log2(through[-2][k] / through[-1][k]) for k in (0, 1))
    contacts, bouncing, rolling, load = energies()
    return [
        *rows,
        Quantity("gap_order", float(gaps), 4.0, 0.4),
        Quantity("normal_order", float(normals), 3.0, 0.4),
        Quantity("bezier_gap_order", float(np.log2(patches[-2] / patches[-1])), 2.0, 0.2),
        Quantity("contacts", contacts, 100, 0.0, "", Within.AT_LEAST),
        Quantity("bouncing_energy", bouncing, 1e-4, 0.0, "", Within.AT_MOST),
        Quantity("rolling_energy", rolling, 1e-4, 0.0, "", Within.AT_MOST),
        Quantity("rolling_load", load, 5e-3, 0.0, "", Within.AT_MOST),
    ]

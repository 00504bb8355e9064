"""Searches for contact points are traced and compiled once: sizes of programs."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.contact.closest import closest
from bellcrank.math.tuples import mat, vec
from bellcrank.model import System
from bellcrank.program.subprogram import called


def ellipsoids(number: int, **sizes: float) -> System:
    """All of which may touch each other."""
    system = System("ellipsoids")
    shapes = []
    for k in range(number):
        body = system.body(f"body {k}", mass=1.0, inertia=(1e-3,) * 3, at=(0.3 * k, 0.0, 0.0))
        system.free(f"flight {k}", system.ground, body)
        shapes.append(body.ellipsoid(0.1, 0.08, sizes.get(f"c{k}", 0.06)))
        for j in range(k):
            system.contact(f"{j} {k}", shapes[j], shapes[k], treatment="continuous", stiffness=1e5)
    return system


def test_equal_pairs_share_their_search() -> None:
    sizes = []
    for number in (2, 3, 4):
        rates = ellipsoids(number).mechanism().traced("recursive").rates
        assert len(called(rates)) == 1
        sizes.append(len(rates.operations) / (number * (number - 1) / 2))
    assert sizes[2] < 1.2 * sizes[1] < 1.44 * sizes[0]
    assert sizes[2] < 600
    other = ellipsoids(3, c2=0.05).mechanism().traced("recursive").rates
    assert len(called(other)) == 2


def test_programs_grow_in_proportion_to_contacts() -> None:
    def operations(number: int) -> int:
        system = System("balls")
        for k in range(number):
            ball = system.body(f"ball {k}", mass=1.0, inertia=(1e-3,) * 3, at=(0.3 * k, 0.0, 0.2))
            system.free(f"flight {k}", system.ground, ball)
            system.contact(
                f"floor {k}", system.ground.plane(), ball.sphere(0.1),
                treatment="continuous", stiffness=1e5, restitution=0.5, friction=0.3,
            )  # fmt: skip
        return len(system.mechanism().traced("recursive").rates.operations)

    two, four, eight = (operations(n) for n in (2, 4, 8))
    assert four == 2 * two
    assert eight == 4 * two


def test_numbers_need_no_call() -> None:
    """Where a pose is known there is nothing to trace: two ellipsoids 1 mm apart."""
    from bellcrank.contact import Ellipsoid

    unit = mat(np.eye(3).tolist())
    found = closest(
        Ellipsoid(0.3, 0.2, 0.1),
        unit,
        vec([0.0, 0.0, 0.0]),
        Ellipsoid(0.1, 0.1, 0.1),
        unit,
        vec([0, 0, 0.201]),
    )
    assert float(found.distance) == pytest.approx(1e-3, rel=1e-9)

"""The random mechanisms are closed, movable, and the reference's own terms fit together on them."""

from __future__ import annotations

import numpy as np
import pytest

from reference.engine import Engine, row_space, turn
from reference.mechanisms import FAMILIES, mechanism
from reference.newton_euler import residuals, solve
from reference.states import random_state, start_poses


@pytest.mark.parametrize("family", FAMILIES)
def test_closed_in_the_start_pose(family: str) -> None:
    system = mechanism(family, 1)
    system.check()
    poses = start_poses(system)
    rest = {name: (np.zeros(3), np.zeros(3)) for name in poses}
    for name, (position, _) in residuals(system, None, 0.0, poses, rest).items():
        assert np.abs(position).max(initial=0.0) < 1e-12, name


@pytest.mark.parametrize("family", FAMILIES)
def test_accelerations_keep_the_loops_closed(family: str) -> None:
    """Along r + v h + a h^2/2 the residuals of all constraints are of third order in h."""
    system = mechanism(family, 2)
    poses, velocities = random_state(system, None, 0.2, np.random.default_rng(5), 0.05)
    found = solve(system, None, 0.2, poses, velocities).accelerations

    def miss(h: float) -> float:
        moved = {}
        for name, (r, R) in poses.items():
            (v, w), (a, alpha) = velocities[name], found[name]
            # Magnus expansion to third order: w(t) = w + alpha t.
            angle = w * h + alpha * h**2 / 2 - np.cross(w, alpha) * h**3 / 12
            moved[name] = (r + v * h + a * h**2 / 2, turn(angle) @ R)
        errors = residuals(system, None, 0.2 + h, moved, velocities).values()
        return max(float(np.abs(e[0]).max(initial=0.0)) for e in errors)

    fast = max([1.0, *(np.abs(np.concatenate([*velocities[n], *found[n]])).max() for n in found)])
    h = 2e-3 / np.sqrt(fast)
    assert miss(h) < 1e-12 + miss(2 * h) / 6.0


def test_overconstrained_linkages_move() -> None:
    for family, freedoms, redundant in (("bennett", 1, 3), ("bricard", 1, 1), ("parallel cranks", 1, 7)):
        system = mechanism(family, 3)
        poses, velocities = random_state(system, None, 0.0, np.random.default_rng(1), 0.3)
        J, _ = Engine(system, None, 0.0, poses, velocities).constraint_rows()
        rank = row_space(J)[1].size
        assert (J.shape[1] - rank, J.shape[0] - rank) == (freedoms, redundant), family

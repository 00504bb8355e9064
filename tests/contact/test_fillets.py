"""Where a flat side runs into a fillet the curvature jumps: contact points stay, however coarse the samples."""

import math

import numpy as np
import pytest

from bellcrank.contact import Sampled, Sphere
from bellcrank.contact.search import SampledPair

ARC = 4e-3
"""Radius of the fillet [m]; the plate is level for x < 0 and falls vertically behind the fillet."""
BALL = 0.1


def plate(apart: float) -> Sampled:
    """Along the profile and across it in rows so far apart [m]."""
    s = np.arange(-30e-3, 0.5 * math.pi * ARC + 20e-3, apart)
    turn = np.clip(s / ARC, 0.0, 0.5 * math.pi)
    x = np.where(s < 0.0, s, ARC * np.sin(turn))
    y = ARC * (np.cos(turn) - 1.0) - np.maximum(s - 0.5 * math.pi * ARC, 0.0)
    z = np.arange(-10e-3, 10e-3 + 0.5 * apart, apart)
    grid = np.stack([np.broadcast_to(v, (len(z), len(s))).T for v in (x, y)], axis=2)
    points = np.dstack([grid, np.broadcast_to(z, (len(s), len(z)))])
    sampled = Sampled.from_grid(points)
    return sampled if sampled.normals[len(z) // 2, 1] > 0.0 else Sampled.from_grid(points[:, ::-1])


def gap(x: float, y: float) -> float:
    """Between the plate and a ball with its centre there: that of a line, an arc, a line."""
    if x < 0.0:
        return y - BALL
    if y < -ARC:
        return x - ARC - BALL
    return math.hypot(x, y + ARC) - ARC - BALL


@pytest.mark.parametrize("apart", [4e-4, 6e-4, 8e-4])
@pytest.mark.parametrize("depth", [-1e-3, 0.0, 2e-5])
def test_contact_point_rolls_over_the_beginning_of_a_fillet(apart: float, depth: float) -> None:
    """Searched anew and followed; the surface through samples is off by some hundredths of jump x spacing squared, and
    may be lowest at two places beside each other."""
    pair, last = SampledPair(plate(apart), Sphere(BALL)), None
    for angle in np.linspace(-0.06, 0.5, 81):
        reach = BALL - depth
        if angle < 0.0:
            centre = np.array([reach * angle, reach, 1e-4])
        else:
            centre = np.array([(ARC + reach) * math.sin(angle), (ARC + reach) * math.cos(angle) - ARC, 1e-4])
        expected = gap(centre[0], centre[1])
        found = pair.contacts(np.eye(3), centre, 1)[0][0]
        assert found.hold[0] == 2.0
        assert found.gap == pytest.approx(expected, abs=0.03 * apart * apart / ARC)
        if last is not None:
            again = pair.refined(np.eye(3), centre, last.x, last.y, last.sample, last.hold, last.partner)
            assert again.gap == pytest.approx(expected, abs=0.03 * apart * apart / ARC)
        last = found

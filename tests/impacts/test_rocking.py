"""A box that rocks from foot to foot comes to rest: impacts without end in a finite time, within others without end.

Impulses p at its feet change their speeds by W p, W = [[1, -c], [-c, 1]] w, with c = -W_ab / W_aa. While one foot rests
the other falls with (1 + c) g. Struck at v it parts with e v; the first is pressed down with c (1 + e) v and strikes,
which takes c^2 (1 + e)^2 v from the other; its bounces, which end before the other is back, take what is left. As the
height of the one plus c times that of the other does not feel impulses at the other, the next strike is at r v,

    r = e - c^2 (1 + e),  after 2 r v / ((1 + c) g).
"""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from bellcrank.impacts.checks import TOUCHING
from bellcrank.model import System

G = 9.81
HALF = 0.1


def box(restitution: float, friction: float, angle: float, above: float = 0.0) -> System:
    """Of 1 kg and 0.2 m by 0.2 m in the plane, on its lower corner or above it."""
    system = System("box", gravity=(0.0, -G, 0.0))
    high = HALF * (math.cos(angle) + math.sin(angle)) + above
    body = system.body("box", mass=1.0, inertia=(2.0 * HALF**2 / 3.0,) * 3, at=(0.0, high, 0.0), angle=angle)
    system.planar("plane", system.ground, body, axis="z")
    for name, x in (("left", -HALF), ("right", HALF)):
        corner = body.circle(1e-9, at=(x, -HALF, 0.0))
        system.contact(name, system.ground.line(), corner, restitution=restitution, friction=friction)
    return system


@pytest.mark.parametrize("e", [0.2, 0.3, 0.5])
def test_rocking_without_friction_ends_when_it_should(e: float) -> None:
    angle, c = 1e-3, 0.2
    run = box(e, 0.0, angle, 1e-9).simulate(0.3, output=1)
    fall = math.sqrt(2.0 * (1.0 + c) * G * 2.0 * HALF * math.sin(angle))
    r = e - c * c * (1.0 + e)
    end = (fall + 2.0 * r * fall / (1.0 - r)) / ((1.0 + c) * G)
    assert run.contact_changes[-1].what == "rest"
    # Bounces no higher than what counts as touching are left out; and the feet stand a little aslant at first.
    lowest = math.sqrt(2.0 * G * TOUCHING * math.sqrt(2.0) * HALF)
    unseen = 2.0 * lowest / ((1.0 + c) * G * (1.0 - r))
    assert run.contact_changes[-1].time == pytest.approx(end, abs=unseen + 0.5 * angle * end)
    assert run["energy.kinetic"][-1] < 1e-20
    assert run["box.position.y"][-1] == pytest.approx(HALF, abs=2e-9)
    assert len(run.impacts) < 400
    strikes = [
        c.speed_before
        for i in run.impacts
        for c in i.contacts
        if c.contact == "right" and c.speed_before < -5e-2 * fall
    ]
    ratios = [after / before for before, after in pairwise(strikes)]
    assert ratios == pytest.approx([r] * len(ratios), rel=1e-3)
    assert ratios


@pytest.mark.parametrize("friction", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("e", [0.0, 0.3, 0.5, 0.8])
def test_rocking_loses_energy_until_it_stands(e: float, friction: float) -> None:
    """Whatever is left of its bounces and slips when contacts begin to last gives it nothing back."""
    run = box(e, friction, 0.1, 1e-4).simulate(2.0, output=400)
    energy = run["energy.total"]
    assert max(after - before for before, after in pairwise(energy)) < 1e-8
    assert run["box.position.y"][-1] == pytest.approx(HALF, abs=2e-9)
    assert len(run.impacts) < 1500
    if friction > 0.0:
        assert run["energy.kinetic"][-1] < 1e-20

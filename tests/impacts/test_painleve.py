"""Painleve's paradox: a rod that slides on one end, too rough to slide on, strikes without a collision.

Sources: Painleve (1895); Lecornu (1905); Genot and Brogliato (1999), "New results on Painleve paradoxes": critical
friction 4/3 of a uniform rod; Champneys and Varkonyi (2016), "The Painleve paradox in contact mechanics": the limit of
stiff contacts.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from bellcrank import SimulationError
from bellcrank.impacts.lasting import digging
from bellcrank.model import System
from bellcrank.result.result import Result
from impacts.models import TIGHT, G

TIP = 1e-9
HALF = 0.5


def rod(friction: float, angle: float, restitution: float = 0.0, law: str = "newton") -> System:
    """A uniform rod of 1 kg and 1 m whose lower end touches the line y = 0."""
    system = System("rod", gravity=(0.0, -G, 0.0))
    at = (0.0, HALF * math.sin(angle) + TIP, 0.0)
    body = system.body("rod", mass=1.0, inertia=(1.0 / 12.0,) * 3, at=at, angle=angle)
    system.planar("plane", system.ground, body, axis="z")
    tip = body.circle(TIP, at=(-HALF, 0.0, 0.0))
    system.contact("tip", system.ground.line(), tip, restitution=restitution, friction=friction, law=law)
    return system


def slid(system: System, speed: float, duration: float = 1e-6) -> Result:
    return system.simulate(duration, initial={"plane": {"x": (0.0, speed)}}, output=4, **TIGHT)


def delassus(angle: float) -> np.ndarray:
    """Of the lower end, normal and tangent: 1/m + (arm)^2 / I in closed form."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1.0 + 3.0 * c * c, -3.0 * s * c], [-3.0 * s * c, 1.0 + 3.0 * s * s]])


def test_critical_friction_of_a_uniform_rod() -> None:
    """4/3, at tan(angle) = 2: below it no angle jams, above it that one does."""
    angles = np.append(np.linspace(0.01, 1.56, 2001), math.atan(2.0))
    for share, jams in ((1.0 - 1e-9, False), (1.0 + 1e-9, True)):
        mu = 4.0 / 3.0 * share
        found = [a for a in angles if digging(delassus(a), mu, np.array([[-1.0]]))]
        assert bool(found) is jams
    assert found == [math.atan(2.0)]


@pytest.mark.parametrize(("share", "impacts"), [(1.0 - 1e-6, 0), (1.0 + 1e-6, 1)])
def test_runs_jam_from_there_on(share: float, impacts: int) -> None:
    result = slid(rod(4.0 / 3.0 * share, math.atan(2.0)), -5.0, 1e-12)
    assert len(result.impacts) == impacts


def test_the_end_is_caught_and_the_rod_turns_over_it() -> None:
    """Nothing turns about the end that is caught: its angular momentum there gives 3 v sin / (4 l)."""
    angle, v = math.radians(60.0), -5.0
    result = slid(rod(1.9, angle), v, 0.05)
    (impact,) = result.impacts
    x, y, w = impact.speeds_after
    spin = -3.0 * v * math.sin(angle) / (4.0 * HALF)
    assert w == pytest.approx(spin, rel=1e-8)
    assert x == pytest.approx(-spin * HALF * math.sin(angle), rel=1e-8)
    assert y == pytest.approx(spin * HALF * math.cos(angle), rel=1e-8)
    (tip,) = impact.contacts
    assert tip.speed_before == 0.0
    assert abs(tip.speed_after) < 1e-12
    assert impact.energy_before - impact.energy_after == pytest.approx(
        0.5 * v * v - 0.5 * (1.0 / 3.0) * spin**2, rel=1e-8
    )
    # The end is lifted at once: w^2 l sin(angle) > g.
    assert spin**2 * HALF * math.sin(angle) > G
    assert result["tip.gap"][-1] > 0.0
    assert result.ledger.relative_residual < 1e-12


def test_dragged_the_other_way_it_slides_on() -> None:
    result = slid(rod(1.9, math.radians(60.0)), 5.0, 0.1)
    assert not len(result.impacts)
    assert [c.what for c in result.contact_changes] == ["rest"]


@pytest.mark.parametrize("law", ["poisson", "stronge"])
def test_restitution_of_what_was_compressed(law: str) -> None:
    """Slip to its stop, sticking to the greatest compression, then e of it back, in closed form."""
    angle, v, mu, e = math.radians(60.0), -5.0, 1.9, 0.5
    (impact,) = slid(rod(mu, angle, e, law), v).impacts
    W = delassus(angle)
    sliding = W @ [1.0, mu]
    first = -v / sliding[1]
    stuck = np.array([1.0, -W[1, 0] / W[1, 1]])
    steep = float(W[0] @ stuck)
    depth = sliding[0] * first
    second = -depth / steep
    if law == "poisson":
        back = e * (first + second)
    else:
        spent = 0.5 * sliding[0] * first**2 - 0.5 * depth**2 / steep
        back = math.sqrt(-2.0 * e * e * spent / steep)
    (tip,) = impact.contacts
    assert tip.impulse == pytest.approx(first + second + back, rel=1e-7)
    assert tip.speed_after == pytest.approx(steep * back, rel=1e-7)
    assert impact.energy_after < impact.energy_before


def test_it_is_the_limit_of_stiff_ground() -> None:
    """Ground as an elastic spring under the end, ever stiffer: it leaves as the energetic law with e = 1 says."""
    angle, v, mu = math.radians(60.0), -5.0, 1.9
    (impact,) = slid(rod(mu, angle, 1.0, "stronge"), v).impacts

    def missed(stiffness: float) -> float:
        def rates(t: float, z: np.ndarray) -> np.ndarray:
            _, y, phi, vx, vy, w = z
            ax, ay = -HALF * math.cos(phi), -HALF * math.sin(phi)
            N = stiffness * max(-(y + ay), 0.0)
            F = -mu * N * math.tanh((vx - w * ay) / 1e-5)
            return np.array([vx, vy, w, F, N - G, 12.0 * (ax * N - ay * F)])

        def parts(t: float, z: np.ndarray) -> float:
            return float(z[1] - HALF * math.sin(z[2])) - 1e-12

        parts.terminal, parts.direction = True, 1  # type: ignore[attr-defined]
        start = np.array([0.0, HALF * math.sin(angle) - G / stiffness, angle, v, 0.0, 0.0])
        span = (0.0, 200.0 / math.sqrt(stiffness))
        found = solve_ivp(rates, span, start, "Radau", rtol=1e-8, atol=1e-13, events=parts)
        assert found.status == 1
        return float(np.abs(found.y[3:, -1] - impact.speeds_after).max())

    soft, stiff = missed(1e8), missed(1e10)
    assert stiff < 2e-3
    assert stiff < 0.2 * soft


def test_a_lock_is_told() -> None:
    """An arm that a driven belt pulls under itself: no impulse stops the belt, and the error says so."""
    system = System("sprag", gravity=(0.0, -G, 0.0))
    arm = system.body("arm", mass=1.0, inertia=(0.1,) * 3, at=(-0.25, 0.5, 0.0))
    belt = system.body("belt", mass=1.0, inertia=(1.0,) * 3, at=(0.0, -0.001, 0.0))
    system.revolute("pivot", system.ground, arm, at=(0.0, 1.0, 0.0))
    system.prismatic("track", system.ground, belt, axis="x")
    system.driver("track", lambda t: 1.0 * t, name="motor")
    tip = arm.circle(0.001, at=(-0.25, -0.5, 0.0))
    system.contact("sole", belt.line(at=(0.0, 0.0, 0.0)), tip, friction=0.9)
    with pytest.raises(SimulationError, match=r"'sole'.*locks"):
        system.simulate(0.5)

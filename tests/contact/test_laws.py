"""Laws of the normal force: what they deliver against what they are asked for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from bellcrank.contact.laws import (
    FACTORS,
    ForceLaw,
    calibrated_factor,
    delivered_restitution,
    kelvin_voigt_damping,
    normal_force,
)
from bellcrank.verify import two_balls

PUBLISHED = {
    ForceLaw.LANKARANI_NIKRAVESH: {0.1: 0.6653, 0.3: 0.6842, 0.5: 0.7252, 0.7: 0.7960, 0.9: 0.9132},
    ForceLaw.HUNT_CROSSLEY: {0.1: 0.5158, 0.3: 0.5813, 0.5: 0.6630, 0.7: 0.7680, 0.9: 0.9090},
    ForceLaw.FLORES: {0.1: 0.0694, 0.3: 0.2562, 0.5: 0.4704, 0.7: 0.6832, 0.9: 0.8939},
}
"""Delivered against asked (paper C)."""


@pytest.mark.parametrize("law", PUBLISHED)
def test_factors_deliver_what_the_table_says(law: ForceLaw) -> None:
    for asked, delivered in PUBLISHED[law].items():
        assert delivered_restitution(FACTORS[law](asked)) == pytest.approx(delivered, abs=6e-5)


@settings(deadline=None)
@given(st.floats(1e-3, 1.0))
def test_calibrated_factor_is_the_inverse_of_what_is_delivered(e: float) -> None:
    assert delivered_restitution(calibrated_factor(e)) == pytest.approx(e, abs=1e-9)


def test_calibrated_factor_of_the_bat() -> None:
    assert calibrated_factor(0.7) == pytest.approx(0.634828, abs=5e-7)


@given(
    st.sampled_from(list(ForceLaw)),
    st.floats(-1.0, 1.0),
    st.floats(-10.0, 10.0),
    st.floats(0.05, 1.0),
)
def test_no_law_pulls_or_acts_apart(law: ForceLaw, depth: float, rate: float, e: float) -> None:
    factor = 0.0 if law is ForceLaw.KELVIN_VOIGT else FACTORS[law](e)
    push = normal_force(law, depth, rate, 1e4, 1.5, factor, 0.7, 10.0)
    assert push >= 0.0
    assert depth > 0.0 or push == 0.0


@pytest.mark.parametrize("law", [law for law in ForceLaw if law is not ForceLaw.KELVIN_VOIGT])
@pytest.mark.parametrize("e", np.linspace(0.1, 1.0, 10))
def test_delivered_against_asked_in_a_run(law: ForceLaw, e: float) -> None:
    """The run delivers what theory says, the calibrated law what was asked for."""
    asked = 1.0 if law is ForceLaw.HERTZ else float(e)
    run = two_balls.run(output=5, law=law, restitution=asked, stiffness=1e6)
    delivered = float(run["right.velocity.x"][-1] - run["left.velocity.x"][-1])
    assert delivered == pytest.approx(delivered_restitution(FACTORS[law](asked)), abs=1e-8)
    if law is ForceLaw.CALIBRATED:
        assert delivered == pytest.approx(e, abs=1e-8)


@pytest.mark.parametrize("e", [0.001, 0.1, math.exp(-2.0), 0.2, 0.5, 0.9, 1.0])
def test_kelvin_voigt_damping_delivers_the_restitution(e: float) -> None:
    damping = kelvin_voigt_damping(1e4, 0.5, e)
    run = two_balls.run(output=5, law="kelvin-voigt", stiffness=1e4, damping=damping)
    assert float(run["right.velocity.x"][-1] - run["left.velocity.x"][-1]) == pytest.approx(e, abs=1e-8)


@pytest.mark.parametrize("e", [0.0, -0.1, 1.1, math.nan])
def test_kelvin_voigt_says_what_it_can_deliver(e: float) -> None:
    with pytest.raises(ValueError, match=r"must lie in \(0, 1\]"):
        kelvin_voigt_damping(1e4, 0.5, e)


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.5])
def test_restitution_does_not_depend_on_the_exponent(exponent: float) -> None:
    a = calibrated_factor(0.4)

    def rates(t: float, y: np.ndarray) -> list[float]:
        push = normal_force(ForceLaw.CALIBRATED, float(y[0]), float(y[1]), 1e5, exponent, a, 2.0)
        return [y[1], -float(push) / 3.0]

    def parted(t: float, y: np.ndarray) -> float:
        return float(y[0]) if t > 0.0 else 1.0

    parted.terminal, parted.direction = True, -1.0  # type: ignore[attr-defined]
    found = solve_ivp(rates, (0.0, 10.0), [0.0, 2.0], rtol=1e-11, atol=1e-14, events=parted, max_step=0.01)
    assert -found.y[1, -1] / 2.0 == pytest.approx(0.4, abs=1e-7)
    assert math.isfinite(found.t[-1])

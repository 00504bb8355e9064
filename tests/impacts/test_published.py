"""The published examples and closed forms of the verification manual, at their full tolerance."""

from __future__ import annotations

import pytest

from bellcrank.verify import find, run

CASES = (
    "slider-crank-impact",
    "ball-on-ground",
    "two-pendulums-impact",
    "bouncing-ball-rest",
    "rod-on-plane",
)


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    (case,) = find([name])
    report = run(case)
    assert not report.error
    assert [q.quantity for q in report.quantities if not q.ok] == []


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        (
            "slider-crank-impact",
            "impact_time slider_speed_before slider_speed_after block_speed_after impulse energy_before energy_after",
        ),
        ("ball-on-ground", "first_impact_time third_impact_time impact_speed impulse"),
        (
            "two-pendulums-impact",
            "impact_time contact_x contact_y impulse_e0 impulse_e1 second_impact_time_e1",
        ),
    ],
)
def test_named_quantities_are_there(name: str, wanted: str) -> None:
    (case,) = find([name])
    assert set(wanted.split()) <= {q.quantity for q in run(case).quantities}

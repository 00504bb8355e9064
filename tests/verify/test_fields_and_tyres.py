"""Cases of the manual on contact by fields of depth, on many contacts and on tyres hold."""

from __future__ import annotations

import pytest

from bellcrank.verify import cases

CASES = [
    "half-space-punch",
    "restitution-of-shapes",
    "tipping-block",
    "energy-of-throws",
    "meshed-sphere-rolls",
    "granular-column",
    *("magic-formula", "steady-circle", "step-steer", "slope-standstill"),
    *("braking-distance", "split-mu", "four-post"),
]
"""The ratio of gears is that of the example gear_pair, which is run with the others."""


@pytest.mark.parametrize("name", CASES)
def test_the_case_holds(name: str) -> None:
    (case,) = cases.find([name])
    report = cases.run(case)
    assert case.source
    assert not report.error
    assert not [q for q in report.quantities if not q.ok]

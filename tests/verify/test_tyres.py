"""Cases of the manual on tyres hold."""

from __future__ import annotations

import pytest

from bellcrank.verify import cases

CASES = [
    *("magic-formula", "steady-circle", "step-steer", "slope-standstill"),
    *("braking-distance", "split-mu", "four-post"),
]


@pytest.mark.parametrize("name", CASES)
def test_the_case_holds(name: str) -> None:
    (case,) = cases.find([name])
    report = cases.run(case)
    assert case.source
    assert not report.error
    assert not [q for q in report.quantities if not q.ok]

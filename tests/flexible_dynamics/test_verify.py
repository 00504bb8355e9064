"""The cases of the verification manual with flexible bodies."""

from __future__ import annotations

import pytest

from bellcrank.verify import cases

NAMES = (
    "flexible-slider-crank",
    "cantilever-frequencies",
    "rotating-beam-frequencies",
    "spin-up",
    "simeon-slider-crank",
)


@pytest.mark.parametrize("name", NAMES)
def test_case(name: str) -> None:
    (case,) = cases.find([name])
    report = cases.run(case)
    assert not report.error
    assert [q for q in report.quantities if not q.ok] == []


def test_named_quantities_of_paper_b() -> None:
    (case,) = cases.find(["flexible-slider-crank"])
    assert case.source.startswith("Ahn, Lee")

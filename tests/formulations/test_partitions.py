"""The motion does not depend on which speeds are called independent."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.formulations import partition
from bellcrank.formulations.loops import Partition
from bellcrank.formulations.partition import by_name, choose_partition
from bellcrank.mechanism import Formulation, Mechanism, State, analyse
from formulations.comparison import AGREEMENT, difference, random_state, solved
from reference.mechanisms import mechanism

WITH_LOOPS = (
    "rolling",
    "constrained",
    "four-bar",
    "slider-crank",
    "five-bar",
    "nested planar loops",
    "parallel cranks",
    "spatial loop",
    "ternary loops",
    "crank rod rocker",
    "platform",
    "suspension",
    "suspension cut",
    "bennett",
    "bricard",
    "massless rod",
    "coupled",
    "driven",
    "cut screw",
    "cut fixed",
)


def other_partitions(found: Mechanism, state: State, wanted: int = 3) -> list[Partition]:
    """Partitions other than the usual one, each keeping another dependent speed free where it can."""
    usual = found.choose_partition(state)
    rows = found.loop_state().rows(state.q, state.t)
    partitions: dict[tuple[int, ...], Partition] = {}
    for speed in np.random.default_rng(1).permutation(usual.dependent):
        other = choose_partition(
            found.linkage,
            found.mechanics.constraints,
            found.groups,
            found.kept,
            rows,
            avoid=frozenset({int(speed)}),
        )
        full = len(other.dependent) == len(found.kept)
        if full and set(other.independent) != set(usual.independent) and well_chosen(found, rows.J, other):
            partitions.setdefault(other.independent, other)
        if len(partitions) == wanted:
            break
    return list(partitions.values())


def well_chosen(found: Mechanism, J: np.ndarray, chosen: Partition) -> bool:
    """Whether the dependent speeds follow well enough for an agreement to many digits."""
    block = J[np.ix_(list(found.kept), list(chosen.dependent))]
    return bool(np.linalg.cond(block) < 1e5)


@pytest.mark.parametrize("family", WITH_LOOPS)
def test_accelerations_do_not_depend_on_the_partition(family: str) -> None:
    found = analyse(mechanism(family, 1))
    state = random_state(found, np.random.default_rng(8), 0.1, t=0.2)
    values = found.parameter_values
    usual = solved(found.traced(Formulation.INDEPENDENT, found.choose_partition(state)), state, values)
    others = other_partitions(found, state)
    assert others, "every family here has more than one choice"
    for other in others:
        for formulation in (Formulation.INDEPENDENT, Formulation.RECURSIVE, Formulation.PARTITIONING):
            way = solved(found.traced(formulation, other), state, values)
            named = by_name(other, found.speed_names)["independent"]
            assert difference(way.u, state.u) < AGREEMENT, named
            assert difference(way.du, usual.du) < AGREEMENT, named


@pytest.mark.parametrize("family", ["suspension cut", "cut revolute", "cut screw", "cut fixed"])
def test_balls_in_the_axes_of_their_loop_or_in_their_own(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Balls eliminated in the axes of their loop's base save arithmetic and change nothing."""
    found = analyse(mechanism(family, 2))
    state = random_state(found, np.random.default_rng(8), 0.1)
    turned = found.choose_partition(state)
    assert any(g.turned for g in turned.groups)
    monkeypatch.setattr(partition, "_single_base_balls", lambda *_: frozenset())
    straight = found.choose_partition(state)
    assert not any(g.turned for g in straight.groups)
    for formulation in (Formulation.INDEPENDENT, Formulation.RECURSIVE):
        one, other = (
            solved(found.traced(formulation, chosen), state, found.parameter_values)
            for chosen in (turned, straight)
        )
        assert difference(one.du, other.du) < AGREEMENT


def test_every_kept_equation_has_a_pivot() -> None:
    for family in WITH_LOOPS:
        found = analyse(mechanism(family, 0))
        pivots = [pivot for g in found.partition.groups for pivot in g.pivots]
        assert sorted(e for e, _ in pivots) == list(found.kept), family
        speeds = [*(c for _, c in pivots), *found.partition.independent]
        assert sorted(speeds) == list(range(found.coordinates)), family

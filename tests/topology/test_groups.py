"""Body groups against the exhaustive search, and on graphs too large for it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bellcrank.topology import Group, body_groups, find_groups

from .exhaustive_groups import exhaustive_groups


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, frozenset[int]]]]:
    coordinates = draw(st.lists(st.integers(0, 4), min_size=1, max_size=14))
    links = st.frozensets(st.integers(0, len(coordinates) - 1), min_size=1, max_size=4)
    return coordinates, draw(st.lists(st.tuples(st.integers(1, 5), links), max_size=10))


def connected_parts(links: set[int], rows: set[int], constraints) -> list[tuple[set[int], set[int]]]:
    parts: list[tuple[set[int], set[int]]] = []
    for row in sorted(rows):
        own, held = constraints[row][1] & links, {row}
        merged_links, merged_rows = set(own), held
        for part in [p for p in parts if p[0] & own]:
            parts.remove(part)
            merged_links |= part[0]
            merged_rows |= part[1]
        parts.append((merged_links, merged_rows))
    return parts


@given(cases())
def test_groups_cover_every_link_and_constraint_once(case) -> None:
    coordinates, constraints = case
    groups = body_groups(coordinates, constraints)
    assert sorted(i for g in groups for i in g.links) == list(range(len(coordinates)))
    assert sorted(r for g in groups for r in g.constraints) == list(range(len(constraints)))


@given(cases())
def test_inputs_are_exactly_the_foreign_links_and_come_first(case) -> None:
    coordinates, constraints = case
    known: set[int] = set()
    for group in body_groups(coordinates, constraints):
        touched = set().union(*(constraints[r][1] for r in group.constraints))
        assert set(group.inputs) == touched - set(group.links)
        assert known.issuperset(group.inputs)
        known.update(group.links)


@given(cases())
def test_no_group_can_be_split_by_one_more_link(case) -> None:
    coordinates, constraints = case
    for group in body_groups(coordinates, constraints):
        assert len(connected_parts(set(group.links), set(group.constraints), constraints)) <= 1
        for link in group.links if group.constraints else ():
            parts = connected_parts(set(group.links) - {link}, set(group.constraints), constraints)
            free = [sum(coordinates[i] for i in p) - sum(constraints[r][0] for r in q) for p, q in parts]
            assert len(parts) < 2 or min(free) <= 0


@given(cases())
def test_groups_with_inputs_keep_a_freedom_of_their_own(case) -> None:
    coordinates, constraints = case
    for group in body_groups(coordinates, constraints):
        if group.inputs:
            equations = sum(constraints[r][0] for r in group.constraints)
            assert sum(coordinates[i] for i in group.links) > equations


def test_agrees_with_the_exhaustive_search_but_for_separators_of_several_links() -> None:
    rng = random.Random(20010)
    coarser = 0
    for _ in range(300):
        n = rng.randint(2, 7)
        coordinates = [rng.randint(1, 3) for _ in range(n)]
        constraints = [
            (rng.randint(1, 3), frozenset(rng.sample(range(n), rng.randint(1, min(4, n)))))
            for _ in range(rng.randint(1, 4))
        ]
        ours = {(frozenset(g.links), frozenset(g.constraints)) for g in body_groups(coordinates, constraints)}
        # The paper asks for freedom of the two halves only, so a half may fall into parts without any;
        # there the exhaustive search goes too far.
        single = exhaustive_groups(coordinates, constraints, largest_removal=1)
        locked = any(
            rows and sum(coordinates[i] for i in links) <= sum(constraints[r][0] for r in rows)
            for links, rows in single - ours
        )
        assert ours == single or locked
        everything = exhaustive_groups(coordinates, constraints)
        assert len(ours) <= len(everything)
        coarser += len(ours) < len(everything)
    assert coarser <= 9


@pytest.mark.parametrize("coordinates", [1, 2])
@pytest.mark.parametrize("count", [10, 100, 10000])
def test_effort_is_linear_in_a_chain_of_loops(count: int, coordinates: int) -> None:
    """Four-bar loops in a row, each sharing a body with the next: each edge is looked at four times."""
    constraints = [(2, frozenset(range(3 * k, 3 * k + 4))) for k in range(count)]
    grouping = find_groups([coordinates] * (3 * count + 1), constraints)
    assert len(grouping.groups) > count
    assert grouping.edge_visits <= 4 * sum(len(links) for _, links in constraints)


def test_shared_input_separates_two_loops() -> None:
    groups = body_groups([1, 4, 4], [(3, frozenset({0, 1})), (3, frozenset({0, 2}))])
    assert groups == (Group((0,), (), ()), Group((1,), (0,), (0,)), Group((2,), (1,), (0,)))


def test_shared_input_stays_where_a_part_would_lose_its_freedom() -> None:
    groups = body_groups([1, 3, 4], [(3, frozenset({0, 1})), (3, frozenset({0, 2}))])
    assert groups == (Group((0, 1, 2), (0, 1), ()),)

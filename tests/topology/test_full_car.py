"""The car of paper D: the counts and the groups of its text."""

from __future__ import annotations

import pytest

from bellcrank.errors import UnknownName
from bellcrank.topology import describe, find_groups, loop_links, loops, spanning_tree
from bellcrank.verify.full_car import full_car_data, full_car_system


def grouping(tree):
    constraints = [(loop.cut.constraints, loop_links(tree, loop)) for loop in loops(tree)]
    return find_groups([link.joint.dof for link in tree.links], constraints)


@pytest.mark.parametrize("published", [True, False])
def test_counts_of_the_paper(published: bool) -> None:
    tree = spanning_tree(full_car_system(cuts_as_published=published))
    assert (len(tree.links), tree.dof, tree.equations, len(tree.cuts)) == (22, 39, 24, 8)
    found = grouping(tree)
    assert len(found.groups) == 10
    assert found.edge_visits <= 104


def test_groups_of_the_paper() -> None:
    tree = spanning_tree(full_car_system())
    names = {item["id"]: item["name"] for item in full_car_data()["bodies"]}
    expected = [{2, 3, 4, 11}, {6, 7, 8, 12}, {13, 14, 15, 16}, {18, 19, 20, 21}]
    alone = [{1}, {10}, {5}, {9}, {17}, {22}]
    groups = grouping(tree).groups
    found = {frozenset(tree.links[i].body.name for i in g.links) for g in groups}
    assert found == {frozenset(names[i] for i in g) for g in (*expected, *alone)}
    rack = tree.index["steering_rack"]
    assert [g.inputs for g in groups if g.inputs] == [(rack,), (rack,)]
    assert "moved by steering_rack" in describe(tree, groups)


def test_loops_close_in_the_design_position() -> None:
    for joint in full_car_system().joints.values():
        position, _ = joint.start_relation()
        if joint.kind != "free":
            assert abs(position).max() < 1e-12


def test_static_lengths_and_loads_are_those_of_the_data() -> None:
    system = full_car_system("bump")
    road = system.forces["FL_tyre"].road
    assert road(2.5 + 1.25, 0.7, 0.0) == pytest.approx(0.08)
    assert road(2.5 + 1.25, -0.7, 0.0) == 0.0
    assert road(2.4, 0.7, 0.0) == 0.0
    steer = full_car_system("steer").forces["rack actuator"].function
    assert steer(0.01, 0.0, 1.0) == pytest.approx(0.0, abs=1e-9)
    assert steer(0.0, 0.0, 0.25) == pytest.approx(2e5 * 0.005 + 1500 * 0.01 / 0.3 * 30 / 16)


def test_weight_is_the_sum_of_the_published_tyre_loads() -> None:
    system = full_car_system()
    weight = 9.81 * sum(float(body.mass) for body in system.bodies.values())
    assert weight == pytest.approx(3814.847 + 3659.527 + 3289.957 + 3187.452, abs=2e-3)


def test_unknown_scenario_is_named() -> None:
    with pytest.raises(UnknownName, match="no scenario named 'bumb'; did you mean 'bump'"):
        full_car_system("bumb")

"""Spanning trees: the fewest cut equations, the user's wishes, and errors that name the joints."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bellcrank.errors import AssemblyError, ModelError
from bellcrank.model import System
from bellcrank.topology import describe, loop_links, loops, paths_to_common, spanning_tree

KINDS = ["fixed", "revolute", "prismatic", "cylindrical", "spherical", "planar", "free"]


def join(system: System, name: str, kind: str, a: str, b: str, **more) -> None:
    place = {} if kind == "free" else {"at": (0, 0, 0)}
    getattr(system, kind)(name, a, b, **place, **more)


def chain(kinds: list[str], **more) -> System:
    """A loop ground - 1 - 2 - ... - ground of the given joints, named j0, j1, ..."""
    system = System("loop")
    count = len(kinds) - 1
    for i in range(1, count + 1):
        system.body(f"b{i}", mass=1)
    for i, kind in enumerate(kinds):
        a = "ground" if i == 0 else f"b{i}"
        b = "ground" if i == count else f"b{i + 1}"
        join(system, f"j{i}", kind, a, b, cut=more.get(f"j{i}"))
    return system


@st.composite
def systems(draw: st.DrawFn) -> System:
    system = System("random")
    count = draw(st.integers(1, 6))
    names = ["ground"]
    edges: list[tuple[str, str]] = []
    for i in range(count):
        system.body(f"b{i}", mass=1)
        edges.append((draw(st.sampled_from(names)), f"b{i}"))
        names.append(f"b{i}")
    pair = st.lists(st.sampled_from(names), min_size=2, max_size=2, unique=True)
    edges += [(a, b) for a, b in draw(st.lists(pair, max_size=4))]
    for number, (a, b) in enumerate(draw(st.permutations(edges))):
        kind = draw(st.sampled_from(KINDS))
        join(system, f"j{number}", kind, *((b, a) if draw(st.booleans()) else (a, b)))
    return system


def spans(system: System, joints) -> bool:
    known = {"ground"}
    for _ in joints:
        for joint in joints:
            ends = {joint.a.body.name, joint.b.body.name}
            if ends & known:
                known |= ends
    return len(known) == len(system.bodies) + 1


@given(systems())
def test_cuts_have_the_fewest_equations_of_all_spanning_trees(system: System) -> None:
    tree = spanning_tree(system)
    joints = list(system.joints.values())
    best = max(
        sum(j.constraints for j in chosen)
        for chosen in combinations(joints, len(system.bodies))
        if spans(system, chosen)
    )
    assert tree.equations == sum(j.constraints for j in joints) - best
    assert len(tree.links) + len(tree.cuts) + len(tree.idle) == len(joints)


@given(systems())
def test_parents_come_first_and_directions_fit(system: System) -> None:
    tree = spanning_tree(system)
    assert {body.name for body in tree.order} == set(system.bodies)
    for i, (link, parent) in enumerate(zip(tree.links, tree.parents, strict=True)):
        assert parent < i
        ends = (link.joint.a.body, link.joint.b.body)
        assert ends == ((link.parent, link.body) if link.forward else (link.body, link.parent))


@given(systems())
def test_loops_run_from_the_common_body_to_both_ends(system: System) -> None:
    tree = spanning_tree(system)
    for loop in loops(tree):
        for path, end in ((loop.path_a, loop.cut.a.body), (loop.path_b, loop.cut.b.body)):
            assert [loop.common, *(link.body for link in path)] == [*(link.parent for link in path), end]
        assert not {x.body.name for x in loop.path_a} & {x.body.name for x in loop.path_b}
        moving = [link for link in loop.links if link.joint.dof]
        assert loop_links(tree, loop) == {tree.index[link.body.name] for link in moving}


def test_paths_of_a_body_to_itself_are_empty() -> None:
    system = chain(["revolute", "revolute", "spherical"])
    tree = spanning_tree(system)
    body = system.body_named("b1")
    assert paths_to_common(tree, body, body) == (body, (), ())


def test_ball_joint_is_cut_before_a_planar_one() -> None:
    for kinds in (["planar", "revolute", "spherical"], ["spherical", "revolute", "planar"]):
        assert [cut.kind for cut in spanning_tree(chain(kinds)).cuts] == ["spherical"]


def test_used_coordinates_stay_in_the_tree() -> None:
    for used in ("j0", "j1", "j2", "j3"):
        system = chain(["revolute"] * 4)
        system.driver(used, lambda t: t)
        assert used not in [cut.name for cut in spanning_tree(system).cuts]


def test_shallow_trees_win() -> None:
    tree = spanning_tree(chain(["revolute"] * 5))
    assert max(link.depth for link in tree.links) == 2
    assert [cut.name for cut in tree.cuts] == ["j2"]


def test_cut_and_keep_are_obeyed() -> None:
    for name in ("j0", "j1", "j2"):
        assert [c.name for c in spanning_tree(chain(["revolute"] * 3, **{name: True})).cuts] == [name]
    kept = chain(["revolute", "spherical", "revolute"], j1=False)
    assert "j1" not in [c.name for c in spanning_tree(kept).cuts]


def test_keeping_a_whole_loop_names_its_joints() -> None:
    system = chain(["revolute"] * 3, j0=False, j1=False, j2=False)
    with pytest.raises(AssemblyError, match=r"cut=False") as error:
        spanning_tree(system)
    assert all(f"'j{i}'" in str(error.value) for i in range(3))


def test_bodies_without_way_to_ground_are_named_with_the_remedy() -> None:
    system = chain(["revolute", "spherical"])
    system.body("a", mass=1)
    system.body("b", mass=1)
    join(system, "hinge", "revolute", "a", "b")
    with pytest.raises(ModelError, match=r"'a', 'b'.*system\.free"):
        spanning_tree(system)


def test_bodies_behind_cut_joints_only_are_named() -> None:
    system = System("cut off")
    system.body("a", mass=1)
    join(system, "hinge", "revolute", "ground", "a", cut=True)
    with pytest.raises(ModelError, match=r"body 'a'.*only by cut joints \('hinge'\).*cut=True"):
        spanning_tree(system)


def test_body_without_joint_is_refused_by_the_analysis() -> None:
    system = System("lonely")
    system.body("x", mass=1)
    with pytest.raises(ModelError, match=r"body 'x' has no joint; give it system\.free"):
        spanning_tree(system)


def test_free_joint_beside_others_is_idle() -> None:
    system = System("idle")
    system.body("a", mass=1)
    join(system, "float", "free", "ground", "a")
    join(system, "hinge", "revolute", "ground", "a")
    tree = spanning_tree(system)
    assert [j.name for j in tree.idle] == ["float"]
    assert not tree.cuts
    assert "without effect: 'float'" in describe(tree)


def test_long_chains_need_no_recursion() -> None:
    system = chain(["revolute"] * 3001, j3000=True)
    tree = spanning_tree(system)
    assert tree.links[-1].depth == 3000
    assert len(loops(tree)[0].links) == 3000


def test_description_lists_tree_cuts_and_loops() -> None:
    text = describe(spanning_tree(chain(["revolute", "revolute", "spherical"])))
    assert "2 bodies, 2 coordinates, 3 cut equations" in text
    assert "└─ b2" in text
    assert "spherical 'j2' (3 equations): b2 - b1 - [ground]" in text

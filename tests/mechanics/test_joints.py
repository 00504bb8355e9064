"""Every joint does the same in the tree, against the tree, and cut."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from bellcrank.mechanism import Formulation, Mechanism, State, analyse
from bellcrank.model import Joint, System
from formulations.comparison import AGREEMENT, body_difference, body_motion, random_state, redrawn, solved
from reference import newton_euler
from reference.drawing import KINDS, Drawing
from reference.mechanisms import well_conditioned

CLOSABLE = tuple(kind for kind in KINDS if kind != "free")
CLOSERS = {"fixed": 3, "revolute": 3, "prismatic": 3, "screw": 3, "cylindrical": 2, "universal": 2}
"""How many balls close a loop with a joint of this kind and leave it at least one freedom."""


def joined(drawing: Drawing, kind: str, a: str, b: str, child_first: bool, cut: bool | None = None) -> Joint:
    """A joint described from a to b or from b to a, physically the same."""
    if kind != "universal":
        return drawing.joint(kind, a, b, turned=child_first, cut=cut)
    # Each axis stays fixed in its body, so they change places with the bodies.
    on_a, at = drawing.direction(), drawing.point()
    on_b = drawing.normal_to(on_a)
    sides = (b, a, on_b, on_a) if child_first else (a, b, on_a, on_b)
    return drawing.system.universal(
        "universal", sides[0], sides[1], at=at, axis_a=sides[2], axis_b=sides[3], cut=cut
    )


def chain(kind: str, child_first: bool, seed: int) -> System:
    """Three bodies in a row; the joint in the middle is of this kind, described from either side."""
    drawing = Drawing(np.random.default_rng([seed, 5]), "chain", aligned=seed % 2 == 1)
    names = [drawing.body(name) for name in ("inner", "middle", "outer")]
    drawing.joint("universal", "ground", names[0], turned=False)
    joined(drawing, kind, names[0], names[1], child_first)
    drawing.joint("revolute", names[1], names[2], turned=False)
    drawing.system.spring("coil", "inner", "outer", 20.0, 1.0, 0.3)
    return drawing.system


def loop(kind: str, child_first: bool, cut: bool, seed: int) -> System:
    """One loop with a joint of this kind, which is cut or kept, described from either side.

    A force of its coordinates and their rates acts in it wherever it has any.
    """
    for attempt in range(50):
        drawing = Drawing(np.random.default_rng([seed, attempt]), "loop", aligned=False)
        system = drawing.system
        others = ["spherical"] * CLOSERS.get(kind, 1) + ["revolute"] * (0 if kind in CLOSERS else 2)
        names = [drawing.body() for _ in others]
        places = ["ground", *names]
        for a, b, other in zip(places, places[1:], others, strict=False):
            drawing.joint(other, a, b, turned=False)
        joint = joined(drawing, kind, names[-1], "ground", child_first, cut)
        for coordinate in joint.scalar_coordinates:
            system.joint_force(
                f"force on {coordinate}",
                joint,
                lambda coordinate, rate: 3.0 * np.sin(coordinate) - 0.8 * rate,
                coordinate,
            )
        if well_conditioned(system):
            return system
    raise AssertionError(f"no good loop with a {kind} joint")


def accelerations(found: Mechanism, state: State) -> object:
    way = solved(found.traced(Formulation.AUTO), state, found.parameter_values)
    assert np.abs(way.u - state.u).max() < 1e-9 * max(1.0, np.abs(state.u).max())
    return body_motion(found, state, way.du)[2]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", KINDS)
def test_tree_joint_from_both_sides(kind: str, seed: int) -> None:
    forward = analyse(chain(kind, False, seed))
    assert [branch.forward for branch in forward.tree.links] == [True] * 3
    state = random_state(forward, np.random.default_rng(seed), 0.3)
    poses, velocities, _ = body_motion(forward, state)
    expected = accelerations(forward, state)
    backward, same = redrawn(chain(kind, True, seed), poses, velocities)
    assert [branch.forward for branch in backward.tree.links] == [True, False, True]
    again = body_motion(backward, same)
    assert body_difference(poses_flat(again[0]), poses_flat(poses)) < 1e-12
    assert body_difference(again[1], velocities) < 1e-12
    assert body_difference(accelerations(backward, same), expected) < AGREEMENT
    reference = newton_euler.accelerations(backward.system, None, 0.0, poses, velocities)
    assert body_difference(reference, expected) < AGREEMENT


def poses_flat(poses: dict) -> dict:
    return {name: (position, np.ravel(rotation)) for name, (position, rotation) in poses.items()}


@pytest.mark.parametrize("kind", CLOSABLE)
def test_cut_joint_from_both_sides_as_in_the_tree(kind: str) -> None:
    kept = analyse(loop(kind, False, False, 3))
    assert all(joint.kind != kind or kind == "spherical" for joint in kept.tree.cuts)
    state = random_state(kept, np.random.default_rng(3), 0.1)
    poses, velocities, _ = body_motion(kept, state)
    expected = {False: accelerations(kept, state)}
    for child_first, cut in product((False, True), (True, False)):
        found, same = redrawn(loop(kind, child_first, cut, 3), poses, velocities)
        closing = [joint.name for joint in found.tree.cuts]
        assert (closing == [list(found.system.joints)[-1]]) is cut
        assert found.degrees_of_freedom == kept.degrees_of_freedom
        got = accelerations(found, same)
        # Described from the other side a coordinate may have another zero, so the force differs.
        assert body_difference(got, expected.setdefault(child_first, got)) < AGREEMENT
        reference = newton_euler.accelerations(found.system, None, 0.0, poses, velocities)
        assert body_difference(reference, got) < AGREEMENT


def jack(cut: bool | None, pitch: float) -> System:
    """A spindle turns in the ground and lifts a nut on a guide."""
    system = System("jack", gravity=(0.0, 0.0, -9.81))
    system.body("spindle", 2.0, (0.1, 0.1, 0.05))
    system.body("nut", 3.0, (0.2, 0.2, 0.2), at=(0.0, 0.0, 0.4))
    system.revolute("bearing", "ground", "spindle", at=(0, 0, 0), axis="z")
    system.prismatic("guide", "ground", "nut", axis="z", cut=None if cut else True)
    system.screw("thread", "spindle", "nut", at=(0, 0, 0.4), axis="z", pitch=pitch, cut=cut)
    return system


@pytest.mark.parametrize("pitch", [0.02, -0.02, 0.3])
@pytest.mark.parametrize("cut", [True, None])
def test_screw_turns_many_times(cut: bool | None, pitch: float) -> None:
    """Through three turns either way: the nut follows the thread, and the acceleration is that of a jack."""
    found = analyse(jack(cut, pitch))
    assert [joint.name for joint in found.tree.cuts] == ["thread" if cut else "guide"]
    spindle = next(k for k in found.linkage.links if k.joint == "bearing")
    height = {}
    m, J = 3.0, 0.05
    for direction in (1.0, -1.0):
        q = found.start.q
        for turned in direction * np.arange(0.25, 19.0, 0.25):
            q = q.copy()
            q[spindle.q] = turned
            loops = found.loop_state()
            for _ in range(8):
                rows = loops.rows(q)
                free = [i for i in range(found.coordinates) if i != spindle.u]
                step = np.zeros(found.coordinates)
                step[free] = -np.linalg.pinv(rows.J[:, free]) @ rows.residual
                q = loops.moved(q, step)
            u = np.zeros(found.coordinates)
            u[spindle.u] = 1.7
            u[free] = -np.linalg.pinv(rows.J[:, free]) @ (rows.J @ u)
            state = State(0.0, q, u)
            height[turned] = body_motion(found, state)[0]["nut"][0][2]
            # Positive pitch advances B (the nut) by its turn against A: minus the spindle's.
            assert height[turned] == pytest.approx(0.4 - pitch * turned, abs=1e-10)
    way = solved(found.traced(Formulation.INDEPENDENT), state, ())
    acceleration = body_motion(found, state, way.du)[2]["nut"][0][2]
    assert acceleration == pytest.approx(-9.81 * m * pitch**2 / (J + m * pitch**2), rel=1e-10)

"""Rods in strain coordinates: kinematics, inertia and forces of the slices, sections, stations."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from bellcrank.errors import ModelError
from bellcrank.flexible import STEEL, Rod, Section, Table, circle, rectangle, rod
from bellcrank.program.evaluate import evaluate
from bellcrank.program.graph import Graph
from bellcrank.program.program import Program

STEP = 1e-6


def bent() -> tuple[Rod, Any, Any]:
    """A curved rod with every strain and an eccentric section, its coordinates and rates."""
    made = rod(
        "bent", 1.0, rectangle(0.02, 0.01, offset=(0.003, 0.001)), STEEL, bending=2, torsion=1, stretch=1, shear=1,
        curvature=(1.0, 0.5, 2.0), slices=4,
    )  # fmt: skip
    rng = np.random.default_rng(0)
    q = rng.normal(size=made.modes)
    q[5:] *= 0.05
    return made, q, rng.normal(size=made.modes)


def stations(made: Rod, q: Any) -> Any:
    """Rows of rotation, place and motion by each coordinate, at 0.33 and 1 m."""
    places = made.branches([0.33, 1.0], [np.eye(3), np.eye(3)])
    return made.routines.poses(places).evaluate(q)[1:].reshape(2, -1)


def vee(W: Any) -> Any:
    """The vector of an antisymmetric matrix."""
    return np.array([W[2, 1], W[0, 2], W[1, 0]])


@pytest.mark.parametrize("planar", [False, True])
def test_rods_written_out_are_the_loops(planar: bool) -> None:
    made = (
        rod("flat", 1.0, circle(0.01), STEEL, bending=(0, 3), torsion=0, stretch=1, slices=3)
        if planar
        else bent()[0]
    )
    loops = made.loops
    where = made.branches([0.33, 1.0], [np.eye(3), np.eye(3)])
    rng = np.random.default_rng(1)
    for routine in (loops.inertia(where), loops.poses(where), loops.biases(where), loops.forces):
        graph = Graph()
        inputs = [graph.input(f"x{k}") for k in range(routine.n_in)]
        ends = np.cumsum(routine.rows)
        found = routine(*(inputs[end - size : end] for size, end in zip(routine.rows, ends, strict=True)))[1]
        assert not any(node.op == "routine" and node.args[0] is routine for node in graph.nodes)
        program = Program.of(inputs, found, "written out")
        x = 0.3 * rng.normal(size=routine.n_in)
        expected = routine.interpreted(x)[1:]
        assert evaluate(program, x) == pytest.approx(expected, rel=1e-12, abs=1e-13)


def test_a_rod_is_written_out_as_a_whole_or_not() -> None:
    made = rod("long", 1.0, circle(0.01), STEEL, bending=20, torsion=4)
    graph = Graph()
    eta = [graph.input(f"x{k}") for k in range(made.modes)]
    for routine in (
        made.loops.inertia(made.branches([], [])),
        made.loops.biases(made.branches([1.0], [np.eye(3)])),
    ):
        routine(*[eta for _ in routine.rows])
    assert [node.op for node in graph.nodes if node.op != "part"] == ["input"] * made.modes + ["routine"] * 2


def test_motions_are_derivatives_of_poses() -> None:
    made, q, rates = bent()
    n, here = made.modes, stations(made, q)
    ahead, behind = stations(made, q + STEP * rates), stations(made, q - STEP * rates)
    slope = (ahead - behind) / (2.0 * STEP)
    bias = made.routines.biases(made.branches([0.33, 1.0], [np.eye(3)] * 2))
    changes = bias.evaluate(np.concatenate([q, rates]))[1:].reshape(2, 6)
    for k in range(2):
        R = here[k, :9].reshape(3, 3)
        assert np.abs(R @ R.T - np.eye(3)).max() < 1e-14
        motion = here[k, 12:].reshape(n, 6).T @ rates
        assert np.allclose(motion[:3], vee(R.T @ slope[k, :9].reshape(3, 3)), atol=1e-8)
        assert np.allclose(motion[3:], R.T @ slope[k, 9:12], atol=1e-8)
        change = slope[k, 12:].reshape(n, 6).T @ rates
        assert np.allclose(changes[k], change, atol=1e-7)


def mass_matrix(made: Rod, q: Any) -> Any:
    """Over angular and linear velocity of the start and the rates of the coordinates."""
    n, found = made.modes, made.routines.inertia(made.branches([], [])).evaluate(q)[1:]
    x, y, z = found[:3]
    hat = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    J = found[[3, 6, 7, 6, 4, 8, 7, 8, 5]].reshape(3, 3)
    P, M = found[9 : 9 + 6 * n].reshape(n, 6), np.zeros((n, n))
    M[np.tril_indices(n)] = found[9 + 6 * n :]
    M += np.tril(M, -1).T
    rigid = np.block([[np.trace(J) * np.eye(3) - J, hat], [hat.T, made.mass * np.eye(3)]])
    return np.block([[rigid, P.T], [P, M]])


def test_forces_are_those_of_the_kinetic_energy() -> None:
    """Lagrange's equations of the coordinates, Euler's of the start, by differences of the mass matrix."""
    made, q, rates = bent()
    n, rng = made.modes, np.random.default_rng(1)
    w, alpha, a = rng.normal(size=(3, 3))
    du = rng.normal(size=n)
    speeds = np.concatenate([w, np.zeros(3), rates])

    def momentum(at: Any) -> Any:
        return mass_matrix(made, at) @ speeds

    def energy(at: Any) -> float:
        return float(0.5 * speeds @ mass_matrix(made, at) @ speeds)

    change = (momentum(q + STEP * rates) - momentum(q - STEP * rates)) / (2.0 * STEP)
    now = momentum(q)
    expected = mass_matrix(made, q) @ np.concatenate([alpha, a, du]) + change
    expected[:3] += np.cross(w, now[:3])
    expected[3:6] += np.cross(w, now[3:6])
    steps = STEP * np.eye(n)
    expected[6:] -= [(energy(q + h) - energy(q - h)) / (2.0 * STEP) for h in steps]
    found = made.routines.forces.evaluate(np.concatenate([q, rates, du, w, np.zeros(3), alpha, a]))[1:]
    assert np.allclose(found, expected, atol=1e-8 * np.abs(expected).max())
    assert np.linalg.eigvalsh(mass_matrix(made, q)).min() > 0.0


def test_loops_in_the_plane_are_those_in_space() -> None:
    """Of an eccentric, curved rod that stays in its plane: weights, stations, biases and forces."""
    made = rod(
        "planar", 1.0, rectangle(0.02, 0.01, offset=(0.003, 0.0)), STEEL, bending=(0, 3), torsion=0, stretch=2,
        shear=(1, 0), curvature=(0.0, 0.0, 2.0), slices=4, stations={"mid": 0.4},
    )  # fmt: skip
    rng = np.random.default_rng(2)
    n, flat, space = made.modes, made.planar_routines, made.routines
    assert flat is not None
    used = [made.node("mid"), made.node("end")]
    inner, outer = made.station_branches(used), made.branches([s.arc for s in used], [s.axes for s in used])
    q, rates, du = rng.normal(size=(3, n))
    q[3:] *= 0.05
    screw = [2, 3, 4]
    a, b = flat.inertia(inner).evaluate(q)[1:], space.inertia(outer).evaluate(q)[1:]
    assert np.allclose(a[:6], b[[0, 1, 3, 4, 5, 6]], rtol=1e-12)
    momenta = b[space.moments : space.masses].reshape(n, 6)[:, screw]
    assert np.allclose(a[flat.moments : flat.masses].reshape(n, 3), momenta, atol=1e-12)
    assert np.allclose(a[flat.masses : flat.weights], b[space.masses : space.weights], rtol=1e-11)
    own, other = a[flat.weights :].reshape(2, -1), b[space.weights :].reshape(2, -1)
    assert np.allclose(own[:, :4], other[:, [0, 3, 9, 10]], atol=1e-14)
    assert np.allclose(own[:, 4:].reshape(2, n, 3), other[:, 12:].reshape(2, n, 6)[..., screw], atol=1e-13)
    bias = space.biases(outer).evaluate(np.concatenate([q, rates]))[1:].reshape(2, 6)[:, screw]
    assert np.allclose(
        flat.biases(inner).evaluate(np.concatenate([q, rates]))[1:].reshape(2, 3), bias, atol=1e-12
    )
    start = np.zeros((2, 6))
    start[0, 2], start[1, 2:5] = 1.3, (0.7, -0.4, 0.9)
    moved = np.concatenate([q, rates, du])
    force = space.forces.evaluate(np.concatenate([moved, start.ravel()]))[1:]
    found = flat.forces.evaluate(np.concatenate([moved, start[:, screw].ravel()]))[1:]
    assert np.allclose(found, np.concatenate([force[screw], force[6:]]), atol=1e-12 * np.abs(force).max())
    assert np.abs(force[[0, 1, 5]]).max() < 1e-12 * np.abs(force).max()


def test_constant_curvature_is_an_arc() -> None:
    """Exactly, with any slices: the ends of half a circle lie a diameter apart."""
    made = rod(
        "arc", np.pi, circle(0.01), STEEL, curvature=(0.0, 0.0, 1.0), bending=(0, 1), torsion=0, slices=2
    )
    assert np.allclose(made.node("end").position, (0.0, 2.0, 0.0), atol=1e-14)
    assert np.allclose(made.node("end").axes[:, 0], (-1.0, 0.0, 0.0), atol=1e-14)
    # Bent straight, it lies along x.
    assert np.allclose(made.position("end", [-1.0]), (np.pi, 0.0, 0.0), atol=1e-14)


def test_an_eccentric_section_bends_about_its_centroid() -> None:
    """Without a coordinate of stretch no axial force is carried, so the neutral axis is that of the section."""
    central, off = (
        rod("x", 1.0, rectangle(0.02, 0.01, offset=at), STEEL) for at in ((0.0, 0.0), (0.01, 0.02))
    )
    assert np.allclose(central.stiffness, off.stiffness, rtol=1e-9)
    assert off.first_moment[1] == pytest.approx(0.01 * off.mass)


def test_rods_are_pickled_without_their_loops() -> None:
    made = bent()[0]
    made.branches([1.0], [np.eye(3)])
    assert made.routines.n == made.modes
    again = pickle.loads(pickle.dumps(made))
    np.testing.assert_array_equal(again.stiffness, made.stiffness)
    assert again.stations == made.stations


def test_a_table_keeps_the_mass() -> None:
    mass = np.diag([2.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    made = rod(
        "x",
        2.0,
        stiffness=np.eye(6),
        mass=Table(np.array([0.0, 0.5, 2.0]), np.array([mass, 3.0 * mass, mass])),
    )
    assert made.mass == pytest.approx(4.0, rel=1e-12)


def test_stations_by_name_arc_and_place() -> None:
    made = rod("x", 2.0, circle(0.01), STEEL, curvature=(0.0, 0.0, np.pi), stations={"mid": 1.0})
    assert made.node("mid").arc == 1.0
    assert made.node(0.3).name == "at 0.3"
    assert made.node("at 0.3").arc == 0.3
    # Near both ends, which meet in a ring, and between: to rounding, however coarsely the search begins.
    for arc in (1e-3, 0.3, 1.7, 1.999):
        assert made.node(made.node(arc).position).arc == pytest.approx(arc, abs=1e-12)
    with pytest.raises(ModelError, match="from the axis of rod 'x'"):
        made.node((5.0, 0.0, 0.0))
    with pytest.raises(ModelError, match="runs from 0 to 2 m"):
        made.node(2.5)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"bending": 1.5}, "whole number"),
        ({"bending": 0, "torsion": 0}, "no coordinates"),
        ({"stiffness": np.eye(6)}, "not a mixture"),
        ({"damping": -1.0}, "not negative"),
        ({"stations": {"far": 3.0}}, "outside 0 to 1 m"),
        ({"stations": {"far": "end"}}, r"an arc \[m\], a number, not at 'end'"),
        ({"curvature": (0.0, np.nan, 0.0)}, "not a number"),
        ({"curvature": "arc"}, "no array of numbers"),
        ({"curvature": lambda s: (0.0, 1.0 / (s - 0.5), 0.0)}, "at 0.5 m is no array of numbers"),
    ],
)
def test_what_a_rod_cannot_be(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        rod("x", 1.0, Section(1e-4, 1e-9, 1e-9), STEEL, **given)


def test_a_mass_must_be_that_of_a_section() -> None:
    with pytest.raises(ModelError, match="rigid section"):
        rod("x", 1.0, stiffness=np.eye(6), mass=np.diag([1.0, 1.0, 1.0, 1.0, 2.0, 3.0]))

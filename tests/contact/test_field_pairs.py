"""Pairs of bodies by their fields: force and moment are the slope of one energy, and what closed forms say of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bellcrank.contact.field_energy import Coefficients, Pose, Pressed, Twist
from bellcrank.contact.fields import FieldLaw, routine
from bellcrank.contact.shapes import Box, Plane, Sphere
from bellcrank.math.vectors import Matrix, Vector
from bellcrank.program.derive import jvp_program
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import compile_program
from bellcrank.program.loops.layout import leaves
from bellcrank.program.program import Program

MODULUS = 1e7
FORCE, MOMENT, LOAD, ENERGY, DEPTH, RATE, AREA, RADIUS = slice(0, 3), slice(3, 6), 12, 13, 14, 15, 16, 18


def _program(a, b, law=FieldLaw.HALF_SPACE):
    made, graph = routine(a, b, law), Graph()
    x = [graph.input(f"x{k}") for k in range(28)]
    pose = Pose(Vector(*x[:3]), Matrix(Vector(*x[3:6]), Vector(*x[6:9]), Vector(*x[9:12])))
    found: Pressed = made(
        pose, Twist(Vector(*x[12:15]), Vector(*x[15:18])), Coefficients(*x[18:26]), memory=x[26:]
    )
    return Program.of(x, list(leaves(made.result, found)), "pair")


def _inputs(p, R=None, v=(0, 0, 0), w=(0, 0, 0), stiffness=MODULUS, damping=0.0, friction=0.0, nearness=1.0):
    R = np.eye(3) if R is None else R
    law = stiffness, damping, 1.0, friction, friction, 1e-2, 1e-3, nearness
    return np.array([*p, *np.ravel(R), *v, *w, *law, -1.0, -1.0], dtype=float)


PAIRS = [
    (Plane(), Box(0.1, 0.07, 0.05), 0.08),
    (Sphere(0.08), Box(0.1, 0.07, 0.05), 0.14),
    (Box(0.06, 0.06, 0.06), Box(0.1, 0.07, 0.05), 0.13),
]


@pytest.mark.parametrize("law", list(FieldLaw))
@pytest.mark.parametrize(("a", "b", "apart"), PAIRS, ids=lambda x: type(x).__name__)
def test_force_and_moment_are_the_slope_of_the_energy(a, b, apart, law):
    program = _program(a, b, law)
    kernel, tangent = compile_program(program), compile_program(jvp_program(program))
    random = np.random.default_rng(1)
    touched = 0
    for R in Rotation.random(12, random_state=3).as_matrix():
        p = random.normal(size=3) * 0.01 + np.array([0.0, 0.0, apart * random.uniform(0.6, 1.0)])
        x = _inputs(p, R)
        y = kernel(x)
        if y[ENERGY] == 0.0:
            continue
        touched += 1
        moment = y[MOMENT] - np.cross(p, y[FORCE])
        scale = np.linalg.norm(y[FORCE]) * 0.1
        for along in np.eye(3):
            dx = np.zeros_like(x)
            dx[:3] = along
            assert tangent(np.concatenate([x, dx]))[len(y) + ENERGY] == pytest.approx(
                -y[FORCE] @ along, rel=1e-9, abs=1e-9 * scale / 0.1
            )
            dx = np.zeros_like(x)
            dx[3:12] = np.ravel(np.cross(along, R, axisb=0, axisc=0))
            turned = tangent(np.concatenate([x, dx]))[len(y) + ENERGY]
            assert turned == pytest.approx(-moment @ along, rel=1e-9, abs=1e-9 * scale)
    assert touched > 4


def test_a_fine_sphere_presses_as_hertz_says_and_converges():
    errors = []
    depth, radius = 4e-3, 0.1
    expected = 4.0 / 3.0 * MODULUS * math.sqrt(radius) * depth**1.5
    from bellcrank.contact.field_energy import half_space, pair
    from bellcrank.contact.field_surface import NOTHING, surface_of

    for spacing in (8e-3, 4e-3, 2e-3):
        sphere = Sphere(radius)
        triangles = sphere.triangles(spacing)
        made = pair(
            half_space, Plane().field, NOTHING, sphere.field, surface_of(triangles.vertices, triangles.faces)
        )
        graph = Graph()
        x = [graph.input(f"x{k}") for k in range(28)]
        pose = Pose(Vector(*x[:3]), Matrix(Vector(*x[3:6]), Vector(*x[6:9]), Vector(*x[9:12])))
        found = made(
            pose, Twist(Vector(*x[12:15]), Vector(*x[15:18])), Coefficients(*x[18:26]), memory=x[26:]
        )
        force = compile_program(Program.of(x, [found.force.z, found.area]))(
            _inputs((0.0, 0.0, radius - depth))
        )
        errors.append(abs(force[0] / expected - 1.0))
    assert errors[-1] < 1e-2
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 1.6).all()


def test_a_face_is_linear_and_a_foundation_is_winklers():
    box = Box(0.1, 0.07, 0.05)
    for law, stiffness in ((FieldLaw.HALF_SPACE, MODULUS), (FieldLaw.FOUNDATION, 1e9)):
        kernel = compile_program(_program(Plane(), box, law))
        loads = [kernel(_inputs((0.0, 0.0, 0.05 - d), stiffness=stiffness))[LOAD] for d in (1e-5, 2e-5)]
        # The rounded edges add a little as the face sinks in.
        assert loads[1] / loads[0] == pytest.approx(2.0, rel=2e-2)
        if law is FieldLaw.FOUNDATION:
            w = 2.0 * box.field.width  # how far the blended edges reach into a side
            assert 4e4 * (0.1 - w) * (0.07 - w) < loads[0] < 4e4 * 0.1 * 0.07


def test_the_radius_of_gyration_of_a_load_is_that_of_its_patch():
    kernel = compile_program(_program(Plane(), Box(0.1, 0.07, 0.05), FieldLaw.FOUNDATION))
    at = (0.0, 0.0, 0.05 - 1e-5)
    # Of a rectangle about its middle, less the rounded edges; friction has no part in it.
    expected = math.sqrt((0.1**2 + 0.07**2) / 3.0)
    found = [kernel(_inputs(at, v=(0.1, 0, 0), stiffness=1e9, friction=f))[RADIUS] for f in (0.0, 0.4)]
    assert found[0] == found[1] == pytest.approx(expected, rel=0.05)


def test_damping_and_friction_act_against_the_motion():
    kernel = compile_program(_program(Plane(), Box(0.1, 0.07, 0.05)))
    at = (0.0, 0.0, 0.0499)
    still = kernel(_inputs(at))
    closing = kernel(_inputs(at, v=(0, 0, -0.5), damping=0.8))
    assert closing[LOAD] == pytest.approx(1.4 * still[LOAD], rel=1e-3)
    assert closing[RATE] == pytest.approx(0.5)
    parting = kernel(_inputs(at, v=(0, 0, 2.0), damping=0.8))
    assert parting[LOAD] == 0.0
    sliding = kernel(_inputs(at, v=(1.0, 0.0, 0.0), friction=0.3))
    assert sliding[0] == pytest.approx(-0.3 * still[LOAD], rel=1e-3)
    spinning = kernel(_inputs(at, w=(0.0, 0.0, 50.0), friction=0.3))
    # Coulomb's drilling moment of a rectangle: mu N times the mean distance from its middle.
    x, y = np.meshgrid(np.linspace(-0.1, 0.1, 401), np.linspace(-0.07, 0.07, 401))
    assert spinning[5] == pytest.approx(-0.3 * still[LOAD] * np.hypot(x, y).mean(), rel=5e-2)


def test_apart_the_gap_is_exact_whatever_was_remembered():
    kernel = compile_program(_program(Box(0.06, 0.06, 0.06), Box(0.1, 0.07, 0.05)))
    x = _inputs((0.0, 0.0, 0.3))
    gaps = []
    for warm in (-1.0, 0.0, 7.0, 500.0, 1e9):
        x[26:] = warm
        y = kernel(x)
        gaps.append(y[DEPTH])
        assert y[ENERGY] == y[LOAD] == y[AREA] == 0.0
    assert gaps == [pytest.approx(-0.19, abs=1e-9)] * 5
    assert len(set(gaps)) == 1


@pytest.mark.parametrize("size", [1e-4, 1e3])
def test_all_sizes_are_alike(size):
    forces = []
    for s in (1.0, size):
        kernel = compile_program(_program(Plane(), Box(0.1 * s, 0.07 * s, 0.05 * s)))
        R = Rotation.from_euler("xyz", (0.3, 0.2, 0.1)).as_matrix()
        y = kernel(_inputs((0.0, 0.0, 0.075 * s), R))
        forces.append(np.concatenate([y[FORCE] / s**2, y[MOMENT] / s**3, [y[ENERGY] / s**3, y[DEPTH] / s]]))
    assert forces[1] == pytest.approx(forces[0], rel=1e-9, abs=1e-9 * np.abs(forces[0]).max())

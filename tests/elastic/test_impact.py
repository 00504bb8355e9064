"""Dynamic contact: identities, invariances, second routes and the table of the paper's method."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from bellcrank import elastic
from bellcrank.contact import shapes
from bellcrank.elastic import Analysis, Compatibility, Element, Mass
from bellcrank.verify.sphere_on_wall import ball, energy_error, impact

from .explicit import explicit_impact

PLANE = elastic.RigidPlane()
OFF = Compatibility(velocity=False, acceleration=False)


@cache
def small(**options: object) -> elastic.ElasticBody:
    return replace(ball(6, 6.0), **options)  # type: ignore[arg-type]


def force(run: elastic.ElasticResult) -> np.ndarray:
    return np.asarray(run["contact.force"])


def assert_same_force(one: elastic.ElasticResult, two: elastic.ElasticResult, tolerance: float) -> None:
    assert np.abs(force(one) - force(two)).max() <= tolerance * force(one).max()


def test_table_of_the_paper() -> None:
    """Peaks, energy errors and roughness on 96 elements, with the tolerances of the notes."""
    errors = {0.01: 1e-3, 0.02: 1e-3, 0.05: 5e-3}
    for step, most in errors.items():
        run = impact(step)
        assert run.peak()[0] == pytest.approx(2799.0, rel=0.015)
        assert run.rebound_velocity()[1] == pytest.approx(0.9908, abs=0.003)
        assert energy_error(run) < most
        assert run.roughness() < 1.1
    assert impact(0.02, compatible=False).roughness() > 3.0


def test_a_coarse_step_still_runs_and_is_noted() -> None:
    with pytest.warns(elastic.StepNote, match="Suggested step"):
        run = impact(0.2)
    assert energy_error(run) < 5e-2
    assert "crosses" in run.notes[0]


@pytest.mark.parametrize("one", [Compatibility(velocity=False), Compatibility(acceleration=False)])
def test_one_compatibility_alone_is_not_enough(one: Compatibility) -> None:
    """On the mesh of the other figures, at half the smallest step of the paper: at its own it depends on the mesh."""
    body = ball()
    both = elastic.simulate(body, PLANE, 3.2, 0.005, frames=1)
    alone = elastic.simulate(body, PLANE, 3.2, 0.005, frames=1, compatibility=one)
    assert both.roughness() < 1.1
    assert alone.roughness() > 3.0


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_work_identity_without_compatibilities(friction: float) -> None:
    body = small()
    run = elastic.simulate(
        body, elastic.Contact(body, PLANE, friction=friction), 3.6, 0.02, compatibility=OFF
    )
    assert np.abs(run["work.residual"]).max() < 1e-10
    assert np.abs(run["contact.force"]).max() > 2000.0


def test_work_identity_with_damping_and_load() -> None:
    damped = replace(small().material, mass_damping=0.1, stiffness_damping=0.01)
    body = replace(small(), material=damped, body_force=(0.0, -0.3))
    run = elastic.simulate(body, PLANE, 3.0, 0.02, compatibility=OFF)
    assert np.abs(run["work.residual"]).max() < 1e-10
    assert run["work.damping"][-1] < 0.0


@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize("level", [4, 8])
def test_paper_iteration_gives_the_same_forces(level: int, friction: float) -> None:
    body = small()
    contact = elastic.Contact(body, PLANE, friction=friction)
    direct = elastic.simulate(body, contact, 3.4, 0.05)
    paper = elastic.simulate(body, contact, 3.4, 0.05, solver=elastic.AcceleratedIteration(level))
    assert_same_force(direct, paper, 1e-9)


def test_iteration_counts_fall_with_the_level() -> None:
    counts = []
    for level in (1, 2, 4, 6, 8):
        run = elastic.simulate(
            small(), PLANE, 1.0, 0.01, solver=elastic.AcceleratedIteration(level, tolerance=1e-5)
        )
        counts.append(float(run["updates.displacement"].mean()))
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 50.0
    assert counts[2] < 10.0
    assert counts[4] < 3.0


def test_conditions_on_the_contact_surface_hold() -> None:
    """Nodes in contact have no normal velocity; those in contact before have no normal acceleration."""
    from bellcrank.elastic.assembled import Assembled
    from bellcrank.elastic.interface import Contact, ObstacleInterface
    from bellcrank.elastic.stepping import Stepper

    body = small()
    system = Assembled([body])
    interface = ObstacleInterface(Contact(body, PLANE), system)
    stepper = Stepper(
        system, [interface], elastic.newmark(), 0.02, elastic.DirectActiveSet(), Compatibility()
    )
    now = stepper.start()
    for _ in range(60):
        before, now = now, stepper.advance(now)
    touching = interface.nodes[now.active]
    lasting = interface.nodes[now.active & before.active]
    assert touching.size >= 3
    assert np.abs(now.v.reshape(-1, 2)[touching, 1]).max() < 1e-12
    assert np.abs(now.a.reshape(-1, 2)[lasting, 1]).max() < 1e-10
    assert np.abs(body.nodes[touching, 1] + now.u.reshape(-1, 2)[touching, 1]).max() < 1e-12
    assert stepper.gap(now.u, now.t).min() > -1e-12


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_explicit_second_route(friction: float) -> None:
    body = ball(8, 6.0)
    run = impact(0.01, body, friction=friction)
    other = explicit_impact(replace(body, mass=Mass.LUMPED), 3.3, friction)
    smooth = np.convolve(other.normal, np.ones(15) / 15.0, "same")
    ours = np.interp(other.time, run.time, force(run))
    assert np.abs(smooth - ours).max() < 0.035 * ours.max()
    assert run.rebound_velocity()[1] == pytest.approx(other.velocity[-1], abs=2e-3)
    assert other.normal.sum() * other.time[0] == pytest.approx(force(run).sum() * 0.01, rel=1e-3)


def test_moving_wall_is_moving_body() -> None:
    """Galileo: a wall that comes at 1 m/s gives the same forces."""
    still = elastic.simulate(small(), PLANE, 3.4, 0.02)
    moving = elastic.simulate(small(velocity=(0.0, 0.0)), elastic.RigidPlane(velocity=(0.0, 1.0)), 3.4, 0.02)
    assert_same_force(still, moving, 1e-10)
    assert moving.rebound_velocity()[1] - 1.0 == pytest.approx(still.rebound_velocity()[1], abs=1e-10)


def test_accelerating_wall_is_gravity() -> None:
    fall = elastic.simulate(small(velocity=(0.0, 0.0), body_force=(0.0, -1.0)), PLANE, 3.0, 0.02)
    lift = elastic.simulate(
        small(velocity=(0.0, 0.0)), elastic.RigidPlane(path=lambda t: (0.0, 0.5 * t * t)), 3.0, 0.02
    )
    assert_same_force(fall, lift, 1e-7)


def test_units_do_not_matter() -> None:
    """Metres to millimetres, seconds to milliseconds, kilograms to grams."""
    length, time, mass = 1e3, 1e3, 1e3
    big = elastic.Material(500.0 * mass / (length * time**2), poisson=0.3, density=mass / length**3)
    other = elastic.sphere(
        8.0 * length,
        big,
        divisions=6,
        grading=6.0,
        centre=(0.0, 8.0 * length),
        velocity=(0.0, -length / time),
    )
    one = elastic.simulate(small(), elastic.Contact(small(), PLANE, friction=0.3), 3.4, 0.02)
    two = elastic.simulate(other, elastic.Contact(other, PLANE, friction=0.3), 3.4 * time, 0.02 * time)
    scale = mass * length / time**2
    np.testing.assert_allclose(force(two) / scale, force(one), atol=1e-8 * force(one).max())


def test_node_numbers_do_not_matter() -> None:
    body = elastic.sphere(
        8.0, ball().material, element=Element.QUADRILATERAL4, divisions=8, grading=6.0, centre=(0.0, 8.0),
        velocity=(0.0, -1.0),
    )  # fmt: skip
    rng = np.random.default_rng(4)
    order = rng.permutation(body.mesh.p.shape[1])
    place = np.argsort(order)
    cells = place[body.mesh.t][:, rng.permutation(body.mesh.t.shape[1])]
    mesh = type(body.mesh)(np.ascontiguousarray(body.mesh.p[:, order]), np.ascontiguousarray(cells))
    one = elastic.simulate(body, elastic.Contact(body, PLANE, friction=0.3), 3.4, 0.02)
    shuffled = replace(body, mesh=mesh)
    two = elastic.simulate(shuffled, elastic.Contact(shuffled, PLANE, friction=0.3), 3.4, 0.02)
    assert_same_force(one, two, 1e-9)


def test_generalised_alpha_with_no_damping_is_close_to_newmark() -> None:
    one = elastic.simulate(small(), PLANE, 3.4, 0.02)
    two = elastic.simulate(small(), PLANE, 3.4, 0.02, scheme=elastic.generalised_alpha(0.9))
    assert_same_force(one, two, 0.04)
    assert two.rebound_velocity()[1] == pytest.approx(0.9908, abs=0.003)


def test_numerical_damping_smooths_the_uncorrected_scheme() -> None:
    rough = elastic.simulate(small(), PLANE, 3.4, 0.02, compatibility=OFF)
    smooth = elastic.simulate(
        small(), PLANE, 3.4, 0.02, compatibility=OFF, scheme=elastic.generalised_alpha(0.5)
    )
    assert smooth.roughness() < 0.2 * rough.roughness()


@pytest.mark.parametrize("element", [Element.TRIANGLE3, Element.TRIANGLE6, Element.QUADRILATERAL4])
def test_other_elements_find_the_same_impact(element: Element) -> None:
    divisions = 8 if element.order == 2 else 16
    body = elastic.sphere(
        8.0, ball().material, element=element, divisions=divisions, grading=6.0, centre=(0.0, 8.0),
        velocity=(0.0, -1.0),
    )  # fmt: skip
    run = elastic.simulate(body, PLANE, 3.4, 0.02)
    assert run.peak()[0] == pytest.approx(2799.0, rel=0.015)
    assert run.rebound_velocity()[1] == pytest.approx(0.9908, abs=0.003)


@pytest.mark.parametrize(
    ("element", "divisions", "grading", "tolerance"),
    [
        (Element.HEXAHEDRON8, 6, 4.0, 0.01),
        (Element.TETRAHEDRON4, 4, 4.0, 0.01),
        # Corner nodes of six-node facets have no area of their own, so that forces scatter by some per cent.
        (Element.TETRAHEDRON10, 3, 2.0, 0.03),
    ],
)
def test_solid_balls_find_the_same_impact(
    element: Element, divisions: int, grading: float, tolerance: float
) -> None:
    body = elastic.sphere(
        8.0, ball().material, analysis=Analysis.SOLID, element=element, divisions=divisions, grading=grading,
        centre=(0.0, 0.0, 8.0), velocity=(0.0, 0.0, -1.0),
    )  # fmt: skip
    run = elastic.simulate(body, elastic.RigidPlane((0, 0, 0), (0, 0, 1)), 3.2, 0.05)
    # Flat facets leave out up to a tenth of the ball; forces of similar bodies go with the square of their size.
    share = body.total_mass / (4.0 / 3.0 * np.pi * 8.0**3)
    assert run.peak()[0] == pytest.approx(2799.0 * share ** (2.0 / 3.0), rel=tolerance)
    assert run.rebound_velocity()[2] == pytest.approx(0.9908, abs=0.003)
    assert np.abs(run.rebound_velocity()[:2]).max() < 1e-10


def test_friction_in_three_dimensions_turns_a_ball() -> None:
    """An oblique ball slows along the wall by at most the friction impulse, in the plane of its motion."""
    body = elastic.sphere(
        8.0, ball().material, analysis=Analysis.SOLID, element=Element.HEXAHEDRON8, divisions=4, grading=3.0,
        centre=(0.0, 0.0, 8.0), velocity=(0.4, 0.3, -1.0),
    )  # fmt: skip
    wall = elastic.RigidPlane((0, 0, 0), (0, 0, 1))
    run = elastic.simulate(body, elastic.Contact(body, wall, friction=0.1), 3.2, 0.05)
    v = run.rebound_velocity()
    assert v[1] / v[0] == pytest.approx(0.75, rel=1e-2)
    lost = 0.5 - float(np.hypot(v[0], v[1]))
    assert 0.1 * (1.0 + v[2]) >= lost > 0.05 * (1.0 + v[2])
    assert run["work.friction"][-1] < 0.0


def test_curved_obstacles_agree_with_each_other() -> None:
    """A sphere, and the same sphere by its level function."""
    one = elastic.simulate(small(), elastic.RigidSphere((0.0, -8.0), 8.0), 3.6, 0.02)

    def level(x: np.ndarray) -> np.ndarray:
        return x[:, 0] ** 2 + (x[:, 1] + 8.0) ** 2 - 64.0

    two = elastic.simulate(small(), elastic.RigidSurface(level, size=8.0), 3.6, 0.02)
    assert_same_force(one, two, 1e-6)
    assert energy_error(one) < 2e-3


def _shapes() -> list[tuple[shapes.Shape, float]]:
    """Shapes, and how far below their origin their lowest point lies."""
    return [
        (shapes.Sphere(2.0), 2.0),
        (shapes.Circle(2.0), 2.0),
        (shapes.Ellipsoid(3.0, 2.0, 1.0), 2.0),
        (shapes.Ellipse(3.0, 2.0), 2.0),
        (shapes.Superellipsoid(3.0, 2.0, 1.0, (2.5, 2.5)), 2.0),
        (shapes.Capsule(2.0, 1.0), 2.0),
        (shapes.Cylinder(2.0, 1.0), 2.0),
    ]


@pytest.mark.parametrize(("shape", "height"), _shapes(), ids=lambda x: type(x).__name__)
def test_every_shape_of_the_engine_is_an_obstacle(shape: shapes.Shape, height: float) -> None:
    """The top of the shape, shifted and turned by half a turn about z, is where a node touches it."""
    turned = np.diag([-1.0, -1.0, 1.0])
    obstacle = elastic.rigid_shape(shape, (0.3, -height), turned, velocity=(0.0, 1.0))
    gap, normal = obstacle.gap(np.array([[0.3, 0.0], [0.3, 1e-4], [0.3, -1e-4]]), 0.0)
    np.testing.assert_allclose(gap, [0.0, 1e-4, -1e-4], atol=2e-8)
    np.testing.assert_allclose(normal, np.tile([0.0, 1.0], (3, 1)), atol=1e-6)
    assert obstacle.gap(np.array([[0.3, 1.0]]), 1.0)[0][0] == pytest.approx(0.0, abs=1e-9)


def test_a_ball_on_a_ball_of_the_engine() -> None:
    one = elastic.simulate(small(), elastic.RigidSphere((0.0, -8.0), 8.0), 1.0, 0.02)
    two = elastic.simulate(small(), elastic.rigid_shape(shapes.Sphere(8.0), (0.0, -8.0)), 1.0, 0.02)
    assert_same_force(one, two, 1e-6)


def test_a_ball_is_caught_in_a_bowl_with_more_force_than_by_a_plane() -> None:
    plane = elastic.simulate(small(), PLANE, 3.0, 0.02)
    bowl = elastic.simulate(small(), elastic.RigidSphere((0.0, 20.0), 20.0, hollow=True), 3.0, 0.02)
    bump = elastic.simulate(small(), elastic.RigidSphere((0.0, -20.0), 20.0), 3.0, 0.02)
    assert bowl.peak()[0] > plane.peak()[0] > bump.peak()[0]


def test_compliance_is_formed_only_where_contact_is_possible() -> None:
    run = impact(0.02)
    most = max(len(points) for points, _, _ in run.recording.points)
    assert run.run.candidates < 2 * most < run.interfaces[0].count


def test_columns_are_dropped_for_large_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    from bellcrank.elastic import compliance
    from bellcrank.sparse import cholesky

    one = elastic.simulate(small(), PLANE, 2.0, 0.02)
    monkeypatch.setattr(compliance, "_KEPT", 1)
    two = elastic.simulate(small(), PLANE, 2.0, 0.02)
    assert_same_force(one, two, 1e-11)
    monkeypatch.setattr(cholesky, "SINGLE", 0)
    three = elastic.simulate(small(), PLANE, 2.0, 0.02)
    assert_same_force(one, three, 1e-11)

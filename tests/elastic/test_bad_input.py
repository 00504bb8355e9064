"""What is refused, and that the message says what to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bellcrank import elastic
from bellcrank.contact.shapes import Sphere
from bellcrank.elastic import Analysis, Element
from bellcrank.errors import ModelError

SOFT = elastic.Material(young=500.0, poisson=0.3, density=1.0)
PLANE = elastic.RigidPlane()


def drop(**options: object) -> elastic.ElasticBody:
    return elastic.block((1.0, 1.0), SOFT, divisions=(2, 2), velocity=(0.0, -1.0), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("young", 0.0, "positive"),
        ("poisson", 0.5, "0.499"),
        ("density", 0.0, "density"),
        ("mass_damping", -1.0, "neg"),
    ],
)
def test_material(field: str, value: float, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        elastic.Material(**{"young": 1.0, "poisson": 0.3, "density": 1.0, field: value})


@pytest.mark.parametrize("element", list(Element))
def test_inverted_elements(element: Element) -> None:
    d = element.dimension
    good = elastic.block((1.0,) * d, SOFT, element=element, divisions=(2,) * d).mesh
    points = good.doflocs.copy()
    middle = np.flatnonzero(np.abs(points - 0.5).max(axis=0) < 1e-9)
    points[:, middle] = 1.6
    with pytest.raises(ModelError, match=r"inverted or flat element.*'folded'.*order of its nodes"):
        elastic.ElasticBody(
            type(good)(points, good.t), SOFT, Analysis.SOLID if d == 3 else Analysis.PLANE_STRAIN, "folded"
        )


def test_start_inside_the_obstacle() -> None:
    with pytest.raises(ModelError, match=r"'block' starts 0.25 m inside an obstacle; move"):
        elastic.simulate(drop(lowest=(0.0, -0.25)), PLANE, 1.0, 0.01)


def test_start_inside_another_body() -> None:
    one, two = drop(name="one"), drop(name="two", lowest=(0.0, -0.9))
    with pytest.raises(ModelError, match=r"'one' starts 0.1 m inside 'two'"):
        elastic.simulate([one, two], elastic.Contact(one, two), 1.0, 0.01)


def test_no_contact_candidates() -> None:
    body = drop()
    nowhere = elastic.Contact(body, PLANE, surface=lambda x: x[:, 1] > 5.0)
    with pytest.raises(ModelError, match="picks no free boundary node"):
        elastic.simulate(body, nowhere, 1.0, 0.01)
    with pytest.raises(ModelError, match="nothing can come into contact"):
        elastic.simulate(body, [], 1.0, 0.01)


def test_bodies_that_never_face_each_other() -> None:
    one, two = drop(name="one"), drop(name="two", lowest=(50.0, 50.0))
    with pytest.raises(ModelError, match="faces 'two'"):
        elastic.simulate([one, two], elastic.Contact(one, two), 1.0, 0.01)


def test_step_too_large_for_the_wave() -> None:
    body = drop(lowest=(0.0, 0.1))
    crossing = 1.0 / SOFT.pressure_wave_speed
    with pytest.warns(elastic.StepNote, match=f"Suggested step: {crossing / 40.0:.2g} s"):
        run = elastic.simulate(body, PLANE, crossing, 0.5 * crossing)
    assert len(run.notes) == 1


def test_a_run_that_blows_up_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bellcrank.elastic.run._BLOWN", 1.0 - 1e-9)
    with pytest.warns(elastic.StepNote, match="grew without bound at t = 0.001 s"):
        run = elastic.simulate(drop(lowest=(0.0, 0.1)), PLANE, 0.01, 0.001)
    assert run.run.status == "diverged"
    assert not run.finished
    assert "grew without bound" in run.notes[-1]


def test_singular_stiffness() -> None:
    body = elastic.disc(1.0, SOFT, centre=(0.0, 1.0))
    top = elastic.Support(lambda x: x[:, 1] > 1.99, "y", -1.0)
    with pytest.raises(ModelError, match=r"stiffness of 'disc' is singular: 1 rigid"):
        elastic.press(body, PLANE, top, force=1.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: elastic.sphere(1.0, SOFT, divisions=5), "even"),
        (lambda: elastic.sphere(-1.0, SOFT), "positive"),
        (lambda: elastic.sphere(1.0, SOFT, analysis=Analysis.PLANE_STRAIN), "elastic.disc"),
        (lambda: elastic.sphere(1.0, SOFT, refinement=2), "triangles"),
        (lambda: elastic.sphere(1.0, SOFT, grading=0.5), "grading"),
        (lambda: elastic.block((1.0, 1.0), SOFT, element=Element.HEXAHEDRON8), "does not fit"),
        (lambda: drop(body_force=(1.0, 2.0, 3.0)), "needs 2 components"),
        (lambda: drop(thickness=0.0), "thickness"),
        (lambda: drop(thickness=float("nan")), "thickness"),
        (lambda: elastic.disc(1.0, SOFT, velocity=(0.0, float("nan"))), "velocity must be finite"),
        (lambda: elastic.disc(1.0, SOFT, centre=(0.0, float("inf"))), "finite"),
        (lambda: elastic.disc(1.0, SOFT, velocity=lambda x: np.full_like(x, np.inf)).start_velocity, "finite numbers"),
        (lambda: elastic.disc(1.0, SOFT, velocity=lambda x: x[0]).start_velocity, "2 finite numbers a place"),
        (lambda: elastic.simulate(drop(), elastic.RigidPlane((0.0, float("nan"))), 1.0, 0.01), "point of an obstacle"),
        (lambda: elastic.simulate(drop(), elastic.RigidSphere((0.0, -9.0), float("nan")), 1.0, 0.01), "radius"),
        (lambda: drop(supports=(elastic.Support(lambda x: x[:, 0] > 9.0),)).held, "picks no node"),
        (lambda: elastic.sphere(1.0, SOFT, velocity=(1.0, 0.0)).start_velocity, "along its axis"),
        (lambda: elastic.rigid_shape(Sphere(1.0), rotation=2.0 * np.eye(3)), "rotation matrix"),
        (lambda: elastic.newmark(0.25, 0.3), "standard"),
        (lambda: elastic.generalised_alpha(2.0), "0 to 1"),
        (lambda: elastic.AcceleratedIteration(0), "1 to 30"),
        (lambda: elastic.Contact(drop(), PLANE, friction=-0.1), "negative"),
        (lambda: elastic.simulate(drop(), PLANE, 1.0, 0.0), "step must be positive"),
        (lambda: elastic.simulate(drop(), PLANE, 0.001, 0.01), "at least one step"),
        (lambda: elastic.simulate(drop(), elastic.RigidPlane((0, 0, 0), (0, 0, 1)), 1.0, 0.01), "2 components"),
        (lambda: elastic.simulate(elastic.sphere(1.0, SOFT, centre=(0, 1)), elastic.RigidPlane(normal=(1, 1)), 1, 0.01),
         "normal to its axis"),
        (lambda: elastic.simulate([drop(), drop()], PLANE, 1.0, 0.01), "different names"),
        (lambda: elastic.read_mesh("nowhere.msh", SOFT, Analysis.SOLID), "there is no such file"),
        (lambda: elastic.simulate(drop(), PLANE, 0.002, 0.001)["contact.farce"], "contact.force"),
    ],
)  # fmt: skip
def test_refused(make: object, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        make()  # type: ignore[operator]


def test_a_file_without_volume_elements(tmp_path: Path) -> None:
    from skfem.io.meshio import to_meshio

    to_meshio(drop().mesh).write(tmp_path / "flat.vtu")
    with pytest.raises(ModelError, match="none is a volume element"):
        elastic.read_mesh(tmp_path / "flat.vtu", SOFT, Analysis.SOLID)
    (tmp_path / "broken.msh").write_text("this is no mesh")
    with pytest.raises(ModelError, match="cannot read"):
        elastic.read_mesh(tmp_path / "broken.msh", SOFT, Analysis.SOLID)


def test_friction_in_space_needs_the_direct_solver() -> None:
    box = elastic.block(
        (1.0, 1.0, 1.0), SOFT, element=Element.HEXAHEDRON8, divisions=(1, 1, 1), velocity=(0, 0, -1)
    )
    contact = elastic.Contact(box, elastic.RigidPlane((0, 0, 0), (0, 0, 1)), friction=0.1)
    with pytest.raises(ModelError, match="DirectActiveSet"):
        elastic.simulate(box, contact, 0.1, 0.002, solver=elastic.AcceleratedIteration())

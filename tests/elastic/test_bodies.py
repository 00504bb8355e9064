"""Bodies: volumes, rigid motions, patch test, stress recovery, mesh files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bellcrank import elastic
from bellcrank.elastic import Analysis, Element, Mass
from bellcrank.elastic.assembled import Assembled
from bellcrank.elastic.checks import rigid_motions
from bellcrank.elastic.stress import stress

MATERIAL = elastic.Material(young=500.0, poisson=0.3, density=2.0)
FLAT = [e for e in Element if e.dimension == 2]
SOLID = [e for e in Element if e.dimension == 3]


@pytest.mark.parametrize("element", FLAT)
def test_sphere_of_revolution_has_its_mass_and_area(element: Element) -> None:
    body = elastic.sphere(3.0, MATERIAL, element=element, divisions=12, grading=4.0)
    tolerance = 1e-4 if element.order == 2 else 2e-2
    assert body.total_mass == pytest.approx(2.0 * 4.0 / 3.0 * np.pi * 27.0, rel=tolerance)
    assert body.surface.areas.sum() == pytest.approx(4.0 * np.pi * 9.0, rel=tolerance)


@pytest.mark.parametrize("element", SOLID)
def test_solid_shapes_have_their_mass_and_area(element: Element) -> None:
    tolerance = 2e-3 if element.order == 2 else 0.09
    ball = elastic.sphere(1.0, MATERIAL, analysis=Analysis.SOLID, element=element, divisions=4, grading=2.0)
    drum = elastic.cylinder(1.0, 2.0, MATERIAL, analysis=Analysis.SOLID, element=element, divisions=(4, 3))
    box = elastic.block((1.0, 2.0, 3.0), MATERIAL, element=element, divisions=(2, 2, 3), grading=3.0)
    assert ball.total_mass == pytest.approx(8.0 / 3.0 * np.pi, rel=tolerance)
    assert ball.surface.areas.sum() == pytest.approx(4.0 * np.pi, rel=tolerance)
    assert drum.total_mass == pytest.approx(4.0 * np.pi, rel=tolerance)
    assert drum.surface.areas.sum() == pytest.approx(6.0 * np.pi, rel=tolerance)
    assert box.total_mass == pytest.approx(12.0)
    assert box.surface.areas.sum() == pytest.approx(22.0)


def test_flat_shapes() -> None:
    disc = elastic.disc(2.0, MATERIAL, thickness=0.5, divisions=8)
    tube = elastic.cylinder(2.0, 3.0, MATERIAL)
    assert disc.total_mass == pytest.approx(2.0 * 0.5 * np.pi * 4.0, rel=1e-4)
    assert tube.total_mass == pytest.approx(2.0 * 12.0 * np.pi, rel=1e-12)


@pytest.mark.parametrize("element", list(Element))
@pytest.mark.parametrize("mass", list(Mass))
def test_rigid_motions_strain_nothing_and_carry_the_mass(element: Element, mass: Mass) -> None:
    size = (1.0, 2.0, 1.5)[: element.dimension]
    body = elastic.block(size, MATERIAL, element=element, divisions=(2,) * element.dimension, mass=mass)
    motions = rigid_motions(body.nodes, False)
    assert np.abs(body.stiffness_matrix @ motions).max() < 1e-10 * MATERIAL.young
    for k in range(element.dimension):
        assert motions[:, k] @ (body.mass_matrix @ motions[:, k]) == pytest.approx(body.total_mass)
    if mass is Mass.LUMPED:
        assert body.mass_matrix.nnz == body.nodes.size
        assert body.mass_matrix.diagonal().min() > 0.0


@pytest.mark.parametrize("element", list(Element))
def test_patch_test_and_stress_recovery(element: Element) -> None:
    """A linear displacement needs no force inside, and its stress comes back exactly."""
    d = element.dimension
    body = elastic.block((1.0, 2.0, 1.5)[:d], MATERIAL, element=element, divisions=(3,) * d, grading=2.0)
    gradient = np.random.default_rng(1).normal(size=(d, d))
    u = body.nodes @ gradient.T
    force = (body.stiffness_matrix @ u.ravel()).reshape(-1, d)
    inner = np.setdiff1d(np.arange(len(body.nodes)), body.surface.nodes)
    assert np.abs(force[inner]).max(initial=0.0) < 1e-10 * np.abs(force).max()
    strain = np.zeros((3, 3))
    strain[:d, :d] = 0.5 * (gradient + gradient.T)
    expected = MATERIAL.lame * np.trace(strain) * np.eye(3) + 2.0 * MATERIAL.shear * strain
    found = stress(body, u)
    np.testing.assert_allclose(found.tensor, np.broadcast_to(expected, found.tensor.shape), atol=1e-9 * 500.0)


def test_plane_stress_has_no_stress_across() -> None:
    body = elastic.block((1.0, 1.0), MATERIAL, analysis=Analysis.PLANE_STRESS, divisions=(2, 2))
    found = stress(body, body.nodes * np.array([0.01, 0.0]))
    nu = MATERIAL.poisson
    assert np.abs(found.tensor[:, 2, 2]).max() == 0.0
    assert found.tensor[:, 0, 0] == pytest.approx(500.0 * 0.01 / (1.0 - nu**2))


def test_axisymmetric_pressure_from_all_sides() -> None:
    """Uniform shrinking has the same pressure everywhere, hoop included."""
    body = elastic.sphere(1.0, MATERIAL, divisions=4)
    found = stress(body, -0.01 * body.nodes)
    bulk = MATERIAL.lame + 2.0 / 3.0 * MATERIAL.shear
    assert found.mean == pytest.approx(-0.03 * bulk)
    assert np.abs(found.von_mises).max() < 1e-9 * bulk


@pytest.mark.parametrize("element", list(Element))
@pytest.mark.parametrize("suffix", [".vtu", ".msh"])
def test_mesh_files(element: Element, suffix: str, tmp_path: Path) -> None:
    if suffix == ".msh" and element is Element.HEXAHEDRON27:
        pytest.skip("one format is enough for this element")
    from skfem.io.meshio import to_meshio

    d = element.dimension
    body = elastic.block((1.0, 2.0, 1.5)[:d], MATERIAL, element=element, divisions=(2,) * d)
    file = tmp_path / f"box{suffix}"
    to_meshio(body.mesh).write(file, file_format="gmsh" if suffix == ".msh" else None)
    read = elastic.read_mesh(file, MATERIAL, body.analysis, scale=2.0, velocity=(0.0,) * d)
    assert read.element is element
    assert read.name == "box"
    assert read.total_mass == pytest.approx(2.0**d * body.total_mass)


def test_a_first_order_file_can_be_raised(tmp_path: Path) -> None:
    from skfem.io.meshio import to_meshio

    body = elastic.block((1.0, 1.0), MATERIAL, element=Element.TRIANGLE3, divisions=(2, 2))
    to_meshio(body.mesh).write(tmp_path / "square.vtu")
    raised = elastic.read_mesh(
        tmp_path / "square.vtu", MATERIAL, Analysis.PLANE_STRAIN, element=Element.TRIANGLE6
    )
    assert len(raised.nodes) == 25


def test_a_forecast_is_that_of_the_factors_of_a_run() -> None:
    body = elastic.block(
        (1.0, 1.0, 1.0),
        elastic.Material(young=1.0, poisson=0.3, density=1.0),
        element=Element.HEXAHEDRON8,
        divisions=(3, 3, 3),
        supports=(elastic.Support(lambda x: x[:, 2] > 0.9),),
    )
    system = Assembled([body])
    forecast = system.factor(system.stiffness + system.mass).inner.elimination.forecast
    assert body.forecast() == forecast
    assert "144 unknowns" in str(forecast)

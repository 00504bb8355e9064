"""Two elastic bodies: balance of forces, patches of meshes that do not match, sliding, a second route."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank import elastic
from bellcrank.elastic import Element
from bellcrank.elastic.assembled import Assembled
from bellcrank.elastic.facets import shapes
from bellcrank.elastic.interface import Contact
from bellcrank.elastic.mortar import MortarInterface

SOFT = elastic.Material(young=500.0, poisson=0.3, density=1.0)


def stack(
    element: Element, above: int = 3, below: int = 2
) -> tuple[elastic.ElasticBody, elastic.ElasticBody]:
    d = element.dimension
    size, zero = (1.0,) * d, (0.0,) * (d - 1)
    upper = elastic.block(
        size, SOFT, element=element, divisions=(above,) * d, lowest=(*zero, 0.0), name="upper"
    )
    lower = elastic.block(
        size, SOFT, element=element, divisions=(below,) * d, lowest=(*zero, -1.0), name="lower"
    )
    return upper, lower


@pytest.mark.parametrize("element", list(Element))
def test_weights_balance_and_reproduce_linear_fields(element: Element) -> None:
    upper, lower = stack(element)
    system = Assembled([upper, lower])
    interface = MortarInterface(Contact(upper, lower), system)
    met = np.isfinite(interface.gap(np.zeros_like(system.nodes), 0.0))
    rows = interface.rows(np.flatnonzero(met), np.zeros_like(system.nodes), 0.0, 1.0)
    assert met.sum() == (4 if element.dimension == 2 else 16)
    assert np.abs(rows.weights.sum(axis=1)).max() < 1e-12
    assert interface.areas[met].sum() >= 1.0 - 1e-9
    jump = rows.weights @ (system.nodes @ np.random.default_rng(0).normal(size=(element.dimension,) * 2))
    assert np.abs(jump).max() < 1e-10
    np.testing.assert_allclose(rows.frames[:, 0, -1], -1.0, atol=1e-12)


@pytest.mark.parametrize("element", [e for e in Element if e.dimension == 3] + [Element.TRIANGLE6])
def test_facets_have_partition_of_unity_at_their_nodes(element: Element) -> None:
    upper, _ = stack(element, 2)
    surface = upper.surface.facets
    grid = np.random.default_rng(1).uniform(0.0, 0.4, size=(7, element.dimension - 1))
    n, g = shapes(surface.kind, surface.order, grid)
    assert n.sum(axis=1) == pytest.approx(1.0)
    assert np.abs(g.sum(axis=1)).max() < 1e-12
    flat = np.einsum("kn,fnd->fkd", n, upper.nodes[surface.nodes])
    on_face = np.abs(flat * (flat - 1.0)).min(axis=2)
    assert on_face.max() < 1e-12


def test_momentum_is_kept_and_exchanged() -> None:
    one = elastic.disc(
        1.0, SOFT, divisions=6, grading=4.0, centre=(0.0, 1.0), velocity=(0.0, -1.0), name="one"
    )
    two = elastic.disc(1.0, SOFT, divisions=5, centre=(0.0, -1.0), name="two")
    run = elastic.simulate([one, two], Contact(one, two), 0.6, 0.004)
    momentum = sum(body.total_mass * run[f"{body.name}.velocity"] for body in (one, two))
    assert np.abs(momentum - momentum[0]).max() < 1e-10 * one.total_mass
    assert run.rebound_velocity("two")[1] == pytest.approx(-1.0, abs=0.02)
    assert float(np.abs(run["energy.error"]).max()) < 5e-3


def test_symmetric_impact_is_impact_on_a_wall() -> None:
    """Two equal discs meeting head on: each does what it would on a rigid wall, the closer the finer the mesh.

    The conditions differ: means over the patches of nodes here, every node there.
    """
    apart = []
    for divisions in (6, 12):
        up = elastic.disc(
            1.0, SOFT, divisions=divisions, grading=4.0, centre=(0.0, 1.0), velocity=(0.0, -1.0), name="up"
        )
        mirrored = type(up.mesh)(np.ascontiguousarray(up.mesh.doflocs * np.array([[1.0], [-1.0]])), up.mesh.t)
        down = elastic.ElasticBody(mirrored, SOFT, velocity=(0.0, 1.0), name="down")
        pair = elastic.simulate([up, down], Contact(up, down), 0.3, 0.002, frames=1)
        wall = elastic.simulate(up, elastic.RigidPlane(), 0.3, 0.002, frames=1)
        one, two = np.asarray(pair["contact.force"]), np.asarray(wall["contact.force"])
        speeds = pair.rebound_velocity("up")[1] - wall.rebound_velocity()[1]
        apart.append((float(abs(speeds)), float(np.abs(one - two).max() / two.max())))
    coarse, fine = apart
    assert fine[0] < min(1e-3, 0.6 * coarse[0])
    assert fine[1] < min(0.1, 0.6 * coarse[1])
    assert one.sum() == pytest.approx(two.sum(), rel=1e-2)


def test_friction_drags_the_lower_block_along() -> None:
    floor = elastic.Support(lambda x: x[:, 1] < -0.999)
    upper = elastic.block(
        (1.0, 0.5), SOFT, divisions=(8, 4), lowest=(0.2, 0.0), velocity=(0.5, -0.5), name="upper"
    )
    lower = elastic.block(
        (2.0, 1.0), SOFT, divisions=(8, 4), lowest=(-0.2, -1.0), supports=(floor,), name="lower"
    )
    run = elastic.simulate([upper, lower], Contact(upper, lower, friction=0.2), 0.15, 0.002)
    push = run["contact.force_vector"].sum(axis=0)
    assert push[1] > 0.0
    assert push[0] / push[1] == pytest.approx(-0.2, abs=0.02)
    assert run["work.friction"][-1] < 0.0


def test_solid_blocks_meet() -> None:
    upper = elastic.block((1.0, 1.0, 0.5), SOFT, element=Element.HEXAHEDRON8, divisions=(3, 3, 2),
                          velocity=(0.0, 0.0, -1.0), name="upper")  # fmt: skip
    lower = elastic.block((1.0, 1.0, 0.5), SOFT, element=Element.HEXAHEDRON8, divisions=(2, 2, 2),
                          lowest=(0.0, 0.0, -0.5), name="lower")  # fmt: skip
    run = elastic.simulate([upper, lower], Contact(upper, lower), 0.15, 0.0025)
    total = run.rebound_velocity("upper") + run.rebound_velocity("lower")
    np.testing.assert_allclose(total, [0.0, 0.0, -1.0], atol=1e-9)
    assert run.rebound_velocity("lower")[2] < -0.8


def test_a_body_from_afar_is_met_as_one_that_starts_near() -> None:
    """Points are paired anew on the way, and those that were too far away at the start touch, too."""
    forces = []
    for apart in (0.0, 3.2):
        one = elastic.disc(
            1.0, SOFT, divisions=5, centre=(0.3, 2.0 + apart), velocity=(0.0, -1.0), name="one"
        )
        two = elastic.disc(1.0, SOFT, divisions=4, centre=(0.0, 0.0), name="two")
        run = elastic.simulate([one, two], Contact(one, two), 0.5 + apart, 0.01, frames=1)
        forces.append(np.asarray(run["contact.force"])[round(apart / 0.01) :])
    assert forces[0].max() > 10.0
    np.testing.assert_allclose(forces[1], forces[0], atol=2e-3 * forces[0].max())

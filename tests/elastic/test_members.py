"""Elastic bodies as members of a mechanism: inertia, frequencies, statics of the contact zone, a link on a stop."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh

import bellcrank as bc
from bellcrank import elastic
from bellcrank.elastic import Analysis, Element
from bellcrank.elastic.checks import rigid_motions
from bellcrank.elastic.members import _own
from bellcrank.errors import ModelError

STEEL = elastic.Material(young=2.0e11, poisson=0.3, density=8000.0)


def bar(**more: Any) -> elastic.ElasticBody:
    return elastic.block(
        (1.0, 0.1), STEEL, analysis=Analysis.PLANE_STRESS, divisions=(10, 1), thickness=0.05, name="bar", **more
    )  # fmt: skip


def under(x: Any) -> Any:
    return (x[:, -1] < 1e-9) & (x[:, 0] > 0.75)


def test_a_plane_body_keeps_its_inertia_and_frequencies() -> None:
    body = bar()
    model = elastic.flexible_model(body, nodes={"left": lambda x: x[:, 0] < 1e-9}, zone=under)
    member = model.reduce(elastic.kept_zone(model, {"left": "x y"}, 4))
    mass = 8000.0 * 0.1 * 0.05
    assert member.mass == pytest.approx(mass)
    np.testing.assert_allclose(member.center_of_mass, [0.5, 0.05, 0.0], atol=1e-12)
    about_z = mass * (1.0 + 0.01) / 12.0 + mass * (0.25 + 0.0025)
    assert member.inertia[2, 2] == pytest.approx(about_z)
    assert member.inertia[0, 0] == pytest.approx(mass * (0.01 / 12.0 + 0.0025 + 0.05**2 / 12.0))
    squares = eigh(body.stiffness_matrix.toarray(), body.mass_matrix.toarray(), eigvals_only=True)
    np.testing.assert_allclose(member.frequencies[:4], np.sqrt(squares[3:7]) / (2.0 * np.pi), rtol=1e-6)
    assert elastic.zone_nodes(member) == [f"zone {k + 1}" for k in range(5)]
    np.testing.assert_allclose(
        [member.nodes[n].position[0] for n in elastic.zone_nodes(member)], np.arange(0.8, 1.01, 0.05)
    )


@pytest.mark.parametrize("solid", [False, True])
def test_the_contact_zone_yields_as_all_elements_do(solid: bool) -> None:
    """Balanced forces at nodes of the zone and at the interface: the same relative displacements, statically."""
    if solid:
        body = elastic.block(
            (1.0, 0.2, 0.1), STEEL, element=Element.HEXAHEDRON8, divisions=(6, 2, 2), name="bar"
        )
        zone, interface, pin = (lambda x: under(x) & (np.abs(x[:, 1] - 0.1) < 1e-9)), "x y z", (0.0, 0.1, 0.0)
    else:
        body, zone, interface, pin = bar(), under, "x y", (0.0, 0.05)  # type: ignore[assignment]
    d = body.dimension
    model = elastic.flexible_model(body, nodes={"pin": pin}, zone=zone)
    member = model.reduce(elastic.kept_zone(model, {"pin": interface}, 2))
    rng = np.random.default_rng(3)
    names = ["pin", *elastic.zone_nodes(model)]
    places = np.array([model.places[n].position[:d] for n in names])
    motions = rigid_motions(places, False)
    forces = rng.normal(size=places.size)
    forces -= motions @ np.linalg.lstsq(motions, forces, rcond=None)[0]
    at = [int(np.linalg.norm(body.nodes - x, axis=1).argmin()) for x in places]
    dofs = (d * np.array(at)[:, None] + np.arange(d)).ravel()
    load = np.zeros(body.nodes.size)
    load[dofs] = forces
    full = np.linalg.lstsq(body.stiffness_matrix.toarray(), load, rcond=1e-13)[0][dofs]
    rows = np.vstack([member.nodes[n].translation[:d] for n in names])
    ours = rows @ np.linalg.solve(member.stiffness, rows.T @ forces)
    gap = ours - full
    gap -= motions @ np.linalg.lstsq(motions, gap, rcond=None)[0]
    assert np.abs(gap).max() < 1e-6 * np.abs(full).max()


def test_stress_of_the_member_is_that_of_the_body() -> None:
    from bellcrank.elastic.stress import stress

    body = bar()
    model = elastic.flexible_model(body, zone=under)
    member = model.reduce(elastic.kept_zone(model, {}, 3))
    eta = np.random.default_rng(0).normal(size=member.modes)
    u = member.recover("displacement", eta)[:, :2]
    expected = stress(body, u).tensor
    found = member.recover("stress", eta)
    scale = np.abs(expected).max()
    assert np.abs(found[:, 0] - expected[:, 0, 0]).max() < 1e-9 * scale
    assert np.abs(found[:, 3] - expected[:, 0, 1]).max() < 1e-9 * scale


def test_a_link_on_a_stop_follows_the_finite_elements() -> None:
    """Force, impulse, end of contact and rebound come nearer as modes are added."""
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "elastic_link_on_stop.py"))
    exact = example["with_all_elements"]()
    few, many = (example["in_a_mechanism"](count) for count in (6, 24))
    off = [example["difference"](one, exact) for one in (few, many)]
    assert off[1] < 0.06 < 0.5 * off[0]
    assert many.spin == pytest.approx(exact.spin, abs=0.01)
    assert many.impulse == pytest.approx(exact.impulse, rel=0.01)
    assert many.last == pytest.approx(exact.last, rel=0.02)
    assert many.force.max() == pytest.approx(exact.force.max(), rel=0.08)
    # The same compatibilities as the finite elements: as near, and smoother than with springs. Its last contact is not
    # compared: with 24 modes it grazes the stop once more, which the one with springs misses by 50 nm.
    held = example["in_a_mechanism"](24, treatment="impulsive")
    assert example["difference"](held, exact) < 0.06
    assert held.spin == pytest.approx(exact.spin, abs=0.01)
    assert held.impulse == pytest.approx(exact.impulse, rel=0.01)
    assert held.force.max() == pytest.approx(exact.force.max(), rel=0.08)
    assert held.roughness < 0.8 * many.roughness


def test_a_link_keeps_its_energy_but_for_the_nodes_that_stop() -> None:
    """The dampers take no more than the energy of the little mass at the nodes of the zone."""
    model = elastic.flexible_model(
        bar(), nodes={"pin": (0.0, 0.05)}, zone=lambda x: under(x) & (x[:, 0] < 0.91)
    )
    member = model.reduce(elastic.kept_zone(model, {"pin": "x y"}, 8, "y"))
    system = bc.System("bar", gravity=(0.0, 0.0, 0.0))
    body = system.flexible_body("bar", member, at=(0.0, -0.05, 0.0))
    system.revolute("pin", system.ground, body.node("pin"), axis="z")
    elastic.touch(system, "stop", body, system.ground.circle(5.0, at=(0.85, -5.05 - 2e-6, 0.0)))
    run = system.simulate(
        4e-4, initial={"pin": (0.0, -1.0)}, integrator="dormand_prince5", tolerance=1e-7, output=400
    )
    kinetic, strain = np.asarray(run["energy.kinetic"]), np.asarray(run["bar.strain_energy"])
    assert run["stop 1.normal_force"][-1] == run["stop 2.normal_force"][-1] == 0.0
    assert strain.max() > 0.05 * kinetic[0]
    own = sum(
        0.5 * _own(member, node)[1] * member.node(node).position[0] ** 2
        for node in elastic.zone_nodes(member)
    )
    lost = kinetic[0] - kinetic[-1] - strain[-1]
    assert 0.0 < lost < own


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: elastic.flexible_model(elastic.sphere(1.0, STEEL)), "axisymmetric"),
        (lambda: elastic.flexible_model(bar(supports=(elastic.Support(lambda x: x[:, 0] < 1e-9),))), "joints"),
        (lambda: elastic.flexible_model(bar(), zone=lambda x: x[:, 0] > 9.0), "picks no boundary node"),
        (lambda: elastic.flexible_model(bar(), nodes={"pin": (0.02, 0.05)}), r"'pin'.*nearest is at \(0, 0.05\)"),
        (lambda: elastic.flexible_model(bar(), nodes={"pin": (0.0, 0.05, 0.0)}), "2 coordinates"),
        (lambda: elastic.flexible_model(bar(), nodes={"pin": lambda x: x[:, 0] > 9.0}), "'pin'.*picks no node"),
        (lambda: elastic.kept_zone(elastic.flexible_model(bar()), {}, 2), "no contact zone"),
        (lambda: _rigid_touch(), "'box' is rigid"),
    ],
)  # fmt: skip
def test_refused(make: Any, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        make()


def _rigid_touch() -> None:
    system = bc.System("box")
    elastic.touch(system, "stop", system.body("box", 1.0), system.ground.line())

"""Identities that shape integrals must meet whatever the body."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bellcrank.errors import ModelError
from bellcrank.flexible import (
    Chord,
    Clamped,
    Material,
    MeanAxes,
    NormalModes,
    Section,
    beam,
    circle,
    given_matrices,
    rectangle,
    solid,
    taper,
)
from bellcrank.flexible.stations import LEVI_CIVITA

STEEL = Material(200e9, density=7830.0, poisson=0.3)
SKEW = Section(6e-4, 3e-8, 8e-8, product=1e-8, torsion=5e-8, offset=(0.01, -0.02))


def bar(**options):
    return beam("bar", 0.8, options.pop("section", SKEW), STEEL, 5, rotary_inertia=True, start=0.1, **options)


def block():
    skfem = pytest.importorskip("skfem")
    mesh = skfem.MeshTet.init_tensor(*(np.linspace(0, size, 3) for size in (0.3, 0.1, 0.05)))
    return solid("block", mesh.translated((0.1, 0.2, -0.3)), STEEL, order=2)


def matrices_of_the_bar():
    model = bar()
    x = np.array([[0.1 + 0.16 * i, 0, 0] for i in range(6)])
    return given_matrices("given", model.mass_matrix, model.stiffness_matrix, x, "x y z rx ry rz")


def matrices_of_the_block():
    model = block()
    return given_matrices("given", model.mass_matrix, model.stiffness_matrix, model.inertia.places)


BODIES = {
    "beam": bar,
    "tapered beam": lambda: bar(section=taper(circle, 0.04, 0.02, 0.8)),
    "lumped beam": lambda: bar(mass="lumped"),
    "solid": block,
    "given beam": matrices_of_the_bar,
    "given solid": matrices_of_the_block,
}


@pytest.fixture(params=BODIES, scope="module")
def model(request):
    return BODIES[request.param]()


def test_rigid_motions_carry_the_rigid_inertia(model):
    """The mass matrix under rigid motion is [m, -[h]x; [h]x, J], and the stiffness does not feel it."""
    m, h, S = model.mass, model.first_moment, model.second_moment
    cross = np.einsum("iaj,j->ia", LEVI_CIVITA, h)
    rigid = np.block([[m * np.eye(3), cross], [cross.T, np.trace(S) * np.eye(3) - S]])
    R = model.rigid
    np.testing.assert_allclose(R.T @ (model.mass_matrix @ R), rigid, atol=1e-10 * m)
    K = model.stiffness_matrix
    assert np.abs(K @ R).max() < 1e-9 * (abs(K) @ np.abs(R)).max()


def test_integrals_of_rigid_motions(model):
    parts = model.inertia.integrals(model.rigid)
    m, h, S = model.mass, model.first_moment, model.second_moment
    turned = np.einsum("iaj,jk->aik", LEVI_CIVITA, S)
    size = m * float(np.abs(model.rigid).max()) ** 2
    np.testing.assert_allclose(parts.momentum[:3], m * np.eye(3), atol=1e-10 * size)
    np.testing.assert_allclose(parts.momentum[3:], np.einsum("iaj,j->ai", LEVI_CIVITA, h), atol=1e-10 * size)
    np.testing.assert_allclose(parts.coupling[:3], np.einsum("ai,j->aij", np.eye(3), h), atol=1e-10 * size)
    if model.name != "given" or model.inertia.__class__.__name__ == "NodalInertia":
        np.testing.assert_allclose(parts.coupling[3:], turned, atol=1e-10 * size)
        # Translation along b with rotation about a: e_b (e_a x h)^T.
        mixed = np.einsum("bi,jak,k->baij", np.eye(3), LEVI_CIVITA, h)
        np.testing.assert_allclose(parts.modal_coupling[:3, 3:], mixed, atol=1e-10 * size)
        twice = np.einsum("iap,pq,jbq->abij", LEVI_CIVITA, S, LEVI_CIVITA)
        np.testing.assert_allclose(parts.modal_coupling[3:, 3:], twice, atol=1e-10 * size)


def test_modal_coupling_traces_to_the_mass_matrix(model):
    basis = np.random.default_rng(1).standard_normal((model.freedoms, 4))
    GG = model.inertia.integrals(basis).modal_coupling
    M = basis.T @ (model.mass_matrix @ basis)
    np.testing.assert_allclose(np.trace(GG, axis1=2, axis2=3), M, rtol=1e-9, atol=1e-12 * np.abs(M).max())
    np.testing.assert_allclose(GG, GG.transpose(1, 0, 3, 2), atol=1e-12 * np.abs(GG).max())


@pytest.mark.parametrize("frame", [MeanAxes(), Clamped("start"), Chord("start", "end")])
def test_modes_are_orthonormal_and_meet_the_frame(frame):
    model = bar(points={"middle": 0.37})
    member = model.reduce(NormalModes(8), frame)
    np.testing.assert_allclose(member.modal_mass, np.eye(8), atol=1e-9)
    squares = (2 * np.pi * member.frequencies) ** 2
    np.testing.assert_allclose(member.stiffness, np.diag(squares), atol=1e-8 * squares[-1])
    if isinstance(frame, MeanAxes):
        assert np.abs(member.momentum).max() < 1e-9 * np.sqrt(member.mass)
        angular = np.einsum("ijk,nkj->ni", LEVI_CIVITA, member.coupling)
        assert np.abs(angular).max() < 1e-9
    else:
        assert not member.node("start").translation.any()
        assert not member.node("start").shortening.any()
    if isinstance(frame, Chord):
        assert not member.node("end").translation[1:].any()


def test_a_point_between_nodes_moves_as_the_field_says():
    model = bar(points={"middle": 0.37})
    member = model.reduce(NormalModes(5), Clamped("start"))
    fine = beam("bar", 0.8, SKEW, STEEL, np.unique([0, 0.2, 0.37 / 0.8, 0.4, 0.6, 0.8, 1]), start=0.1)
    place = fine.place("node 3")
    np.testing.assert_allclose(place.position, member.node("middle").position)
    h = 1e-6
    near = bar(points={"a": 0.37 - h, "b": 0.37 + h}).reduce(NormalModes(5), Clamped("start"))
    slope = (near.node("b").translation - near.node("a").translation) / (2 * h)
    np.testing.assert_allclose(slope[1], member.node("middle").rotation[2], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(slope[2], -member.node("middle").rotation[1], rtol=1e-4, atol=1e-6)


def test_units_do_not_matter():
    """Lengths in millimetres and masses in tonnes: frequencies stay, integrals scale as their dimensions say."""
    a, b = 1e3, 1e-3
    material = Material(STEEL.young * b / a, density=STEEL.density * b / a**3, poisson=STEEL.poisson)
    metre = beam("rod", 0.3, rectangle(0.02, 0.01), STEEL, 6).reduce(NormalModes(5), Chord("start", "end"))
    milli = beam("rod", 0.3 * a, rectangle(0.02 * a, 0.01 * a), material, 6, check_units=False).reduce(
        NormalModes(5), Chord("start", "end")
    )
    np.testing.assert_allclose(milli.frequencies, metre.frequencies, rtol=1e-9)
    np.testing.assert_allclose(milli.momentum, metre.momentum * b**0.5, rtol=1e-6, atol=1e-10)
    np.testing.assert_allclose(milli.coupling, metre.coupling * b**0.5 * a, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(milli.modal_coupling, metre.modal_coupling, atol=1e-8)
    np.testing.assert_allclose(milli.shortening_coupling, metre.shortening_coupling, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(
        milli.node("end").shortening, metre.node("end").shortening / (a * b), rtol=1e-6, atol=1e-7
    )


def test_numbering_of_nodes_does_not_matter():
    model = block()
    rng = np.random.default_rng(5)
    s = len(model.inertia.places)
    new = rng.permutation(s)
    freedoms = (3 * new[:, None] + np.arange(3)).ravel()
    x = model.inertia.places
    first = given_matrices("block", model.mass_matrix, model.stiffness_matrix, x).reduce(NormalModes(6))
    M, K = (A[freedoms][:, freedoms] for A in (model.mass_matrix, model.stiffness_matrix))
    second = given_matrices("block", M, K, x[new]).reduce(NormalModes(6))
    np.testing.assert_allclose(second.frequencies, first.frequencies, rtol=1e-9)
    np.testing.assert_allclose(second.coupling, first.coupling, atol=1e-8)
    np.testing.assert_allclose(
        second.node(x[3]).translation,
        first.node(x[3]).translation,
        atol=1e-7 * np.abs(first.node(x[3]).translation).max(),
    )


def test_lumped_integrals_are_sums_over_nodes():
    model = beam("rod", 0.4, circle(0.01), STEEL, 4, mass="lumped", planar=True)
    member = model.reduce(NormalModes(count=3), Chord("start", "end"))
    share = np.array([0.5, 1, 1, 1, 0.5]) * model.mass / 4
    nodes = [member.node((0.1 * i, 0, 0)) for i in range(5)]
    d = np.array([node.translation for node in nodes])
    x = np.array([node.position for node in nodes])
    G = np.array([node.shortening for node in nodes])
    np.testing.assert_allclose(member.momentum, np.einsum("p,pin->ni", share, d), atol=1e-10)
    np.testing.assert_allclose(member.coupling, np.einsum("p,pin,pj->nij", share, d, x), atol=1e-10)
    np.testing.assert_allclose(member.modal_coupling, np.einsum("p,pik,pjl->klij", share, d, d), atol=1e-9)
    np.testing.assert_allclose(
        member.shortening_momentum, np.einsum("p,pikl->kli", share, G), atol=1e-8 * np.abs(G).max()
    )


def test_a_member_without_stiffening_keeps_everything_else():
    model = bar()
    member = model.reduce(NormalModes(3), Clamped("start"))
    plain = model.reduce(NormalModes(3), Clamped("start"), stiffening=False)
    switched = member.without_stiffening()
    assert member.shortening_coupling.any()
    for one in (plain, switched):
        assert not one.shortening_coupling.any()
        assert not one.shortening_momentum.any()
        assert not any(node.shortening.any() for node in one.nodes.values())
        np.testing.assert_array_equal(one.modal_coupling, member.modal_coupling)
    assert replace(plain).name == "bar"


@pytest.mark.parametrize("make", [circle, lambda size: circle(size)])
@pytest.mark.parametrize("length", [0.0, -1.0, float("nan"), float("inf")])
def test_a_taper_needs_a_length(make, length):
    with pytest.raises(ModelError, match="length of a taper must be positive"):
        taper(make, 0.04, 0.02, length)

"""Reductions, truncation measure, damping and recovery."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

from bellcrank.errors import ModelError, UnknownName
from bellcrank.flexible import (
    AttachmentModes,
    Chord,
    Clamped,
    CraigBampton,
    GivenModes,
    Material,
    MeanAxes,
    NormalModes,
    Ratios,
    Rayleigh,
    Supports,
    assumed_shapes,
    beam,
    circle,
    equivalent_stress,
    given_matrices,
    rectangle,
    sine,
)
from bellcrank.flexible.held import Held

STEEL = Material(200e9, density=7830.0, poisson=0.3)
L = 0.6
SECTION = rectangle(0.03, 0.02)


def bar(elements=8, **options):
    return beam("bar", L, SECTION, STEEL, elements, **options)


@pytest.mark.parametrize("frame", [MeanAxes(), Clamped("start"), Chord("start", "end")])
def test_component_modes_carry_interface_loads_exactly(frame):
    member = bar().reduce(CraigBampton(("start", "end"), 3), frame)
    assert member.modes == 6 + 3
    residual = np.concatenate([member.truncation.static_residual[name] for name in ("start", "end")])
    if not isinstance(frame, MeanAxes):
        assert np.nanmax(np.abs(residual)) < 1e-7
    np.testing.assert_allclose(member.modal_mass, np.eye(9), atol=1e-7)


def test_component_modes_approach_the_whole_model_from_above():
    whole = bar().reduce(NormalModes(4), MeanAxes()).frequencies
    last = np.full(4, np.inf)
    for count in (4, 8, 16, 24, 32):
        ours = bar().reduce(CraigBampton(("start", "end"), count), MeanAxes()).frequencies[:4]
        assert (ours <= last * (1 + 1e-9)).all()
        assert (ours >= whole * (1 - 1e-8)).all()
        last = ours
    np.testing.assert_allclose(last, whole, rtol=1e-4)


def test_the_compliance_of_normal_modes_converges_with_the_third_order():
    """What n modes of a cantilever miss of its tip compliance is sum 12 / (k L)^4 over the others: n^-3."""
    bar = beam("bar", 1.0, circle(0.02), STEEL, 80, planar=True)
    missed = [
        bar.reduce(NormalModes(along={"y": n}), Clamped("start")).truncation.static_residual["end"][1]
        for n in (3, 6, 12)
    ]
    roots = (np.arange(4, 4000) - 0.5) * np.pi
    assert missed[0] == pytest.approx(np.sum(12 / roots**4), rel=1e-3)
    np.testing.assert_allclose(np.log2(np.array(missed[:-1]) / missed[1:]), 3.0, atol=0.1)


def test_attachment_modes_remove_the_static_residual():
    plain = bar().reduce(NormalModes(4), Clamped("start"))
    better = bar().reduce(AttachmentModes({"end": "x y z rx"}, 4), Clamped("start"))
    assert np.nanmax(plain.truncation.static_residual["end"]) > 0.9, "no axial mode among the lowest"
    assert np.abs(better.truncation.static_residual["end"][:4]).max() < 1e-7
    assert "attachment" in str(plain.truncation)


def test_attachment_modes_in_mean_axes_answer_with_inertia_relief():
    model = bar(planar=True)
    member = model.reduce(AttachmentModes({"end": "y"}), MeanAxes())
    assert member.modes == 1
    assert np.abs(member.momentum).max() < 1e-9


def test_effective_mass_of_all_modes_is_what_the_frame_leaves_free():
    model = bar(4, rotary_inertia=True)
    count = model.freedoms - 6
    member = model.reduce(NormalModes(count), Clamped("start"))
    np.testing.assert_allclose(member.truncation.mass_shares, member.truncation.reachable_mass, atol=1e-6)
    few = model.reduce(NormalModes(2), Clamped("start"))
    assert few.truncation.missing_mass[0] == pytest.approx(1.0)
    assert "keep more modes" in str(few)


def test_first_cantilever_mode_moves_61_percent_of_the_mass():
    """(int phi dx)^2 / (L int phi^2 dx) = 4 (sigma / beta L)^2 = 0.6131 with sigma = 0.734096, beta L = 1.875104."""
    member = bar(20, planar=True).reduce(NormalModes(1), Clamped("start"))
    assert member.truncation.mass_shares[1] == pytest.approx(0.6131, abs=1e-4)


def test_modes_under_other_supports_are_moved_into_the_frame():
    held = Supports({"start": "x y z rx ry rz", "end": "x y z rx ry rz"})
    member = bar(planar=True).reduce(NormalModes(3, boundary=held), MeanAxes())
    assert np.abs(member.momentum).max() < 1e-8
    clamped = Held(bar(planar=True), held.conditions(bar(planar=True)), "start").modes(1)[0][0]
    beta = 4.730040744862704
    exact = beta**4 * STEEL.young * SECTION.bending_z / (STEEL.density * SECTION.area * L**4)
    assert clamped == pytest.approx(exact, rel=1e-3)


def test_all_modes_up_to_a_frequency():
    member = bar().reduce(NormalModes(up_to=1500.0), Clamped("start"))
    more = bar().reduce(NormalModes(member.modes + 1), Clamped("start"))
    assert member.frequencies[-1] <= 1500.0 < more.frequencies[-1]


def test_signs_and_pairs_do_not_depend_on_the_eigensolver():
    """A round bar bends alike in all planes; its modes lie in the planes of the axes all the same."""
    round_bar = beam("round", L, circle(0.02), STEEL, 6)
    for frame in (Clamped("start"), MeanAxes(), Chord("start", "end")):
        member = round_bar.reduce(NormalModes(4), frame)
        diagonal = np.array([np.diag(member.modal_coupling[k, k]) for k in range(4)])
        np.testing.assert_allclose(diagonal, np.eye(3)[[1, 2, 1, 2]], atol=1e-9)
    tip = round_bar.reduce(NormalModes(4), Clamped("start")).node("end").translation
    assert (tip.max(axis=0) > 0).all()
    assert tip.min() == 0


def test_large_models_use_the_same_modes_as_small_ones(monkeypatch):
    """The sparse eigensolver against the dense one."""
    model = bar(12)
    for frame in (Clamped("start"), MeanAxes()):
        whole = model.reduce(NormalModes(6), frame)
        monkeypatch.setattr("bellcrank.flexible.held.DENSE", 0)
        sparse = model.reduce(NormalModes(6), frame)
        monkeypatch.undo()
        np.testing.assert_allclose(sparse.frequencies, whole.frequencies, rtol=1e-8)
        np.testing.assert_allclose(sparse.coupling, whole.coupling, atol=1e-7)


def test_given_shapes():
    model = bar(planar=True)
    held = Held(model, Clamped("start").conditions(model), "start")
    _, shapes = held.modes(2)
    member = model.reduce(GivenModes(shapes @ np.array([[1.0, 2], [3, -1]])), Clamped("start"))
    np.testing.assert_allclose(
        member.frequencies, model.reduce(NormalModes(2), Clamped("start")).frequencies, rtol=1e-8
    )


def test_damping():
    model = bar(planar=True)
    member = model.reduce(NormalModes(3), Clamped("start"), damping=Ratios((0.01, 0.02, 0.03)))
    w = 2 * np.pi * member.frequencies
    np.testing.assert_allclose(
        member.damping, np.diag(2 * np.array([0.01, 0.02, 0.03]) * w), atol=1e-6 * w[-1]
    )
    rayleigh = model.reduce(NormalModes(3), Clamped("start"), damping=Rayleigh(2.0, 1e-5))
    np.testing.assert_allclose(np.diag(rayleigh.damping), 2.0 + 1e-5 * w**2, rtol=1e-7)
    with pytest.raises(ModelError, match="2 damping ratios were given for 3 modes"):
        model.reduce(NormalModes(3), Clamped("start"), damping=Ratios((0.01, 0.02)))


def test_damping_of_shapes_that_are_not_orthogonal():
    shapes = [sine("y", 1, L), sine("y", 1.5, L)]
    member = assumed_shapes("bar", L, SECTION, STEEL, shapes, damping=Ratios(0.05))
    values = np.linalg.eigvals(
        np.block(
            [
                [np.zeros((2, 2)), np.eye(2)],
                [
                    -np.linalg.solve(member.modal_mass, member.stiffness),
                    -np.linalg.solve(member.modal_mass, member.damping),
                ],
            ]
        )
    )
    np.testing.assert_allclose(-values.real / np.abs(values), 0.05, rtol=1e-6)


def test_stress_of_a_cantilever_under_a_tip_force():
    model = bar(planar=True)
    member = model.reduce(AttachmentModes({"end": "y"}), Clamped("start"))
    force = 100.0
    eta = np.linalg.solve(member.stiffness, member.node("end").translation[1] * force)
    bending = force * L * 0.015 / SECTION.bending_z
    for y, sign in ((0.015, -1), (-0.015, 1)):
        stress = member.fields["stress"].history(eta, (0, y, 0.01), "xx")
        # The force bends the bar upward: its upper side is pressed, and moment_z is positive.
        assert stress == pytest.approx(sign * bending, rel=1e-9)
    moment = member.fields["section force"].history(np.stack([eta, 2 * eta]), (L / 2, 0, 0), "moment_z")
    np.testing.assert_allclose(moment, [force * L / 2, force * L], rtol=1e-9)
    tip = member.recover("displacement", eta)[-1, 1]
    assert tip == pytest.approx(force * L**3 / (3 * STEEL.young * SECTION.bending_z), rel=1e-9)


def test_equivalent_stress():
    np.testing.assert_allclose(
        equivalent_stress([[5, 0, 0, 0, 0, 0], [0, 0, 0, 2, 0, 0], [3, 3, 3, 0, 0, 0]]), [5, 2 * 3**0.5, 0]
    )


def test_matrices_of_a_planar_beam_give_nearly_its_member():
    model = bar(40, planar=True)
    x = np.column_stack([np.linspace(0, L, 41), np.zeros((41, 2))])
    given = given_matrices(
        "bar", model.mass_matrix, model.stiffness_matrix, x, "x y rz", {"start": 0, "end": 40}
    )
    frame = Chord("start", "end")
    ours, theirs = (one.reduce(NormalModes(along={"y": 2, "x": 1}), frame) for one in (given, model))
    np.testing.assert_allclose(ours.frequencies, theirs.frequencies, rtol=1e-8)
    np.testing.assert_allclose(ours.momentum, theirs.momentum, atol=1e-6)
    np.testing.assert_allclose(ours.coupling, theirs.coupling, atol=2e-3)
    np.testing.assert_allclose(ours.modal_coupling, theirs.modal_coupling, atol=2e-3)


def test_errors_name_what_is_wrong():
    model = bar(planar=True, points={"pin": 0.2})
    member = model.reduce(NormalModes(2), Clamped("start"))
    with pytest.raises(UnknownName, match="did you mean 'pin'"):
        member.node("pinn")
    with pytest.raises(ModelError, match=r"nearest is 'pin' at \(0.2, 0, 0\), 0.001 m away"):
        member.node((0.201, 0, 0))
    with pytest.raises(UnknownName, match="did you mean 'timoshenko'"):
        bar(theory="timoschenko")
    with pytest.raises(UnknownName, match="consistent, lumped"):
        bar(mass="none")
    with pytest.raises(ModelError, match="exactly one"):
        NormalModes(2, up_to=3.0)
    with pytest.raises(ModelError, match="rigid motion"):
        model.reduce(NormalModes(2), Supports({"start": "x y"}))
    with pytest.raises(ModelError, match=r"only .* modes"):
        bar(1, planar=True).reduce(NormalModes(30), Clamped("start"))
    with pytest.raises(ModelError, match="check the units"):
        beam("rod", 300.0e-3, circle(6.4), STEEL, 4)
    with pytest.raises(ModelError, match="Pa, sound would run"):
        beam("rod", 0.3, circle(0.0064), Material(200.0, density=7830.0), 4)
    with pytest.raises(ModelError, match="g/cm"):
        beam("rod", 0.3, circle(0.0064), Material(200e9, density=7.83), 4)
    with pytest.raises(ModelError, match="outside its length"):
        bar(points={"pin": 0.7})
    with pytest.raises(ModelError, match="not independent"):
        assumed_shapes("bar", L, SECTION, STEEL, [sine("y", 1, L), sine("y", 1, L)])


def test_given_matrices_in_millimetres_are_refused():
    bar = beam("bar", 0.8, circle(0.02), STEEL, 3)
    x = np.column_stack([np.linspace(0, 800.0, 4), np.zeros((4, 2))])
    with pytest.raises(ModelError, match="'bar' is 800 m large: lengths are in metres"):
        given_matrices("bar", bar.mass_matrix, bar.stiffness_matrix, x, "x y z rx ry rz")


def test_given_matrices_that_cannot_be_a_free_body_are_refused():
    model = bar(4, planar=True)
    x = np.column_stack([np.linspace(0, L, 5), np.zeros((5, 2))])
    M, K = model.mass_matrix, model.stiffness_matrix
    with pytest.raises(ModelError, match="make 10"):
        given_matrices("g", M, K, x, "x y")
    with pytest.raises(ModelError, match="resists the rigid motion rz"):
        given_matrices("g", M, K, 10 * x, "x y rz")
    grounded = K.toarray()
    grounded[0, 0] *= 2
    with pytest.raises(ModelError, match="resists the rigid motion x"):
        given_matrices("g", M, grounded, x, "x y rz")


def test_craig_bampton_of_one_interface_holds_the_clamped_modes():
    """Static modes of one node are rigid motions and vanish in the frame; the fixed-interface modes must stay."""
    model = bar(12)
    member = model.reduce(CraigBampton(["start"], 6), MeanAxes())
    clamped = model.reduce(NormalModes(6), Clamped("start"))
    assert member.modes == 6
    # Held at the start, in the linear theory: the modes less the rigid motion of that node.
    held = Clamped("start").conditions(model)
    shapes = CraigBampton(["start"], 6).modes(model, Held(model, MeanAxes().conditions(model), None))[1]
    free = shapes - model.rigid @ np.linalg.solve(np.asarray(held @ model.rigid), np.asarray(held @ shapes))
    squares = eigh(
        free.T @ (model.stiffness_matrix @ free), free.T @ (model.mass_matrix @ free), eigvals_only=True
    )
    np.testing.assert_allclose(np.sqrt(squares) / (2 * np.pi), clamped.frequencies, rtol=1e-6)


def test_fine_meshes_do_not_stiffen_the_static_modes():
    """What a static mode has of a rigid motion is rounding, which 300 elements made two parts in a hundred stiffer."""
    coarse, fine = (bar(n).reduce(CraigBampton(["start"], 4), stiffening=False) for n in (10, 300))
    np.testing.assert_allclose(fine.frequencies, coarse.frequencies, rtol=5e-4)


def test_one_interface_node_makes_no_static_modes():
    with pytest.raises(ModelError, match="interface start moves rigidly, which bends nothing; give a count"):
        bar(4).reduce(CraigBampton(["start"]))


def test_advice_names_what_is_not_chosen_yet():
    """A residual is answered by what the chosen modes lack, never by what they are."""
    model = bar(12, points={"middle": 0.5 * L})
    advice = {}
    for name, reduction in {
        "normal": NormalModes(1),
        "other node": CraigBampton(["start", "end"]),
        "other direction": CraigBampton(["start", "middle", "end"], directions="x y z rx"),
        "other load": AttachmentModes({"end": "y"}),
    }.items():
        cut = model.reduce(reduction, Clamped("start"), stiffening=False).truncation
        assert cut.worst_residual[2] > 0.05
        assert cut.remedy in str(cut)
        advice[name] = cut.remedy
    assert "Craig-Bampton at" in advice["normal"]
    assert advice["other node"] == "add 'middle' to the interface"
    assert advice["other direction"].startswith(("add r", "raise"))
    assert advice["other load"].endswith("to the loads")

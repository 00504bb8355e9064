"""What must not matter: units, numbering of nodes, scaling of modes; and the limits of stiff bodies and fine meshes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.flexible import (
    Chord,
    Clamped,
    Material,
    Member,
    NormalModes,
    assumed_shapes,
    circle,
    sine,
    solid,
)
from bellcrank.verify import flexible_slider_crank as paper
from flexible_dynamics.members import ALLOY, LENGTH, rod, slider_crank


def mixed(member: Member, T: np.ndarray) -> Member:
    """The member with other modal coordinates, eta = T eta'."""
    nodes = {
        name: replace(
            n,
            translation=n.translation @ T,
            rotation=n.rotation @ T,
            shortening=np.einsum("ikl,ka,lb->iab", n.shortening, T, T),
        )
        for name, n in member.nodes.items()
    }
    twice = "klij,ka,lb->abij"
    return replace(
        member,
        nodes=nodes,
        momentum=T.T @ member.momentum,
        coupling=np.einsum("kij,ka->aij", member.coupling, T),
        modal_coupling=np.einsum(twice, member.modal_coupling, T, T),
        stiffness=T.T @ member.stiffness @ T,
        damping=T.T @ member.damping @ T,
        shortening_momentum=np.einsum("kli,ka,lb->abi", member.shortening_momentum, T, T),
        shortening_coupling=np.einsum(twice, member.shortening_coupling, T, T),
        curving=np.einsum("skl,ka,lb->sab", member.curving, T, T),
    )


def motion(member: Member) -> np.ndarray:
    """Path of the slider and of the rod's middle."""
    run = slider_crank(member).simulate(0.1, tolerance=1e-10, output=20)
    return np.hstack([run["slider.position"].to_numpy(), run["rod.middle.position"].to_numpy()])


def test_scaling_and_mixing_of_modes_do_not_matter() -> None:
    member = rod("chord", 3, planar=True)
    scaled = motion(mixed(member, np.diag([1e-4, 1.0, 300.0])))
    turned = motion(mixed(member, np.array([[1.0, 0.3, 0.0], [-0.4, 1.0, 0.2], [0.1, 0.0, 1.0]])))
    plain = motion(member)
    np.testing.assert_allclose(scaled, plain, atol=1e-6)
    np.testing.assert_allclose(turned, plain, atol=1e-6)


def pendulum(unit: float) -> np.ndarray:
    """The tip of a falling rod in metres, computed with a unit of length of `unit` metres (kg and s kept)."""
    from bellcrank.flexible import beam, rectangle

    model = beam(
        "rod",
        LENGTH / unit,
        rectangle(0.01 / unit, 0.02 / unit),
        Material(ALLOY.young * unit, density=ALLOY.density * unit**3, poisson=0.3),
        6,
        check_units=False,
    )
    member = model.reduce(NormalModes(5), Clamped("start"))
    system = bc.System("pendulum", gravity=(0.0, 0.0, -9.81 / unit))
    body = system.flexible_body("rod", member)
    system.universal("hinge", system.ground.point(0, 0, 0), body.node("start"), axis_a="z", axis_b="y")
    run = system.simulate(0.2, tolerance=1e-11, output=20)
    return run["rod.end.position"].to_numpy() * unit


def test_units_do_not_matter() -> None:
    metres = pendulum(1.0)
    for unit in (1e-3, 10.0):
        np.testing.assert_allclose(pendulum(unit), metres, atol=1e-6)


def test_numbering_of_nodes_does_not_matter() -> None:
    skfem = pytest.importorskip("skfem")
    grid = (np.linspace(0, LENGTH, 7), np.linspace(-0.02, 0.02, 2), np.linspace(-0.03, 0.03, 2))
    mesh = skfem.MeshHex.init_tensor(*grid)
    order = np.random.default_rng(1).permutation(mesh.p.shape[1])
    back = np.argsort(order)
    other = skfem.MeshHex(mesh.p[:, order], back[mesh.t][:, ::-1])
    ends = {
        "start": lambda x: x[0] < 1e-9,
        "end": lambda x: x[0] > LENGTH - 1e-9,
        "middle": lambda x: np.abs(x[0] - LENGTH / 2) < 1e-9,
    }
    paths = []
    for one in (mesh, other):
        body = solid("rod", one, ALLOY, ends, rigid=("start", "end"))
        paths.append(motion(body.reduce(NormalModes(3), Chord("start", "end"))))
    np.testing.assert_allclose(paths[0], paths[1], atol=1e-6)


def rigid_path() -> np.ndarray:
    """The slider-crank of `members` with a rigid rod of the same mass and inertia."""
    member = rod("chord", 2, planar=True)
    system = bc.System("rigid", gravity=(0.0, -9.81, 0.0))
    angle, r = math.radians(40.0), 0.4
    pin = np.array([r * math.cos(angle), r * math.sin(angle), 0.0])
    lean = -math.asin(pin[1] / LENGTH)
    end = np.array([pin[0] + LENGTH * math.cos(lean), 0.0, 0.0])
    crank = system.body("crank", mass=1.0, inertia=(0.02, 0.02, 0.02), angle=angle)
    c = member.center_of_mass
    J = member.inertia - member.mass * (c @ c * np.eye(3) - np.outer(c, c))
    body = system.body("rod", mass=member.mass, center_of_mass=c, inertia=J, at=pin, angle=lean)
    slider = system.body("slider", mass=0.5, inertia=(0.01, 0.01, 0.01), at=end)
    system.revolute("main", system.ground.point(0, 0, 0), crank.point(0, 0, 0), axis="z")
    system.revolute("pin", crank.point(r, 0, 0), body.point(0, 0, 0), axis="z")
    system.revolute("wrist", body.point(LENGTH, 0, 0), slider.point(0, 0, 0), axis="z")
    system.prismatic("guide", system.ground, slider, axis="x", at=end)
    return system.simulate(0.3, tolerance=1e-11, output=30)["slider.position"].to_numpy()


def test_a_stiff_body_moves_as_a_rigid_one() -> None:
    """The difference falls as 1 / E."""
    rigid = rigid_path()
    errors = []
    for factor in (10.0, 100.0, 1000.0):
        member = rod("chord", 2, planar=True, young=ALLOY.young * factor)
        run = slider_crank(member).simulate(0.3, tolerance=1e-11, output=30, integrator="dop853")
        errors.append(np.abs(run["slider.position"].to_numpy() - rigid).max())
    assert errors[-1] < 1e-7
    assert errors[0] / errors[2] == pytest.approx(100.0, rel=0.3)


def exact_peak() -> float:
    shape = [sine("y", 1, paper.ROD)]
    member = assumed_shapes(
        "rod",
        paper.ROD,
        circle(paper.DIAMETER),
        paper.STEEL,
        shape,
        points={"middle": paper.ROD / 2},
        stiffening=False,
    )
    return paper.peak(member).ratio


@pytest.mark.parametrize(("mass", "order"), [("consistent", 4.0), ("lumped", 2.0)])
def test_meshes_converge_with_their_order(mass: str, order: float) -> None:
    exact = exact_peak()
    errors = [abs(paper.peak(paper.rod(n, mass=mass)).ratio - exact) for n in (2, 4, 8)]
    found = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(found, order, atol=0.4)


def test_modes_converge() -> None:
    """The peak of the stiffened rod settles with the number of modes at the fully nonlinear one (0.1 %)."""
    peaks = np.array([paper.peak(paper.rod(12, n, stiffening=True)).ratio for n in (1, 3, 5, 7)])
    steps = np.abs(np.diff(peaks))
    assert (steps[1:] < 0.5 * steps[:-1]).all()
    assert peaks[-1] == pytest.approx(0.0101437, rel=1e-3)

"""Surfaces of data are drawn as they are, dents and holes included."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.contact import BezierGrid, Parametric, Sampled, Shape


def ring(around: int, across: int, inner: float = 0.03) -> Sampled:
    u, v = np.meshgrid(
        2 * np.pi * np.arange(around) / around, 2 * np.pi * np.arange(across) / across, indexing="ij"
    )
    n = np.stack([np.cos(v) * np.cos(u), np.cos(v) * np.sin(u), np.sin(v)], axis=-1)
    middle = 0.1 * np.stack([np.cos(u), np.sin(u), 0 * u], axis=-1)
    return Sampled((middle + inner * n).reshape(-1, 3), n.reshape(-1, 3))


def fibonacci(number: int) -> Sampled:
    z, turn = 1 - (2 * np.arange(number) + 1) / number, np.pi * (1 + np.sqrt(5)) * np.arange(number)
    n = np.stack([np.sqrt(1 - z**2) * np.cos(turn), np.sqrt(1 - z**2) * np.sin(turn), z], axis=1)
    return Sampled(0.1 * n, n)


def triangles(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    drawn = shape.drawn()
    assert drawn is not None
    return drawn.vertices, drawn.faces


def is_open(faces: np.ndarray) -> bool:
    """Whether an edge belongs to one triangle alone."""
    edges = np.sort(np.concatenate([faces[:, (0, 1)], faces[:, (1, 2)], faces[:, (2, 0)]]), axis=1)
    return bool((np.unique(edges, axis=0, return_counts=True)[1] == 1).any())


def volume(corners: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = (corners[faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


def characteristic(corners: np.ndarray, faces: np.ndarray) -> int:
    edges = np.sort(np.concatenate([faces[:, (0, 1)], faces[:, (1, 2)], faces[:, (2, 0)]]), axis=1)
    return len(np.unique(faces)) - len(np.unique(edges, axis=0)) + len(faces)


def test_a_ring_keeps_its_hole() -> None:
    corners, faces = triangles(ring(60, 20))
    assert not is_open(faces)
    assert characteristic(corners, faces) == 0
    # 2 pi^2 R r^2, less what chords cut off.
    assert volume(corners, faces) == pytest.approx(2 * np.pi**2 * 0.1 * 0.03**2, rel=0.07)


@pytest.mark.parametrize("number", [200, 1000, 2500])
def test_a_cloud_on_a_sphere_closes(number: int) -> None:
    corners, faces = triangles(fibonacci(number))
    assert not is_open(faces)
    assert characteristic(corners, faces) == 2
    assert volume(corners, faces) == pytest.approx(4 / 3 * np.pi * 1e-3, rel=max(10.0 / number, 0.01))


def test_many_samples_are_thinned_out() -> None:
    corners, faces = triangles(fibonacci(12_000))
    assert len(faces) <= 6000
    assert volume(corners, faces) == pytest.approx(4 / 3 * np.pi * 1e-3, rel=0.02)


def test_ground_with_dents_is_no_slab() -> None:
    x, y = np.meshgrid(np.linspace(-1, 1, 25), np.linspace(-1, 1, 25), indexing="ij")
    z = 0.1 * np.sin(5 * x) * np.cos(4 * y)
    corners, faces = triangles(Sampled.from_grid(np.stack([x, y, z], axis=-1)))
    assert is_open(faces)
    middle = corners[faces].mean(axis=1)
    off = middle[:, 2] - 0.1 * np.sin(5 * middle[:, 0]) * np.cos(4 * middle[:, 1])
    assert np.abs(off).max() < 0.02
    a, b, c = (corners[faces[:, k]] for k in range(3))
    up = np.cross(b - a, c - a)
    assert (up[:, 2] > 0.0).all()
    # Every place is covered once, up to a spacing beyond the outermost samples.
    assert 4.0 < 0.5 * up[:, 2].sum() < (2.0 + 2.0 * 2.0 / 24.0) ** 2


@pytest.mark.parametrize("outward", [True, False])
def test_patches_are_drawn_with_their_outside_out(outward: bool) -> None:
    x, y = np.meshgrid(np.linspace(0, 1, 7), np.linspace(0, 1, 7), indexing="ij")
    net = np.stack([x, y, 0.2 * np.sin(3 * x)], axis=-1)
    corners, faces = triangles(Parametric.b_spline(net, outward=outward))
    a, b, c = (corners[faces[:, k]] for k in range(3))
    assert (np.cross(b - a, c - a)[:, 2] * (1 if outward else -1) > 0.0).all()
    corners, faces = triangles(BezierGrid(net))
    a, b, c = (corners[faces[:, k]] for k in range(3))
    assert 0.5 * np.cross(b - a, c - a)[:, 2].sum() == pytest.approx(1.0, rel=0.3)


def test_pages_show_shells() -> None:
    system = bc.System("ring", gravity=(0, 0, -9.81))
    body = system.body("ring", mass=1.0, inertia=(0.005, 0.005, 0.01), at=(0, 0, 0.2))
    system.free("flight", system.ground, body)
    system.contact(
        "floor",
        system.ground.plane(),
        body.shape(ring(40, 14)),
        treatment="continuous",
        stiffness=1e6,
    )
    from bellcrank.view.animation import page
    from bellcrank.view.scene import scene
    from bellcrank.view.svg import mechanism

    result = system.simulate(0.05, output=5)
    (shell,) = (s for k, s in scene(result, 5).solids if k == 0)
    assert not is_open(shell.faces)
    assert characteristic(shell.corners, shell.faces) == 0
    assert page(result).count('"n":') > 1
    # Less than all faces are seen: those turned away are left out.
    assert 0 < mechanism(scene(result, 5)).count("<polygon") < len(shell.faces) + 400

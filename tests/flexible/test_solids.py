"""Solid members against beam theory, closed forms and broken meshes."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.errors import ModelError, UnknownName
from bellcrank.flexible import (
    AttachmentModes,
    Clamped,
    CraigBampton,
    Material,
    MeanAxes,
    NormalModes,
    beam,
    rectangle,
    solid,
)
from bellcrank.flexible.recovery import outer_faces

skfem = pytest.importorskip("skfem")
meshio = pytest.importorskip("meshio")

STEEL = Material(200e9, density=7830.0, poisson=0.3)
SIZE = (0.4, 0.03, 0.02)
ENDS = {"start": lambda x: x[0] < 1e-9, "end": lambda x: x[0] > SIZE[0] - 1e-9}


def grid(counts):
    a, b, c = SIZE
    nx, ny, nz = counts
    return np.linspace(0, a, nx + 1), np.linspace(-b / 2, b / 2, ny + 1), np.linspace(-c / 2, c / 2, nz + 1)


def hexahedra(*counts):
    return skfem.MeshHex.init_tensor(*grid(counts))


def tetrahedra(*counts):
    return skfem.MeshTet.init_tensor(*grid(counts))


def axial(mesh, order):
    """First free-free axial frequency of a bar without Poisson's effect, where a rod is exact."""
    model = solid("bar", mesh, Material(200e9, density=7830.0, poisson=0.0), order=order)
    return model.reduce(NormalModes(along={"x": 1}), MeanAxes(), stiffening=False).frequencies[0]


@pytest.mark.parametrize("build", [hexahedra, tetrahedra])
@pytest.mark.parametrize("order", [1, 2])
def test_axial_frequency_converges_with_twice_the_order(build, order):
    exact = np.sqrt(200e9 / 7830.0) / (2 * SIZE[0])
    # First-order tetrahedra are refined in all directions: their unsymmetric pattern couples axial motion with bending.
    counts = [(4, 1, 1), (8, 2, 2), (16, 4, 4)] if order == 1 else [(3, 1, 1), (6, 1, 1), (12, 1, 1)]
    errors = np.array([axial(build(*n), order) / exact - 1 for n in counts])
    assert (errors > 0).all()
    rate = np.log2(errors[:-1] / errors[1:])
    assert rate[-1] == pytest.approx(2 * order, abs=0.3)


@pytest.mark.parametrize(("build", "counts"), [(hexahedra, (10, 1, 1)), (tetrahedra, (12, 2, 2))])
def test_free_bending_frequencies_agree_with_timoshenko(build, counts):
    """Free-free, where no clamping disturbs the comparison; twelve elements are 0.3 % from the limit."""
    line = beam("bar", SIZE[0], rectangle(*SIZE[1:]), STEEL, 80, theory="timoshenko").reduce(
        NormalModes(along={"z": 1, "y": 1}), MeanAxes()
    )
    body = solid("bar", build(*counts), STEEL, order=2).reduce(
        NormalModes(along={"z": 1, "y": 1}), MeanAxes(), stiffening=False
    )
    np.testing.assert_allclose(body.frequencies, line.frequencies, rtol=4e-3)


def test_first_order_elements_lock_and_second_order_ones_do_not():
    line = beam("bar", SIZE[0], rectangle(*SIZE[1:]), STEEL, 40, theory="timoshenko")
    exact = line.reduce(NormalModes(along={"z": 1}), Clamped("start")).frequencies[0]
    errors = []
    for n in (8, 16):
        body = solid("bar", hexahedra(n, 1, 1), STEEL, ENDS, order=1, rigid=("start",))
        errors.append(
            body.reduce(NormalModes(along={"z": 1}), Clamped("start"), stiffening=False).frequencies[0]
            / exact
            - 1
        )
    assert errors[0] > errors[1] > 0.1


def test_mass_and_moments_of_a_box_and_lumping():
    a, b, c = SIZE
    for mass in ("consistent", "lumped"):
        model = solid("box", tetrahedra(4, 2, 2), STEEL, order=2, mass=mass)
        assert model.mass == pytest.approx(STEEL.density * a * b * c, rel=1e-12)
        if mass == "consistent":
            np.testing.assert_allclose(model.first_moment, model.mass * np.array([a / 2, 0, 0]), atol=1e-12)
            np.testing.assert_allclose(
                model.second_moment, model.mass * np.diag([a * a / 3, b * b / 12, c * c / 12]), atol=1e-12
            )
        else:
            assert (model.mass_matrix - np.diag(model.mass_matrix.diagonal()) == 0).all()


def test_uniform_pull_gives_uniform_stress():
    material = Material(200e9, density=7830.0, poisson=0.3)
    model = solid("bar", hexahedra(4, 2, 2), material, ENDS, order=1)
    member = model.reduce(AttachmentModes({"end": "x"}), Clamped("start"), stiffening=False)
    force = 1000.0
    eta = np.linalg.solve(member.stiffness, member.node("end").translation[0] * force)
    stress = member.recover("stress", eta)
    area = SIZE[1] * SIZE[2]
    np.testing.assert_allclose(stress[:, 0], force / area, rtol=1e-6)
    np.testing.assert_allclose(stress[:, 1:], 0.0, atol=1e-6 * force / area)
    strain = member.recover("strain", eta)
    np.testing.assert_allclose(strain[:, 1], -0.3 * force / area / 200e9, rtol=1e-6)
    assert member.node("end").translation[0] @ eta == pytest.approx(
        force * SIZE[0] / (area * 200e9), rel=1e-6
    )


def test_an_averaged_interface_follows_rigid_motion_and_adds_no_stiffness():
    model = solid("bar", tetrahedra(4, 2, 2), STEEL, {**ENDS, "corner": (0.0, -0.015, -0.01)}, order=2)
    for place in model.places.values():
        moved = np.asarray(place.translation @ model.rigid)
        cross = np.array([np.cross(axis, place.position) for axis in np.eye(3)]).T
        np.testing.assert_allclose(moved, np.hstack([np.eye(3), cross]), atol=1e-9)
        turned = np.asarray(place.rotation @ model.rigid)
        np.testing.assert_allclose(turned, np.hstack([np.zeros((3, 3)), np.eye(3)]), atol=1e-8)
    np.testing.assert_allclose(model.places["end"].position, [SIZE[0], 0, 0], atol=1e-12)
    plain = solid("bar", tetrahedra(4, 2, 2), STEEL, order=2)
    assert abs(model.stiffness_matrix - plain.stiffness_matrix).max() == 0


def test_a_rigid_interface_stiffens():
    soft = solid("bar", hexahedra(4, 1, 1), STEEL, ENDS, order=2)
    hard = solid("bar", hexahedra(4, 1, 1), STEEL, ENDS, order=2, rigid=("start", "end"))
    assert hard.freedoms < soft.freedoms
    a, b = (m.reduce(NormalModes(6), MeanAxes(), stiffening=False).frequencies for m in (soft, hard))
    assert (b > a).all()
    np.testing.assert_allclose(a[:2], b[:2], rtol=0.05)


def test_component_modes_of_a_solid():
    model = solid("bar", hexahedra(6, 1, 1), STEEL, ENDS, order=2)
    member = model.reduce(CraigBampton(("start", "end"), 4), Clamped("start"), stiffening=False)
    assert member.modes == 10
    assert np.nanmax(np.abs(member.truncation.static_residual["end"])) < 1e-6


FILES = [
    *((kind, ".vtu") for kind in ("tetra", "tetra10", "hexahedron", "hexahedron20", "hexahedron27")),
    *((kind, suffix) for kind in ("tetra10", "hexahedron20") for suffix in (".msh", ".inp", ".bdf", ".vtk")),
    ("hexahedron27", ".msh"),
]
"""Each element, and each format with elements that have nodes along their edges: formats number those differently."""


@pytest.mark.parametrize(("kind", "suffix"), FILES)
def test_files_of_other_programs(tmp_path, kind, suffix):
    """A mesh in millimetres, written and read back; what a format cannot hold is left out."""
    points, cells = sample(kind)
    path = tmp_path / f"bar{suffix}"
    try:
        meshio.write(
            path,
            meshio.Mesh(1000 * points, [(kind, cells)]),
            **({"file_format": "gmsh"} if suffix == ".msh" else {}),
        )
    except (KeyError, meshio.WriteError):
        pytest.skip(f"meshio writes no {kind} as {suffix}")
    try:
        again = meshio.read(path)
    except (KeyError, meshio.ReadError):
        pytest.skip(f"meshio reads no {kind} from {suffix}")
    if again.cells[0].type != kind:
        pytest.skip(f"{suffix} keeps no {kind}")
    model = solid("bar", path, STEEL, ENDS, scale=1e-3)
    assert model.mass == pytest.approx(STEEL.density * np.prod(SIZE), rel=1e-6)
    order = 1 if kind in ("tetra", "hexahedron") else 2
    if not kind.startswith("tetra"):
        same = solid("bar", hexahedra(3, 1, 1), STEEL, order=order)
        assert model.stiffness_matrix.diagonal().sum() == pytest.approx(
            same.stiffness_matrix.diagonal().sum(), rel=1e-5
        )
    np.testing.assert_allclose(model.stiffness_matrix @ model.rigid, 0.0, atol=1e-3)


def sample(kind):
    """A bar of three blocks as points and cells of one kind, in the corner order of VTK."""
    xs, ys, zs = (
        np.linspace(lo, hi, 2 * n + 1) for lo, hi, n in ((0, 0.4, 3), (-0.015, 0.015, 1), (-0.01, 0.01, 1))
    )
    points = np.array([(x, y, z) for x in xs for y in ys for z in zs])

    def number(i, j, k):
        return (i * 3 + j) * 3 + k

    corners = ((0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (0, 0, 2), (2, 0, 2), (2, 2, 2), (0, 2, 2))
    edges = ((1, 0, 0), (2, 1, 0), (1, 2, 0), (0, 1, 0), (1, 0, 2), (2, 1, 2), (1, 2, 2), (0, 1, 2))
    edges += ((0, 0, 1), (2, 0, 1), (2, 2, 1), (0, 2, 1))
    faces = ((0, 1, 1), (2, 1, 1), (1, 0, 1), (1, 2, 1), (1, 1, 0), (1, 1, 2), (1, 1, 1))
    every = np.array([[number(2 * b + i, j, k) for i, j, k in corners + edges + faces] for b in range(3)])
    if kind.startswith("hexahedron"):
        cells = every[:, : {"hexahedron": 8, "hexahedron20": 20, "hexahedron27": 27}[kind]]
    else:
        six = ((0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6))
        cells = np.array([[block[i] for i in t] for block in every for t in six])
        if kind == "tetra10":
            pairs = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))
            place = {tuple(np.round(p, 9)): i for i, p in enumerate(points)}
            middle = [
                [place[tuple(np.round((points[t[a]] + points[t[b]]) / 2, 9))] for a, b in pairs]
                for t in cells
            ]
            cells = np.hstack([cells, middle])
    used, cells = np.unique(cells, return_inverse=True)
    return points[used], cells.reshape(len(every) if kind.startswith("hex") else 18, -1)


def test_inverted_elements_are_found(tmp_path):
    points, cells = sample("tetra")
    cells = cells.copy()
    cells[4, 3] = cells[4, 0]
    meshio.write(tmp_path / "bar.vtu", meshio.Mesh(points, [("tetra", cells)]))
    with pytest.raises(ModelError, match=r"1 of 18 elements .* inverted or flat .*number 4"):
        solid("bar", tmp_path / "bar.vtu", STEEL)
    points, cells = sample("hexahedron")
    folded = points.copy()
    folded[cells[1, 6]] = folded[cells[1, 0]] - 0.05
    meshio.write(tmp_path / "fold.vtu", meshio.Mesh(folded, [("hexahedron", cells)]))
    with pytest.raises(ModelError, match="inverted or flat"):
        solid("bar", tmp_path / "fold.vtu", STEEL)
    meshio.write(tmp_path / "mirror.vtu", meshio.Mesh(points * [1, 1, -1], [("hexahedron", cells)]))
    with pytest.raises(ModelError, match="mirrored"):
        solid("bar", tmp_path / "mirror.vtu", STEEL)


def test_loose_parts_are_found():
    one = hexahedra(2, 1, 1)
    two = one.translated((1.0, 0.0, 0.0))
    with pytest.raises(ModelError, match="falls into 2 parts"):
        solid("pair", one + two, STEEL)


def test_materials_by_region():
    mesh = hexahedra(4, 1, 1).with_subdomains({"left": lambda x: x[0] < 0.2, "right": lambda x: x[0] > 0.2})
    brass = Material(100e9, density=8500.0, poisson=0.34)
    model = solid("bar", mesh, {"left": STEEL, "right": brass})
    assert model.mass == pytest.approx((7830 + 8500) / 2 * np.prod(SIZE))
    with pytest.raises(ModelError, match=r"2 elements .* have no material \(regions without: right\)"):
        solid("bar", mesh, {"left": STEEL})
    with pytest.raises(ModelError, match="regions here: left, right"):
        solid("bar", mesh, {"middle": STEEL})


def test_wrong_units_are_refused():
    mesh = hexahedra(2, 1, 1)
    with pytest.raises(ModelError, match="scale=1e-3"):
        solid("bar", mesh.scaled(1000.0), STEEL)
    with pytest.raises(ModelError, match="GPa"):
        solid("bar", mesh, Material(210.0, density=7850.0))
    with pytest.raises(ModelError, match="t/mm"):
        solid("bar", mesh, Material(210e3, density=7.85e-9))
    solid("bar", mesh, Material(210.0, density=7850.0), check_units=False)


def test_interfaces_that_do_not_exist():
    mesh = hexahedra(2, 1, 1).with_boundaries({"left": lambda x: x[0] < 1e-9})
    assert solid("bar", mesh, STEEL, {"pin": "left"}).places["pin"].position[0] == pytest.approx(0)
    with pytest.raises(UnknownName, match="left"):
        solid("bar", mesh, STEEL, {"pin": "lft"})
    with pytest.raises(ModelError, match="holds no node"):
        solid("bar", mesh, STEEL, {"pin": lambda x: x[0] > 9})
    with pytest.raises(ModelError, match="nearest is"):
        solid("bar", mesh, STEEL, {"pin": (0.1, 0.0, 0.0)})
    with pytest.raises(ModelError, match="there is no such file"):
        solid("bar", "nowhere.msh", STEEL)


@pytest.mark.parametrize("kind", ["tetra", "tetra10"])
def test_mirrored_tetrahedra_are_turned(tmp_path, kind):
    """A file whose tetrahedra are numbered the other way round is the same body."""
    mesh = skfem.MeshTet.init_tensor(np.linspace(0, 0.4, 4), np.linspace(0, 0.1, 2), np.linspace(0, 0.1, 2))
    points, cells = mesh.p.T, mesh.t.T
    a, b, c, d = (points[cells[:, i]] for i in range(4))
    volume = np.einsum("ei,ei->e", np.cross(b - a, c - a), d - a)
    cells = np.where(volume[:, None] < 0, cells[:, [1, 0, 2, 3]], cells)
    if kind == "tetra10":
        pairs = np.sort(cells[:, [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]]].reshape(-1, 2), axis=1)
        edges, number = np.unique(pairs, axis=0, return_inverse=True)
        cells = np.hstack([cells, len(points) + number.reshape(-1, 6)])
        points = np.vstack([points, points[edges].mean(axis=1)])
    swap = [1, 0, 2, 3, 4, 6, 5, 8, 7, 9][: cells.shape[1]]
    mirrored = np.where(np.arange(len(cells))[:, None] % 3 == 0, cells[:, swap], cells)
    found = []
    for name, one in (("right", cells), ("mirrored", mirrored)):
        meshio.write(tmp_path / f"{name}.vtu", meshio.Mesh(points, [(kind, one)]))
        found.append(solid("bar", tmp_path / f"{name}.vtu", STEEL).reduce(NormalModes(4), stiffening=False))
    np.testing.assert_allclose(found[0].frequencies, found[1].frequencies, rtol=1e-9)


@pytest.mark.parametrize("kind", ["MeshTet", "MeshHex"])
def test_faces_of_a_solid_look_outwards(kind: str) -> None:
    """Their cones from the origin add up to the volume, whatever the orientation of the cells."""
    import skfem

    axes = np.linspace(0.5, 1.5, 4), np.linspace(-1.0, 1.0, 3), np.linspace(2.0, 3.0, 3)
    mesh = getattr(skfem, kind).init_tensor(*axes)
    points, cells = mesh.p.T, mesh.t.T.copy()
    if kind == "MeshTet":
        cells[::2, :2] = cells[::2, 1::-1]
    a, b, c = (points[outer_faces(cells, points)[:, k]] for k in range(3))
    assert np.einsum("ij,ij->", np.cross(a, b), c) / 6.0 == pytest.approx(2.0, rel=1e-12)

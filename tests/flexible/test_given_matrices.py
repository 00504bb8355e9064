"""Matrices of other programs: files, regions, sizes, bodies reduced elsewhere, and the warning about stiffening."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg as la
import scipy.sparse as sp
from scipy.io import mmwrite

from bellcrank.errors import ModelError
from bellcrank.flexible import (
    STEEL,
    Box,
    CraigBampton,
    ElasticModel,
    NormalModes,
    StiffeningNote,
    beam,
    given_matrices,
    rectangle,
    solid,
)

skfem = pytest.importorskip("skfem")
ENDS = {"left": Box((0.0, -1.0, -1.0), (0.0, 1.0, 1.0)), "right": lambda x: np.abs(x[0] - 0.6) < 1e-9}
SIX = "x y z rx ry rz"


def block(n: int = 3) -> ElasticModel:
    axes = (np.linspace(0, 0.6, 3 * n + 1), np.linspace(0, 0.1, n + 1), np.linspace(0, 0.1, n + 1))
    mesh = skfem.MeshHex.init_tensor(*axes)
    # By their numbers, nodes weigh alike, as those of a body without elements do.
    return solid("block", mesh, STEEL, {name: np.flatnonzero(which(mesh.p)) for name, which in ENDS.items()})


def nodes_of(model: ElasticModel) -> np.ndarray:
    return model.freedom_places[::3]


def test_regions_are_interfaces_as_those_of_the_mesh() -> None:
    model = block()
    given = given_matrices(
        "block", model.mass_matrix, model.stiffness_matrix, nodes_of(model), interfaces=ENDS
    )
    reduction = CraigBampton(["left", "right"], 4)
    ours, theirs = (one.reduce(reduction, stiffening=False) for one in (given, model))
    np.testing.assert_allclose(ours.frequencies[:4], theirs.frequencies[:4], rtol=1e-8)
    assert set(ours.truncation.static_residual) == {"left", "right"}
    with pytest.raises(ModelError, match="know no boundaries"):
        given_matrices(
            "block", model.mass_matrix, model.stiffness_matrix, nodes_of(model), interfaces={"a": "b"}
        )


def test_three_thousand_unknowns_keep_the_frequencies_of_the_model() -> None:
    """They did not end in minutes when static residuals were computed at every node."""
    model = block(6)
    assert model.freedoms > 2700
    given = given_matrices("block", model.mass_matrix, model.stiffness_matrix, nodes_of(model))
    found = given.reduce(NormalModes(6), stiffening=False).frequencies
    np.testing.assert_allclose(found, model.reduce(NormalModes(6), stiffening=False).frequencies, rtol=1e-8)


def bar() -> ElasticModel:
    return beam("bar", 0.8, rectangle(0.02, 0.03), STEEL, 2)


def same(model: ElasticModel) -> None:
    made = bar()
    size = abs(made.stiffness_matrix).max()
    assert abs(model.stiffness_matrix - made.stiffness_matrix).max() < 1e-9 * size
    assert abs(model.mass_matrix - made.mass_matrix).max() < 1e-9 * abs(made.mass_matrix).max()


def written(folder: Path, ending: str, write: object) -> ElasticModel:
    made = bar()
    for name, matrix in (("mass", made.mass_matrix), ("stiffness", made.stiffness_matrix)):
        write(folder / f"{name}{ending}", sp.coo_array(matrix))  # type: ignore[operator]
    x = np.column_stack([np.linspace(0, 0.8, 3), np.zeros((3, 2))])
    return given_matrices("bar", folder / f"mass{ending}", str(folder / f"stiffness{ending}"), x, SIX)


def lower(matrix: sp.coo_array) -> list[tuple[int, int, float]]:
    half = sp.coo_array(sp.tril(matrix))
    row, column = half.coords
    return list(zip(row.tolist(), column.tolist(), half.data.tolist(), strict=True))


def nastran(path: Path, matrix: sp.coo_array, name: str = "KAAX") -> None:
    lines = [f"DMIG    {name}           0       6       2       0"]
    for j in range(matrix.shape[0]):
        lines.append(f"DMIG*   {name:16}{10 * (j // 6 + 1):16}{j % 6 + 1:16}")
        for r, c, v in lower(matrix):
            if c == j:
                lines.append(f"{'*':8}{10 * (r // 6 + 1):16}{r % 6 + 1:16}{f'{v:.9E}'.replace('E', 'D'):>16}")
    path.write_text("\n".join(lines))


def abaqus(path: Path, matrix: sp.coo_array) -> None:
    rows = (f"{r // 6 + 5},{r % 6 + 1}, {c // 6 + 5},{c % 6 + 1}, {v:.16e}" for r, c, v in lower(matrix))
    path.write_text("\n".join(["** MATRIX GENERATE", *rows]))


def calculix(path: Path, matrix: sp.coo_array) -> None:
    """Unknowns in an order of its own, which the file of freedoms tells."""
    turn = np.random.default_rng(3).permutation(matrix.shape[0])
    rows = (f"{turn[r] + 1} {turn[c] + 1} {v:.16e}" for r, c, v in lower(matrix))
    path.write_text("\n".join(rows))
    names = np.empty(len(turn), dtype=object)
    for k, at in enumerate(turn):
        names[at] = f"{k // 6 + 1}.{k % 6 + 1}"
    path.with_suffix(".dof").write_text("\n".join(names))


def ansys(path: Path, matrix: sp.coo_array) -> None:
    from scipy.io import hb_write

    hb_write(path, sp.csc_array(sp.tril(matrix)))


@pytest.mark.parametrize(
    ("ending", "write"),
    [
        (".mtx", lambda path, matrix: mmwrite(path, matrix, precision=17)),
        (".npy", lambda path, matrix: np.save(path, matrix.toarray())),
        (".npz", lambda path, matrix: sp.save_npz(path, sp.csr_array(matrix))),
        (".pch", nastran),
        (".mtx", abaqus),
        (".sti", calculix),
        (".matrix", ansys),
    ],
    ids=["matrix market", "numpy", "numpy sparse", "nastran", "abaqus", "calculix", "ansys"],
)
def test_matrices_from_files(tmp_path: Path, ending: str, write: object) -> None:
    same(written(tmp_path, ending, write))


def test_a_punch_file_holds_both_matrices(tmp_path: Path) -> None:
    """Nastran punches KAAX and MAAX into one file."""
    made = bar()
    text = []
    for name, matrix in (("KAAX", made.stiffness_matrix), ("MAAX", made.mass_matrix)):
        nastran(tmp_path / "one.pch", sp.coo_array(matrix), name)
        text.append((tmp_path / "one.pch").read_text())
    (tmp_path / "both.pch").write_text("\n".join(text))
    x = np.column_stack([np.linspace(0, 0.8, 3), np.zeros((3, 2))])
    same(given_matrices("bar", tmp_path / "both.pch", tmp_path / "both.pch", x, SIX))
    (tmp_path / "both.pch").write_text("\n".join(text).replace("MAAX", "K2PP"))
    with pytest.raises(ModelError, match="DMIG matrices K2PP, KAAX; keep one in it"):
        given_matrices("bar", tmp_path / "both.pch", tmp_path / "both.pch", x, SIX)


def test_an_interface_of_one_node_turns_with_it() -> None:
    """Beams have nodes on a line, whose displacements say nothing of twist; their own rotations do."""
    made = bar()
    x = np.column_stack([np.linspace(0, 0.8, 3), np.zeros((3, 2))])
    ends = {"left": (0.0, 0.0, 0.0), "right": [2]}
    matrices = made.mass_matrix, made.stiffness_matrix
    regions = given_matrices("bar", *matrices, x, SIX, interfaces=ends)  # type: ignore[arg-type]
    nodes = given_matrices("bar", *matrices, x, SIX, nodes={"left": 0, "right": 2})
    for name in ends:
        for one in ("translation", "rotation"):
            apart = getattr(regions.place(name), one) - getattr(nodes.place(name), one)
            assert abs(apart).max() < 1e-12


def test_entries_must_be_numbers() -> None:
    made = bar()
    with pytest.raises(ModelError, match="mass matrix of 'bar' has entries that are not finite"):
        given_matrices("bar", np.nan * made.mass_matrix, made.stiffness_matrix, np.eye(3), SIX)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "k.mtx").write_text("1 2 3 4\n")
    with pytest.raises(ModelError, match=r"stiffness matrix of 'b': k.mtx cannot be read \(its lines have 4"):
        given_matrices("b", np.eye(6), tmp_path / "k.mtx", np.zeros((1, 3)), SIX, check_units=False)


def test_a_body_reduced_elsewhere_vibrates_as_the_whole_one() -> None:
    """Craig-Bampton by hand: both end nodes and twelve fixed-interface modes as generalised coordinates."""
    whole = beam("bar", 0.8, rectangle(0.02, 0.03), STEEL, 20)
    K, M = whole.stiffness_matrix.toarray(), whole.mass_matrix.toarray()
    b = np.r_[0:6, 120:126]
    i = np.setdiff1d(np.arange(126), b)
    static = -la.solve(K[np.ix_(i, i)], K[np.ix_(i, b)])
    modes = la.eigh(K[np.ix_(i, i)], M[np.ix_(i, i)])[1][:, :12]
    T = np.zeros((126, 24))
    T[b, np.arange(12)] = 1.0
    T[np.ix_(i, np.arange(12))], T[np.ix_(i, np.arange(12, 24))] = static, modes
    ends = np.array([[0.0, 0.0, 0.0], [0.8, 0.0, 0.0]])
    given = given_matrices("bar", T.T @ M @ T, T.T @ K @ T, ends, SIX, {"start": 0, "end": 1}, generalised=12)
    assert given.mass == pytest.approx(whole.mass, rel=1e-9)
    np.testing.assert_allclose(given.first_moment, whole.first_moment, atol=1e-9)
    ours, theirs = (one.reduce(NormalModes(3), stiffening=False) for one in (given, whole))
    np.testing.assert_allclose(ours.frequencies, theirs.frequencies, rtol=1e-3)


def test_stiffening_that_cannot_be_had_is_told() -> None:
    made = bar()
    x = np.column_stack([np.linspace(0, 0.8, 3), np.zeros((3, 2))])
    given = given_matrices("bar", made.mass_matrix, made.stiffness_matrix, x, SIX)
    with pytest.warns(StiffeningNote, match="'bar' cannot stiffen geometrically"):
        given.reduce(NormalModes(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        given.reduce(NormalModes(2), stiffening=False)
        made.reduce(NormalModes(2))

"""Matrices in files, written by SciPy and NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from bellcrank.fe.matrix_files import read_matrix

A = np.random.default_rng(4).normal(size=(5, 5))
MATRICES = {
    "general": A,
    "symmetric": A + A.T,
    "skew-symmetric": A - A.T,
    "oblong": A[:3],
    "whole": (9 * A).astype(int),
}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("sparse", [False, True])
def test_matrix_market_files_of_every_layout(tmp_path: Path, name: str, sparse: bool) -> None:
    path = tmp_path / "a.mtx"
    scipy.io.mmwrite(path, sp.coo_array(MATRICES[name]) if sparse else MATRICES[name])
    path.write_text(path.read_text() + "\n\n")
    found = read_matrix(path)
    np.testing.assert_array_equal(found.toarray() if sparse else found, MATRICES[name])


def test_patterns_and_arrays_of_numpy(tmp_path: Path) -> None:
    scipy.io.mmwrite(tmp_path / "p.mtx", sp.coo_array((A > 0).astype(float)), field="pattern")
    np.testing.assert_array_equal(read_matrix(tmp_path / "p.mtx").toarray(), A > 0)
    np.save(tmp_path / "a.npy", np.asfortranarray(A))
    np.testing.assert_array_equal(read_matrix(tmp_path / "a.npy"), A)

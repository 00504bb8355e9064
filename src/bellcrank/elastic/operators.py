"""From displacements of nodes to those of contact points, and the compliance seen by the points."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from bellcrank.elastic.compliance import Compliance
from bellcrank.elastic.interface import Rows
from bellcrank.elastic.lattices import Array


def operator(rows: Rows) -> sp.csr_array:
    """Displacements of the points in their frames from those of the nodes."""
    m, d = rows.frames.shape[:2]
    wide = sp.kron(rows.weights, sp.eye_array(d), format="csr")
    turn = sp.bsr_array((rows.frames, np.arange(m), np.arange(m + 1)), shape=(m * d, m * d)) if m else None
    return sp.csr_array(turn @ wide) if turn is not None else sp.csr_array(wide)


def condensed(to_points: sp.csr_array, rows: Rows, compliance: Compliance) -> Array:
    """C of (5), in the frames of the points."""
    nodes = np.unique(rows.weights.indices).astype(np.int64)
    compliance.require(nodes)
    d = rows.frames.shape[1]
    unknowns = (d * nodes[:, None] + np.arange(d)).ravel()
    local = to_points[:, unknowns]
    half = local @ compliance.matrix(nodes)
    return np.asarray(local @ half.T)

"""Shapes of contacts as they are drawn."""

from __future__ import annotations

import numpy as np

from bellcrank.contact.revolution import Revolution
from bellcrank.view.touching import solid


def test_a_solid_of_revolution_is_drawn_on_its_profile() -> None:
    shape = Revolution(lambda z: 0.03 + 0.02 * np.sin(3.0 * z), 0.8)
    drawn = solid(shape, lambda v: np.array(v, dtype=float), 1.0, "#123456", 1.0, np.array([0.0, 0.0, 1.0]))
    assert drawn is not None
    z, r = drawn.corners[:, 2], np.hypot(drawn.corners[:, 0], drawn.corners[:, 1])
    np.testing.assert_allclose(r, 0.03 + 0.02 * np.sin(3.0 * z), atol=1e-7)
    assert (z.min(), z.max()) == (0.0, 0.8)
    # Closed: every edge belongs to two faces, run through both ways.
    edges = [(f[k], f[(k + 1) % len(f)]) for f in drawn.faces for k in range(len(f))]
    assert len(set(edges)) == len(edges)
    assert {(b, a) for a, b in edges} == set(edges)

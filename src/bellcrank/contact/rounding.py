"""By how much a surface through samples rounds the creases of the mesh they came from, and how a contact tells it.

Of the triangles beside creases places are taken, each up to one distance of samples from the edge, and pulled onto the
surface by Newton's method: the longest way is what edges are rounded by.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.blended import FAR, NEAR
from bellcrank.contact.pieces import BACK
from bellcrank.contact.shapes import Shape

if TYPE_CHECKING:
    from bellcrank.contact.creases import Creases
    from bellcrank.contact.sampled import Sampled

Floats = NDArray[np.float64]

EDGES = 200
"""Creases that are looked at, evenly by their numbers."""
ALONG = (0.13, 0.29, 0.5, 0.71, 0.87)
"""Places along each."""
AWAY = (0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0)
"""How far from it they are, over the distance of samples."""
STEPS = 6
"""Newton steps."""
SMALL = 1e-9
"""Rounding over the size of a body that is none."""


class ContactNote(UserWarning):
    """A contact that is computed, though not with a shape exactly as it was given."""


def rounding(surface: Sampled, mesh: Creases) -> float:
    """The largest distance of a mesh from the surface through its samples, beside creases [m]; 0 where it has none."""
    inside = (mesh.twins >= 0) & mesh.crease.ravel()
    at = np.flatnonzero(inside)
    if len(at) == 0:
        return 0.0
    at = at[np.unique(np.linspace(0, len(at) - 1, min(len(at), EDGES)).astype(np.int64))]
    corners = mesh.points[mesh.faces[at // 3]]
    which = np.arange(len(at))
    start, end = corners[which, at % 3], corners[which, (at + 1) % 3]
    apex = corners[which, (at + 2) % 3]
    height = 2.0 * mesh.areas[at // 3] / np.linalg.norm(end - start, axis=1)
    places = list[Floats]()
    for s in ALONG:
        on = start + s * (end - start)
        for t in AWAY:
            part = np.minimum(t * surface.spacing / height, 1.0)
            places.append(on + part[:, None] * (apex - on))
    p = np.concatenate(places)
    # The surface passes through its samples: it is nowhere farther than the nearest of them.
    far = np.fmin(np.linalg.norm(_pulled(surface, p) - p, axis=1), surface.nearest_points.query(p)[0])
    found = float(far.max())
    return found if found > SMALL * float(surface.bounding_radius()) else 0.0


def _pulled(surface: Sampled, p: Floats) -> Floats:
    """Places pulled onto the surface, as :meth:`bellcrank.contact.local.Local.pulled` does."""
    _, normals, H = surface._fitted
    x, most = p.copy(), min(surface.capacity, len(surface.points))
    for _ in range(STEPS):
        near = surface.nearest_points.query(x, most)[1]
        d = x[:, None] - surface.points[near]
        n, narrow = normals[near], surface.reach[near] ** -2.0
        Hd = np.einsum("ijkl,ijl->ijk", H[near], d)
        q = np.einsum("ijk,ijk->ij", d, n - 0.5 * Hd)
        s = np.einsum("ijk,ijk->ij", d, d) * narrow
        same = np.einsum("ijk,ik->ij", n, n[:, 0]) >= BACK
        left, inverse = np.where(same, np.maximum(1.0 - s, 0.0), 0.0), 1.0 / (s + NEAR)
        w = left**3 * inverse
        steep = -2.0 * narrow * (3.0 * left**2 * inverse + w * inverse)
        w[:, 0] += FAR
        total = w.sum(axis=1)
        f = (w * q).sum(axis=1) / total
        slope = np.einsum("ij,ijk->ik", w, n - Hd) + np.einsum("ij,ijk->ik", steep * (q - f[:, None]), d)
        slope /= total[:, None]
        x = x - (f / np.einsum("ij,ij->i", slope, slope))[:, None] * slope
    return x


def note_rounded(name: str, body: str, shape: Shape, other: Shape) -> str | None:
    """Warn where a mesh meets another shape with rounded edges; what was said. body: That the mesh is on."""
    by = _of_mesh(shape)
    if not by > 0.0:
        return None
    said = (
        f"contact {name!r}: the edges of the mesh on body {body!r} are rounded where it meets "
        f"{_called(other)}, by up to {by:.3g} m within {getattr(shape, 'spacing', 0.0):.3g} m of them; give the mesh a "
        "smaller spacing=, or describe the body by shapes that touch with their edges (see Stacks in the manual)"
    )
    warnings.warn(said, ContactNote, stacklevel=5)
    return said


def _called(other: Shape) -> str:
    return "another mesh" if _of_mesh(other) else f"a {type(other).__name__}"


def _of_mesh(shape: Shape) -> float:
    """By how much a mesh is rounded [m]; shapes that have a formula keep their edges here."""
    from bellcrank.contact.sampled import Sampled

    return shape.rounding if isinstance(shape, Sampled) else 0.0


__all__ = ["ContactNote", "note_rounded", "rounding"]

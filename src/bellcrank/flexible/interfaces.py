"""Regions of a mesh that stand for one node: the rigid motion nearest to the region's, or a region made
rigid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from bellcrank.base.keys import VECTOR3, Keys, list_of, may
from bellcrank.errors import ModelError, unknown_name
from bellcrank.flexible.model import Array, Place, Sparse
from bellcrank.flexible.nodal_inertia import rigid_motions

if TYPE_CHECKING:
    from bellcrank.flexible.solids import SolidBasis


@dataclass(frozen=True)
class Box:
    """All nodes between two corners [m, axes of the mesh]; a millionth of the body's size is allowed for rounding."""

    low: tuple[float, float, float]
    high: tuple[float, float, float]

    def __call__(self, x: Array) -> Any:
        """Which of the places (3, n) lie inside."""
        low, high = np.array(self.low)[:, None], np.array(self.high)[:, None]
        room = 1e-6 * max(float(np.ptp(x, axis=1).max()), 1e-300)
        return ((x >= low - room) & (x <= high + room)).all(axis=0)


REGION = Keys(
    "",
    may("point", VECTOR3, "[m]."),
    may("box", list_of(VECTOR3, 2), "Two corners [m]."),
    may("nodes", list_of({"type": "integer", "minimum": 0}), "Node numbers.", whole=(0, 10**9)),
    rules={"minProperties": 1, "maxProperties": 1},
)
"""What model files say of a region that is not a boundary by its name."""
Region = str | Callable[[Array], Any] | Sequence[float] | Array
"""A boundary name, a function of the coordinates (3, n), a point (x, y, z), or an array of whole node numbers."""


def region_nodes(basis: SolidBasis, label: str, which: Region) -> tuple[Any, Array]:
    """Scalar node numbers of a region, and their weights: their share of its area where it has one."""
    mesh = basis.mesh
    if isinstance(which, str):
        boundaries = dict(mesh.boundaries or {})
        if which not in boundaries:
            raise unknown_name(f"boundary of the mesh of {basis.name!r}", which, boundaries)
        return _weights(basis, label, np.asarray(boundaries[which]), None)
    if callable(which):
        inside = np.asarray(which(basis.places.T), dtype=bool)
        if not inside.any():
            raise ModelError(
                f"interface {label!r} of member {basis.name!r} holds no node; allow for rounding in its condition "
                "(abs(x - a) < tolerance)"
            )
        chosen = np.flatnonzero(inside)
        corner_inside = inside[basis.corner_numbers]
        facets = mesh.boundary_facets()
        facets = facets[corner_inside[mesh.facets[:, facets]].all(axis=0)]
        return _weights(basis, label, facets, chosen)
    given = np.asarray(which)
    if given.dtype.kind in "iu" and given.ndim == 1:
        return basis.corner_numbers[given], np.ones(len(given))
    return _nearest(basis.name, label, given.astype(float), basis.places), np.ones(1)


def which_nodes(name: str, label: str, which: Region, places: Array) -> Any:
    """Numbers of the nodes of a region of given places (s, 3), which have no named boundaries."""
    if isinstance(which, str):
        raise ModelError(
            f"interface {label!r} of member {name!r} is named {which!r}, but matrices know no boundaries; give a "
            "function of the coordinates, a Box, a point or node numbers"
        )
    if callable(which):
        chosen = np.flatnonzero(np.asarray(which(places.T), dtype=bool))
        if not len(chosen):
            raise ModelError(
                f"interface {label!r} of member {name!r} holds no node; allow for rounding in its condition "
                "(abs(x - a) < tolerance)"
            )
        return chosen
    given = np.asarray(which)
    if given.dtype.kind in "iu" and given.ndim == 1:
        if not len(given) or given.min() < 0 or given.max() >= len(places):
            raise ModelError(
                f"interface {label!r} of member {name!r}: the nodes are 0 to {len(places) - 1}, not {given.tolist()}"
            )
        return given
    return _nearest(name, label, given.astype(float), places)


def _nearest(name: str, label: str, point: Array, places: Array) -> Any:
    if point.shape != (3,):
        raise ModelError(
            f"interface {label!r} of member {name!r} must be a boundary name, a function, a point or node numbers"
        )
    distance = np.linalg.norm(places - point, axis=1)
    nearest = int(np.argmin(distance))
    extent = float(np.linalg.norm(np.ptp(places, axis=0)))
    if distance[nearest] > 1e-6 * extent:
        raise ModelError(
            f"interface {label!r} of member {name!r}: no node at {tuple(point)}; the nearest is "
            f"{distance[nearest]:.3g} m away at {tuple(np.round(places[nearest], 9))}"
        )
    return np.array([nearest])


def _weights(basis: SolidBasis, label: str, facets: Any, chosen: Any) -> tuple[Any, Array]:
    if len(facets):
        from skfem import FacetBasis, LinearForm

        def area(v: Any, w: Any) -> Any:
            return v

        share = np.asarray(LinearForm(area).assemble(FacetBasis(basis.mesh, basis.element, facets=facets)))
        on = np.unique(basis.scalar.get_dofs(facets).all())
        weights = np.clip(share[on], 0.0, None)
        if chosen is None or np.isin(chosen, on).all():
            return on, weights
    if chosen is None:
        raise ModelError(f"interface {label!r} of member {basis.name!r} is an empty boundary")
    return chosen, np.ones(len(chosen))


def interface_places(
    name: str,
    places: Array,
    regions: Mapping[str, tuple[Any, Array]],
    spread: Sparse,
    neighbours: Callable[[Any], Any],
    turned: Sparse | None = None,
) -> dict[str, Place]:
    """A place for each region: the weighted least-squares rigid motion of its nodes (as an RBE3 element).

    spread, turned: From the freedoms to the displacements and, where nodes turn themselves, to their rotations.
    """
    result = {}
    for label, (nodes, weights) in regions.items():
        center = weights @ places[nodes] / weights.sum()
        fit, rank = _rigid_fit(places[nodes] - center, weights)
        rows = sp.csr_array(_scatter(fit, nodes, len(places)) @ spread)
        if rank < 6:
            mean = _scatter(np.kron(weights / weights.sum(), np.eye(3)), nodes, len(places))
        if rank < 6 and turned is not None:
            rows = sp.csr_array(sp.vstack([mean @ spread, mean @ turned]))
        elif rank < 6:
            # A point or a line does not turn; the elements around it do.
            around = neighbours(nodes)
            turn, rank = _rigid_fit(places[around] - center, np.ones(len(around)))
            if rank < 6:
                raise ModelError(
                    f"interface {label!r} of member {name!r} has too few nodes around it to define a rotation"
                )
            rows = sp.csr_array(sp.vstack([mean, _scatter(turn[3:], around, len(places))]) @ spread)
        result[label] = Place(label, center, rows[:3], rows[3:])
    return result


def _rigid_fit(r: Array, weights: Array) -> tuple[Array, int]:
    """(translation, rotation) from displacements at r (s, 3), as (6, 3 s), and its rank."""
    size = max(float(np.abs(r).max()), 1e-300)
    R = rigid_motions(r / size)
    W = np.repeat(weights / weights.sum(), 3)
    normal = R.T @ (W[:, None] * R)
    rank = int(np.linalg.matrix_rank(normal, tol=1e-10))
    fit = np.linalg.pinv(normal, rcond=1e-10) @ (R * W[:, None]).T
    fit[3:] /= size
    return fit, rank


def _scatter(rows: Array, nodes: Any, count: int) -> Sparse:
    columns = (3 * np.asarray(nodes)[:, None] + np.arange(3)).ravel()
    r, c = np.indices(rows.shape)
    return sp.csr_array(
        sp.coo_array((rows.ravel(), (r.ravel(), columns[c.ravel()])), shape=(rows.shape[0], 3 * count))
    )


def rigid_regions(name: str, places: Array, regions: Mapping[str, tuple[Any, Array]]) -> Sparse:
    """From the freedoms to nodal displacements (3 s, N): free nodes as they are, six freedoms for each rigid
    region."""
    s = len(places)
    owner = np.full(s, -1)
    for number, (label, (nodes, _)) in enumerate(regions.items()):
        if (owner[nodes] >= 0).any():
            raise ModelError(
                f"rigid interface {label!r} of member {name!r} shares nodes with another rigid interface"
            )
        owner[nodes] = number
    free = np.flatnonzero(np.repeat(owner < 0, 3))
    unit = sp.coo_array((np.ones(len(free)), (free, np.arange(len(free)))), shape=(3 * s, len(free)))
    blocks = [sp.csr_array(unit)]
    for nodes, weights in regions.values():
        center = weights @ places[nodes] / weights.sum()
        motion = rigid_motions(places[nodes] - center)
        blocks.append(_scatter(motion.T, nodes, s).T)
    return sp.csr_array(sp.hstack(blocks))

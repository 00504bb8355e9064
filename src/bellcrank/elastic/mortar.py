"""Contact of two elastic bodies, segment to segment.

The jump between the bodies is averaged over the patch of each corner node of the first body with its linear hat
function, by quadrature on the first body's facets; each quadrature point is paired with the foot point on the
second body. So constant pressure passes between meshes that do not match, forces are in balance exactly, and the
multipliers stay positive on second-order elements, too.

Source: the mortar idea after Puso and Laursen (2004). Differs in: quadrature on the facets of one side without
cutting them at the edges of the other; one normal a node, the mean over its facets that are paired, undeformed;
pairs are renewed between steps where the bodies have slid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from bellcrank.elastic.assembled import Assembled
from bellcrank.elastic.body import ElasticBody
from bellcrank.elastic.facets import project, quadrature
from bellcrank.elastic.interface import Contact, Interface, Rows, frames
from bellcrank.elastic.lattices import Array, Index
from bellcrank.errors import ModelError

REACH = 0.25
"""Depth of overlap, as a share of the smaller body, at which points are still paired."""
LOOK = 0.05
"""Beyond the nearest points, how far apart points are paired, as a share of the smaller body. Once they have moved by
half of it they are paired anew, before any other can touch."""


@dataclass(frozen=True, eq=False)
class _Points:
    """Quadrature points that face the other body, as they were paired.

    jump: From displacements of both bodies to those of the points against their feet. normals: Of the first body. gap:
    Along them [m]. slope: By how much the other surface may rise along a slide. paired_at: Jumps at that time [m].
    """

    jump: sp.csr_array
    normals: Array
    gap: Array
    slope: Array
    paired_at: Array


class MortarInterface(Interface):
    """Patches of corner nodes of the first body against the facets of the second."""

    flat = True

    def __init__(self, contact: Contact, system: Assembled) -> None:
        first, second = contact.body, contact.against
        assert isinstance(second, ElasticBody)
        self.friction = contact.friction
        self._system = system
        self._start = system.nodes_of(first).start, system.nodes_of(second).start
        self._names = first.name, second.name
        self._quadrature(first)
        self._master = second.surface.facets
        normals = np.zeros_like(second.nodes)
        normals[second.surface.nodes] = second.surface.normals
        self._master_normals = normals
        smaller = float(min(np.ptp(first.nodes, axis=0).max(), np.ptp(second.nodes, axis=0).max()))
        self._reach, self._look = REACH * smaller, LOOK * smaller
        edges = second.nodes[self._master.nodes]
        self._facet_size = float(np.ptp(edges, axis=1).max())
        corners = self._corners_of(first, contact)
        self._corners = corners
        self.count = len(corners)
        self.places = first.nodes[corners]
        self.areas = self._hat_areas[corners]
        self._slid = max(1e-4 * float(np.sqrt(self.areas[self.areas > 0.0].min())), 0.0)
        self._pair(np.zeros_like(system.nodes))
        gap = self.gap(np.zeros_like(system.nodes), 0.0)
        if not np.isfinite(gap).any():
            raise ModelError(
                f"no node of {first.name!r} faces {second.name!r}: nothing can come into contact; check where they lie"
            )
        size = float(np.ptp(system.nodes, axis=0).max())
        if gap.min() < -1e-9 * size:
            raise ModelError(
                f"{first.name!r} starts {-gap.min():.4g} m inside {second.name!r}; move them apart by as much"
            )

    def _quadrature(self, body: ElasticBody) -> None:
        surface = body.surface.facets
        rule = quadrature(surface, body.nodes, 8 if body.dimension == 2 else 4)
        count, per = rule.lengths.shape
        points = np.arange(count * per).reshape(count, per)

        def matrix(values: Array, nodes: Index) -> sp.csr_array:
            rows = np.broadcast_to(points[:, :, None], (count, per, nodes.shape[1]))
            columns = np.broadcast_to(nodes[:, None, :], rows.shape)
            data = np.broadcast_to(values[None], rows.shape)
            entries = data.ravel(), (rows.ravel(), columns.ravel())
            return sp.csr_array(entries, shape=(points.size, len(body.nodes)))

        self._weight = (rule.lengths * body.fields.weight(np.moveaxis(rule.points, 2, 0))).ravel()
        self._shapes = matrix(rule.values, surface.nodes)
        self._hats = matrix(rule.hats, surface.nodes[:, : rule.hats.shape[1]])
        self._normals = rule.normals.reshape(-1, body.dimension)
        self._hat_areas = np.asarray(self._hats.T @ self._weight)

    def _corners_of(self, body: ElasticBody, contact: Contact) -> Index:
        corners = np.flatnonzero(self._hat_areas > 0.0)
        if contact.surface is not None:
            corners = corners[np.asarray(contact.surface(body.nodes[corners]), dtype=bool)]
        if corners.size == 0:
            raise ModelError(
                f"`surface` picks no boundary node of {body.name!r}; nothing can come into contact"
            )
        return corners

    def _pair(self, u: Array) -> None:
        """Pair quadrature points with foot points at displacements u."""
        system, (a, b) = self._system, self._start
        x = system.nodes + u
        first = x[a : a + self._shapes.shape[1]]
        second = x[b : b + len(self._master_normals)]
        here = self._shapes @ first
        found = project(self._master, second, here, self._normals, self._worth(here, second))
        out = np.einsum("kn,knd->kd", found.weights, self._master_normals[found.nodes])
        away = found.feet - here[found.hit]
        n = self._normals[found.hit]
        fits = ((out * n).sum(axis=1) < -0.1) & ((away * n).sum(axis=1) > -self._reach)
        hit, nodes, weights = found.hit[fits], found.nodes[fits], found.weights[fits]
        rows = np.repeat(hit, nodes.shape[1])
        points = len(self._weight)
        master = sp.csr_array(
            (weights.ravel(), (rows, nodes.ravel())), shape=(points, len(self._master_normals))
        )
        paired = np.zeros(points)
        paired[hit] = self._weight[hit]
        hats = sp.csr_array(self._hats[:, self._corners].T * paired)
        covered = np.asarray(hats.sum(axis=1)).ravel()
        self._met = covered > 1e-3 * self.areas
        share = sp.diags_array(np.where(self._met, 1.0 / np.where(covered > 0.0, covered, 1.0), 0.0))
        own, other = sp.coo_array(share @ hats @ self._shapes), sp.coo_array(share @ hats @ master)
        entries = np.concatenate([own.data, -other.data])
        places = np.concatenate([own.row, other.row]), np.concatenate([own.col + a, other.col + b])
        self._weights = sp.csr_array((entries, places), shape=(self.count, len(system.nodes)))
        n = hats @ self._normals
        length = np.linalg.norm(n, axis=1, keepdims=True)
        n = np.where(self._met[:, None], n / np.where(length > 0.0, length, 1.0), np.eye(n.shape[1])[0])
        self._frames = frames(n)
        self._apart = -np.einsum("md,md->m", self._frames[:, 0], self._weights @ system.nodes)
        facing, turned = self._normals[hit], self._master_normals[nodes]
        # The slope against the mean normal, and the turn of the surface over a facet to either side.
        lean = np.sqrt(np.maximum((out[fits] * facing).sum(axis=1) ** -2 - 1.0, 0.0))
        turn = np.linalg.norm(turned - turned.mean(axis=1, keepdims=True), axis=2).max(axis=1)
        jump = sp.csr_array(sp.hstack([self._shapes[hit], -master[hit]], format="csr"))
        gap = (away[fits] * facing).sum(axis=1)
        self._points = _Points(jump, facing, gap, lean + 2.0 * turn, jump @ self._of_both(u))
        self.version += 1

    def _of_both(self, u: Array) -> Array:
        """Displacements of the nodes of the first body, then of those of the second."""
        a, b = self._start
        return np.vstack([u[a : a + self._shapes.shape[1]], u[b : b + len(self._master_normals)]])

    def _worth(self, here: Array, second: Array) -> Index:
        """Points near enough to the other body, and turned to it, to look for what is opposite."""
        centres = second[self._master.nodes].mean(axis=1)
        distance, nearest = cKDTree(centres).query(here)
        away = ((centres[nearest] - here) * self._normals).sum(axis=1)
        near = distance < float(np.min(distance)) + self._look + self._facet_size
        return np.flatnonzero(near & (away > -self._reach))

    def gap(self, u: Array, t: float) -> Array:
        """Mean distance over each patch, along its normal; no end where nothing is opposite."""
        jump = self._weights @ u
        gap = self._apart - np.einsum("md,md->m", self._frames[:, 0], jump)
        return np.where(self._met, gap, np.inf)

    def renew(self, u: Array) -> None:
        """Pair anew where points that touch have slid since, or others so far that they may touch unseen."""
        points = self._points
        moved = points.jump @ self._of_both(u) - points.paired_at
        away = (moved * points.normals).sum(axis=1)
        slid = np.linalg.norm(moved - away[:, None] * points.normals, axis=1)
        stale = (slid > self._slid) & (points.gap - away < points.slope * slid)
        if not self._met.any() or stale.any() or np.abs(moved).max(initial=0.0) > 0.5 * self._look:
            self._pair(u)

    def rows(self, points: Index, u: Array, t: float, step: float) -> Rows:
        """The patches of these corner nodes."""
        still = np.zeros((len(points), self._frames.shape[1]))
        apart = self._apart[points]
        return Rows(sp.csr_array(self._weights[points]), self._frames[points], apart, still, still, still)

"""Whether the elements are small enough to carry a contact patch.

The half-width a of the patch follows from the largest force by Hertz's theory, with the curvatures of both surfaces
where they touch: a^3 = 3 F / (4 E* k) in space and about an axis, a^2 = 4 F / (pi E* k) for a plane body and a force
per thickness; k is the sum of the curvatures, 1 / E* the sum of (1 - nu^2) / E. Nodes lie on the curved surface and
facets cut it short by k h^2 / 8, so coarse bodies touch late. Source: Johnson, Contact Mechanics (1985), ch. 4.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from bellcrank.elastic.body import ElasticBody
from bellcrank.elastic.facets import quadrature
from bellcrank.elastic.interface import Contact
from bellcrank.elastic.lattices import Array, Index
from bellcrank.elastic.material import Analysis
from bellcrank.elastic.obstacles import Obstacle

ACROSS = 2.0
"""Distances between nodes that the half-width of a patch must hold: with fewer a patch is one node and its
neighbours, whose pressure is that of the mesh. The surface is then cut short by a 32nd of Hertz's approach."""
SHARP = 0.7
"""Lean of a facet against the normal at its node [rad] from which that counts as an edge, which has no curvature; half
a right angle at the edge of a block."""
FLAT = 1e-3
"""Curvature times the size of the body below which the patch is the whole face."""


class PatchNote(UserWarning):
    """A contact patch that the mesh does not resolve."""


def patch_note(contact: Contact, force: float, place: Array, gap: float = 0.0) -> str | None:
    """What to say of a contact under a force [N] at a place [m] of its body, in the start pose; None if all is well.

    gap: The smallest one between the meshes [m] where no force was found: the surfaces they stand for may overlap.
    """
    body, other = contact.body, contact.against
    mine = _local(body, place)
    if mine is None:
        return None
    node, curvature, spacing = mine
    yields = (1.0 - body.material.poisson**2) / body.material.young
    if isinstance(other, Obstacle):
        curvature += _obstacle_curvature(other, body.nodes[node], spacing)
        h, whose = spacing / body.element.order, body
    else:
        theirs = _local(other, place)
        if theirs is None:
            return None
        curvature += theirs[1]
        yields += (1.0 - other.material.poisson**2) / other.material.young
        h, whose = max((spacing, body), (theirs[2], other), key=lambda pair: pair[0])
    size = float(np.ptp(body.nodes, axis=0).max())
    if curvature * size < FLAT:
        return None
    # Facets cut k h^2 / 8 off; between two bodies the gap besides is its mean over a hat, k <r^2> / 2, where <r^2> is
    # h^2 / 6 for each direction of the surface.
    late = (
        curvature
        * h
        * h
        * (1.0 / 8.0 + (0.0 if isinstance(other, Obstacle) else (body.dimension - 1) / 12.0))
    )
    if force <= 0.0:
        # Hertz's approach is a^2 k; it is what the facets of both bodies cut off, less the gap.
        if gap >= late:
            return None
        a = math.sqrt((late - gap) / curvature)
    elif body.analysis in (Analysis.SOLID, Analysis.AXISYMMETRIC):
        a = (0.75 * force * yields / curvature) ** (1.0 / 3.0)
    else:
        a = math.sqrt(4.0 * force / body.thickness * yields / (math.pi * curvature))
    if h <= a / ACROSS:
        return None
    return (
        f"the contact patch of {body.name!r} is not resolved: its half-width is about {a:.2g} m, and nodes of "
        f"{whose.name!r} lie {h:.2g} m apart there, so that it touches up to {late:.2g} m late and its forces are "
        f"those of the mesh. Nodes {a / ACROSS:.2g} m apart or nearer resolve it (a higher grading, more divisions)"
    )


def _local(body: ElasticBody, place: Array) -> tuple[int, float, float] | None:
    """The surface node nearest to a place, the mean curvature there [1/m] and the distance of its neighbours [m].

    None where the surface has an edge.
    """
    surface = body.surface
    corners = np.unique(surface.facets.nodes[:, : _corners(surface.facets.kind)])
    node = int(corners[np.argmin(((body.nodes[corners] - place) ** 2).sum(axis=1))])
    touching = np.flatnonzero((surface.facets.nodes == node).any(axis=1))
    facets = replace(
        surface.facets, nodes=surface.facets.nodes[touching], inside=surface.facets.inside[touching]
    )
    rule = quadrature(facets, body.nodes, 1)
    # By facets and not by neighbouring nodes, whose normals lean where they lie on an edge.
    step = rule.points.mean(axis=1) - body.nodes[node]
    turn = rule.normals.mean(axis=1) - surface.normals[np.searchsorted(surface.nodes, node)]
    if (np.linalg.norm(turn, axis=1) > SHARP).any():
        return None
    near: Index = np.setdiff1d(facets.nodes[:, : _corners(facets.kind)], [node])
    spacing = np.linalg.norm(body.nodes[near] - body.nodes[node], axis=1)
    return node, float(((turn * step).sum(axis=1) / (step**2).sum(axis=1)).mean()), float(spacing.mean())


def _corners(kind: str) -> int:
    return {"line": 2, "triangle": 3, "square": 4}[kind]


def _obstacle_curvature(obstacle: Obstacle, x: Array, h: float) -> float:
    """Mean curvature of an obstacle near a point [1/m], negative where it is hollow."""
    d = len(x)
    n = obstacle.gap(x[None], 0.0)[1][0]
    tangents = np.linalg.svd(n[None])[2][1:]
    steps = np.concatenate([1e-3 * h * tangents, -1e-3 * h * tangents])
    turned = obstacle.gap(x + steps, 0.0)[1] - n
    return float((turned * steps).sum() / (1e-3 * h) ** 2 / (2 * (d - 1)))

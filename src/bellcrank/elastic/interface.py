"""Where bodies meet: contact points, how they follow the displacements, and what they meet.

A contact point follows a weighted mean of nodes. On a rigid obstacle it is a node; between two elastic bodies it is the
mean of the jump over the patch of a node (see `mortar`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from bellcrank.elastic.assembled import Assembled
from bellcrank.elastic.body import ElasticBody, Where
from bellcrank.elastic.lattices import Array, Index
from bellcrank.elastic.obstacles import Obstacle
from bellcrank.errors import ModelError


@dataclass(frozen=True, eq=False)
class Contact:
    """A body that may touch an obstacle or another body.

    friction: Coulomb's coefficient. surface: picks boundary nodes of `body` that may touch; unset, all that face the
    obstacle. Between two bodies, `body` should be the one with the finer mesh. name: of its series; by default
    "contact", or "contact 1", "contact 2", ... where there are several.
    """

    body: ElasticBody
    against: Obstacle | ElasticBody
    friction: float = 0.0
    surface: Where | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if not self.friction >= 0.0:
            raise ModelError(
                f"the friction coefficient of {self.body.name!r} must not be negative: {self.friction}"
            )
        if self.against is self.body:
            raise ModelError(f"{self.body.name!r} cannot be in contact with itself")


@dataclass(frozen=True, eq=False)
class Rows:
    """Contact points, linearised.

    weights: of nodes in each point's displacement, shape (m, nodes). frames: outward normal of the body, then tangents,
    shape (m, d, d). gap: the linearised gap without displacement [m]. travel, speed, rate: displacement within the
    step, velocity and acceleration of what is met, shape (m, d), in world axes.
    """

    weights: sp.csr_array
    frames: Array
    gap: Array
    travel: Array
    speed: Array
    rate: Array


class Interface(ABC):
    """All points of one contact."""

    count: int
    friction: float
    areas: Array
    """Area of each point [m^2]."""
    flat: bool
    """Whether one linearisation a step is exact."""
    places: Array
    """Where the points were at the start [m]."""
    version: int = 0
    """Grows when points follow other nodes than before."""

    @abstractmethod
    def gap(self, u: Array, t: float) -> Array:
        """Gap of every point [m]. u: displacements, shape (nodes, d)."""

    @abstractmethod
    def rows(self, points: Index, u: Array, t: float, step: float) -> Rows:
        """The points linearised about u, at the end t of a step."""

    def renew(self, u: Array) -> None:  # noqa: B027
        """Called before each step; what met before may have slid away."""


class ObstacleInterface(Interface):
    """Nodes of a body on a rigid obstacle, (6) of Lee (1995): d_n is the gap, slip is counted in each step."""

    def __init__(self, contact: Contact, system: Assembled) -> None:
        body, obstacle = contact.body, contact.against
        assert isinstance(obstacle, Obstacle)
        obstacle.check(body.dimension, body.axisymmetric)
        surface = body.surface
        chosen = facing(contact, obstacle.gap(body.nodes[surface.nodes], 0.0)[1])
        self.obstacle = obstacle
        self.nodes = surface.nodes[chosen] + system.nodes_of(body).start
        self.areas = surface.areas[chosen]
        self.places = system.nodes[self.nodes]
        self.count = len(self.nodes)
        self.friction = contact.friction
        self.flat = obstacle.flat
        self._all = len(system.nodes)
        depth = -float(self.gap(np.zeros_like(system.nodes), 0.0).min())
        size = float(np.ptp(body.nodes, axis=0).max())
        if depth > 1e-9 * size:
            raise ModelError(
                f"{body.name!r} starts {depth:.4g} m inside an obstacle; move it or the obstacle apart by as much"
            )

    def gap(self, u: Array, t: float) -> Array:
        """Distance of the displaced nodes."""
        return self.obstacle.gap(self.places + u[self.nodes], t)[0]

    def rows(self, points: Index, u: Array, t: float, step: float) -> Rows:
        """Each node alone."""
        nodes = self.nodes[points]
        moved = u[nodes]
        d = moved.shape[1]
        gap, out = self.obstacle.gap(self.places[points] + moved, t)
        n = -out
        weights = sp.csr_array(
            (np.ones(len(nodes)), (np.arange(len(nodes)), nodes)), shape=(len(nodes), self._all)
        )
        obstacle = self.obstacle
        travel = obstacle.travel(t, d) - obstacle.travel(t - step, d)
        still = np.ones((len(nodes), 1))
        return Rows(
            weights, frames(n), gap + (n * moved).sum(axis=1), still * travel, still * obstacle.speed(t, step, d),
            still * obstacle.rate(t, step, d),
        )  # fmt: skip


def facing(contact: Contact, out: Array) -> Index:
    """Boundary nodes that may touch: those picked, or those whose normal is against the obstacle's."""
    body = contact.body
    surface = body.surface
    if contact.surface is not None:
        chosen = np.flatnonzero(np.asarray(contact.surface(body.nodes[surface.nodes]), dtype=bool))
    else:
        chosen = np.flatnonzero((surface.normals * out).sum(axis=1) < -1e-6)
    d = body.dimension
    held = np.zeros(body.nodes.size, dtype=bool)
    held[body.held] = True
    chosen = chosen[~held.reshape(-1, d)[surface.nodes[chosen]].all(axis=1)]
    if chosen.size == 0:
        raise ModelError(
            f"no node of {body.name!r} can come into contact: "
            + ("its `surface` picks no free boundary node" if contact.surface else "none faces the obstacle")
            + "; check the obstacle's normal, or pick nodes by `surface`"
        )
    return chosen


def frames(n: Array) -> Array:
    """Normal and tangents as rows, shape (m, d, d)."""
    m, d = n.shape
    found = np.empty((m, d, d))
    found[:, 0] = n
    if d == 2:
        # The tangent points to growing radius under a body that stands on a plane.
        found[:, 1, 0], found[:, 1, 1] = -n[:, 1], n[:, 0]
        return found
    helper = np.eye(3)[np.abs(n).argmin(axis=1)]
    first = np.cross(n, helper)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    found[:, 1], found[:, 2] = first, np.cross(n, first)
    return found

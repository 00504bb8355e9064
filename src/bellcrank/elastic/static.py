"""Static contact: a body pressed against an obstacle by displacing a part of it.

The same complementarity as in motion, (7) of Lee (1995), with the stiffness alone in the compliance.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace

import numpy as np

from bellcrank.elastic.active_set import ContactFailure, DirectActiveSet
from bellcrank.elastic.assembled import Assembled
from bellcrank.elastic.body import ElasticBody, Support
from bellcrank.elastic.checks import check_supported
from bellcrank.elastic.compliance import Compliance
from bellcrank.elastic.interface import Contact, ObstacleInterface
from bellcrank.elastic.lattices import Array, Index
from bellcrank.elastic.obstacles import Obstacle
from bellcrank.elastic.operators import condensed, operator
from bellcrank.elastic.problem import ContactProblem, ContactSolver
from bellcrank.elastic.resolution import PatchNote, patch_note
from bellcrank.elastic.stress import Stress, stress
from bellcrank.errors import ModelError


@dataclass(frozen=True, eq=False)
class Pressed:
    """A body in static contact.

    approach: how far the driven part was moved [m]. force: total normal force [N]. places: start positions of the
    points in contact [m], shape (k, d). forces: normal forces there [N]. areas: their areas [m^2]. displacement: of
    all nodes [m].
    """

    body: ElasticBody
    approach: float
    force: float
    places: Array
    forces: Array
    areas: Array
    displacement: Array

    @property
    def pressures(self) -> Array:
        """Contact pressure at the points [Pa]; not a number where a node has no area of its own."""
        own = self.areas > 1e-6 * self.areas.max()
        return np.where(own, self.forces / np.where(own, self.areas, 1.0), np.nan)

    def stress(self) -> Stress:
        """Stress at the nodes."""
        return stress(self.body, self.displacement)


def press(
    body: ElasticBody,
    obstacle: Obstacle,
    driven: Support,
    *,
    force: float | None = None,
    approach: float | None = None,
    friction: float = 0.0,
    solver: ContactSolver | None = None,
) -> Pressed:
    """Press a body against an obstacle.

    driven: nodes that are moved; its `displacement` is the sense of motion, 1 or -1. force: total normal force to
    reach [N]; or approach: distance to move [m]. Other supports of the body stay.
    """
    if (force is None) == (approach is None):
        raise ModelError("name the force to reach or the approach, one of them")
    sense = driven.displacement
    if abs(sense) != 1.0:
        raise ModelError(f"the displacement of the driven support must be 1 or -1, not {sense}")
    moved = replace(body, supports=(*body.supports, driven))
    system = Assembled([moved])
    check_supported(body.nodes, moved.held, body.axisymmetric, body.name)
    problem = _Static(system, Contact(moved, obstacle, friction), solver or DirectActiveSet())
    if approach is not None:
        return _noted(problem.contact, problem.solve(approach))
    assert force is not None
    if not force > 0.0:
        raise ModelError(f"the force to reach must be positive, not {force}")
    return _noted(problem.contact, _reach(problem, force))


def _noted(contact: Contact, found: Pressed) -> Pressed:
    if found.force > 0.0:
        note = patch_note(contact, found.force, found.forces @ found.places / found.force)
        if note is not None:
            warnings.warn(note, PatchNote, stacklevel=3)
    return found


def _reach(problem: _Static, force: float) -> Pressed:
    """Secant steps on the logarithms of force and approach, which lie nearly on a line."""
    nearest = float(problem.interface.gap(np.zeros_like(problem.system.nodes), 0.0).min())
    size = float(np.ptp(problem.system.nodes, axis=0).max())
    last, log = None, math.log(1e-4 * size)
    for _ in range(60):
        found = problem.solve(max(nearest, 0.0) + math.exp(log))
        if abs(found.force - force) <= 1e-10 * force:
            return found
        value = math.log(found.force / force) if found.force > 0.0 else -5.0
        slope = 1.5 if last is None or log == last[0] else (value - last[1]) / (log - last[0])
        last = log, value
        log -= value / min(max(slope, 0.5), 4.0)
    raise ContactFailure(f"no approach gives the force {force:.4g} N; the nearest was {found.force:.4g} N")


class _Static:
    def __init__(self, system: Assembled, contact: Contact, solver: ContactSolver) -> None:
        self.system, self.contact, self.solver = system, contact, solver
        self.interface = ObstacleInterface(contact, system)
        factor = system.factor(system.stiffness)
        self.compliance = Compliance(factor, system.dimension)
        held = np.zeros(system.unknowns)
        held[system.held] = system.held_at
        self.unit = held - factor.solve(system.stiffness @ held)
        self.loaded = factor.solve(system.load)
        self.active: Index = np.empty(0, dtype=np.int64)

    def solve(self, approach: float) -> Pressed:
        system, interface = self.system, self.interface
        d = system.dimension
        w = approach * self.unit + self.loaded
        size = float(np.ptp(system.nodes, axis=0).max())
        candidates = interface.gap(w.reshape(-1, d), 0.0) < 0.0
        candidates[self.active] = True
        about = w
        for _ in range(60):
            points = np.flatnonzero(candidates)
            rows = interface.rows(points, about.reshape(-1, d), 0.0, 1.0)
            to_points = operator(rows)
            c = condensed(to_points, rows, self.compliance)
            free = (to_points @ w).reshape(-1, d)
            free[:, 0] -= rows.gap
            friction = np.full(len(points), interface.friction)
            found = self.solver.solve(ContactProblem(c, free, friction, np.zeros_like(free)))
            load = (to_points.T @ found.force.ravel()).reshape(-1, d)
            nodes = np.flatnonzero(load.any(axis=1))
            u = w + self.compliance.displace(nodes, load[nodes].reshape(1, -1))[0]
            gap = interface.gap(u.reshape(-1, d), 0.0)
            missed = ~candidates & (gap < -1e-12 * size)
            off = gap[points][found.active]
            if not missed.any() and (interface.flat or off.size == 0 or np.abs(off).max() < 1e-10 * size):
                break
            candidates |= missed
            about = u
        else:
            raise ContactFailure("static contact does not settle in 60 linearisations; refine the mesh there")
        on = found.active
        self.active = points[on]
        normal = -found.force[on, 0]
        return Pressed(
            system.bodies[0], approach, float(normal.sum()), interface.places[points[on]], normal,
            interface.areas[points[on]], u.reshape(-1, d),
        )  # fmt: skip

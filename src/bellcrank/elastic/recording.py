"""What is written down after each step: forces, areas, energies and works.

With the average acceleration method (alpha 1/4, delta 1/2) and no velocity or acceleration compatibility the energy
changes by exactly the work of the mean forces of each step; `work.residual` is what is left of that identity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bellcrank.elastic.assembled import Assembled
from bellcrank.elastic.interface import Interface
from bellcrank.elastic.lattices import Array, Index
from bellcrank.elastic.stepping import Moment

WORKS = ("load", "damping", "contact", "friction", "obstacle")


@dataclass(eq=False)
class Recorded:
    """Everything that is kept of a run; after every step whole.

    first: Of each contact's points among all, and their number at the end. points: Those that touch at each step, by
    number, with their forces in their own frames and in world axes. frame_steps: Steps at which whole fields are kept.
    """

    first: Index
    time: list[float] = field(default_factory=list)
    kinetic: list[float] = field(default_factory=list)
    strain: list[float] = field(default_factory=list)
    works: list[Array] = field(default_factory=list)
    normal: list[Array] = field(default_factory=list)
    force: list[Array] = field(default_factory=list)
    area: list[Array] = field(default_factory=list)
    momentum: list[Array] = field(default_factory=list)
    updates: list[tuple[int, int, int]] = field(default_factory=list)
    points: list[tuple[Index, Array, Array]] = field(default_factory=list)
    frame_steps: list[int] = field(default_factory=list)
    frames: list[Array] = field(default_factory=list)
    frame_velocities: list[Array] = field(default_factory=list)


class Recording(Recorded):
    """Grows step by step, so that a run can be stopped at any time."""

    def __init__(self, system: Assembled, interfaces: Sequence[Interface], every: int) -> None:
        super().__init__(np.concatenate([[0], np.cumsum([i.count for i in interfaces])]))
        self.system, self.every = system, every
        self.areas = np.concatenate([i.areas for i in interfaces])
        self._last: Moment | None = None
        self._damping: Array | None = None

    def add(self, now: Moment) -> None:
        """Write down one moment."""
        system = self.system
        self.time.append(now.t)
        moved = system.mass @ now.v
        self.kinetic.append(0.5 * float(now.v @ moved))
        self.strain.append(0.5 * float(now.u @ (system.stiffness @ now.u)))
        self._add_works(now)
        world = np.einsum("mij,mi->mj", now.frames, now.force)
        cuts = self.first[:-1]
        self.normal.append(-np.add.reduceat(now.force[:, 0], cuts))
        self.force.append(np.add.reduceat(world, cuts, axis=0))
        self.area.append(np.add.reduceat(np.where(now.force[:, 0] < 0.0, self.areas, 0.0), cuts))
        shaped = moved.reshape(-1, system.dimension)
        momentum = np.add.reduceat(shaped, system.first_node[:-1], axis=0)
        if system.axisymmetric:
            # Radial momentum cancels over the full turn.
            momentum[:, 0] = 0.0
        self.momentum.append(momentum)
        touching = np.flatnonzero(now.active)
        self.points.append((touching, now.force[touching], world[touching]))
        self.updates.append(now.updates)
        if (len(self.time) - 1) % self.every == 0:
            self.keep(now)
        self._last = now

    def keep(self, now: Moment) -> None:
        """Keep the whole field of the latest moment."""
        step = len(self.time) - 1
        if not self.frame_steps or self.frame_steps[-1] != step:
            self.frame_steps.append(step)
            self.frames.append(now.u.reshape(-1, self.system.dimension))
            self.frame_velocities.append(now.v.reshape(-1, self.system.dimension))

    def finish(self) -> None:
        """Keep the last moment, whatever the spacing."""
        if self._last is not None:
            self.keep(self._last)

    def _add_works(self, now: Moment) -> None:
        system, last = self.system, self._last
        damping = None if system.damping is None else system.damping @ now.v
        if last is None:
            self.works.append(np.zeros(len(WORKS)))
            self._damping = damping
            return
        du = now.u - last.u
        mean = 0.5 * (now.force + last.force)
        # A point that was not a candidate before has no frame there; its force was zero.
        slip = np.einsum("mij,mj->mi", now.frames, now.slip)
        world = np.einsum("mij,mi->mj", now.frames, mean)
        damped = 0.0
        if damping is not None and self._damping is not None:
            damped = -0.5 * float(du @ (damping + self._damping))
        self._damping = damping
        done = np.array([
            float(system.load @ du), damped, 0.5 * float(du @ (now.nodal + last.nodal)),
            float((mean[:, 1:] * slip[:, 1:]).sum()), float((world * now.travel).sum()),
        ])  # fmt: skip
        self.works.append(self.works[-1] + done)

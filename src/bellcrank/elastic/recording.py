"""What is written down after each step: forces, areas, energies and works.

With the average acceleration method (alpha 1/4, delta 1/2) and no velocity or acceleration compatibility the energy
changes by exactly the work of the mean forces of each step; `work.residual` is what is left of that identity.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bellcrank.elastic.assembled import Assembled
from bellcrank.elastic.interface import Interface
from bellcrank.elastic.lattices import Array, Index
from bellcrank.elastic.stepping import Moment

WORKS = ("load", "damping", "contact", "friction", "obstacle")


class Recording:
    """Grows step by step; whole after every one, so that a run can be stopped at any time."""

    def __init__(self, system: Assembled, interfaces: Sequence[Interface], every: int) -> None:
        self.system, self.every = system, every
        self.first = np.concatenate([[0], np.cumsum([i.count for i in interfaces])])
        self.areas = np.concatenate([i.areas for i in interfaces])
        self.time: list[float] = []
        self.kinetic: list[float] = []
        self.strain: list[float] = []
        self.works: list[Array] = []
        self.normal: list[Array] = []
        self.force: list[Array] = []
        self.area: list[Array] = []
        self.momentum: list[Array] = []
        self.points: list[tuple[Index, Array, Array]] = []
        self.updates: list[tuple[int, int, int]] = []
        self.frame_steps: list[int] = []
        self.frames: list[Array] = []
        self.frame_velocities: list[Array] = []
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

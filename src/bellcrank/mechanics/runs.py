"""Runs of hinges on parallel axes: what turns a link in one is the sum of the angles up to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

from bellcrank.math.rotations import AxisTurn, Turn
from bellcrank.mechanics.links import GROUND, Link
from bellcrank.model.joints.revolute import cosine_and_sine
from bellcrank.program.trace import Scalar


@dataclass(frozen=True, eq=False)
class Run:
    """A link of a run. base: The link that the run hangs on. fixed: Turns from its axes to those of the run.

    angle, offset: The sum of the angles up to the link. first: Whether it is the first of the run. flat: Whether all
    that moves it turns about the same axis or not at all.
    """

    base: int
    fixed: tuple[Turn, ...]
    angle: Scalar
    offset: float
    first: bool
    flat: bool

    @cached_property
    def turn(self) -> AxisTurn:
        """From the axes of the link to those of the run."""
        return AxisTurn(2, *cosine_and_sine(self.angle, self.offset))

    @property
    def turns(self) -> tuple[Turn, ...]:
        """From the axes of the link to those of the base."""
        return (*self.fixed, self.turn)


def runs_of(
    links: Sequence[Link],
    turns: Sequence[tuple[Turn, ...]],
    q: Sequence[Scalar],
    unturned: frozenset[int],
) -> dict[int, Run]:
    """All runs, by their links: hinges behind which there are hinges on parallel axes or nothing.

    What hangs on the ground is no part of one, since nothing is handed on to the ground.
    """
    beyond: dict[int, list[int]] = {}
    for link in links:
        beyond.setdefault(link.parent, []).append(link.index)
    hinges = {k.index for k in links if k.kind.spins and k.shape is None and k.index not in unturned}
    parallel = {
        k
        for k in hinges
        if all(isinstance(t, AxisTurn) and t.axis == 2 and isinstance(t.c, float) for t in turns[k][:-1])
    }
    members = {k for k in hinges if links[k].parent != GROUND and parallel.issuperset(beyond.get(k, ()))}
    runs: dict[int, Run] = {}
    for k in sorted(members):
        link, fixed, before = links[k], turns[k][:-1], runs.get(links[k].parent)
        if before is not None:
            offset = math.remainder(before.offset + _bend(fixed) + link.offset, 2.0 * math.pi)
            runs[k] = Run(before.base, before.fixed, before.angle + q[link.q], offset, False, before.flat)
            continue
        flat = _is_flat(k, links, parallel)
        # A single hinge saves as much as it costs to turn its inertia in space, or all that hangs on it.
        if (flat and k not in beyond) or not members.isdisjoint(beyond.get(k, ())):
            runs[k] = Run(link.parent, fixed, q[link.q], link.offset, True, flat)
    return runs


def _is_flat(k: int, links: Sequence[Link], parallel: AbstractSet[int]) -> bool:
    """Whether all that turns up to a hinge does so about its axis."""
    while (inner := links[k].parent) != GROUND and k in parallel and links[inner].kind.spins:
        k = inner
    while (inner := links[k].parent) != GROUND:
        if any(links[inner].kind.turning):
            return False
        k = inner
    return True


def _bend(fixed: Sequence[Turn]) -> float:
    """The angle of constant turns about z."""
    return sum(math.atan2(float(t.s), float(t.c)) for t in fixed if isinstance(t, AxisTurn))  # type: ignore[arg-type]

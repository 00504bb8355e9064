"""The energy ledger: where energy came from and went, and what does not add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.provided import provided
from bellcrank.model.forces import ContactForce

if TYPE_CHECKING:
    from bellcrank.result.result import Result


MOST_PIECES = 500
"""With more jumps every piece is short, and the states at its ends are enough."""
NODES = 16
"""States a step of the run that show its motion."""
MOST_STEPS = 100_000
"""Runs of more steps are not made again."""
SMOOTH = 1e-8
"""Change of the work, over its size, when every other output is left out, below which the outputs are enough."""


@dataclass(frozen=True, eq=False)
class Ledger:
    """Change of the total energy against work done from outside, over a run [J].

    kinetic, gravity, stored: changes from start to end. drivers, forces: work of drivers and of forces that
    keep no energy (dampers, applied loads). contacts: work of friction in lasting contacts. impacts: what impacts took
    (negative). events: what events and controllers put in where they changed the state or parameters (the stiffness of
    a loaded spring). residual: what is left over, at any output: the error of the integration. With contacts, and after
    more than 100,000 steps, it holds that of the quadrature over the outputs as well; see
    :mod:`bellcrank.run.between`.
    """

    time: NDArray[np.float64]
    kinetic: NDArray[np.float64]
    gravity: NDArray[np.float64]
    stored: NDArray[np.float64]
    drivers: NDArray[np.float64]
    forces: NDArray[np.float64]
    contacts: NDArray[np.float64]
    impacts: NDArray[np.float64]
    events: NDArray[np.float64]

    @property
    def residual(self) -> NDArray[np.float64]:
        """Change of energy less work, at every output [J]."""
        change = self.kinetic + self.gravity + self.stored
        put_in = self.drivers + self.forces + self.contacts + self.impacts + self.events
        return np.asarray(change - change[0] - put_in)

    @property
    def scale(self) -> float:
        """The largest energy at play [J]; relative residuals refer to it."""
        held = [np.abs(x).max(initial=0.0) for x in (self.kinetic, self.stored)]
        done = (self.gravity, self.drivers, self.forces, self.contacts, self.impacts, self.events)
        moved = [np.ptp(x) if len(x) else 0.0 for x in done]
        return float(max(*held, *moved)) or 1.0

    @property
    def relative_residual(self) -> float:
        """The largest residual over the scale."""
        return float(np.abs(self.residual).max(initial=0.0)) / self.scale

    def __str__(self) -> str:
        rows = [
            ("change of kinetic energy", self.kinetic[-1] - self.kinetic[0]),
            ("change of gravity's energy", self.gravity[-1] - self.gravity[0]),
            ("change of stored energy", self.stored[-1] - self.stored[0]),
            ("work of drivers", self.drivers[-1]),
            ("work of dampers and applied loads", self.forces[-1]),
            ("work of friction in contacts", self.contacts[-1]),
            ("lost in impacts", self.impacts[-1]),
            ("put in by events and controllers", self.events[-1]),
            ("residual", self.residual[-1]),
        ]
        if not np.any(self.events):
            del rows[7]
        if not (np.any(self.contacts) or np.any(self.impacts)):
            del rows[5:7]
        width = max(len(name) for name, _ in rows)
        lines = [f"{name:<{width}}  {value:>14.6g} J" for name, value in rows]
        return "\n".join([*lines, f"largest residual: {self.relative_residual:.2e} of the energy at play"])


def changes(result: Result) -> NDArray[np.float64]:
    """Energy that jumps of the state and of parameters put in, at every output [J]; impacts are recorded elsewhere."""
    if result.breaks is None or result.mechanism.system.strikes:
        return np.zeros_like(result.time)
    energy = _at_breaks(result, ["energy.total"])[0]
    put_in = np.concatenate([[0.0], np.cumsum(energy[1::2] - energy[0::2])])
    # An output at the very time of a jump shows the state before it.
    found: NDArray[np.float64] = put_in[np.searchsorted(result.breaks[::2, 0], result.time, side="left")]
    return found - found[:1]


def work(time: NDArray[np.float64], power: NDArray[np.float64]) -> NDArray[np.float64]:
    """The running integral of a power over the outputs, by a cubic spline (fourth order)."""
    from scipy.interpolate import CubicSpline

    if len(time) < 2 or not np.any(power):
        return np.zeros_like(time)
    if len(time) == 2:
        return np.array([0.0, 0.5 * (power[0] + power[1]) * (time[1] - time[0])])
    # An output that falls together with a jump up to rounding would bend the spline.
    keep = np.concatenate([[True], np.diff(time) > 1e-9 * (time[-1] - time[0])])
    if keep.sum() < 2:
        return np.zeros_like(time)
    spline: Any = CubicSpline(time[keep], power[keep])
    return np.asarray(spline.antiderivative()(time))


def works(result: Result, powers: Sequence[str]) -> list[NDArray[np.float64]]:
    """The running integrals of powers at the outputs; at impacts and changes of contact they start anew.

    Over the outputs where these show the motion, else over what was between them.
    """
    given = [np.asarray(p) for p in result.compute(powers)]
    if not (shows_enough(result) or _smooth(result, given)):
        return _along(result, powers)
    if result.breaks is None:
        return [work(result.time, p) for p in given]
    edges = _at_breaks(result, powers)
    outputs = given
    found = [np.zeros_like(result.time) for _ in powers]
    at = result.breaks[:, 0]
    for k in range(len(at) // 2 + 1):
        first, last = 2 * k - 1, 2 * k
        begin = at[first] if k else -np.inf
        end = at[last] if last < len(at) else np.inf
        inside = (result.time > begin) & (result.time <= end)
        lead, tail = ([first] if k else []), ([last] if last < len(at) else [])
        time = np.concatenate([at[lead], result.time[inside], at[tail]])
        for total, power, edge in zip(found, outputs, edges, strict=True):
            passed = work(time, np.concatenate([edge[lead], power[inside], edge[tail]]))
            if len(passed):
                total[inside] += passed[len(lead) : len(lead) + int(inside.sum())]
                total[result.time > end] += passed[-1]
    return [total - total[:1] for total in found]


def shows_enough(result: Result) -> bool:
    """Whether the outputs are close beside the steps, or nothing but them is known."""
    system, steps = result.mechanism.system, result.run.steps
    touching = system.strikes or any(isinstance(f, ContactForce) for f in system.forces.values())
    jumps = 0 if result.breaks is None else len(result.breaks) // 2
    known = len(result) < 2 or len(result) >= NODES * steps
    return touching or known or jumps > MOST_PIECES or steps > MOST_STEPS


def _smooth(result: Result, powers: Sequence[NDArray[np.float64]]) -> bool:
    """Whether half of the outputs would do as well, and none of them hides a step of the run."""
    if not any(np.any(p) for p in powers):
        return True
    if result.breaks is not None or len(result) < max(2 * result.run.steps, 9) or len(result) % 2 == 0:
        return False
    fine, coarse = ([work(result.time[::k], p[::k])[-1] for p in powers] for k in (1, 2))
    size = max(float(np.ptp(work(result.time, p))) for p in powers)
    return bool(np.abs(np.subtract(fine, coarse)).max() <= SMOOTH * size)


def _along(result: Result, powers: Sequence[str]) -> list[NDArray[np.float64]]:
    """The running integrals over the motion between the outputs."""
    found = [np.zeros_like(result.time) for _ in powers]
    pieces = provided("motion between outputs")(result)
    states = [(p.time[:, None], p.q, p.u, p.du, p.parameters) for p in pieces]
    t, *rest = (np.vstack(parts) for parts in zip(*states, strict=True))
    ends = np.cumsum([len(p) for p in pieces])[:-1]
    between = [np.split(np.asarray(p), ends) for p in result.at_states(t[:, 0], *rest).compute(powers)]
    for k, piece in enumerate(pieces):
        inside = (result.time > piece.time[0]) & (result.time <= piece.time[-1])
        at = np.searchsorted(piece.time, result.time[inside])
        for total, power in zip(found, between, strict=True):
            passed = work(piece.time, power[k])
            total[inside] += passed[at]
            total[result.time > piece.time[-1]] += passed[-1]
    return found


def _at_breaks(result: Result, powers: Sequence[str]) -> list[NDArray[np.float64]]:
    """The powers at the breaks, on both sides."""
    assert result.breaks is not None
    sizes = [1, *(a.shape[1] for a in (result.q, result.u, result.du, result.parameters))]
    t, q, u, du, p, forces = np.split(result.breaks, np.cumsum(sizes), axis=1)
    there = result.at_states(t[:, 0], q, u, du, p, forces)
    return [np.asarray(s) for s in there.compute(powers)]

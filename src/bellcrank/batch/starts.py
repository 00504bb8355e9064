"""Start states of all instances of a batch.

Loops are closed for all instances at once by the compiled projection wherever the given values determine the
start: in every loop that is touched, by a start value or by a parameter that changes its shape, all freedoms are
given. What a search for the nearest closed pose has to decide is left to the assembly of a single mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.batch.group import LaneMachine
from bellcrank.batch.table import Table
from bellcrank.errors import BellcrankError
from bellcrank.mechanics.start import start_positions
from bellcrank.mechanism import Mechanism, State
from bellcrank.mechanism.assembly import LONGEST_LEAD
from bellcrank.model.parameters import names_in
from bellcrank.program.trace import Expr
from bellcrank.run.simulation import prepared

Array = NDArray[np.float64]

CLOSED = 1e-11
"""Residual below which a start counts as closed."""


@dataclass(frozen=True, eq=False)
class Starts:
    """Integrator states of all instances, shape (rows, n); `problems` names rows without one, and why."""

    t: float
    y: Array
    problems: dict[int, str]
    one_by_one: bool = False


def given_starts(mechanism: Mechanism, states: Sequence[State] | tuple[Array, Array], rows: int) -> Starts:
    """Starts the caller brings: states, or arrays of positions and speeds."""
    if isinstance(states, tuple) and len(states) == 2 and not isinstance(states[0], State):
        q, u = (np.atleast_2d(np.asarray(a, dtype=float)) for a in states)
    else:
        q, u = np.array([s.q for s in states]), np.array([s.u for s in states])  # type: ignore[union-attr]
    shapes = (rows, mechanism.linkage.positions), (rows, mechanism.linkage.speeds)
    if (q.shape, u.shape) != shapes:
        raise ValueError(f"starts need positions and speeds of shapes {shapes}, not {(q.shape, u.shape)}")
    y = np.hstack([q, u[:, list(mechanism.partition.independent)]])
    lost = np.flatnonzero(~np.isfinite(y).all(axis=1))
    return Starts(mechanism.start.t, y, {int(k): "its start is not finite" for k in lost})


def assembled_starts(mechanism: Mechanism, table: Table, machine: LaneMachine) -> Starts:
    """The described start, with every row's parameters and start values."""
    places = _places(mechanism, table)
    if places is None or not _determined(mechanism, table, machine):
        return _one_by_one(mechanism, table)
    m, rows = mechanism, len(table)
    n = m.linkage.positions
    independent = list(m.partition.independent)
    q, u = np.tile(m.start.q, (rows, 1)), np.tile(m.start.u[independent], (rows, 1))
    target = q.copy()
    for name, place, speed in places:
        values = table.columns[name]
        if speed is None:
            target[:, place] = values
        else:
            u[:, independent.index(speed)] = values
    problems: dict[int, str] = {}
    if machine.projection is not None:
        q, problems = _led(m, table, machine, q, target, u)
    else:
        q = target
    return Starts(m.start.t, np.hstack([q[:, :n], u]), problems)


def _led(
    m: Mechanism, table: Table, machine: LaneMachine, q: Array, target: Array, u: Array
) -> tuple[Array, dict[int, str]]:
    """Positions closed, the given ones led from the drawing to where they belong."""
    assert machine.projection is not None
    n = m.linkage.positions
    moved = np.flatnonzero(np.any(target != q, axis=0))
    change = (target - q)[:, moved]
    leads = min(100, max(1, int(np.ceil(np.abs(change).max(initial=0.0) / LONGEST_LEAD))))
    residual = np.zeros(len(q))
    closed = CLOSED * max(1.0, m.length_scale)
    for k in range(1, leads + 1):
        q[:, moved] = target[:, moved] - (leads - k) / leads * change
        for _ in range(30):
            t = np.full((len(q), 1), m.start.t)
            out = machine.projection.many(np.hstack([t, q, u, table.parameters]))
            q, residual = out[:, :n].copy(), out[:, -3]
            if np.nanmax(residual, initial=0.0) <= closed:
                break
    bad = np.flatnonzero(~(residual <= closed))
    return q, {int(k): f"the loops cannot be closed: {residual[k]:.3g} m or rad are left" for k in bad}


def _places(mechanism: Mechanism, table: Table) -> list[tuple[str, int, int | None]] | None:
    """Where start values go: column, place in q, speed where it is a rate; None where not independent."""
    independent = set(mechanism.partition.independent)
    found: list[tuple[str, int, int | None]] = []
    for column, joint, coordinate, is_rate in table.initial:
        link = next(
            (k for k in mechanism.linkage.links if k.joint == joint and coordinate in k.coordinates), None
        )
        if link is None or link.kind.has_quaternion or link.u not in independent:
            return None
        found.append((column, link.q, link.u if is_rate else None))
    return found


def _determined(mechanism: Mechanism, table: Table, machine: LaneMachine) -> bool:
    """Whether the rows say everything about the loops they touch."""
    m = mechanism
    varied = _varied(m, table)
    if any(
        varied.intersection(names_in(x))
        for start in m.system.initials.values()
        for row in start.values()
        for x in row
    ):
        return False
    ends = {0, len(table) - 1}
    for k in ends:
        named = dict(zip(m.mechanics.parameters, table.parameters[k].tolist(), strict=True))
        nominal = dict(zip(m.mechanics.parameters, m.parameter_values, strict=True))
        if not np.array_equal(
            start_positions(m.system, m.linkage, named), start_positions(m.system, m.linkage, nominal)
        ):
            return False
    shaping = _shapes_loops(m, table)
    given = {(joint, is_rate) for _, joint, _, is_rate in table.initial}
    independent = set(m.partition.independent)
    for group in m.groups:
        if not group.constraints:
            continue
        own = [m.linkage.links[k] for k in (*group.links, *group.inputs)]
        moving = bool(np.any(m.start.u[[i for k in own for i in k.own_speeds]]))
        free = [k for k in own if any(i in independent for i in k.own_speeds)]
        for is_rate, needed in ((False, shaping), (True, shaping and moving)):
            touched = any((k.joint, is_rate) in given for k in own)
            held = all((k.joint, is_rate) in given for k in free)
            rolls = any(m.mechanics.constraints[c].nonholonomic for c in group.constraints)
            # Equations of velocities leave positions free that are not among the independent speeds.
            if (touched or needed) and (rolls or not held):
                return False
    return True


def _varied(m: Mechanism, table: Table) -> set[str]:
    """The parameters that differ from the mechanism's own in some row."""
    return {
        name
        for k, name in enumerate(m.mechanics.parameters)
        if np.any(table.parameters[:, k] != m.parameter_values[k])
    }


def _shapes_loops(m: Mechanism, table: Table) -> bool:
    """Whether a parameter that varies enters the constraints."""
    varied = _varied(m, table)
    if not varied or not m.kept:
        return False
    program = m.projection(m.partition)
    used = {a.args[0] for e in program.operations for a in e.args if isinstance(a, Expr) and a.op == "input"}
    return bool(varied & used)


def _one_by_one(mechanism: Mechanism, table: Table) -> Starts:
    """Every row assembled like a single mechanism."""
    m = mechanism
    independent = list(m.partition.independent)
    y = np.tile(np.concatenate([m.start.q, m.start.u[independent]]), (len(table), 1))
    problems: dict[int, str] = {}
    for k in range(len(table)):
        parameters = dict(zip(m.mechanics.parameters, table.parameters[k].tolist(), strict=True))
        try:
            start = prepared(m, "auto", table.start_values(k), parameters).start
        except (BellcrankError, ArithmeticError, ValueError) as error:
            problems[k] = str(error)
            continue
        y[k] = np.concatenate([start.q, start.u[independent]])
    return Starts(m.start.t, y, problems, True)


__all__ = ["Starts", "assembled_starts", "given_starts"]

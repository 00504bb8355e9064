"""Which contacts last: mechanisms with some contacts closed, their forces, and when these change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bellcrank.formulations import lagrange
from bellcrank.formulations.equations import Equations, Mechanics, Reference
from bellcrank.formulations.loops import Partition
from bellcrank.formulations.registry import Formulation
from bellcrank.impacts.rows import ContactLoops, ContactRows
from bellcrank.impacts.sharing import Sharing, sharing_of
from bellcrank.math.tuples import Vec, add, scale, times
from bellcrank.mechanics.constraints import Constraint, over_speeds
from bellcrank.mechanics.contacts import (
    ContactPair,
    along,
    headway,
    rate_at_constant_speeds,
    rubbing_direction,
    sustained,
)
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.numbers import Traced
from bellcrank.mechanism import Mechanism, State
from bellcrank.mechanism.assembly import close_speeds, independent_equations
from bellcrank.mechanism.groups import body_groups_of
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.program import Program
from bellcrank.program.trace import Expr, Scalar

Array = NDArray[np.float64]

STOPPED = 1e-10
"""Sliding in space without a heading is near its end below this part of the unit of speed; the rest is straight."""
AHEAD = 0.5
"""Part of slip in space that must go along its heading; less of it has turned, or passed its end."""
BACKWARDS = 1e-13
"""Slip in the plane that has turned, over the unit of speed; below it, slip just begun may have either sign."""

GONE = "gone"
"""The end of a contact whose place is not there any more, as of a corner that has slid over an edge."""


@dataclass(frozen=True)
class Mode:
    """A lasting contact: sticking, or sliding with the slip's sign (in the plane).

    idle: Whether it bears nothing, because others bear it all and it would have to pull.
    weight: Its share of friction while it sticks, where contacts share.
    toward: Slip over the tangents with which it begins to slide in space, over the fastest of those that begin; empty
        where it slides already.
    """

    sticking: bool
    slip: float = 1.0
    idle: bool = False
    weight: float = 1.0
    toward: tuple[float, ...] = field(default=(), compare=False)


Modes = Mapping[str, Mode]


class ContactForces:
    """Forces of lasting contacts in one variant and partition, compiled: for each the normal and tangential ones."""

    def __init__(
        self,
        variant: Mechanism,
        partition: Partition,
        pairs: Sequence[ContactPair],
        modes: Modes,
        sharing: Sharing | None = None,
    ) -> None:
        self.pairs = [pair for pair in pairs if pair.contact.name in modes]
        self.modes, self.sharing = modes, sharing
        eq = traced_equations(variant, partition)
        self.program = Program.of(eq.inputs, self._outputs(eq), "contact forces")
        self.kernel: Kernel = compile_program(self.program)

    def _outputs(self, eq: Equations) -> list[Scalar]:
        outputs: list[Scalar] = []
        found, kept = contact_forces(eq, self.pairs, self.modes, self.sharing)
        for pair, (forces, slip) in zip(self.pairs, found, strict=True):
            whole: Vec = (0.0, 0.0, 0.0)
            for f, direction in zip(forces, pair.directions(pair.closest(eq.kin)), strict=True):
                whole = add(whole, scale(f, direction))
            outputs += [*forces, *slip, *times(eq.kin.pose(pair.base).R, whole)]
        return [*outputs, *kept]

    def kept(self, x: Array) -> Array:
        """The forces of the kept rows of contacts that share."""
        assert self.sharing is not None
        return np.asarray(self.kernel(x)[-len(self.sharing.kept) :])

    def at(self, x: Array) -> list[tuple[Array, Array]]:
        """For every lasting contact its forces on b (normal, tangents) and its slip velocity."""
        y = self.kernel(x)
        found, first = [], 0
        for pair in self.pairs:
            n = 2 if pair.planar else 3
            found.append((y[first : first + n], y[first + n : first + 2 * n - 1]))
            first += 2 * n + 2
        return found

    def in_world(self, x: Array) -> dict[str, Array]:
        """For every lasting contact its force on b in world axes, one row for every row of x."""
        y = self.kernel.many(np.ascontiguousarray(x))
        found, first = {}, 0
        for pair in self.pairs:
            n = 2 if pair.planar else 3
            first += 2 * n + 2
            found[pair.contact.name] = y[:, first - 3 : first]
        return found


class FreeAccelerations:
    """Relative accelerations along normal and tangents at all contacts, without contact forces, compiled."""

    def __init__(self, base: Mechanism, partition: Partition, pairs: Sequence[ContactPair]) -> None:
        traced = base.traced(None, partition)
        eq, outputs = traced.equations, []
        self.sizes = [2 if pair.planar else 3 for pair in pairs]
        for pair in pairs:
            for equation in pair.rows(eq.kin)[1]:
                a = rate_at_constant_speeds(eq.kin, equation)
                for i, entry in over_speeds(eq.kin, equation).items():
                    a = a + entry * traced.du[i]
                outputs.append(a)
        self.program = Program.of(eq.inputs, outputs, "free accelerations")
        self.kernel: Kernel = compile_program(self.program)

    def at(self, x: Array) -> list[Array]:
        """For every contact its accelerations [m/s^2]."""
        return list(self.kernel(x).reshape(len(self.sizes), -1))


class Gaps:
    """Gaps and their rates from all positions and speeds, compiled."""

    def __init__(self, mechanics: Mechanics, pairs: Sequence[ContactPair]) -> None:
        graph = Graph()
        t = graph.input("t.")
        q = mechanics.linkage.position_inputs(graph)
        u = [graph.input(f"u.{i}") for i in range(mechanics.linkage.speeds)]
        parameters = [graph.input(name) for name in mechanics.parameters]
        kin = Kinematics(mechanics.linkage, q, Traced(graph))
        kin.set_speeds(u)
        found = [pair.rows(kin) for pair in pairs]
        outputs = [*(near.distance for near, _ in found), *(along(kin, rows[0]) for _, rows in found)]
        self.kernel: Kernel = compile_program(Program.of([t, *q, *u, *parameters], outputs, "gaps"))

    def at(self, x: Array) -> tuple[Array, Array]:
        """Gaps [m] and their rates [m/s] at [t, q, u, p]."""
        y = self.kernel(x)
        return y[: len(y) // 2], y[len(y) // 2 :]


def traced_equations(variant: Mechanism, partition: Partition) -> Equations:
    """The equations of a variant on fresh inputs."""
    start = variant.start
    reference = Reference(start.t, start.q.tolist(), start.u.tolist(), variant.parameter_values)
    return Equations.traced(variant.mechanics, partition, Graph(), reference)


def _first_equations(constraints: Sequence[Constraint]) -> dict[str, int]:
    """The number of the first equation of every constraint."""
    first, number = {}, 0
    for c in constraints:
        first[c.name] = number
        number += c.size
    return first


def contact_forces(
    eq: Equations, pairs: Sequence[ContactPair], modes: Modes, sharing: Sharing | None = None
) -> tuple[list[tuple[list[Scalar], list[Scalar]]], list[Scalar]]:
    """For every lasting contact forces on b along normal and tangents and the slip velocities; kept rows' forces.

    The last only where contacts share.
    """
    multipliers = lagrange.solution(eq)[1]
    first = _first_equations(eq.mechanics.constraints)
    y: list[Scalar] = []
    if sharing is not None:
        y = [-multipliers.get(first[name] + k, 0.0) for name, k in sharing.kept]
    friction = {} if sharing is None else sharing.friction(y)
    found = []
    for pair in pairs:
        name = pair.contact.name
        mode, start = modes[name], first[name]
        rows = pair.rows(eq.kin)[1]
        slip = [along(eq.kin, e) for e in rows[1:]]
        normal: Scalar = -multipliers.get(start, 0.0)
        if sharing is not None:
            normal = 0.0 if mode.idle else sharing.normal(name, y)
        if mode.sticking and sharing is not None:
            rub: list[Scalar] = [friction.get((name, 1 + j), 0.0) for j in range(len(rows) - 1)]
        elif mode.sticking:
            rub = [-multipliers.get(start + 1 + j, 0.0) for j in range(len(rows) - 1)]
        elif not pair.contact.rubs:
            rub = [0.0] * len(slip)
        elif len(slip) == 1:
            rub = [-(eq.kin.number(pair.contact.friction) * mode.slip) * normal]
        else:
            rubbed = eq.kin.number(pair.contact.friction) * normal
            rub = [-rubbed * s for s in rubbing_direction(eq.kin, pair, slip)]
        found.append(([normal, *rub], slip))
    return found, y


def variant_of(
    base: Mechanism, pairs: Sequence[ContactPair], modes: Modes, state: State, compiled: ContactRows
) -> tuple[Mechanism, Sharing | None]:
    """The mechanism with the contacts in `modes` closed, starting from `state`, and how they share."""
    active = {pair.contact.name: pair for pair in pairs if pair.contact.name in modes}
    closed = [sustained(base.linkage, pair, modes[n].sticking, modes[n].slip) for n, pair in active.items()]
    mechanics = replace(base.mechanics, constraints=(*base.mechanics.constraints, *closed))
    rubbing = any(not modes[n].sticking and pair.contact.rubs for n, pair in active.items())
    named = dict(zip(mechanics.parameters, base.parameter_values, strict=True))
    chosen = np.concatenate(
        [np.arange(compiled.loops), *(compiled.first[c.name] + np.arange(c.size) for c in closed)]
    )
    loops = ContactLoops(
        base.linkage, mechanics.constraints, named, max(1.0, base.length_scale), compiled, chosen
    )
    kept, dropped = independent_equations(loops, state.q, state.t)
    before = set(base.dropped)
    kept = [e for e in kept if e not in before]
    first = _first_equations(mechanics.constraints)
    rows = [(c.name, k) for c in closed for k in range(c.size)]
    numbers = [first[name] + k for name, k in rows]
    idle = frozenset(n for n, mode in modes.items() if mode.idle)
    weights = tuple((n, mode.weight) for n, mode in modes.items() if mode.weight != 1.0)
    sharing = sharing_of(rows, numbers, kept, loops.rows(state.q, state.t).J, idle, weights)
    if sharing is not None and rubbing:
        closed = [_sharing_friction(base, active, modes, n, sharing) for n in active]
        mechanics = replace(base.mechanics, constraints=(*base.mechanics.constraints, *closed))
    groups = body_groups_of(base.linkage, mechanics, kept)
    u = close_speeds(
        loops, loops.rows(state.q, state.t), state.u, (), lambda left: "a contact cannot be held"
    )
    variant = replace(
        base,
        mechanics=mechanics,
        groups=groups,
        kept=tuple(kept),
        dropped=tuple(sorted({*dropped, *before})),
        start=State(state.t, state.q, u),
        formulation=Formulation.LAGRANGE if rubbing else base.formulation,
    )
    return variant, sharing


def _sharing_friction(
    base: Mechanism, active: Mapping[str, ContactPair], modes: Modes, name: str, sharing: Sharing
) -> Constraint:
    """A lasting contact whose multipliers are felt as friction wherever they are borne."""
    rubbed = []
    for number, (contact, _) in enumerate(sharing.kept):
        if contact == name:
            borne = [
                (active[n], modes[n].slip, x) for (n, _), x in sharing.over(number) if not modes[n].sticking
            ]
            rubbed.append(borne)
    rows = [k for contact, k in sharing.kept if contact == name]
    mode = modes[name]
    return sustained(
        base.linkage, active[name], mode.sticking, mode.slip, dict(zip(rows, rubbed, strict=True))
    )


def watched(
    eq: Equations, pairs: Sequence[ContactPair], modes: Modes, sharing: Sharing | None = None
) -> list[tuple[str, str, int, Scalar]]:
    """What may end the lasting contacts, or how they share: (contact, what, direction, expression)."""
    active = [pair for pair in pairs if pair.contact.name in modes]
    found: list[tuple[str, str, int, Scalar]] = []
    borne, y = contact_forces(eq, active, modes, sharing)
    for pair, (forces, slip) in zip(active, borne, strict=True):
        name, mode, mu = pair.contact.name, modes[pair.contact.name], eq.kin.number(pair.contact.friction)
        room = pair.closest(eq.kin).room
        if room is not None:
            found.append((name, GONE, -1, room))
        if mode.idle and sharing is not None:
            found.append((name, "bear", 1, sharing.normal(name, y)))
        else:
            found.append((name, "release", -1, forces[0]))
        if not pair.contact.rubs or (mode.idle and mode.sticking):
            continue
        if mode.sticking:
            rub: Scalar = 0.0
            for f in forces[1:]:
                rub = rub + f * f
            found.append((name, "slip", -1, (mu * mu) * (forces[0] * forces[0]) - rub))
        elif len(slip) == 1:
            # Slip that begins at zero, up to rounding, and goes the wrong way must cross something.
            found.append((name, "stick", -1, mode.slip * slip[0] + BACKWARDS * pair.speed))
        else:
            square = slip[0] * slip[0] + slip[1] * slip[1]
            left = square - (STOPPED * pair.speed) ** 2
            if pair.contact.heading is not None:
                left = headway(eq.kin, pair, slip) - AHEAD * square**0.5
            found.append((name, "stick", -1, left))
    return [(n, w, d, x if isinstance(x, Expr) else float(x)) for n, w, d, x in found]

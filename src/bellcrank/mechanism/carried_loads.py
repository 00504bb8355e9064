"""Loads that follow the reactions of joints: what friction in them presses with.

The equations of motion know them as first-order states. Contacts that last are no part of the equations of the open
mechanism: what presses on a joint through them comes in by their forces, which the run knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import AssemblyError
from bellcrank.formulations.equations import Equations, Reference
from bellcrank.formulations.loops import Partition
from bellcrank.formulations.multipliers import multipliers
from bellcrank.formulations.registry import FORMULATIONS, Formulation
from bellcrank.math.tuples import ZERO
from bellcrank.mechanics.functions import substituted
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import GROUND
from bellcrank.mechanics.loads import Loads
from bellcrank.program.evaluate import evaluate
from bellcrank.program.graph import Graph
from bellcrank.program.program import Program
from bellcrank.program.trace import Expr, Scalar
from bellcrank.quantities.snapshot import Snapshot, contact_inputs
from bellcrank.quantities.states import followed

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism

Array = NDArray[np.float64]

SETTLING = 50
"""Rounds in which loads and the forces that they cause are made to agree; the secants find a linear law of n loads in
2 n + 1 of them."""


def solved(s: Snapshot, eq: Equations, du: Sequence[Scalar], values: Sequence[Scalar]) -> list[Scalar]:
    """Values on a snapshot with its accelerations and multipliers replaced by those of the equations."""
    found = multipliers(eq, du)
    known: dict[int, Scalar] = {x.id: rate for x, rate in zip(s.du, du, strict=True)}
    known |= {x.id: -found.get(e, 0.0) for e, x in enumerate(s.mu)}
    if not set(contact_inputs(s.system)) & set(eq.mechanics.parameters):
        known |= {x.id: 0.0 for x in s.contact_inputs}
    return substituted(values, known, eq.kin)


@dataclass(frozen=True, eq=False)
class LaggingLoad:
    """A load that follows a reaction: its place in q, and the time in which it does [s]."""

    place: int
    lag: float


def lagging_loads(mechanism: Mechanism) -> list[LaggingLoad]:
    """The loads that follow reactions."""
    m = mechanism
    first = m.linkage.positions - len(m.linkage.states)
    states = [m.system.states[name] for name in m.linkage.states]
    return [LaggingLoad(first + k, state.lag) for k, state in enumerate(states) if state.follows is not None]


def pressed(mechanism: Mechanism, partition: Partition) -> tuple[Equations, Snapshot, Sequence[Scalar]]:
    """Equations of motion of [t, q, u_i, p, forces of contacts, wrenches of colliding groups], with accelerations.

    Forces on b and wrenches on the places of colliding groups in world axes, in the order of a snapshot: what a run
    knows of its lasting contacts, which are no part of the equations of the open mechanism.
    """
    m = mechanism
    names = contact_inputs(m.system)

    def pressing(kin: Kinematics, t: Scalar, loads: Loads) -> None:
        assert isinstance(t, Expr)
        s = Snapshot.on(m.system, m.tree, m.mechanics, kin, t, graph)
        for contact in s.contacts.values():
            contact.load(loads)
        for name, (force, moment) in s.collided.items():
            link = m.linkage.placements[m.system.colliding[name].body.name].link
            loads.between(GROUND, link, GROUND, ZERO, ZERO, force, moment)

    graph = Graph()
    mechanics = replace(
        m.mechanics,
        parameters=(*m.mechanics.parameters, *names),
        effects=(*m.mechanics.effects, pressing),
    )
    parameters = (*m.parameter_values, *(0.0 for _ in names))
    reference = Reference(m.start.t, m.start.q.tolist(), m.start.u.tolist(), parameters)
    eq = Equations.traced(mechanics, partition, graph, reference)
    du = FORMULATIONS[Formulation.INDEPENDENT](eq)
    return eq, Snapshot.on(m.system, m.tree, mechanics, eq.kin, eq.t, graph), du


def carried_loads(mechanism: Mechanism, partition: Partition) -> Program:
    """The loads that follow reactions, of what :func:`pressed` takes."""
    eq, s, du = pressed(mechanism, partition)
    system = mechanism.system
    names = [name for name in mechanism.linkage.states if system.states[name].follows is not None]
    return Program.of(eq.inputs, solved(s, eq, du, [followed(s, name) for name in names]), "loads")


def start_loads(mechanism: Mechanism, forces: Array | None = None) -> list[tuple[int, float]]:
    """Places in q and values of the loads that follow reactions, as the start asks for them.

    The forces that they cause change the reactions that they follow: the values are found by Broyden's secants, which
    begin by repeating. forces: Of contacts, on b in world axes [N]; none where missing.
    """
    m = mechanism
    places = [f.place for f in lagging_loads(m)]
    if not places:
        return []
    program = carried_loads(m, m.partition)
    q, u = m.start.q.copy(), m.start.u[list(m.partition.independent)]
    pressed = np.zeros(len(contact_inputs(m.system)))
    if forces is not None:
        pressed[: forces.size] = forces.ravel()
    inverse, step, before = np.eye(len(places)), np.zeros(len(places)), np.zeros(len(places))
    for _ in range(SETTLING):
        found = evaluate(program, np.concatenate([[m.start.t], q, u, m.parameter_values, pressed]))
        left = q[places] - found
        if np.allclose(left, 0.0, rtol=0.0, atol=1e-12 * float(np.abs(found).max())):
            return list(zip(places, found.tolist(), strict=True))
        seen = inverse @ (left - before)
        if (along := float(step @ seen)) != 0.0:
            inverse += np.outer(step - seen, step @ inverse) / along
        step, before = -inverse @ left, left
        q[places] += step
        if not np.isfinite(q[places]).all():
            break
    names = [name for name in m.linkage.states if m.system.states[name].follows is not None]
    raise AssemblyError(
        f"what the states {', '.join(map(repr, names))} follow is not found at the start: the forces that they cause "
        "change it without end; look at the sign of these forces, or give a state a rate of its own"
    )


__all__ = ["SETTLING", "LaggingLoad", "carried_loads", "lagging_loads", "pressed", "solved", "start_loads"]

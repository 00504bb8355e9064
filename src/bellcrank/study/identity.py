"""The identity of a model that cannot be written as a file: its equations, its start state, its contacts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bellcrank.impacts.gaps import watching
from bellcrank.impacts.units import placed_pairs
from bellcrank.mechanism import analyse
from bellcrank.model.parameters import names_in
from bellcrank.program.graph import Graph
from bellcrank.program.program import Program
from bellcrank.program.trace import Expr, Scalar
from bellcrank.run.events import watch_program

if TYPE_CHECKING:
    from bellcrank.model.system import System


def identity(system: System) -> str:
    """A text that differs between models that give different numbers."""
    m = analyse(system)
    gaps = watch_program(m, m.partition, [event for pair in placed_pairs(m) for event in watching(pair)])
    start = [m.start.t, *m.start.q.tolist(), *m.start.u.tolist()]
    parameters = dict(zip(m.mechanics.parameters, (float(v) for v in m.parameter_values), strict=True))
    contacts: list[tuple[object, ...]] = [
        (c.name, _text(c.restitution), _text(c.friction), c.law) for c in system.contacts.values()
    ]
    for g in system.collisions.values():
        sides = [[(s.frame.body.name, repr(s.shape)) for s in group] for group in (g.a, g.b or ())]
        law = [_text(x) for x in (g.restitution, g.friction, g.rolling_resistance, g.spinning_resistance)]
        contacts.append((g.name, law, g.pair, json.dumps(sides)))
    names = [*system.bodies, *m.speed_names]
    return json.dumps([m.traced().rates.text(), gaps.text(), start, parameters, contacts, names])


def _text(number: Scalar) -> object:
    """A number, or the program of an expression of parameters."""
    if not isinstance(number, Expr):
        return number
    graph = Graph()
    inputs = [graph.input(name) for name in names_in(number)]
    return Program.of(inputs, [graph.bring(number)], "number").text()

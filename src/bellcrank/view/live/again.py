"""Running again with other parameter values, without compiling anything twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.errors import unknown_name
from bellcrank.mechanism import Mechanism, State
from bellcrank.mechanism.assembly import close_positions, close_speeds
from bellcrank.mechanism.mistakes import open_loop, stuck

if TYPE_CHECKING:
    from bellcrank.result.result import Result


def with_parameters(mechanism: Mechanism, values: Mapping[str, float]) -> Mechanism:
    """The mechanism with other parameter values; its start is moved as little as its loops ask for."""
    names = mechanism.mechanics.parameters
    for name in values:
        if name not in names:
            raise unknown_name("parameter", name, names)
    known = dict(zip(names, mechanism.parameter_values, strict=True))
    p = tuple(float(values.get(name, known[name])) for name in names)
    m = replace(mechanism, parameter_values=p)
    loops, start = m.loop_state(p), m.start
    constraints = m.mechanics.constraints
    describe = partial(open_loop, m.system, m.tree, constraints, [])
    q = close_positions(loops, start.q, [], start.t, describe, list(m.kept))
    u = close_speeds(loops, loops.rows(q, start.t), start.u, [], lambda left: stuck(constraints, left, []))
    return replace(m, start=State(start.t, q, u), initial=None).with_programs_of(mechanism)


def again(result: Result, values: Mapping[str, float], **options: Any) -> Result:
    """The run of a result once more, with other parameter values: same start, times and integrator."""
    from bellcrank.integrate.methods import METHODS, adaptive
    from bellcrank.result.result import STEPS

    mechanism = with_parameters(result.mechanism, values)
    span = float(result.time[-1] - mechanism.start.t)
    method = result.run.method if result.run.method in METHODS else "auto"
    given: dict[str, Any] = {
        "integrator": method if adaptive(method) else "auto",
        "output": np.asarray(result.time),
    }
    if result.run.method == STEPS:
        given |= {"impacts": "stepping", "step": span / max(result.run.steps, 1)}
    return mechanism.simulate(span, **{**given, **options})


def at_start(mechanism: Mechanism) -> Result:
    """A result with the start alone, to be looked at before a run."""
    from bellcrank.mechanism.machines import Machines
    from bellcrank.result.result import Result, RunReport

    machine = Machines(mechanism).for_partition(mechanism.partition)
    values, n = machine.full(mechanism.kernel_input()), mechanism.linkage.speeds
    start = mechanism.start
    report = RunReport("not begun", "auto", str(machine.traced.formulation), 0, 0, 0, 0.0)
    p = np.array(mechanism.parameter_values)[None]
    return Result(
        mechanism, np.array([start.t]), start.q[None], start.u[None], values[None, n : 2 * n], p, report
    )

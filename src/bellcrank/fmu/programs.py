"""The programs of a mechanism that go into an FMU: for every partition its equations, outputs and their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from bellcrank.errors import ModelError, unknown_name
from bellcrank.fmu.contacts import Striking
from bellcrank.formulations.loops import Partition
from bellcrank.integrate import SimulationError
from bellcrank.mechanism import Mechanism, State
from bellcrank.mechanism.carried_loads import pressed, solved
from bellcrank.mechanism.export import needs_projection
from bellcrank.mechanism.machines import Machines
from bellcrank.mechanism.traced import Traced
from bellcrank.program.derive import jvp_program
from bellcrank.program.functions import reachable
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar
from bellcrank.quantities.quantities import Quantities
from bellcrank.quantities.snapshot import Snapshot
from bellcrank.quantities.traceable import Traceable
from bellcrank.run.events import substituted, watch_program
from bellcrank.run.run import Run
from bellcrank.run.simulation import output_times, stepping
from bellcrank.run.touch import gap_program, touch_events

OUTPUTS = 1000
"""Instants of a run at which it is seen which speeds are fit to be the independent ones."""


@dataclass(frozen=True)
class Output:
    """A quantity that the FMU gives out."""

    name: str
    unit: str


@dataclass(frozen=True, eq=False)
class Programs:
    """The programs of one partition, each of [t, y, p]; tangents take [t, y, p] and a direction behind it.

    motion: to the rates of positions and first-order states, then of all speeds. speeds: to all speeds. project: see
    :meth:`~bellcrank.Mechanism.projection`. outputs: where contacts strike, their forces come behind its inputs.
    impact, free, rooms: of contacts that strike.
    None where there is nothing to compute.
    """

    partition: Partition
    motion: Program
    motion_tangent: Program | None
    speeds: Program
    project: Program | None
    outputs: Program | None
    outputs_tangent: Program | None
    events: Program | None
    gaps: Program | None
    impact: Program | None = None
    free: Program | None = None
    rooms: Program | None = None

    def named(self) -> dict[str, Program | None]:
        """The programs by what they are called in C."""
        return {name: value for name, value in vars(self).items() if name != "partition"}


def programs(mechanism: Mechanism, partition: Partition, names: Sequence[str]) -> Programs:
    """The programs of a mechanism in one partition, with the quantities `names` as outputs."""
    traced = mechanism.traced(None, partition)
    positions = traced.rates.outputs[: mechanism.linkage.positions]
    motion = Program.of(traced.equations.inputs, [*positions, *traced.du], "motion")
    outputs = output_program(mechanism, traced, names) if names else None
    events = touch_events(mechanism)
    return Programs(
        partition,
        motion,
        jvp_program(motion),
        Program.of(traced.equations.inputs, list(traced.equations.u), "speeds"),
        mechanism.projection(partition, with_rank=True) if needs_projection(mechanism) else None,
        outputs,
        None if outputs is None else jvp_program(outputs),
        watch_program(mechanism, partition, events) if events else None,
        gap_program(mechanism, partition) if events else None,
    )


def struck_programs(
    mechanism: Mechanism, partition: Partition, names: Sequence[str], struck: Striking | None
) -> Programs:
    """The programs of the motion between impacts, which nothing differentiates; struck: Those of rigid contacts."""
    traced = mechanism.traced(None, partition)
    positions = traced.rates.outputs[: mechanism.linkage.positions]
    touches = touch_events(mechanism)
    return Programs(
        partition,
        Program.of(traced.equations.inputs, [*positions, *traced.du], "motion"),
        None,
        Program.of(traced.equations.inputs, list(traced.equations.u), "speeds"),
        mechanism.projection(partition, with_rank=True) if needs_projection(mechanism) else None,
        _pressed_outputs(mechanism, partition, names) if names else None,
        None,
        None,
        gap_program(mechanism, partition) if touches else None,
        *((None, None, None) if struck is None else struck.programs(partition)),
    )


def _pressed_outputs(mechanism: Mechanism, partition: Partition, names: Sequence[str]) -> Program:
    """Quantities, accelerations and reactions among them, with the forces of contacts that last."""
    eq, s, du = pressed(mechanism, partition)
    values, needs_multipliers = values_of(s, names)
    if needs_multipliers:
        return Program.of(eq.inputs, solved(s, eq, du, values), "outputs")
    known: dict[int, Scalar] = {node.id: rate for node, rate in zip(s.du, du, strict=True)}
    return Program.of(eq.inputs, substituted(values, known), "outputs")


def output_program(mechanism: Mechanism, traced: Traced, names: Sequence[str]) -> Program:
    """[t, y, p] to quantities, accelerations and reactions among them."""
    eq = traced.equations
    s = Snapshot.on(mechanism.system, mechanism.tree, mechanism.mechanics, eq.kin, eq.t, eq.graph)
    values, needs_multipliers = values_of(s, names)
    known: dict[int, Scalar] = {node.id: value for node, value in zip(s.du, traced.du, strict=True)}
    if needs_multipliers:
        # M du + Phi^T lambda = Q, and reactions follow from mu = -lambda.
        known |= {node.id: -x for node, x in zip(s.mu, traced.multipliers.outputs, strict=True)}
    return Program.of(eq.inputs, substituted(values, known), "outputs")


def values_of(s: Snapshot, names: Sequence[str]) -> tuple[list[Scalar], bool]:
    """Quantities of a state, component by component, and whether they need the multipliers of the loops."""
    found = [_parts(Quantities(s), name) for name in names]
    values = [quantity.trace()[i] for quantity, places in found for i in places]
    return values, any(quantity.needs_multipliers for quantity, _ in found)


def outputs_of(mechanism: Mechanism, names: Sequence[str]) -> list[Output]:
    """What the outputs are called, and their units; a vector asked for whole gives one output a component."""
    quantities = Quantities(Snapshot(mechanism.system, mechanism.tree, mechanism.mechanics))
    found = []
    for name in names:
        quantity, places = _parts(quantities, name)
        whole = len(places) == len(quantity.components) > 0
        labels = [f"{name}.{quantity.components[i]}" for i in places] if whole else [name]
        found += [Output(label, quantity.unit) for label in labels]
    return found


def _parts(quantities: Quantities, name: str) -> tuple[Traceable, tuple[int, ...]]:
    quantity, places = quantities.find(name)
    return quantity, tuple(range(max(1, len(quantity.components)))) if places is None else places


def default_outputs(mechanism: Mechanism) -> list[str]:
    """The coordinates of all joints and their rates, and where the bodies are."""
    table = Quantities(Snapshot(mechanism.system, mechanism.tree, mechanism.mechanics)).table
    joints, bodies = mechanism.system.joints, mechanism.system.bodies
    wanted = []
    for name in table:
        owner, _, what = name.partition(".")
        speeds = joints[owner].speeds if owner in joints else ()
        if what in ("coordinate", "rate", *speeds) or (owner in bodies and what in ("position", "velocity")):
            wanted.append(name)
    return wanted


def check_inputs(mechanism: Mechanism, names: Sequence[str]) -> None:
    """Raise where an input is no parameter, or would move the loops otherwise than by drivers."""
    known = mechanism.system.parameters.own()
    residuals = mechanism.traced().full.outputs[2 * mechanism.linkage.speeds :]
    owners = [c.name for c in mechanism.mechanics.constraints for _ in range(c.size)]
    fixed = [e for e, owner in zip(residuals, owners, strict=True) if owner not in mechanism.system.drivers]
    used = {node.args[0] for node in reachable(fixed) if node.op == "input"}
    for name in names:
        if name not in known:
            raise unknown_name("parameter to be an input", name, known)
        if name in used:
            raise ModelError(
                f"parameter {name!r} is part of a loop, so an input of that name would move bodies without a speed; "
                "let the input enter through a force or a driver, or leave it a parameter"
            )


def partitions_met(mechanism: Mechanism, duration: float, tolerance: float) -> list[Partition]:
    """The partitions that a run of `duration` seconds takes, that of the start first."""
    found = [mechanism.partition]
    if not mechanism.kept:
        return found
    run = Run(mechanism, "auto", touch_events(mechanism), ())
    times = output_times(mechanism.start.t, duration, 1)
    # Inputs may lead elsewhere; where the run fails, the partitions up to there are those that are known.
    with suppress(SimulationError):
        run.go(times, stepping(mechanism, tolerance, 0.0, float("inf")), False)
    for machine in run.used:
        if machine.partition not in found:
            found.append(machine.partition)
    return found


def partitions_struck(mechanism: Mechanism, duration: float, tolerance: float) -> list[Partition]:
    """As :func:`partitions_met`, of a mechanism whose contacts strike: those of the open mechanism."""
    found = [mechanism.partition]
    if not mechanism.kept:
        return found
    try:
        run = mechanism.simulate(duration, output=OUTPUTS, tolerance=tolerance, progress=False)
    except SimulationError as error:
        # Inputs may lead elsewhere; where the run fails, the partitions up to there are those that are known.
        run = error.result  # type: ignore[attr-defined]
    least = stepping(mechanism, tolerance, 0.0, float("inf")).repartition_threshold
    machines, margin = Machines(mechanism), len(mechanism.start.q) + len(mechanism.partition.independent) + 1
    here = mechanism.partition
    for t, q, u, p in zip(run.time, run.q, run.u, run.parameters, strict=True):
        machine = machines.for_partition(here)
        if machine.projection(np.concatenate([[t], machine.pack(q, u), p]))[margin] >= least:
            continue
        here = mechanism.choose_partition(State(t, q, u), p.tolist())
        if here not in found:
            found.append(here)
    return found

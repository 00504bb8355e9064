"""Simulate a described system: analyse, compile, integrate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.base.memory import memory, size_in_words
from bellcrank.base.provided import provided
from bellcrank.errors import ModelError, unknown_name
from bellcrank.formulations.registry import Formulation
from bellcrank.integrate import Options
from bellcrank.integrate.methods import METHODS, adaptive
from bellcrank.mechanism import Mechanism, State, analyse
from bellcrank.mechanism.again import known_again
from bellcrank.mechanism.initial import combined, rates_alone, separate
from bellcrank.model.forces import ContactForce
from bellcrank.model.joints.distance import Distance
from bellcrank.program.made import Table
from bellcrank.result.result import Result
from bellcrank.run.bending import note_deflections
from bellcrank.run.run import Run

if TYPE_CHECKING:
    from bellcrank.analyses.equilibrium import Equilibrium
    from bellcrank.model.system import System
    from bellcrank.run.events import Controller, Event

Array = NDArray[np.float64]

MOST_OUTPUTS = 10_000_000
"""Outputs of a run at most: a thousand a second for nearly three hours."""
LEAST_TOLERANCE = 10.0 * np.finfo(float).eps
"""The smallest relative tolerance, that of RADAU5 (Hairer and Wanner): below it, errors are those of rounding."""


EQUILIBRIUM = "equilibrium"
"""The start of a run at rest, found before it."""

REFORMULATED: Table[Formulation, Mechanism] = Table("in other formulations")


def simulate(
    system: System | Mechanism,
    duration: float,
    *,
    formulation: Formulation | str = Formulation.AUTO,
    integrator: str = "auto",
    tolerance: float = 1e-8,
    output: int | float | ArrayLike = 1000,
    initial: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    events: Sequence[Event] = (),
    controllers: Sequence[Controller] = (),
    step: float = 0.0,
    max_step: float = np.inf,
    max_steps: int = Options.max_steps,
    start: State | Equilibrium | str | None = None,
    progress: bool | None = None,
    impacts: str = "dense",
    queue_size: int = 4,
    propagation: str = "sequential",
    save: str | PathLike[str] | None = None,
    watch: Callable[[Result], None] | None = None,
) -> Result:
    """Simulate a system, or a mechanism already analysed, for `duration` seconds.

    formulation: how accelerations are computed; auto takes the fewest operations. integrator: one of
    :data:`bellcrank.integrate.METHODS`. tolerance: relative local error; that of lengths is relative to the size of the
    body and the distance it moves in the step. The absolute tolerance [m, rad, m/s, rad/s] is a hundredth of it; for
    lengths it is smaller in mechanisms below 0.1 m and larger in those above 10 m. output: number of equal intervals
    (an integer), the interval [s] (a number with a point), or the times themselves [s], shape (outputs,). initial:
    start values by joint, a position [m or rad] or (position, rate), before those of :meth:`bellcrank.System.initial`;
    see :func:`bellcrank.mechanism.initial.apply_initial`. parameters: values other than the described ones, by name.
    events: zero crossings to watch. controllers: functions called at their own rates. step: fixed step [s] instead of
    steps chosen by the error; runge_kutta4 needs it. max_step: longest step [s]. max_steps: steps after which a run
    that has not come to its end fails, those made again included. start: state to start from instead of the described
    one, an equilibrium, or "equilibrium"; `initial` comes over it, coordinate by coordinate. progress: show a bar
    (default: on a terminal, after a second). impacts: how impact times are found: "dense" on the dense output of a
    step, "queue" by the last `queue_size` checks every `max_step`; "stepping" solves all contacts of a `step`
    together, for piles and for contacts that slip together; steps are shortened so that outputs and controllers
    fall on their ends, and events are met at the end of a step. propagation: how impacts pass through bodies in
    touch, "sequential" or "simultaneous". save: write the outputs into this file as they come; after an interrupt
    or a crash :func:`bellcrank.resume` goes on from there. watch: called with the result so far a few times a
    second while the run goes on (with contacts: when contacts have changed);
    :meth:`bellcrank.view.live.Viewer.follow` is such a function.

    Ctrl-C returns what was computed so far; a failing run raises :class:`SimulationError` with it.
    """
    check_options(integrator, tolerance, step, max_step, events, controllers)
    if isinstance(max_steps, bool) or not isinstance(max_steps, Integral) or not 1 <= max_steps < 2**63:
        raise ModelError(f"max_steps must be a whole number of steps, at least 1, not {max_steps!r}")
    if (impacts, queue_size, propagation) != ("dense", 4, "sequential"):
        provided("impact timing")(impacts, queue_size, max_step, propagation)
    mechanism = prepared(system, formulation, initial, parameters, start)
    pressing = any(isinstance(f, ContactForce) for f in mechanism.system.forces.values())
    if pressing or mechanism.system.contacts:
        from bellcrank.run.touch import begun, followed, touch_events

        if followed(mechanism):
            mechanism = begun(mechanism)
            events = (*events, *touch_events(mechanism))
    if any(isinstance(joint, Distance) for joint in mechanism.system.joints.values()):
        from bellcrank.run.lengths import check_lengths, length_events

        if not controllers and not any(event.stops or event.changes_parameters for event in events):
            check_lengths(mechanism, output_times(mechanism.start.t, duration, output)[-1])
        events = (*events, *length_events(mechanism))
    mechanism.check_start(tolerance)
    times = output_times(mechanism.start.t, duration, output)
    check_memory(mechanism, len(times))
    options = replace(stepping(mechanism, tolerance, step, max_step), max_steps=int(max_steps))
    if mechanism.system.strikes:
        timing = provided("impact timing")(impacts, queue_size, max_step, propagation)
        result: Result = provided("simulate impacts")(
            mechanism, integrator, times, options, events, controllers, progress, timing, save, watch
        )
        note_deflections(result)
        return result
    run = Run(mechanism, integrator, events, controllers)
    if watch is not None:
        from bellcrank.run.watching import Watch

        run.watch = Watch(watch)
    record = None
    if save is not None:
        from bellcrank.run.recording import recorder

        record = recorder(run, times, options, save)
        record.begin()
    result = run.go(times, options, progress, record)
    note_deflections(result)
    return result


def check_options(
    integrator: str, tolerance: Any, step: Any, max_step: Any, events: Any, controllers: Any
) -> None:
    """Raise where an option of a run makes no sense; tolerance relative, step and max_step in s."""
    for name, value, low in (
        ("tolerance", tolerance, False),
        ("step", step, True),
        ("max_step", max_step, False),
    ):
        if not _is_number(value) or not (value > 0.0 or (low and value == 0.0)):
            raise ModelError(f"{name} must be a positive number, not {value!r}")
    if tolerance < LEAST_TOLERANCE:
        raise ModelError(
            f"tolerance={tolerance:g} is finer than numbers of 16 digits can be held to; "
            f"the finest is {LEAST_TOLERANCE:.2g}"
        )
    if integrator in METHODS and not adaptive(integrator) and step == 0.0:
        raise ModelError(f"the integrator {integrator!r} does not choose its steps; give step= [s]")
    for name, values in (("events", events), ("controllers", controllers)):
        if not isinstance(values, Sequence):
            raise ModelError(f"{name} must be a list, such as {name}=[...], not {values!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and value == value


def prepared(
    system: System | Mechanism,
    formulation: Formulation | str,
    initial: Mapping[str, Any] | None,
    parameters: Mapping[str, float] | None,
    start: State | Equilibrium | str | None = None,
) -> Mechanism:
    """An analysed mechanism with the given start and parameters; one already analysed is used as it is.

    start: A state, an equilibrium, or "equilibrium", which is then found; `initial` comes over it, coordinate by
    coordinate. Where the equilibrium is still to be found, positions in `initial` are where its search begins, and
    rates are those it starts with.
    """
    if start is not None:
        mechanism = prepared(system, formulation, None, parameters)
        if isinstance(start, str):
            if start != EQUILIBRIUM:
                raise unknown_name("start", start, (EQUILIBRIUM,))
            start = provided("equilibrium")(mechanism, initial=initial)
            initial = rates_alone(mechanism.system, initial or {})
        state = getattr(start, "state", start)
        if not isinstance(state, State):
            raise ModelError(f"start must be a State, an Equilibrium or {EQUILIBRIUM!r}, not {start!r}")
        return mechanism.starting(state, initial)
    if not isinstance(system, Mechanism):
        return known_again(analyse(system, formulation=formulation, initial=initial, parameters=parameters))
    wanted = Formulation(formulation)
    if wanted not in (Formulation.AUTO, system.formulation):
        system = _reformulated(system, wanted)
    if not initial and not parameters:
        return system
    values = dict(zip(system.mechanics.parameters, system.parameter_values, strict=True)) | dict(
        parameters or {}
    )
    if system.initial is None:
        moved = analyse(system.system, formulation=system.formulation, parameters=values, t=system.start.t)
        return moved.with_programs_of(system).starting(system.start, initial)
    given = combined(system.initial, separate(system.system, initial or {}))
    fresh = analyse(
        system.system, formulation=system.formulation, initial=given, parameters=values, t=system.start.t
    )
    return fresh.with_programs_of(system)


def _reformulated(mechanism: Mechanism, wanted: Formulation) -> Mechanism:
    """The mechanism in another formulation; programs are shared, start and parameters are its own."""
    m = mechanism
    known = m.compiled.once(REFORMULATED, wanted, lambda: replace(m, formulation=wanted))
    if known.start is m.start and known.parameter_values == m.parameter_values:
        return known
    own = replace(known, start=m.start, initial=m.initial, parameter_values=m.parameter_values)
    return own.with_programs_of(known)


def stepping(mechanism: Mechanism, tolerance: float, step: float, max_step: float) -> Options:
    """How a run of a mechanism steps."""
    return Options(
        rtol=tolerance,
        atol=0.01 * tolerance,
        fixed_step=step,
        max_step=max_step,
        position_tolerance=1e-11 * mechanism.length_scale,
        repartition_threshold=0.05,
    )


def output_times(begin: float, duration: float, output: int | float | ArrayLike) -> Array:
    """The times of the outputs, the start included."""
    if not _is_number(duration) or not 0.0 < duration < np.inf:
        raise ModelError(f"the duration must be a positive number of seconds, not {duration!r}")
    if isinstance(output, int | np.integer):
        if output < 1:
            raise ModelError(f"output={output!r}: give at least one interval, or the output times")
        _check_outputs(int(output) + 1)
        return np.linspace(begin, begin + duration, int(output) + 1)
    if isinstance(output, float | np.floating):
        if not 0.0 < output <= duration:
            raise ModelError(
                f"output={output!r}: the interval must be positive and no longer than {duration:g} s"
            )
        _check_outputs(duration / float(output) + 1.0)
        times: Array = begin + float(output) * np.arange(
            int(duration / output * (1.0 + 1e-12)) + 1, dtype=np.float64
        )
        end = begin + duration
        return np.append(times, end) if end - times[-1] > 1e-9 * duration else np.append(times[:-1], end)
    try:
        times = np.atleast_1d(np.asarray(output, dtype=float))
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"output={output!r}: give a number of intervals, an interval [s], or the output times [s]"
        ) from error
    _check_outputs(times.size)
    if times.ndim != 1 or not np.isfinite(times).all() or np.any(np.diff(times) <= 0.0):
        raise ModelError("output times must increase and be finite")
    if len(times) == 0 or times[0] < begin or times[-1] > begin + duration * (1.0 + 1e-12):
        raise ModelError(f"output times must lie between {begin:g} s and {begin + duration:g} s")
    return times


def _check_outputs(count: float) -> None:
    """Raise where there are more outputs than a run may have."""
    if not count <= MOST_OUTPUTS:
        number = f"{int(count):,}" if count < 1e15 else f"{min(count, 1e308):.0e}"
        raise ModelError(
            f"{number} outputs are more than a run may have, {MOST_OUTPUTS:,}: choose fewer intervals or longer ones, "
            "or run piece by piece with start="
        )


def check_memory(mechanism: Mechanism, outputs: int) -> None:
    """Raise where the outputs of a run need more memory than there is."""
    linkage = mechanism.linkage
    numbers = 1 + linkage.positions + 2 * linkage.speeds + len(mechanism.parameter_values)
    # The run itself holds its states while the result is made of them.
    needed = 2 * 8 * numbers * outputs
    if needed > memory():
        raise ModelError(
            f"{outputs:,} outputs of {numbers} numbers need {size_in_words(needed)} of memory, and there are "
            f"{size_in_words(memory())}: choose fewer outputs, or run piece by piece with start="
        )


__all__ = ["MOST_OUTPUTS", "check_options", "output_times", "prepared", "simulate"]

"""Simulate every row of a table: four instances in SIMD lanes, the groups spread over threads.

Which instances share lanes depends on their row numbers alone (0 to 3, 4 to 7, ...), so the numbers depend neither on
the threads nor on the rows before and after.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.batch.group import LaneGroups, LaneMachine, Watch, lane_machine, watched
from bellcrank.batch.lanes import LANES
from bellcrank.batch.readout import Readout, readout
from bellcrank.batch.result import BatchReport, BatchResult, Failure
from bellcrank.batch.starts import Starts, assembled_starts, given_starts
from bellcrank.batch.table import Table, read_table
from bellcrank.batch.workers import Workers
from bellcrank.errors import BellcrankError, ModelError, unknown_name
from bellcrank.impacts.timing import Timing
from bellcrank.integrate import Options, SimulationError
from bellcrank.integrate.methods import AUTO, METHODS, load
from bellcrank.mechanism import Mechanism, State, analyse
from bellcrank.model.system import System
from bellcrank.program.cuda import Precision
from bellcrank.result.impact_table import ImpactTable
from bellcrank.result.result import STEPS, Happening, Result
from bellcrank.run.run import Run
from bellcrank.run.simulation import check_options, output_times, stepping
from bellcrank.run.touch import begun, followed, touch_events

if TYPE_CHECKING:
    from bellcrank.batch.device import DeviceRun

Array = NDArray[np.float64]

BLOCK_STATES = 20_000
"""About so many output states are held at once by a thread before quantities are taken from them."""
MOST_GROUPS = 64
"""Groups in one piece of work at most, so that progress shows and threads end together."""


def simulate_many(
    system: System | Mechanism,
    table: Any,
    duration: float,
    *,
    quantities: Sequence[str],
    integrator: str | None = None,
    tolerance: float = 1e-8,
    output: int | float | ArrayLike = 100,
    starts: Sequence[State] | tuple[Array, Array] | None = None,
    events: Sequence[Any] = (),
    controllers: Sequence[Any] = (),
    step: float = 0.0,
    max_step: float = np.inf,
    impacts: str = "dense",
    queue_size: int = 4,
    propagation: str = "sequential",
    threads: int | None = None,
    device: str = "cpu",
    precision: Precision = "double",
    progress: bool | None = None,
) -> BatchResult:
    """Run a system or mechanism for `duration` seconds, once for every row of `table`.

    table: parameters (by name) and start values (``joint.coordinate``, ``joint.coordinate_rate``), one column
    each; see :func:`bellcrank.batch.table.read_table`. quantities: what to keep, by name; nothing else is
    stored. integrator: 'dop853' (default), 'dormand_prince5', 'runge_kutta5' and 'runge_kutta4' run in lanes, until an
    instance meets an event or an impact, from where it goes on by itself; with any other, with controllers, with
    contacts that press and by steps (impacts="stepping") instances run one by one, by 'auto' where none is asked for,
    and `run.one_by_one` says why. Such an instance has the bits of a single run. output: number of equal intervals, the
    interval [s], or the times [s]. starts: states of all instances, or arrays of positions (rows, positions) and speeds
    (rows, speeds), instead of the described start. threads: default all cores; the result does not depend on it.
    device: "gpu" integrates on the graphics processor, with 'dormand_prince5' (default there), 'runge_kutta5' or
    'runge_kutta4', in the given precision; what fails there or comes beside a change point, runs here. Options as for
    `simulate`: tolerance, events, step [s], max_step [s], impacts, queue_size, propagation, progress.

    An instance that fails costs only itself; it is listed in `failures`. Ctrl-C returns what was done so far.
    """
    mechanism = analyse(system) if isinstance(system, System) else system
    given, integrator = integrator, integrator or ("dormand_prince5" if device == "gpu" else "dop853")
    check_options(integrator, tolerance, step, max_step, events, controllers)
    if integrator not in METHODS:
        raise unknown_name("integrator", integrator, METHODS)
    if not quantities:
        raise ModelError("name at least one quantity to keep: quantities=['slider.position.x']")
    rows = read_table(mechanism, table)
    times = output_times(mechanism.start.t, duration, output)
    options = stepping(mechanism, tolerance, step, max_step)
    timing = Timing.of(impacts, queue_size, max_step, propagation)
    if timing.stepping and mechanism.system.strikes:
        timing.check_step(step)
        integrator = STEPS
    why = one_by_one(mechanism, integrator, bool(controllers), timing)
    lanes = not why
    if why and given is None and integrator in METHODS:
        integrator = AUTO
    on_device = None
    if device == "gpu":
        from bellcrank.batch.device import DeviceRun

        if not lanes or events or mechanism.system.strikes:
            raise ModelError(
                "device='gpu' takes no events, controllers or contacts; leave it at 'cpu' for them"
            )
        on_device = DeviceRun.of(mechanism, integrator, times, options, precision)
    elif device != "cpu":
        raise unknown_name("device", device, ("cpu", "gpu"))
    elif precision != "double":
        raise ModelError("precision= goes with device='gpu'; the processor computes in double precision")
    began = time.perf_counter()
    machine = lane_machine(mechanism)
    if starts is None:
        first = assembled_starts(mechanism, rows, machine)
    else:
        if rows.initial:
            raise ModelError(
                f"give start values by starts= or by the column {rows.initial[0][0]!r}, not both"
            )
        first = given_starts(mechanism, starts, len(rows))
    batch = _Batch(
        mechanism, rows, first, times, options, integrator, lanes, machine, readout(mechanism, quantities)
    )
    batch.events, batch.controllers, batch.device = tuple(events), tuple(controllers), on_device
    batch.timing, batch.one_by_one = timing, why
    batch.watch = watched(mechanism, batch.events) if lanes else None
    start_seconds = time.perf_counter() - began
    return batch.go(threads or _cores(), progress, start_seconds)


def one_by_one(mechanism: Mechanism, integrator: str, controlled: bool, timing: Timing) -> str:
    """Why instances cannot share lanes; empty where they can."""
    strikes = bool(mechanism.system.strikes)
    if strikes and timing.stepping:
        return "the contacts of a step, and the iterations of their impulses, differ between instances"
    if strikes and timing.queue_size is not None:
        return "impacts='queue' counts its checks from the start of a run"
    if controlled:
        return "controllers are called run by run"
    if followed(mechanism):
        return "touch and parting of contacts are located run by run"
    if integrator == AUTO or load(integrator).table is None:
        return f"the integrator {integrator!r} has no steps that lanes could share"
    return ""


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Batch:
    """A batch in progress."""

    def __init__(
        self,
        mechanism: Mechanism,
        table: Table,
        starts: Starts,
        times: Array,
        options: Options,
        method: str,
        lanes: bool,
        machine: LaneMachine,
        reading: Readout,
    ) -> None:
        self.mechanism, self.table, self.starts, self.times = mechanism, table, starts, times
        self.options, self.method, self.lanes, self.machine, self.reading = (
            options,
            method,
            lanes,
            machine,
            reading,
        )
        self.events: tuple[Any, ...] = ()
        self.controllers: tuple[Any, ...] = ()
        self.device: DeviceRun | None = None
        self.watch: Watch | None = None
        self.timing = Timing()
        self.one_by_one = ""
        self.groups = 1
        self.happened: dict[int, tuple[Happening, ...]] = {}
        self.impacts: dict[int, ImpactTable] = {}
        self.values = np.full((len(table), len(times), reading.width), np.nan)
        self.done = np.zeros(len(table), bool)
        self.failures: dict[int, Failure] = {}
        self.stop = threading.Event()
        self.compiling, self.counting = threading.Lock(), threading.Lock()
        self.local = threading.local()
        self.steps = self.evaluations = self.alone = self.unsolved = self.stepped = 0
        for row, reason in starts.problems.items():
            self._fail(row, starts.t, reason)

    def go(self, threads: int, progress: bool | None, start_seconds: float) -> BatchResult:
        """Run all blocks."""
        from bellcrank.batch.progress import RunsBar

        rows = np.arange(len(self.table))
        size = LANES * max(1, min(MOST_GROUPS, BLOCK_STATES // (LANES * len(self.times))))
        # Even shares: as many blocks for one thread as for another.
        blocks_each = -(-len(rows) // (size * threads))
        size = LANES * -(-len(rows) // (LANES * threads * blocks_each))
        if self.device is not None:
            size, threads = self.device.rows_at_once(self.starts.y.shape[1]), 1
        begun = np.isin(rows, [*self.failures], invert=True)
        self.groups = size // LANES
        blocks = [rows[k : k + size][begun[k : k + size]] for k in range(0, len(rows), size)]
        bar = RunsBar(int(begun.sum()), progress)
        began = time.perf_counter()
        workers = Workers(lambda k: self._block(blocks[k]), len(blocks), threads)
        status = "done"
        try:
            for ended in workers.run():
                bar.add(ended)
        except KeyboardInterrupt:
            status = "interrupted"
        finally:
            self.stop.set()
            workers.stop()
            bar.close()
        report = BatchReport(
            status,
            self.method,
            threads,
            self.steps,
            self.evaluations,
            self.alone,
            time.perf_counter() - began,
            start_seconds,
            self.one_by_one,
            self.unsolved,
            self.stepped,
        )
        r = self.reading
        failures = tuple(self.failures[k] for k in sorted(self.failures))
        units = dict(zip(r.names, r.units, strict=True))
        values = r.split(self.values)
        return BatchResult(
            self.mechanism,
            self.table.columns,
            self.times,
            values,
            units,
            self.done,
            failures,
            report,
            dict(sorted(self.happened.items())),
            dict(sorted(self.impacts.items())),
        )

    def _fail(self, row: int, t: float, reason: str) -> None:
        self.failures[row] = Failure(row, self.table.row(row), t, reason)

    def _block(self, rows: NDArray[np.int64]) -> int:
        """Run some instances to their end; how many were done."""
        if self.stop.is_set():
            return 0
        if self.device is not None:
            self._on_device(rows, self.device)
            return len(rows)
        if not self.lanes:
            for row in rows:
                if not self.stop.is_set():
                    self._single(int(row), self.starts.t, self.starts.y[row], 0)
            return len(rows)
        if not len(rows):
            return 0
        if not hasattr(self.local, "groups"):
            self.local.groups = LaneGroups(
                self.machine,
                self.method,
                self.times,
                self.table.parameters.shape[1],
                self.options,
                self.watch,
                self.groups,
            )
        groups: LaneGroups = self.local.groups
        first = np.flatnonzero(np.diff(rows // LANES, prepend=-1))
        p = self.table.parameters[rows]
        whole, leavers = groups.run(self.starts.t, self.starts.y[rows], p, first, self.stop.is_set)
        self._count(groups.steps, groups.evaluations)
        places = np.arange(len(rows))
        if len(rows) < LANES * len(first):
            # Rows without a start leave lanes empty behind the others of their group.
            group = np.repeat(np.arange(len(first)), np.diff(first, append=len(rows)))
            places += LANES * group - first[group]
        self._read(rows, groups.kept[places])
        ended = places < LANES * whole
        left = np.searchsorted(places, [leaver.place for leaver in leavers])
        ended[left] = False
        self.done[rows[ended]] = True
        for row, leaver in zip(rows[left].tolist(), leavers, strict=True):
            if not self.stop.is_set():
                self._count(0, 0, 1)
                self._single(row, leaver.t, leaver.y, leaver.output)
        return len(rows)

    def _count(self, steps: int, evaluations: int, alone: int = 0) -> None:
        with self.counting:
            self.steps += steps
            self.evaluations += evaluations
            self.alone += alone

    def _on_device(self, rows: NDArray[np.int64], device: DeviceRun) -> None:
        """Run some instances on the graphics processor; those that fail there go on here from their start."""
        y, ended = device.go(self.starts.t, self.starts.y[rows], self.table.parameters[rows])
        size = max(1, BLOCK_STATES // len(self.times))
        good = np.flatnonzero(ended)
        for k in range(0, len(good), size):
            self._read(rows[good[k : k + size]], y[good[k : k + size]])
        self.done[rows[good]] = True
        for row in rows[~ended]:
            if not self.stop.is_set():
                self._count(0, 0, 1)
                self._single(int(row), self.starts.t, self.starts.y[row], 0)

    def _read(self, rows: NDArray[np.int64], y: Array) -> None:
        """Quantities of the states y, shape (rows, outputs, n)."""
        m, outputs = self.mechanism, len(self.times)
        flat = y.reshape(len(rows) * outputs, -1)
        known: Any = ~np.isnan(flat[:, 0])
        if not known.any():
            return
        values = np.full((len(flat), self.reading.width), np.nan)
        if known.all():
            known = slice(None)
        t = np.tile(self.times, len(rows))[known]
        p = np.repeat(self.table.parameters[rows], outputs, axis=0)[known]
        flat = flat[known]
        full = self.machine.full.many(np.hstack([t[:, None], flat, p]))
        speeds = m.linkage.speeds
        q, u, du = flat[:, : m.linkage.positions], full[:, :speeds], full[:, speeds : 2 * speeds]
        values[known] = self.reading.rows(t, q, u, du, p)
        self.values[rows] = values.reshape(len(rows), outputs, -1)

    def _single(self, row: int, t: float, y: Array, first: int) -> None:
        """One instance by itself, from (t, y), with the outputs from number `first` on."""
        m, p = self.mechanism, self.table.parameters[row]
        n = m.linkage.positions
        x = np.concatenate([[t], y, p])
        u = self.machine.full.many(x[None])[0][: m.linkage.speeds]
        own = replace(
            m, start=State(t, y[:n].copy(), u), parameter_values=tuple(p.tolist())
        ).with_programs_of(m)
        try:
            result = self._go_on(own, self.times[first:])
            reached = str(result.run.status) in ("done", "event")
            self.done[row] = reached
            if not reached:
                self._fail(row, float(result.time[-1]) if len(result) else t, result.run.status)
        except SimulationError as error:
            found: Result | None = getattr(error, "result", None)
            self._fail(row, error.time, error.why)
            if found is None:
                return
            result = found
        except (BellcrankError, ArithmeticError, ValueError) as error:
            self._fail(row, t, str(error))
            return
        self._count(result.run.steps, result.run.evaluations)
        with self.counting:
            self.unsolved += result.run.unsolved
            self.stepped += bool(result.run.stepped)
        if result.events:
            self.happened[row] = result.events
        if len(result.impacts):
            self.impacts[row] = result.impacts
        # A run that an event has stopped ends with a sample there, between the outputs of the batch.
        shown = np.isin(result.time, self.times[first:])
        if shown.any():
            self.values[row, first : first + np.count_nonzero(shown)] = self.reading.of(result)[shown]

    def _go_on(self, own: Mechanism, times: Array) -> Result:
        events = self.events
        if followed(own):
            with self.compiling:
                own = begun(own)
                events = (*events, *touch_events(own))
        if own.system.strikes:
            from bellcrank.impacts.run import simulate_with_contacts

            return simulate_with_contacts(
                own, self.method, times, self.options, events, self.controllers, False, self.timing
            )
        # Another partition's programs are traced and compiled by whoever needs them first; the others wait.
        with self.compiling:
            run = Run(own, self.method, events, self.controllers)
        return run.go(times, self.options, False)


__all__ = ["one_by_one", "simulate_many"]

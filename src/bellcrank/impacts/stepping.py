"""Runs with contacts by steps: all impacts and lasting contacts of a step at once, however many there are.

See :mod:`bellcrank.impacts.moreau` for the scheme. The bodies and pairs of shapes have their programs
(:mod:`bellcrank.impacts.meeting`); the steps run in compiled code from output to output.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.progress_bar import ProgressBar
from bellcrank.errors import ModelError
from bellcrank.impacts import moreau
from bellcrank.impacts.changes import KNOWN, LOGGED, NAMES, carry_on
from bellcrank.impacts.checks import check_apart, check_dimensions, check_movable
from bellcrank.impacts.cones import CONTACTS
from bellcrank.impacts.errors import ContactError
from bellcrank.impacts.scene import Parts, scene_of
from bellcrank.integrate import Options
from bellcrank.mechanism import Mechanism, State
from bellcrank.program.loops.entry import Bound
from bellcrank.program.made import Table
from bellcrank.program.preparing import WorkTime
from bellcrank.result.impact_table import ContactChange, ContactRecord, ImpactRecord, ImpactTable
from bellcrank.result.result import STEPS, Result, RunReport
from bellcrank.run.run import Run
from bellcrank.run.watching import Watch

if TYPE_CHECKING:
    from bellcrank.run.events import Controller, Event

Array = NDArray[np.float64]
Index = NDArray[np.int64]

CHUNK = 1000
"""Steps between two looks at the keyboard."""
ROOM, ROOM_EACH = 64, 8
"""Contacts for which there is room at first, and more for every body; more is made where it is needed."""
EVALUATIONS = 8
"""Evaluations of the rates in a step; corrections of positions, which take two more each, are not counted."""
UNFIT = 0.05
"""Margin of the loops below which other speeds become independent; that of the integrators."""

Row = tuple[Array, Array, Array, Array]
"""Positions, speeds, their rates and contact forces at an output."""

PROGRAMS: Table[Hashable, dict[Hashable, object]] = Table("of stepped contacts")


REMEMBERED = "keys", "impulse", "after", "turn"
"""Of the contacts of the step before."""


class Writing(Protocol):
    """Receives the outputs of a run by steps and its end."""

    def add_output(self, run: SteppedRun, times: Array, seconds: float) -> None:
        """Called at every output. seconds: That the run has taken."""

    def finish(self, result: Result, complete: bool) -> None:
        """Called at the end of the run."""

    def close(self) -> None:
        """Called before that, also after an error."""


class SteppedRun(Run):
    """A run in steps of the same length, or a little shorter, so that outputs and controllers fall on their ends."""

    def __init__(
        self,
        mechanism: Mechanism,
        length: float,
        events: Sequence[Event],
        controllers: Sequence[Controller],
    ) -> None:
        super().__init__(mechanism, "auto", events, controllers)
        self.length = length
        self.made = mechanism.compiled.once(
            PROGRAMS,
            (*mechanism.system.contacts.values(), *mechanism.system.collisions.values()),
            dict[Hashable, object],
        )
        # Without gravity the unit of speed is that of the start.
        key = "placed", () if any(mechanism.linkage.gravity) else tuple(mechanism.start.u.tolist())
        with mechanism.compiled.lock:
            if key not in self.made:
                self.made[key] = self._placed()
        self.parts = cast("Parts", self.made[key])
        self.pairs = self.parts.pairs
        self.room = ROOM + ROOM_EACH * len(mechanism.system.bodies)
        self.records: list[ImpactRecord] = []
        self.changes: list[ContactChange] = []
        self.statistics = np.zeros(moreau.STATISTICS)
        self.statistics[[moreau.DEEPEST, moreau.MARGIN]] = 1.0
        self.steps = 0
        self.repartitions: list[float] = []
        self.stopped = False
        self.advancing: Bound | None = None
        self.reached: list[Row] = []
        # Before the last step, and how long that was [s].
        self.speeds_before, self.h = mechanism.start.u, length
        self.parameters_before = np.zeros((0, len(mechanism.parameter_values)))
        self.samples, self.calls = [self._sample(c) for c in self.controllers], [0] * len(self.controllers)
        self._enter(mechanism.start, np.array(mechanism.parameter_values))

    def _placed(self) -> Parts:
        """Contacts and colliding groups on the links; checked."""
        parts = Parts(self.mechanism, self.made)
        for pair in parts.pairs:
            check_movable(pair, self.mechanism)
            if pair.contact.law != "newton":
                raise ModelError(
                    f"contact {pair.contact.name!r} has the law {pair.contact.law!r}; impacts='stepping' knows "
                    "Newton's alone: use law='newton', or impacts='dense'"
                )
        check_dimensions(parts.pairs)
        return parts

    def _enter(self, state: State, p: Array) -> None:
        """Go on from a state in the present partition."""
        with self.mechanism.compiled.lock:
            self.scene = scene_of(self.parts, self.machine, self.room)
        self.scene.x[:] = np.concatenate([[state.t], self.machine.pack(state.q, state.u), p])

    def enter(self, x: Array, known: Mapping[str, NDArray[Any]]) -> None:
        """Go on from where the memory of another run was, in the partition that was chosen there."""
        if self.chosen is not None:
            state, p = self.chosen
            self.machine = self.machines.for_partition(self.mechanism.choose_partition(state, p.tolist()))
        while self.room < len(known["keys"]):
            self.room *= 2
        with self.mechanism.compiled.lock:
            self.scene = scene_of(self.parts, self.machine, self.room)
        self.scene.x[:] = x
        self.remember(known)

    def _advance(self, what: int, h: float, steps: int) -> int:
        """Steps, or a look at the state; with more room where contacts need it."""
        done = 0
        while True:
            if self.advancing is None or self.advancing.arguments[0] is not self.scene:
                self.advancing = moreau.advance.bound(self.scene, what, h, steps - done, UNFIT)
            done += int(self.advancing(what, h, steps - done, UNFIT))
            if not self.scene.log.counters[moreau.FULL]:
                return done
            self._drain()
            self.room *= 2
            before, self.scene = self.scene, scene_of(self.parts, self.machine, self.room)
            self.scene.x[:] = before.x
            self._keep(before)

    def _keep(self, before: moreau.Scene) -> None:
        """Go on with the records and the memory of another scene."""
        self.scene.log.statistics[:] = before.log.statistics
        self.remember(known_of(before))

    def remember(self, known: Mapping[str, NDArray[Any]]) -> None:
        """Know of the contacts what another scene did, :func:`known_of`."""
        log, memory, changes = self.scene.log, self.scene.memory, self.scene.log.changes
        log.forces[:], log.wrenches[:] = known["forces"], known["wrenches"]
        count = log.counters[moreau.RECENT] = len(known["keys"])
        for name in REMEMBERED:
            getattr(memory, name)[:count] = known[name]
        for k in range(count):
            slot = moreau.remembered(memory, int(memory.keys[k]))
            memory.table[slot], memory.slots[k] = k, slot
        carry_on(changes, known["known"], known["since"], known["now"])

    def go_on(self, times: Array, progress: bool | None, record: Writing | None = None) -> Result:
        """Step to the last output time. record: Hears of the outputs as they come."""
        start, rows = self.mechanism.start, self.reached
        self.outputs = times
        if not rows:
            self.history.append((start.t, np.array(self.mechanism.parameter_values)))
            self._check_start()
        bar = ProgressBar(float(times[-1]) - start.t, "stepping", progress)
        clock, status = WorkTime(), "done"
        try:
            for output in times[len(rows) :]:
                self._go_to(float(output))
                bar.show(float(self.scene.x[0]) - start.t, f"t = {self.scene.x[0]:.4g} s")
                rows.append(self._row(rows))
                if self.stopped:
                    status = "event"
                    break
                if record is not None:
                    record.add_output(self, times, self.seconds_before + clock.seconds)
                if self.watch is not None and self.watch.due():
                    self.watch.show(self._stepped(times, "running", clock.seconds))
        except KeyboardInterrupt:
            status = "interrupted"
        except ContactError as error:
            error.result = self._stepped(times, "step_underflow", clock.seconds)
            if record is not None:
                record.finish(error.result, complete=False)
            raise
        finally:
            bar.close()
            if record is not None:
                record.close()
        result = self._stepped(times, status, clock.seconds)
        if record is not None:
            record.finish(result, complete=status in ("done", "event"))
        return result

    def _check_start(self) -> None:
        """Shapes may touch at the start, not overlap."""
        self._advance(moreau.LOOK, self.length, 0)
        self._check_laws()
        near, parts = self.scene.near, self.parts
        for k in range(int(self.scene.cones.counts[CONTACTS])):
            a, b = int(near.a[k]), int(near.b[k])
            number = int(near.number[k])
            name = parts.name_of(number, a, b)
            own = parts.pairs[number].contact if number >= 0 else None
            gap, length = float(near.gap[k]), float(near.length[k])
            stop = own if own is not None and own.limits is not None else None
            check_apart(name, parts.bodies_of(a, b), gap, near.place[k, :3], length, stop)

    def _go_to(self, end: float) -> None:
        """Step to a time, calling the controllers that are due before it."""
        while not self.stopped:
            now = float(self.scene.x[0])
            if now >= end - 1e-12 * max(1.0, abs(end)):
                return
            for k, sample in enumerate(self.samples):
                if self._instant(k) <= now + 1e-12 * max(1.0, abs(now)):
                    self._control(sample.function, now)
                    self.calls[k] += 1
            self._step_to(min([end, *(self._instant(k) for k in range(len(self.samples)))]))

    def _instant(self, k: int) -> float:
        """When a controller is called next [s]; counted, not summed up, so that the instants do not drift."""
        controller = self.controllers[k]
        return self.mechanism.start.t + controller.offset + self.calls[k] * controller.period

    def _step_to(self, end: float) -> None:
        """Steps of equal length up to a time; ends early where an event stops the run."""
        begin = float(self.scene.x[0])
        count = max(1, math.ceil((end - begin) / self.length * (1.0 - 1e-9)))
        h, left = (end - begin) / count, count
        while left > 0 and not self.stopped:
            # One step is left for the end, so that its change of speeds is known.
            chunk = 1 if self.events or left == 1 else min(left - 1, CHUNK)
            watched = self._watched() if self.events else None
            if chunk == 1:
                self.speeds_before = self.machine.full(self.scene.x)[: self.mechanism.linkage.speeds].copy()
            self.h = h
            done = self._advance(moreau.STEP, h, chunk)
            left -= done
            self.steps += done
            self._drain()
            self._check_fast(begin, h)
            self._check_laws()
            if not np.isfinite(self.scene.x).all():
                why = "the motion is not finite any more; take a smaller step."
                names = (*self.mechanism.system.contacts, *self.mechanism.system.collisions)
                raise ContactError(begin, names, why)
            if left == 0:
                self.scene.x[0] = end
            if watched is not None:
                self._cross(watched, self._watched())
            if self.scene.log.statistics[moreau.MARGIN] < UNFIT:
                self._choose_speeds()

    def _check_fast(self, begin: float, h: float) -> None:
        """First-order states whose forces vibrate faster than the step can follow would chatter, and say nothing."""
        statistics = self.scene.log.statistics
        fastest = float(statistics[moreau.FASTEST])
        if fastest * h <= 2.0:
            return
        name = self.mechanism.linkage.states[int(statistics[moreau.FAST])]
        power = 10.0 ** math.floor(math.log10(2.0 / fastest))
        shorter = power * math.floor(2.0 / fastest / power)
        why = (
            f"the state {name!r} moves at up to {fastest:.3g} rad/s with what it pushes, which steps cannot follow: "
            f"take step={shorter:.1g} or less, or a softer force (stiffness= of a clutch), or impacts='dense'."
        )
        raise ContactError(begin, (*self.mechanism.system.contacts, *self.mechanism.system.collisions), why)

    def _check_laws(self) -> None:
        """Raise where parameters give contacts numbers that no law has."""
        for k, i, _ in self.scene.varied.tolist():
            what, most = moreau.LAWS[i]
            found = float(self.scene.laws[k, i])
            if not 0.0 <= found <= most:
                must = "not be negative" if most == math.inf else "lie between 0 and 1"
                raise ModelError(
                    f"{what} of {self.parts.laws[k][0]} is {found:g} with the parameter values; it must {must}"
                )

    def _watched(self) -> Array:
        return np.array(self._event_kernel()(self.scene.x))

    def _cross(self, before: Array, after: Array) -> None:
        """Events whose functions changed sign in the step are met at its end."""
        rising, falling = (before < 0.0) & (after >= 0.0), (before > 0.0) & (after <= 0.0)
        hits = tuple(
            k
            for k, event in enumerate(self.events)
            if (rising[k] and event.direction in (0, 1)) or (falling[k] and event.direction in (0, -1))
        )
        if not hits:
            return
        names = {event.name: k for k, event in enumerate(self.events)}
        late = np.zeros(len(names))
        for k in hits:
            name, _, what = self.events[k].name.rpartition(": ")
            rate = names.get(f"{name}: rate")
            # A gap that closed in the step has not jumped, as it does where another place takes over: it is as deep as
            # bodies move meanwhile, twice that for their acceleration.
            if what == "touch" and rate is not None:
                late[k] = -2.0 * self.h * min(before[rate], after[rate], 0.0)
        x, linkage = self.scene.x, self.mechanism.linkage
        y, p = x[1 : 1 + linkage.positions + self.scene.n].copy(), self._parameters()
        changed = self._met(float(x[0]), y, hits, p, late)
        if changed is None:
            return
        state, values, self.stopped = changed
        if state is not None:
            x[1 : 1 + len(y)] = self.machine.pack(state.q, state.u)
        if values is not None:
            x[1 + len(y) :] = values

    def _parameters(self) -> Array:
        return self.scene.x[len(self.scene.x) - len(self.mechanism.parameter_values) :].copy()

    def _control(
        self, function: Callable[[float, Array, Array], Mapping[int, float] | None], now: float
    ) -> None:
        x = self.scene.x
        y = x[1 : len(x) - len(self.mechanism.parameter_values)].copy()
        for k, value in (function(now, y, self._parameters()) or {}).items():
            x[1 + len(y) + k] = value

    def _choose_speeds(self) -> None:
        """Other independent speeds, where the present ones are about to fail."""
        x, p = self.scene.x, self._parameters()
        y = x[1 : len(x) - len(p)]
        state = self.full_state(self.machine, float(x[0]), y, p)
        partition = self.mechanism.choose_partition(state, p.tolist())
        self.scene.log.statistics[moreau.MARGIN] = 1.0
        if partition != self.machine.partition:
            before = self.scene
            self.machine = self.machines.for_partition(partition)
            if self.machine not in self.used:
                self.used.append(self.machine)
            self.repartitions.append(state.t)
            self.chosen = state, p
            self.gather()
            self._enter(state, p)
            self._keep(before)

    def gather(self) -> None:
        """Take what the present scene has counted."""
        statistics, mine = self.scene.log.statistics, self.statistics
        for k in (moreau.ITERATIONS, moreau.ACTIVE, moreau.UNSOLVED, moreau.LOWERED, moreau.SOLVED):
            mine[k] += statistics[k]
        mine[moreau.WORST] = max(mine[moreau.WORST], statistics[moreau.WORST])
        mine[moreau.DEEPEST] = min(mine[moreau.DEEPEST], statistics[moreau.DEEPEST])
        statistics[:] = 0.0
        statistics[[moreau.DEEPEST, moreau.MARGIN]] = 1.0

    def _drain(self) -> None:
        """Read the impacts of the steps just made, and the changes of contacts that last."""
        s, log, p, first = self.scene, self.scene.log, self._parameters(), 0
        for row in log.impacts[: log.counters[moreau.IMPACTS]]:
            t, last, energy, lost, limited = float(row[0]), int(row[1]), float(row[2]), float(row[3]), row[4]
            at, before, after = np.split(row[5:], [s.q, s.q + s.n])
            struck = tuple(self._struck(log.struck[k]) for k in range(first, last))
            first = last
            u, v = (
                self.full_state(self.machine, t, np.concatenate([at, u]), p).u.copy() for u in (before, after)
            )
            lowered = bool(limited)
            self.records.append(ImpactRecord(t, struck, at.copy(), u, v, energy, energy - lost, lowered, p))
        log.counters[[moreau.IMPACTS, moreau.STRUCK]] = 0
        changes = log.changes
        for k in range(int(changes.counts[LOGGED])):
            c = changes.log[k]
            self.changes.append(ContactChange(c.time, self.parts.name_of(c.number, c.a, c.b), NAMES[c.what]))
        changes.counts[LOGGED] = 0

    def _struck(self, r: moreau.StruckContact) -> ContactRecord:
        """The record of a contact that struck."""
        return ContactRecord(
            self.parts.name_of(r.number, r.a, r.b),
            np.array([r.point_x, r.point_y, r.point_z]),
            np.array([r.normal_x, r.normal_y, r.normal_z]),
            r.impulse,
            np.array([r.friction_x, r.friction_y, r.friction_z]),
            r.before,
            r.after,
            None if r.number >= 0 else self.parts.places_of(r.a, r.b),
        )

    @property
    def force_numbers(self) -> int:
        """How many numbers the contact forces are at an output."""
        return len(self._forces())

    def _forces(self) -> Array:
        """Of the contacts of the model, then the wrenches on the places of groups."""
        place = {name: k for k, name in enumerate(self.mechanism.system.colliding)}
        wrenches = np.zeros((len(place), 6))
        for name, wrench in zip(self.parts.frame_places, self.scene.log.wrenches, strict=False):
            if name in place:
                wrenches[place[name]] += wrench
        return np.concatenate([self.scene.log.forces.ravel(), wrenches.ravel()])

    def _row(self, rows: list[Row]) -> Row:
        """Positions without overlaps, speeds, their rates and contact forces; rates are those of the last step."""
        x, n = self.scene.x.copy(), self.mechanism.linkage.positions
        whole = self.mechanism.linkage.speeds
        if self.steps == 0:
            values = self.machine.full(x)
            forces = np.zeros(len(self._forces()))
            return x[1 : 1 + n], values[:whole].copy(), values[whole : 2 * whole].copy(), forces
        forces = self._forces()
        self._advance(moreau.CLEAR, self.h, 0)
        u = self.machine.full(self.scene.x)[:whole].copy()
        q = self.scene.x[1 : 1 + n].copy()
        self.scene.x[:] = x
        du = (u - self.speeds_before) / self.h
        if len(rows) == 1 and not rows[0][3].any():
            # The start has no step behind it: what its first step does holds there too.
            rows[0][2][:], rows[0][3][:] = du, forces
        return q, u, du, forces

    def tables(self, first: int) -> tuple[Array, ...]:
        """What the rows hold, from one of them on."""
        speeds, rows = self.mechanism.linkage.speeds, self.reached[first:]
        sizes = self.mechanism.linkage.positions, speeds, speeds, len(self._forces())
        return tuple(
            np.array([row[k] for row in rows]).reshape(len(rows), size) for k, size in enumerate(sizes)
        )

    def parameters_at_outputs(self, times: Array) -> Array:
        """Parameter values at all outputs so far."""
        before = self.parameters_before
        return np.vstack([before, self._parameters_at(times[len(before) :])])

    def _stepped(self, times: Array, status: str, seconds: float) -> Result:
        self.gather()
        passed = times[: len(self.reached)].copy()
        if status == "event":
            passed[-1] = self.scene.x[0]
        q, u, du, forces = self.tables(0)
        report = RunReport(
            status,
            STEPS,
            str(self.machine.traced.formulation),
            self.steps,
            0,
            EVALUATIONS * self.steps,
            self.seconds_before + seconds,
            tuple(self.repartitions),
            residual=float(self.statistics[moreau.WORST]),
            unsolved=int(self.statistics[moreau.UNSOLVED]),
            penetration=max(0.0, -float(self.statistics[moreau.DEEPEST])),
        )
        table = ImpactTable(self.records, self.mechanism)
        return Result(
            self.mechanism,
            passed,
            q,
            u,
            du,
            self.parameters_at_outputs(passed),
            report,
            tuple(self.met),
            impacts=table,
            contact_forces=forces,
            contact_changes=tuple(sorted(self.changes, key=lambda change: change.time)),
        )


def known_of(scene: moreau.Scene) -> dict[str, NDArray[Any]]:
    """What a step knows of the contacts of the steps before it."""
    log, memory, changes = scene.log, scene.memory, scene.log.changes
    count, lasting = int(log.counters[moreau.RECENT]), int(changes.counts[KNOWN])
    found = {name: getattr(memory, name)[:count] for name in REMEMBERED}
    found |= {name: getattr(changes, name)[:lasting] for name in ("known", "since", "now")}
    return found | {"forces": log.forces, "wrenches": log.wrenches}


def simulate_by_steps(
    mechanism: Mechanism,
    times: Array,
    options: Options,
    events: Sequence[Event],
    controllers: Sequence[Controller],
    progress: bool | None,
    save: str | PathLike[str] | None = None,
    watch: Callable[[Result], None] | None = None,
) -> Result:
    """A run in steps of at most the fixed step of the options; options of a run as for all others."""
    run = SteppedRun(mechanism, options.fixed_step, events, controllers)
    if watch is not None:
        run.watch = Watch(watch)
    record = None
    if save is not None:
        from bellcrank.impacts.step_recording import StepRecorder

        record = StepRecorder.new(save, run, times, options)
    return told(run.go_on(times, progress, record))


def told(result: Result) -> Result:
    """The result; warns where impulses of a step were not found to their tolerance."""
    run = result.run
    if run.unsolved:
        warnings.warn(
            f"in {run.unsolved} of {run.steps} steps the contact impulses miss their tolerance, at worst by "
            f"{run.residual:.1e} of the fastest speed of a contact; a shorter step= or less friction may help",
            stacklevel=3,
        )
    return result


__all__ = ["SteppedRun", "simulate_by_steps"]

"""Runs with contacts by steps: all impacts and lasting contacts of a step at once, however many there are.

See :mod:`bellcrank.impacts.moreau` for the scheme. The bodies and pairs of shapes have their programs
(:mod:`bellcrank.impacts.meeting`); the steps run in compiled code from output to output.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.progress_bar import ProgressBar
from bellcrank.errors import ModelError
from bellcrank.impacts import moreau
from bellcrank.impacts.checks import check_apart, check_dimensions, check_movable
from bellcrank.impacts.cones import Cones, cones_of
from bellcrank.impacts.errors import ContactError
from bellcrank.impacts.meeting import SPOT, TWIST, Frames, Group, Meeting, flat_axis, grouped, reach_of
from bellcrank.impacts.solver import ContactState
from bellcrank.impacts.units import placed_pairs
from bellcrank.mechanism import Mechanism, State
from bellcrank.mechanism.machines import Machine
from bellcrank.program.made import Table
from bellcrank.result.impact_table import ContactRecord, ImpactRecord, ImpactTable
from bellcrank.result.result import Result, RunReport
from bellcrank.run.run import Run

if TYPE_CHECKING:
    from bellcrank.formulations.loops import Partition
    from bellcrank.mechanics.constraints import Marker
    from bellcrank.mechanics.contacts import ContactPair
    from bellcrank.run.events import Controller, Event

Array = NDArray[np.float64]
Index = NDArray[np.int64]

CHUNK = 1000
"""Steps between two looks at the keyboard."""
IMPACT_ROOM = 256
"""Impacts that are kept in compiled code before they are read."""
EVALUATIONS = 8
"""Evaluations of the rates in a step; corrections of positions, which take two more each, are not counted."""
UNFIT = 0.05
"""Margin of the loops below which other speeds become independent; that of the integrators."""

PROGRAMS: Table[Hashable, dict[Hashable, object]] = Table("of stepped contacts")


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
            PROGRAMS, tuple(mechanism.system.contacts.values()), dict[Hashable, object]
        )
        # Without gravity the unit of speed is that of the start.
        key = "placed", () if any(mechanism.linkage.gravity) else tuple(mechanism.start.u.tolist())
        if key not in self.made:
            self.made[key] = self._placed()
        placed = cast("tuple[tuple[ContactPair, ...], list[Marker], list[Group]]", self.made[key])
        self.pairs, self.frames, self.groups = placed
        self.records: list[ImpactRecord] = []
        self.told = np.zeros(moreau.TOLD)
        self.told[[moreau.DEEPEST, moreau.MARGIN]] = 1.0
        self.steps = 0
        self.repartitions: list[float] = []
        self.stopped = False
        self._enter(mechanism.start, np.array(mechanism.parameter_values))

    def _placed(self) -> tuple[tuple[ContactPair, ...], list[Marker], list[Group]]:
        """Contacts on the links, the frames that carry their shapes, and the pairs of shapes; checked."""
        pairs = placed_pairs(self.mechanism)
        for pair in pairs:
            check_movable(pair, self.mechanism)
            if pair.contact.law != "newton":
                raise ModelError(
                    f"contact {pair.contact.name!r} has the law {pair.contact.law!r}; impacts='stepping' knows "
                    "Newton's alone: use law='newton', or impacts='dense'"
                )
        check_dimensions(pairs)
        return pairs, *grouped(pairs)

    def _enter(self, state: State, p: Array) -> None:
        """Go on from a state in the present partition."""
        self.scene, self.cones = _scene(self, self.machine, self.pairs, self.frames, self.groups)
        self.scene.x[:] = np.concatenate([[state.t], self.machine.pack(state.q, state.u), p])

    def go_on(self, times: Array, progress: bool | None) -> Result:
        """Step to the last output time."""
        start, p = self.mechanism.start, np.array(self.mechanism.parameter_values)
        self.outputs = times
        self.history.append((start.t, p.copy()))
        self._check_start()
        bar = ProgressBar(float(times[-1]) - start.t, "stepping", progress)
        rows: list[tuple[Array, Array, Array, Array]] = []
        began, status = time.perf_counter(), "done"
        samples = [(c, self._sample(c)) for c in self.controllers]
        due = [start.t + c.offset for c in self.controllers]
        try:
            for output in times:
                while not self.stopped:
                    now = float(self.scene.x[0])
                    for k, (controller, sample) in enumerate(samples):
                        if due[k] <= now + 1e-12 * max(1.0, abs(now)):
                            self._control(sample.function, now)
                            due[k] += controller.period
                    if now >= output - 1e-12 * max(1.0, abs(output)):
                        break
                    self._step_to(min([float(output), *due]))
                    bar.show(float(self.scene.x[0]) - start.t, f"t = {self.scene.x[0]:.4g} s")
                rows.append(self._row(rows))
                if self.stopped:
                    status = "event"
                    break
        except KeyboardInterrupt:
            status = "interrupted"
        except ContactError as error:
            error.result = self._stepped(times, rows, "step_underflow", time.perf_counter() - began)
            raise
        finally:
            bar.close()
        return self._stepped(times, rows, status, time.perf_counter() - began)

    def _check_start(self) -> None:
        """Shapes may touch at the start, not overlap."""
        moreau.near(self.scene, self.cones, self.length)
        for k in range(int(self.cones.active[0])):
            gap, normal = float(self.scene.gap[k]), self.scene.place[k, :3]
            nothing = np.zeros(0)
            state = ContactState(gap, normal, nothing, nothing, nothing, nothing)
            check_apart(self.pairs[int(self.scene.found[k])], state)

    def _step_to(self, end: float) -> None:
        """Steps of equal length up to a time; ends early where an event stops the run."""
        begin = float(self.scene.x[0])
        count = max(1, math.ceil((end - begin) / self.length * (1.0 - 1e-9)))
        h, left = (end - begin) / count, count
        while left > 0 and not self.stopped:
            # One step is left for the end, so that its change of speeds is known.
            chunk = 1 if self.events or left == 1 else min(left - 1, CHUNK)
            watched = self._watched() if self.events else None
            self.before = self.scene.x.copy(), h
            done = int(moreau.advance(self.scene, self.cones, h, chunk, UNFIT))
            left -= done
            self.steps += done
            self._drain()
            if not np.isfinite(self.scene.x).all():
                why = "the motion is not finite any more; take a smaller step."
                raise ContactError(begin, tuple(pair.contact.name for pair in self.pairs), why)
            if left == 0:
                self.scene.x[0] = end
            if watched is not None:
                self._cross(watched, self._watched())
            if self.scene.told[moreau.MARGIN] < UNFIT:
                self._choose_speeds()

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
        x, linkage = self.scene.x, self.mechanism.linkage
        y, p = x[1 : 1 + linkage.positions + self.scene.sizes[moreau.SPEEDS]].copy(), self._parameters()
        changed = self._met(float(x[0]), y, hits, p)
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
        self.scene.told[moreau.MARGIN] = 1.0
        if partition != self.machine.partition:
            before = self.scene
            self.machine = self.machines.for_partition(partition)
            self.repartitions.append(state.t)
            self._gather()
            self._enter(state, p)
            self.scene.memory[:], self.scene.recent[:] = before.memory, before.recent
            self.scene.counters[:] = before.counters

    def _gather(self) -> None:
        """Take what the present scene has counted."""
        told, mine = self.scene.told, self.told
        for k in (moreau.ITERATIONS, moreau.ACTIVE, moreau.UNSOLVED, moreau.LOWERED, moreau.SOLVED):
            mine[k] += told[k]
        mine[moreau.WORST] = max(mine[moreau.WORST], told[moreau.WORST])
        mine[moreau.DEEPEST] = min(mine[moreau.DEEPEST], told[moreau.DEEPEST])
        told[:] = 0.0
        told[[moreau.DEEPEST, moreau.MARGIN]] = 1.0

    def _drain(self) -> None:
        """Read the impacts of the steps just made."""
        s, p, first = self.scene, self._parameters(), 0
        q, n = int(s.sizes[moreau.POSITIONS]), int(s.sizes[moreau.SPEEDS])
        for row in s.impacts[: s.counters[moreau.IMPACTS]]:
            t, last = float(row[0]), int(row[1])
            at, before, after = (row[2 : 2 + q], row[2 + q : 2 + q + n], row[2 + q + n : 2 + q + 2 * n])
            energy, lost, limited = float(row[-3]), float(row[-2]), bool(row[-1])
            struck = tuple(
                ContactRecord(
                    self.pairs[int(r[moreau.CONTACT])].contact.name,
                    r[moreau.R_POINT :][:3].copy(),
                    r[moreau.R_NORMAL :][:3].copy(),
                    float(r[moreau.R_IMPULSE]),
                    r[moreau.R_FRICTION :][:3].copy(),
                    float(r[moreau.R_BEFORE]),
                    float(r[moreau.R_AFTER]),
                )
                for r in s.records[first:last]
            )
            first = last
            u, v = (
                self.full_state(self.machine, t, np.concatenate([at, u]), p).u.copy() for u in (before, after)
            )
            self.records.append(ImpactRecord(t, struck, at.copy(), u, v, energy, energy - lost, limited, p))
        s.counters[[moreau.IMPACTS, moreau.RECORDS]] = 0

    def _row(self, rows: list[tuple[Array, Array, Array, Array]]) -> tuple[Array, Array, Array, Array]:
        """Positions without overlaps, speeds, their rates and contact forces; rates are those of the last step."""
        x, n = self.scene.x.copy(), self.mechanism.linkage.positions
        whole = self.mechanism.linkage.speeds
        if self.steps == 0:
            values = self.machine.full(x)
            forces = np.zeros(3 * len(self.pairs))
            return x[1 : 1 + n], values[:whole].copy(), values[whole : 2 * whole].copy(), forces
        forces = self.scene.forces.reshape(-1).copy()
        moreau.clear(self.scene, self.cones, self.before[1])
        u = self.machine.full(self.scene.x)[:whole].copy()
        q = self.scene.x[1 : 1 + n].copy()
        self.scene.x[:] = x
        before, h = self.before
        du = (u - self.machine.full(before)[:whole]) / h if len(before) == len(x) else np.zeros(whole)
        if len(rows) == 1 and not rows[0][3].any():
            # The start has no step behind it: what its first step does holds there too.
            rows[0][2][:], rows[0][3][:] = du, forces
        return q, u, du, forces

    def _stepped(
        self, times: Array, rows: list[tuple[Array, Array, Array, Array]], status: str, seconds: float
    ) -> Result:
        self._gather()
        told = times[: len(rows)].copy()
        if status == "event":
            told[-1] = self.scene.x[0]
        widths = self.mechanism.linkage.positions, self.mechanism.linkage.speeds
        sizes = (*widths, widths[1], 3 * len(self.pairs))
        q, u, du, forces = (
            np.array([row[k] for row in rows]).reshape(len(rows), size) for k, size in enumerate(sizes)
        )
        report = RunReport(
            status,
            "moreau",
            str(self.machine.traced.formulation),
            self.steps,
            0,
            EVALUATIONS * self.steps,
            seconds,
            tuple(self.repartitions),
            residual=float(self.told[moreau.WORST]),
            unsolved=int(self.told[moreau.UNSOLVED]),
            penetration=max(0.0, -float(self.told[moreau.DEEPEST])),
        )
        table = ImpactTable(self.records, self.mechanism)
        return Result(
            self.mechanism,
            told,
            q,
            u,
            du,
            self._parameters_at(told),
            report,
            tuple(self.met),
            impacts=table,
            contact_forces=forces,
        )


def _scene(
    run: SteppedRun,
    machine: Machine,
    pairs: Sequence[ContactPair],
    frames: Sequence[Marker],
    groups: Sequence[Group],
) -> tuple[moreau.Scene, Cones]:
    """The arrays of a partition."""
    mechanism, made = run.mechanism, run.made
    partition: Partition = machine.partition
    if partition not in made:
        made[partition] = Frames(mechanism.mechanics, partition, frames)
    seen = cast("Frames", made[partition])
    meetings = []
    for group in groups:
        if group.key not in made:
            met = [pairs[k].contact for k in group.numbers]
            made[group.key] = Meeting([(c.a.shape, c.b.shape) for c in met], group.warm)
        meetings.append(cast("Meeting", made[group.key]))
    n, q = seen.n, mechanism.linkage.positions
    coupled = seen.coupled()
    owner = {int(i): k for k, block in enumerate(coupled) for i in block}
    table, reaches, support, slots, inputs = [], [], list[int](), list[int](), 0
    for group, meeting in zip(groups, meetings, strict=True):
        moved = seen.moving(group.a) | seen.moving(group.b)
        own = sorted(int(i) for k in {owner[i] for i in moved} for i in coupled[k])
        place = {i: k for k, i in enumerate(own)}
        at = []
        for frame in (group.a, group.b):
            at.append(len(slots))
            slots += [place[int(i)] for i in seen.twists[seen.begin[frame] : seen.begin[frame + 1], 1]]
        a, b = group.shapes
        row = [0] * moreau.PAIR
        row[moreau.KERNEL], row[moreau.INPUTS] = meeting.kernel.address, inputs
        row[moreau.FRAME_A], row[moreau.FRAME_B] = group.a, group.b
        row[moreau.FIRST], row[moreau.SPOTS] = group.numbers.start, len(group.numbers)
        row[moreau.FLAT_A], row[moreau.FLAT_B] = flat_axis(a), flat_axis(b)
        row[moreau.SUPPORT], row[moreau.SLOTS_A], row[moreau.SLOTS_B] = len(support), *at
        table.append(row)
        one = pairs[group.numbers.start]
        reaches.append([reach_of(a), reach_of(b), one.length, one.speed])
        support += own
        inputs += meeting.inputs
    end = [0] * moreau.PAIR
    end[moreau.SUPPORT] = len(support)
    widest = max(b[moreau.SUPPORT] - a[moreau.SUPPORT] for a, b in zip(table, [*table[1:], end], strict=True))
    contacts = len(pairs)
    most = max(max(len(g.numbers) for g in groups) * SPOT, 2 * TWIST)
    projected = bool(mechanism.kept) or mechanism.linkage.has_quaternions
    told = np.zeros(moreau.TOLD)
    told[[moreau.DEEPEST, moreau.MARGIN]] = 1.0
    ints = np.int64
    state = 1 + q + n + len(mechanism.parameter_values)
    scene = moreau.Scene(
        np.array(
            [machine.rates.address, seen.kernel.address, machine.projection.address if projected else 0], ints
        ),
        np.array([q, n, len(groups)], ints),
        np.zeros(state),
        np.zeros(q + n),
        np.zeros(q + n),
        np.zeros(q + n + 3),
        np.zeros(seen.kernel.n_out),
        np.zeros((n, n)),
        seen.mass,
        np.concatenate(coupled),
        np.cumsum([0, *(len(block) for block in coupled)]).astype(ints),
        seen.first,
        seen.begin,
        seen.twists,
        np.array([*table, end], ints),
        np.array(reaches),
        np.array(support, ints),
        np.array(slots, ints),
        # A search that begins knows nothing of its place.
        np.full(inputs, -1.0),
        np.zeros(most),
        np.array([[pair.contact.friction, pair.contact.restitution] for pair in pairs]),
        np.zeros(contacts, ints),
        np.zeros(contacts, ints),
        np.zeros(contacts),
        np.zeros((contacts, moreau.PLACE)),
        np.zeros((contacts, 3)),
        np.zeros((contacts, 3)),
        np.zeros(contacts, ints),
        np.zeros(contacts, ints),
        np.zeros((7, n)),
        np.zeros((len(frames), 4)),
        np.zeros((contacts, 3)),
        np.zeros((IMPACT_ROOM, 5 + q + 2 * n)),
        np.zeros((IMPACT_ROOM + contacts, moreau.RECORD)),
        np.zeros(moreau.COUNTERS, ints),
        told,
    )
    return scene, cones_of(contacts, widest, n)


def simulate_by_steps(
    mechanism: Mechanism,
    times: Array,
    length: float,
    events: Sequence[Event],
    controllers: Sequence[Controller],
    progress: bool | None,
) -> Result:
    """A run in steps of at most `length` seconds."""
    return SteppedRun(mechanism, length, events, controllers).go_on(times, progress)


__all__ = ["SteppedRun", "simulate_by_steps"]

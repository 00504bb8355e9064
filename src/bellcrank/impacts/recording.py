"""Results of runs with contacts: the segments so far, the file that a run writes as it goes, and going on from it.

Impacts, lasting contacts and queues come along.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ResultFileError
from bellcrank.impacts.contacts import Contacts
from bellcrank.impacts.impulses import Propagation
from bellcrank.impacts.modes import Mode
from bellcrank.impacts.queue import Check, QueueSegment
from bellcrank.impacts.segment import Next, Segment, Standing
from bellcrank.impacts.timing import Timing
from bellcrank.integrate import Options
from bellcrank.integrate.loop import Progress
from bellcrank.mechanism import Mechanism, State
from bellcrank.result import layout
from bellcrank.result.contact_storage import PREFIX, contact_fields, impact_arrays
from bellcrank.result.header import Header
from bellcrank.result.impact_table import ImpactTable
from bellcrank.result.result import Happening, Result, RunReport
from bellcrank.result.storage import Stored
from bellcrank.run.recording import Recorder, cut, header_of, resumption, shortened, told_of_other_versions

if TYPE_CHECKING:
    from bellcrank.impacts.run import Setup
    from bellcrank.run.events import Controller, Event
    from bellcrank.run.run import Run

Array = NDArray[np.float64]
Contents = tuple[dict[str, NDArray[Any]], dict[str, Any]]

ROWS = ("q", "u", "du", "parameters", "contact_forces")
COUNTED = ("steps", "rejected", "evaluations", "seconds")


class Pieces:
    """The segments so far."""

    def __init__(self, mechanism: Mechanism, contacts: Contacts) -> None:
        self.mechanism, self.contacts = mechanism, contacts
        self.pieces: list[Result] = []
        self.breaks: list[Array] = []
        self.outputs = 0

    @property
    def events(self) -> tuple[Happening, ...]:
        """Met so far."""
        return tuple(e for piece in self.pieces for e in piece.events)

    def open(self, run: Segment) -> None:
        """Before a segment: breaks come in pairs, so that of its start belongs to the end of the one before."""
        if self.pieces:
            start, p = run.begin, np.array(run.mechanism.parameter_values)
            self.breaks.append(run.row(start.t, run.machine.pack(start.q, start.u), p))

    def add(self, run: Segment, piece: Result) -> None:
        """One more segment."""
        self.breaks += run.breaks
        self.take(piece)

    def take(self, piece: Result) -> None:
        """One more stretch of the run."""
        self.pieces.append(piece)
        self.outputs += len(piece)

    def report(self) -> RunReport:
        """How all of them went; the last one has its end."""
        runs = [piece.run for piece in self.pieces]
        return replace(
            runs[-1],
            steps=sum(r.steps for r in runs),
            rejected=sum(r.rejected for r in runs),
            evaluations=sum(r.evaluations for r in runs),
            seconds=sum(r.seconds for r in runs),
            repartitions=tuple(t for r in runs for t in r.repartitions),
            switches=tuple(s for r in runs for s in r.switches),
            residual=max(r.residual for r in runs),
            unsolved=sum(r.unsolved for r in runs),
            penetration=max(r.penetration for r in runs),
            stepped=tuple(s for r in runs for s in r.stepped),
        )

    def joined(self, status: str | None = None) -> Result:
        """One result from the segments. status: How the run ended, where not as its last segment."""
        pieces, whole = self.pieces, self.report()
        time, q, u, du, parameters, forces = (
            np.concatenate([getattr(piece, key) for piece in pieces])
            for key in ("time", "q", "u", "du", "parameters", "contact_forces")
        )
        paired = self.breaks[: len(self.breaks) // 2 * 2]
        return Result(
            self.mechanism,
            time,
            q,
            u,
            du,
            parameters,
            whole if status is None else replace(whole, status=status),
            self.events,
            impacts=ImpactTable(self.contacts.records, self.mechanism),
            contact_forces=forces,
            contact_changes=tuple(self.contacts.changes),
            breaks=np.array(paired) if paired else None,
        )


class ForceRecorder(Recorder):
    """Writes contact forces beside the motion. width: How many numbers they are at an output."""

    def __init__(self, path: str | PathLike[str], header: Header, width: int) -> None:
        super().__init__(path, header)
        self.width = width

    def _lay_out(self, file: Any, stored: Stored | None) -> None:
        layout.add_table(file, layout.FORCES, self.width)
        if stored is not None and stored.contact_forces is not None:
            layout.extend(file[layout.FORCES], stored.contact_forces)

    def add(self, times: Array, rows: Sequence[Array], happened: Sequence[Happening]) -> None:
        """Outputs after those the file has, and all events so far."""
        q, u, du, p, forces = rows
        layout.extend(self._file[layout.FORCES], forces)
        layout.append(self._file, times, q, u, du, p)
        layout.append_events(self._file, self.header, happened[self.events :])
        self.outputs += len(times)
        self.events = len(happened)


class ContactRecorder(ForceRecorder):
    """Writes a run with contacts into its file, within segments and between them."""

    def __init__(self, path: str | PathLike[str], header: Header, contacts: Contacts) -> None:
        super().__init__(path, header, 3 * len(contacts.names))
        self.contacts = contacts

    @staticmethod
    def new(path: str | PathLike[str], setup: Setup, contacts: Contacts) -> ContactRecorder:
        """For a run that is about to start."""
        from bellcrank.run.run import Run

        timing = {"queue_size": setup.timing.queue_size, "propagation": setup.timing.propagation.value}
        plain = Run(setup.mechanism, setup.integrator, (), setup.controllers)
        header = header_of(plain, setup.events, setup.times, setup.options, contacts=timing)
        record = ContactRecorder(path, header, contacts)
        record.begin()
        return record

    def add_segments(self, whole: Pieces) -> None:
        """The outputs of segments that have come to their end."""
        if whole.outputs > self.outputs:
            before = whole.joined()
            new = [np.asarray(getattr(before, key))[self.outputs :] for key in ("time", *ROWS)]
            self.add(new[0], new[1:], before.events)

    def between(self, whole: Pieces, following: Next) -> None:
        """Between two segments."""
        report = whole.report()
        if self.due(report.seconds):
            self.add_segments(whole)
            counted = {key: getattr(report, key) for key in COUNTED}
            self.put(*self.known(({}, {"counted": counted}), whole, following, []))

    def known(self, contents: Contents, whole: Pieces, following: Next, breaks: Sequence[Array]) -> Contents:
        """A checkpoint's contents with what contacts did so far, and how the present segment began."""
        arrays, about = contents
        contacts, report = self.contacts, whole.report() if whole.pieces else None
        mine, of_contacts = impact_arrays(contacts.names, contacts.records, contacts.changes)
        rows = [*whole.breaks, *breaks]
        if rows:
            mine["breaks"] = np.array(rows)
        state = following.state
        mine |= {"begin_q": state.q, "begin_u": state.u, "begin_p": following.p}
        of_contacts |= {
            "begin_t": state.t,
            "modes": {name: asdict(mode) for name, mode in following.modes.items()},
            "sampled": following.sampled,
            "fastest": contacts.fastest,
            "clock": contacts.clock.times(),
            "first": whole.outputs,
            "first_event": len(whole.events),
            "earlier": None if report is None else asdict(report),
        }
        whole_about = {**about, "contacts": of_contacts, "outputs": self.outputs, "events": self.events}
        return arrays | {PREFIX + key: a for key, a in mine.items()}, whole_about


class SegmentWriter:
    """Writes within one segment."""

    def __init__(self, record: ContactRecorder, whole: Pieces, following: Next) -> None:
        self.record, self.whole, self.following = record, whole, following
        self.earlier = whole.report() if whole.pieces else None

    def write(self, run: Run, times: Array, progress: Progress) -> None:
        """Bring the file up to date, where it is time to."""
        assert isinstance(run, Segment)
        record, whole = self.record, self.whole
        passed = 0.0 if self.earlier is None else self.earlier.seconds
        if not record.due(passed + run.seconds_before + progress.seconds):
            return
        record.add_segments(whole)
        first = record.outputs - whole.outputs
        rows = run.rows_from(first, times, progress)
        # Outputs that an impact found late would take back wait in the checkpoint.
        final = max(run.final_outputs(times[: progress.outputs]), first)
        record.add(times[first:final], [block[: final - first] for block in rows], (*whole.events, *run.met))
        arrays, about = record.contents(run, times, progress)
        if self.earlier is not None:
            for key in COUNTED:
                about["counted"][key] += getattr(self.earlier, key)
        arrays |= {f"pending_{key}": block[final - first :] for key, block in zip(ROWS, rows, strict=True)}
        if isinstance(run, QueueSegment):
            queued, about["queue"] = _queue_contents(run)
            arrays |= queued
        record.put(*record.known((arrays, about), whole, self.following, run.breaks))

    def finish(self, result: Result, complete: bool) -> None:
        """The run goes on after the segment."""

    def close(self) -> None:
        """The file stays open for the next segment."""


def _queue_contents(run: QueueSegment) -> Contents:
    """Queues, the check before, and what the dense output has seen since."""
    arrays: dict[str, NDArray[Any]] = {}
    about: dict[str, Any] = {"again": run.again, "pairs": [queue.pairs for queue in run.queues]}
    for key, found in (("before", run.before), ("seen", run.seen)):
        if found is None:
            continue
        state, p, names = (found.state, found.p, []) if isinstance(found, Check) else found
        arrays |= {f"{key}_q": state.q, f"{key}_u": state.u, f"{key}_p": p}
        about[key] = {"t": state.t, "names": list(names)}
    return arrays, about


def _restore_queue(run: QueueSegment, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> None:
    run.again = int(about["again"])
    for queue, pairs in zip(run.queues, about["pairs"], strict=True):
        queue.restore([(float(t), float(d)) for t, d in pairs])
    found: dict[str, tuple[State, Array, list[Any]]] = {}
    for key in ("before", "seen"):
        if key in about:
            q, u, p = (arrays[f"{key}_{part}"] for part in "qup")
            found[key] = State(float(about[key]["t"]), q, u), p, list(about[key]["names"])
    if "before" in found:
        state, p, _ = found["before"]
        run.before = Check(state, p, *run.contacts.approach(state, p))
    if "seen" in found:
        state, p, names = found["seen"]
        run.seen = state, p, [str(name) for name in names]


def resume_with_contacts(
    path: str | PathLike[str],
    stored: Stored,
    options: Options,
    events: Sequence[Event],
    controllers: Sequence[Controller],
    progress: bool | None,
) -> Result:
    """Go on with a run with contacts."""
    from bellcrank.impacts.run import Setup, begin, drive

    header = stored.header
    settings = header.settings["contacts"]
    if settings.get("stepping"):
        from bellcrank.impacts.step_recording import resume_by_steps

        return resume_by_steps(path, stored, options, events, controllers, progress)
    size = settings["queue_size"]
    timing = Timing(None if size is None else int(size), Propagation(str(settings["propagation"])))
    mechanism, integrator = header.mechanism(), str(header.settings["integrator"])
    times = header.output_times
    setup = Setup(mechanism, integrator, times, options, tuple(events), tuple(controllers), progress, timing)
    contacts = Contacts.of(mechanism, timing.propagation, options.rtol)
    record = ContactRecorder(path, header, contacts)
    if not stored.checkpoint:
        record.begin(shortened(stored, 0, 0))
        return drive(setup, contacts, Pieces(mechanism, contacts), begin(contacts), record)
    stored = cut(with_forces(stored, record.width))
    record.begin(stored)
    arrays, about = layout.unpacked(stored.checkpoint)
    of_contacts = about["contacts"]
    mine = {k.removeprefix(PREFIX): arrays.pop(k) for k in list(arrays) if k.startswith(PREFIX)}
    first = int(of_contacts["first"])
    fields = contact_fields(mine, of_contacts, mechanism, len(stored.time))
    contacts.records, contacts.changes = list(fields["impacts"]), list(fields["contact_changes"])
    contacts.fastest = {str(name): float(v) for name, v in of_contacts["fastest"].items()}
    state = State(float(of_contacts["begin_t"]), mine["begin_q"], mine["begin_u"])
    modes = {str(name): Mode(**mode) for name, mode in of_contacts["modes"].items()}
    following = Next(state, mine["begin_p"], modes, bool(of_contacts["sampled"]))
    whole = Pieces(mechanism, contacts)
    whole.breaks = [] if fields["breaks"] is None else list(fields["breaks"])
    met = int(of_contacts["first_event"])
    if of_contacts["earlier"] is not None:
        whole.take(_earlier(stored, mechanism, of_contacts["earlier"], first, met))
    contacts.clock.restore(of_contacts.get("clock", ((), ())))
    if "history_p" not in arrays:
        return drive(setup, contacts, whole, following, record)
    # The change that began the segment at work is counted again where it is gone on with.
    if contacts.clock.changes:
        contacts.clock.changes.pop()
    pending = [arrays.pop(f"pending_{key}") for key in ROWS]
    assert stored.contact_forces is not None
    written = (stored.q, stored.u, stored.du, stored.parameters, stored.contact_forces)
    rows = [np.vstack([block[first:], more]) for block, more in zip(written, pending, strict=True)]

    queued = {k: arrays.pop(k) for k in list(arrays) if k.startswith(("before_", "seen_"))}

    def restore(run: Segment) -> None:
        if isinstance(run, QueueSegment):
            _restore_queue(run, queued, about["queue"])

    q, u, du, p, forces = rows
    happened = stored.events[met:]
    here = replace(stored, time=times[first : first + len(q)], q=q, u=u, du=du, parameters=p, events=happened)
    standing = Standing(resumption(arrays, about, here), forces, restore)
    with told_of_other_versions(path):
        return drive(setup, contacts, whole, following, record, standing)


def with_forces(stored: Stored, width: int) -> Stored:
    """With the contact forces in their table, also where the run came to an end of some kind."""
    if stored.contact_forces is not None:
        return stored
    forces = layout.unpacked(stored.contacts)[0].get("forces") if stored.contacts else None
    if forces is None or forces.shape != (len(stored.time), width):
        raise ResultFileError("the contact forces of the file do not fit its outputs")
    return replace(stored, contact_forces=np.asarray(forces, dtype=float))


def _earlier(stored: Stored, mechanism: Any, report: Mapping[str, Any], first: int, met: int) -> Result:
    """What the segments before the present one left."""
    run = RunReport(
        **{
            **report,
            "repartitions": tuple(report["repartitions"]),
            "switches": tuple((float(t), str(m)) for t, m in report["switches"]),
            "stepped": tuple((float(a), float(b), str(w)) for a, b, w in report.get("stepped", ())),
        }
    )
    assert stored.contact_forces is not None
    return Result(
        mechanism,
        stored.time[:first],
        stored.q[:first],
        stored.u[:first],
        stored.du[:first],
        stored.parameters[:first],
        run,
        stored.events[:met],
        contact_forces=stored.contact_forces[:first],
    )

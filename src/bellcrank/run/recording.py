"""Runs that write as they go, and going on with one that was interrupted, killed or failed."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.provided import provided
from bellcrank.base.whole_files import check_target
from bellcrank.errors import BellcrankError, ModelError, ResultFileError, WriteError
from bellcrank.integrate import Options
from bellcrank.integrate import layout as at
from bellcrank.integrate.checkpoint import Checkpoint, UnfitCheckpoint
from bellcrank.integrate.loop import Progress
from bellcrank.mechanism import State
from bellcrank.result import layout, storage
from bellcrank.result.header import Header
from bellcrank.result.journal import Journal
from bellcrank.result.storage import Stored

if TYPE_CHECKING:
    from bellcrank.result.result import Happening, Result
    from bellcrank.run.events import Controller, Event
    from bellcrank.run.run import Run

Array = NDArray[np.float64]
History = list[tuple[float, Array]]

SPOILED = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""What making sense of a file raises that holds other things than such a file does. What functions of the user raise
while a run goes on comes as an error of the run."""
SHORTEST = 0.2
"""Seconds of wall time between two writings, at least."""
PAUSE = 9.0
"""Pause after a writing against the time it took: writing takes a tenth of the time at most, also on slow disks and
with checkpoints that have become large."""


class RecordingNote(UserWarning):
    """Something about the file of a run that goes on all the same."""


@dataclass(frozen=True, eq=False)
class Resumption:
    """Where a run goes on: its driver's state, and what the run itself knew.

    chosen: state and parameters in which the present partition was chosen, None for that of the start.
    outputs, events: how many there were. history: parameter values still needed, by time. jumps: what stood before
    and after each change by an event or a controller.
    """

    checkpoint: Checkpoint
    chosen: tuple[State, Array] | None
    outputs: int
    history: History
    happened: tuple[Happening, ...]
    rows: tuple[Array, Array, Array, Array]
    seconds: float
    jumps: Array | None = None


class Writer(Protocol):
    """Receives the progress of a run and its end."""

    def write(self, run: Run, times: Array, progress: Progress) -> None:
        """Called at the end of a chunk."""

    def finish(self, result: Result, complete: bool) -> None:
        """Called at the end of the run."""

    def close(self) -> None:
        """Called last, also after an error."""


class Recorder:
    """Writes a run into its file at the ends of chunks."""

    def __init__(self, path: str | PathLike[str], header: Header) -> None:
        self.path, self.header = check_target(path), header
        self.checkpoint = b""
        self.outputs = self.events = self.number = 0
        self.written_at = self.cost = 0.0
        self._began = 0.0
        self._told = False
        self._file = layout.Growing()
        self._journal: Journal | None = None
        self._earlier: Stored | None = None

    def go_on_from(self, stored: Stored) -> None:
        """Begin with what an earlier part of the run left, when there is more: a run that is refused leaves it be."""
        self._earlier, self.checkpoint = stored, stored.checkpoint

    def begin(self, stored: Stored | None = None) -> None:
        """Start the file, with what an earlier part of the run left; the old file stays until then."""
        self._file = layout.Growing()
        self._lay_out(self._file, stored)
        rows = b""
        if stored is not None:
            layout.append(self._file, stored.time, stored.q, stored.u, stored.du, stored.parameters)
            layout.append_events(self._file, self.header, stored.events)
            self.outputs, self.events = len(stored.time), len(stored.events)
            self.checkpoint = stored.checkpoint
            if stored.checkpoint:
                self.number = int(layout.unpacked(stored.checkpoint)[1]["number"])
            rows = self._file.block()
        head = layout.packed(layout.head(self.header), {"attributes": layout.attributes(self.header)})
        self._journal = Journal(self.path, head, rows, self.checkpoint)
        if rows:
            self._file.taken()

    def _lay_out(self, file: layout.Growing, stored: Stored | None) -> None:
        """Lay out further tables."""

    def due(self, seconds: float) -> bool:
        """Whether it is time to write."""
        if seconds - self.written_at < max(SHORTEST, PAUSE * self.cost):
            return False
        self.written_at, self._began = seconds, time.perf_counter()
        return True

    def write(self, run: Run, times: Array, progress: Progress) -> None:
        """Bring the file up to date, where it is time to."""
        if not self.due(progress.seconds):
            return
        if self._earlier is not None:
            try:
                self.begin(self._earlier)
            except WriteError as error:
                self._tell(error)
                return
            self._earlier = None
        new = slice(self.outputs, progress.outputs)
        q, u, du, p = run.rows(times[new], progress.y[new], progress.partition[new])
        layout.append(self._file, times[new], q, u, du, p)
        self.outputs = progress.outputs
        layout.append_events(self._file, self.header, run.met[self.events :])
        self.events = len(run.met)
        self.put(*self.contents(run, times, progress))

    def put(self, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> None:
        """Write what has come since the last time, and one more checkpoint.

        A disk that is full does not end the run: what could not be written is kept and tried again.
        """
        assert self._journal is not None
        self.number += 1
        self.checkpoint = layout.packed(arrays, {**about, "number": self.number})
        try:
            self._journal.add(self._file.block())
            self._file.taken()
            self._journal.checkpoint(self.checkpoint)
        except WriteError as error:
            self._tell(error)
        self.cost = time.perf_counter() - self._began

    def _tell(self, error: WriteError) -> None:
        """Say once that the file falls behind."""
        if not self._told:
            said = f"{error}; the run goes on in memory, and writing is tried again"
            warnings.warn(said, RecordingNote, stacklevel=3)
            self._told = True

    def contents(
        self, run: Run, times: Array, progress: Progress
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """What a checkpoint holds."""
        point = progress.checkpoint()
        last = times[progress.outputs - 1] if progress.outputs else -np.inf
        kept = max((k for k, (t, _) in enumerate(run.history) if t < last), default=0)
        history = run.history[kept:]
        arrays = dict(point.arrays)
        arrays["history_p"] = np.array([p for _, p in history])
        if run.chosen is not None:
            state, p = run.chosen
            arrays |= {"chosen_t": np.array(state.t), "chosen_q": state.q, "chosen_u": state.u, "chosen_p": p}
        jumps = run.jumps.rows(run)
        if jumps is not None:
            arrays["jumps"] = jumps
        ints = point.arrays["ints"]
        about = {
            "outputs": progress.outputs,
            "events": self.events,
            "method": point.method,
            "calls": point.calls,
            "repartitions": point.repartitions,
            "switches": point.switches,
            "history_t": [t for t, _ in history],
            "counted": {
                "steps": int(ints[at.STEPS]),
                "rejected": int(ints[at.REJECTED]),
                "evaluations": int(ints[at.EVALUATIONS]),
                "seconds": run.seconds_before + progress.seconds,
            },
        }
        return arrays, about

    def finish(self, result: Result, complete: bool) -> None:
        """Put the whole result in place; a run that can be gone on with keeps its last checkpoint."""
        self.close()
        try:
            storage.save(result, self.path, self.header, b"" if complete else self.checkpoint)
        except WriteError as error:
            raise self._kept(error, result) from error

    def _kept(self, error: WriteError, result: Result) -> WriteError:
        """An error that says where everything is."""
        said = (
            f"{error}. There, the run is kept as far as it was written: make room and go on with "
            f"bellcrank.resume({str(self.path)!r}). The whole result is the error's own, to be saved elsewhere: "
            "error.result.save(...)"
        )
        failure = WriteError(self.path, said, error.errno)
        failure.result = result
        return failure

    def close(self) -> None:
        """Let go of the file."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None


def recorder(run: Run, times: Array, options: Options, path: str | PathLike[str]) -> Recorder:
    """A recorder for a run that is about to start; the model is put into words here, and errors with it."""
    return Recorder(path, header_of(run, run.events, times, options))


def header_of(run: Run, events: Sequence[Event], times: Array, options: Options, **more: Any) -> Header:
    """What is known of a run that is about to start. events: The user's. more: Settings of its own kind."""
    settings = {
        "integrator": run.integrator,
        "options": _plain(options),
        "controllers": [c.name for c in run.controllers],
        **more,
    }
    header = Header.of(
        run.mechanism,
        str(run.machine.traced.formulation),
        event_names=tuple(e.name for e in events),
        settings=settings,
        output_times=times,
    )
    if len(set(header.event_names)) < len(header.event_names):
        raise ModelError("events of a run that is saved need different names")
    return header


def _plain(options: Options) -> dict[str, Any]:
    """The options as JSON has them; an unlimited step is None."""
    values = asdict(options)
    return {k: (None if v == np.inf else v) for k, v in values.items()}


def resume(
    path: str | PathLike[str],
    *,
    events: Sequence[Event] = (),
    controllers: Sequence[Controller] = (),
    progress: bool | None = None,
) -> Result:
    """Go on with a run that was started with ``save=path`` and did not come to its end.

    The result, and the file, hold the outputs from the very start. They are those of an uninterrupted run to
    the last bit, on the same machine, with two reservations: controllers that remember something begin with an
    empty memory, and with contacts they are the same to rounding. events, controllers: the same as in the first
    call, because functions are not stored. progress: show a bar (default: on a terminal, after a second). A finished
    run is returned as it is.
    """
    stored = storage.read(path)
    with told_of_other_versions(path):
        return _gone_on(path, stored, events, controllers, progress)


def _gone_on(
    path: str | PathLike[str],
    stored: Stored,
    events: Sequence[Event],
    controllers: Sequence[Controller],
    progress: bool | None,
) -> Result:
    from bellcrank.run.run import Run
    from bellcrank.run.touch import touch_events

    if stored.report is not None and stored.report.status in ("done", "event"):
        return stored.result()
    header = stored.header
    if not len(header.output_times):
        raise ResultFileError(f"{path}: this run did not write as it went (simulate(..., save=...))")
    mechanism = header.mechanism()
    events = (*events, *touch_events(mechanism))
    _same("events", [e.name for e in events], header.event_names)
    _same("controllers", [c.name for c in controllers], header.settings["controllers"])
    given: dict[str, Any] = {k: (np.inf if v is None else v) for k, v in header.settings["options"].items()}
    if "contacts" in header.settings:
        resume_with_contacts = provided("resume impacts")
        result: Result = resume_with_contacts(path, stored, Options(**given), events, controllers, progress)
        return result
    run = Run(mechanism, str(header.settings["integrator"]), events, controllers)
    point: Resumption | None = None
    if stored.checkpoint:
        stored = cut(stored)
        point = resumption(*layout.unpacked(stored.checkpoint), stored)
    else:
        stored = shortened(stored, 0, 0)
    record = Recorder(path, header)
    record.go_on_from(stored)
    return run.go(header.output_times, Options(**given), progress, record, point)


@contextmanager
def told_of_other_versions(path: str | PathLike[str]) -> Iterator[None]:
    """Turn the refusal of a checkpoint into words for who wanted to go on."""
    try:
        yield
    except (UnfitCheckpoint, *SPOILED) as refused:
        # Errors of our own are values of the wrong kind as well.
        if isinstance(refused, BellcrankError) and not isinstance(refused, UnfitCheckpoint):
            raise
        raise ResultFileError(
            f"{path}: this run cannot be gone on with: its checkpoint is damaged or of another version of bellcrank "
            f"({refused}). Its outputs can be read all the same (bellcrank.load_result); start a new run from the "
            "last of them with simulate(start=...)"
        ) from refused


def _same(what: str, given: Sequence[str], wanted: Sequence[str]) -> None:
    if list(given) != list(wanted):
        listed = ", ".join(wanted) or "none"
        raise ModelError(
            f"{what} are not stored with a run: give those it was started with, in order: {listed}"
        )


def cut(stored: Stored) -> Stored:
    """Without what came after the checkpoint; it will be computed again."""
    about = layout.unpacked(stored.checkpoint)[1]
    return shortened(stored, int(about["outputs"]), int(about["events"]))


def shortened(stored: Stored, outputs: int, events: int) -> Stored:
    """The first outputs and events of a file."""
    if outputs > len(stored.time) or events > len(stored.events):
        raise ResultFileError("the file lacks outputs that were written before its checkpoint")
    tables = {k: getattr(stored, k)[:outputs] for k in layout.TABLES}
    forces = None if stored.contact_forces is None else stored.contact_forces[:outputs]
    return replace(stored, **tables, events=stored.events[:events], contact_forces=forces)


def resumption(arrays: dict[str, NDArray[Any]], about: Mapping[str, Any], stored: Stored) -> Resumption:
    """Where a run goes on, from the contents of its checkpoint and the outputs before it."""
    history_p = arrays.pop("history_p")
    jumps = arrays.pop("jumps", None)
    chosen = None
    if "chosen_q" in arrays:
        state = State(float(arrays.pop("chosen_t")), arrays.pop("chosen_q"), arrays.pop("chosen_u"))
        chosen = state, arrays.pop("chosen_p")
    return Resumption(
        Checkpoint(
            arrays,
            str(about["method"]),
            tuple(int(n) for n in about["calls"]),
            tuple(float(t) for t in about["repartitions"]),
            tuple((float(t), str(m)) for t, m in about["switches"]),
        ),
        chosen,
        int(about["outputs"]),
        [(float(t), p) for t, p in zip(about["history_t"], history_p, strict=True)],
        stored.events,
        (stored.q, stored.u, stored.du, stored.parameters),
        float(about["counted"]["seconds"]),
        jumps,
    )

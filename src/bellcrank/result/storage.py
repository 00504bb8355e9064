"""Results as files: one HDF5 file a run, compressed, sealed by a checksum, versioned.

A file holds the states at the outputs, how the run went, and the model as text, so that what is loaded
answers every quantity by name. Nothing in a file is code: models are read by :mod:`bellcrank.files`.

While a run is going on (see :mod:`bellcrank.run.recording`), its file is a journal (:mod:`bellcrank.result.journal`),
which can be read too: a reader, even after a crash, sees all outputs up to the last write.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.blocks import plain_json, unpacked
from bellcrank.base.provided import provided
from bellcrank.base.whole_files import check_target, read_regular
from bellcrank.errors import BellcrankError, ResultFileError
from bellcrank.result import journal, layout, sealed, unsealed
from bellcrank.result.contact_storage import contact_arrays, contact_fields, unfinished_fields
from bellcrank.result.header import Header
from bellcrank.result.result import Happening, Result, RunReport
from bellcrank.result.sealed import Contents

Array = NDArray[np.float64]

ELASTIC = "bellcrank elastic result"
_SPOILED = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)
"""What reading runs into where a file is not what it says."""


def save(
    result: Result, path: str | PathLike[str], settings: Header | None = None, checkpoint: bytes = b""
) -> None:
    """Write a result into one compressed file; an existing file is replaced only when all is written.

    settings, checkpoint: what a run that is not finished needs to be gone on with.
    """
    sealed.write(check_target(path), contents(result, settings, checkpoint))


def contents(result: Result, settings: Header | None = None, checkpoint: bytes = b"") -> Contents:
    """A result as the tables of a file; see :func:`save`."""
    mechanism = result.mechanism
    names = tuple(dict.fromkeys(e.name for e in result.events))
    header = settings or Header.of(mechanism, result.run.formulation, event_names=names)
    grown = layout.Growing()
    layout.append(grown, result.time, result.q, result.u, result.du, result.parameters)
    layout.append_events(grown, header, result.events)
    tables: dict[str, NDArray[Any]] = {**layout.head(header, asdict(result.run)), **grown.tables()}
    if mechanism.system.strikes or result.breaks is not None:
        tables["contacts"] = layout.as_bytes(layout.packed(*contact_arrays(result)))
    tables["checkpoint"] = layout.as_bytes(checkpoint)
    return Contents(layout.attributes(header), tables)


@dataclass(frozen=True, eq=False)
class Stored:
    """The contents of a file, checked but not yet put to use; a writer that never ended leaves no report."""

    header: Header
    time: Array
    q: Array
    u: Array
    du: Array
    parameters: Array
    events: tuple[Happening, ...]
    report: RunReport | None
    checkpoint: bytes
    contacts: bytes = b""
    contact_forces: Array | None = None

    def result(self) -> Result:
        """The result, as far as it goes."""
        report = self.report or self._unfinished()
        tables = (self.time, self.q, self.u, self.du, self.parameters)
        mechanism = self.header.mechanism()
        more: dict[str, Any] = {}
        if self.contacts:
            more = contact_fields(*unpacked(self.contacts), mechanism, len(self.time))
        elif self.contact_forces is not None:
            known = unpacked(self.checkpoint) if self.checkpoint else ({}, {})
            more = unfinished_fields(*known, mechanism, self.contact_forces)
        elif self.checkpoint:
            more = {"breaks": unpacked(self.checkpoint)[0].get("jumps")}
        return Result(mechanism, *tables, report, self.events, **more)

    def _unfinished(self) -> RunReport:
        counted = unpacked(self.checkpoint)[1]["counted"] if self.checkpoint else {}
        return RunReport(
            "unfinished",
            str(self.header.settings.get("integrator", "")),
            self.header.formulation,
            int(counted.get("steps", 0)),
            int(counted.get("rejected", 0)),
            int(counted.get("evaluations", 0)),
            float(counted.get("seconds", 0.0)),
        )


def load(path: str | PathLike[str]) -> Result:
    """The result in a file: also one still being written, or left behind by a run that was killed."""
    return _result(read(path), path)


def load_result(path: str | PathLike[str]) -> Any:
    """The result in the file `path`: a :class:`Result`, or one of elastic contact."""
    return load_contents(opened(path), path)


def load_contents(found: Contents, path: str | PathLike[str]) -> Any:
    """The result in the contents of a file, of whatever kind."""
    if found.attributes.get("format") != ELASTIC:
        return _result(stored(found, path), path)
    return provided("elastic result")(found, path)


def restored(attributes: Mapping[str, str | int], tables: Mapping[str, NDArray[Any]]) -> Any:
    """The result that was pickled."""
    return load_contents(Contents(attributes, tables), "the pickle of a result")


def _result(found: Stored, path: str | PathLike[str]) -> Result:
    with telling_of_damage(path):
        return found.result()


def is_elastic(path: str | PathLike[str]) -> bool:
    """Whether a file holds a result of elastic contact."""
    try:
        return opened(path).attributes.get("format") == ELASTIC
    except ResultFileError:
        # A damaged file; whoever reads it next says so.
        return False


def read(path: str | PathLike[str]) -> Stored:
    """Read and check a file."""
    return stored(opened(path), path)


def opened(path: str | PathLike[str]) -> Contents:
    """The tables of a result file, of whatever kind and version."""
    data = read_regular(path)
    with telling_of_damage(path):
        if journal.is_journal(data):
            return _of_journal(data)
        return sealed.read(data) if sealed.is_sealed(data) else unsealed.read(data)


def _of_journal(data: bytes) -> Contents:
    """What the file of a run that did not end holds, as if it had been saved at its last writing."""
    header, blocks, checkpoints = journal.read(data)
    tables, about = unpacked(header)
    rows = layout.joined(blocks)
    for name in (*layout.EVENTS, "time"):
        rows.setdefault(name, np.zeros(0))
    outputs, events = len(rows["time"]), len(rows["event_time"])
    # A checkpoint may be newer than the rows of a reader that came in between.
    fitting = (
        payload
        for payload in checkpoints
        if (known := unpacked(payload)[1])["outputs"] <= outputs and known["events"] <= events
    )
    tables = {**tables, **rows, "checkpoint": layout.as_bytes(next(fitting, b""))}
    return Contents(about["attributes"], tables)


@contextmanager
def telling_of_damage(path: str | PathLike[str]) -> Iterator[None]:
    """Errors of a file that is not what it says, in words that name it."""
    try:
        yield
    except ResultFileError as error:
        raise ResultFileError(f"{path}: {error}") from error
    except BellcrankError:
        raise
    except _SPOILED as error:
        raise ResultFileError(f"{path}: the file is damaged ({error})") from error


def stored(found: Contents, path: str | PathLike[str]) -> Stored:
    """The contents of a file, checked."""
    with telling_of_damage(path):
        return _stored(found)


def check_version(found: Contents, kind: str, version: int) -> None:
    """Raise where a file is of another kind, or of a version to come."""
    if found.attributes.get("format") != kind:
        raise ResultFileError("this is not a result file of Bellcrank")
    written = found.attributes["version"]
    if not isinstance(written, int) or written > version:
        raise ResultFileError(
            f"written by Bellcrank {found.attributes.get('bellcrank')} in format {written}; this Bellcrank "
            f"reads formats up to {version}: install a newer one"
        )


def _stored(found: Contents) -> Stored:
    check_version(found, layout.FORMAT, layout.VERSION)
    text = found.text("model")
    if hashlib.sha256(text).hexdigest() != found.attributes["model_sha256"]:
        raise ResultFileError("the model in the file is not the one that was run (its hash differs)")
    about = plain_json(found.text("about"))
    q, u, p, times = (
        _floats(found, name, 1) for name in ("start_q", "start_u", "start_parameters", "output_times")
    )
    header = Header(
        text.decode(),
        str(about["formulation"]),
        float(about["t"]),
        q,
        u,
        p,
        tuple(int(e) for e in about["kept"]),
        tuple(map(str, about["event_names"])),
        dict(about["settings"]),
        times,
        found.text("members") if "members" in found.tables else b"",
    )
    tables = _rows(found, header.widths)
    report = about["report"] and RunReport(
        **about["report"]
        | {
            "repartitions": tuple(about["report"]["repartitions"]),
            "switches": tuple((float(t), str(m)) for t, m in about["report"]["switches"]),
            "stepped": tuple((float(a), float(b), str(w)) for a, b, w in about["report"].get("stepped", ())),
        }
    )
    contacts = found.text("contacts") if "contacts" in found.tables else b""
    forces = _floats(found, layout.FORCES, 2)[: len(tables[0])] if layout.FORCES in found.tables else None
    return Stored(header, *tables, _events(found, header), report, found.text("checkpoint"), contacts, forces)


def _rows(found: Contents, widths: Sequence[int | None]) -> tuple[Array, Array, Array, Array, Array]:
    tables = []
    for name, width in zip(layout.TABLES, widths, strict=True):
        # A run that was stopped before its first output has no rows of any width.
        missing = name not in found.tables and not len(found.table("time"))
        rows = np.zeros((0, width or 0)) if missing else _floats(found, name, 1 if width is None else 2)
        # Files of version 1 keep a column of zeros where there is none.
        if width is not None and rows.shape[1] != width and (width, rows.shape[1]) != (0, 1):
            raise ResultFileError(f"the table {name!r} of the file does not fit its model")
        tables.append(rows if width is None else rows[:, :width])
    outputs = min(len(rows) for rows in tables)
    time, q, u, du, p = (rows[:outputs] for rows in tables)
    return time, q, u, du, p


def _events(found: Contents, header: Header) -> tuple[Happening, ...]:
    times, places = (_floats(found, name, 1) for name in layout.EVENTS)
    names = header.event_names
    if not np.isin(places, np.arange(len(names))).all():
        raise ResultFileError("the file is damaged (events were met that nobody watched)")
    return tuple(Happening(float(t), names[int(k)]) for t, k in zip(times, places, strict=False))


def _floats(found: Contents, name: str, dimensions: int) -> Array:
    return np.asarray(found.table(name, dimensions), dtype=np.float64)


__all__ = ["ResultFileError", "load", "load_result", "save"]

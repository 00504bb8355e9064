"""Results as files: one HDF5 file a run, compressed, versioned, readable whatever happened to the writer.

A file holds the states at the outputs, how the run went, and the model as text, so that what is loaded
answers every quantity by name. Nothing in a file is code: models are read by :mod:`bellcrank.files`, and
links out of the file are not followed.

While a run is going on (see :mod:`bellcrank.recording`), the file is written in HDF5's single-writer mode, in
which outputs are only ever appended: a reader, also one that comes after a crash, sees all outputs up to the
last flush. Two slots take turns in holding the last checkpoint, each with a checksum.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ResultFileError
from bellcrank.result.contact_storage import contact_arrays, contact_fields, unfinished_fields
from bellcrank.result.header import Header
from bellcrank.result.layout import (
    FORCES,
    FORMAT,
    SLOTS,
    TABLES,
    VERSION,
    append,
    append_events,
    create,
    packed,
    put_bytes,
    put_checkpoint,
    unpacked,
)
from bellcrank.result.result import Happening, Result, RunReport
from bellcrank.result.unclosed import closed, is_unclosed

Array = NDArray[np.float64]

ELASTIC = "bellcrank elastic result"
MAX_TEXT = 64 * 2**20
MAX_MEMBERS = 2**30
ATTEMPTS = 5
"""How often a file that is being written is looked at until a whole one is seen."""


def save(
    result: Result, path: str | PathLike[str], settings: Header | None = None, checkpoint: bytes = b""
) -> None:
    """Write a result into one compressed file; an existing file is replaced only when all is written.

    settings, checkpoint: what a run that is not finished needs to be gone on with.
    """
    mechanism = result.mechanism
    names = tuple(dict.fromkeys(e.name for e in result.events))
    header = settings or Header.of(mechanism, result.run.formulation, event_names=names)
    with replacing(Path(path)) as file:
        create(file, header, asdict(result.run))
        append(file, result.time, result.q, result.u, result.du, result.parameters)
        append_events(file, header, result.events)
        if mechanism.system.contacts or result.breaks is not None:
            put_bytes(file, "contacts", packed(*contact_arrays(result)))
        if checkpoint:
            put_checkpoint(file, SLOTS[0], checkpoint)


@contextmanager
def replacing(path: Path) -> Iterator[Any]:
    """An HDF5 file that takes its place under `path` when it is complete."""
    import h5py

    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path.name!r}: there is no folder {str(path.parent)!r}")
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    os.close(handle)
    try:
        with h5py.File(name, "w", libver="latest") as file:
            yield file
        _as_usual(name)
        os.replace(name, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise


def _as_usual(name: str) -> None:
    """Give a temporary file the permissions any new file has here."""
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(name, 0o666 & ~mask)


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
    return read(path).result()


def load_result(path: str | PathLike[str]) -> Any:
    """The result in the file `path`: a :class:`Result`, or one of elastic contact."""
    if not is_elastic(path):
        return load(path)
    from bellcrank.elastic.storage import load as load_elastic

    return load_elastic(path)


def is_elastic(path: str | PathLike[str]) -> bool:
    """Whether a file holds a result of elastic contact."""
    import h5py

    with open(path, "rb") as file:
        if is_unclosed(file.read(48)):
            return False
    try:
        with h5py.File(str(path), "r") as found:
            return bool(found.attrs.get("format") == ELASTIC)
    except (KeyError, OSError, RuntimeError, TypeError, ValueError):
        # A damaged file; whoever reads it next says so.
        return False


def read(path: str | PathLike[str]) -> Stored:
    """Read and check a file."""
    name = str(path)
    for attempt in range(ATTEMPTS):
        data = _unclosed(name)
        try:
            with _opened(name, data) as file:
                return _read(file, name)
        except ResultFileError:
            raise
        except (KeyError, OSError, RuntimeError, ValueError, TypeError) as error:
            # The bytes of a file that is being written are not read all at one instant.
            if data is None or attempt == ATTEMPTS - 1:
                raise ResultFileError(f"{name}: the file is damaged or was cut short ({error})") from error
            time.sleep(0.05)
    raise AssertionError


def _unclosed(name: str) -> bytes | None:
    """The bytes of a file that was not closed, as if it had been; None for all others."""
    with open(name, "rb") as file:
        head = file.read(48)
        return closed(head + file.read()) if is_unclosed(head) else None


@contextmanager
def _opened(name: str, data: bytes | None) -> Iterator[Any]:
    import h5py

    if data is None and not h5py.is_hdf5(name):
        raise ResultFileError(f"{name}: this is not a result file of Bellcrank")
    with h5py.File(name if data is None else io.BytesIO(data), "r") as file:
        yield file


def _read(file: Any, name: str) -> Stored:
    if file.attrs.get("format") != FORMAT:
        raise ResultFileError(f"{name}: this is not a result file of Bellcrank")
    version = int(file.attrs["version"])
    if version > VERSION:
        raise ResultFileError(
            f"{name}: written by Bellcrank {file.attrs.get('bellcrank')} in format {version}; this Bellcrank "
            f"reads formats up to {VERSION}: install a newer one"
        )
    text = _bytes(file, "model")
    if hashlib.sha256(text).hexdigest() != file.attrs["model_sha256"]:
        raise ResultFileError(f"{name}: the model in the file is not the one that was run (its hash differs)")
    about = json.loads(_bytes(file, "about"))
    q, u, p = (_array(file, key) for key in ("start_q", "start_u", "start_parameters"))
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
        _array(file, "output_times"),
        _bytes(file, "members", MAX_MEMBERS) if "members" in file else b"",
    )
    tables = _tables(file, header.widths)
    report = about["report"] and RunReport(
        **about["report"]
        | {
            "repartitions": tuple(about["report"]["repartitions"]),
            "switches": tuple((float(t), str(m)) for t, m in about["report"]["switches"]),
        }
    )
    t, q, u, du, p = tables
    contacts = _bytes(file, "contacts") if "contacts" in file else b""
    forces = np.asarray(_dataset(file, FORCES)[: len(t)], dtype=float) if FORCES in file else None
    return Stored(header, t, q, u, du, p, _events(file, header), report, _checkpoint(file), contacts, forces)


def _tables(file: Any, widths: Sequence[int | None]) -> list[Array]:
    datasets = [_dataset(file, name) for name in TABLES]
    for d, name, width in zip(datasets, TABLES, widths, strict=True):
        if d.shape[1:] != (() if width is None else (max(width, 1),)):
            raise ResultFileError(f"the table {name!r} of the file does not fit its model")
    rows = min(d.shape[0] for d in datasets)
    read_out = [np.asarray(d[:rows], dtype=float) for d in datasets]
    return [x if width is None else x[:, :width] for x, width in zip(read_out, widths, strict=True)]


def _events(file: Any, header: Header) -> tuple[Happening, ...]:
    times, places = _array(file, "event_time"), _array(file, "event_index")
    names = header.event_names
    return tuple(Happening(float(t), names[int(k)]) for t, k in zip(times, places, strict=False))


def _checkpoint(file: Any) -> bytes:
    """The newest checkpoint that is whole, or nothing."""
    best, newest = b"", -1
    for slot in SLOTS:
        data = np.asarray(_dataset(file, slot)[:], dtype="u1").tobytes()
        payload = data[12 : 12 + int.from_bytes(data[:8], "little")]
        if not payload or zlib.crc32(payload).to_bytes(4, "little") != data[8:12]:
            continue
        number = int(unpacked(payload)[1]["number"])
        if number > newest:
            best, newest = payload, number
    return best


def _dataset(file: Any, name: str) -> Any:
    """A dataset that lies in the file itself: links and data elsewhere are refused."""
    import h5py

    if not isinstance(file.get(name, getlink=True), h5py.HardLink):
        raise ResultFileError(f"the file lacks {name!r}, or points to it outside")
    dataset = file[name]
    if not isinstance(dataset, h5py.Dataset) or dataset.external or dataset.is_virtual:
        raise ResultFileError(f"{name!r} of the file is not a table of its own")
    if dataset.dtype.kind not in "fiu":
        raise ResultFileError(f"{name!r} of the file does not hold numbers")
    return dataset


def _array(file: Any, name: str) -> Array:
    return np.asarray(_dataset(file, name)[...], dtype=float).reshape(-1)


def _bytes(file: Any, name: str, most: int = MAX_TEXT) -> bytes:
    dataset = _dataset(file, name)
    if dataset.dtype != np.uint8 or dataset.size > most:
        raise ResultFileError(f"{name!r} of the file is not a text, or is too long")
    return np.asarray(dataset[...]).tobytes()


__all__ = ["ResultFileError", "load", "load_result", "save"]

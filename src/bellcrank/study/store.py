"""The store of a study: a folder of Parquet parts, one a batch of rows, and a note of whose they are.

A part appears whole when it is already on the disk, and carries the number of its batch and a checksum of its bytes in
its name. So whatever is killed at whatever moment, a batch is there whole or not at all, and never twice; a part that
was damaged later is computed again. The folder is a plain Parquet data set: ``pandas.read_parquet(folder)`` reads it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.blocks import plain_json
from bellcrank.base.optional import needed
from bellcrank.base.whole_files import read_regular, write_whole
from bellcrank.errors import BellcrankError, ModelError
from bellcrank.study.work import Rows

Array = NDArray[np.float64]
NOTE, LOCK = "_study.json", "_lock"
FORMAT = 1
LARGEST_NOTE = 64 * 2**20
"""Bytes of a note that is read; it holds the text of a model, whose own limit is less."""
_OWN = ("run", "done", "reached [s]", "reason")


class DamagedPart(BellcrankError):
    """A part that does not hold what was written."""


class Store:
    """The parts of one study in a folder.

    definition: what the study computes, plainly; its fingerprint is kept in every part.
    """

    def __init__(
        self, folder: str | os.PathLike[str], fingerprint: str, definition: Mapping[str, Any]
    ) -> None:
        self.folder, self.fingerprint = Path(folder), fingerprint
        self.definition = definition
        self.damaged: list[str] = []
        self._lock: Any = None

    def open(self) -> None:
        """Make the folder, or see that it holds this study; nobody else writes until `close`."""
        _parquet()
        if self.folder.exists() and not self.folder.is_dir():
            raise ModelError(f"{self.folder} is a file; a study is stored in a folder")
        note = self.folder / NOTE
        if not note.exists() and self.folder.is_dir() and any(self.folder.iterdir()):
            names = {p.name for p in self.folder.iterdir()} - {LOCK}
            if any(not name.startswith(".") for name in names):
                raise ModelError(f"{self.folder} holds other files; a study is stored in a folder of its own")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._hold()
        try:
            if note.exists():
                self._compare(note)
            else:
                known = {"format": FORMAT, "fingerprint": self.fingerprint, "study": self.definition}
                write_whole(note, [json.dumps(known, indent=1).encode() + b"\n"])
        except BaseException:
            self.close()
            raise
        # Nobody else writes here, so what has not become a part never will.
        for left in (*self.folder.glob(".*.new"), *self.folder.glob(".*.part")):
            left.unlink(missing_ok=True)

    def close(self) -> None:
        """Let others write."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Store:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _hold(self) -> None:
        try:
            import fcntl
        except ImportError:
            return
        # Opened for both, without waiting: a pipe of that name would wait for a reader.
        flags = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK
        handle = os.fdopen(os.open(self.folder / LOCK, flags, 0o666), "rb")
        if not stat.S_ISREG(os.fstat(handle.fileno()).st_mode):
            handle.close()
            raise ModelError(f"{self.folder / LOCK} is not a regular file; choose another folder")
        try:
            # The system lets go when the process ends, however it ends.
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            handle.close()
            raise BellcrankError(f"{self.folder} is being written by another study right now") from error
        self._lock = handle

    def _compare(self, note: Path) -> None:
        try:
            known = plain_json(read_regular(note, LARGEST_NOTE))
            fingerprint, before = str(known["fingerprint"]), dict(known["study"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelError(f"{note} is not the note of a study ({error}); choose another folder") from error
        if fingerprint == self.fingerprint:
            return
        now = json.loads(json.dumps(self.definition))
        keys = dict.fromkeys([*before, *now])
        different = [key for key in keys if before.get(key) != now.get(key)]
        raise ModelError(
            f"{self.folder} holds another study; it differs in: {', '.join(different) or 'its fingerprint'}. "
            "Choose another folder, or remove this one"
        )

    def write(self, number: int, rows: Rows, table: Mapping[str, Array]) -> None:
        """Keep a batch; table: the variables of its rows."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns: dict[str, Any] = {"run": pa.array(rows.rows, pa.int64())}
        columns |= {name: pa.array(np.asarray(v), pa.float64()) for name, v in table.items()}
        columns |= {name: pa.array(v, pa.float64()) for name, v in rows.measures.items()}
        columns["done"] = pa.array(rows.done, pa.bool_())
        columns["reached [s]"] = pa.array(rows.reached, pa.float64())
        columns["reason"] = pa.array(list(rows.reasons), pa.string())
        for name, values in rows.curves.items():
            flat = pa.array(np.ascontiguousarray(values).ravel(), pa.float64())
            columns[f"curve {name}"] = pa.FixedSizeListArray.from_arrays(flat, int(np.prod(values.shape[1:])))
        data = pa.table(columns).replace_schema_metadata(
            {"bellcrank study": self.fingerprint, "bellcrank batch": str(number)}
        )
        buffer = io.BytesIO()
        pq.write_table(data, buffer)
        part = buffer.getvalue()
        path = self.folder / f"part-{number:08d}-{_checksum(part)}.parquet"
        write_whole(path, [part])
        for other in self.folder.glob(f"part-{number:08d}*.parquet"):
            if other.name != path.name:
                other.unlink(missing_ok=True)

    def batches(self) -> dict[int, Path]:
        """Parts that are there and whole; others are noted in `damaged` and computed again."""
        found: dict[int, Path] = {}
        self.damaged = []
        for path in sorted(self.folder.glob("part-*.parquet")):
            try:
                self._part(path)
                found[_number(path)] = path
            except DamagedPart:
                self.damaged.append(path.name)
        return found

    def _part(self, path: Path) -> Any:
        """A part of this study whose bytes are those that were written, as a Parquet file."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            number, data = _number(path), read_regular(path)
            checksum = path.stem.split("-")[2:]
            # Parts of the version before have no checksum in their names.
            if checksum and checksum != [_checksum(data)]:
                raise DamagedPart(f"{path} is damaged (its checksum differs)")
            part = pq.ParquetFile(io.BytesIO(data))
            meta = part.schema_arrow.metadata or {}
        except (OSError, ValueError, KeyError, IndexError, TypeError, pa.ArrowException) as error:
            raise DamagedPart(f"{path} is damaged ({error})") from error
        if meta.get(b"bellcrank study") != self.fingerprint.encode():
            raise DamagedPart(f"{path} is the part of another study")
        if meta.get(b"bellcrank batch") != str(number).encode():
            raise DamagedPart(f"{path} is the part of another batch")
        return part

    def _columns(self, path: Path, names: list[str] | None = None) -> Any:
        import pyarrow as pa

        part = self._part(path)
        try:
            return part.read(columns=names)
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
            raise DamagedPart(f"{path} is damaged ({error})") from error

    def read(self, path: Path, measures: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> Rows:
        """The rows of one part; shapes: of the kept curves. Raises :class:`DamagedPart`."""
        data = self._columns(path)
        curves = {}
        try:
            for name, shape in shapes.items():
                flat = data.column(f"curve {name}").combine_chunks().flatten().to_numpy(zero_copy_only=False)
                curves[name] = flat.reshape(len(data), *shape)
            return Rows(
                _numbers(data, "run"),
                {name: _numbers(data, name) for name in measures},
                _numbers(data, "done"),
                _numbers(data, "reached [s]"),
                data.column("reason").to_pylist(),
                curves,
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DamagedPart(f"{path} is damaged ({error})") from error

    def table(self, path: Path, names: Mapping[str, Any]) -> dict[str, Array]:
        """The variables of one part. Raises :class:`DamagedPart`."""
        data = self._columns(path, list(names))
        try:
            return {name: _numbers(data, name) for name in names}
        except (ValueError, KeyError, TypeError) as error:
            raise DamagedPart(f"{path} is damaged ({error})") from error


def _numbers(data: Any, name: str) -> Any:
    return data.column(name).combine_chunks().to_numpy(zero_copy_only=False)


def _number(path: Path) -> int:
    """The batch of a part."""
    return int(path.stem.split("-")[1])


def _checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def reserved(name: str) -> bool:
    """Whether a store has a column of that name of its own."""
    return name in _OWN or name.startswith("curve ")


def _parquet() -> None:
    needed("pyarrow.parquet", "a store", "pyarrow", "study")


__all__ = ["DamagedPart", "Store", "reserved"]

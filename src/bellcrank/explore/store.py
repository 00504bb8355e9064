"""The store of a study: a folder of Parquet parts, one a batch of rows, and a note of whose they are.

A part appears by renaming a whole file that is already on the disk, and carries the number of its batch in its name.
So whatever is killed at whatever moment, a batch is there whole or not at all, and never twice. The folder is a plain
Parquet data set: ``pandas.read_parquet(folder)`` reads it.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import BellcrankError, ModelError
from bellcrank.explore.work import Rows

Array = NDArray[np.float64]
NOTE, LOCK = "_study.json", "_lock"
FORMAT = 1
_OWN = ("run", "done", "reached [s]", "reason")


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
                text = json.dumps(
                    {"format": FORMAT, "fingerprint": self.fingerprint, "study": self.definition}, indent=1
                )
                _appear(note, lambda path: path.write_text(text + "\n", encoding="utf-8"))
        except BaseException:
            self.close()
            raise
        for left in self.folder.glob(".*.new"):
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
        handle = (self.folder / LOCK).open("a")
        try:
            # The system lets go when the process ends, however it ends.
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            handle.close()
            raise BellcrankError(f"{self.folder} is being written by another study right now") from error
        self._lock = handle

    def _compare(self, note: Path) -> None:
        try:
            known = json.loads(note.read_text(encoding="utf-8"))
            fingerprint, before = known["fingerprint"], known["study"]
        except (ValueError, KeyError, TypeError) as error:
            raise ModelError(f"{note} is not the note of a study; choose another folder") from error
        if fingerprint == self.fingerprint:
            return
        now = json.loads(json.dumps(self.definition))
        keys = dict.fromkeys([*before, *now])
        different = [key for key in keys if before.get(key) != now.get(key)]
        raise ModelError(
            f"{self.folder} holds another study; it differs in: {', '.join(different) or 'its fingerprint'}. "
            "Choose another folder, or remove this one"
        )

    def _path(self, number: int) -> Path:
        return self.folder / f"part-{number:08d}.parquet"

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
        _appear(self._path(number), lambda path: pq.write_table(data, path))

    def batches(self) -> dict[int, Path]:
        """Parts that are there and whole; others are noted in `damaged` and computed again."""
        import pyarrow.parquet as pq

        found: dict[int, Path] = {}
        self.damaged = []
        for path in sorted(self.folder.glob("part-*.parquet")):
            try:
                number = int(path.stem.removeprefix("part-"))
                meta = pq.read_metadata(path).metadata or {}
                right = meta.get(b"bellcrank study") == self.fingerprint.encode()
                right = right and meta.get(b"bellcrank batch") == str(number).encode()
            except (OSError, ValueError, ImportError):
                right = False
            if right:
                found[number] = path
            else:
                self.damaged.append(path.name)
        return found

    def read(self, path: Path, measures: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> Rows:
        """The rows of one part; shapes: of the kept curves."""
        import pyarrow.parquet as pq

        # A name with a part number is no partition of a data set.
        data = pq.ParquetFile(path).read()

        def numbers(name: str) -> Any:
            return data.column(name).combine_chunks().to_numpy(zero_copy_only=False)

        curves = {}
        for name, shape in shapes.items():
            flat = data.column(f"curve {name}").combine_chunks().flatten().to_numpy(zero_copy_only=False)
            curves[name] = flat.reshape(len(data), *shape)
        return Rows(
            numbers("run"),
            {name: numbers(name) for name in measures},
            numbers("done"),
            numbers("reached [s]"),
            data.column("reason").to_pylist(),
            curves,
        )

    def table(self, path: Path, names: Mapping[str, Any]) -> dict[str, Array]:
        """The variables of one part."""
        import pyarrow.parquet as pq

        data = pq.ParquetFile(path).read(columns=list(names))
        return {name: data.column(name).combine_chunks().to_numpy(zero_copy_only=False) for name in names}


def reserved(name: str) -> bool:
    """Whether a store has a column of that name of its own."""
    return name in _OWN or name.startswith("curve ")


def _appear(path: Path, write: Any) -> None:
    """Write a file that is there whole or not at all, also after a loss of power."""
    new = path.with_name(f".{path.name}.new")
    try:
        write(new)
        with new.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(new, path)
    except BaseException:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError), _folder(path.parent) as handle:
        os.fsync(handle)


@contextlib.contextmanager
def _folder(path: Path) -> Iterator[int]:
    handle = os.open(path, os.O_RDONLY)
    try:
        yield handle
    finally:
        os.close(handle)


def _parquet() -> None:
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise BellcrankError("a store needs pyarrow: pip install 'bellcrank[study]'") from error


__all__ = ["Store", "reserved"]

"""Result files without a seal, read by the HDF5 library in a process of its own with limits.

These are files of versions before the seal, files whose writer of that time was killed, and files that another tool has
changed. The library may loop or crash on damaged bytes. So a child process reads them, under limits on memory and time,
and hands back the contents as a sealed file.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base import blocks
from bellcrank.base.confined import EndedError, RefusedError, confined
from bellcrank.base.memory import memory, size_in_words
from bellcrank.errors import ResultFileError
from bellcrank.result import sealed
from bellcrank.result.unclosed import SIGNATURE, closed, ends_early, is_unclosed

SECONDS = 20.0
"""Time a child has to start and read a small file, on a busy machine."""
BYTES_PER_SECOND = 10e6
"""What a child reads at least, in a slow case: small chunks, deflated."""
MEMORY = 2**30
"""Address space of a child beyond the contents [bytes]: HDF5 with room to spare."""
LARGEST_CHUNK = 2**26
"""Bytes of a chunk that is read; those of Bellcrank have less than a quarter of it."""
SLOTS = ("checkpoint_0", "checkpoint_1")
"""Where earlier versions kept the last two checkpoints."""


def read(data: bytes) -> sealed.Contents:
    """The contents of an HDF5 file given by its bytes."""
    if not data.startswith(SIGNATURE):
        raise ResultFileError("this is not a result file of Bellcrank")
    if ends_early(data):
        raise ResultFileError("the file is damaged or was cut short")
    most = _most(data)
    try:
        found = confined(
            "bellcrank.result.unsealed:converted",
            data,
            SECONDS + len(data) / BYTES_PER_SECOND,
            MEMORY + 4 * len(data) + 2 * most,
        )
    except RefusedError as error:
        raise ResultFileError(str(error)) from error
    except EndedError as error:
        raise ResultFileError(f"the file is damaged ({error})") from error
    return sealed.read(found)


def converted(data: bytes) -> bytes:
    """A file of HDF5, sealed; in a process of its own."""
    try:
        contents = _converted(closed(data) if is_unclosed(data[:48]) else data, _most(data))
    except ResultFileError:
        raise
    except Exception as error:
        raise ResultFileError(f"the file is damaged or was cut short ({error})") from error
    return b"".join(sealed.sealed(contents))


def _most(data: bytes) -> int:
    """Bytes that all tables of a file together may declare: what its size could hold deflated, and the memory here."""
    return min(sealed.DEFLATION * len(data), memory())


def _converted(data: bytes, most: int) -> sealed.Contents:
    import h5py

    with h5py.File(io.BytesIO(data), "r") as file:
        attributes: dict[str, str | int] = {}
        for name in ("format", "version", "bellcrank", "model_sha256"):
            if name in file.attrs:
                value = file.attrs[name]
                attributes[name] = value if isinstance(value, str) else int(value)
        tables: dict[str, NDArray[Any]] = {}
        left = most
        for name in file:
            found = _dataset(file, name)
            left -= found.size * found.dtype.itemsize
            if left < 0:
                size = size_in_words(found.size * found.dtype.itemsize)
                raise ResultFileError(
                    f"{name!r} of the file is declared to have {size}: more than the {size_in_words(len(data))} of the "
                    "file could hold, or the memory here"
                )
            tables[name] = np.asarray(found[()], dtype=_kind(found.dtype))
    tables = _of_before(tables)
    return sealed.Contents(attributes, tables)


def _dataset(file: Any, name: str) -> Any:
    """A dataset that lies in the file itself: links and data elsewhere are refused."""
    import h5py

    if not isinstance(file.get(name, getlink=True), h5py.HardLink):
        raise ResultFileError(f"the file is damaged (it points to {name!r} outside)")
    dataset = file[name]
    if not isinstance(dataset, h5py.Dataset) or dataset.external or dataset.is_virtual:
        raise ResultFileError(f"the file is damaged ({name!r} is not a table of its own)")
    if dataset.dtype.kind not in "fiub":
        raise ResultFileError(f"the file is damaged ({name!r} does not hold numbers)")
    if dataset.chunks and int(np.prod(dataset.chunks, dtype=float)) * dataset.dtype.itemsize > LARGEST_CHUNK:
        raise ResultFileError(f"the file is damaged (the chunks of {name!r} are too large)")
    return dataset


def _kind(dtype: Any) -> str:
    name = f"{dtype.kind}{dtype.itemsize}"
    return name if name in blocks.KINDS else {"f": "f8"}.get(dtype.kind, "i8")


def _of_before(tables: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Checkpoints and contacts of earlier versions, which were archives of NumPy, as they are kept now."""
    found = dict(tables)
    if any(slot in tables for slot in SLOTS):
        found["checkpoint"] = np.frombuffer(_newest(tables), "u1")
        for slot in SLOTS:
            found.pop(slot, None)
    if "contacts" in tables and not tables["contacts"].tobytes().startswith(blocks.MAGIC):
        found["contacts"] = np.frombuffer(blocks.packed(*_archive(tables["contacts"].tobytes())), "u1")
    return found


def _newest(tables: dict[str, NDArray[Any]]) -> bytes:
    whole = [_archive(payload) for payload in _payloads(tables)]
    best = max(whole, key=lambda found: int(found[1]["number"]), default=None)
    return b"" if best is None else blocks.packed(*best)


def _payloads(tables: dict[str, NDArray[Any]]) -> Iterator[bytes]:
    for slot in SLOTS:
        data = tables[slot].astype("u1").tobytes() if slot in tables else b""
        payload = data[12 : 12 + int.from_bytes(data[:8], "little")]
        if payload and zlib.crc32(payload).to_bytes(4, "little") == data[8:12]:
            yield payload


def _archive(payload: bytes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    with np.load(io.BytesIO(payload), allow_pickle=False) as archive:
        arrays = {k.removeprefix("array_"): archive[k] for k in archive.files if k.startswith("array_")}
        about: dict[str, Any] = json.loads(archive["about"].tobytes())
    return arrays, about


__all__ = ["read"]

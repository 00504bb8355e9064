"""Result files: an HDF5 file for everyone, followed by an index and a checksum that Bellcrank reads it by.

The checksum covers every byte before it and is verified first, so a damaged or truncated file is refused before
anything in it is used. A stranger can seal a file as well: what the index declares is compared with the size of
the file before anything is allocated, and no byte is given to the HDF5 library. A tool that changes the file removes
the seal, and so do versions before the seal: such files are read in a process of their own
(:mod:`bellcrank.result.unsealed`).
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.blocks import KINDS, array, byte_size, plain_json
from bellcrank.base.memory import memory, size_in_words
from bellcrank.base.whole_files import write_whole
from bellcrank.errors import ResultFileError
from bellcrank.result.hdf5 import hdf5, piece, unshuffled

MAGIC = b"bellcrank seal 1"
_TAIL = struct.Struct("<Q32s16s")
DEFLATION = 1032
"""Bytes that one byte of deflated data stands for at most (RFC 1951: 258 bytes by two bits)."""


@dataclass(frozen=True, eq=False)
class Contents:
    """What a file holds: attributes and tables by name."""

    attributes: Mapping[str, str | int]
    tables: Mapping[str, NDArray[Any]]

    def table(self, name: str, dimensions: int | None = None) -> NDArray[Any]:
        """A table of numbers."""
        if name not in self.tables:
            raise ResultFileError(f"the file lacks {name!r}")
        found = self.tables[name]
        if dimensions is not None and found.ndim != dimensions:
            raise ResultFileError(f"{name!r} of the file has {found.ndim} dimensions, not {dimensions}")
        return found

    def text(self, name: str) -> bytes:
        """A text in UTF-8, or other bytes."""
        found = self.table(name, 1)
        if found.dtype != np.uint8:
            raise ResultFileError(f"{name!r} of the file is not a text")
        return found.tobytes()


def sealed(contents: Contents) -> list[bytes]:
    """A file in parts, to be written one after the other."""
    pieces = {name: piece(values) for name, values in contents.tables.items()}
    parts, placed = hdf5(contents.attributes, pieces)
    index = json.dumps({
        "attributes": dict(contents.attributes),
        "tables": {
            name: [one.kind, list(one.shape), one.offset, len(one.data), one.deflated]
            for name, one in placed.items()
        },
    }).encode()  # fmt: skip
    parts += [index, struct.pack("<Q", len(index))]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return [*parts, digest.digest(), MAGIC]


def write(path: Path, contents: Contents) -> None:
    """Write a file; an existing one is replaced only when all is on the disk."""
    write_whole(path, sealed(contents))


def is_sealed(data: bytes) -> bool:
    """Whether the bytes of a file end in a seal, of whatever worth."""
    return len(data) > _TAIL.size and data.endswith(MAGIC)


def read(data: bytes) -> Contents:
    """The contents of the bytes of a sealed file."""
    length, digest, _ = _TAIL.unpack_from(data, len(data) - _TAIL.size)
    whole = memoryview(data)[: len(data) - 48]
    if hashlib.sha256(whole).digest() != digest:
        raise ResultFileError("the file is damaged (its checksum differs)")
    end = len(data) - _TAIL.size
    if length > end:
        raise ResultFileError("the file is damaged (its index is cut short)")
    try:
        index = plain_json(data[end - length : end])
        attributes = {str(k): v if isinstance(v, int) else str(v) for k, v in index["attributes"].items()}
        tables = _tables(whole[: end - length], index["tables"])
    except (KeyError, TypeError, ValueError, AttributeError, zlib.error) as error:
        if isinstance(error, ResultFileError):
            raise
        raise ResultFileError(f"the file is damaged (its index makes no sense: {error})") from error
    return Contents(attributes, tables)


def _tables(data: memoryview, index: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    declared = {}
    stored = total = 0
    for name, (kind, shape, offset, length, deflated) in index.items():
        size = byte_size(kind, shape)
        if (
            type(offset) is not int
            or type(length) is not int
            or offset < 0
            or not 0 <= length <= len(data) - offset
        ):
            raise ValueError(f"table {name!r} lies outside of the file")
        most = DEFLATION * length if deflated else length
        if size > most or (not deflated and size != length):
            raise ValueError(
                f"table {name!r} is declared to have {size_in_words(size)}; its {size_in_words(length)} in the "
                f"file cannot hold more than {size_in_words(most)}"
            )
        declared[str(name)] = (str(kind), shape, offset, length, bool(deflated), size)
        stored, total = stored + length, total + size
    if stored > len(data):
        raise ValueError("its tables overlap")
    if total > memory():
        raise ResultFileError(
            f"the file holds tables of {size_in_words(total)}, more than the {size_in_words(memory())} of memory here"
        )
    tables = {}
    for name, (kind, shape, offset, length, deflated, size) in declared.items():
        raw = bytes(data[offset : offset + length])
        if deflated:
            step = zlib.decompressobj()
            raw = step.decompress(raw, size + 1)
            if len(raw) != size:
                raise ValueError(f"table {name!r} is not of the size it is declared to have")
            raw = unshuffled(raw, np.dtype(KINDS[kind]).itemsize)
        tables[name] = array(raw, kind, shape)
    return tables


__all__ = ["Contents", "is_sealed", "read", "sealed", "write"]

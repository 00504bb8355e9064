"""Arrays as an HDF5 file, laid out here: a root group with attributes, and each array a dataset in one piece.

The HDF5 library ends the process where a disk is full or memory runs out while it closes a file. What is written here
are plain bytes, which any tool that knows HDF5 1.10 reads; h5py is not needed.

Source: HDF5 File Format Specification 3.0: II.A superblock (version 2), III.E global heap, IV.A.1.b object headers
(version 2) and IV.A.2 their messages.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.blocks import KINDS, kind_of
from bellcrank.result.unclosed import SIGNATURE, lookup3

UNDEFINED = 2**64 - 1
SUPERBLOCK = 48
LARGEST_PIECE = 2**32 - 1
"""Bytes of a compressed dataset, which the format limits; larger ones are stored as they are."""
_LINK_INFO, _GROUP_INFO, _LINK, _ATTRIBUTE = 0x02, 0x0A, 0x06, 0x0C
_SPACE, _TYPE, _FILL, _LAYOUT, _FILTERS = 0x01, 0x03, 0x05, 0x08, 0x0B
_TYPES = {
    # class and version, bits, size, properties
    "f8": struct.pack("<BBBBIHHBBBBI", 0x11, 0x20, 63, 0, 8, 0, 64, 52, 11, 0, 52, 1023),
    "i8": struct.pack("<BBBBIHH", 0x10, 8, 0, 0, 8, 0, 64),
    "i4": struct.pack("<BBBBIHH", 0x10, 8, 0, 0, 4, 0, 32),
    "u1": struct.pack("<BBBBIHH", 0x10, 0, 0, 0, 1, 0, 8),
    "b1": struct.pack("<BBBBIHH", 0x10, 0, 0, 0, 1, 0, 8),
}
_WORD = struct.pack("<BBBBIBBBBI", 0x19, 1, 1, 0, 16, 0x13, 0x10, 0, 0, 1)
"""A text of any length, in UTF-8."""


@dataclass(frozen=True, eq=False)
class Piece:
    """An array as it lies in a file: shuffled and deflated, or as it is. offset: From the begin of the file [bytes]."""

    kind: str
    shape: tuple[int, ...]
    data: bytes
    deflated: bool
    offset: int = 0


def piece(values: NDArray[Any]) -> Piece:
    """An array made ready for a file."""
    kind = kind_of(values)
    plain = np.ascontiguousarray(values, dtype=KINDS[kind])
    if 0 < plain.nbytes <= LARGEST_PIECE:
        data = zlib.compress(shuffled(plain), 1)
        if len(data) < plain.nbytes:
            return Piece(kind, np.shape(values), data, True)
    return Piece(kind, np.shape(values), plain.tobytes(), False)


def shuffled(values: NDArray[Any]) -> bytes:
    """The first bytes of all numbers, then the second ones, and so on: such runs deflate well."""
    return values.reshape(-1).view("u1").reshape(-1, values.dtype.itemsize).T.tobytes()


def unshuffled(data: bytes, width: int) -> bytes:
    """What :func:`shuffled` was given."""
    return np.frombuffer(data, "u1").reshape(width, -1).T.tobytes()


def hdf5(
    attributes: Mapping[str, str | int], pieces: Mapping[str, Piece]
) -> tuple[list[bytes], dict[str, Piece]]:
    """The file in parts, to be written one after the other, and its pieces with their places."""
    body = _Body()
    placed = {}
    for name, one in pieces.items():
        at = body.add(one.data) if one.data else UNDEFINED
        placed[name] = Piece(one.kind, one.shape, one.data, one.deflated, at if one.data else SUPERBLOCK)
    links = {name: body.add(_header(_dataset(one))) for name, one in placed.items()}
    words = [value.encode() for value in attributes.values() if isinstance(value, str)]
    heap = body.add(_heap(words))
    messages = [(_LINK_INFO, struct.pack("<BBQQ", 0, 0, UNDEFINED, UNDEFINED)), (_GROUP_INFO, bytes(2))]
    number = 0
    for name, value in attributes.items():
        if isinstance(value, str):
            number += 1
            kind, stored = _WORD, struct.pack("<IQI", len(value.encode()), heap, number)
        else:
            kind, stored = _TYPES["i8"], struct.pack("<q", value)
        space = struct.pack("<BBBB", 2, 0, 0, 0)
        title = name.encode() + b"\0"
        head = struct.pack("<BBHHHB", 3, 0, len(title), len(kind), len(space), 1)
        messages.append((_ATTRIBUTE, head + title + kind + space + stored))
    for name, at in links.items():
        title = name.encode()
        messages.append((_LINK, struct.pack("<BBB", 1, 0, len(title)) + title + struct.pack("<Q", at)))
    root = body.add(_header(messages))
    block = SIGNATURE + struct.pack("<BBBBQQQQ", 2, 8, 8, 0, 0, UNDEFINED, body.end, root)
    return [block + struct.pack("<I", lookup3(block)), *body.parts], placed


class _Body:
    """What follows the superblock; every part begins at a multiple of eight."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.end = SUPERBLOCK

    def add(self, data: bytes) -> int:
        at = self.end
        self.parts += [data, bytes(-len(data) % 8)]
        self.end += len(data) + len(self.parts[-1])
        return at


def _header(messages: list[tuple[int, bytes]]) -> bytes:
    """An object header of version 2 with its checksum."""
    body = b"".join(struct.pack("<BHB", kind, len(data), 0) + data for kind, data in messages)
    head = b"OHDR" + struct.pack("<BBI", 2, 0x02, len(body)) + body
    return head + struct.pack("<I", lookup3(head))


def _dataset(one: Piece) -> list[tuple[int, bytes]]:
    width = np.dtype(KINDS[one.kind]).itemsize
    space = struct.pack("<BBBB", 2, len(one.shape), 0, 1 if one.shape else 0)
    space += struct.pack(f"<{len(one.shape)}Q", *one.shape)
    messages = [(_SPACE, space), (_TYPE, _TYPES[one.kind]), (_FILL, struct.pack("<BB", 3, 0x0A))]
    if not one.deflated:
        at = one.offset if one.data else UNDEFINED
        return [*messages, (_LAYOUT, struct.pack("<BBQQ", 3, 1, at, len(one.data)))]
    cut = (*one.shape, width)
    # The library insists on the shortest length that takes all dimensions.
    length = (max(cut).bit_length() + 7) // 8
    layout = struct.pack("<BBBBB", 4, 2, 0x02, len(cut), length)
    layout += b"".join(n.to_bytes(length, "little") for n in cut)
    layout += struct.pack("<BQIQ", 1, len(one.data), 0, one.offset)
    filters = struct.pack("<BBHHHIHHHI", 2, 2, 2, 1, 1, width, 1, 1, 1, 1)
    return [*messages, (_FILTERS, filters), (_LAYOUT, layout)]


def _heap(words: list[bytes]) -> bytes:
    """A global heap that holds texts, numbered from one."""
    body = b""
    for number, word in enumerate(words, start=1):
        body += struct.pack("<HHIQ", number, 1, 0, len(word)) + word + bytes(-len(word) % 8)
    # The library reads no less than 4096 bytes of a heap; what is left is one free object.
    size = max(4096, 16 + len(body) + 16)
    body += struct.pack("<HHIQ", 0, 0, 0, size - 16 - len(body))
    return (b"GCOL" + struct.pack("<B3xQ", 1, size) + body).ljust(size, b"\0")


__all__ = ["Piece", "hdf5", "piece", "shuffled", "unshuffled"]

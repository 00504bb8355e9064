"""HDF5 files whose writer is at work or was killed, read as if they had been closed.

In single-writer mode what a file refers to is written before the reference, so its bytes are a whole file at any
time; only two notes in the superblock are stale, the mark of the writer and the end of the file. Both are put
right in a copy in memory. HDF5's own method, reading beside the writer, waits for minutes where a file is damaged.

Source: HDF5 File Format Specification 3.0, II.A (superblock, version 3) and its checksum, Bob Jenkins' lookup3.
"""

from __future__ import annotations

import struct

SIGNATURE = b"\x89HDF\r\n\x1a\n"
_FLAGS, _END, _SUM, _SIZE = 11, 28, 44, 48
_WRITING = 0b101
_MASK = 0xFFFFFFFF


def is_unclosed(head: bytes) -> bool:
    """Whether the first 48 bytes of a file carry the mark of a writer."""
    return (
        head.startswith(SIGNATURE) and len(head) >= _SIZE and head[8] == 3 and bool(head[_FLAGS] & _WRITING)
    )


def ends_early(data: bytes) -> bool:
    """Whether a file of Bellcrank is shorter than its superblock says; such files need no further look."""
    if len(data) < _SIZE:
        return True
    return (
        data[8] in (2, 3)
        and not is_unclosed(data[:_SIZE])
        and int.from_bytes(data[_END : _END + 8], "little") > len(data)
    )


def closed(data: bytes) -> bytes:
    """The bytes of a file, with the superblock a closed file would have."""
    block = bytearray(data[:_SUM])
    block[_FLAGS] = 0
    (stored,) = struct.unpack_from("<Q", block, _END)
    struct.pack_into("<Q", block, _END, max(stored, len(data)))
    return bytes(block) + struct.pack("<I", lookup3(bytes(block))) + data[_SIZE:]


def _turned(x: int, k: int) -> int:
    return ((x << k) | (x >> (32 - k))) & _MASK


def lookup3(data: bytes) -> int:
    """The checksum of metadata in HDF5 files: hashlittle() with start value 0."""
    a = b = c = (0xDEADBEEF + len(data)) & _MASK
    rest = data
    while len(rest) > 12:
        x, y, z = (int(n) for n in struct.unpack_from("<3I", rest))
        a, b, c = (a + x) & _MASK, (b + y) & _MASK, (c + z) & _MASK
        a, c = ((a - c) ^ _turned(c, 4)) & _MASK, (c + b) & _MASK
        b, a = ((b - a) ^ _turned(a, 6)) & _MASK, (a + c) & _MASK
        c, b = ((c - b) ^ _turned(b, 8)) & _MASK, (b + a) & _MASK
        a, c = ((a - c) ^ _turned(c, 16)) & _MASK, (c + b) & _MASK
        b, a = ((b - a) ^ _turned(a, 19)) & _MASK, (a + c) & _MASK
        c, b = ((c - b) ^ _turned(b, 4)) & _MASK, (b + a) & _MASK
        rest = rest[12:]
    if not rest:
        return c
    x, y, z = (int(n) for n in struct.unpack("<3I", rest.ljust(12, b"\0")))
    a, b, c = (a + x) & _MASK, (b + y) & _MASK, (c + z) & _MASK
    c = ((c ^ b) - _turned(b, 14)) & _MASK
    a = ((a ^ c) - _turned(c, 11)) & _MASK
    b = ((b ^ a) - _turned(a, 25)) & _MASK
    c = ((c ^ b) - _turned(b, 16)) & _MASK
    a = ((a ^ c) - _turned(c, 4)) & _MASK
    b = ((b ^ a) - _turned(a, 14)) & _MASK
    return ((c ^ b) - _turned(b, 24)) & _MASK

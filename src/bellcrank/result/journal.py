"""The file of a run that is going on: blocks that are only ever added, and two slots that take turns with checkpoints.

Every block has a checksum, and the head of every block one of its own. A reader, also one that comes after a crash,
takes all blocks up to the first that is not whole. A checkpoint is written over the one before the last, so that the
file does not grow with their number; where it does not fit, larger slots are added. All writing is plain bytes at known
places: where it fails, the file is cut back to its last whole block and the writer may try again.
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from os import PathLike
from pathlib import Path

from bellcrank.base.whole_files import NewFile, failed, write_all
from bellcrank.errors import ResultFileError

MAGIC = b"bellcrank run  1"
HEADER, ROWS, SLOTS = b"HEAD", b"ROWS", b"SLOT"
_BLOCK = struct.Struct("<4sQI")
_SLOT = struct.Struct("<QQI")
ROOM = 2
"""Size of new slots against the checkpoint that did not fit: then all slots that were ever added take no more than
four times the size of the last checkpoint and its twin."""


class Journal:
    """Writes the file of a run; it takes its place when its head is on the disk.

    rows, checkpoint: What an earlier part of the run left.
    """

    def __init__(
        self, path: str | PathLike[str], header: bytes, rows: bytes = b"", checkpoint: bytes = b""
    ) -> None:
        self._file = NewFile(path)
        self.path = Path(path)
        self._slot = self._room = self._number = 0
        try:
            self._file.write(MAGIC)
            self._end = len(MAGIC)
            self._add(HEADER, header)
            if rows:
                self.add(rows)
            if checkpoint:
                self.checkpoint(checkpoint)
            self._file.appear()
        except BaseException:
            self._file.close()
            raise

    def add(self, rows: bytes) -> None:
        """Add a block of rows."""
        self._add(ROWS, rows)

    def _add(self, kind: bytes, payload: bytes, sealed: bool = True) -> int:
        """Add a block and return the place of its payload."""
        head = _BLOCK.pack(kind, len(payload), zlib.crc32(payload) if sealed else 0)
        head += struct.pack("<I", zlib.crc32(head))
        self._put(self._end, head + payload)
        at = self._end + len(head)
        self._end = at + len(payload)
        return at

    def checkpoint(self, payload: bytes) -> None:
        """Keep a checkpoint in place of the one before the last."""
        number = self._number + 1
        head = struct.pack("<QQ", number, len(payload))
        data = head + struct.pack("<I", zlib.crc32(payload, zlib.crc32(head))) + payload
        if len(data) > self._room:
            room = ROOM * len(data)
            self._slot, self._room = self._add(SLOTS, bytes(2 * room), sealed=False), room
        self._put(self._slot + number % 2 * self._room, data)
        # Only now: a slot that was torn is written again before its twin.
        self._number = number

    def _put(self, at: int, data: bytes) -> None:
        handle = self._file.handle
        try:
            os.lseek(handle, at, os.SEEK_SET)
            write_all(handle, data)
            # What a checkpoint builds on must be on the disk before it.
            os.fsync(handle)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(handle, self._end)
            raise failed(self.path, error) from error

    def close(self) -> None:
        """Release the file."""
        self._file.close()


def is_journal(data: bytes) -> bool:
    """Whether the bytes of a file are those of a run that is going on, or was killed."""
    return data.startswith(MAGIC)


def read(data: bytes) -> tuple[bytes, list[bytes], list[bytes]]:
    """Header, blocks of rows, and checkpoints from the newest to the oldest, as far as the file is whole."""
    at = len(MAGIC)
    header: bytes | None = None
    rows: list[bytes] = []
    checkpoints: dict[int, bytes] = {}
    head = _BLOCK.size + 4
    while at + head <= len(data):
        kind, length, checksum = _BLOCK.unpack_from(data, at)
        (own,) = struct.unpack_from("<I", data, at + _BLOCK.size)
        begin = at + head
        if zlib.crc32(data[at : at + _BLOCK.size]) != own or length > len(data) - begin:
            break
        payload = data[begin : begin + length]
        if kind == SLOTS:
            checkpoints |= _in_slots(payload)
        elif zlib.crc32(payload) != checksum:
            break
        elif kind == HEADER and header is None:
            header = payload
        elif kind == ROWS and header is not None:
            rows.append(payload)
        else:
            break
        at = begin + length
    if header is None:
        raise ResultFileError("the file is damaged (the head of its run cannot be read)")
    return header, rows, [checkpoints[number] for number in sorted(checkpoints, reverse=True)]


def _in_slots(region: bytes) -> dict[int, bytes]:
    """The whole checkpoints of two slots, by number."""
    found = {}
    for slot in (region[: len(region) // 2], region[len(region) // 2 :]):
        if len(slot) < _SLOT.size:
            continue
        number, length, checksum = _SLOT.unpack_from(slot)
        payload = slot[_SLOT.size : _SLOT.size + length]
        if number and len(payload) == length and zlib.crc32(payload, zlib.crc32(slot[:16])) == checksum:
            found[number] = payload
    return found


__all__ = ["Journal", "is_journal", "read"]

"""What a shared library is for and what it gives to others, read from its bytes."""

from __future__ import annotations

import struct
from dataclasses import dataclass


@dataclass(frozen=True)
class Library:
    """kind: elf, mach-o or pe. processor: The number of the processor in that format. names: What it exports."""

    kind: str
    processor: int
    names: frozenset[str]


def read(data: bytes) -> Library:
    """A library of 64 bits with the least byte first."""
    if data[:6] == b"\x7fELF\x02\x01":
        return _elf(data)
    if data[:4] == b"\xcf\xfa\xed\xfe":
        return _mach(data)
    assert data[:2] == b"MZ", data[:8].hex()
    return _pe(data)


def text_at(data: bytes, at: int) -> str:
    """A text that ends with a zero."""
    return data[at : data.index(b"\0", at)].decode()


def _elf(data: bytes) -> Library:
    kind, processor = struct.unpack_from("<HH", data, 16)
    assert kind == 3, "a shared object"
    sections, size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
    heads = [struct.unpack_from("<IIQQQQIIQQ", data, sections + size * k) for k in range(count)]
    names = set()
    for head in heads:
        if head[1] == 11:  # symbols for the dynamic linker
            texts = heads[head[6]][4]
            for at in range(head[4], head[4] + head[5], 24):
                name, info, _, section = struct.unpack_from("<IBBH", data, at)
                if section and info & 15 == 2:
                    names.add(text_at(data, texts + name))
    return Library("elf", processor, frozenset(names))


def _mach(data: bytes) -> Library:
    processor, _, kind, commands = struct.unpack_from("<IIII", data, 4)
    assert kind == 6, "a dynamic library"
    names, at = set(), 32
    for _ in range(commands):
        command, size = struct.unpack_from("<II", data, at)
        if command == 2:  # the table of symbols
            symbols, count, texts = struct.unpack_from("<III", data, at + 8)
            for k in range(count):
                name, flags = struct.unpack_from("<IB", data, symbols + 16 * k)
                # Defined in a section, seen from outside, and not kept private.
                if flags & 0x0E == 0x0E and flags & 1 and not flags & 0x10:
                    names.add(text_at(data, texts + name).removeprefix("_"))
        at += size
    return Library("mach-o", processor, frozenset(names))


def _pe(data: bytes) -> Library:
    start = struct.unpack_from("<I", data, 60)[0]
    assert data[start : start + 4] == b"PE\0\0"
    processor, sections = struct.unpack_from("<HH", data, start + 4)
    optional, flags = struct.unpack_from("<HH", data, start + 20)
    assert flags & 0x2000, "a dynamic library"
    heads = start + 24 + optional
    placed = [struct.unpack_from("<IIII", data, heads + 40 * k + 8) for k in range(sections)]

    def at(address: int) -> int:
        for size, begin, stored, offset in placed:
            if begin <= address < begin + max(size, stored):
                return address - begin + offset
        raise AssertionError(f"no section holds {address:x}")

    exports = at(struct.unpack_from("<I", data, start + 24 + 112)[0])
    count, _, table = struct.unpack_from("<III", data, exports + 24)
    rows = struct.unpack_from(f"<{count}I", data, at(table))
    return Library("pe", processor, frozenset(text_at(data, at(row)) for row in rows))

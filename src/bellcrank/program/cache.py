"""Machine code kept on disk between runs.

One file an entry: a magic line, the entry's own key, length and checksum of the code, the code. What does
not fit in every point is ignored and written anew. Files appear by renaming, so that processes sharing the
folder see whole entries or none. Nothing here raises for a bad disk: without a usable folder, programs are
compiled each time.

Code from the folder is executed, so a folder or file that belongs to someone else, or that others
may write to, is never used. The checksum guards against accidents, the ownership against malice.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

FORMAT = "1"
"""Version of the entries and of the calling convention of kernels."""
LARGEST_TOTAL = 256 * 1024 * 1024
"""Size [bytes] above which the entries unused for the longest time are removed."""
BETWEEN = 16
"""Part of that size that a process stores between two looks at the whole folder, which take long in a full one."""

_MAGIC = b"bellcrank kernel " + FORMAT.encode() + b"\n"
_HEADER = len(_MAGIC) + 32 + 8 + 32
_SUFFIX = ".kernel"
_ABANDONED = 3600.0
_stored: int | None = None
"""Bytes that this process has stored since it last looked at the whole folder; None before the first look."""


def key(*parts: str) -> str:
    """The name of an entry: a hash of everything its code depends on."""
    digest = hashlib.sha256(FORMAT.encode())
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def folder() -> Path | None:
    """The folder in use: BELLCRANK_CACHE ("off" for none), or the platform's place for caches."""
    chosen = os.environ.get("BELLCRANK_CACHE", "")
    if chosen.lower() == "off":
        return None
    if chosen:
        return Path(chosen).expanduser()
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        named = Path(os.environ.get("XDG_CACHE_HOME", ""))
        base = named if named.is_absolute() else home / ".cache"
    return base / "bellcrank" / "kernels"


def load(key: str) -> bytes | None:
    """The code stored under `key`; None if there is none that can be trusted."""
    place = _usable(create=False)
    if place is None:
        return None
    path = place / (key + _SUFFIX)
    # Without O_NONBLOCK the opening of a pipe would wait for a writer.
    flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, os.O_RDONLY | flags)
    except OSError:
        return None
    try:
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(file.fileno())
            if not _ours(found, stat.S_ISREG) or found.st_size > LARGEST_TOTAL:
                return None
            data = file.read()
    except OSError:
        return None
    code = _unpacked(key, data)
    if code is not None:
        with contextlib.suppress(OSError):
            os.utime(path)
    return code


def store(key: str, code: bytes) -> bool:
    """Keep `code` under `key`; False where that is not possible."""
    global _stored
    place = _usable(create=True)
    if place is None:
        return False
    try:
        handle, temporary = tempfile.mkstemp(prefix=".writing-", dir=place)
    except OSError:
        return False
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_packed(key, code))
        os.replace(temporary, place / (key + _SUFFIX))
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        return False
    _stored = None if _stored is None else _stored + len(code)
    if _stored is None or _stored > LARGEST_TOTAL // BETWEEN:
        _evict(place)
        _stored = 0
    return True


def clear() -> None:
    """Remove all entries."""
    place = _usable(create=False)
    if place is not None:
        for path in place.glob("*" + _SUFFIX):
            with contextlib.suppress(OSError):
                path.unlink()


def remove(key: str) -> None:
    """Remove an entry."""
    place = _usable(create=False)
    if place is not None:
        with contextlib.suppress(OSError):
            os.unlink(place / (key + _SUFFIX))


def total() -> tuple[int, int]:
    """How many entries there are, and their size [bytes]."""
    place = _usable(create=False)
    sizes = []
    for path in place.glob("*" + _SUFFIX) if place is not None else ():
        with contextlib.suppress(OSError):
            sizes.append(path.stat().st_size)
    return len(sizes), sum(sizes)


def _packed(key: str, code: bytes) -> bytes:
    checksum = hashlib.sha256(code).digest()
    return b"".join([_MAGIC, bytes.fromhex(key), len(code).to_bytes(8, "little"), checksum, code])


def _unpacked(key: str, data: bytes) -> bytes | None:
    at = len(_MAGIC)
    if len(data) <= _HEADER or data[:at] != _MAGIC or data[at : at + 32] != bytes.fromhex(key):
        return None
    length = int.from_bytes(data[at + 32 : at + 40], "little")
    code = data[_HEADER:]
    if len(code) != length or hashlib.sha256(code).digest() != data[at + 40 : _HEADER]:
        return None
    return code


def _usable(create: bool) -> Path | None:
    place = folder()
    if place is None:
        return None
    try:
        if create:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.mkdir(mode=0o700, exist_ok=True)
        status = os.stat(place)
    except OSError:
        return None
    return place if _ours(status, stat.S_ISDIR) else None


def _ours(status: os.stat_result, kind: Callable[[int], bool]) -> bool:
    """Whether this is of the right `kind`, belongs to this user, and nobody else may write to it."""
    if not kind(status.st_mode):
        return False
    if sys.platform == "win32":  # access lists there; the profile folder is the user's own
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _evict(place: Path) -> None:
    """Remove the oldest entries above the size limit, and what interrupted writers left."""
    entries: list[tuple[float, int, str]] = []
    try:
        with os.scandir(place) as found:
            for entry in found:
                status = entry.stat(follow_symlinks=False)
                if entry.name.endswith(_SUFFIX):
                    entries.append((status.st_mtime, status.st_size, entry.path))
                elif entry.name.startswith(".writing-") and time.time() - status.st_mtime > _ABANDONED:
                    os.unlink(entry.path)
    except OSError:
        return
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= LARGEST_TOTAL:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)
        total -= size

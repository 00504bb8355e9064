"""How much memory there is, and refusing what does not fit before it is asked for."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

_CONTAINER = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
UNKNOWN = 4 * 2**30
"""Memory [bytes] assumed where the operating system does not report it."""


def memory() -> int:
    """Memory this process may use at most [bytes]: of the machine, its container and its own limits."""
    limits = [_of_the_machine()]
    for file in _CONTAINER:
        try:
            limits.append(int(file.read_text()))
        except (OSError, ValueError):
            continue
    try:
        import resource

        kinds = (resource.RLIMIT_AS, resource.RLIMIT_DATA)
        limits += [soft for soft, _ in map(resource.getrlimit, kinds) if soft != resource.RLIM_INFINITY]
    except ImportError:
        pass
    return min(limits)


def _of_the_machine() -> int:
    if sys.platform == "win32":
        # MEMORYSTATUSEX: its length and the load in percent, then seven sizes, of which the first is the whole memory.
        words = (ctypes.c_uint64 * 8)()
        words[0] = ctypes.sizeof(words)
        known = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(words))
        return int(words[1]) if known else UNKNOWN
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return UNKNOWN


def size_in_words(count: float) -> str:
    """A number of bytes for people: 9.5 GB."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if count < 1000 or unit == "TB":
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.3g} {unit}"
        count /= 1000
    raise AssertionError


__all__ = ["memory", "size_in_words"]

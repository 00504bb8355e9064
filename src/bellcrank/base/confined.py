"""Work on a stranger's file in a process of its own, with limits on memory and time.

For libraries that take a file for sound: on damaged bytes they may loop, ask for any amount of memory, or end their
process.
"""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

_CHILD = "import sys; sys.path[:] = {path!r}; from bellcrank.base.confined import child; child({function!r}, {memory})"
REFUSED = 3
"""Exit status of a child that says why."""


class RefusedError(Exception):
    """The child found something wrong with what it was given; the text says what."""


class EndedError(Exception):
    """The child did not come to an end within its limits; the text says how it ended."""


def confined(function: str, data: bytes, seconds: float, memory: int) -> bytes:
    """What ``module:function`` makes of some bytes.

    seconds: Time it has [s]. memory: What it may ask for, beyond what its modules take [bytes].
    """
    code = _CHILD.format(path=[p for p in sys.path if p], function=function, memory=memory)
    try:
        ended = subprocess.run(
            [sys.executable, "-P", "-c", code], input=data, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise EndedError(f"it was not read in {seconds:.0f} s") from error
    except OSError as error:
        raise EndedError(f"no process could be started to read it: {error}") from error
    if ended.returncode == 0:
        return ended.stdout
    lines = ended.stderr.decode(errors="replace").strip().splitlines()
    if ended.returncode == REFUSED and lines:
        raise RefusedError(lines[-1])
    raise EndedError(f"its reader ended with status {ended.returncode}")


def child(function: str, memory: int) -> None:
    """Hand the standard input to a function and write what it gives to the standard output."""
    module, _, name = function.partition(":")
    work = getattr(import_module(module), name)
    _limit(memory)
    out = sys.stdout.buffer
    # What a library prints is no part of the answer.
    sys.stdout = sys.stderr
    try:
        made: bytes = work(sys.stdin.buffer.read())
    except (SystemExit, Exception) as error:
        # Whatever a library makes of damaged bytes.
        sys.stderr.write("\n" + (" ".join(str(error).split()) or type(error).__name__) + "\n")
        sys.exit(REFUSED)
    out.write(made)
    out.flush()


def _limit(memory: int) -> None:
    try:
        import resource
    except ImportError:
        return
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        # Without knowing what is taken already, a limit could lie below it: the time is bounded all the same.
        return
    taken = pages * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    size = taken + memory if hard == resource.RLIM_INFINITY else min(taken + memory, hard)
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


__all__ = ["EndedError", "RefusedError", "confined"]

"""C compilers for the binaries of FMUs: that of the system (``CC``, ``CFLAGS``) for this platform, zig for all."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bellcrank.base.optional import needed
from bellcrank.errors import BellcrankError, ModelError, unknown_name

LONGEST = 1800.0
"""Seconds after which a compiler is taken to hang; the largest car takes a few minutes."""


class CompilerError(BellcrankError):
    """A compiler failed."""


@dataclass(frozen=True)
class Platform:
    """A platform: its folders in FMI 2.0 and 3.0 (empty where there is none), zig's name of it, suffix of libraries."""

    fmi2: str
    fmi3: str
    zig: str
    suffix: str


PLATFORMS = {
    "linux": Platform("linux64", "x86_64-linux", "x86_64-linux-gnu.2.17", ".so"),
    "linux-arm": Platform("", "aarch64-linux", "aarch64-linux-gnu.2.17", ".so"),
    "windows": Platform("win64", "x86_64-windows", "x86_64-windows-gnu", ".dll"),
    "macos": Platform("", "aarch64-darwin", "aarch64-macos", ".dylib"),
    "macos-intel": Platform("darwin64", "x86_64-darwin", "x86_64-macos", ".dylib"),
}


def this_platform() -> str:
    """The name of the platform this runs on."""
    arm = platform.machine().lower() in ("arm64", "aarch64")
    if sys.platform == "win32":
        return "windows"
    if sys.platform == "darwin":
        return "macos" if arm else "macos-intel"
    return "linux-arm" if arm else "linux"


def check_platforms(names: Sequence[str], version: str) -> list[str]:
    """The platforms asked for, ``this`` among them by its name; raises where one is not known."""
    found = []
    for name in names:
        name = this_platform() if name == "this" else name
        if name not in PLATFORMS:
            raise unknown_name("platform", name, ("this", *PLATFORMS))
        if version == "2.0" and not PLATFORMS[name].fmi2:
            raise ModelError(f"FMI 2.0 knows no folder for {name!r}; use version='3.0'")
        found.append(name)
    return found


def build(folder: Path, name: str, library: Path) -> None:
    """Compile ``all.c`` in `folder` into a shared library for the platform `name`."""
    target = PLATFORMS[name]
    wanted = os.environ.get("CFLAGS", "").split()
    shared = ["-shared", "-O2", "-std=c99", "-ffp-contract=off", *wanted, "-o", str(library), "all.c"]
    own = name == this_platform()
    if own and name != "windows" and (compiler := os.environ.get("CC") or shutil.which("cc")):
        _run([*compiler.split(), "-fPIC", "-fvisibility=hidden", *shared, "-lm"], folder)
        return
    needed("ziglang", f"without a C compiler, a binary for {name!r}", "ziglang", "fmu")
    flags = [] if target.suffix == ".dll" else ["-fPIC", "-fvisibility=hidden"]
    _run([sys.executable, "-m", "ziglang", "cc", "-target", target.zig, "-s", *flags, *shared], folder)


def _run(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=LONGEST, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CompilerError(f"the C compiler did not run: {error}") from error
    if done.returncode:
        raise CompilerError(f"the C compiler failed: {done.stderr.strip()[-2000:]}")

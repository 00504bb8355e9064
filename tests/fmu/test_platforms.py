"""Binaries for other platforms: what they are for, and that they give out the functions of the interface and no other.

Windows takes zig a minute and a half the first time, in which it builds the libraries of that system: where
BELLCRANK_PLATFORMS=all is set (``make platforms``), and where zig has done so before.
"""

from __future__ import annotations

import os
import re
from importlib.resources import files
from pathlib import Path
from zipfile import ZipFile

import pytest

from bellcrank.fmu.compilers import PLATFORMS
from bellcrank.model import System
from fmu.binaries import read

pytest.importorskip("ziglang", reason="ziglang, of the extra fmu, makes binaries for other platforms")
KINDS = {
    "linux": ("elf", 62),
    "linux-arm": ("elf", 183),
    "windows": ("pe", 0x8664),
    "macos": ("mach-o", 0x0100000C),
    "macos-intel": ("mach-o", 0x01000007),
}
"""Format, and processor by its number there: x86-64 or ARM with 64 bits."""
LINKERS = {"__dso_handle", "_mh_dylib_header"}
"""What every library of macOS has from its linker."""
CACHE = Path(os.environ.get("ZIG_GLOBAL_CACHE_DIR", Path.home() / ".cache" / "zig"))


def targets() -> list[str]:
    """One of each format; all where they are asked for."""
    if os.environ.get("BELLCRANK_PLATFORMS") == "all":
        return list(KINDS)
    return ["linux-arm", "macos"] + ["windows"] * any(CACHE.glob("o/*/mingw_vsprintf.obj"))


def declared(version: str) -> set[str]:
    """The functions that a header of the interface declares."""
    text = (files("bellcrank.fmu") / "sources" / f"{version}Functions.h").read_text()
    return {version + name for name in re.findall(rf"{version}(\w+)TYPE\s*{version}\1\s*;", text)}


def test_they_are_what_they_are_for(tmp_path: Path) -> None:
    system = System("pendulum", gravity=(0.0, 0.0, -9.81))
    body = system.body("bob", 1.0, (0.1, 0.1, 0.1), at=(0.0, 0.0, -1.0))
    system.revolute("pin", system.ground, body, at=(0.0, 0.0, 0.0), axis="y")
    names = targets()
    path = system.mechanism().export_fmu(tmp_path / "pendulum.fmu", version="3.0", platforms=names)
    wanted = declared("fmi3")
    assert len(wanted) > 60
    with ZipFile(path) as archive:
        for name in names:
            platform = PLATFORMS[name]
            found = read(archive.read(f"binaries/{platform.fmi3}/pendulum{platform.suffix}"))
            assert (found.kind, found.processor) == KINDS[name]
            assert wanted <= found.names
            # Two FMUs in one program must not take each other's functions.
            assert not {other for other in found.names - LINKERS if not other.startswith("fmi3")}, name

"""``bellcrank doctor``: what is installed here, what is missing and how to get it, and a small self-test."""

from __future__ import annotations

import math
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.util import find_spec

import typer

from bellcrank.cli.output import Json, Table, show, show_json

DEVELOPMENT = ("test", "docs", "bench")
"""Extras of those who work on the package itself."""
PATIENCE = 60.0
"""Seconds after which a picture that is not there is given up; one takes a second or two."""
EXTRAS = {
    "view": "plots, the viewer, the page of a drive",
    "picture": "pictures and films",
    "plotly": "curves to zoom into",
    "elastic": "finite elements, elastic contact, solid members",
    "mesh": "mesh files in OBJ, PLY, OFF and as text STL",
    "cad": "STEP files",
    "frames": "tables of pandas and xarray",
    "gpu": "batches on a graphics processor",
    "study": "study files, stores, sensitivity, clusters",
    "casadi": "export as CasADi functions",
    "control": "linear systems of python-control",
    "gym": "environments of gymnasium",
    "fmu": "FMUs for other platforms, FMUs as controllers",
}
"""What the extras of a user are for."""
_MISSING = "missing"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. ok: None where it is optional and missing. advice: How to get or mend it."""

    what: str
    found: str
    ok: bool | None = True
    advice: str = ""


def doctor(as_json: Json = False) -> None:
    """Print what is installed here, what is missing and how to get it; compile and run a small model.

    The exit status is 1 where something that every user needs is missing or the self-test fails. Extras may be missing.

    \b
    Examples:
      bellcrank doctor
      bellcrank doctor --json
    """
    parts = {"this machine": list(_machine()), "packages": list(_packages()), "extras": list(_extras())}
    if all(finding.ok for finding in parts["packages"]):
        parts["for some tasks"] = [_cache(), _compiler(), _gpu(), _browser(), _drawing()]
        parts["self-test"] = list(_self_test())
    failed = [f for findings in parts.values() for f in findings if f.ok is False]
    if as_json:
        listed = {title: [asdict(f) for f in findings] for title, findings in parts.items()}
        show_json({"ok": not failed, **{title.replace(" ", "_"): found for title, found in listed.items()}})
    else:
        tables = [
            Table(title, ("", "", ""), [(f.what, f.found, _state(f)) for f in findings], words=3)
            for title, findings in parts.items()
        ]
        last = "all is well" if not failed else "to be mended: " + ", ".join(f.what for f in failed)
        show(*tables, last)
    if failed:
        raise typer.Exit(1)


def _state(finding: Finding) -> str:
    if finding.ok is False and not finding.advice:
        return "NOT OK"
    return finding.advice or ("ok" if finding.ok else "")


def _machine() -> Iterator[Finding]:
    from bellcrank.base.memory import memory, size_in_words
    from bellcrank.base.version import __version__
    from bellcrank.program import jit

    yield Finding("bellcrank", __version__)
    enough = sys.version_info >= (3, 11)
    advice = "" if enough else "Bellcrank needs Python 3.11 or newer"
    yield Finding("Python", f"{platform.python_version()} ({sys.executable})", enough, advice)
    yield Finding("platform", platform.platform())
    try:
        processor = f"{jit.cpu()}, {platform.machine()}, {os.cpu_count() or 1} cores"
    except ImportError:
        processor = f"{platform.machine()}, {os.cpu_count() or 1} cores"
    yield Finding("processor", processor)
    yield Finding("memory", size_in_words(memory()))


def _packages() -> Iterator[Finding]:
    for requirement in requirements():
        if requirement.extra:
            continue
        found = requirement.found()
        advice = "" if found and requirement.met(found) else f"pip install {requirement.quoted}"
        yield Finding(requirement.name, found or _MISSING, not advice, advice)


def _extras() -> Iterator[Finding]:
    brought: dict[str, list[Requirement]] = {}
    for requirement in requirements():
        if requirement.extra and requirement.extra not in DEVELOPMENT:
            brought.setdefault(requirement.extra, []).append(requirement)
    for extra, packages in brought.items():
        versions = {r.name: r.found() for r in packages}
        there = all(v and r.met(v) for r, v in zip(packages, versions.values(), strict=True))
        words = ", ".join(f"{name} {version or _MISSING}" for name, version in versions.items())
        what = EXTRAS.get(extra, "")
        advice = "" if there else f"{what}: pip install 'bellcrank[{extra}]'".removeprefix(": ")
        yield Finding(extra, words, there or None, advice)


@dataclass(frozen=True)
class Requirement:
    """A package that this one asks for, with the least version of it; `extra` is empty where everybody needs it."""

    name: str
    least: str
    extra: str

    @property
    def quoted(self) -> str:
        """For the shell."""
        return f"'{self.name}>={self.least}'" if self.least else self.name

    def found(self) -> str | None:
        """The version that is installed."""
        try:
            return metadata.version(self.name)
        except metadata.PackageNotFoundError:
            return None

    def met(self, version: str) -> bool:
        """Whether a version is new enough."""
        return _numbers(version) >= _numbers(self.least)


def requirements() -> Iterator[Requirement]:
    """What the metadata of the installed package say; see PEP 508."""
    for line in metadata.requires("bellcrank") or ():
        wanted, _, marker = line.partition(";")
        name = re.match(r"[\w.-]+", wanted)
        least = re.search(r">=\s*([\d.]+)", wanted)
        extra = re.search(r"""extra\s*==\s*["']([\w-]+)["']""", marker)
        if name and name[0] != "bellcrank":
            yield Requirement(name[0], least[1] if least else "", extra[1] if extra else "")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", version.partition("+")[0])[:3])


def _cache() -> Finding:
    from bellcrank.base.memory import size_in_words
    from bellcrank.program import cache

    folder = cache.folder()
    if folder is None:
        return Finding("machine code on disk", "off: every program is compiled each time", None)
    entries, size = cache.total()
    found = f"{folder}: {entries} entries, {size_in_words(size)}"
    probe = cache.key("doctor", str(os.getpid()), str(time.time_ns()))
    writable = cache.store(probe, b"a probe") and cache.load(probe) == b"a probe"
    cache.remove(probe)
    advice = (
        ""
        if writable
        else "cannot be used, so that every program is compiled each time; the folder must be yours alone, or name "
        "another: BELLCRANK_CACHE=FOLDER"
    )
    return Finding("machine code on disk", found, True if writable else None, advice)


def _compiler() -> Finding:
    own = os.environ.get("CC") or shutil.which("cc")
    found = [f"{own}"] if own and sys.platform != "win32" else []
    if find_spec("ziglang") is not None:
        found.append("zig, for all platforms")
    advice = "" if found else "binaries of FMUs: pip install 'bellcrank[fmu]' brings zig"
    return Finding("C compiler", ", ".join(found) or _MISSING, bool(found) or None, advice)


def _gpu() -> Finding:
    from bellcrank.program.gpu import GpuUnavailable, device

    try:
        return Finding("graphics processor", device().name)
    except GpuUnavailable as error:
        reasons = str(error).partition(": ")[2].partition(". ")[0]
        return Finding("graphics processor", _MISSING, None, reasons)


def _browser() -> Finding:
    import webbrowser

    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return Finding(
            "browser", _MISSING, None, "open the address of the viewer in one, or write a page: --html"
        )
    return Finding("browser", str(getattr(found, "name", type(found).__name__)))


def _drawing() -> Finding:
    """Whether pictures can be drawn here; tried in a process of its own, which a missing library may end."""
    if find_spec("vtkmodules") is None or find_spec("PIL") is None:
        return Finding("pictures", _MISSING, None, "pip install 'bellcrank[picture]'")
    code = (
        "import vtkmodules.vtkRenderingOpenGL2\n"
        "from vtkmodules.vtkRenderingCore import vtkRenderWindow, vtkRenderer\n"
        "window = vtkRenderWindow(); window.SetOffScreenRendering(1); window.AddRenderer(vtkRenderer())\n"
        "window.Render(); print(window.GetClassName())"
    )
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("pictures", _MISSING, None, f"VTK does not answer: {error}")
    if done.returncode or not done.stdout.strip():
        advice = "VTK finds nothing to draw with; on Debian: apt install libegl1 libgl1"
        return Finding("pictures", _MISSING, None, advice)
    way = done.stdout.split()[-1].removeprefix("vtk").removesuffix("RenderWindow")
    return Finding("pictures", f"VTK by {way}")


def _self_test() -> Iterator[Finding]:
    """A pendulum released at rest from a right angle: after a quarter of its period it hangs straight down."""
    from scipy.special import ellipk

    from bellcrank.model import System

    length, gravity = 1.0, 9.81
    quarter = math.sqrt(length / gravity) * float(ellipk(math.sin(math.pi / 4) ** 2))
    begun = time.perf_counter()
    try:
        system = System("pendulum of the self-test", gravity=(0.0, -gravity, 0.0))
        bob = system.body("bob", mass=1.0, inertia=(0.0, 0.0, 0.0), at=(length, 0.0, 0.0))
        system.revolute("pin", system.ground, bob, at=(0.0, 0.0, 0.0), axis="z")
        run = system.simulate(quarter, output=2, tolerance=1e-10)
        angle, rate = float(run["pin.angle"][-1]), float(run["pin.angle_rate"][-1])
    except Exception as error:
        yield Finding("compile and run a pendulum", f"{type(error).__name__}: {error}", False)
        return
    seconds = time.perf_counter() - begun
    yield Finding("compile and run a pendulum", f"{seconds:.2g} s")
    lowest, fastest = -math.pi / 2, -math.sqrt(2.0 * gravity / length)
    for what, value, exact in (
        ("angle after a quarter of the period", angle, lowest),
        ("rate there, by the energy", rate, fastest),
    ):
        wrong = abs(value / exact - 1.0)
        # A hundred times the tolerance of the run, which is that of one step.
        yield Finding(what, f"{value:.10g}, exact {exact:.10g}", wrong < 1e-8)


__all__ = ["DEVELOPMENT", "EXTRAS", "doctor", "requirements"]

"""Every command where only the bare package is installed: it works, or names the extra that it needs.

``python tests/bare.py`` runs in an environment with the wheel alone (``make bare``). With ``--block``, packages of all
extras are hidden first, so that the same can be seen where they are installed.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

WORKS = ""
SLOW = "drive --headless --fast --duration 0.02"
"""Compiles a car; left out where packages are hidden, since the tests of the commands do it too."""
STUDY = """study: 1
model: pendulum.yaml
duration: 0.1
variables: {friction: {kind: uniform, low: 0.0, high: 0.1}}
design: {kind: grid, levels: 2}
measures: {speed: max of pivot.angle_rate}
minimise: speed
"""
URDF = '<robot name="r"><link name="base"/></robot>'
COMMANDS: tuple[tuple[str, str], ...] = (
    ("--help", WORKS),
    ("--version", WORKS),
    ("examples", WORKS),
    ("examples show pendulum", WORKS),
    ("examples copy pendulum", WORKS),
    ("schema", WORKS),
    ("schema elastic", WORKS),
    ("check pendulum --picture graph.svg", WORKS),
    ("count pendulum", WORKS),
    ("run pendulum.yaml -d 0.1 --outputs 10 --out run.h5", WORKS),
    ("run pendulum.yaml -d 0.1 --outputs 10 --out run.csv", WORKS),
    ("run flexible_slider_crank -d 1e-4 --outputs 4", WORKS),
    ("run elastic_sphere_on_wall", "elastic"),
    ("equilibrium pendulum", WORKS),
    ("linearize pendulum --at equilibrium", WORKS),
    ("quantities run.h5", WORKS),
    ("plot run.h5", "view"),
    ("plot run.h5 --json", WORKS),
    ("report run.h5 --out report.html", WORKS),
    ("view run.h5 --html run.html", WORKS),
    ("view run.h5 --no-browser", "view"),
    ("convert run.h5 model.yaml", WORKS),
    ("convert robot.urdf robot.yaml", WORKS),
    ("convert pendulum.yaml pendulum.c", WORKS),
    ("convert pendulum.yaml pendulum.fmu", WORKS),
    ("convert pendulum.yaml other.fmu --platform windows", "fmu"),
    ("verify slider-crank", WORKS),
    ("verify --list", WORKS),
    ("sweep two.study --out runs", "study"),
    ("optimise two.study --out points", "study"),
    (SLOW, WORKS),
    ("drive --no-browser --duration 0.1", "view"),
    ("cad part.step", "cad"),
    ("doctor", WORKS),
)


def named(line: str) -> str:
    """The name of a package in a requirement."""
    found = re.match(r"[\w.-]+", line)
    assert found is not None
    return re.sub(r"[._-]+", "-", found[0]).lower()


def needed(package: str, known: set[str]) -> None:
    """Add a package and all that it needs, without its extras."""
    if package in known:
        return
    known.add(package)
    with contextlib.suppress(metadata.PackageNotFoundError):
        for line in metadata.requires(package) or ():
            if "extra ==" not in line:
                needed(named(line), known)


def optional() -> set[str]:
    """The top-level modules of packages that only extras bring."""
    always: set[str] = set()
    needed("bellcrank", always)
    lines = metadata.requires("bellcrank") or ()
    extra = {named(line) for line in lines if "extra ==" in line} - always
    of = metadata.packages_distributions()
    return {module for module, packages in of.items() if any(named(p) in extra for p in packages)}


def main() -> int:
    """Run all commands in an empty folder; the exit status says how many did neither."""
    if "--block" in sys.argv:
        names = sorted(optional())
        assert len(names) > 15, names
        sys.modules.update(dict.fromkeys(names))  # type: ignore[arg-type]
    from bellcrank.cli import app, main

    covered = {words.split()[0] for words, _ in COMMANDS}
    known = {c.name or c.callback.__name__ for c in app.registered_commands} | {"examples"}
    assert known <= covered, f"no command line here for {known - covered}"
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("two.study").write_text(STUDY, encoding="utf-8")
        Path("robot.urdf").write_text(URDF, encoding="utf-8")
        Path("part.step").write_text("ISO-10303-21;", encoding="utf-8")
        for words, extra in COMMANDS:
            if words == SLOW and "--block" in sys.argv:
                continue
            out, err = io.StringIO(), io.StringIO()
            status: Any = 0
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                try:
                    main(words.split())
                except SystemExit as ended:
                    status = ended.code or 0
            asks = f"pip install 'bellcrank[{extra}]'" in err.getvalue()
            right = asks and status == 2 if extra else status == 0
            wrong += not right
            said = (
                f"needs the extra {extra}" if extra and right else "works" if right else err.getvalue()[-600:]
            )
            print(f"{'ok' if right else 'NOT OK':6} bellcrank {words}: {said or status}")
        os.chdir(os.path.dirname(folder))
    return wrong


if __name__ == "__main__":
    sys.exit(main())

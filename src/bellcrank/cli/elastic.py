"""Elastic contact problems on the command line: what `run` does with them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bellcrank.base.words import seconds
from bellcrank.cli.output import Table, note, number, show, show_json

if TYPE_CHECKING:
    from bellcrank.elastic.result import ElasticResult
    from bellcrank.elastic.setup import Setup

INTERRUPTED = 130
_HEAD = re.compile(rb"^elastic[ \t]*:", re.MULTILINE)


def problem(text: str) -> Any | None:
    """The file of an elastic contact problem that `text` names, a path or an example; None where it names none."""
    path = Path(text)
    if path.is_file():
        with path.open("rb") as file:
            head = file.read(1 << 16)
        return path if not head.startswith(b"\x89HDF") and _HEAD.search(head) else None
    if "/" in text:
        return None
    from bellcrank.cli.library import examples

    found = examples().get(text.replace("-", "_").removesuffix(".elastic"))
    return None if found is None else found.elastic


def run(
    file: Any,
    set_: Sequence[str] | None,
    duration: float | None,
    step: float | None,
    target: Path | None,
    names: list[str],
    as_json: bool,
) -> None:
    """Simulate the problem in a file and sum up."""
    chosen = setup(file, set_)
    _check_names(chosen, names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = chosen.simulate(duration, step, progress=not as_json)
    for word in result.notes:
        note(word)
    if target is not None:
        write(result, target, names)
    found = summary(result, names, None if target is None else str(target))
    if as_json:
        show_json(found)
    else:
        _tell(found)
    if result.run.status == "interrupted":
        note(f"interrupted at t = {result.time[-1]:g} s; the steps before are kept")
        raise typer.Exit(INTERRUPTED)
    if result.run.status == "diverged":
        note(
            f"the energy grew without bound at t = {result.time[-1]:g} s: take a smaller step, or compatibilities"
        )
        raise typer.Exit(1)


def setup(file: Any, set_: Sequence[str] | None) -> Setup:
    """The problem in a file, with other values for parameters."""
    from bellcrank.cli import inputs
    from bellcrank.elastic import files

    values = dict(inputs.setting(text) for text in set_ or ())
    if isinstance(file, Path):
        return files.load(file, values)
    return files.loads(file.read_text(encoding="utf-8"), file.name, None, values)


def _check_names(setup: Setup, names: list[str]) -> None:
    """Refuse a mistyped series before the run; a run of one step knows all names."""
    if names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tried = setup.simulate(setup.step)
        for name in names:
            tried[name]


def write(result: ElasticResult, target: Path, names: Sequence[str]) -> None:
    """The result (.h5), or its curves (.csv)."""
    if target.suffix != ".csv":
        result.save(target)
        return
    import csv

    from bellcrank.elastic.pages import shown

    columns = [(c.name, panel.unit, c.values) for panel in shown(result, names) for c in panel.curves]
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["time [s]", *(f"{name} [{unit}]" if unit else name for name, unit, _ in columns)])
        for k, t in enumerate(result.time):
            writer.writerow([repr(float(t)), *(repr(float(values[k])) for _, _, values in columns)])


def summary(result: ElasticResult, names: Sequence[str], out: str | None) -> dict[str, Any]:
    """The run as plain data."""
    import numpy as np

    from bellcrank.elastic.pages import shown

    run = result.run
    contacts = []
    for k, name in enumerate(result.contact_names):
        (force, at), (first, last) = result.peak(k), result.contact_duration(k)
        contacts.append(
            {"name": name, "peak_force": force, "peak_time": at, "first": first, "last": last,
             "roughness": result.roughness(k)}
        )  # fmt: skip
    curves = [(panel.unit, c) for panel in (shown(result, names) if names else []) for c in panel.curves]
    return {
        "model": result.name,
        "duration": float(result.time[-1]),
        "run": {"status": run.status, "steps": run.steps, "unknowns": run.unknowns, "candidates": run.candidates,
                "preparation": run.preparation, "seconds": run.seconds},
        "contacts": contacts,
        "bodies": [
            {"name": b.name, "mass": b.total_mass, "velocity": result.rebound_velocity(b.name).tolist()}
            for b in result.bodies
        ],
        "energy_error": float(np.abs(result["energy.error"]).max()),
        "notes": list(result.notes),
        "quantities": [
            {"name": c.name, "start": float(c.values[0]), "end": float(c.values[-1]), "least": float(c.values.min()),
             "greatest": float(c.values.max()), "unit": unit}
            for unit, c in curves
        ],
        "out": out,
    }  # fmt: skip


def _tell(found: dict[str, Any]) -> None:
    run = found["run"]
    title = f"{found['model']}: {found['duration']:g} s in {seconds(run['seconds'])}"
    rows = [
        ("ended", run["status"]),
        ("steps", f"{run['steps']:,}"),
        ("unknowns", f"{run['unknowns']:,}, {run['candidates']} nodes could touch"),
        ("error of the energy", f"{found['energy_error']:.1e}"),
    ]
    tables: list[Table | str] = [Table(title, ("", ""), rows, words=2)]
    cells = [
        (c["name"], *(number(c[k]) for k in ("peak_force", "peak_time", "first", "last", "roughness")))
        for c in found["contacts"]
    ]
    tables.append(
        Table("contacts", ("contact", "peak [N]", "at [s]", "first [s]", "last [s]", "roughness"), cells)
    )
    bodies = [
        (b["name"], number(b["mass"]), ", ".join(number(v) for v in b["velocity"])) for b in found["bodies"]
    ]
    tables.append(Table("bodies at the end", ("body", "mass [kg]", "velocity [m/s]"), bodies))
    shown = [
        (q["name"], *(number(q[k]) for k in ("start", "end", "least", "greatest")), q["unit"])
        for q in found["quantities"]
    ]
    tables.append(Table("quantities", ("quantity", "start", "end", "least", "greatest", "unit"), shown))
    if found["out"] is not None:
        tables.append(f"written: {found['out']}")
    show(*tables)

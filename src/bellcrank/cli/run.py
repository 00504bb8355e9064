"""``bellcrank run``: simulate a model."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bellcrank.base.words import counted, seconds
from bellcrank.cli import completion
from bellcrank.cli.inputs import Impacts, Initial, Model, Quantity, Set
from bellcrank.cli.output import Json, Table, note, number, show, show_json

if TYPE_CHECKING:
    from pathlib import Path

    from bellcrank.result.result import Result

INTERRUPTED = 130
METHOD, GIVEN = "How it is integrated", "What is written"
"""Groups of options."""


def run(
    context: typer.Context,
    file: Model,
    set_: Set = None,
    duration: Annotated[
        float, typer.Option("--duration", "-d", metavar="SECONDS", help="How long to simulate.")
    ] = 10.0,
    tolerance: Annotated[
        float, typer.Option("--tolerance", rich_help_panel=METHOD, help="Relative local error.")
    ] = 1e-8,
    integrator: Annotated[
        str,
        typer.Option(
            "--integrator",
            metavar="NAME",
            rich_help_panel=METHOD,
            help="auto, dop853, radau, ...; a wrong name lists them all.",
            autocompletion=completion.integrators,
        ),
    ] = "auto",
    formulation: Annotated[
        str,
        typer.Option(
            "--formulation",
            metavar="NAME",
            rich_help_panel=METHOD,
            help="auto, recursive, independent, ...; auto takes the cheapest.",
            autocompletion=completion.formulations,
        ),
    ] = "auto",
    initial: Initial = None,
    start: Annotated[
        str,
        typer.Option(
            "--start", metavar="WORD", help="described, or equilibrium, from where --initial sets speeds."
        ),
    ] = "described",
    outputs: Annotated[
        int,
        typer.Option(
            "--outputs", metavar="COUNT", rich_help_panel=GIVEN, help="Equal intervals of the output."
        ),
    ] = 1000,
    step: Annotated[
        float,
        typer.Option(
            "--step",
            metavar="SECONDS",
            rich_help_panel=METHOD,
            show_default=False,
            help="Fixed step, where the method takes one, or of --impacts stepping.",
        ),
    ] = 0.0,
    impacts: Impacts = "dense",
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            rich_help_panel=GIVEN,
            help="Write the result here (.h5), or its curves (.csv).",
        ),
    ] = None,
    quantity: Quantity = None,
    as_json: Json = False,
) -> None:
    """Simulate a model and sum up the run: steps, speed, energy, constraints, impacts.

    A file of an elastic contact problem (.elastic) is run in its own steps; --duration and --step replace the file's.

    Ctrl-C ends the run early: what was computed is summed up and written all the same.

    \b
    Examples:
      bellcrank run slider_crank.yaml --duration 5 --out run.h5
      bellcrank run four_bar.yaml --set stiffness=2e4 -q rocker.angular_velocity.z
      bellcrank run pendulum --initial pivot=pi/6,1 --integrator radau
      bellcrank run pendulum --start equilibrium --initial pivot.angle_rate=2
      bellcrank run robot.urdf -d 2 --out curves.csv -q hand.position
      bellcrank run heap.yaml -d 2 --impacts stepping --step 1e-3
      bellcrank run elastic_sphere_on_wall --set friction=0.3 --out impact.h5
    """
    from bellcrank.cli import elastic, inputs
    from bellcrank.errors import unknown_name
    from bellcrank.formulations.registry import Formulation
    from bellcrank.integrate import METHODS, SimulationError
    from bellcrank.run.simulation import prepared

    target = None if out is None else inputs.writable(out, (".h5", ".hdf5", ".csv"))
    problem = elastic.problem(file)
    if problem is not None:
        given = _given(context)
        _only_for_mechanisms(file, given)
        elastic.run(
            problem, set_, duration if "duration" in given else None, step if "step" in given else None, target,
            quantity or [], as_json,
        )  # fmt: skip
        return
    for what, word, known in (
        ("integrator", integrator, list(METHODS)),
        ("formulation", formulation, [f.value for f in Formulation]),
    ):
        if word not in known:
            raise unknown_name(what, word, known)
    _check_numbers(tolerance, step, outputs)
    if start not in ("described", "equilibrium"):
        raise unknown_name("start", start, ("described", "equilibrium"))
    system = inputs.model(file)
    options: dict[str, Any] = {
        "parameters": inputs.parameters(set_, system),
        "initial": inputs.initial(initial, system),
        "tolerance": tolerance,
        "integrator": integrator,
        "formulation": formulation,
        "output": outputs,
        **inputs.strikes(impacts, step),
    }
    begin = None if start == "described" else start
    clock = time.perf_counter()
    mechanism = prepared(
        system, options.pop("formulation"), options.pop("initial"), options.pop("parameters"), begin
    )
    _check_names(mechanism, quantity or [])
    as_it_goes = target is not None and target.suffix != ".csv"
    if as_it_goes:
        options["save"] = target
    failure: SimulationError | None = None
    try:
        result = mechanism.simulate(duration, **options)
    except SimulationError as error:
        partial = getattr(error, "result", None)
        if partial is None or not len(partial):
            raise
        failure, result = error, partial
    before = max(time.perf_counter() - clock - result.run.seconds, 0.0)
    if target is not None and not as_it_goes:
        _write(result, target, quantity)
    report(result, quantity or [], out, as_json, before)
    if failure is not None:
        advice = str(failure).split(" (The ")[0].split(" (Earlier ")[0]
        note(f"{advice} The outputs before are kept.")
        raise typer.Exit(1)
    if result.run.status == "interrupted":
        note(f"interrupted at t = {result.time[-1]:g} s; the outputs before are kept")
        raise typer.Exit(INTERRUPTED)


def _given(context: typer.Context) -> set[str]:
    """Options that were named on the command line."""
    return {
        name for name in context.params if str(context.get_parameter_source(name)).endswith("COMMANDLINE")
    }


def _only_for_mechanisms(file: str, given: set[str]) -> None:
    from bellcrank.errors import ModelError

    for name in ("tolerance", "integrator", "formulation", "initial", "start", "outputs", "impacts"):
        if name in given:
            raise ModelError(f"{file} is an elastic contact problem; --{name} belongs to mechanisms")


def _check_numbers(tolerance: float, step: float, outputs: int) -> None:
    from math import isfinite

    from bellcrank.errors import ModelError
    from bellcrank.run.simulation import MOST_OUTPUTS

    if not (isfinite(tolerance) and 0.0 < tolerance < 1.0):
        raise ModelError(f"--tolerance is a number between 0 and 1, not {tolerance:g}")
    if not (isfinite(step) and step >= 0.0):
        raise ModelError(f"--step is a positive number of seconds, not {step:g}")
    if not 1 <= outputs <= MOST_OUTPUTS:
        raise ModelError(f"--outputs is a number from 1 to {MOST_OUTPUTS:,}, not {outputs}")


def _check_names(mechanism: Any, names: list[str]) -> None:
    """Refuse a mistyped quantity before the run."""
    from bellcrank.quantities.quantities import Quantities
    from bellcrank.quantities.snapshot import Snapshot

    if names:
        known = Quantities(Snapshot(mechanism.system, mechanism.tree, mechanism.mechanics))
        for name in names:
            known.find(name)


def _write(result: Result, target: Path, names: list[str] | None) -> None:
    if target.suffix != ".csv":
        result.save(target)
        return
    import csv

    from bellcrank.view.curves import panels

    wanted = names or [f"{body}.position" for body in result.mechanism.system.bodies]
    shown = [(c.name, panel.unit, c.values) for panel in panels(result, wanted) for c in panel.curves]
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["time [s]", *(f"{name} [{unit}]" if unit else name for name, unit, _ in shown)])
        for k, t in enumerate(result.time):
            writer.writerow([repr(float(t)), *(repr(float(values[k])) for _, _, values in shown)])


def report(result: Result, names: list[str], out: str | None, as_json: bool, before: float) -> None:
    """The summary of a run. before: Time in which the model was analysed, traced and compiled [s]."""
    found = summary(result, names, out)
    run = found["run"]
    run["prepared"] = before
    if as_json:
        show_json(found)
        return
    speed = run["times_real_time"]
    times = f"{speed:,.0f}" if speed >= 10.0 else f"{speed:.2g}"
    title = f"{found['model']}: {found['duration']:g} s in {seconds(run['seconds'])}, {times} x real time"
    rows = [
        ("prepared in", f"{seconds(before)}, analysed and compiled"),
        ("ended", run["status"]),
        ("steps", f"{run['steps']:,}, {run['rejected']:,} rejected"),
        ("evaluations", f"{run['evaluations']:,}"),
        ("integrator", run["integrator"]),
        ("formulation", run["formulation"]),
        ("outputs", f"{found['outputs']:,}"),
        *([("changes of partition", str(run["repartitions"]))] if run["repartitions"] else []),
        *_steps(run),
    ]
    tables: list[Table | str] = [Table(title, ("", ""), rows, words=2), *_balance(found)]
    tables += _impacts(found)
    cells = [
        (q["name"], *(number(q[k]) for k in ("start", "end", "least", "greatest")), q["unit"])
        for q in found["quantities"]
    ]
    tables.append(Table("quantities", ("quantity", "start", "end", "least", "greatest", "unit"), cells))
    if out is not None:
        tables.append(f"written: {out}")
    show(*tables)


def _steps(run: dict[str, Any]) -> list[tuple[str, str]]:
    """How well the impulses of steps were found, where contacts were solved by steps."""
    from bellcrank.result.result import STEPS

    if run["integrator"] != STEPS:
        return []
    missed = f"Coulomb's law missed by {run['residual']:.1e} at most, in {counted(run['unsolved'], 'step')} by too much"
    return [("impulses", missed), ("deepest overlap", f"{run['penetration']:.1e} of the size")]


def _balance(found: dict[str, Any]) -> list[Table | str]:
    ledger, held = found["energy"], found["constraints"]
    rows = [
        (key.replace("_", " "), number(value)) for key, value in ledger.items() if key != "relative_residual"
    ]
    title = f"energy from start to end [J]; largest residual {ledger['relative_residual']:.1e} of the energy at play"
    tables: list[Table | str] = [Table(title, ("", ""), rows)]
    if held is not None:
        residuals = [(key, f"{value:.1e}") for key, value in held.items()]
        tables.append(Table("largest constraint residual at any output [SI]", ("", ""), residuals))
    return tables


def _impacts(found: dict[str, Any]) -> list[Table | str]:
    impacts, shown = found["impacts"], 20
    rows = [
        (
            i["contact"],
            f"{i['time']:.9g}",
            *(number(i[k]) for k in ("impulse", "speed_before", "speed_after", "energy_lost")),
        )
        for i in impacts[:shown]
    ]
    head = ("contact", "time [s]", "impulse [N s]", "speed before [m/s]", "after [m/s]", "energy lost [J]")
    more = f", the first {shown} of them" if len(impacts) > shown else ""
    return [Table(f"{counted(len(impacts), 'impact')}{more}", head, rows)]


def summary(result: Result, names: list[str], out: str | None) -> dict[str, Any]:
    """The summary as plain data."""
    import numpy as np

    run, ledger, m = result.run, result.ledger, result.mechanism
    duration = float(result.time[-1] - result.time[0]) if len(result) else 0.0
    held = None
    if m.constraints and len(result):
        position, velocity = result.compute(["constraints.position", "constraints.velocity"])
        held = {"position": float(np.max(position)), "velocity": float(np.max(velocity))}
    return {
        "model": m.system.name,
        "duration": duration,
        "outputs": len(result),
        "run": {
            "status": run.status,
            "integrator": run.method,
            "formulation": run.formulation,
            "steps": run.steps,
            "rejected": run.rejected,
            "evaluations": run.evaluations,
            "seconds": run.seconds,
            "times_real_time": duration / run.seconds if run.seconds > 0 else 0.0,
            "repartitions": len(run.repartitions),
            "residual": run.residual,
            "unsolved": run.unsolved,
            "penetration": run.penetration,
        },
        "parameters": dict(zip(m.system.parameters, m.parameter_values, strict=True)),
        "energy": _ledger(ledger),
        "constraints": held,
        "impacts": _records(result),
        "events": [{"time": e.time, "name": e.name} for e in result.events],
        "quantities": _extremes(result, names),
        "out": out,
    }


def _ledger(ledger: Any) -> dict[str, float]:
    """Every part of the ledger from start to end, those of contacts included where there are any."""
    parts = {
        "kinetic energy": ledger.kinetic,
        "energy of gravity": ledger.gravity,
        "stored energy": ledger.stored,
        "work of drivers": ledger.drivers,
        "work of dampers and applied loads": ledger.forces,
    }
    for more in ("contacts", "impacts"):
        values = getattr(ledger, more, None)
        if values is not None and getattr(values, "ndim", 0) == 1 and abs(values).max(initial=0.0) > 0.0:
            parts[f"work of {more}"] = values
    found = {key: float(values[-1] - values[0]) for key, values in parts.items()}
    found["residual"] = float(ledger.residual[-1])
    return {**found, "relative_residual": ledger.relative_residual}


def _records(result: Result) -> list[dict[str, Any]]:
    found = []
    for record in result.impacts:
        for k, c in enumerate(record.contacts):
            found.append(
                {
                    "time": record.time,
                    "contact": c.contact,
                    "impulse": c.impulse,
                    "speed_before": c.speed_before,
                    "speed_after": c.speed_after,
                    "energy_lost": record.energy_lost if k == 0 else 0.0,
                }
            )
    return found


def _extremes(result: Result, names: list[str]) -> list[dict[str, Any]]:
    from bellcrank.view.curves import panels

    found = []
    for panel in panels(result, names) if names else []:
        for c in panel.curves:
            values = {
                "start": c.values[0],
                "end": c.values[-1],
                "least": c.values.min(),
                "greatest": c.values.max(),
            }
            found.append({"name": c.name, **{k: float(v) for k, v in values.items()}, "unit": panel.unit})
    return found

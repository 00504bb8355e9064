"""``bellcrank optimise``: the best values of the variables of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bellcrank.base.words import counted, seconds
from bellcrank.cli.output import Json, Table, note, number, show, show_json
from bellcrank.cli.sweep import INTERRUPTED, Cluster, Out, Plots, StudyFile, Threads, check_threads, folder

if TYPE_CHECKING:
    from bellcrank.study.optimise import Optimum


def optimise(
    study: StudyFile,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            help="slsqp, trust-constr, l-bfgs-b with exact gradients; nelder-mead, powell, "
            "cobyqa, differential-evolution without; default: what the study says.",
        ),
    ] = None,
    out: Out = None,
    cluster: Cluster = None,
    threads: Threads = None,
    plots: Plots = None,
    as_json: Json = False,
) -> None:
    """Find the values of the variables that make the objective of a study best within its constraints.

    Ctrl-C ends the search early with the best point so far; with --out the same command goes on from there.

    \b
    Examples:
      bellcrank optimise quarter_car.study
      bellcrank optimise quarter_car.study --method differential-evolution --out points --cluster local
    """  # fmt: skip
    from bellcrank.cli import inputs
    from bellcrank.study.files import read_study

    loaded = read_study(inputs.study(study))
    pictures = folder(plots)
    check_threads(threads)
    options: dict[str, Any] = dict(loaded.search)
    if method is not None:
        options["method"] = method
    found = loaded.study.optimise(store=out, cluster=cluster, threads=threads, **options)
    written = []
    if pictures is not None:
        found.plot(pictures / "search.png")
        written.append(str(pictures / "search.png"))
    report(found, out, written, as_json)
    if found.status == "interrupted":
        note("interrupted; this is the best point so far")
        raise typer.Exit(INTERRUPTED)
    if not found.feasible:
        note("no point keeps to all constraints; this is the one that comes nearest")
    elif found.status != "converged":
        note(f"the search stopped: {found.message}")
    if found.status != "converged" or not found.feasible:
        raise typer.Exit(1)


def report(found: Optimum, out: str | None, written: list[str], as_json: bool) -> None:
    """Print the optimum."""
    study = found.study
    if as_json:
        show_json(
            {
                "study": study.name,
                "method": found.method,
                "status": found.status,
                "message": found.message,
                "feasible": found.feasible,
                "variables": found.variables,
                "measures": found.measures,
                "gradients": found.gradients,
                "points": len(found.history),
                "seconds": found.seconds,
                "out": out,
                "pictures": written,
            }
        )
        return
    rows = [
        (name, number(value), study.units[name], _range(study, name))
        for name, value in found.variables.items()
    ]
    measures = [
        (name, number(value), study.units[name], _limit(study, name))
        for name, value in found.measures.items()
    ]
    show(
        f"{study.name}: {found.status} by {found.method} after {counted(len(found.history), 'point')} "
        f"in {seconds(found.seconds)}",
        Table("variables", ("", "value", "unit", "range"), rows),
        Table("measures", ("", "value", "unit", "asked"), measures),
    )


def _range(study: Any, name: str) -> str:
    low, high = study.variables[name].range
    return f"{low:g} ... {high:g}"


def _limit(study: Any, name: str) -> str:
    if name == study.objective:
        return "large" if study.maximise else "small"
    words = {"at_least": ">=", "at_most": "<="}
    limit = study.constraints.get(name)
    return "" if limit is None else ", ".join(f"{words[k]} {v:g}" for k, v in limit.as_data().items())

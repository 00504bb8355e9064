"""``bellcrank sweep``: the runs of a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bellcrank.base.words import counted, seconds
from bellcrank.cli.output import Json, Table, note, number, show, show_json

if TYPE_CHECKING:
    from bellcrank.study.outcome import Outcome

INTERRUPTED = 130
SHOWN = 5

StudyFile = Annotated[
    str, typer.Argument(metavar="STUDY", help="A study file (YAML), or the name of an example with one.")
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out", "-o", metavar="FOLDER", help="Keep every run here; a killed study goes on from there."
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Run on the dask scheduler there; 'local' starts one for the study.",
    ),
]
Threads = Annotated[int | None, typer.Option("--threads", help="Threads of this process; default all cores.")]
Plots = Annotated[
    str | None,
    typer.Option("--plots", metavar="FOLDER", help="Write pictures of the study into this folder."),
]


def sweep(
    study: StudyFile,
    out: Out = None,
    cluster: Cluster = None,
    threads: Threads = None,
    plots: Plots = None,
    as_json: Json = False,
) -> None:
    """Do all runs of a study and sum them up; runs that the store holds already are not done again.

    Ctrl-C ends the study early: everything done is kept and summed up.

    \b
    Examples:
      bellcrank sweep quarter_car.study --out runs --plots pictures
      bellcrank sweep quarter_car.study --out runs --cluster tcp://10.0.0.5:8786
      bellcrank sweep quarter_car.study --cluster local --json
    """
    from bellcrank.cli import inputs
    from bellcrank.study.files import read_study

    loaded = read_study(inputs.study(study))
    pictures = folder(plots)
    check_threads(threads)
    outcome = loaded.study.run(out, cluster=cluster, threads=threads)
    indices = None
    if loaded.sensitivity is not None and outcome.status == "done":
        indices = _sensitivity(loaded.study, loaded.sensitivity, out, cluster, threads)
    written = _draw(outcome, pictures, indices) if pictures is not None and len(outcome) else []
    report(outcome, indices, out, written, as_json)
    if outcome.status == "interrupted":
        again = f"; the same command goes on from {out}" if out else "; with --out a study can go on later"
        note(f"interrupted after {len(outcome)} of {len(outcome.study)} runs{again}")
        raise typer.Exit(INTERRUPTED)
    if outcome.failures:
        raise typer.Exit(1)


def folder(path: str | None) -> Path | None:
    """A folder to write pictures into, made where it is missing."""
    if path is None:
        return None
    from bellcrank.errors import ModelError

    found = Path(path)
    if found.exists() and not found.is_dir():
        raise ModelError(f"{path} is a file; pictures go into a folder")
    found.mkdir(parents=True, exist_ok=True)
    return found


def check_threads(threads: int | None) -> None:
    """A number of threads makes sense."""
    from bellcrank.errors import ModelError

    if threads is not None and threads < 1:
        raise ModelError(f"--threads is a whole number from 1 on, not {threads}")


def _sensitivity(
    study: Any, asked: dict[str, Any], out: str | None, cluster: str | None, threads: int | None
) -> Any:
    store = None if out is None else Path(out) / "_sensitivity"
    options: dict[str, Any] = {"seed": asked["seed"], "store": store, "cluster": cluster, "threads": threads}
    if asked["method"] == "sobol":
        return study.sobol_indices(asked["runs"], **options)
    return study.morris(asked["runs"], **options)


def _draw(outcome: Outcome, target: Path, indices: Any) -> list[str]:
    """All pictures that make sense for the design."""
    from bellcrank.study.designs import Grid, OneAtATime

    kinds = ["response"]
    design = outcome.study.design
    if len(outcome.variables) == 2 and not isinstance(design, OneAtATime):
        kinds.append("surface")
    if not isinstance(design, OneAtATime | Grid):
        kinds += ["scatter", "convergence"]
    if isinstance(design, OneAtATime):
        kinds = ["tornado"]
    written = []
    for kind in kinds:
        columns = len(outcome.variables) + len(outcome.measures)
        if kind == "scatter" and columns > 12:
            continue
        names = list(outcome.measures) if kind == "surface" else []
        outcome.plot(kind, *names, path=target / f"{kind}.png")
        written.append(str(target / f"{kind}.png"))
    if hasattr(indices, "total"):
        for k, measure in enumerate(indices.first):
            path = target / f"indices-{k + 1}.png"
            indices.plot(measure, path)
            written.append(str(path))
    return written


def report(outcome: Outcome, indices: Any, out: str | None, written: list[str], as_json: bool) -> None:
    """Print the summary."""
    import numpy as np

    study = outcome.study
    rows: list[Any] = []
    for name in (*outcome.variables, *outcome.measures):
        values = outcome[name][outcome.done]
        if len(values):
            figures = (values.min(), values.mean(), values.max(), values.std())
            rows.append((name, *(float(x) for x in figures), study.units[name]))
    best = None
    if study.objective is not None and (outcome.feasible & np.isfinite(outcome[study.objective])).any():
        best = outcome.best()
    if as_json:
        keys = ("name", "least", "mean", "greatest", "deviation", "unit")
        show_json(
            {
                "study": study.name,
                "status": outcome.status,
                "runs": len(outcome),
                "of": len(study),
                "fresh": outcome.fresh,
                "seconds": outcome.seconds,
                "feasible": int(outcome.feasible.sum()),
                "columns": [dict(zip(keys, row, strict=True)) for row in rows],
                "best": best,
                "failures": [
                    {"run": f.row, "values": dict(f.values), "time": f.time, "reason": f.reason}
                    for f in outcome.failures
                ],
                "sensitivity": _indices_data(indices),
                "out": out,
                "pictures": written,
            }
        )
        return
    rate = (
        f", {outcome.fresh / outcome.seconds:.3g} a second" if outcome.fresh and outcome.seconds > 0 else ""
    )
    kept = len(outcome) - outcome.fresh
    before = f", {kept:,} from {out}" if kept else ""
    tables = [
        Table(
            "",
            ("", "least", "mean", "greatest", "deviation", "unit"),
            [(row[0], *map(number, row[1:5]), row[5]) for row in rows],
        )
    ]
    if best:
        lines = [(name, number(value), study.units[name]) for name, value in best.items()]
        tables.append(Table("best run", ("", "value", "unit"), lines))
    head = f"{study.name}: {counted(outcome.fresh, 'run')} in {seconds(outcome.seconds)}{rate}{before}"
    show(head, *tables, *_indices_tables(indices))
    if study.constraints:
        show(f"{int(outcome.feasible.sum()):,} of {len(outcome):,} runs keep to the constraints")
    for failure in outcome.failures[:SHOWN]:
        note(str(failure))
    if len(outcome.failures) > SHOWN:
        note(f"and {counted(len(outcome.failures) - SHOWN, 'more failed run')}; --json lists them all")


def _indices_data(indices: Any) -> Any:
    if indices is None:
        return None
    names = ("first", "total", "first_error", "total_error") if hasattr(indices, "total") else (
        "strength", "mean", "spread", "error")  # fmt: skip
    return {"runs": indices.runs, **{name: getattr(indices, name) for name in names}}


def _indices_tables(indices: Any) -> list[Table]:
    data = _indices_data(indices)
    if data is None:
        return []
    kinds = [k for k in data if k != "runs"]
    return [
        Table(
            f"sensitivity of {measure}",
            ("", *(k.replace("_", " ") for k in kinds)),
            [(v, *(number(data[k][measure][v]) for k in kinds)) for v in indices.variables],
        )
        for measure in data[kinds[0]]
    ]

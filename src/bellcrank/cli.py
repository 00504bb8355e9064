"""The command line: one function a command; what a command needs is imported when it runs."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from bellcrank.errors import BellcrankError, ModelError

if TYPE_CHECKING:
    from bellcrank.model.system import System
    from bellcrank.verify import CaseReport

WRONG_RESULT = 1
WRONG_INPUT = 2

app = typer.Typer(
    name="bellcrank",
    help="A compiler for mechanisms.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"bellcrank {version('bellcrank')}")
        raise typer.Exit


@app.callback()
def bellcrank(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A compiler for mechanisms."""


@app.command()
def verify(
    cases: Annotated[list[str] | None, typer.Argument(help="Cases to run; all where none are named.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    list_cases: Annotated[bool, typer.Option("--list", help="List the cases with their sources.")] = False,
) -> None:
    """Run the verification manual: computed values beside references, each with its source.

    The exit status is 1 if any quantity is not ok, and 2 for a case that does not exist.
    """
    from bellcrank.verify import find, run

    chosen = find(cases or [])
    if list_cases:
        if as_json:
            listed = [{"case": c.name, "title": c.title, "source": c.source} for c in chosen]
            typer.echo(json.dumps({"cases": listed}, indent=2))
        else:
            for case in chosen:
                typer.echo(f"{case.name}: {case.title}" + (f"\n    {case.source}" if case.source else ""))
        return
    reports = []
    for case in chosen:
        reports.append(run(case))
        if not as_json:
            _print_report(reports[-1])
    if as_json:
        typer.echo(json.dumps({"cases": [report.to_json() for report in reports]}, indent=2))
    if not all(report.ok for report in reports):
        raise typer.Exit(WRONG_RESULT)


@app.command()
def count(
    file: Annotated[str, typer.Argument(help="A model file, or the name of a built-in model: full-car.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    formulation: Annotated[
        list[str] | None, typer.Option("--formulation", help="Count this one; all where none are named.")
    ] = None,
) -> None:
    """Count the operations of one evaluation, by stage, beside the formulas of paper D."""
    from bellcrank.errors import unknown_name
    from bellcrank.formulations.registry import Formulation
    from bellcrank.mechanism import analyse

    for name in formulation or []:
        if name not in (known := [f.value for f in Formulation]):
            raise unknown_name("formulation", name, known)
    report = analyse(_model(file)).count(*(formulation or []))
    if as_json:
        typer.echo(json.dumps(report.to_json(), indent=2))
    elif sys.stdout.isatty():
        from rich.console import Console

        Console().print(report.rich())
    else:
        typer.echo(str(report))


def _model(file: str) -> System:
    """The system in a model file; a name that is no file may be that of a built-in model."""
    from pathlib import Path

    if Path(file).is_file():
        from bellcrank.files import load

        return load(file)
    if file == "full-car":
        from bellcrank.verify.full_car import full_car_system

        return full_car_system()
    raise ModelError(
        f"there is no file {file!r}, and no built-in model of that name; built-in models: full-car"
    )


def _print_report(report: CaseReport) -> None:
    """A case as a table on a terminal, as plain columns in a pipe."""
    head = ("quantity", "value", "reference", "tolerance", "unit", "ok")
    rows = [
        (
            q.quantity,
            f"{q.value:.10g}",
            f"{q.reference:.10g}",
            f"{q.tolerance:.3g} {q.within}",
            q.unit,
            "ok" if q.ok else "NOT OK",
        )
        for q in report.quantities
    ]
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table

        table = Table(title=escape(f"{report.case.name}: {report.case.title}"), title_justify="left")
        for name in head:
            table.add_column(name, justify="right" if name in ("value", "reference") else "left")
        for row in rows:
            colour = "green" if row[-1] == "ok" else "bold red"
            table.add_row(*map(escape, row[:-1]), f"[{colour}]{row[-1]}[/]")
        console = Console()
        console.print(table)
        console.print(f"[dim]{escape(report.case.source)}[/]", highlight=False)
        if report.error:
            console.print(f"[bold red]NOT OK[/] {escape(report.error)}", highlight=False)
        return
    typer.echo(f"{report.case.name}: {report.case.title}")
    if report.case.source:
        typer.echo(f"  source: {report.case.source}")
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    for row in (head, *rows) if rows else ():
        cells = zip(row, widths, strict=True)
        typer.echo("  " + "  ".join(cell.ljust(width) for cell, width in cells).rstrip())
    if report.error:
        typer.echo(f"  NOT OK  {report.error}")


def main() -> None:
    """The entry point: mistakes in the input are told in a sentence, not in a traceback."""
    try:
        app()
    except BellcrankError as error:
        typer.echo(f"bellcrank: {error}", err=True)
        sys.exit(WRONG_INPUT)


if __name__ == "__main__":
    main()

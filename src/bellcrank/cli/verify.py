"""``bellcrank verify``: the verification manual."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bellcrank.cli.output import Json, Table, show, show_json

if TYPE_CHECKING:
    from bellcrank.verify import CaseReport

HEAD = ("quantity", "value", "reference", "tolerance", "unit", "ok")


def verify(
    cases: Annotated[list[str] | None, typer.Argument(help="Cases to run; all where none are named.")] = None,
    as_json: Json = False,
    list_cases: Annotated[bool, typer.Option("--list", help="List the cases with their sources.")] = False,
) -> None:
    """Run the verification manual: computed values beside references, each with its source.

    The exit status is 1 if any quantity is not ok, and 2 for a case that does not exist.

    \b
    Examples:
      bellcrank verify --list
      bellcrank verify pendulum full-car
    """
    from bellcrank.verify import find, run

    chosen = find(cases or [])
    if list_cases:
        if as_json:
            show_json({"cases": [{"case": c.name, "title": c.title, "source": c.source} for c in chosen]})
        else:
            for case in chosen:
                typer.echo(f"{case.name}: {case.title}" + (f"\n    {case.source}" if case.source else ""))
        return
    reports = []
    for case in chosen:
        reports.append(run(case))
        if not as_json:
            _print(reports[-1])
    if as_json:
        show_json({"cases": [report.to_json() for report in reports]})
    if not all(report.ok for report in reports):
        raise typer.Exit(1)


def _print(report: CaseReport) -> None:
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
    title = f"{report.case.name}: {report.case.title}"
    if report.case.source:
        title += f"\n  source: {report.case.source}"
    if rows:
        show(Table(title, HEAD, rows, words=6))
    else:
        show(title)
    if report.error:
        show(f"  NOT OK  {report.error}")

"""``bellcrank count``: operations of one evaluation."""

from __future__ import annotations

from typing import Annotated

import typer

from bellcrank.cli.inputs import Model
from bellcrank.cli.output import Json, on_terminal, show_json


def count(
    file: Model,
    as_json: Json = False,
    formulation: Annotated[
        list[str] | None, typer.Option("--formulation", help="Count this one; all where none are named.")
    ] = None,
) -> None:
    """Count the operations of one evaluation, by stage, beside the formulas of Kang and Yoon.

    \b
    Examples:
      bellcrank count full-car
      bellcrank count slider_crank.yaml --formulation independent
    """
    from bellcrank.cli.inputs import model
    from bellcrank.errors import unknown_name
    from bellcrank.formulations.registry import Formulation
    from bellcrank.mechanism import analyse

    for name in formulation or []:
        if name not in (known := [f.value for f in Formulation]):
            raise unknown_name("formulation", name, known)
    report = analyse(model(file)).count(*(formulation or []))
    if as_json:
        show_json(report.to_json())
    elif on_terminal():
        from rich.console import Console

        Console().print(report.rich())
    else:
        typer.echo(str(report))

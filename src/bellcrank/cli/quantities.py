"""``bellcrank quantities``: the names that can be asked for."""

from __future__ import annotations

from typing import Annotated

import typer

from bellcrank.cli import completion
from bellcrank.cli.output import Json, Table, show, show_json


def quantities(
    file: Annotated[
        str,
        typer.Argument(
            metavar="MODEL|RESULT",
            help="A model, an example or a result file.",
            autocompletion=completion.results_and_models,
        ),
    ],
    containing: Annotated[str, typer.Option("--containing", help="Only names that hold this text.")] = "",
    as_json: Json = False,
) -> None:
    """List the quantities of a model or a result: names, components and units.

    \b
    Examples:
      bellcrank quantities slider_crank.yaml
      bellcrank quantities run.h5 --containing guide
    """
    from bellcrank.cli.inputs import is_result, model, result
    from bellcrank.mechanism import analyse
    from bellcrank.result.quantities import Quantities
    from bellcrank.result.snapshot import Snapshot

    if is_result(file):
        table = result(file).quantities.table
    else:
        m = analyse(model(file))
        table = Quantities(Snapshot(m.system, m.tree, m.mechanics)).table
    found = {name: q for name, q in table.items() if containing in name}
    if as_json:
        show_json(
            {
                "quantities": [
                    {"name": n, "components": q.components, "unit": q.unit} for n, q in found.items()
                ]
            }
        )
        return
    rows = [(name, " ".join(q.components), q.unit) for name, q in found.items()]
    show(Table("", ("quantity", "components", "unit"), rows, words=3))

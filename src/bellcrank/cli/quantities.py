"""``bellcrank quantities``: the names that can be asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bellcrank.cli import completion
from bellcrank.cli.output import Json, Table, show, show_json

if TYPE_CHECKING:
    from bellcrank.elastic.result import ElasticResult
    from bellcrank.result.result import Result


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
    from bellcrank.cli.inputs import any_result, is_result, model
    from bellcrank.mechanism import analyse
    from bellcrank.quantities.quantities import Quantities
    from bellcrank.quantities.snapshot import Snapshot

    if is_result(file):
        table = _table(any_result(file))
    else:
        m = analyse(model(file))
        known = Quantities(Snapshot(m.system, m.tree, m.mechanics)).table
        table = {name: (tuple(q.components), q.unit) for name, q in known.items()}
    found = {name: words for name, words in table.items() if containing in name}
    if as_json:
        show_json(
            {
                "quantities": [
                    {"name": n, "components": parts, "unit": unit} for n, (parts, unit) in found.items()
                ]
            }
        )
        return
    rows = [(name, " ".join(parts), unit) for name, (parts, unit) in found.items()]
    show(Table("", ("quantity", "components", "unit"), rows, words=3))


def _table(result: Result | ElasticResult) -> dict[str, tuple[tuple[str, ...], str]]:
    """Components and unit of every quantity."""
    from bellcrank.result.result import Result

    if isinstance(result, Result):
        return {name: (tuple(q.components), q.unit) for name, q in result.quantities.table.items()}
    every = {name: result[name] for name in result.names}
    return {name: (tuple("xyz"[: s.shape[1]]) if s.ndim > 1 else (), s.unit) for name, s in every.items()}

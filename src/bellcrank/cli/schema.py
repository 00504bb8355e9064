"""``bellcrank schema``: what files may say, for editors."""

from __future__ import annotations

from typing import Annotated

import typer

from bellcrank.cli.output import show_json

KINDS = ("model", "elastic")


def schema(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help="model, or elastic for contact problems.")
    ] = "model",
) -> None:
    """Print the JSON Schema of a format, made from the table of keys that its reader uses.

    An editor that is given it completes keys and marks mistakes.

    \b
    Examples:
      bellcrank schema > bellcrank.schema.json
      bellcrank schema elastic > elastic.schema.json
    """
    from bellcrank import elastic, files
    from bellcrank.errors import unknown_name

    if kind not in KINDS:
        raise unknown_name("format", kind, KINDS)
    show_json(files.schema() if kind == "model" else elastic.schema())

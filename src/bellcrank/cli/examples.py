"""``bellcrank examples``: list them, show one, copy one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bellcrank.cli import completion
from bellcrank.cli.help import Command, Group
from bellcrank.cli.output import Json, Table, show, show_json

examples = typer.Typer(cls=Group)
Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="An example; 'bellcrank examples' lists them.",
        autocompletion=completion.examples,
    ),
]


@examples.callback(invoke_without_command=True)
def everything(context: typer.Context, as_json: Json = False) -> None:
    """List the examples, show one, or copy one to the current folder.

    \b
    Examples:
      bellcrank examples
      bellcrank examples show pendulum
      bellcrank examples copy slider_crank
    """
    if context.invoked_subcommand is None:
        listed(as_json)


@examples.command("list", cls=Command)
def listed(as_json: Json = False) -> None:
    """List the examples."""
    from bellcrank.cli.library import examples as known

    found = known().values()
    if as_json:
        show_json(
            {
                "examples": [
                    {"name": e.name, "title": e.title, "files": [f.name for f in e.files]} for e in found
                ]
            }
        )
        return
    rows = [(e.name, " ".join("." + f.name.rpartition(".")[2] for f in e.files), e.title) for e in found]
    show(Table("", ("example", "files", "what"), rows, words=3))


@examples.command("show", cls=Command)
def shown(name: Name, as_json: Json = False) -> None:
    """Print the files of an example."""
    from bellcrank.cli.library import find

    found = find(name)
    chosen = [
        f for f in found.files if not name.endswith((".py", ".yaml")) or f.name.endswith(Path(name).suffix)
    ]
    if as_json:
        show_json({"name": found.name, "files": {f.name: f.read_text(encoding="utf-8") for f in chosen}})
        return
    for file in chosen:
        if len(chosen) > 1:
            typer.echo(f"# ---- {file.name}")
        typer.echo(file.read_text(encoding="utf-8"))


@examples.command("copy", cls=Command)
def copied(
    name: Name,
    folder: Annotated[str, typer.Argument(metavar="[FOLDER]", help="Where to.")] = ".",
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    as_json: Json = False,
) -> None:
    """Copy the files of an example to the current folder, or another one."""
    from bellcrank.cli.library import find
    from bellcrank.errors import ModelError

    found = find(name)
    home = Path(folder)
    if not home.is_dir():
        raise ModelError(f"there is no folder {folder!r}")
    there = [home / file.name for file in found.files if (home / file.name).exists()]
    if there and not force:
        raise ModelError(f"{there[0]} is there already; --force replaces it")
    written = []
    for file in found.files:
        (home / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
        written.append(str(home / file.name))
    if as_json:
        show_json({"written": written})
    else:
        show(*(f"written: {path}" for path in written))

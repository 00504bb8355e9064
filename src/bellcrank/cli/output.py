"""What commands print: tables with colours on a terminal, plain columns in a pipe, JSON where asked for."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


@dataclass(frozen=True)
class Table:
    """A titled table. words: how many of the first columns are words; numbers follow."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    words: int = 1

    def plain(self) -> str:
        """As columns of text."""
        rows = [self.head, *self.rows] if any(self.head) else list(self.rows)
        widths = [max(len(row[k]) for row in rows) for k in range(len(self.head))]
        lines = [self.title] if self.title else []
        for row in rows:
            cells = [
                cell.ljust(width) if k < self.words else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append("  " + "  ".join(cells).rstrip())
        return "\n".join(lines)

    def rich(self) -> Any:
        """For a terminal."""
        from rich.box import SIMPLE_HEAD
        from rich.console import Group
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(box=SIMPLE_HEAD, show_header=any(self.head), header_style="cyan", pad_edge=True)
        for k, name in enumerate(self.head):
            table.add_column(Text(name), justify="left" if k < self.words else "right", overflow="fold")
        for row in self.rows:
            table.add_row(*(Text(cell, style=_COLOURS.get(cell, "")) for cell in row))
        return Group(Text(self.title, style="bold"), table) if self.title else table


_COLOURS = {
    "ok": "green",
    "held": "green",
    "done": "green",
    "stable": "green",
    "NOT OK": "bold red",
    "exceeded": "bold red",
    "unstable": "bold red",
}


def on_terminal() -> bool:
    """Whether a person looks at what is printed."""
    return sys.stdout.isatty()


def show(*tables: Table | str) -> None:
    """Print tables and lines, with an empty line between tables; empty tables are left out."""
    shown = [t for t in tables if isinstance(t, str) or t.rows]
    if on_terminal():
        from rich.console import Console
        from rich.text import Text

        console = Console(highlight=False)
        for table in shown:
            console.print(Text(table) if isinstance(table, str) else table.rich())
        return
    text = ""
    for k, table in enumerate(shown):
        line = isinstance(table, str)
        between = "" if k == 0 else "\n" if line and isinstance(shown[k - 1], str) else "\n\n"
        text += between + (str(table) if line else table.plain())  # type: ignore[union-attr]
    typer.echo(text)


def show_json(data: Any) -> None:
    """Print JSON; numbers it does not know become null."""
    typer.echo(json.dumps(clean(data), indent=2, allow_nan=False))


def clean(data: Any) -> Any:
    """Plain data from arrays, tuples and NumPy's numbers."""
    if isinstance(data, dict):
        return {str(key): clean(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [clean(value) for value in data]
    if hasattr(data, "tolist"):
        return clean(data.tolist())
    if isinstance(data, complex):
        return {"real": clean(data.real), "imaginary": clean(data.imag)}
    if isinstance(data, float):
        return float(data) if math.isfinite(data) else None
    return data


def note(text: str) -> None:
    """A remark that is no part of the answer: it goes to standard error."""
    typer.echo(f"bellcrank: {text}", err=True)


def number(x: float) -> str:
    """Six digits."""
    return f"{x + 0.0:.6g}"

"""``bellcrank plot`` and ``report``: results to look at and to send."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bellcrank.cli import completion
from bellcrank.cli.inputs import Duration, Quantity, Shown
from bellcrank.cli.output import Json, show, show_json

if TYPE_CHECKING:
    from bellcrank.elastic.result import ElasticResult
    from bellcrank.result.result import Result
    from bellcrank.view.curves import Panel

Out = Annotated[str | None, typer.Option("--out", "-o", metavar="FILE", help="Where to write.")]


def plot(
    file: Shown,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUANTITY...",
            help="Energies and positions where none is named.",
            autocompletion=completion.quantities,
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="Where to write: .png, .svg or .pdf.")
    ] = None,
    duration: Duration = 10.0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the curves as JSON instead of drawing.")
    ] = False,
) -> None:
    """Draw quantities of a result over time.

    \b
    Examples:
      bellcrank plot run.h5 slider.velocity.x guide.force.y
      bellcrank plot run.h5 energy.total --out energy.svg
      bellcrank plot pendulum pivot.angle --duration 5
    """
    from bellcrank.cli import inputs

    target = inputs.writable(out or _beside(file, ".png"), (".png", ".svg", ".pdf"))
    result = inputs.shown(file, duration)
    if as_json:
        curves = [(c, p.unit) for p in _panels(result, names or ()) for c in p.curves]
        shown = [{"name": c.name, "unit": unit, "values": c.values} for c, unit in curves]
        show_json({"time": result.time, "curves": shown})
        return
    result.plot(*(names or ()), path=target)
    show(f"written: {target}")


def report(
    file: Shown, out: Out = None, quantity: Quantity = None, duration: Duration = 10.0, as_json: Json = False
) -> None:
    """Write a report of a result, ready to print, as one self-contained HTML file.

    \b
    Examples:
      bellcrank report run.h5
      bellcrank report run.h5 --out report.html -q slider.velocity.x
      bellcrank report slider_crank --duration 5
    """
    from bellcrank.cli import inputs

    target = inputs.writable(out or _beside(file, "_report.html"), (".html", ".htm"))
    inputs.shown(file, duration).report(target, quantity or None)
    _written(target, as_json)


def _panels(result: Result | ElasticResult, names: Sequence[str]) -> list[Panel]:
    from bellcrank.result.result import Result
    from bellcrank.view.curves import default_names, panels

    if isinstance(result, Result):
        return panels(result, names or default_names(result))
    from bellcrank.elastic.pages import shown

    return shown(result, names)


def _beside(file: str, ending: str) -> str:
    """A name in the current folder, after that of the result."""
    return f"{Path(file).stem}{ending}"


def _written(target: Path, as_json: bool) -> None:
    if as_json:
        show_json({"out": str(target)})
    else:
        show(f"written: {target}")

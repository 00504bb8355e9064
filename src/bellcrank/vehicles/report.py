"""Reports of manoeuvres and suspensions: characteristic values and the usual plots, one HTML file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bellcrank.base.version import __version__
from bellcrank.result.result import Result
from bellcrank.view.curves import COLOURS, Curve, Panel, pretty
from bellcrank.view.pages import policy, template, text
from bellcrank.view.svg import chart

TRUTH = "yes or no"
"""Unit of a value that is 1 or 0."""


@dataclass(frozen=True, eq=False)
class Plot:
    """Curves over a common axis. over: What runs along it, with its unit."""

    title: str
    over: str
    unit: str
    x: ArrayLike
    curves: Mapping[str, ArrayLike]
    marks: Sequence[float] = ()

    def drawn(self) -> str:
        """As SVG text."""
        shared = np.asarray(self.x, dtype=float)
        lines = []
        for k, (name, values) in enumerate(self.curves.items()):
            y = np.asarray(values, dtype=float)
            # A curve with a row of its own for the axis is one in the plane.
            at, y = (y[0], y[1]) if y.ndim == 2 else (shared, y)
            lines.append(Curve(name, at, y, COLOURS[k % len(COLOURS)]))
        return chart(Panel(self.unit, tuple(lines)), self.marks, axis=self.over)


class Reported:
    """What can be reported. title: In a few words, with its standard. result: The run it is of, where there is one."""

    title: ClassVar[str]
    result: Result

    @property
    def values(self) -> Mapping[str, tuple[float, str]]:
        """Characteristic values and their units, by what they are."""
        raise NotImplementedError

    @property
    def plots(self) -> Sequence[Plot]:
        """The usual plots."""
        raise NotImplementedError

    @property
    def subject(self) -> str:
        """Of what it is."""
        return self.result.mechanism.system.name

    def report(self, path: str | PathLike[str]) -> None:
        """Write the report as one HTML file."""
        Path(path).write_text("\n".join(_page(self)), encoding="utf-8")


def shown(value: float, unit: str) -> tuple[str, str]:
    """A value as one reads it: angles in degrees, truth in words."""
    if unit == TRUTH:
        return ("yes" if value else "no"), ""
    if unit.startswith("rad") and unit != "rad/s":
        value, unit = float(np.degrees(value)), f"deg{unit[3:]}"
    return f"{value:.4g}", pretty(unit)


def _page(found: Reported) -> Iterable[str]:
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{text(policy())}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{text(found.subject)}: {text(found.title)}</title>"
    yield f"<style>{template('report.css')}</style></head><body>"
    yield f'<h1>{text(found.title)}</h1><p class="lead">{text(found.subject)}</p>'
    yield "<section><table><tr><th>characteristic value</th><th class=n></th><th>unit</th></tr>"
    for what, (value, unit) in found.values.items():
        number, written = shown(value, unit)
        yield f"<tr><td>{text(what)}</td><td class=n>{text(number)}</td><td>{text(written)}</td></tr>"
    yield "</table></section>"
    for plot in found.plots:
        yield f"<section><h2>{text(plot.title)}</h2>{plot.drawn()}</section>"
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
    yield f"<footer>Bellcrank {text(__version__)}, {now} UTC</footer></body></html>"


__all__ = ["TRUTH", "Plot", "Reported", "shown"]

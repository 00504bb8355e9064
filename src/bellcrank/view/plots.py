"""Curves over time with matplotlib: one axis a unit, stacked over a common time."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.optional import needed
from bellcrank.errors import ModelError, unknown_name
from bellcrank.view.curves import Panel, default_names, marks, panels, pretty, span

if TYPE_CHECKING:
    from bellcrank.result.result import Result

INK, FAINT = "#24292f", "#d0d7de"
LIBRARIES = ("matplotlib", "plotly")


def plot(
    result: Result,
    names: Sequence[str] = (),
    path: str | PathLike[str] | None = None,
    library: str = "matplotlib",
) -> Any:
    """Draw quantities over time and return the figure of matplotlib or plotly; `path` saves it (by its suffix).

    names: quantities, vectors with all their components; energies and positions where none are named.
    """
    if library not in LIBRARIES:
        raise unknown_name("library", library, LIBRARIES)
    shown = panels(result, names or default_names(result))
    drawing = stacked if library == "matplotlib" else interactive
    return drawing(shown, result.mechanism.system.name, result.time, path, *marks(result))


def stacked(
    drawn: Sequence[Panel],
    title: str,
    time: NDArray[np.float64],
    path: str | PathLike[str] | None = None,
    events: Sequence[float] = (),
    impacts: Sequence[float] = (),
) -> Any:
    """Panels one above another over a common time, events and impacts marked; the matplotlib figure."""
    figures = needed("matplotlib.figure", "a plot", "matplotlib", "view")
    heights = [1.9 + 0.12 * max(len(p.curves) - 3, 0) for p in drawn]
    figure = figures.Figure(figsize=(8.6, 0.9 + sum(heights)), dpi=150, layout="constrained")
    axes = figure.subplots(len(drawn), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for axis, panel in zip(axes, drawn, strict=True):
        _draw(axis, panel)
        for t in events:
            axis.axvline(t, color="#8c959f", linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
        for t in impacts:
            axis.axvline(t, color="#c14a4f", linewidth=0.6, alpha=0.5, zorder=1)
    if len(time):
        axes[-1].set_xlim(time[0], time[-1] if len(time) > 1 else time[0] + 1)
    axes[-1].set_xlabel("time [s]", color=INK)
    figure.suptitle(_plain(title), x=0.01, ha="left", fontsize=11, color=INK, weight="bold")
    figure.align_ylabels(list(axes))
    if path is not None:
        figure.savefig(path)
    return figure


def interactive(
    drawn: Sequence[Panel],
    title: str,
    time: NDArray[np.float64],
    path: str | PathLike[str] | None = None,
    events: Sequence[float] = (),
    impacts: Sequence[float] = (),
) -> Any:
    """The same panels as a plotly figure, to be zoomed and read in the browser; `path` saves one HTML file."""
    graphs = needed("plotly.graph_objects", 'library="plotly"', "plotly", "plotly")
    from plotly.subplots import make_subplots

    if path is not None and Path(path).suffix.lower() != ".html":
        raise ModelError(f"{path}: plots of plotly are saved as .html; matplotlib writes pictures")
    figure = make_subplots(rows=len(drawn), cols=1, shared_xaxes=True, vertical_spacing=0.04)
    for row, panel in enumerate(drawn, 1):
        for curve in panel.curves:
            line = {"color": curve.colour, "width": 1.5}
            trace = graphs.Scatter(x=curve.time, y=curve.values, name=escape(curve.name), line=line)
            figure.add_trace(trace, row=row, col=1)
        figure.update_yaxes(title_text=f"[{pretty(panel.unit)}]" if panel.unit else "", row=row, col=1)
    for t in (*events, *impacts):
        figure.add_vline(x=t, line={"color": "#8c959f", "width": 0.8, "dash": "dash"})
    span_of_time = [float(time[0]), float(time[-1])] if len(time) > 1 else None
    figure.update_xaxes(range=span_of_time)
    figure.update_xaxes(title_text="time [s]", row=len(drawn), col=1)
    figure.update_layout(title=escape(title), template="plotly_white", height=140 + 200 * len(drawn))
    if path is not None:
        figure.write_html(str(path), include_plotlyjs=True)
    return figure


def _draw(axis: Any, panel: Panel) -> None:
    for curve in panel.curves:
        axis.plot(curve.time, curve.values, color=curve.colour, linewidth=1.5, label=_plain(curve.name))
    axis.set_ylim(*span(panel))
    axis.set_ylabel(f"[{pretty(panel.unit)}]" if panel.unit else "", color=INK)
    axis.grid(True, color=FAINT, linewidth=0.6)
    axis.set_axisbelow(True)
    axis.tick_params(colors=INK, labelsize=9, length=3)
    axis.ticklabel_format(axis="y", style="sci", scilimits=(-3, 5), useOffset=False)
    for side, spine in axis.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color("#8c959f")
    legend = axis.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=min(len(panel.curves), 4),
        frameon=False,
        fontsize=8.5,
    )
    legend.set_in_layout(True)


def _plain(text: str) -> str:
    """A user's name as it is: matplotlib would read mathematics between dollar signs."""
    return text.replace("$", r"\$")


__all__ = ["plot"]

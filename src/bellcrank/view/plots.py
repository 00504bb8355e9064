"""Curves over time with matplotlib: one axis a unit, stacked over a common time."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import BellcrankError
from bellcrank.view.curves import Panel, default_names, panels, pretty, span

if TYPE_CHECKING:
    from bellcrank.result.result import Result

INK, FAINT = "#24292f", "#d0d7de"
MARKS = 200
"""Impacts marked at most; the last bounces before rest lie on one another."""


def plot(result: Result, names: Sequence[str] = (), path: str | PathLike[str] | None = None) -> Any:
    """Draw quantities over time and return the matplotlib figure; `path` saves it (by its suffix).

    names: quantities, vectors with all their components; energies and positions where none are named.
    """
    events = [event.time for event in result.events]
    impacts = [impact.time for impact in result.impacts[:MARKS]]
    shown = panels(result, names or default_names(result))
    return stacked(shown, result.mechanism.system.name, result.time, path, events, impacts)


def stacked(
    drawn: Sequence[Panel],
    title: str,
    time: NDArray[np.float64],
    path: str | PathLike[str] | None = None,
    events: Sequence[float] = (),
    impacts: Sequence[float] = (),
) -> Any:
    """Panels one above another over a common time, events and impacts marked; the matplotlib figure."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise BellcrankError("plots need matplotlib: pip install 'bellcrank[view]'") from error
    heights = [1.9 + 0.12 * max(len(p.curves) - 3, 0) for p in drawn]
    figure = Figure(figsize=(8.6, 0.9 + sum(heights)), dpi=150, layout="constrained")
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

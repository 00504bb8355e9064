"""Curves of chosen quantities beside the scene, with a mark that moves with the time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.view.curves import COLOURS, Panel, default_names, panels, pretty, span

Array = NDArray[np.float64]

POINTS = 500
"""Of a curve; a plot of a few hundred pixels shows no more."""
MOST = 12
"""Curves at a time."""
NOTHING = "(choose a quantity)"


@dataclass(frozen=True, eq=False)
class CurvesOf:
    """What curves are taken from: a result of a mechanism, or another with times [s] and names.

    usual_of: names shown unless asked otherwise, of the result. by_unit: panels, of the result and names.
    """

    result: Any
    usual_of: Callable[[Any], Sequence[str]] = default_names
    by_unit: Callable[[Any, Sequence[str]], list[Panel]] = panels

    @property
    def time(self) -> Array:
        """[s]."""
        return np.asarray(self.result.time)

    @property
    def names(self) -> Sequence[str]:
        """To choose from."""
        return list(self.result.names)

    @property
    def usual(self) -> Sequence[str]:
        """Shown unless asked otherwise."""
        return self.usual_of(self.result)

    def panels(self, names: Sequence[str]) -> list[Panel]:
        """By unit."""
        return self.by_unit(self.result, names)


class Curves:
    """Plots by unit in a folder of the panel, and the means to choose what they show."""

    def __init__(self, server: Any, given: CurvesOf, names: Sequence[str] | None) -> None:
        self.server, self.given = server, given
        # The browser's wishes and the viewer's own thread come at any time.
        self._lock = threading.RLock()
        self.names = list(given.usual if names is None else names)
        self.folder = server.gui.add_folder("Curves")
        with self.folder:
            choices = (NOTHING, *sorted(given.names))
            self.choice = server.gui.add_dropdown("add", choices, initial_value=NOTHING)
            self.clear = server.gui.add_button("Clear curves")
        self.plots: list[_Plot] = []
        self.choice.on_update(lambda _: self._chosen())
        self.clear.on_click(lambda _: self.choose([]))
        self._draw()

    def choose(self, names: Sequence[str]) -> None:
        """Show other quantities."""
        with self._lock:
            self.names = list(dict.fromkeys(names))[-MOST:]
            self._draw()

    def _chosen(self) -> None:
        name = self.choice.value
        if name != NOTHING:
            self.choice.value = NOTHING
            self.choose([*self.names, name])

    def take(self, given: CurvesOf) -> None:
        """The same quantities of another result of the same mechanism."""
        with self._lock:
            self.given = given
            self._draw()

    def _draw(self) -> None:
        found = self.given.panels(self.names) if self.names and len(self.given.time) else []
        for plot in self.plots[len(found) :]:
            plot.handle.remove()
        self.plots = self.plots[: len(found)]
        for k, panel in enumerate(found):
            data = _Data(self.given.time, panel)
            if k < len(self.plots):
                self.plots[k].take(data)
            else:
                with self.folder:
                    self.plots.append(_Plot(self.server.gui, data))

    def show(self, time: float) -> None:
        """Move the marks."""
        with self._lock:
            for plot in self.plots:
                plot.mark(time)


class _Data:
    """Curves of one unit on common times, at most so many of them."""

    def __init__(self, time: Array, panel: Panel) -> None:
        keep = np.unique(np.linspace(0, len(time) - 1, min(POINTS, len(time))).astype(int))
        self.time = time[keep].astype(float)
        self.names = [c.name for c in panel.curves]
        low, high = span(panel)
        power = _power(max(abs(low), abs(high)))
        self.values = [c.values[keep].astype(float) / 10.0**power for c in panel.curves]
        self.unit = " ".join(part for part in (f"1e{power}" if power else "", pretty(panel.unit)) if part)
        self.range = low / 10.0**power, high / 10.0**power

    def marked(self, time: float) -> tuple[Array, ...]:
        """The curves, and a line that stands upright at a time and lies at the lower edge everywhere else."""
        k = int(np.searchsorted(self.time, time))
        t = np.insert(self.time, k, [time] * 3)
        curves = [np.insert(v, k, [np.interp(time, self.time, v)] * 3) for v in self.values]
        low, high = self.range
        upright = np.full(len(t), low)
        upright[k + 1] = high
        return (t, *curves, upright)


def _power(largest: float) -> int:
    """A power of ten to be taken out of numbers that are too large or too small to read: 3, 6, -3, ..."""
    if largest == 0.0 or 1e-3 <= largest < 1e5:
        return 0
    return int(3 * np.floor(np.log10(largest) / 3))


class _Plot:
    def __init__(self, gui: Any, data: _Data) -> None:
        self.data, self.at = data, float(data.time[0])
        self.handle = gui.add_uplot(
            data.marked(self.at),
            self._series(),
            scales=self._scales(),
            axes=self._axes(),
            legend={"show": True, "live": False},
            height=180,
        )

    def _series(self) -> tuple[dict[str, Any], ...]:
        lines = [
            {"label": name, "stroke": COLOURS[k % len(COLOURS)], "width": 1.8, "points": {"show": False}}
            for k, name in enumerate(self.data.names)
        ]
        now = {"label": "now", "stroke": "#57606a", "width": 1, "points": {"show": False}}
        return ({"label": "t"}, *lines, now)

    def _scales(self) -> dict[str, Any]:
        return {"x": {"time": False}, "y": {"range": list(self.data.range)}}

    def _axes(self) -> tuple[dict[str, Any], ...]:
        return (
            {"label": "time [s]", "size": 30, "labelSize": 16},
            {"label": f"[{self.data.unit}]" if self.data.unit else "", "size": 62, "labelSize": 16},
        )

    def take(self, data: _Data) -> None:
        if (data.names, data.unit) != (self.data.names, self.data.unit):
            self.data = data
            self.handle.series, self.handle.axes = self._series(), self._axes()
        self.data = data
        self.handle.scales = self._scales()
        self.handle.data = data.marked(self.at)

    def mark(self, time: float) -> None:
        self.at = time
        self.handle.data = self.data.marked(time)

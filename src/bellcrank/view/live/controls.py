"""The panel beside the scene: time, speed, impacts to jump to, what is shown, sliders for the parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.words import counted, seconds
from bellcrank.model.forces import ContactForce
from bellcrank.program.trace import Expr
from bellcrank.view.animation import speeds_for
from bellcrank.view.live.eye import SIDES
from bellcrank.view.stress import STOPS, scaled

if TYPE_CHECKING:
    from bellcrank.result.result import Result
    from bellcrank.view.live.player import Player
    from bellcrank.view.live.viewer import Viewer

Array = NDArray[np.float64]

MARKS = 40
"""Impacts and events marked on the time slider."""
JUMPS = 200
"""Of them to be chosen from a list."""
NOWHERE = "(jump to)"
WHOLE = "off"
FREE = "as at first"
ARROWS = {"force": "forces", "reaction": "reactions", "velocity": "velocities"}
COLOUR_BAR = (
    '<div style="height:12px;margin:0 1em 0.5em;border-radius:3px;'
    f'background:linear-gradient(to right,{",".join(STOPS)})"></div>'
)
SPAN = 2.0
"""A slider goes from zero to so many times a parameter's value, or to its negative."""


class TimeControls:
    """Time, play, speed, jumps; what the browser changes is passed on to the viewer."""

    def __init__(self, server: Any, viewer: Player, time: Array, jumps: dict[str, float], words: str) -> None:
        self.viewer, gui = viewer, server.gui
        low, high = _span(time)
        with gui.add_folder("Time"):
            self.slider = gui.add_slider(
                "time [s]", low, high, (high - low) / 1000, low, marks=_marks(jumps, low, high)
            )
            self.toggle = gui.add_button("Play")
            paces = speeds_for(high - low)
            speeds = [f"{s:g} x" for s in paces]
            wanted = min(paces, key=lambda s: abs(np.log((high - low) / s / 8.0)) if s <= 1 else np.inf)
            self.speeds = gui.add_dropdown("speed", speeds, initial_value=f"{wanted:g} x")
            self._jumps = jumps
            self.jump = gui.add_dropdown("impacts", (NOWHERE, *self._jumps), initial_value=NOWHERE)
            self.jump.visible = bool(self._jumps)
            self.status = gui.add_text("run", words, disabled=True)
        drawn = viewer.stage.scene
        with gui.add_folder("Scene", expand_by_default=max(drawn.stress, drawn.pressure) > 0.0):
            self.names = gui.add_checkbox("names", False)
            self.follow = gui.add_checkbox("follow", viewer._travels)
            self.side = gui.add_dropdown("look from", (FREE, *SIDES), initial_value=FREE)
            self.flat = gui.add_checkbox("orthographic", False)
            self.arrows = {
                kind: gui.add_checkbox(words, False, visible=any(a.kind == kind for a in drawn.arrows))
                for kind, words in ARROWS.items()
            }
            self.section = gui.add_dropdown("section", (WHOLE, "x", "y", "z"), initial_value=WHOLE)
            middle, box = drawn.extent(tuple(np.eye(3)))
            self._extent = [
                (float(m - 0.5 * b), float(m + 0.5 * b)) for m, b in zip(middle, box, strict=True)
            ]
            self.place = gui.add_slider("share of it", 0.0, 1.0, 0.005, 0.5, visible=False)
            self.stress = gui.add_text("stress", "", disabled=True, visible=drawn.stress > 0.0)
            self.pressure = gui.add_text("contact pressure", "", disabled=True, visible=drawn.pressure > 0.0)
            if max(drawn.stress, drawn.pressure) > 0.0:
                gui.add_html(COLOUR_BAR)
            self._show_scales()
        self.slider.on_update(self._moved)
        self.toggle.on_click(lambda _: viewer.pause() if viewer.playing else viewer.play())
        self.jump.on_update(self._jumped)
        self.names.on_update(lambda _: viewer.stage.show_names(self.names.value))
        self.follow.on_update(lambda _: viewer._later(self._redraw))
        self.side.on_update(lambda _: self.look())
        self.flat.on_update(lambda _: viewer.eye.flatten(self.flat.value))
        self.section.on_update(lambda _: self.show_section())
        self.place.on_update(lambda _: self.show_section())
        for box in self.arrows.values():
            box.on_update(lambda _: self.show_arrows())

    def look(self) -> None:
        """From the side that is chosen."""
        eye = self.viewer.eye
        eye.look(eye.first) if self.side.value == FREE else eye.side(self.side.value)

    def show_arrows(self) -> None:
        """Those that are ticked."""
        for kind, box in self.arrows.items():
            self.viewer.stage.show_arrows(kind, box.value)

    def show_section(self) -> None:
        """The section that is chosen."""
        whole = self.section.value == WHOLE
        self.place.visible = not whole
        cut = None
        if not whole:
            axis = "xyz".index(self.section.value)
            low, high = self._extent[axis]
            cut = axis, low + float(self.place.value) * (high - low)
        self.viewer.stage.section(cut)

    def _show_scales(self) -> None:
        drawn = self.viewer.stage.scene
        self.stress.value = f"0 to {scaled(drawn.stress)}Pa"
        self.pressure.value = f"0 to {scaled(drawn.pressure)}Pa"

    def _redraw(self) -> None:
        self.viewer._drawn = -1

    @property
    def speed(self) -> float:
        """Simulated seconds a second."""
        return float(self.speeds.value.removesuffix(" x"))

    def _moved(self, event: Any) -> None:
        # Without a client it was the viewer itself that moved the slider.
        if event.client is not None:
            self.viewer.pause()
            self.viewer.seek(self.slider.value)

    def _jumped(self, event: Any) -> None:
        if event.client is not None and self.jump.value in self._jumps:
            self.viewer.pause()
            self.viewer.seek(self._jumps[self.jump.value])

    def show(self, time: float) -> None:
        """Move the slider."""
        self.slider.value = float(np.clip(time, self.slider.min, self.slider.max))

    def show_playing(self, playing: bool) -> None:
        """What the button does next."""
        self.toggle.label = "Pause" if playing else "Play"

    def report(self, words: str) -> None:
        """Show a line about the run."""
        self.status.value = words

    def take(self, time: Array, jumps: dict[str, float]) -> None:
        """Times and impacts of another result."""
        low, high = _span(time)
        self.slider.min, self.slider.max, self.slider.step = low, high, (high - low) / 1000
        self._jumps = jumps
        self.jump.options = (NOWHERE, *self._jumps)
        self.jump.value = NOWHERE
        self.jump.visible = bool(self._jumps)
        self._show_scales()


class ParameterSliders:
    """A slider a parameter; letting it move runs the mechanism again at once."""

    def __init__(self, server: Any, viewer: Viewer) -> None:
        self.viewer = viewer
        mechanism = viewer.result.mechanism
        self.sliders: dict[str, Any] = {}
        # What a contact remembers of its last touch is a parameter to the program, not to a person.
        hidden = {
            str(f.approach_speed.args[0])
            for f in mechanism.system.forces.values()
            if isinstance(f, ContactForce) and isinstance(f.approach_speed, Expr)
        }
        values = dict(zip(mechanism.mechanics.parameters, mechanism.parameter_values, strict=True))
        values = {name: value for name, value in values.items() if name not in hidden}
        if not values:
            return
        with server.gui.add_folder("Parameters"):
            for name, value in values.items():
                low, high = slider_range(value)
                unit = mechanism.system.parameters[name].unit
                label = f"{name} [{unit}]" if unit else name
                self.sliders[name] = slider = server.gui.add_slider(
                    label, low, high, (high - low) / 200, float(value)
                )
                slider.on_update(self._changed)
            server.gui.add_button("As described").on_click(lambda _: self._reset(values))

    def _changed(self, event: Any) -> None:
        if event.client is not None:
            self.viewer.run_again(self.values)

    def _reset(self, values: dict[str, float]) -> None:
        for name, slider in self.sliders.items():
            slider.value = values[name]
        self.viewer.run_again(self.values)

    @property
    def values(self) -> dict[str, float]:
        """As the sliders stand."""
        return {name: float(slider.value) for name, slider in self.sliders.items()}


def slider_range(value: float) -> tuple[float, float]:
    """From zero to twice the value; around zero for a parameter that is zero."""
    if value == 0.0:
        return -1.0, 1.0
    return (0.0, SPAN * value) if value > 0.0 else (SPAN * value, 0.0)


def jumps(result: Result) -> dict[str, float]:
    """Impacts and events by a line of text each, in the order of time."""
    found = [(i.time, ", ".join(c.contact for c in i.contacts)) for i in result.impacts]
    found += [(e.time, e.name) for e in result.events]
    found.sort(key=lambda item: item[0])
    return {f"{k + 1}: {time:.6g} s, {name[:60]}": time for k, (time, name) in enumerate(found[:JUMPS])}


def words(result: Result) -> str:
    """How a run went."""
    run = result.run
    return (
        f"{run.method}, {counted(run.steps, 'step')} in {seconds(run.seconds)}" if run.steps else run.status
    )


def _span(time: Array) -> tuple[float, float]:
    low, high = float(time[0]), float(time[-1])
    return low, high if high > low else low + 1.0


def _marks(jumps: dict[str, float], low: float, high: float) -> tuple[float, ...] | None:
    times = [t for t in dict.fromkeys(jumps.values()) if low <= t <= high][:MARKS]
    return tuple(times) or None

"""The viewer of elastic bodies in contact: deformed bodies in stress colours, obstacles, forces and energies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.elastic.page import scene
from bellcrank.elastic.pages import default_names, shown
from bellcrank.errors import ModelError
from bellcrank.view.live.controls import TimeControls
from bellcrank.view.live.curves import Curves, CurvesOf
from bellcrank.view.live.player import LOOPBACK, Player
from bellcrank.view.live.stage import Stage

if TYPE_CHECKING:
    from bellcrank.elastic.result import ElasticResult

Array = NDArray[np.float64]

FRAMES = 300


class ElasticViewer(Player):
    """Shows a result of elastic contact at ``url``; ``close`` ends it, as does leaving ``with``.

    quantities: Curves to begin with (forces and energies where None). magnified: Factor on displacements beyond those
    of the mass centres. host: Address to listen at; the default is this machine alone. port: 0 takes a free one.
    """

    def __init__(
        self,
        result: ElasticResult,
        *,
        quantities: Sequence[str] | None = None,
        magnified: float = 1.0,
        host: str = LOOPBACK,
        port: int = 0,
    ) -> None:
        if not len(result.frame_times):
            raise ModelError("the result has no kept times: there is nothing to show")
        for name in quantities or ():
            result[name]
        self.result, self._quantities = result, quantities
        masses = [body.total_mass for body in result.bodies]
        super().__init__(result.name, scene(result, FRAMES, magnified), int(np.argmax(masses)), host, port)

    def _furnish(self) -> None:
        run = self.result.run
        words = f"{run.unknowns:,} unknowns, {run.steps} steps in {run.seconds:.3g} s"
        self.stage = Stage(self.server, self._scene)
        self.controls = TimeControls(self.server, self, self.result.time, _touches(self.result), words)
        self.curves = Curves(self.server, CurvesOf(self.result, default_names, shown), self._quantities)

    def _between(self) -> None:
        """Nothing runs again: a result of elastic contact is what it is."""

    def _ended(self) -> None:
        """Nothing else goes on."""


def _touches(result: ElasticResult) -> dict[str, float]:
    """First touch, largest force and last touch of each contact, by a line of text each."""
    found = []
    for k, name in enumerate(result.contact_names):
        first, last = result.contact_duration(k)
        if last > first:
            found += [
                (first, f"{name} begins"),
                (result.peak(k)[1], f"{name} presses most"),
                (last, f"{name} ends"),
            ]
    found.sort(key=lambda item: item[0])
    return {f"{n + 1}: {time:.6g} s, {what[:60]}": time for n, (time, what) in enumerate(found)}

"""The viewer: a scene with its time, curves and parameters in the browser.

One thread of its own moves the scene, runs again and takes over results; what the browser asks for is only noted.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bellcrank.base.words import counted, seconds
from bellcrank.errors import BellcrankError, ModelError
from bellcrank.mechanism import Mechanism
from bellcrank.model.system import System
from bellcrank.result.result import Result
from bellcrank.view.live.again import again, at_start
from bellcrank.view.live.controls import ParameterSliders, TimeControls, jumps, words
from bellcrank.view.live.curves import Curves, CurvesOf
from bellcrank.view.live.player import LOOPBACK, Player
from bellcrank.view.live.stage import Stage
from bellcrank.view.parts import ARROWS
from bellcrank.view.placing import thinned
from bellcrank.view.scene import Scene, scene

FRAMES = 600


class Viewer(Player):
    """Shows a result, a mechanism or a system at ``url``; ``close`` ends it, as does leaving ``with``.

    quantities: Curves to begin with (a choice where None). magnified: Factor on the deformation of flexible bodies.
    traces: Points whose paths are drawn, such as ``"rod.point(1, 0, 0)"``. host: Address to listen at; the default is
    this machine alone. port: 0 takes a free one.
    """

    def __init__(
        self,
        shown: Result | Mechanism | System,
        *,
        quantities: Sequence[str] | None = None,
        magnified: float = 1.0,
        traces: Sequence[str] = (),
        host: str = LOOPBACK,
        port: int = 0,
    ) -> None:
        result = _result(shown)
        for name in quantities or ():
            result.quantities.find(name)
        self._coming: Result | None = None
        self._running = False
        self._wanted: Callable[[], Result] | None = None
        self._runner: threading.Thread | None = None
        self._quantities = quantities
        self.magnified, self._traced = magnified, traces
        self.result = result
        system = result.mechanism.system
        masses = [system.parameters.value(body.mass) for body in system.bodies.values()]
        super().__init__(system.name, self._drawing(result), int(np.argmax(masses)), host, port)

    def _drawing(self, result: Result) -> Scene:
        return scene(result, FRAMES, self.magnified, tuple(ARROWS), self._traced)

    def _furnish(self) -> None:
        self.stage = Stage(self.server, self._scene, self.result.impacts)
        self.controls = TimeControls(
            self.server, self, self.result.time, jumps(self.result), words(self.result)
        )
        self.curves = Curves(self.server, CurvesOf(self.result), self._quantities)
        self.parameters = ParameterSliders(self.server, self)

    @property
    def running(self) -> bool:
        """Whether a run goes on."""
        return self._running

    def take(self, result: Result) -> None:
        """Show another result of the same description."""
        self._later(lambda: self._take(result))

    def follow(self, result: Result) -> None:
        """Show the newest state of a run that goes on; give this to ``simulate(watch=...)``."""
        with self._lock:
            self._coming = result

    def run(self, duration: float, **options: Any) -> None:
        """Simulate the mechanism for `duration` seconds and follow it; options as for ``simulate``."""
        mechanism = self.result.mechanism
        self._want(lambda: mechanism.simulate(duration, watch=self._followed, progress=False, **options))

    def run_again(self, values: dict[str, float]) -> None:
        """Run the present result once more with other parameter values; of several wishes the newest counts."""
        self._want(lambda: again(self.result, values, watch=self._followed, progress=False))

    def finished(self, seconds: float = 60.0) -> bool:
        """Wait for runs and other work to be done; whether they are."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with self._lock:
                waiting = self._todo or self._wanted or self._coming
                if not (waiting or self._busy or self._running):
                    return True
            time.sleep(0.01)
        return False

    def _want(self, simulate: Callable[[], Result]) -> None:
        with self._lock:
            self._wanted = simulate

    def _followed(self, result: Result) -> None:
        """Follow a run of the viewer's own, which ends with it."""
        if self._stop.is_set():
            raise _Ended
        self.follow(result)

    def _start(self) -> None:
        with self._lock:
            simulate, self._wanted = self._wanted, None
            if simulate is None:
                return
            self._running = True
        self.controls.report("running ...")

        def go() -> None:
            try:
                result = simulate()
                if not self._stop.is_set():
                    self._later(lambda: self._take(result))
                    self.controls.report(
                        f"{counted(result.run.steps, 'step')} in {seconds(result.run.seconds)}"
                    )
            except _Ended:
                pass
            except BellcrankError as error:
                self.controls.report(f"failed: {error}")
            finally:
                self._running = False

        self._runner = threading.Thread(target=go, name="viewer run", daemon=True)
        self._runner.start()

    def _take(self, result: Result) -> None:
        with self._lock:
            self._coming = None
            self.result = result
            self._scene = self._drawing(result)
            self.stage.remove()
            self.stage = Stage(self.server, self._scene, result.impacts, self.controls.names.value)
            self.controls.show_arrows()
            self.controls.show_section()
            self.time = float(np.clip(self.time, self._scene.time[0], self._scene.time[-1]))
            self._drawn = -1
        self.controls.take(result.time, jumps(result))
        self.curves.take(CurvesOf(result))

    def _take_coming(self) -> None:
        with self._lock:
            result, self._coming = self._coming, None
        if result is None or len(result) < 1:
            return
        # Of a run that goes on, no more is worked out than is shown.
        result = thinned(result, FRAMES)
        drawn = self._drawing(result)
        with self._lock:
            self._scene = drawn
            self.stage.scene = drawn
            for bent, fresh in zip(self.stage.deforming, drawn.deforming, strict=True):
                bent.drawn = fresh
            self.time = float(drawn.time[-1])
            self._drawn = -1
        self.controls.take(result.time, jumps(result))
        self.curves.take(CurvesOf(result))

    def _between(self) -> None:
        if not self._running:
            self._start()
        self._take_coming()

    def _ended(self) -> None:
        if self._runner is not None:
            self._runner.join(timeout=60.0)


class _Ended(BaseException):
    """The viewer was closed while a run went on."""


def _result(shown: Result | Mechanism | System) -> Result:
    if isinstance(shown, System):
        shown = shown.mechanism()
    if isinstance(shown, Mechanism):
        return at_start(shown)
    if not len(shown):
        raise ModelError("the result has no outputs: there is nothing to show")
    return shown

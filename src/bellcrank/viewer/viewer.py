"""The viewer: a scene with its time, curves and parameters in the browser.

One thread of its own moves the scene, runs again and takes over results; what the browser asks for is only noted.
"""

from __future__ import annotations

import contextlib
import io
import sys
import threading
import time
from collections.abc import Callable, Sequence
from html import escape
from types import TracebackType
from typing import Any

import numpy as np

from bellcrank.errors import BellcrankError, ModelError
from bellcrank.mechanism import Mechanism
from bellcrank.model.system import System
from bellcrank.result.result import Result
from bellcrank.view.animation import camera
from bellcrank.view.scene import Scene, scene, thinned
from bellcrank.viewer.again import again, at_start
from bellcrank.viewer.controls import ParameterSliders, TimeControls
from bellcrank.viewer.curves import Curves
from bellcrank.viewer.stage import Stage

FRAMES = 600
RATE = 30.0
"""Frames a second while playing."""
CURVES_EVERY = 4
"""Frames between two movements of the marks in the curves."""
LOOPBACK = "127.0.0.1"


class Viewer:
    """Shows a result, a mechanism or a system at ``url``; ``close`` ends it, as does leaving ``with``.

    quantities: Curves to begin with (a choice where None). magnified: Factor on the deformation of flexible bodies.
    host: Address to listen at; the default is this machine alone. port: 0 takes a free one.
    """

    def __init__(
        self,
        shown: Result | Mechanism | System,
        *,
        quantities: Sequence[str] | None = None,
        magnified: float = 1.0,
        host: str = LOOPBACK,
        port: int = 0,
    ) -> None:
        result = _result(shown)
        for name in quantities or ():
            result.quantities.find(name)
        self._lock = threading.RLock()
        self._todo: list[Callable[[], None]] = []
        self._stop = threading.Event()
        self._coming: Result | None = None
        self._running = self._busy = False
        self._wanted: Callable[[], Result] | None = None
        self._runner: threading.Thread | None = None
        self.magnified = magnified
        self.result = result
        self.server = _server(host, port, result.mechanism.system.name)
        self.host = host
        self.time = float(result.time[0])
        self.playing = False
        self._drawn = self._marked = -1
        try:
            self._scene = scene(result, FRAMES, magnified)
            self._camera(self._scene)
            self.stage = Stage(self.server, self._scene, result)
            self.controls = TimeControls(self.server, self)
            self.curves = Curves(self.server, result, quantities)
            self.parameters = ParameterSliders(self.server, self)
            self._show()
        except BaseException:
            self.server.stop()
            raise
        self._thread = threading.Thread(target=self._work, name="viewer", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server.get_port())

    @property
    def url(self) -> str:
        """Where to look."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    def open(self, browser: bool | None = None) -> bool:
        """Open a browser here, where None outside of notebooks only; whether one was opened."""
        if browser if browser is not None else not in_notebook():
            import webbrowser

            return webbrowser.open(self.url)
        return False

    @property
    def running(self) -> bool:
        """Whether a run goes on."""
        return self._running

    def play(self) -> None:
        """Let time pass; from the start where it has come to the end."""
        with self._lock:
            if self.time >= self._scene.time[-1]:
                self.time = float(self._scene.time[0])
            self.playing = True
        self.controls.show_playing(True)

    def pause(self) -> None:
        """Hold the time."""
        self.playing = False
        self.controls.show_playing(False)

    def seek(self, time: float) -> None:
        """Go to a time [s]."""
        with self._lock:
            self.time = float(np.clip(time, self._scene.time[0], self._scene.time[-1]))

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

    def wait(self) -> None:
        """Until Ctrl-C or ``close``."""
        with contextlib.suppress(KeyboardInterrupt):
            while not self._stop.wait(0.2):
                pass

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

    def close(self) -> None:
        """End it: server, threads and all."""
        if self._stop.is_set():
            return
        self._stop.set()
        self._thread.join(timeout=10.0)
        if self._runner is not None:
            self._runner.join(timeout=60.0)
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()
        self.server._thread_executor.shutdown(wait=True)

    def __enter__(self) -> Viewer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _repr_html_(self) -> str:
        """In a notebook: the viewer in a frame of the page."""
        url = escape(self.url, quote=True)
        return f'<iframe src="{url}" width="100%" height="560" style="border:1px solid #d0d7de"></iframe>'

    def _later(self, what: Callable[[], None]) -> None:
        with self._lock:
            self._todo.append(what)

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
        self.controls.tell("running ...")

        def go() -> None:
            try:
                result = simulate()
                if not self._stop.is_set():
                    self._later(lambda: self._take(result))
                    self.controls.tell(f"{result.run.steps} steps in {1e3 * result.run.seconds:.3g} ms")
            except _Ended:
                pass
            except BellcrankError as error:
                self.controls.tell(f"failed: {error}")
            finally:
                self._running = False

        self._runner = threading.Thread(target=go, name="viewer run", daemon=True)
        self._runner.start()

    def _take(self, result: Result) -> None:
        with self._lock:
            self._coming = None
            self.result = result
            self._scene = scene(result, FRAMES, self.magnified)
            self.stage.remove()
            self.stage = Stage(self.server, self._scene, result, self.controls.names.value)
            self.time = float(np.clip(self.time, self._scene.time[0], self._scene.time[-1]))
            self._drawn = -1
        self.controls.take(result)
        self.curves.take(result)

    def _take_coming(self) -> None:
        with self._lock:
            result, self._coming = self._coming, None
        if result is None or len(result) < 1:
            return
        # Of a run that goes on, no more is worked out than is shown.
        result = thinned(result, FRAMES)
        drawn = scene(result, FRAMES, self.magnified)
        with self._lock:
            self._scene = drawn
            self.stage.scene = drawn
            for bent, fresh in zip(self.stage.deforming, drawn.deforming, strict=True):
                bent.drawn = fresh
            self.time = float(drawn.time[-1])
            self._drawn = -1
        self.controls.take(result)
        self.curves.take(result)

    def _work(self) -> None:
        last, count = time.perf_counter(), 0
        while not self._stop.wait(1.0 / RATE):
            now = time.perf_counter()
            with self._lock:
                todo, self._todo, self._busy = self._todo, [], True
            for what in todo:
                what()
            if not self._running:
                self._start()
            self._take_coming()
            self._busy = False
            if self.playing:
                self.time += (now - last) * self.controls.speed
                if self.time >= self._scene.time[-1]:
                    self.time = float(self._scene.time[-1])
                    self.pause()
            last = now
            count += 1
            self._show(curves=count % CURVES_EVERY == 0 or not self.playing)

    def _show(self, curves: bool = True) -> None:
        with self._lock:
            times = self._scene.time
            frame = int(np.clip(np.searchsorted(times, self.time + 1e-12) - 1, 0, len(times) - 1))
            moved, self._drawn = frame != self._drawn, frame
            if moved:
                self._marked = -1
                self.stage.show(frame)
                self.stage.root.position = -self._shift(frame)
        if moved:
            self.controls.show(self.time)
        if curves and self._marked != frame:
            self._marked = frame
            self.curves.show(self.time)

    def _shift(self, frame: int) -> Any:
        """How far the heaviest body has travelled, where the eye goes along with it."""
        if not self.controls.follow.value:
            return np.zeros(3)
        positions = self._scene.positions[:, self._anchor]
        return positions[frame] - positions[0]

    def _camera(self, drawn: Scene) -> None:
        target, box, self._travels = camera(drawn)
        bodies = self.result.mechanism.system.bodies.values()
        masses = [self.result.mechanism.system.parameters.value(b.mass) for b in bodies]
        self._anchor = int(np.argmax(masses))
        angle = 0.7
        distance = 0.5 * max(box[1], box[0] / 1.25) / np.tan(angle / 2) + 0.15 * drawn.size
        view = drawn.view
        if drawn.planar:
            # A little from above and from the side: the ground shows, and that the mechanism has depth.
            side = np.cross(drawn.up, drawn.view)
            view = view + 0.28 * drawn.up + 0.22 * side
            view = view / np.linalg.norm(view)
        eye = self.server.initial_camera
        self.server.scene.set_up_direction(tuple(drawn.up))
        eye.up = tuple(drawn.up)
        eye.look_at = tuple(target)
        eye.position = tuple(np.asarray(target) + 1.15 * distance * view)
        eye.fov = angle


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


def _server(host: str, port: int, name: str) -> Any:
    try:
        import viser
    except ImportError as error:
        raise ModelError("the viewer needs viser: pip install 'bellcrank[view]'") from error
    # viser greets on standard output, which belongs to whoever calls.
    with contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host=host, port=port or free_port(host), label=name[:60], verbose=False)

    def no_share() -> None:
        """Nothing leaves this machine: viser's tunnel to the outside stays shut."""

    server.request_share_url = no_share  # type: ignore[method-assign,assignment]
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(59, 117, 175))
    server.gui.main_panel.dock_right()
    return server


def in_notebook() -> bool:
    """Whether this runs in the kernel of a notebook, which shows a viewer in place."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


def free_port(host: str) -> int:
    """A port nobody listens at."""
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])

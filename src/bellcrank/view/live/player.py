"""A scene with its time in the browser: server, clock, eye; what is shown is up to those that build on it.

One thread of its own moves the scene; what the browser asks for is only noted.
"""

from __future__ import annotations

import contextlib
import io
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from html import escape
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bellcrank.view.live.eye import Eye
from bellcrank.view.live.gated import gated_server
from bellcrank.view.scene import Scene

if TYPE_CHECKING:
    from bellcrank.view.live.controls import TimeControls
    from bellcrank.view.live.curves import Curves
    from bellcrank.view.live.stage import Stage

RATE = 30.0
"""Frames a second while playing."""
CURVES_EVERY = 4
"""Frames between two movements of the marks in the curves."""
LOOPBACK = "127.0.0.1"


class Player(ABC):
    """A scene at ``url``; ``close`` ends it, as does leaving ``with``.

    anchor: Number of the body the eye goes along with. host: Address to listen at. port: 0 takes a free one.
    """

    stage: Stage
    controls: TimeControls
    curves: Curves

    def __init__(self, name: str, drawn: Scene, anchor: int, host: str, port: int) -> None:
        self._lock = threading.RLock()
        self._todo: list[Callable[[], None]] = []
        self._stop = threading.Event()
        self._busy = False
        self._scene, self._anchor = drawn, anchor
        self.host = host
        self.time = float(drawn.time[0])
        self.playing = False
        self._drawn = self._marked = -1
        self.server = _server(host, port, name)
        try:
            self.eye, self._travels = Eye(self.server, drawn), drawn.travels
            self._furnish()
            self._show()
        except BaseException:
            self.server.stop()
            raise
        self._thread = threading.Thread(target=self._work, name="viewer", daemon=True)
        self._thread.start()

    @abstractmethod
    def _furnish(self) -> None:
        """Make stage, controls and curves."""

    @abstractmethod
    def _between(self) -> None:
        """Work between two frames."""

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

    def wait(self) -> None:
        """Until Ctrl-C or ``close``."""
        with contextlib.suppress(KeyboardInterrupt):
            while not self._stop.wait(0.2):
                pass

    def close(self) -> None:
        """End it: server, threads and all."""
        if self._stop.is_set():
            return
        self._stop.set()
        self._thread.join(timeout=10.0)
        self._ended()
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()
        self.server._thread_executor.shutdown(wait=True)

    @abstractmethod
    def _ended(self) -> None:
        """Wait for what else goes on."""

    def __enter__(self) -> Self:
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

    def _work(self) -> None:
        last, count = time.perf_counter(), 0
        while not self._stop.wait(1.0 / RATE):
            now = time.perf_counter()
            with self._lock:
                todo, self._todo, self._busy = self._todo, [], True
            for what in todo:
                what()
            self._between()
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


def _server(host: str, port: int, name: str) -> Any:
    server = gated_server(host, port or free_port(host), name)

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

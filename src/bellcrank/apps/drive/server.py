"""The page of a drive and its socket, on one port of this machine."""

from __future__ import annotations

import json
import logging
import socket
import threading
from typing import Any

from bellcrank.apps.drive import packing
from bellcrank.apps.drive.controls import Wish
from bellcrank.apps.drive.drive import Drive
from bellcrank.base.optional import needed
from bellcrank.errors import ModelError
from bellcrank.view.gate import Gate
from bellcrank.view.pages import fill, policy, text

LONGEST = 1024
"""Bytes of a message of the page."""
PATIENCE = 0.015
"""Seconds to wait for a message of the page before the next frame is sent."""


def page(hosts: tuple[str, ...]) -> str:
    """The page itself: nothing is loaded from anywhere."""
    from importlib.resources import files

    folder = files("bellcrank.apps.drive").joinpath("page")
    script, style, html = (
        folder.joinpath(f"drive.{kind}").read_text("utf-8") for kind in ("js", "css", "html")
    )
    # A content security policy has no words for IPv6 addresses; 'self' stands for those.
    sockets = " ".join(f"ws://{host}" for host in hosts if not host.startswith("["))
    rules = f"{policy(script)}; connect-src 'self' {sockets}"
    return fill(html, {"POLICY": text(rules), "STYLE": style, "SCRIPT": script})


def sockets() -> Any:
    """The package that serves the page."""
    return needed("websockets.sync.server", "the page of a drive", "websockets", "view")


class DriveServer:
    """Serves a drive; started by ``with``, and all its threads are gone after it."""

    def __init__(self, drive: Drive, host: str = "127.0.0.1", port: int = 0) -> None:
        self.drive, self.host = drive, host
        self._shapes = json.dumps(packing.shapes(drive))
        self._new = threading.Condition()
        self._frame, self._number = b"", 0
        self._place = (0.0, 0.0)
        self._stop = threading.Event()
        self._threads: set[threading.Thread] = set()
        self._server = self._bound(port)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.socket.getsockname()[1])

    @property
    def url(self) -> str:
        """Where to look."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/"

    def _bound(self, port: int) -> Any:
        serve = sockets().serve
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            bound = socket.create_server((self.host, port), family=family)
        except OSError as error:
            why = error.strerror or str(error)
            raise ModelError(
                f"cannot listen at {self.host}:{port}: {why}; another --port may be free, 0 finds one"
            ) from error
        self._gate = Gate(self.host)
        self._page = page(self._gate.hosts(bound.getsockname()[1])).encode()
        # Browsers open connections ahead and let them fall; that is not worth a word.
        quiet = logging.getLogger("bellcrank.apps.drive.socket")
        quiet.setLevel(logging.CRITICAL)
        return serve(
            self._connected,
            sock=bound,
            process_request=self._asked,
            max_size=LONGEST,
            compression=None,
            open_timeout=3,
            logger=quiet,
        )

    def _asked(self, connection: Any, request: Any) -> Any:
        """The page for whoever asks for it by one of this machine's names; the socket for that page alone."""
        from http import HTTPStatus

        # Each connection has a thread of its own, which the end waits for.
        self._threads = {t for t in self._threads if t.is_alive()} | {threading.current_thread()}
        to_socket = request.path == "/socket"
        refused = self._gate.refusal(request.headers, self.port, to_socket)
        if refused:
            return connection.respond(HTTPStatus.FORBIDDEN, refused)
        if to_socket:
            return None
        if request.path not in ("/", "/index.html"):
            return connection.respond(HTTPStatus.NOT_FOUND, "there is one page here: /\n")
        response = connection.respond(HTTPStatus.OK, "")
        response.body = self._page
        for name, value in (
            ("Content-Type", "text/html; charset=utf-8"),
            ("Content-Length", str(len(self._page))),
            ("Cache-Control", "no-store"),
        ):
            if name in response.headers:
                del response.headers[name]
            response.headers[name] = value
        return response

    def show(self, found: dict[str, Any]) -> None:
        """Hand a frame to all pages that look."""
        packed = packing.frame(found)
        with self._new:
            self._frame, self._number = packed, self._number + 1
            self._place = float(found["poses"][0]), float(found["poses"][1])

    def _connected(self, connection: Any) -> None:
        from websockets.exceptions import ConnectionClosed

        seen, place = 0, None
        try:
            connection.send(self._shapes)
            while not self._stop.is_set():
                seen, place = self._send_news(connection, seen, place)
                try:
                    self._told(connection.recv(timeout=PATIENCE))
                except TimeoutError:
                    continue
        except ConnectionClosed:
            pass
        finally:
            # A page that is gone has its feet off the pedals.
            self.drive.wish = Wish()

    def _send_news(
        self, connection: Any, seen: int, place: tuple[float, float] | None
    ) -> tuple[int, tuple[float, float] | None]:
        with self._new:
            frame, number, here = self._frame, self._number, self._place
        if number == seen:
            return seen, place
        snapped = tuple(packing.SNAP * round(v / packing.SNAP) for v in here)
        if snapped != place:
            connection.send(packing.ground(self.drive.terrain, *snapped))
        connection.send(frame)
        return number, (snapped[0], snapped[1])

    def _told(self, message: str | bytes) -> None:
        try:
            found = json.loads(message)
        except (ValueError, RecursionError):
            return
        self.drive.wish = Wish.of(found)
        if isinstance(found, dict) and found.get("reset") is True:
            self.drive.reset()

    def __enter__(self) -> DriveServer:
        self._thread = threading.Thread(target=self._server.serve_forever, name="drive page", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._server.shutdown()
        self._thread.join(timeout=5.0)
        for thread in self._threads:
            thread.join(timeout=5.0)

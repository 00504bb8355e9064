"""A real browser, driven by its DevTools protocol over a socket of this machine."""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-background-networking", "--disable-component-update"),
    *(
        "--disable-sync",
        "--no-first-run",
        "--no-default-browser-check",
        "--disable-extensions",
        "--mute-audio",
    ),
    *(
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
        "--ignore-gpu-blocklist",
        "--remote-debugging-port=0",
    ),
    *("--disable-features=Translate,MediaRouter,OptimizationHints", "--window-size=1280,720"),
)


class Browser:
    """One chromium with a profile of its own, gone with its processes at the end of ``with``."""

    def __init__(self) -> None:
        assert PROGRAM is not None
        self._folder = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        command = [PROGRAM, *FLAGS, f"--user-data-dir={self._folder.name}", "about:blank"]
        with Path(self._folder.name, "log").open("wb") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        self._port = self._found_port()

    def _found_port(self) -> int:
        file = Path(self._folder.name, "DevToolsActivePort")
        for _ in range(600):
            if file.exists() and (lines := file.read_text().splitlines()):
                return int(lines[0])
            time.sleep(0.05)
        raise RuntimeError("chromium did not start: " + Path(self._folder.name, "log").read_text()[-2000:])

    @contextlib.contextmanager
    def page(self, url: str, width: int = 1280, height: int = 720) -> Iterator[Page]:
        """A page, watched from its first request on."""
        request = urllib.request.Request(f"http://127.0.0.1:{self._port}/json/new?about:blank", method="PUT")
        with urllib.request.urlopen(request, timeout=30) as answer:
            found = json.load(answer)
        page = Page(found["webSocketDebuggerUrl"], width, height)
        try:
            page.open(url)
            yield page
        finally:
            page.close()

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(timeout=10)
        self._folder.cleanup()


class Page:
    """A page: `requests` holds every address asked for, `complaints` every error and warning of the console."""

    def __init__(self, socket: str, width: int, height: int) -> None:
        from websockets.sync.client import connect

        self._open = contextlib.ExitStack()
        self._socket = self._open.enter_context(connect(socket, max_size=None, compression=None))
        self._number = 0
        self.requests: list[str] = []
        self.complaints: list[str] = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._call(f"{domain}.enable")
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def _call(self, method: str, **arguments: Any) -> dict[str, Any]:
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": arguments}))
        while True:
            message = json.loads(self._socket.recv(timeout=60))
            if message.get("id") == self._number:
                assert "error" not in message, f"{method}: {message['error']}"
                answer: dict[str, Any] = message["result"]
                return answer
            self._heard(message)

    def _heard(self, message: dict[str, Any]) -> None:
        method, told = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif method == "Network.webSocketCreated":
            self.requests.append(told["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(told["exceptionDetails"].get("exception", told["exceptionDetails"])))
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "assert"):
            self.complaints.append(" ".join(str(a.get("value", a.get("description"))) for a in told["args"]))
        elif method == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.complaints.append(f"{told['entry']['text']} {told['entry'].get('url', '')}")

    def open(self, url: str) -> None:
        """Go to an address."""
        self._call("Page.navigate", url=url)

    def value(self, expression: str) -> Any:
        """What a JavaScript expression gives."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, expression: str, seconds: float = 30.0) -> Any:
        """Wait until an expression is true; its value."""
        end = time.monotonic() + seconds
        # A page that is just being opened has no elements yet, and an expression of them no value.
        safe = f"(() => {{ try {{ return {expression}; }} catch (e) {{ return null; }} }})()"
        while not (value := self.value(safe)):
            assert time.monotonic() < end, f"after {seconds} s still not: {expression}"
            time.sleep(0.05)
        return value

    def coloured(self, canvas: str) -> int:
        """How many pixels of a flat canvas are strongly coloured: those of curves."""
        return int(
            self.value(
                f"""(() => {{
                  const c = document.querySelector({canvas!r});
                  const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
                  let n = 0;
                  for (let i = 0; i < d.length; i += 4) {{
                    const rgb = [d[i], d[i + 1], d[i + 2]];
                    if (d[i + 3] > 200 && Math.max(...rgb) - Math.min(...rgb) > 80) n++;
                  }}
                  return n; }})()"""
            )
        )

    def set(self, element: str, value: float) -> None:
        """Move a slider, given by its id, as a person does."""
        self.value(
            f"""(() => {{ const s = document.getElementById({element!r});
              s.value = {value}; s.dispatchEvent(new Event('input')); }})()"""
        )

    def middle(self, element: str) -> tuple[float, float]:
        """Where an element is in the page."""
        x, y = self.value(
            f"""(() => {{ const r = document.querySelector({element!r}).getBoundingClientRect();
              return [r.x + r.width / 2, r.y + r.height / 2]; }})()"""
        )
        return float(x), float(y)

    def key(self, kind: str, key: str) -> None:
        """ "keyDown" or "keyUp" of a key by its name."""
        self._call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def mouse(self, kind: str, x: float, y: float) -> None:
        """ "mousePressed", "mouseReleased" or "mouseMoved" at a place in the page."""
        self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    def click(self, x: float, y: float) -> None:
        """Press and let go."""
        self.mouse("mousePressed", x, y)
        self.mouse("mouseReleased", x, y)

    def picture(self) -> bytes:
        """The page as PNG."""
        return base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"])

    def close(self) -> None:
        """Close it."""
        with contextlib.suppress(Exception):
            self._call("Page.close")
        self._open.close()

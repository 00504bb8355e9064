"""A viser server whose every request passes the gate first.

viser serves its page and its socket to whoever asks and has no option to refuse. It hands its handler of requests to
``websockets.asyncio.server.serve``; while it starts, that name stands for a function that puts the gate in front.
"""

from __future__ import annotations

import contextlib
import io
import threading
from collections.abc import Iterator
from typing import Any

from bellcrank.base.optional import needed
from bellcrank.errors import ModelError
from bellcrank.view.gate import Gate

_STARTING = threading.Lock()


def gated_server(host: str, port: int, name: str) -> Any:
    """A viser server at `host` and `port` that answers its own page alone."""
    viser = needed("viser", "the viewer", "viser", "view")
    # viser greets on standard output, which belongs to whoever calls.
    with contextlib.redirect_stdout(io.StringIO()), _in_front(Gate(host)) as gated:
        server = viser.ViserServer(host=host, port=port, label=name[:60], verbose=False)
    if not gated.is_set():
        server.stop()
        raise ModelError(
            f"viser {viser.__version__} leaves its server open to foreign pages; install viser 1.1"
        )
    return server


@contextlib.contextmanager
def _in_front(gate: Gate) -> Iterator[threading.Event]:
    """Put `gate` in front of the server that viser starts meanwhile; the event is set once it is there."""
    import websockets.asyncio.server as sockets

    done = threading.Event()
    serve = sockets.serve

    def gated(handler: Any, *args: Any, process_request: Any = None, **options: Any) -> Any:
        if getattr(process_request, "__module__", "").partition(".")[0] != "viser":
            # Somebody else starts a server of their own at the same time.
            return serve(handler, *args, process_request=process_request, **options)

        def asked(connection: Any, request: Any) -> Any:
            port = connection.local_address[1]
            refused = gate.refusal(request.headers, port, "Upgrade" in request.headers)
            return connection.respond(403, refused) if refused else process_request(connection, request)

        done.set()
        return serve(handler, *args, process_request=asked, **options)

    with _STARTING:
        sockets.serve = gated
        try:
            yield done
        finally:
            sockets.serve = serve

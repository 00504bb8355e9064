"""Who may talk to a server on this machine: its own page, under a name that cannot be made to point here.

Browsers let any page open a socket to any address and send where the page came from (``Origin``) and which name was
asked for (``Host``). Two attacks follow: a foreign page that opens the socket (cross-site WebSocket hijacking), and a
foreign name that is made to resolve to this machine (DNS rebinding). Both are refused here, for all servers alike.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from ipaddress import ip_address

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Gate:
    """The check of a request to a server that listens at `host`."""

    def __init__(self, host: str) -> None:
        self.loopback = host in LOOPBACK
        own = (host, *LOOPBACK) if self.loopback else (host, "localhost", *_own_names())
        self.names = tuple(dict.fromkeys(name.lower() for name in own))

    def hosts(self, port: int) -> tuple[str, ...]:
        """What may stand in the header ``Host`` of a request, addresses of other interfaces left out."""
        return tuple(f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in self.names)

    def refusal(self, headers: Mapping[str, str], port: int, opens_socket: bool) -> str:
        """Why a request that came in at `port` is refused; empty where it is welcome."""
        host, origin = headers.get("Host") or "", headers.get("Origin")
        if host.lower() not in self.hosts(port) and (self.loopback or not _is_address(host)):
            return f"this server answers to {', '.join(self.hosts(port))} only\n"
        # A page of this server was loaded by the very name it now asks for.
        if opens_socket and origin != f"http://{host}":
            return "the socket belongs to the page of this server\n"
        return ""


def _own_names() -> tuple[str, ...]:
    """The names of this machine, as others on its network call it."""
    name = socket.gethostname()
    return name, f"{name}.local", socket.getfqdn()


def _is_address(host: str) -> bool:
    """Whether a request asks for an address in digits, which no name server can redirect."""
    name = host[1:].partition("]")[0] if host.startswith("[") else host.rpartition(":")[0] or host
    try:
        ip_address(name)
    except ValueError:
        return False
    return True

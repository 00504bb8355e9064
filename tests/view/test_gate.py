"""Who may talk to the servers."""

from __future__ import annotations

import pytest

from bellcrank.view.gate import Gate


@pytest.mark.parametrize(
    ("listens", "host", "welcome"),
    [
        ("127.0.0.1", "localhost:80", True),
        ("127.0.0.1", "LOCALHOST:80", True),
        ("127.0.0.1", "[::1]:80", True),
        ("127.0.0.1", "127.0.0.1:81", False),
        ("127.0.0.1", "10.0.0.7:80", False),
        ("127.0.0.1", "", False),
        ("::1", "[::1]:80", True),
        ("0.0.0.0", "10.0.0.7:80", True),
        ("0.0.0.0", "[fe80::1]:80", True),
        ("0.0.0.0", "somewhere.else:80", False),
        ("bench.lab", "bench.lab:80", True),
    ],
)
def test_names_that_can_be_made_to_point_here_are_refused(listens: str, host: str, welcome: bool) -> None:
    gate = Gate(listens)
    assert (not gate.refusal({"Host": host}, 80, opens_socket=False)) == welcome
    assert (not gate.refusal({"Host": host, "Origin": f"http://{host}"}, 80, opens_socket=True)) == welcome
    assert gate.refusal({"Host": host, "Origin": "http://somewhere.else"}, 80, opens_socket=True)

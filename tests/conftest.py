"""Settings of the whole suite."""

from __future__ import annotations

import signal
import threading

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Let Ctrl-C reach the tests that send it, also where the suite runs in the background.

    A shell starts background jobs with the interrupt ignored, and Python and its children leave it so.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)

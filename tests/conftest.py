"""Settings of the whole suite."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings

FIRST = ("docs/test_site.py", "view/live/")
"""Tests that share one long preparation. At the front they stay in one worker: work is stolen from the end."""

LINUX = sys.platform.startswith("linux")
collect_ignore = [] if LINUX else ["hostile/test_faults.py", "hostile/test_mutate.py"]
"""What limits other processes and looks into them by ways of Linux."""

# Property tests run on shared machines: the time of one example says nothing. Examples are the same in every run.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")


def pytest_configure(config: pytest.Config) -> None:
    """Settings that workers inherit: Ctrl-C, one cache of machine code, threads.

    Ctrl-C must reach the tests that send it: a shell starts background jobs with the interrupt ignored, and Python and
    its children leave it so. The cache is empty at first; BELLCRANK_CACHE names another one, which may last.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if "BELLCRANK_CACHE" not in os.environ:
        folder = TemporaryDirectory(prefix="bellcrank-kernels-", ignore_cleanup_errors=True)
        os.environ["BELLCRANK_CACHE"] = os.path.join(folder.name, "cache")
        config.add_cleanup(folder.cleanup)
    # Tests evaluate a program a few thousand times: compiling it is what takes long. The bits are the same.
    os.environ.setdefault("BELLCRANK_EFFORT", "0")
    # One thread of linear algebra a worker: more wait for each other, and matrices here are small.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def pytest_collection_finish() -> None:
    """Have Python look for reference cycles among the objects of the tests alone, and less often: there is memory."""
    gc.freeze()
    gc.set_threshold(1_000_000, 5, 5)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move the tests with a long preparation to the front; skip what another system has no signals or files for."""
    for item in items:
        if (item.get_closest_marker("posix") and sys.platform == "win32") or (
            item.get_closest_marker("linux") and not LINUX
        ):
            item.add_marker(pytest.mark.skip(reason="not on this platform"))
    items.sort(key=lambda item: not any(name in item.nodeid for name in FIRST))

"""Kernels of these tests are cached in a folder of their own."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BELLCRANK_CACHE", str(tmp_path_factory.mktemp("kernels") / "cache"))
        yield

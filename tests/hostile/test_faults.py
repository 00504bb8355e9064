"""A short run of the faults, and that a loss is noticed."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

import pytest

from bellcrank.run import recording
from hostile import faults, nursery
from result.test_storage import pendulum


@pytest.fixture(scope="module")
def load() -> faults.Recorded:
    """A run of about half a second."""
    options = {"integrator": "dop853", "max_step": 2e-5, "output": 1000, "progress": False}
    return faults.Recorded(pendulum, 10.0, options)


@pytest.mark.parametrize("kind", ["kill", "interrupt", "full disk", "out of memory", "clock moved"])
def test_nothing_is_lost_but_the_last_second(kind: str, load: faults.Recorded, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    faults.FAULTS[kind](load, tmp_path / "work", random.Random(f"{kind} 3"))


def test_a_loss_is_noticed_and_kept(
    load: faults.Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "SHORTEST", 1e9)
    monkeypatch.setattr(faults, "LAST_SECOND", 0.1 * load.seconds)
    monkeypatch.setattr(faults, "LOADS", {"run": load})
    monkeypatch.setattr(random.Random, "uniform", lambda self, low, high: 0.7 * high)
    given = ["--count", "1", "--kind", "kill", "--out", str(tmp_path)]
    assert faults.main(given) == 1
    assert "outputs older than a second are lost" in (tmp_path / "kill-0-0" / "what").read_text()
    assert (tmp_path / "kill-0-0" / "work" / "run.h5").exists()
    monkeypatch.undo()
    assert faults.main(given) == 1, "what was done is not done again"


@pytest.mark.parametrize("name", nursery.NEEDED)
def test_workers_of_a_cluster_find_their_modules(name: str) -> None:
    assert importlib.util.find_spec(name) is not None

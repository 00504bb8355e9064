"""Mechanisms and results travel by pickle, before and after runs, as text and numbers."""

from __future__ import annotations

import io
import multiprocessing
import pickle
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.mechanism import analyse
from bellcrank.result import header
from bellcrank.verify.slider_crank import slider_crank
from impacts.models import ball

from .test_storage import pendulum, same

OURS = {"bellcrank.result.header", "bellcrank.result.series", "bellcrank.result.storage"}
"""What pickles name, those of earlier versions too: it stays where it is."""
ARRAYS = ("numpy", "numpy._core.multiarray", "numpy.core.multiarray")


class Plain(pickle.Unpickler):
    """Knows a few modules of Bellcrank and arrays of NumPy, nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        assert module in OURS or module in ARRAYS, f"{module}.{name}"
        return super().find_class(module, name)


def sent(thing: Any) -> Any:
    """What arrives at another process that has not seen it before."""
    header._restored.clear()
    return Plain(io.BytesIO(pickle.dumps(thing))).load()


@pytest.mark.parametrize("system", [pendulum, partial(slider_crank, 9.81)])
def test_a_mechanism_travels_before_and_after_a_run(system: Any) -> None:
    mechanism = analyse(system(), parameters=None)
    before = sent(mechanism)
    result = mechanism.simulate(0.2, output=10)
    after = sent(mechanism)
    for one in (before, after):
        assert same(one.simulate(0.2, output=10), result)
    back = sent(result)
    assert same(back, result)
    assert back.names == result.names
    assert np.array_equal(back["energy.total"], result["energy.total"])
    assert pickle.loads(pickle.dumps(after)) is pickle.loads(pickle.dumps(after))


def test_impacts_travel() -> None:
    result = ball(0.5).simulate(1.0, output=50)
    back = sent(result)
    assert len(back.impacts) == len(result.impacts) > 0
    assert np.array_equal(back.ledger.residual, result.ledger.residual)


def test_series_keep_their_units() -> None:
    series = pendulum().simulate(0.1, output=5)["second.velocity.x"]
    back = sent(series)
    assert (back.name, back.unit) == (series.name, "m/s")
    assert np.array_equal(back.time, series.time)
    assert np.array_equal(back, series)
    assert sent(series > 0).dtype == bool


def test_elastic_results_travel() -> None:
    result = bc.load_result(Path(__file__).parent / "files" / "elastic.h5")
    assert np.array_equal(sent(result)["landing.force"], result["landing.force"])


def run_for(mechanism: Any, duration: float) -> bc.Result:
    found: bc.Result = mechanism.simulate(duration, output=10)
    return found


def test_a_pool_of_fresh_processes_takes_both() -> None:
    mechanism = analyse(pendulum())
    here = run_for(mechanism, 0.2)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        (there,) = pool.map(partial(run_for, mechanism), [0.2])
    assert same(here, there)

"""A real dask scheduler and two worker processes on loopback: the same bits, and nothing lost when things die."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bellcrank.errors import BellcrankError
from bellcrank.study import Function, MonteCarlo, Outcome, Study, Uniform
from bellcrank.study.files import load_study
from study.models import oscillator

EXAMPLES = Path(__file__).parents[2] / "examples"
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(
        filter(None, [str(EXAMPLES.parent / "src"), os.environ.get("PYTHONPATH", "")])
    ),
}


class Cluster:
    """The processes. address: of the scheduler."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.note = folder, folder / "scheduler.json"
        self.scheduler = self._start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        self.workers: list[subprocess.Popen[bytes]] = []

    def _start(self, what: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [
            sys.executable,
            "-m",
            f"distributed.cli.{what}",
            "--scheduler-file",
            str(self.note),
            *arguments,
        ]
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, env=ENVIRONMENT, cwd=self.folder)

    def add_worker(self) -> None:
        options = ("--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard")
        self.workers.append(self._start("dask_worker", *options, "--local-directory", str(self.folder)))

    @property
    def address(self) -> str:
        import json

        wait_for(lambda: self.note.exists() and self.note.read_text().rstrip().endswith("}"), "a scheduler")
        found: str = json.loads(self.note.read_text())["address"]
        return found

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
        for process in (*self.workers, self.scheduler):
            process.wait(10)


def wait_for(condition: Callable[[], object], what: str, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds:g} s for {what}")
        time.sleep(0.01)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        for _ in range(2):
            found.add_worker()
        yield found
    finally:
        found.close()


def slow_study(pause: float, runs: int = 40) -> Study:
    """Every run is read with a pause, so that there is time to kill somebody."""

    def energy(run) -> float:
        time.sleep(pause)
        return float(50.0 * np.asarray(run["block.position.x"])[-1] ** 2)

    variables = {"mass": Uniform(0.5, 2.0), "stiffness": Uniform(50.0, 200.0)}
    measures = {"rms": "rms of block.position.x", "energy": Function(energy, ["block.position.x"], "J")}
    return Study(oscillator(), variables, measures, 2.0, design=MonteCarlo(runs, seed=6), batch=4)


def same(one: Outcome, two: Outcome) -> None:
    """The same runs, each once, bit for bit."""
    np.testing.assert_array_equal(one.rows, np.arange(len(one.study)))
    np.testing.assert_array_equal(two.rows, one.rows)
    assert one.done.all()
    for name in (*one.variables, *one.measures):
        np.testing.assert_array_equal(one[name], two[name])
    for name, values in one.curves.items():
        np.testing.assert_array_equal(values, two.curves[name])


def parts(folder: Path) -> int:
    return len(list(folder.glob("part-*.parquet")))


def test_the_cluster_computes_the_same_bits(cluster: Cluster, tmp_path: Path) -> None:
    study = replace(load_study(EXAMPLES / "quarter_car.study"), keep=("body.position.z",), batch=12)
    local = study.run(tmp_path / "local")
    far = study.run(tmp_path / "far", cluster=cluster.address)
    assert far.fresh == len(study) == 144
    same(local, far)
    # A store does not tell who has filled it.
    assert study.run(tmp_path / "far").fresh == 0


def test_populations_go_to_the_cluster(cluster: Cluster) -> None:
    study = slow_study(0.0)
    study = replace(study, objective="rms")
    options = {"popsize": 4, "maxiter": 3, "tol": 0.0}
    here = study.optimise(method="differential-evolution", options=options)
    far = study.optimise(method="differential-evolution", options=options, cluster=cluster.address)
    assert here.variables == far.variables
    assert here.measures == far.measures


@pytest.mark.posix
def test_killed_workers_lose_nothing(cluster: Cluster, tmp_path: Path) -> None:
    """One worker is killed in the middle, a little later the other one too; then a new one joins."""
    study = slow_study(0.03, 64)
    folder = tmp_path / "runs"
    found: list[Outcome] = []
    address = cluster.address
    running = threading.Thread(target=lambda: found.append(study.run(folder, cluster=address)))
    running.start()
    try:
        for worker, batches in zip(cluster.workers[:2], (2, 5), strict=True):
            wait_for(lambda n=batches: parts(folder) >= n or not running.is_alive(), "some batches")
            worker.kill()
            worker.wait(10)
        assert parts(folder) < 16
        cluster.add_worker()
    finally:
        running.join(60)
    assert found
    assert found[0].status == "done"
    assert parts(folder) == 16
    same(study.run(), found[0])


@pytest.mark.posix
def test_a_killed_study_goes_on(cluster: Cluster, tmp_path: Path) -> None:
    """Interrupted, begun again, killed, and ended by another process on the cluster: every run once."""
    for name in ("quarter_car.yaml", "quarter_car.study"):
        shutil.copy(EXAMPLES / name, tmp_path)
    file, folder = tmp_path / "quarter_car.study", tmp_path / "runs"
    text = (
        file.read_text().replace("levels: 12", "levels: 16").replace("duration: 2", "duration: 400\nbatch: 4")
    )
    file.write_text(text.replace("outputs: 400", "outputs: 4000"))
    command = [
        sys.executable,
        "-m",
        "bellcrank.cli",
        "sweep",
        str(file),
        "--out",
        str(folder),
        "--threads",
        "1",
    ]

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    first = start()
    wait_for(lambda: parts(folder) >= 1 or first.poll() is not None, "the first batch")
    first.send_signal(signal.SIGINT)
    out, err = first.communicate(timeout=60)
    assert first.returncode == 130, (out, err)
    assert b"goes on from" in err
    after_interrupt = parts(folder)
    assert 1 <= after_interrupt < 64
    second = start()
    wait_for(lambda: parts(folder) > after_interrupt or second.poll() is not None, "another batch")
    second.kill()
    second.communicate(timeout=60)
    kept = parts(folder)
    assert after_interrupt < kept < 64
    study = load_study(file)
    if all(worker.poll() is not None for worker in cluster.workers):
        cluster.add_worker()
    outcome = study.run(folder, cluster=cluster.address)
    assert outcome.status == "done"
    assert outcome.fresh == 256 - 4 * kept
    same(study.run(), outcome)


def test_the_end_of_a_scheduler_is_told_and_the_runs_are_kept(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    study, folder = slow_study(0.03, 64), tmp_path / "runs"

    def kill() -> None:
        wait_for(lambda: parts(folder) >= 2, "some batches")
        cluster.scheduler.kill()

    try:
        cluster.add_worker()
        killer = threading.Thread(target=kill)
        killer.start()
        with pytest.raises(BellcrankError, match=r"does not answer any more.* of 64 runs are kept in .*runs"):
            study.run(folder, cluster=cluster.address)
        killer.join(60)
    finally:
        cluster.close()
    kept = 4 * parts(folder)
    assert 8 <= kept < 64
    outcome = study.run(folder)
    assert outcome.fresh == 64 - kept
    same(study.run(), outcome)


def test_a_scheduler_that_ends_before_the_first_batch_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed.comm import CommClosedError

    class Gone:
        def wait_for_workers(self, *_: object, **__: object) -> None:
            raise CommClosedError("closed")

    monkeypatch.setattr("bellcrank.study.cluster.client_of", lambda _: nullcontext(Gone()))
    with pytest.raises(BellcrankError, match=r"does not answer any more.*0 of 40 runs are kept"):
        slow_study(0.0).run(tmp_path / "runs", cluster="anywhere")


def test_no_scheduler_and_no_workers_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bellcrank.study.cluster.CONNECT", 1.0)
    with pytest.raises(BellcrankError, match="no scheduler answers at"):
        slow_study(0.0).run(cluster="tcp://127.0.0.1:9")


def test_a_client_that_closed_itself_has_lost_its_scheduler() -> None:
    """That comes between the tries to reach a scheduler again and the words about it."""
    from distributed.client import ClosedClientError

    from bellcrank.study.cluster import LostCluster, _scheduler

    with pytest.raises(LostCluster, match="does not answer any more"), _scheduler(None):
        raise ClosedClientError("Client is closed.")

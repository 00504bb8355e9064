"""A study on a dask cluster: batches go out, results come back to the one who writes.

Only the process of the study writes into the store, each batch once, when its result has arrived. A worker that dies
takes with it what it was computing and what had not been fetched; dask gives those batches to another.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.optional import needed
from bellcrank.base.version import __version__
from bellcrank.errors import BellcrankError, ModelError
from bellcrank.study.work import Rows, Work

if TYPE_CHECKING:
    from bellcrank.study.running import Batches

Array = NDArray[np.float64]

AHEAD = 3
"""Batches sent ahead for every worker, so that none waits and few are lost."""
CONNECT = 15.0
"""Seconds to wait for a scheduler, and for its first worker."""
_one_at_a_time = threading.Lock()


class LostCluster(BellcrankError):
    """The scheduler of a cluster does not answer any more."""


def compute(work: Work, rows: NDArray[np.int64], table: Mapping[str, Array]) -> Rows:
    """A batch on a worker, with all threads of the worker; its other tasks wait meanwhile."""
    from distributed import get_worker

    with _one_at_a_time:
        found, whole = work.run(rows, table, get_worker().state.nthreads)
    if not whole:
        raise BellcrankError("the worker was interrupted")
    return found


def on_cluster(work: Work, batches: Batches, missing: list[int], cluster: Any) -> Iterator[tuple[int, Rows]]:
    """Batches by number, as they come back."""
    with client_of(cluster) as client:
        from distributed import as_completed
        from distributed.client import ClosedClientError

        with _scheduler(client):
            _check_workers(client)
            room = AHEAD * max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
        # The work travels with every task: what is handed to workers once dies with them.
        sent = work.portable()
        waiting = list(reversed(missing))
        numbers: dict[str, int] = {}

        def submit() -> Any:
            number = waiting.pop()
            rows = batches.rows(number)
            future = client.submit(compute, sent, rows, batches.part(rows), pure=False)
            numbers[future.key] = number
            return future

        with _scheduler(client):
            running = [submit() for _ in range(min(room, len(waiting)))]
            arriving = as_completed(running, loop=client.loop)
        try:
            while True:
                with _scheduler(client):
                    future = next(arriving, None)
                    if future is None:
                        return
                    number = numbers.pop(future.key)
                    answer = _answer(future, number, batches)
                yield number, answer
                with _scheduler(client):
                    future.release()
                    if waiting:
                        arriving.add(submit())
        finally:
            # Nobody needs the runs that still go on once the study has stopped.
            with suppress(OSError, TimeoutError, ClosedClientError):
                client.cancel([f for f in arriving.futures if not f.done()])


@contextmanager
def _scheduler(client: Any) -> Iterator[None]:
    """The end of a scheduler in words."""
    from concurrent.futures import CancelledError

    from distributed.client import ClosedClientError

    try:
        yield
    except (OSError, TimeoutError, CancelledError, ClosedClientError) as error:
        # A client that has lost its scheduler for long cancels its pending runs and closes itself.
        where = getattr(getattr(client, "scheduler", None), "address", "")
        raise LostCluster(
            f"the scheduler of the cluster{f' at {where}' if where else ''} does not answer any more "
            f"({type(error).__name__})"
        ) from error


def _answer(future: Any, number: int, batches: Batches) -> Rows:
    from distributed.scheduler import KilledWorker

    try:
        found: Rows = future.result()
        return found
    except KilledWorker as error:
        rows = batches.rows(number)
        raise BellcrankError(
            f"the runs {rows[0]} to {rows[-1]} ended worker after worker; look at the logs of the workers "
            "(out of memory?) and give the study a smaller batch"
        ) from error


def _check_workers(client: Any) -> None:
    """All of them must compute with this Bellcrank."""
    try:
        client.wait_for_workers(1, timeout=CONNECT)
    except TimeoutError as error:
        raise BellcrankError("the cluster has no workers; start some with 'dask worker ADDRESS'") from error
    for address, version in client.run(_version, on_error="return").items():
        if isinstance(version, ModuleNotFoundError):
            raise BellcrankError(
                f"a worker of the cluster lacks {version.name!r}; install Bellcrank there"
            ) from version
        # A worker that has died since gets no work.
        if not isinstance(version, OSError) and version != __version__:
            raise BellcrankError(
                f"worker {address} has Bellcrank {version}, this is {__version__}; use one version"
            )


def _version() -> str:
    return __version__


@contextmanager
def client_of(cluster: Any) -> Iterator[Any]:
    """A dask client: the one given, one of the scheduler at an address, or one of a cluster started for it."""
    needed("distributed", "a cluster", "dask", "study")
    from distributed import Client, LocalCluster

    if isinstance(cluster, Client):
        yield cluster
        return
    if not isinstance(cluster, str):
        raise ModelError("cluster= takes the address of a scheduler, 'local', or a dask client")
    if cluster == "local":
        with LocalCluster(threads_per_worker=1, dashboard_address=None) as own, Client(own) as client:
            yield client
        return
    try:
        client = Client(cluster, timeout=CONNECT, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise BellcrankError(
            f"no scheduler answers at {cluster!r}; start one with 'dask scheduler'"
        ) from error
    try:
        yield client
    finally:
        with suppress(OSError, TimeoutError):
            client.close()


__all__ = ["LostCluster", "client_of", "on_cluster"]

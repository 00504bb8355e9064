"""Running a study: the batches that are missing, by the cores of this process or by a cluster, into the store."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.batch.progress import RunsBar
from bellcrank.errors import WriteError
from bellcrank.study.cluster import LostCluster
from bellcrank.study.outcome import Outcome
from bellcrank.study.store import DamagedPart, Store
from bellcrank.study.study import MOST_OUTPUTS
from bellcrank.study.work import Rows

if TYPE_CHECKING:
    from bellcrank.study.study import Study

Array = NDArray[np.float64]

WAVE_SECONDS = 0.5
"""Local batches go in waves of about this length [s], at most twice as long: so much is lost when a study is killed."""


class Batches:
    """The rows of a study cut into batches."""

    def __init__(self, table: Mapping[str, Array], size: int) -> None:
        self.table, self.size = table, size
        self.total = len(next(iter(table.values())))

    def __len__(self) -> int:
        return -(-self.total // self.size)

    def rows(self, number: int) -> NDArray[np.int64]:
        """Row numbers of a batch."""
        return np.arange(number * self.size, min((number + 1) * self.size, self.total))

    def part(self, rows: NDArray[np.int64]) -> dict[str, Array]:
        """The variables of some rows."""
        return {name: values[rows] for name, values in self.table.items()}


def run(
    study: Study,
    folder: str | PathLike[str] | None,
    cluster: Any,
    threads: int | None,
    progress: bool | None,
) -> Outcome:
    """Compute what is missing; see :meth:`bellcrank.study.study.Study.run`."""
    batches = Batches(study.table, study.batch_size)
    shapes = {name: (len(study.time), *study.shapes[name]) for name in study.keep}
    store = None if folder is None else Store(folder, study.fingerprint, study.definition())
    parts: dict[int, Rows] = {}
    if store is not None:
        store.open()
    try:
        if store is not None:
            parts = _there(store, study, batches, shapes)
        missing = [k for k in range(len(batches)) if k not in parts]
        began, status = time.perf_counter(), "done"
        bar = RunsBar(sum(len(batches.rows(k)) for k in missing), progress)
        fresh = 0
        try:
            source = _computed(study, batches, missing, cluster, threads)
            try:
                for number, rows in source:
                    if store is not None:
                        store.write(number, rows, batches.part(rows.rows))
                    parts[number] = rows
                    fresh += len(rows)
                    bar.add(len(rows))
            finally:
                source.close()
        except KeyboardInterrupt:
            status = "interrupted"
        except LostCluster as error:
            raise LostCluster(f"{error}; {_kept(folder, parts, batches.total)}") from error
        except WriteError as error:
            said = f"{error}; {_kept(folder, parts, batches.total)}"
            raise WriteError(str(error.filename), said, error.errno) from error
        finally:
            bar.close()
        if status == "done" and len(parts) < len(batches):
            status = "interrupted"
    finally:
        if store is not None:
            store.close()
    found = Rows.joined([parts[k] for k in sorted(parts)]) if parts else _nothing(study, shapes)
    return Outcome.of(study, found, status, time.perf_counter() - began, fresh)


def _kept(folder: str | PathLike[str] | None, parts: Mapping[int, Rows], total: int) -> str:
    """What is left of a study that was stopped from outside, and how to go on."""
    done = sum(len(rows) for rows in parts.values())
    if folder is None:
        return (
            f"the {done} of {total} runs that were done are lost: give the study a folder, which keeps them"
        )
    return (
        f"{done} of {total} runs are kept in {str(folder)!r}; mend that and run the study again with this folder, "
        "it computes only those that are missing"
    )


def _there(
    store: Store, study: Study, batches: Batches, shapes: Mapping[str, tuple[int, ...]]
) -> dict[int, Rows]:
    """The batches a store holds; those that are damaged count as missing."""
    found = {}
    for number, path in store.batches().items():
        with suppress(DamagedPart):
            rows = store.read(path, study.measures, shapes)
            if number < len(batches) and np.array_equal(rows.rows, batches.rows(number)):
                found[number] = rows
    return found


def _computed(study: Study, batches: Batches, missing: list[int], cluster: Any, threads: int | None) -> Any:
    """Batches by number, as they come."""
    if not missing:
        return (_ for _ in ())
    if cluster is None:
        return _local(study, batches, missing, threads or cores())
    from bellcrank.study.cluster import on_cluster

    return on_cluster(study.work, batches, missing, cluster)


def _local(study: Study, batches: Batches, missing: list[int], threads: int) -> Iterator[tuple[int, Rows]]:
    """Waves of batches on the cores of this process; a wave ends early for Ctrl-C."""
    work = study.work
    most = max(1, MOST_OUTPUTS // (study.width * batches.size))
    wave = min(most, -(-4 * threads // batches.size))
    position = 0
    while position < len(missing):
        chosen = missing[position : position + wave]
        position += len(chosen)
        rows = np.concatenate([batches.rows(k) for k in chosen])
        begin = time.perf_counter()
        found, whole = work.run(rows, batches.part(rows), threads)
        seconds = time.perf_counter() - begin
        for k in chosen:
            mine = np.isin(found.rows, batches.rows(k))
            part = found.part(mine)
            # After Ctrl-C, what has neither come to its end nor failed has not been computed.
            if whole or all(done or reason for done, reason in zip(part.done, part.reasons, strict=True)):
                yield k, part
        if not whole:
            return
        if seconds < 0.5 * WAVE_SECONDS:
            wave = min(most, 2 * wave)
        elif seconds > 2.0 * WAVE_SECONDS:
            wave = max(1, wave // 2)


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _nothing(study: Study, shapes: Mapping[str, tuple[int, ...]]) -> Rows:
    empty = np.zeros(0)
    return Rows(
        np.zeros(0, np.int64),
        dict.fromkeys(study.measures, empty),
        np.zeros(0, bool),
        empty,
        [],
        {name: np.zeros((0, *shape)) for name, shape in shapes.items()},
    )


__all__ = ["Batches", "cores", "run"]

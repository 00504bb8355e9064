"""Faults injected into recorded runs and studies at random moments: nothing may be lost but the last second.

Run from the folder of the tests:

    python -m hostile.faults --count 200 --seed 0

injects so many faults of each kind, some of them several to a try. A try is made of the seed, the kind and its number
alone. What was done is noted in ``build/hostile/faults``, where the next call goes on; of a try that fails, the folder
it worked in and what was wrong are kept there. The clock of the machine is not moved: the process that runs sees
another time of day, and its files other dates. The pauses between two writings are shortened, and what may be lost with
them, so that a try takes about a second.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

import bellcrank as bc
from bellcrank.base.whole_files import write_whole
from bellcrank.errors import BellcrankError, WriteError
from bellcrank.integrate.failures import CallError
from bellcrank.study import MonteCarlo, Study, Uniform
from hostile.nursery import Nursery
from impacts.models import ball
from result.test_storage import pendulum, same
from study.models import oscillator

HERE = Path(__file__).parents[2] / "build" / "hostile" / "faults"
HASTE = 5.0
"""How many times faster everything goes here that goes by the clock."""
LAST_SECOND = 1.0 / HASTE
"""Work [s] that a fault may cost, by the time the process had computed: others on the machine cost no work."""
PATIENCE = 60.0
"""Seconds after which a process hangs that has not computed meanwhile, or nothing else; and a study on a cluster."""
RAISED, FULL, STOPPED = 11, 12, 13
"""Exit states of a child: an error that nobody expects, a full disk that was told, an interrupt or lack of memory."""


class Lost(AssertionError):
    """A promise that was not kept."""


def promise(kept: bool, what: str) -> None:
    """Raise where a promise is not kept."""
    if not kept:
        raise Lost(what)


class Moment(NamedTuple):
    """When a fault strikes: by the clock, and by the time the process has computed [s]."""

    time: float
    computed: float


class Entry(NamedTuple):
    """What a child tells: how much is done, and whether it begins something that will be lost with it."""

    time: float
    computed: float
    done: int
    begins: bool


class Log:
    """What a child leaves for its parent, whatever becomes of it."""

    FORMAT = struct.Struct("<ddq?")

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, done: int, begins: bool = False) -> None:
        """So much has been computed by now."""
        with self.path.open("ab", buffering=0) as file:
            file.write(self.FORMAT.pack(time.monotonic(), time.process_time(), done, begins))

    def before(self, moment: float) -> list[Entry]:
        """What was told until a moment by the clock."""
        data = self.path.read_bytes() if self.path.exists() else b""
        whole = data[: len(data) // self.FORMAT.size * self.FORMAT.size]
        return [entry for entry in map(Entry._make, self.FORMAT.iter_unpack(whole)) if entry.time <= moment]

    def done(self, moment: Moment, earlier: float = 0.0) -> int:
        """What had been computed at a moment, less the last `earlier` seconds of computing."""
        told = self.before(moment.time)
        return max((e.done for e in told if e.computed <= moment.computed - earlier), default=0)


class Load(Protocol):
    """What a fault strikes. seconds: How long it computes undisturbed."""

    seconds: float

    def go(self, folder: Path, log: Log) -> None:
        """Work in a folder, to the end."""

    def check(self, folder: Path, log: Log, moment: Moment) -> None:
        """See what is left after a fault at a moment, go on, and compare with a run that met no fault."""


@dataclass
class Recorded:
    """A run that writes as it goes. exact: Whether going on gives the same bits; with contacts it does to rounding."""

    system: Callable[[], bc.System]
    duration: float
    options: dict[str, Any]
    exact: bool = True

    @cached_property
    def mechanism(self) -> Any:
        return self.system().mechanism()

    @cached_property
    def whole(self) -> bc.Result:
        self.mechanism.simulate(self.duration / 100, **self.options)
        begin = time.process_time()
        found: bc.Result = self.mechanism.simulate(self.duration, **self.options)
        self._seconds = time.process_time() - begin
        return found

    @property
    def seconds(self) -> float:
        _ = self.whole
        return self._seconds

    def go(self, folder: Path, log: Log) -> None:
        from bellcrank.run import run

        follow = run.RunBar.follow

        def showing(bar: Any, progress: Any) -> None:
            follow(bar, progress)
            if self.exact:
                log.add(progress.outputs)

        run.RunBar.follow = showing  # type: ignore[method-assign]
        try:
            self.mechanism.simulate(self.duration, save=folder / "run.h5", **self.options)
        except WriteError as error:
            if error.result is not None:
                promise(self.like(error.result), "the result of a run that could not be saved is another one")
            raise

    def like(self, found: bc.Result, outputs: int | None = None) -> bool:
        """Whether a result is that of the undisturbed run, as far as it goes."""
        n = len(self.whole) if outputs is None else outputs
        if len(found) != n:
            return False
        if self.exact and outputs is None:
            return same(found, self.whole)
        near = 0.0 if self.exact else 1e-9
        return all(
            np.allclose(getattr(found, name), getattr(self.whole, name)[:n], rtol=0.0, atol=near)
            for name in ("time", "q", "u", "du", "parameters")
        )

    def check(self, folder: Path, log: Log, moment: Moment) -> None:
        path = folder / "run.h5"
        if not path.exists():
            promise(not log.before(moment.time), "there is no file of a run that had begun")
            return
        part = bc.load_result(path)
        promise(self.like(part, len(part)), "outputs in the file are other ones")
        known = log.done(moment, LAST_SECOND)
        promise(len(part) >= known, f"{known - len(part)} outputs older than a second are lost")
        promise(self.like(bc.resume(path, progress=False)), "going on leads elsewhere")
        promise(self.like(bc.load_result(path)), "the file holds another result than was returned")
        left = sorted(p.name for p in folder.iterdir())
        promise(left == ["run.h5"], f"files are left behind: {left}")


class Kept:
    """A study with a store, on the cores of this process."""

    @cached_property
    def study(self) -> Study:
        variables = {"mass": Uniform(0.5, 2.0), "stiffness": Uniform(50.0, 200.0)}
        measures = {"rms": "rms of block.position.x"}
        design = MonteCarlo(120, seed=6)
        return Study(
            oscillator(), variables, measures, 40.0, design=design, batch=4, output=200, max_step=1e-3
        )

    @cached_property
    def whole(self) -> Any:
        self.study.work.mechanism()
        begin = time.process_time()
        found = self.study.run(threads=1)
        self._seconds = time.process_time() - begin
        return found

    @property
    def seconds(self) -> float:
        _ = self.whole
        return self._seconds

    def go(self, folder: Path, log: Log) -> None:
        from bellcrank.study.work import Work

        run = Work.run

        def running(work: Work, rows: Any, *given: Any) -> Any:
            log.add(int(rows[0]), begins=True)
            found = run(work, rows, *given)
            log.add(int(rows[0]))
            return found

        Work.run = running  # type: ignore[method-assign]
        self.study.run(folder / "runs", threads=1)

    def check(self, folder: Path, log: Log, moment: Moment) -> None:
        told = log.before(moment.time)
        # The first waves find out how many runs take half a second.
        if len(told) > 4 and told[-1].begins:
            lost = moment.computed - told[-1].computed
            promise(lost <= LAST_SECOND, f"the work of {lost:.2f} s is lost")
        outcome = self.study.run(folder / "runs", threads=1)
        kept = log.done(Moment(moment.time, math.inf))
        promise(outcome.fresh <= len(self.study) - kept, "stored runs are computed again")
        for name in (*self.whole.variables, *self.whole.measures):
            promise(np.array_equal(outcome[name], self.whole[name]), f"{name} of the study differs")
        hidden = [p.name for p in (folder / "runs").iterdir() if p.name.startswith(".")]
        promise(not hidden, f"files are left behind: {hidden}")


LOADS: dict[str, Load] = {
    "run": Recorded(
        pendulum, 2.5, {"integrator": "dop853", "max_step": 3e-6, "output": 1000, "progress": False}
    ),
    "run with contacts": Recorded(
        lambda: ball(0.9),
        2.0,
        {"integrator": "dop853", "max_step": 6e-6, "output": 400, "progress": False, "tolerance": 1e-11},
        exact=False,
    ),
    "study": Kept(),
}


class Child:
    """A process that works on a load."""

    def __init__(
        self, load: Load, folder: Path, notes: Path, before: Callable[[], None] | None = None
    ) -> None:
        # What it is compared with is computed before, so that a child finds everything compiled.
        _ = load.seconds
        self.log = Log(notes / "log")
        self.pid = os.fork()
        if self.pid == 0:
            state = RAISED
            try:
                state = _work(load, folder, self.log, before)
            finally:
                # A child that came back would be a second parent.
                os._exit(state)

    def now(self) -> Moment:
        """This moment."""
        words = self._about()
        return Moment(time.monotonic(), (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK"))

    def _about(self) -> list[str]:
        """What the system knows of it; it is waited for last, so there is always something."""
        return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()

    def until(self, seconds: float) -> None:
        """Wait until it has computed so long, or has ended; however busy the machine is."""
        end = time.monotonic() + PATIENCE
        while self.now().computed < seconds and self._about()[0] != "Z" and time.monotonic() < end:
            time.sleep(0.002)

    def wait(self) -> int:
        """Exit state, negative for a signal."""
        last = self.now()
        while (now := self.now()).time - last.time < PATIENCE and now.computed < PATIENCE:
            if now.computed > last.computed:
                last = now
            done, state = os.waitpid(self.pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(state)
            time.sleep(0.005)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        raise Lost(f"the process hung for {PATIENCE:.0f} s")


def _work(load: Load, folder: Path, log: Log, before: Callable[[], None] | None) -> int:
    """What a child does, and the state it ends with."""
    with log.path.with_name("words").open("w") as words:
        os.dup2(words.fileno(), 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _hasten()
    try:
        if before is not None:
            before()
        load.go(folder, log)
    except WriteError as error:
        return FULL if error.filename and str(folder) in str(error) else RAISED
    except (KeyboardInterrupt, MemoryError):
        return STOPPED
    except CallError as error:
        traceback.print_exc()
        return STOPPED if isinstance(error.__cause__, MemoryError) else RAISED
    except BaseException:
        traceback.print_exc()
        return RAISED
    return 0


def _hasten() -> None:
    """Shorten the pauses of a child between two writings."""
    from bellcrank.run import recording, simulation
    from bellcrank.study import running

    recording.SHORTEST /= HASTE
    running.WAVE_SECONDS /= HASTE
    simulation.Options = partial(simulation.Options, chunk_seconds=0.25 / HASTE)  # type: ignore[misc,assignment]


MOMENTS = 3
"""Faults to a process where it takes several."""


def killed(load: Load, folder: Path, chance: random.Random) -> int:
    """kill -9. A process that is halted leaves at that moment what it would leave if it were killed then."""
    child = Child(load, folder, folder.parent)
    left: list[tuple[Path, Moment]] = []
    for k, pause in enumerate(sorted(chance.uniform(0.0, 1.1 * load.seconds) for _ in range(MOMENTS))):
        child.until(pause)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGSTOP)
        left.append((folder.with_name(f"left {k}"), child.now()))
        shutil.copytree(folder, left[-1][0])
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGKILL if k == MOMENTS - 1 else signal.SIGCONT)
    ended = child.wait()
    promise(ended in (0, -signal.SIGKILL), f"the process ended with {ended}")
    left.append((folder, left.pop()[1]))
    for place, moment in left:
        load.check(place, child.log, moment)
    return MOMENTS


def interrupted(load: Load, folder: Path, chance: random.Random) -> int:
    """Ctrl-C."""
    pause = chance.uniform(0.0, 1.1 * load.seconds)
    child = Child(load, folder, folder.parent)
    child.until(pause)
    moment = child.now()
    with contextlib.suppress(ProcessLookupError):
        os.kill(child.pid, signal.SIGINT)
    ended = child.wait()
    promise(ended in (0, STOPPED), f"the process ended with {ended}")
    load.check(folder, child.log, moment)
    return 1


def full_disk(load: Load, folder: Path, chance: random.Random) -> int:
    """No room for another byte in any file, or, every other time, on the whole file system."""
    pause = chance.uniform(0.0, 0.9 * load.seconds)
    if chance.random() < 0.5 and (disk := _small_disk(folder)) is not None:
        with disk as (place, fill):
            child = Child(load, place, folder.parent)
            child.until(pause)
            fill()
            moment, ended = child.now(), child.wait()
            promise(ended in (0, FULL), f"the process ended with {ended}")
            fill(empty=True)
            load.check(place, child.log, moment)
        return 1
    child = Child(load, folder, folder.parent)
    child.until(pause)
    room = chance.choice((0, 100, 5_000))
    sizes = [p.stat().st_size for p in folder.rglob("*") if p.is_file()]
    limit = max([*sizes, 0]) + room
    moment = child.now()
    with contextlib.suppress(ProcessLookupError):
        resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (max(limit, 4_000), resource.RLIM_INFINITY))
    ended = child.wait()
    promise(ended in (0, FULL), f"the process ended with {ended}")
    load.check(folder, child.log, moment)
    return 1


SMALL_DISK = 16 * 2**20


def _small_disk(folder: Path) -> Any:
    """A file system of its own in memory, where this user may mount one."""
    place = folder.parent / "disk"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK}", "tmpfs", str(place)]
    try:
        if subprocess.run(words, capture_output=True, check=False).returncode:
            raise OSError
    except OSError:
        place.rmdir()
        return None
    return _mounted(place)


@contextlib.contextmanager
def _mounted(place: Path) -> Iterator[tuple[Path, Callable[..., None]]]:
    work, ballast = place / "work", place / "ballast"
    work.mkdir()

    def fill(empty: bool = False) -> None:
        if empty:
            ballast.unlink()
            return
        with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))

    try:
        yield work, fill
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)


def out_of_memory(load: Load, folder: Path, chance: random.Random) -> int:
    """No more memory than there is."""
    pause, room = chance.uniform(0.0, 0.9 * load.seconds), chance.choice((0, 100_000, 2_000_000))
    child = Child(load, folder, folder.parent)
    child.until(pause)
    moment = child.now()
    with contextlib.suppress(OSError, IndexError):
        pages = int(Path(f"/proc/{child.pid}/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + room
        resource.prlimit(child.pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    ended = child.wait()
    # Libraries may end a process that is out of memory; what it leaves counts.
    promise(ended != RAISED, f"the process ended with {ended}")
    load.check(folder, child.log, moment)
    return 1


def clock_moved(load: Load, folder: Path, chance: random.Random) -> int:
    """Another time of day from some moments on, and other dates of files; then kill -9, every other time."""
    pauses = sorted(chance.uniform(0.0, 0.9 * load.seconds) for _ in range(MOMENTS))
    steps = [chance.choice((-1, 1)) * chance.choice((1.0, 3600.0, 86_400.0, 4e8)) for _ in pauses]

    def move() -> None:
        real = time.time
        for pause, step in zip(pauses, steps, strict=True):
            timer = threading.Timer(pause, partial(setattr, time, "time", lambda step=step: real() + step))
            timer.daemon = True
            timer.start()

    child = Child(load, folder, folder.parent, move)
    now = time.time()
    for pause, step in zip(pauses, steps, strict=True):
        child.until(pause)
        for file in folder.rglob("*"):
            with contextlib.suppress(OSError):
                os.utime(file, (now + step, now + step))
    moment = Moment(time.monotonic() + PATIENCE, math.inf)
    if chance.random() < 0.5:
        child.until(chance.uniform(pauses[-1], 1.1 * load.seconds))
        moment = child.now()
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGKILL)
    ended = child.wait()
    promise(ended in (0, -signal.SIGKILL), f"the process ended with {ended}")
    load.check(folder, child.log, moment)
    return MOMENTS


def worker_killed(_: Load, folder: Path, chance: random.Random) -> int:
    """Workers of a cluster are killed one after the other, and others take their places."""
    cluster = clusters.get()
    study, whole = _slow()
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(study.run(folder / "runs", cluster=cluster.address))
        except BaseException as error:
            outcome.append(error)

    running = threading.Thread(target=run, daemon=True)
    running.start()
    for _k in range(MOMENTS):
        time.sleep(chance.uniform(0.0, 0.6))
        victim = cluster.workers.pop(chance.randrange(len(cluster.workers)))
        victim.kill()
        victim.wait(10)
        cluster.add_worker()
    running.join(PATIENCE)
    promise(bool(outcome), "the study did not end")
    promise(not isinstance(outcome[0], BaseException), f"the study ended in {outcome[0]!r}")
    _same_study(outcome[0], whole)
    return MOMENTS


def scheduler_killed(_: Load, folder: Path, chance: random.Random) -> int:
    """The scheduler of a cluster is killed; the study says what is kept and goes on without."""
    cluster = clusters.get()
    study, whole = _slow()
    address = cluster.address
    told: list[BaseException] = []

    def run() -> None:
        try:
            study.run(folder / "runs", cluster=address)
        except BaseException as error:
            told.append(error)

    running = threading.Thread(target=run, daemon=True)
    running.start()
    time.sleep(chance.uniform(0.0, 1.5))
    clusters.end()
    running.join(PATIENCE)
    promise(not running.is_alive(), "the study hangs")
    for error in told:
        promise(isinstance(error, BellcrankError), f"a bare {type(error).__name__}: {error}")
    kept = 4 * len(list((folder / "runs").glob("part-*.parquet")))
    outcome = study.run(folder / "runs")
    promise(outcome.fresh == len(study) - kept, "stored runs are computed again")
    _same_study(outcome, whole)
    return 1


class Clusters:
    """A cluster to each thread, which lives until somebody ends it; its processes come from a nursery."""

    def __init__(self) -> None:
        self.nursery: Nursery | None = None
        self.own = threading.local()
        self.all: list[Any] = []
        self.lock = threading.Lock()

    def get(self) -> Any:
        with self.lock:
            if self.nursery is None:
                self.nursery = Nursery()
            # Whoever comes first computes what all are compared with.
            _slow()
        if getattr(self.own, "cluster", None) is None:
            self.own.cluster = self.nursery.cluster(Path(tempfile.mkdtemp()))
            self.all.append(self.own.cluster)
            for _ in range(2):
                self.own.cluster.add_worker()
        return self.own.cluster

    def end(self) -> None:
        """That of this thread."""
        cluster, self.own.cluster = self.own.cluster, None
        self._end(cluster)

    def end_all(self) -> None:
        """Those of all threads, and the nursery."""
        for cluster in list(self.all):
            self._end(cluster)
        if self.nursery is not None:
            self.nursery.close()
        self.__init__()  # type: ignore[misc]

    def _end(self, cluster: Any) -> None:
        cluster.scheduler.kill()
        cluster.close()
        shutil.rmtree(cluster.folder, ignore_errors=True)
        self.all.remove(cluster)


clusters = Clusters()


@cache
def _slow() -> tuple[Study, Any]:
    """A study that takes a second and a half on two workers, and what comes of it."""
    from bellcrank.study import cluster
    from study.test_cluster import slow_study

    # A scheduler that was killed is waited for so long.
    cluster.CONNECT = 15.0 / HASTE
    study = slow_study(0.02, 120)
    return study, study.run()


def _same_study(outcome: Any, whole: Any) -> None:
    promise(outcome.status == "done", f"the study ended {outcome.status}")
    for name in (*whole.variables, *whole.measures):
        promise(np.array_equal(outcome[name], whole[name]), f"{name} of the study differs")


Fault = Callable[[Load, Path, random.Random], int]
"""Injects faults into a load and sees what they have cost; their number."""
FAULTS: dict[str, Fault] = {
    "kill": killed,
    "interrupt": interrupted,
    "full disk": full_disk,
    "out of memory": out_of_memory,
    "clock moved": clock_moved,
    # Those with a cluster come last: they leave threads, and a process with threads is not to be forked.
    "worker killed": worker_killed,
    "scheduler killed": scheduler_killed,
}


AT_ONCE = {"worker killed": 3, "scheduler killed": 4}
"""Tries at a time of those that wait for others most of the time."""
SHARED_MEMORY = Path("/dev/shm")
"""Where files are written as fast as can be: what is lost there is not for want of a fast disk."""


def attempt(kind: str, seed: int, number: int, kept: Path) -> tuple[int, str | None]:
    """One try: faults injected, and what went wrong, where something did. kept: Folder for what a failure leaves."""
    chance = random.Random(f"{seed} {kind} {number}")
    name = chance.choice(list(LOADS))
    there = SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="faults-", dir=there))
    work = folder / "work"
    work.mkdir()
    try:
        return FAULTS[kind](LOADS[name], work, chance), None
    except Exception as error:
        place = kept / f"{kind.replace(' ', '-')}-{seed}-{number}"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(folder, place)
        (place / "what").write_text(f"{kind}, {name}, seed {seed}, number {number}\n{traceback.format_exc()}")
        return 1, f"{name}: {type(error).__name__}: {error}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main(arguments: list[str] | None = None) -> int:
    """Try until every kind has had its count; 1 where something failed."""
    parser = argparse.ArgumentParser(prog="hostile.faults", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=200, help="faults of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--kind", action="append", choices=list(FAULTS), help="only this kind; may be given again"
    )
    parser.add_argument("--out", type=Path, default=HERE, help="folder for the state and for failures")
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    try:
        failures = sum(_tries(kind, given.seed, given.count, given.out) for kind in given.kind or FAULTS)
    finally:
        clusters.end_all()
    return min(failures, 1)


def _tries(kind: str, seed: int, count: int, out: Path) -> int:
    """The tries of one kind that have not been made yet; how many have failed in all."""
    note = out / f"{kind.replace(' ', '-')}-{seed}.json"
    state = {"tries": 0, "faults": 0, "failed": {}, "seconds": 0.0}
    if note.exists():
        state = json.loads(note.read_text())
    at_once = AT_ONCE.get(kind, 1)
    with ThreadPoolExecutor(at_once) if at_once > 1 else contextlib.nullcontext() as pool:
        while state["faults"] < count:
            begin = time.monotonic()
            numbers = range(state["tries"], state["tries"] + at_once)
            # Without threads where a process is forked.
            each = pool.map if pool is not None else map
            for number, (faults, wrong) in zip(
                numbers, each(partial(attempt, kind, seed, kept=out), numbers), strict=True
            ):
                state["faults"] += faults
                state["tries"] += 1
                if wrong is not None:
                    state["failed"][str(number)] = wrong
                    print(f"{kind} {number}: {wrong}", flush=True)
            state["seconds"] += time.monotonic() - begin
            write_whole(note, [json.dumps(state, indent=1).encode()])
    print(
        f"{kind}: {state['faults']} faults in {state['tries']} tries, {len(state['failed'])} failed, "
        f"{state['seconds']:.0f} s",
        flush=True,
    )
    return len(state["failed"])


if __name__ == "__main__":
    sys.exit(main())

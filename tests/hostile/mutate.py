"""Damaged files of every kind, read in children with limits on memory and time.

``python -m hostile.mutate --count 100000 --seed 0`` from the folder of the tests. Whatever a file holds, reading it
ends, within the limits, in a result or in an error of our own (:class:`bellcrank.BellcrankError`); everything else is a
finding. The file of a finding is kept with its traceback; ``--only INDEX`` makes and reads one file again, in this
process. A run that is stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import gc
import json
import os
import random
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bellcrank.errors import BellcrankError
from hostile.kinds import KINDS, Kind

SECONDS = 30.0
"""Of computing for one file, or of waiting without any; most take milliseconds, the largest members that a file may ask
for some ten seconds. How busy the machine is plays no part."""
MEMORY = 2**30
"""Bytes that reading one file may take beyond what the child has before."""
GUARD = 4 * MEMORY
"""Bytes of addresses a child gets at all, so that a file cannot bring down the machine."""
GROWTH = 2**28
"""Bytes a child may have grown by before it is replaced."""
LIFE = 2000
"""Files after which a child is replaced."""
KEPT = 3
"""Files kept of one finding; the others are counted."""
CHUNK = 100
"""Files between two notes of how far the run is."""


@dataclass(frozen=True)
class Try:
    """One damaged file: everything follows from the seed and its number."""

    seed: int
    index: int
    kinds: Mapping[str, Kind] = field(repr=False)

    @property
    def rng(self) -> random.Random:
        """The source of all choices."""
        return random.Random(f"{self.seed} {self.index}")

    def made(self, sound: Mapping[str, Sequence[bytes]]) -> tuple[Kind, bytes]:
        """The kind of file and its bytes."""
        rng = self.rng
        kind = rng.choices(list(self.kinds.values()), [k.weight for k in self.kinds.values()])[0]
        return kind, kind.damaged(rng.choice(sound[kind.name]), rng)


def outcome(kind: Kind, path: Path, memory: int = MEMORY) -> tuple[str, str, int]:
    """How reading a file ended: "read", "refused", or the signature of a finding; its traceback; bytes it took."""
    resident = _resident()
    _forget_peak()
    found, told = "read", ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kind.read(path)
    except BellcrankError as error:
        found = "refused"
        if not str(error).strip():
            found, told = f"{kind.name}: {type(error).__name__} without a word", traceback.format_exc()
    except Exception as error:
        found, told = f"{kind.name}: {type(error).__name__} {_where(error)}", traceback.format_exc()
    taken = max(0, _peak() - resident)
    if taken > memory:
        found = f"{kind.name}: more than {memory >> 20} MiB of memory"
    return found, told, taken


def _where(error: BaseException) -> str:
    """The last place in the package that an error passed."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [f for f in frames if "/bellcrank/" in f.filename]
    last = (inside or frames)[-1]
    return f"at {Path(last.filename).name} in {last.name}"


def _computed(pid: int) -> float:
    """Time that a process and those it has waited for have computed [s]."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")


def _status(name: str) -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))


def _resident() -> int:
    return _status("VmRSS:")


def _peak() -> int:
    return _status("VmHWM:")


def _forget_peak() -> None:
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")


class Child:
    """A forked process that reads one file after another."""

    def __init__(
        self,
        seed: int,
        kinds: Mapping[str, Kind],
        sound: Mapping[str, Sequence[bytes]],
        folder: Path,
        memory: int,
    ) -> None:
        self.folder, self.memory = folder, memory
        folder.mkdir(exist_ok=True)
        asked, self.ask = os.pipe()
        self.answers, answer = os.pipe()
        self.busy: int | None = None
        self.began = self.computed = self.since = 0.0
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.ask)
            os.close(self.answers)
            status = 1
            try:
                self._serve(seed, kinds, sound, asked, answer)
                status = 0
            finally:
                os._exit(status)
        os.close(asked)
        os.close(answer)

    def _serve(self, seed: int, kinds: Any, sound: Any, asked: int, answer: int) -> None:
        with open(self.folder / "fault.txt", "w") as fault, open(os.devnull, "w") as nothing:
            faulthandler.enable(fault)
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
            addresses = _status("VmSize:") + GUARD
            resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            gc.freeze()
            before, served = _resident(), 0
            os.chdir(self.folder)
            with os.fdopen(asked, "r") as lines:
                for line in lines:
                    kind, data = Try(seed, int(line), kinds).made(sound)
                    path = self.folder / f"file{kind.suffix}"
                    path.write_bytes(data)
                    began = time.process_time()
                    found, told, taken = outcome(kind, path, self.memory)
                    cost = (time.process_time() - began, taken)
                    served += 1
                    grown = served >= LIFE or _resident() - before > GROWTH
                    said = [kind.name, found, told[-30_000:], grown, cost]
                    os.write(answer, (json.dumps(said) + "\n").encode())
                    if grown:
                        return

    def start(self, index: int) -> None:
        """Hand over the number of a file."""
        self.busy, self.since = index, time.monotonic()
        self.began = self.computed = _computed(self.pid)
        os.write(self.ask, f"{index}\n".encode())

    def hangs(self, seconds: float) -> bool:
        """Whether it has computed so long on one file, or has not computed at all for so long."""
        computed, now = _computed(self.pid), time.monotonic()
        if computed > self.computed:
            self.computed, self.since = computed, now
        return computed - self.began > seconds or now - self.since > seconds

    def answer(self) -> list[Any] | None:
        """What came of it, None where the child is dead."""
        data = b""
        while not data.endswith(b"\n"):
            part = os.read(self.answers, 1 << 16)
            if not part:
                return None
            data += part
        self.busy = None
        found: list[Any] = json.loads(data)
        return found

    def end(self) -> int:
        """Let go of the child, however it is; its status."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.close(self.ask)
        os.close(self.answers)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@dataclass
class Harness:
    """A run over files 0 to count of a seed.

    folder: Where findings are kept, and how far it is. seconds, memory: Limits for one file [s, bytes]. longest,
    largest: What a file of each kind took at most [s of computing, MiB].
    """

    seed: int
    count: int
    folder: Path
    workers: int = 2
    seconds: float = SECONDS
    memory: int = MEMORY
    kinds: Mapping[str, Kind] = field(default_factory=lambda: KINDS)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        names = "-".join(self.kinds) if len(self.kinds) < len(KINDS) else "all"
        self.state = self.folder / f"mutate-{names}-{self.seed}.json"
        known: dict[str, Any] = json.loads(self.state.read_text()) if self.state.exists() else {}
        self.done = int(known.get("done", 0))
        self.elapsed = float(known.get("seconds", 0.0))
        self.outcomes: dict[str, Counter[str]] = {k: Counter(c) for k, c in known.get("outcomes", {}).items()}
        self.findings = Counter(known.get("findings", {}))
        self.longest, self.largest = (dict(known.get(key, {})) for key in ("longest", "largest"))

    def run(self) -> Counter[str]:
        """All files that are left; the findings by their signatures."""
        self.sound = {kind.name: kind.sound() for kind in self.kinds.values()}
        before, began = self.elapsed, time.monotonic()
        with tempfile.TemporaryDirectory(prefix="hostile-") as name:
            for first in range(self.done, self.count, CHUNK):
                self._chunk(range(first, min(first + CHUNK, self.count)), Path(name))
                self.done = min(first + CHUNK, self.count)
                self.elapsed = before + time.monotonic() - began
                self._note()
            self._dismiss()
        return self.findings

    _children: list[Child] = field(default_factory=list, init=False)

    def _chunk(self, indices: Sequence[int], work: Path) -> None:
        waiting = iter(indices)
        while len(self._children) < self.workers:
            self._children.append(self._child(work, len(self._children)))
        for k, child in enumerate(self._children):
            self._next(child, waiting, k, work)
        while any(child.busy is not None for child in self._children):
            busy = {child.answers: k for k, child in enumerate(self._children) if child.busy is not None}
            ready, _, _ = select.select(list(busy), [], [], 0.2)
            for handle in ready:
                self._answered(busy[handle], waiting, work)
            for k, child in enumerate(self._children):
                if child.busy is not None and child.hangs(self.seconds):
                    index = child.busy
                    child.end()
                    self._took(index, f"no end within {self.seconds:g} s", "")
                    self._children[k] = self._child(work, k)
                    self._next(self._children[k], waiting, k, work)

    def _child(self, work: Path, k: int) -> Child:
        return Child(self.seed, self.kinds, self.sound, work / str(k), self.memory)

    def _next(self, child: Child, waiting: Iterator[int], k: int, work: Path) -> None:
        index = next(waiting, None)
        if index is not None:
            child.start(index)

    def _answered(self, k: int, waiting: Iterator[int], work: Path) -> None:
        child = self._children[k]
        index = child.busy
        assert index is not None
        answer = child.answer()
        if answer is None:
            told = (child.folder / "fault.txt").read_text(errors="replace")
            self._took(index, f"killed by {_signal(child.end())} {_fault(told)}", told)
        else:
            name, found, told, grown, (seconds, taken) = answer
            self.longest[name] = max(self.longest.get(name, 0.0), round(seconds, 2))
            self.largest[name] = max(self.largest.get(name, 0), taken >> 20)
            if found in ("read", "refused"):
                self.outcomes.setdefault(name, Counter())[found] += 1
            else:
                self._took(index, found.removeprefix(f"{name}: "), told)
            if grown:
                child.end()
        if answer is None or answer[3]:
            self._children[k] = child = self._child(work, k)
        self._next(child, waiting, k, work)

    def _took(self, index: int, what: str, told: str) -> None:
        """Keep a finding."""
        kind, data = Try(self.seed, index, self.kinds).made(self.sound)
        signature = f"{kind.name}: {what}"
        self.outcomes.setdefault(kind.name, Counter())["found"] += 1
        self.findings[signature] += 1
        if self.findings[signature] <= KEPT:
            stem = f"{kind.name}-{self.seed}-{index}"
            (self.folder / f"{stem}{kind.suffix}").write_bytes(data)
            (self.folder / f"{stem}.txt").write_text(
                f"{signature}\nseed {self.seed}, file {index}\n\n{told}", encoding="utf-8"
            )

    def _note(self) -> None:
        """Write down how far the run is, whole or not at all."""
        new = self.state.with_suffix(".new")
        new.write_text(
            json.dumps(
                {
                    "seed": self.seed,
                    "done": self.done,
                    "seconds": round(self.elapsed, 1),
                    "outcomes": self.outcomes,
                    "findings": self.findings,
                    "longest": self.longest,
                    "largest": self.largest,
                },
                indent=1,
            )
        )
        os.replace(new, self.state)

    def _dismiss(self) -> None:
        for child in self._children:
            child.end()
        self._children.clear()


def _signal(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else f"status {status}"


def _fault(told: str) -> str:
    """The last place in the package before a child was killed."""
    for line in told.splitlines():
        if "/bellcrank/" in line:
            return f"in {line.rpartition(' in ')[2]}"
    return ""


def summary(harness: Harness) -> str:
    """The run in words."""
    rate = harness.done / max(harness.elapsed, 1e-9)
    lines = [f"{harness.done} files in {harness.elapsed:.0f} s, {rate:.1f} a second"]
    for name, counts in sorted(harness.outcomes.items()):
        lines.append(
            f"  {name:12s}"
            + ", ".join(f"{counts[k]} {k}" for k in ("read", "refused", "found") if counts[k])
            + f"; at most {harness.longest.get(name, 0.0)} s, {harness.largest.get(name, 0)} MiB"
        )
    for signature, number in harness.findings.most_common():
        lines.append(f"  FOUND {number} x {signature}")
    if harness.findings:
        lines.append(f"  kept in {harness.folder}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 1 where something was found."""
    parser = argparse.ArgumentParser(
        prog="hostile.mutate", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument(
        "--count", type=int, default=100_000, help="files to try, those of an earlier run included"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="kinds of files; default: all")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--folder", type=Path, default=Path(__file__).parents[2] / "build" / "hostile")
    parser.add_argument("--only", type=int, help="make and read this one file again, here")
    given = parser.parse_args(arguments)
    kinds = {name: KINDS[name] for name in given.kind} if given.kind else KINDS
    if given.only is not None:
        return _only(Try(given.seed, given.only, kinds))
    harness = Harness(given.seed, given.count, given.folder.resolve(), given.workers, kinds=kinds)
    harness.run()
    print(summary(harness))
    return 1 if harness.findings else 0


def _only(one: Try) -> int:
    kind, data = one.made({k.name: k.sound() for k in one.kinds.values()})
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / f"file{kind.suffix}"
        path.write_bytes(data)
        found, told, taken = outcome(kind, path)
    print(f"{kind.name}, {len(data)} bytes, {taken >> 20} MiB: {found}\n{told}")
    return 0 if found in ("read", "refused") else 1


if __name__ == "__main__":
    sys.exit(main())

"""What a full disk, a kill and damage leave of results: nothing is lost, nothing hangs, everything is told."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import bellcrank as bc
from bellcrank.base import blocks, whole_files
from bellcrank.base.whole_files import NewFile, read_regular
from bellcrank.errors import ModelError, ResultFileError, WriteError
from bellcrank.result import journal, sealed, storage
from bellcrank.run.recording import RecordingNote

from .test_storage import pendulum, same

BEFORE = Path(__file__).parent / "files"
"""Files of the version before the seal."""


@pytest.fixture(scope="module")
def run() -> bc.Result:
    return pendulum().simulate(1.0, output=200)


def in_child(script: str, *arguments: Any, **limits: int) -> subprocess.CompletedProcess[str]:
    """Run a script with the package, in a child with resource limits [bytes, s]."""
    head = "import sys; sys.path[:] = " + repr(sys.path) + "\n"
    head += "import resource\nfrom tests.result.test_storage import pendulum\nimport bellcrank as bc\n"
    for name, value in limits.items():
        head += f"resource.setrlimit(resource.RLIMIT_{name}, ({value}, {value}))\n"
    words = [sys.executable, "-c", head + script, *map(str, arguments)]
    root = Path(__file__).parents[2]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=120, cwd=root)


FULL = """
import signal
from functools import partial
from bellcrank.run import recording, simulation
from bellcrank.errors import WriteError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path, kind = sys.argv[1:]
system = pendulum()
try:
    if kind == "save":
        result = system.simulate(1.0, output=20000)
        result.save(path)
    else:
        result, recording.SHORTEST, recording.PAUSE = None, 0.0, 0.0
        simulation.Options = partial(simulation.Options, chunk_seconds=1e-3)
        system.simulate(20.0, output=20000, max_step=1e-3, save=path)
except WriteError as error:
    assert path in str(error), error
    result = result or error.result
    print(len(result), result["second.position"].shape, error.errno)
"""


@pytest.mark.parametrize("kind", ["save", "recorded"])
@pytest.mark.posix
def test_a_full_disk_is_an_error_that_keeps_the_result(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    ended = in_child(FULL, path, kind, FSIZE=400_000)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == ["20001", "(20001,", "3)", str(errno.EFBIG)]
    if kind == "save":
        assert not list(tmp_path.iterdir())
    else:
        assert "the run goes on in memory" in ended.stderr
        assert bc.load_result(path).run.status == "unfinished"


def test_a_disk_that_has_room_again_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from functools import partial

    from bellcrank.run import recording, simulation

    monkeypatch.setattr(simulation, "Options", partial(simulation.Options, chunk_seconds=1e-9))
    monkeypatch.setattr(recording, "SHORTEST", 0.0)
    monkeypatch.setattr(recording, "PAUSE", 0.0)
    write, calls = os.write, 0

    def full_for_a_while(handle: int, data: Any) -> int:
        nonlocal calls
        calls += 1
        if 20 <= calls < 40:
            write(handle, bytes(data)[:30])
            raise OSError(errno.ENOSPC, "No space left on device")
        if calls == 90:
            raise KeyboardInterrupt
        return write(handle, data)

    options: dict[str, Any] = {"output": 300, "max_step": 0.01, "integrator": "dop853"}
    whole = pendulum().simulate(3.0, **options)
    monkeypatch.setattr(os, "write", full_for_a_while)
    path = tmp_path / "run.h5"
    kept: list[bytes] = []
    finish = recording.Recorder.finish

    def looking(self: recording.Recorder, result: bc.Result, complete: bool) -> None:
        kept.append(path.read_bytes())
        finish(self, result, complete)

    monkeypatch.setattr(recording.Recorder, "finish", looking)
    with pytest.warns(RecordingNote, match=r"run\.h5.*goes on in memory") as told:
        part = pendulum().simulate(3.0, save=path, **options)
    assert len(told) == 1
    path.write_bytes(kept[0])
    killed = bc.load_result(path)
    assert len(part) - 3 < len(killed) <= len(part) < len(whole)
    assert np.array_equal(killed.q, whole.q[: len(killed)])
    assert same(bc.resume(path), whole)


def test_a_folder_is_refused_before_anything_is_computed(run: bc.Result, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for save in (run.save, lambda path: pendulum().simulate(1.0, save=path)):
        with pytest.raises(WriteError, match="it is a folder"):
            save(tmp_path / "folder")
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def saved_and_killed(run: bc.Result, path: Path, where: str) -> None:
    """Save in a child that is killed when it calls a function of the system."""
    child = os.fork()
    if child == 0:

        def killed(*_: Any, **__: Any) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        if where == "unnamed":
            del os.O_TMPFILE
        setattr(os, "fsync" if where == "unnamed" else where, killed)
        try:
            run.save(path)
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@pytest.mark.parametrize("where", ["write", "fsync", "link", "replace", "unnamed"])
@pytest.mark.posix
def test_a_kill_while_saving_leaves_the_file_before(where: str, run: bc.Result, tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    run.save(path)
    saved_and_killed(run, path, where)
    assert same(bc.load_result(path), run)
    if where not in ("replace", "unnamed"):
        assert [p.name for p in tmp_path.iterdir()] == ["run.h5"]
    run.save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["run.h5"]


def test_the_part_of_a_living_writer_stays(
    run: bc.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    path = tmp_path / "run.h5"
    with NewFile(path) as file:
        file.write(b"from a")
        run.save(path)
        file.write(b"nother")
        file.appear()
    assert path.read_bytes() == b"from another"
    assert [p.name for p in tmp_path.iterdir()] == ["run.h5"]


@pytest.mark.linux
def test_a_run_is_kept_where_open_files_cannot_be_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows, where neither of the two files may be open."""
    replace = os.replace

    def strict(source: str | Path, target: str | Path) -> None:
        links = [Path("/proc/self/fd") / name for name in os.listdir("/proc/self/fd")]
        held = {os.path.realpath(link) for link in links if link.exists()}
        if held & {os.path.realpath(source), os.path.realpath(target)}:
            raise PermissionError(errno.EACCES, "the file is being used by another process", str(target))
        replace(source, target)

    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    monkeypatch.setattr(os, "replace", strict)
    path = tmp_path / "run.h5"
    with pytest.raises(bc.errors.WriteError, match="used by another process"):
        pendulum().simulate(0.1, save=path)
    monkeypatch.setattr(whole_files, "RENAMES_OPEN", False)
    kept = pendulum().simulate(0.1, save=path)
    assert same(bc.load_result(path), kept)
    assert [p.name for p in tmp_path.iterdir()] == ["run.h5"]


def test_other_tools_read_our_files(run: bc.Result, tmp_path: Path) -> None:
    run.save(tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5") as file:
        assert file.attrs["format"] == "bellcrank result"
        for name in ("time", "q", "u", "du", "parameters"):
            assert np.array_equal(file[name][()], getattr(run, name))
            assert file[name].compression == "gzip"


def test_files_of_the_version_before_are_read() -> None:
    finished, cut_off, killed = (
        bc.load_result(BEFORE / f"{name}.h5") for name in ("finished", "interrupted", "killed")
    )
    assert [r.run.status for r in (finished, cut_off, killed)] == ["done", "interrupted", "unfinished"]
    assert np.array_equal(cut_off.q, killed.q)
    assert len(bc.load_result(BEFORE / "elastic.h5").time) == 6
    assert layout_outputs(BEFORE / "killed.h5") == 13


def layout_outputs(path: Path) -> int:
    return int(blocks.unpacked(storage.read(path).checkpoint)[1]["outputs"])


def test_every_damaged_byte_is_told(run: bc.Result, tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    run.save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(5)
    for at in rng.integers(0, len(whole) - 16, 300).tolist():
        damaged = bytearray(whole)
        damaged[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        with pytest.raises(ResultFileError, match="damaged"):
            bc.load_result(path)


def test_a_file_that_hangs_the_library_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    from bellcrank.base import confined
    from bellcrank.result import unsealed

    monkeypatch.setattr(unsealed, "SECONDS", 1.0)
    monkeypatch.setattr(confined, "_CHILD", "while True: pass")
    with pytest.raises(ResultFileError, match="not read in 1 s"):
        bc.load_result(BEFORE / "finished.h5")


def test_declared_sizes_are_compared_with_the_file(run: bc.Result, tmp_path: Path) -> None:
    path = tmp_path / "huge.h5"
    shutil.copyfile(BEFORE / "finished.h5", path)
    with h5py.File(path, "r+") as file:
        del file["q"]
        file.create_dataset("q", shape=(10**9, 3), chunks=(1000, 3), dtype="f8", compression="gzip")
    with pytest.raises(ResultFileError, match="24 GB"):
        bc.load_result(path)
    run.save(path)
    data = path.read_bytes()
    (length,) = np.frombuffer(data[-56:-48], "<u8")
    index = data[-56 - int(length) : -56]
    huge = index.replace(b'"q": ["f8", [201, 2]', b'"q": ["f8", [9000000000, 2]')
    assert huge != index
    sealing = data[: -56 - int(length)] + huge + len(huge).to_bytes(8, "little")
    import hashlib

    path.write_bytes(sealing + hashlib.sha256(sealing).digest() + sealed.MAGIC)
    with pytest.raises(ResultFileError, match="144 GB"):
        bc.load_result(path)


def test_a_journal_is_read_up_to_its_first_damage(tmp_path: Path) -> None:
    book = journal.Journal(tmp_path / "run", b"head", b"first", b"older")
    book.add(b"second")
    book.checkpoint(b"newer")
    book.add(b"third")
    whole = (tmp_path / "run").read_bytes()
    assert journal.read(whole) == (b"head", [b"first", b"second", b"third"], [b"newer", b"older"])
    torn = whole.replace(b"second", b"sec0nd")
    assert journal.read(torn) == (b"head", [b"first"], [b"newer", b"older"])
    assert journal.read(whole.replace(b"newer", b"n0wer"))[2] == [b"older"]
    for cut in range(len(whole)):
        if cut < whole.index(b"head") + 4:
            with pytest.raises(ResultFileError):
                journal.read(whole[:cut])
        else:
            rows = journal.read(whole[:cut])[1]
            assert rows == [b"first", b"second", b"third"][: len(rows)]
    long = bytes(1000)
    book.checkpoint(long)
    book.checkpoint(b"newest")
    book.close()
    assert journal.read((tmp_path / "run").read_bytes())[2] == [b"newest", long, b"newer", b"older"]


@pytest.mark.posix
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.h5")
    with pytest.raises(OSError, match="not a regular file"):
        bc.load_result(tmp_path / "run.h5")
    with pytest.raises(OSError, match="more than"):
        read_regular(BEFORE / "finished.h5", 100)
    with pytest.raises(WriteError, match="not a regular file"):
        pendulum().simulate(1.0, save=tmp_path / "run.h5")


@pytest.mark.parametrize(("output", "size"), [(10**8, "100,000,001 outputs"), (1e-300, "1e\\+300 outputs")])
def test_more_outputs_than_a_run_may_have_are_refused(output: Any, size: str) -> None:
    with pytest.raises(ModelError, match=size):
        pendulum().simulate(1.0, output=output)


def test_more_outputs_than_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bellcrank.run.simulation.memory", lambda: 10**9)
    with pytest.raises(ModelError, match=r"10,000,000 outputs of 8 numbers need 1\.28 GB.*there are 1 GB"):
        pendulum().simulate(1.0, output=9_999_999)


def test_blocks_refuse_what_they_do_not_hold() -> None:
    data = blocks.packed({"x": np.arange(4.0)}, {"y": 1})
    assert blocks.unpacked(data)[1] == {"y": 1}
    for bad in (
        data[:-1],
        data + b"x",
        data.replace(b"[4]", b"[5]"),
        data.replace(b"[4]", b"[-]"),
        b"",
        data[:20],
    ):
        with pytest.raises((ResultFileError, ValueError)):
            blocks.unpacked(bad)
    with pytest.raises(ValueError, match="nested"):
        blocks.plain_json(b"[" * 100_000)


@pytest.mark.posix
def test_the_command_line_tells_of_a_full_disk_and_keeps_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bellcrank.cli import main
    from bellcrank.cli.inputs import is_result

    path, write = tmp_path / "run.h5", os.write

    def full(handle: int, data: Any) -> int:
        if path.exists() and not os.isatty(handle) and handle > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(handle, data)

    monkeypatch.setattr(os, "write", full)
    # A model with contacts too is written as it goes.
    with pytest.raises(SystemExit) as ended:
        main(["run", "slider_crank_impact", "--duration", "0.2", "--out", str(path)])
    monkeypatch.undo()
    assert ended.value.code == 1
    assert re.search(r"cannot write .*run\.h5.*no space left.*bellcrank\.resume", capsys.readouterr().err)
    assert is_result(str(path))
    assert bc.resume(path, progress=False).run.status == "done"

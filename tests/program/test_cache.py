"""The cache of machine code: only whole, own entries are believed."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import numpy as np
import pytest

from bellcrank.program import cache, jit, kernel
from bellcrank.program.functions import sin
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import compile_program
from bellcrank.program.program import Program

posix = pytest.mark.skipif(sys.platform == "win32", reason="ownership by user ids")
KEY = cache.key("some program")


@pytest.fixture
def place(tmp_path, monkeypatch):
    folder = tmp_path / "deep" / "cache"
    monkeypatch.setenv("BELLCRANK_CACHE", str(folder))
    return folder


def program():
    graph = Graph()
    x = graph.input("x")
    return Program.of([x], [sin(x) * 3.0])


def compiled():
    made = compile_program(program())
    np.testing.assert_allclose(made([0.5]), 3.0 * np.sin(0.5), rtol=1e-15)
    return made


def test_second_time_comes_from_the_cache(place):
    assert not compiled().from_cache
    assert compiled().from_cache
    assert len(list(place.iterdir())) == 1


@pytest.mark.parametrize("part", ["features", "cpu", "version"])
def test_code_for_another_machine_is_not_taken(place, monkeypatch, part):
    compiled()
    keys = []
    monkeypatch.setattr(cache, "load", lambda key: keys.append(key))
    compiled()
    real = getattr(jit, part)
    machine = jit.machine(kernel.LEVEL)
    monkeypatch.setattr(jit, "machine", lambda level: machine)
    monkeypatch.setattr(jit, part, lambda: real() + " other")
    compiled()
    assert keys[0] != keys[1]


@posix
def test_folder_is_private(place):
    compiled()
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    (entry,) = place.iterdir()
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600


def damages():
    yield "empty", lambda data: b""
    yield "cut", lambda data: data[:-1]
    yield "cut in the header", lambda data: data[:40]
    yield "longer", lambda data: data + b"x"
    yield "flipped bit", lambda data: data[:-10] + bytes([data[-10] ^ 1]) + data[-9:]
    yield "other format", lambda data: data.replace(b"kernel 1\n", b"kernel 0\n", 1)
    yield "not ours", lambda data: os.urandom(len(data))
    yield "entry of another program", lambda data: cache._packed(KEY, b"code")


@pytest.mark.parametrize("damage", [pytest.param(d, id=name) for name, d in damages()])
def test_damaged_entry_is_rewritten(place, damage):
    compiled()
    (entry,) = place.iterdir()
    entry.write_bytes(damage(entry.read_bytes()))
    assert not compiled().from_cache
    assert compiled().from_cache


def test_key_depends_on_every_part_and_its_limits():
    keys = [
        cache.key("a", "b"),
        cache.key("ab", ""),
        cache.key("a", "c"),
        cache.key("b", "a"),
        cache.key("ab"),
    ]
    assert len(set(keys)) == len(keys)


@posix
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_folder_others_can_write_to_is_refused(place, mode):
    compiled()
    place.chmod(mode)
    assert not compiled().from_cache
    assert not cache.store(KEY, b"code")
    place.chmod(0o700)
    assert compiled().from_cache


@posix
def test_file_others_can_write_to_is_refused(place):
    cache.store(KEY, b"code")
    (entry,) = place.iterdir()
    entry.chmod(0o622)
    assert cache.load(KEY) is None
    entry.chmod(0o600)
    assert cache.load(KEY) == b"code"


@posix
def test_folder_of_someone_else_is_refused(place, monkeypatch):
    cache.store(KEY, b"code")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert cache.load(KEY) is None


@posix
def test_link_is_refused(place, tmp_path):
    cache.store(KEY, b"code")
    (entry,) = place.iterdir()
    entry.rename(tmp_path / "elsewhere")
    entry.symlink_to(tmp_path / "elsewhere")
    assert cache.load(KEY) is None


@posix
def test_pipe_is_not_waited_for(place):
    cache.store(KEY, b"code")
    entry = next(place.iterdir())
    entry.unlink()
    os.mkfifo(entry, 0o600)
    assert cache.load(KEY) is None


def test_unusable_folder_means_no_cache(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    for folder in (blocked, blocked / "below", "off"):
        monkeypatch.setenv("BELLCRANK_CACHE", str(folder))
        assert not compiled().from_cache
        assert not compiled().from_cache
    assert blocked.read_text() == "in the way"


@posix
@pytest.mark.skipif(sys.platform == "darwin", reason="XDG is for other systems")
def test_place(monkeypatch, tmp_path):
    monkeypatch.delenv("BELLCRANK_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() == tmp_path / "bellcrank" / "kernels"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/someone")
    assert str(cache.folder()) == "/home/someone/.cache/bellcrank/kernels"


def test_oldest_entries_leave_first(place, monkeypatch):
    monkeypatch.setattr(cache, "LARGEST_TOTAL", 3500)
    keys = [cache.key(str(k)) for k in range(5)]
    for k, name in enumerate(keys[:3]):
        assert cache.store(name, bytes(1000))
        os.utime(place / (name + ".kernel"), (1000.0 + k, 1000.0 + k))
    assert cache.load(keys[0]) is not None  # used, so it is young again
    (place / ".writing-abandoned").write_bytes(b"")
    os.utime(place / ".writing-abandoned", (0.0, 0.0))
    cache.store(keys[3], bytes(1000))
    cache.store(keys[4], bytes(1000))
    assert [cache.load(name) is not None for name in keys] == [True, False, False, True, True]
    assert not (place / ".writing-abandoned").exists()
    cache.clear()
    assert list(place.iterdir()) == []


def test_two_processes_at_once(place):
    code = (
        "from bellcrank.program.kernel import compile_program\n"
        "from bellcrank.program.program import Program\n"
        "from bellcrank.program.functions import sin\n"
        "from bellcrank.program.graph import Graph\n"
        "for k in range(12):\n"
        "    g = Graph(); x = g.input('x')\n"
        "    y = compile_program(Program.of([x], [sin(x) * (k + 2.0)]))([1.0])[0]\n"
        "    print(y)\n"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    outputs = [p.communicate(timeout=60)[0] for p in both]
    assert [p.returncode for p in both] == [0, 0]
    assert outputs[0] == outputs[1]
    assert len(outputs[0].split()) == 12
    assert len(list(place.iterdir())) == 12

"""A short run of the harness over all kinds of files, and that it finds what it looks for."""

from __future__ import annotations

import os
import random
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bellcrank.errors import ModelError
from hostile.kinds import KINDS, Kind
from hostile.mutate import Harness, Try


def test_damaged_files_of_every_kind_are_read_or_refused(tmp_path: Path) -> None:
    kinds = {name: replace(kind, weight=min(max(kind.weight, 0.5), 1.0)) for name, kind in KINDS.items()}
    harness = Harness(seed=1, count=88, folder=tmp_path, workers=1, kinds=kinds)
    harness.run()
    assert not harness.findings, sorted(tmp_path.glob("*.txt"))
    assert set(harness.outcomes) == set(KINDS)
    assert sum(sum(counts.values()) for counts in harness.outcomes.values()) == 88


def _misbehaving(path: Path) -> None:
    match path.read_bytes():
        case b"refused":
            raise ModelError("no")
        case b"bare":
            raise KeyError("key")
        case b"greedy":
            assert len(bytearray(b"x") * (256 << 20)) > 0
        case b"killed":
            os.abort()
        case b"endless":
            time.sleep(60)


def _passed(data: bytes, rng: random.Random) -> bytes:
    return data


def test_the_harness_finds_what_it_looks_for_and_goes_on_where_it_was(tmp_path: Path) -> None:
    words = [b"read", b"refused", b"bare", b"greedy", b"killed", b"endless"]
    kinds = {"word": Kind("word", ".txt", lambda: words, _passed, _misbehaving)}
    count = 12
    drawn = [Try(3, k, kinds).made({"word": words})[1] for k in range(count)]
    assert set(drawn) == set(words)
    harness = Harness(3, count, tmp_path, workers=2, seconds=1.5, memory=64 << 20, kinds=kinds)
    found = harness.run()
    assert found == {
        "word: KeyError at test_mutate.py in _misbehaving": drawn.count(b"bare"),
        "word: more than 64 MiB of memory": drawn.count(b"greedy"),
        "word: killed by SIGABRT ": drawn.count(b"killed"),
        "word: no end within 1.5 s": drawn.count(b"endless"),
    }
    assert len(list(tmp_path.glob("word-3-*.txt"))) >= 4
    again = Harness(3, count, tmp_path, kinds=kinds)
    assert (again.done, again.findings) == (count, found)
    assert again.outcomes["word"]["refused"] == drawn.count(b"refused")


@pytest.mark.parametrize("kind", KINDS)
def test_undamaged_files_are_read(kind: str, tmp_path: Path) -> None:
    """Else nothing but the first refusal would be tried; some models have bodies without joints, which end later."""
    chosen = KINDS[kind].sound()[-2:]
    for number, data in enumerate(chosen):
        path = tmp_path / f"sound{number}{KINDS[kind].suffix}"
        path.write_bytes(data)
        KINDS[kind].read(path)


@pytest.mark.parametrize("kind", KINDS)
def test_one_number_gives_one_file(kind: str) -> None:
    chosen = {kind: KINDS[kind]}
    sound = {kind: [b"a: 1\nb: [2, 3]\n"] if KINDS[kind].suffix != ".h5" else KINDS[kind].sound()[:1]}
    assert Try(1, 2, chosen).made(sound) == Try(1, 2, chosen).made(sound)

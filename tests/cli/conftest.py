"""Calling the command line as the shell does, in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bellcrank.cli import main


@dataclass(frozen=True)
class Answer:
    """What a command left: exit status, standard output, standard error."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Call = Callable[..., Answer]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Run a command in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Answer:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        captured = capsys.readouterr()
        return Answer(int(ended.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result file of the slider crank."""
    path = tmp_path_factory.mktemp("results") / "run.h5"
    with pytest.raises(SystemExit) as ended:
        main(["run", "slider_crank", "-d", "1", "--outputs", "50", "--out", str(path)])
    assert ended.value.code == 0
    return path

"""The README's Python runs as it stands, in an empty folder, and prints what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bellcrank.cli import main

README = Path(__file__).parents[1] / "README.md"


def test_python_of_the_readme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.S)
    assert len(blocks) == 2
    scope: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(README), "exec"), scope)
    said = capsys.readouterr().out
    time, impulse = map(float, re.findall(r"^(2\.8566\S*) (\S+)$", said, re.M)[0])
    assert time == pytest.approx(2.856685118125, abs=1e-6)
    assert impulse == pytest.approx(16.6775376419, rel=1e-6)
    for name in ("run.html", "report.html", "run.h5"):
        assert (tmp_path / name).stat().st_size > 1000


def test_commands_of_the_readme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    section = README.read_text(encoding="utf-8").split("## On the command line")[1].split("\n## ")[0]
    commands = re.findall(r"^    bellcrank (.+)$", section, re.M)
    assert len(commands) == 7
    for command in commands:
        with pytest.raises(SystemExit) as ended:
            main(command.split())
        assert not ended.value.code, f"{command}: {capsys.readouterr().err}"
    for name in ("slider_crank.yaml", "run.h5", "curves.png", "report.html"):
        assert (tmp_path / name).stat().st_size > 500

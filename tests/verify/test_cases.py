"""The framework of the verification manual and its command."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bellcrank import cli
from bellcrank.errors import UnknownName
from bellcrank.verify import Case, Quantity, Within, cases

runner = CliRunner()
GOOD = '''"""A good case.

Source: arithmetic, by
hand.
"""
from bellcrank.verify import Quantity

def quantities():
    return [Quantity("one", 1.0, 1.0, 0.0, "m")]
'''
BAD = '"""A bad case."""\ndef quantities():\n    raise ValueError("it broke\\nhere")\n'
WRONG = GOOD.replace('"one", 1.0', '"one", float("nan")').replace("good", "wrong")
NO_CASE = '"""Numbers for other modules."""\nVALUE = 1\n'


@pytest.fixture
def manual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """A manual of its own in a folder."""
    package = tmp_path / "bellcrank_test_manual"
    package.mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(cases, "files", lambda name: package)
    real = cases.import_module
    monkeypatch.setattr(
        cases, "import_module", lambda name: real(name.replace("bellcrank.verify", package.name))
    )
    cases.known_cases.cache_clear()

    def write(**texts: str) -> None:
        for name, text in texts.items():
            (package / f"{name}.py").write_text(text)

    yield write
    cases.known_cases.cache_clear()
    for name in [name for name in sys.modules if name.startswith(package.name)]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("within", "value", "ok"),
    [
        (Within.ABSOLUTE, 10.1, True),
        (Within.ABSOLUTE, 10.3, False),
        (Within.RELATIVE, 11.9, True),
        (Within.RELATIVE, 12.1, False),
        (Within.AT_MOST, -1e9, True),
        (Within.AT_MOST, 10.3, False),
        (Within.AT_LEAST, 1e9, True),
        (Within.AT_LEAST, 9.7, False),
    ],
)
def test_ok(within: Within, value: float, ok: bool) -> None:
    assert Quantity("q", value, 10.0, 0.2, "", within).ok is ok


@pytest.mark.parametrize("within", Within)
def test_not_a_number_is_never_ok(within: Within) -> None:
    quantity = Quantity("q", float("nan"), 1.0, 1e9, "", within)
    assert not quantity.ok
    assert quantity.to_json()["value"] is None


def test_cases_are_found_without_importing_them(manual: Callable[..., None]) -> None:
    manual(good_case=GOOD, broken="def quantities():\n    return []\n1/0\n", helper=NO_CASE)
    known = cases.known_cases()
    assert list(known) == ["broken", "good-case"]
    assert known["good-case"] == Case(
        "good-case", "A good case.", "arithmetic, by hand.", "bellcrank.verify.good_case"
    )


def test_json_is_as_published(manual: Callable[..., None]) -> None:
    manual(good=GOOD, bad=BAD, wrong=WRONG)
    result = runner.invoke(cli.app, ["verify", "--json"])
    assert result.exit_code == 1
    found = {case["case"]: case["quantities"] for case in json.loads(result.stdout)["cases"]}
    fields = ["quantity", "value", "reference", "tolerance", "unit", "ok"]
    assert list(found) == ["bad", "good", "wrong"]
    assert [list(q) for quantities in found.values() for q in quantities] == [fields] * 3
    assert found["good"][0]["ok"] is True
    assert found["wrong"][0]["ok"] is False
    assert found["bad"][0]["ok"] is False
    assert "ValueError: it broke here" in found["bad"][0]["quantity"]


def test_one_good_case_exits_with_zero(manual: Callable[..., None]) -> None:
    manual(good=GOOD, bad=BAD)
    result = runner.invoke(cli.app, ["verify", "good", "good"])
    assert result.exit_code == 0
    assert result.stdout.count("good: A good case.") == 1
    assert "source: arithmetic, by hand." in result.stdout


def test_a_failing_case_does_not_stop_the_others(manual: Callable[..., None]) -> None:
    manual(good=GOOD, bad=BAD, empty='"""Empty."""\ndef quantities():\n    return []\n')
    result = runner.invoke(cli.app, ["verify"])
    assert result.exit_code == 1
    assert "NOT OK  ValueError: it broke here" in result.stdout
    assert "the case returned no quantities" in result.stdout
    assert "good: A good case." in result.stdout


def test_unknown_case_suggests_the_nearest(
    manual: Callable[..., None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    manual(good_case=GOOD)
    with pytest.raises(UnknownName, match="did you mean 'good-case'"):
        cases.find(["god-case"])
    monkeypatch.setattr("sys.argv", ["bellcrank", "verify", "god-case"])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "did you mean 'good-case'" in captured.err


def test_list_names_cases_and_sources(manual: Callable[..., None]) -> None:
    manual(good=GOOD)
    result = runner.invoke(cli.app, ["verify", "--list"])
    assert result.exit_code == 0
    assert result.stdout == "good: A good case.\n    arithmetic, by hand.\n"


def test_version() -> None:
    result = runner.invoke(cli.app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout.startswith("bellcrank 0.")

"""``sweep`` and ``optimise`` as a person uses them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.conftest import Call


@pytest.fixture
def study(call: Call) -> Path:
    """The example in this folder, made short."""
    assert call("examples", "copy", "quarter_car").status == 0
    file = Path("quarter_car.study")
    file.write_text(
        file.read_text().replace("levels: 12", "levels: 4").replace("outputs: 400", "outputs: 100")
    )
    return file


def test_sweep_sums_up_and_keeps(call: Call, study: Path) -> None:
    answer = call("sweep", study, "--out", "runs", "--plots", "pictures")
    assert answer.status == 0, answer.err
    assert "quarter car over a bump: 16 runs in" in answer.out
    assert "comfort" in answer.out
    assert "m/s^2" in answer.out
    assert "runs keep to the constraints" in answer.out
    assert sorted(p.name for p in Path("pictures").iterdir()) == ["response.png", "surface.png"]
    again = call("sweep", study, "--out", "runs", "--json")
    assert again.json["fresh"] == 0
    assert again.json["runs"] == again.json["of"] == 16
    assert {c["name"]: c["unit"] for c in again.json["columns"]}["travel"] == "m"
    study.write_text(study.read_text().replace("duration: 2", "duration: 1"))
    other = call("sweep", study, "--out", "runs")
    assert other.status == 2
    assert "another study; it differs in: duration" in other.err


def test_sensitivity_and_tornado(call: Call, study: Path) -> None:
    text = study.read_text().replace("{kind: grid, levels: 4}", "{kind: one at a time, levels: 3}")
    study.write_text(text + "sensitivity: {method: sobol, runs: 16, seed: 1}\n")
    answer = call("sweep", study, "--plots", "pictures", "--json")
    assert answer.status == 0, answer.err
    assert answer.json["sensitivity"]["runs"] == 64
    assert answer.json["sensitivity"]["total"]["comfort"]["damping"] > 0.3
    assert "tornado.png" in {p.name for p in Path("pictures").iterdir()}
    study.write_text(text + "sensitivity: {method: morris, runs: 4}\n")
    answer = call("sweep", study, "--out", "runs")
    assert answer.status == 0, answer.err
    assert "sensitivity of comfort" in answer.out
    assert "strength" in answer.out


def test_optimise(call: Call, study: Path) -> None:
    answer = call("optimise", study, "--json", "--plots", "pictures", "--out", "points")
    assert answer.status == 0, answer.err
    assert answer.json["status"] == "converged"
    assert answer.json["measures"]["travel"] <= 0.042 * (1 + 1e-6)
    assert answer.json["gradients"]["comfort"].keys() == {"stiffness", "damping"}
    assert Path("pictures/search.png").exists()
    shown = call("optimise", study, "--method", "cobyqa")
    assert shown.status == 0
    assert "converged by cobyqa" in shown.out
    assert "<= 0.042" in shown.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("sweep nothing.study", "no such file"),
        ("sweep quarter_car.yaml", "begins with 'study: 1'"),
        ("sweep quarter_car.study --threads 0", "--threads is a whole number"),
        ("sweep quarter_car.study --out quarter_car.yaml", "is a file; a study is stored in a folder"),
        ("sweep quarter_car.study --plots quarter_car.yaml", "is a file; pictures go into a folder"),
        ("optimise quarter_car.study --method magic", "no method named 'magic'"),
        ("optimise quarter_car.study --method nelder-mead", "takes no constraints"),
        ("optimise quarter_car.study --cluster local", "one point after the other"),
    ],
)
def test_mistakes(call: Call, study: Path, words: str, said: str) -> None:
    answer = call(*words.split())
    assert answer.status == 2
    assert said in answer.err
    assert "Traceback" not in answer.err


def test_failed_runs_are_told(call: Call, study: Path) -> None:
    Path("quarter_car.yaml").write_text(
        Path("quarter_car.yaml").read_text().replace("- 100 * rate", "- 100 * rate / max(0, damping - 1000)")
    )
    answer = call("sweep", study)
    assert answer.status == 1
    assert "damping = 400" in answer.err


def test_a_study_goes_by_the_name_of_its_example(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    from bellcrank.cli.inputs import study

    assert Path(study("quarter_car")).name == Path(study("quarter-car.study")).name == "quarter_car.study"
    assert Path(study("quarter_car")).is_file()
    assert study("pendulum") == "pendulum"
    Path("quarter_car.study").touch()
    assert study("quarter_car.study") == "quarter_car.study"
    assert "no such file" in call("sweep", "pendulum").err

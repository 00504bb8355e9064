"""Study files: what they say, and what is said about mistakes in them."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bellcrank.errors import BellcrankError
from bellcrank.files import ModelFileError
from bellcrank.study import Grid, LogNormal, Measure, Normal, OneAtATime, Truncated, Uniform
from bellcrank.study.files import load_study, read_study

EXAMPLES = Path(__file__).parents[2] / "examples"
TEXT = (EXAMPLES / "quarter_car.study").read_text()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(EXAMPLES / "quarter_car.yaml", tmp_path)
    return tmp_path


def written(folder: Path, text: str) -> Path:
    path = folder / "a.study"
    path.write_text(text)
    return path


def test_the_example_says_what_it_says(folder: Path) -> None:
    loaded = read_study(written(folder, TEXT))
    study = loaded.study
    assert study.variables == {"stiffness": Uniform(12e3, 40e3), "damping": Uniform(400.0, 4000.0)}
    assert study.design == Grid(12)
    assert study.measures["comfort"] == Measure("rms", "body.acceleration.z")
    assert study.measures["load"] == Measure("min", "tyre.effort", after=0.05)
    assert (study.objective, study.maximise) == ("comfort", False)
    assert study.units["travel"] == "m"
    assert loaded.search["method"] == "slsqp"


MINIMAL = """\
study: 1
model: quarter_car.yaml
duration: 2 * 0.25
variables:
  stiffness: {kind: normal, mean: 2e4, deviation: 1e3}
measures:
  peak: max of body.position.z
"""


def test_all_kinds_can_be_written(folder: Path) -> None:
    text = MINIMAL.replace(
        "  stiffness: {kind: normal, mean: 2e4, deviation: 1e3}\n",
        "  stiffness: {kind: truncated, of: {kind: normal, mean: 2e4, deviation: 1e3}, low: 19e3, high: 21e3}\n"
        "  damping: {kind: lognormal, median: 1500, spread: 0.1}\n"
        "  body_mass: {kind: triangular, low: 300, mode: 320, high: 330}\n"
        "  wheel_mass: {kind: choice, values: [38, 40]}\n"
        "  tyre_stiffness: {kind: loguniform, low: 1e5, high: 3e5}\n",
    )
    designs = {
        "{kind: monte carlo, runs: 7, seed: 3}": 7,
        "{kind: latin hypercube, runs: 9}": 9,
        "{kind: sobol, runs: 8, scramble: false}": 8,
        "{kind: one at a time, levels: 3, base: {damping: 1400}}": 16,
        "{kind: grid, levels: {stiffness: 3, damping: 2, body_mass: 1, tyre_stiffness: 1}}": 12,
    }
    for design, rows in designs.items():
        study = load_study(written(folder, text + f"design: {design}\n"))
        assert len(study) == rows
    assert study.duration == 0.5
    assert study.variables["stiffness"] == Truncated(Normal(2e4, 1e3), 19e3, 21e3)
    assert study.variables["damping"] == LogNormal(1500.0, 0.1)
    assert isinstance(
        load_study(written(folder, MINIMAL + "design: {kind: one at a time}\n")).design, OneAtATime
    )


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("study: 1", "study: 2", 1, "format version 2"),
        ("study: 1\n", "", 1, "begins with 'study: 1'"),
        ("duration:", "durration:", 3, "did you mean 'duration'"),
        ("duration: 2 * 0.25", "duration: -1", 3, "greater than 0"),
        ("duration: 2 * 0.25", "duration: two", 3, "no name 'two'|two"),
        ("kind: normal", "kind: gauss", 5, "no kind gauss; choose from uniform"),
        ("kind: normal, ", "", 5, "needs a 'kind'|kind"),
        ("deviation: 1e3", "deviation: 0", 5, "deviation must be positive"),
        (", deviation: 1e3", "", 5, "needs 'deviation'"),
        ("deviation: 1e3", "width: 1e3", 5, "width|deviation"),
        ("  stiffness:", "  stifness:", 5, "did you mean 'stiffness'"),
        ("body.position.z", "body.positon.z", 7, "did you mean"),
        ("max of", "most of", 7, "no statistic named 'most'"),
        ("max of body.position.z", "body.position.z", 7, "a measure reads"),
        ("quarter_car.yaml", "quarter_ca.yaml", 2, "did you mean 'quarter_car.yaml'"),
        ("quarter_car.yaml", "../quarter_car.yaml", 2, "beside the study or below"),
        ("quarter_car.yaml", "/etc/passwd", 2, "beside the study or below"),
        ("quarter_car.yaml", "C:\\car.yaml", 2, "beside the study or below"),
        ("  peak: max of body.position.z\n", "  peak: [1]\n", 7, "peak"),
        ("study: 1", "study: !!python/object:os.system 1", 1, "tags"),
    ],
)
def test_mistakes_are_told_with_their_place(folder: Path, old: str, new: str, line: int, words: str) -> None:
    assert old in MINIMAL
    with pytest.raises(ModelFileError, match=words) as caught:
        load_study(written(folder, MINIMAL.replace(old, new)))
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("more", "line", "words"),
    [
        ("minimise: speed\n", 8, "no measure named 'speed'"),
        ("minimise: peak\nmaximise: peak\n", 9, "one objective"),
        ("constraints: {peak: {}}\n", 8, "at_least or at_most"),
        ("constraints: {peak: {at_mots: 1}}\n", 8, "did you mean 'at_most'"),
        ("optimisation: {method: magic}\n", 8, "one of slsqp"),
        ("design: {kind: monte carlo, runs: 1000000000000}\n", 8, "less than or equal"),
        ("fixed: {stiffness: 1}\n", 5, "both varied and fixed"),
        ("design: {kind: grid, levels: {damping: 3}}\n", 8, "no variable named 'damping'"),
        ("fixed: {mass: 3}\n", 8, "no parameter or start value named 'mass'"),
        ("integrator: runge\n", 8, "one of"),
        ("outputs: many\n", 8, "a valid integer"),
        ("start: rest\n", 8, "described"),
        ("keep: [wheel.colour]\n", 8, "wheel.colour"),
    ],
)
def test_further_mistakes(folder: Path, more: str, line: int, words: str) -> None:
    with pytest.raises(ModelFileError, match=words) as caught:
        load_study(written(folder, MINIMAL + more))
    assert caught.value.line == line


def test_a_link_does_not_lead_outside(folder: Path, tmp_path_factory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "model.yaml"
    outside.write_text((EXAMPLES / "quarter_car.yaml").read_text())
    (folder / "link.yaml").symlink_to(outside)
    with pytest.raises(ModelFileError, match="link to elsewhere"):
        load_study(written(folder, MINIMAL.replace("quarter_car.yaml", "link.yaml")))


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_torn_files_are_refused_in_words(folder: Path, data: st.DataObject) -> None:
    """Whatever is cut out or put in: a study, or an error of ours, nothing else."""
    words = [
        "{",
        "}",
        "[",
        ":",
        "kind",
        "nan",
        "inf",
        "1e999",
        "-",
        "'",
        "truncated",
        "of",
        "\x00",
        "1" * 400,
        "\t",
    ]
    text = MINIMAL + "design: {kind: monte carlo, runs: 4}\nkeep: [body.position]\nminimise: peak\n"
    a = data.draw(st.integers(0, len(text)))
    b = data.draw(st.integers(a, min(len(text), a + 12)))
    torn = text[:a] + data.draw(st.sampled_from(["", *words])) + text[b:]
    path = folder / "torn.study"
    path.write_bytes(torn.encode())
    try:
        study = load_study(path)
    except BellcrankError:
        return
    except OSError:
        return
    assert np.isfinite(study.duration)

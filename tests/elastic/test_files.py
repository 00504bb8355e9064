"""Problems as files and results as files: the same numbers, the schema, slips and strangers, the command line."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import bellcrank as bc
from bellcrank import elastic
from bellcrank.cli import main
from bellcrank.errors import BellcrankError, ModelError, ResultFileError, UnknownName
from bellcrank.files import ModelFileError
from bellcrank.verify.sphere_on_wall import ball, impact

EXAMPLES = Path(__file__).parents[2] / "examples"
SPHERE = EXAMPLES / "elastic_sphere_on_wall.elastic"
SMALL = """elastic: 1
name: drop
materials: {soft: {young: 500, poisson: 0.3, density: 1}}
bodies:
  box: {shape: block, material: soft, size: [1, 1], divisions: [2, 2], velocity: [0, -1]}
obstacles:
  floor: {kind: plane, point: [0, 0], normal: [0, 1]}
contacts:
  landing: {body: box, against: floor}
duration: 0.1
step: 0.002
"""


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_the_file_of_the_paper_gives_the_numbers_of_python(friction: float) -> None:
    setup = elastic.load(SPHERE, {"friction": friction, "step": 0.05, "grading": 10.0})
    python = impact(0.05, ball(8, 10.0), friction=friction)
    assert np.array_equal(setup.simulate()["contact.force"], python["contact.force"])


def everything() -> dict[str, Any]:
    """A problem that uses every kind of thing."""
    return {
        "elastic": 1,
        "name": "everything",
        "parameters": {"mu": 0.1, "h": "1 / 500"},
        "definitions": {"down": "-2 * mu"},
        "materials": {
            "soft": {"young": 500, "poisson": 0.3, "density": 1, "mass_damping": 0.1, "stiffness_damping": 1e-4}
        },
        "bodies": {
            "box": {"shape": "block", "material": "soft", "size": [1, 1], "divisions": [2, 2], "grading": 2,
                    "lowest": [-0.5, 0.01], "velocity": ["0.1 * y", "down - x"], "body_force": [0, -1],
                    "mass": "lumped",
                    "analysis": "plane stress", "thickness": 2, "element": "quadrilateral4",
                    "supports": [{"box": [[-0.5, 1.01], [-0.4, 1.01]], "directions": "x"}]},
            "disc": {"shape": "disc", "material": "soft", "radius": 0.5, "centre": [0, 1.6], "divisions": 4,
                     "grading": 2, "element": "triangle6", "refinement": 1, "contact_zone": 0.1},
        },
        "obstacles": {
            "floor": {"kind": "plane", "point": [0, 0], "normal": [0, 1], "path": [0, "0.001 * sin(t)"]},
            "bump": {"kind": "sphere", "centre": [0, -3], "radius": 2.9, "velocity": [0, 0.1]},
            "hill": {"kind": "surface", "level": "y + 0.1 + 0.1 * x^2", "size": 2},
        },
        "contacts": {
            "a": {"body": "box", "against": "floor", "friction": "mu", "surface": [[-1, 0], [1, 0.02]]},
            "b": {"body": "box", "against": "bump"},
            "c": {"body": "box", "against": "hill"},
            "d": {"body": "disc", "against": "box"},
        },
        "duration": "20 * h",
        "step": "h",
        "scheme": {"kind": "generalised_alpha", "spectral_radius": 0.8},
        "solver": {"kind": "direct"},
        "compatibility": {"velocity": True, "acceleration": False},
        "frames": 5,
    }  # fmt: skip


def test_everything_a_file_can_say() -> None:
    from jsonschema import Draft202012Validator

    given = everything()
    Draft202012Validator.check_schema(elastic.schema())
    validator = Draft202012Validator(elastic.schema())
    validator.validate(given)
    for example in EXAMPLES.glob("*.elastic"):
        validator.validate(yaml.safe_load(example.read_text()))
    setup = elastic.loads(json.dumps(given))
    assert setup.bodies[0].material.stiffness_damping == 1e-4
    assert setup.bodies[0].start_velocity.reshape(-1, 2)[0, 1] == pytest.approx(
        -0.2 - setup.bodies[0].nodes[0, 0]
    )
    assert setup.compatibility == elastic.Compatibility(True, False)
    assert setup.scheme == elastic.generalised_alpha(0.8)
    assert setup.contacts[0].against.travel(1.0, 2)[1] == pytest.approx(0.001 * np.sin(1.0))  # type: ignore[union-attr]
    run = setup.simulate()
    assert run.finished
    assert run.contact_names == ("a", "b", "c", "d")
    assert run.run.steps == 20


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("elastic: 1", "elastic: 2", "version 2"),
        ("elastic: 1\n", "", "begins with 'elastic: 1'"),
        ("name: drop", "name: drop\nbodys: {}", "did you mean 'bodies'"),
        ("material: soft", "material: sotf", "did you mean 'soft'"),
        ("shape: block", "shape: blok", "did you mean 'block'"),
        ("young: 500", "young: -500", "must be positive"),
        ("young: 500, ", "", "needs 'young'"),
        ("divisions: [2, 2]", "divisions: [20000, 20000]", "unknowns; up to"),
        ("divisions: [2, 2]", "divisions: [2.5, 2]", "whole number"),
        ("divisions: [2, 2]", "divisions: 2", "list of 2"),
        ("size: [1, 1]", "size: [1, -1]", "positive"),
        ("velocity: [0, -1]", "velocity: [0, -1, 0]", "list of 2"),
        ("velocity: [0, -1]", "velocity: [0, __import__]", "language|no name"),
        ("against: floor", "against: flor", "did you mean 'floor'"),
        ("body: box", "body: bx", "did you mean 'box'"),
        ("against: floor", "against: floor, friction: -1", "negative"),
        ("against: floor", "against: floor, surface: [[0, 0]]", "two corners"),
        ("normal: [0, 1]", "normal: [0, 1], speed: 3", "no key 'speed'"),
        ("step: 0.002", "step: 1e-9", "steps are too many"),
        ("step: 0.002", "", "needs 'step'"),
        ("step: 0.002", "step: 0.002\nscheme: {kind: euler}", "choose from"),
        ("step: 0.002", "step: 0.002\nframes: 0", "whole number"),
        ("shape: block, material: soft, size: [1, 1], divisions: [2, 2]",
         "shape: mesh, material: soft, analysis: plane strain, file: ../../etc/passwd.msh", "beside it|folder"),
        ("shape: block, material: soft, size: [1, 1], divisions: [2, 2]",
         "shape: disc, material: soft, radius: 1, divisions: 3000", "unknowns; up to"),
        ("shape: block, material: soft, size: [1, 1], divisions: [2, 2]",
         "shape: disc, material: soft, radius: 1, analysis: axisymmetric", "plane strain or plane stress"),
        ("box: {", "box: &x {", "anchors"),
        ("landing: {body: box, against: floor}", "", "needs 'contacts'"),
    ],
)  # fmt: skip
def test_slips_are_told_with_their_place(old: str, new: str, words: str) -> None:
    assert old in SMALL
    with pytest.raises(ModelFileError, match=words):
        elastic.loads(SMALL.replace(old, new))


def test_torn_files_are_refused_or_read() -> None:
    """Pieces left out, doubled or swapped: nothing but an error with a place, or a problem."""
    rng = np.random.default_rng(7)
    text = json.dumps(everything(), indent=1)
    refused = 0
    for _ in range(150):
        a, b = sorted(rng.integers(0, len(text), 2).tolist())
        b = min(b, a + int(rng.integers(1, 40)))
        torn = (
            text[:a]
            + str(rng.choice(["", text[a:b] * 2, "[", "}", "nan", "-1", "1e9", "x", ": {"]))
            + text[b:]
        )
        try:
            elastic.loads(torn)
        except ModelFileError:
            refused += 1
    assert refused > 100


def test_meshes_lie_beside_the_file(tmp_path: Path) -> None:
    from skfem.io.meshio import to_meshio

    body = elastic.loads(SMALL).bodies[0]
    to_meshio(body.mesh).write(tmp_path / "box.vtu")
    text = SMALL.replace(
        "shape: block, material: soft, size: [1, 1], divisions: [2, 2]",
        "shape: mesh, material: soft, analysis: plane strain, file: box.vtu",
    )
    (tmp_path / "drop.elastic").write_text(text)
    one, two = elastic.load(tmp_path / "drop.elastic").simulate(), elastic.loads(SMALL).simulate()
    np.testing.assert_allclose(one["landing.force"], two["landing.force"], atol=1e-9)
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "drop.elastic").write_text(text.replace("box.vtu", "../box.vtu"))
    with pytest.raises(ModelFileError, match="folder or below"):
        elastic.load(tmp_path / "away" / "drop.elastic")


def test_unknown_parameters_are_refused() -> None:
    with pytest.raises(UnknownName, match="friction, step"):
        elastic.load(SPHERE, {"frction": 0.1})


@pytest.fixture(scope="module")
def run() -> elastic.ElasticResult:
    return elastic.load(EXAMPLES / "elastic_discs.elastic").simulate(0.2)


def test_the_file_of_the_discs_gives_the_numbers_of_python(run: elastic.ElasticResult) -> None:
    import runpy

    python = np.asarray(runpy.run_path(str(EXAMPLES / "elastic_discs.py"))["discs"]()["contact.force"])
    assert np.array_equal(run["contact.force"], python[: len(run.time)])


def test_a_saved_result_answers_everything(run: elastic.ElasticResult, tmp_path: Path) -> None:
    run.save(tmp_path / "run.h5")
    back = bc.load_result(tmp_path / "run.h5")
    assert back.names == run.names
    for name in run.names:
        assert np.array_equal(back[name], run[name])
        assert back[name].unit == run[name].unit
    assert back.run == run.run
    assert back.name == "rubber discs"
    assert np.array_equal(back.stress(-1, "upper").tensor, run.stress(-1, "upper").tensor)
    step = int(np.asarray(run["contact.force"]).argmax())
    for one, two in zip(back.nodal_forces(step), run.nodal_forces(step), strict=True):
        assert np.array_equal(one, two)
    assert back.vibration_energy() == run.vibration_energy()


@pytest.mark.parametrize("against", ["plane", "sphere", "surface"])
def test_obstacles_are_kept_but_functions(against: str, tmp_path: Path) -> None:
    body = elastic.loads(SMALL).bodies[0]
    obstacle: elastic.Obstacle = {
        "plane": elastic.RigidPlane(velocity=(0.0, 0.1)),
        "sphere": elastic.RigidSphere((0.5, -5.0), 5.0),
        "surface": elastic.RigidSurface(lambda x: x[:, 1]),
    }[against]  # type: ignore[assignment]
    elastic.simulate(body, obstacle, 0.02, 0.002).save(tmp_path / "run.h5")
    back = bc.load_result(tmp_path / "run.h5").contacts[0].against
    if against == "surface":
        with pytest.raises(ModelError, match="given by a function"):
            back.gap(body.nodes, 0.0)
        return
    for t in (0.0, 1.0):
        for one, two in zip(back.gap(body.nodes, t), obstacle.gap(body.nodes, t), strict=True):
            assert np.array_equal(one, two)


@pytest.mark.parametrize(
    ("table", "values"),
    [
        ("body_0_cells", np.full((9, 3), 10**6)),
        ("frames", np.zeros((1, 1, 2))),
        ("touching", np.array([10**6])),
        ("works", np.zeros((3, 3))),
        ("kinetic", None),
        ("about", np.frombuffer(b"{}", dtype="u1")),
    ],
)
def test_spoiled_files_are_refused(
    run: elastic.ElasticResult, table: str, values: Any, tmp_path: Path
) -> None:
    import h5py

    path = tmp_path / "run.h5"
    run.save(path)
    with h5py.File(path, "a") as file:
        del file[table]
        if values is not None:
            file[table] = values
        else:
            file[table] = h5py.ExternalLink("other.h5", table)
    with pytest.raises(ResultFileError, match="damaged"):
        bc.load_result(path)


def test_damaged_files_are_refused_or_read(run: elastic.ElasticResult, tmp_path: Path) -> None:
    run.save(tmp_path / "run.h5")
    whole = (tmp_path / "run.h5").read_bytes()
    rng = np.random.default_rng(11)
    for _ in range(20):
        data = bytearray(whole)
        for at in rng.integers(0, min(len(data), 20_000), 4):
            data[int(at)] = int(rng.integers(0, 256))
        (tmp_path / "torn.h5").write_bytes(bytes(data[: int(rng.integers(1000, len(data)))]))
        with contextlib.suppress(BellcrankError):
            bc.load_result(tmp_path / "torn.h5")
        (tmp_path / "torn.h5").write_bytes(bytes(data))
        with contextlib.suppress(BellcrankError):
            bc.load_result(tmp_path / "torn.h5")


def call(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    return int(ended.value.code or 0)


def test_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drop.elastic").write_text(SMALL)
    assert (
        call("run", "drop.elastic", "--out", "run.h5", "-q", "box.velocity", "--json", "--step", "0.004") == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert told["run"]["steps"] == 25
    assert told["contacts"][0]["peak_force"] > 0.0
    assert [q["name"] for q in told["quantities"]] == ["box.velocity.x", "box.velocity.y"]
    assert call("run", "drop.elastic", "--out", "run.csv") == 0
    assert (tmp_path / "run.csv").read_text().startswith("time [s],landing.force [N]")
    assert call("plot", "run.h5", "landing.force", "--out", "run.png") == 0
    assert call("report", "run.h5") == 0
    assert call("view", "run.h5", "--html", "run.html") == 0
    assert call("quantities", "run.h5", "--json") == 0
    page, report = (tmp_path / "run.html").read_text(), (tmp_path / "run_report.html").read_text()
    assert "von Mises" in page
    assert "<polygon" in report
    assert all(word not in page + report for word in ("http://", "https://"))
    for words, told_words in (
        (("run", "drop.elastic", "--integrator", "radau"), "belongs to mechanisms"),
        (("run", "drop.elastic", "-q", "landing.farce"), "landing.force"),
        (("check", "drop.elastic"), "not a mechanism"),
        (("equilibrium", "drop.elastic"), "not a mechanism"),
        (("linearize", "drop.elastic"), "not a mechanism"),
    ):
        capsys.readouterr()
        assert call(*words) != 0
        assert told_words in capsys.readouterr().err

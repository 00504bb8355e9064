"""Every command, as a person uses it: what it prints, what it writes, what it says to mistakes."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
import xml.etree.ElementTree as ET
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from scipy import special
from typer.main import get_command

import bellcrank as bc
from bellcrank.cli import app
from bellcrank.cli.inputs import model
from bellcrank.view.live import Viewer
from cli.conftest import Call

doctor = import_module("bellcrank.cli.doctor")
COMMANDS = (
    *("run", "check", "count", "equilibrium", "linearize", "plot", "report", "view"),
    *("quantities", "convert", "verify", "examples", "sweep", "optimise", "drive", "cad", "doctor"),
    "manoeuvre",
)


def test_help_lists_all_commands(call: Call) -> None:
    answer = call("--help")
    assert answer.status == 0
    assert all(f"\n  {name} " in answer.out for name in COMMANDS)


def test_no_help_is_cut_off(call: Call) -> None:
    """Descriptions of commands and groups of options, to their ends in a window of 80 letters."""
    answer = call("--help")
    lines = answer.out.partition("Commands:")[2].splitlines()
    text = " ".join(line.strip() for line in lines)
    assert "..." not in text
    assert text.count(". ") >= len(COMMANDS) - 1
    answer = call("convert", "--help")
    assert answer.out.index("Options:") < answer.out.index("URDF and MJCF:") < answer.out.index("FMU:")
    assert "of the equations of motion, the projection onto the constraints" in " ".join(answer.out.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_examples(call: Call, command: str) -> None:
    answer = call(command, "--help")
    assert answer.status == 0
    assert f"  bellcrank {command}" in answer.out
    assert "--json" in answer.out


def test_commands_that_texts_name_are_there_with_their_options() -> None:
    """In pages, docstrings, helps and errors; those in blocks run as well."""
    known: Any = get_command(app)
    checked = 0
    root = Path(__file__).parents[2]
    texts = [path for path in (root / "docs").rglob("*") if path.suffix in (".md", ".rst")]
    for path in [root / "README.md", *texts, *(root / "src").rglob("*.py")]:
        for written in re.findall(
            r"(?:`|'|^ {2,}(?:\$ )?)bellcrank ([^`'\n]+)", path.read_text(encoding="utf-8"), re.M
        ):
            words, command = written.split(), known
            while hasattr(command, "commands") and words and not words[0].startswith("-"):
                assert words[0] in command.commands, f"{path}: {written}"
                command = command.commands[words.pop(0)]
            options = {"-h", "--help", *(o for p in command.params for o in (*p.opts, *p.secondary_opts))}
            for word in words:
                if re.match("--?[a-z]", word):
                    assert word.partition("=")[0].rstrip(",.;)") in options, f"{path}: {written}"
            checked += 1
    assert checked > 100


def test_commands_are_imported_when_they_run() -> None:
    heavy = "numpy", "scipy", "numba", "rich.table", "h5py", "yaml", "matplotlib"
    code = f"import sys, bellcrank.cli; print([m for m in {heavy!r} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_run_sums_up_and_writes(call: Call) -> None:
    answer = call("run", "pendulum", "-d", "2", "--out", "run.h5", "-q", "rod.velocity", "--outputs", "100")
    assert answer.status == 0
    assert answer.err == ""
    for text in (
        "x real time",
        "ended        done",
        "energy of gravity",
        "rod.velocity.z",
        "written: run.h5",
    ):
        assert text in answer.out
    assert Path("run.h5").stat().st_size > 0


def test_run_takes_parameters_start_values_and_methods(call: Call) -> None:
    words = (
        "run",
        "pendulum",
        "-d",
        "0.5",
        "--outputs",
        "20",
        "--json",
        "-q",
        "pivot.angle",
        "-q",
        "pivot.angle_rate",
    )
    more = (
        "--set",
        "friction=1/4",
        "--initial",
        "pivot=pi/6,-1",
        "--integrator",
        "radau",
        "--formulation",
        "lagrange",
    )
    found = call(*words, *more).json
    assert found["parameters"]["friction"] == 0.25
    assert found["run"]["integrator"] == "radau"
    assert found["run"]["formulation"] == "lagrange"
    assert [q["start"] for q in found["quantities"]] == pytest.approx([0.5235987755982988, -1.0])
    assert abs(found["energy"]["relative_residual"]) < 1e-5
    assert found["constraints"] is None


def test_run_writes_curves_as_csv(call: Call) -> None:
    assert (
        call("run", "pendulum", "-d", "1", "--outputs", "4", "-o", "c.csv", "-q", "pivot.angle").status == 0
    )
    lines = Path("c.csv").read_text().splitlines()
    assert lines[0] == "time [s],pivot.angle [rad]"
    assert [line.split(",")[0] for line in lines[1:]] == ["0.0", "0.25", "0.5", "0.75", "1.0"]


def test_run_takes_coordinates_of_joints_with_several(call: Call) -> None:
    found = call(
        *("run", "full-car", "-d", "0.01", "--outputs", "2", "--json", "-q", "chassis.velocity"),
        *("--initial", "ground to chassis.velocity=10,0,0"),
    ).json
    assert [round(q["start"], 6) for q in found["quantities"]] == [10.0, 0.0, 0.0]


def test_impacts_are_listed(call: Call) -> None:
    Path("ball.yaml").write_text(
        "bellcrank: 1\nname: ball\nbodies: {ball: {mass: 1, inertia: [0.004, 0.004, 0.004], at: [0, 0, 1]}}\n"
        "joints: {fall: {kind: free, a: ground, b: ball}}\n"
        "contacts:\n  floor:\n    a: {kind: plane, body: ground}\n    b: {kind: sphere, body: ball, radius: 0.1}\n"
        "    restitution: 0.5\n"
    )
    answer = call("run", "ball.yaml", "-d", "0.6", "--outputs", "20", "--out", "ball.h5")
    assert answer.status == 0
    assert "1 impact\n" in answer.out
    assert "0.42835" in answer.out
    assert Path("ball.h5").exists()
    stepped = call(
        "run",
        "ball.yaml",
        "-d",
        "0.6",
        "--outputs",
        "20",
        "--impacts",
        "stepping",
        "--step",
        "1e-3",
        "-o",
        "steps.h5",
    )
    assert "moreau" in stepped.out
    assert "deepest overlap" in stepped.out
    assert "1 impact\n" in stepped.out
    assert bc.load_result("steps.h5").run.steps == 600
    assert "--step 1e-3" in call("run", "ball.yaml", "--impacts", "stepping").err
    assert "belong to the model" in call("view", "steps.h5", "--impacts", "stepping", "--step", "1e-3").err
    assert "dense, stepping" in call("run", "ball.yaml", "--impacts", "leaping").err


def test_a_failing_run_keeps_what_it_has(call: Call) -> None:
    text = (
        "bellcrank: 1\nname: falling\nbodies: {ball: {mass: 1, inertia: [1, 1, 1]}}\n"
        "joints: {fall: {kind: prismatic, a: ground, b: ball, axis: z}}\n"
        "forces: {pull: {kind: joint_force, joint: fall, function: sqrt(1 - t)}}\n"
    )
    Path("falling.yaml").write_text(text)
    answer = call("run", "falling.yaml", "-d", "2", "--outputs", "100", "--out", "part.h5")
    assert answer.status == 1
    assert "simulation stopped at t = " in answer.err
    assert "Traceback" not in answer.err
    assert "written: part.h5" in answer.out
    assert len(call("plot", "part.h5", "--json", "ball.position.z").json["time"]) >= 50


@pytest.mark.posix
def test_interrupt_keeps_the_part(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "bellcrank.cli", "run", "slider_crank", "-d", "1e8", "--out", "long.h5"]
    with subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        deadline = time.monotonic() + 60.0
        while not (tmp_path / "long.h5").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1.0)
        os.kill(run.pid, signal.SIGINT)
        out, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert "interrupted" in out
    assert "interrupted at t = " in err
    from bellcrank import load_result

    assert load_result(tmp_path / "long.h5").run.status == "interrupted"


def test_check_tells_the_topology_and_draws_it(call: Call) -> None:
    answer = call("check", "slider_crank", "--picture", "graph.svg")
    assert answer.status == 0
    for text in (
        "degrees of freedom    1",
        "redundant equations   3",
        "slider  (revolute 'wrist pin')",
        "guide",
    ):
        assert text in answer.out
    texts = [e.text for e in ET.fromstring(Path("graph.svg").read_text()).iter() if e.text]
    assert {"ground", "crank", "rod", "slider", "prismatic 'guide'"} <= set(texts)
    found = call("check", "full-car", "--json").json
    assert found["sizes"]["degrees_of_freedom"] == 15
    assert len(found["loops"]) == 8


def test_equilibrium(call: Call) -> None:
    found = call("equilibrium", "pendulum", "--json", "-q", "pivot.force").json
    assert found["stability"] == "stable"
    assert found["coordinates"]["pivot.angle"] == pytest.approx(-1.5707963267948966)
    assert found["quantities"]["pivot.force"] == pytest.approx([0.0, 9.81, 0.0], abs=1e-9)
    assert "stability      stable" in call("equilibrium", "pendulum").out


def test_linearize(call: Call) -> None:
    answer = call(
        "linearize",
        "pendulum",
        "--at",
        "equilibrium",
        "--json",
        "--input",
        "friction",
        "--output",
        "rod.velocity.x",
    )
    frequency = (1.5 * 9.81) ** 0.5 / (2.0 * 3.141592653589793)
    assert answer.json["modes"][0]["frequency"] == pytest.approx(frequency)
    assert (len(answer.json["A"]), len(answer.json["B"][0]), len(answer.json["C"])) == (2, 1, 1)
    assert "pivot.angle_rate" in call("linearize", "pendulum", "--at", "start", "--matrices").out


def test_quantities_of_models_and_results(call: Call, stored: Path) -> None:
    names = [q["name"] for q in call("quantities", "slider_crank", "--json").json["quantities"]]
    assert "guide.force" in names
    answer = call("quantities", stored, "--containing", "guide")
    assert "guide.force " in answer.out
    assert "crank" not in answer.out


def test_pages(call: Call, stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    assert call("plot", stored, "slider.velocity.x", "--out", "v.svg").out == "written: v.svg\n"
    assert call("report", stored).out == "written: run_report.html\n"
    assert call("view", stored, "--html", "run.html", "--json").json == {"out": "run.html"}
    assert call("view", "pendulum", "-d", "0.5", "--html", "pendulum.html").out == "written: pendulum.html\n"
    assert opened == []
    for name in ("v.svg", "run_report.html", "run.html", "pendulum.html"):
        assert Path(name).stat().st_size > 1000


@pytest.mark.parametrize("what", ["result", "model"])
def test_view_serves_until_it_is_ended(
    call: Call, stored: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    opened: list[str] = []
    answers: list[int] = []

    def look(viewer: Viewer) -> None:
        with urllib.request.urlopen(viewer.url, timeout=10) as page:
            answers.append(page.status)
        assert viewer.finished(60)
        answers.append(len(viewer.result))

    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    monkeypatch.setattr("bellcrank.view.live.viewer.Viewer.wait", look)
    words = ("view", stored) if what == "result" else ("view", "pendulum", "-d", "1", "--set", "friction=0.2")
    answer = call(*words, "--json")
    assert answer.status == 0
    assert opened == [answer.json["url"]]
    assert opened[0].startswith("http://127.0.0.1:")
    assert answers == [200, 51 if what == "result" else 1001]


@pytest.mark.posix
def test_view_ends_at_ctrl_c(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bellcrank.cli", "view", "pendulum", "--no-browser", "-d", "1"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("view at http://127.0.0.1:")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert "Traceback" not in err + out


def test_examples(call: Call) -> None:
    rows = {e["name"]: e for e in call("examples", "--json").json["examples"]}
    assert {"pendulum.yaml"} <= set(rows["pendulum"]["files"])
    assert all(e["title"] for e in rows.values())
    assert yaml.safe_load(call("examples", "show", "pendulum").out)["name"] == "pendulum"
    assert call("examples", "copy", "slider-crank").status == 0
    assert Path("slider_crank.py").exists()
    again = call("examples", "copy", "slider-crank")
    assert again.status == 2
    assert "--force" in again.err
    assert call("examples", "copy", "slider-crank", "--force").status == 0
    assert call("check", "slider_crank.yaml").status == 0


def test_convert(call: Call, stored: Path) -> None:
    assert call("convert", "pendulum", "-").out.startswith("bellcrank: 1\nname: pendulum\n")
    assert call("convert", stored, "model.yaml").status == 0
    assert call("check", "model.yaml").status == 0
    assert "--force" in call("convert", "pendulum", "model.yaml").err


def test_convert_to_c(call: Call, stored: Path) -> None:
    from program.c_compiler import library, pointer

    found = call("convert", "pendulum", "pendulum.c", "--json").json
    assert found["parameters"] == ["rod_mass", "rod_length", "friction"]
    assert call("convert", stored, "run.c").out.endswith("written: run.c\n")
    assert "no model" not in call("convert", "pendulum", "pendulum.c").err
    if shutil.which("gcc") is None:
        pytest.skip("no gcc on this machine")
    built = library(Path("pendulum.c").resolve())
    mechanism = model("pendulum").mechanism()
    x = mechanism.kernel_input() + 0.01
    n = len(found["states"])
    rates = np.zeros(n)
    y, p = np.ascontiguousarray(x[1 : 1 + n]), np.ascontiguousarray(x[1 + n :])
    built.pendulum_rates(ctypes.c_double(x[0]), pointer(y), pointer(p), pointer(rates))
    assert rates == pytest.approx(mechanism.kernel(x), rel=1e-13)


def test_the_shell_completes_commands_files_and_names(tmp_path: Path) -> None:
    (tmp_path / "pond.yaml").touch()
    (tmp_path / "pond.h5").touch()
    (tmp_path / "notes.txt").touch()

    def offered(line: str) -> set[str]:
        words = line.split(" ")
        environment = {
            **os.environ,
            "_BELLCRANK_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(words) - 1),
        }
        command = [sys.executable, "-m", "bellcrank.cli"]
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=True
        )
        return set(done.stdout.split())

    assert {"run", "report"} <= offered("bellcrank r")
    assert offered("bellcrank run p") == {"pond.yaml", "pendulum"}
    assert offered("bellcrank plot p") == {"pond.h5", "pond.yaml", "pendulum"}
    assert offered("bellcrank drive --terrain b") == {"bumps"}
    assert "--duration" in offered("bellcrank run --d")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("rnu pendulum", "Did you mean 'run'?"),
        ("run pendulum --durtion 3", "--duration"),
        ("run", "Missing argument 'MODEL'"),
        ("run pendulum -d long", "'--duration'"),
        ("run pendulm", "did you mean 'pendulum'?"),
        ("run pendulum --set frictoin=1", "did you mean 'friction'?"),
        ("run pendulum --set friction", "such as --set stiffness=2e4"),
        ("run pendulum --set friction=two", "no name 'two' here"),
        ("run pendulum --set friction=1/0", "friction=1/0"),
        ("run pendulum --initial pivt=1", "did you mean 'pivot'?"),
        ("run pendulum --initial pivot=1,2,3", "position, rate"),
        ("run pendulum --initial pivot.angel=1", "did you mean 'angle'?"),
        ("run pendulum --integrator dop583", "did you mean 'dop853'?"),
        ("run pendulum --formulation recursiv", "did you mean 'recursive'?"),
        ("run pendulum -q rod.veloctiy", "did you mean 'rod.velocity'?"),
        ("run pendulum --duration -1", "positive number of seconds"),
        ("run pendulum --tolerance 0", "between 0 and 1"),
        ("run pendulum --outputs 0", "--outputs"),
        ("run pendulum --out here/there/run.h5", "no folder"),
        ("run pendulum --out run.txt", ".h5"),
        ("check pendulum --picture graph.png", ".svg"),
        ("linearize pendulum --at equilibirum", "did you mean 'equilibrium'?"),
        ("linearize pendulum --input frction", "did you mean 'friction'?"),
        ("equilibrium pendulum --drivers forzen", "did you mean 'frozen'?"),
        ("plot nothing.h5", "no result file 'nothing.h5'"),
        ("view pendulm", "did you mean 'pendulum'?"),
        ("view pendulum -q rod.veloctiy --html x.html", "did you mean 'rod.velocity'?"),
        ("view pendulum --port 70000", "--port"),
        ("drive --terrain bump", "did you mean 'bumps'?"),
        ("convert pendulum model.txt", ".yaml"),
        ("plot {stored} slider.veloctiy.x", "did you mean 'slider.velocity'?"),
        ("run {stored}", "is a result"),
        ("report {model}", "has no bodies"),
        ("examples show pendulm", "did you mean 'pendulum'?"),
        ("convert pendulum out.txt", ".yaml"),
        ("convert pendulum out.yaml --base fre", "did you mean 'free'?"),
        ("verify pendulm", "did you mean 'pendulum'?"),
        ("run .", "'.'"),
    ],
)
def test_mistakes_are_told_in_one_line(call: Call, stored: Path, words: str, told: str) -> None:
    Path("model.yaml").write_text("bellcrank: 1\nname: x\n")
    answer = call(*(word.format(stored=stored, model="model.yaml") for word in words.split()))
    assert answer.status == 2, answer
    assert answer.out == ""
    assert answer.err.startswith("bellcrank: ")
    assert answer.err.count("\n") == 1
    assert told in answer.err


def test_debug_shows_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    from bellcrank.cli import main
    from bellcrank.errors import ModelError

    with pytest.raises(ModelError):
        main(["run", "pendulm", "--debug"])


def test_what_nobody_expected_is_told_too(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("oh\nno")

    monkeypatch.setattr("bellcrank.cli.inputs.model", broken)
    answer = call("check", "pendulum")
    assert answer.status == 1
    assert answer.err.count("\n") == 1
    assert "ZeroDivisionError: oh no" in answer.err
    assert "--debug" in answer.err


def test_a_reader_that_leaves_early_is_no_error() -> None:
    words = [sys.executable, "-m", "bellcrank.cli", "quantities", "full-car"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        assert run.stdout is not None
        run.stdout.read(10)
        run.stdout.close()
        assert run.stderr is not None
        err = run.stderr.read()
        run.wait(timeout=60)
    assert err == b""


def test_doctor_finds_what_is_there_and_tests_it(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    found = call("doctor", "--json").json
    assert found["ok"]
    assert {"numpy", "llvmlite", "scipy"} <= {f["what"] for f in found["packages"]}
    assert {"view", "cad", "fmu"} <= {f["what"] for f in found["extras"]} <= set(doctor.EXTRAS)
    kept = next(f for f in found["for_some_tasks"] if f["what"] == "machine code on disk")
    assert kept["ok"]
    assert len(found["self-test"]) == 3

    versions = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "1.2" if name == "scipy" else versions(name))
    Path("a file").touch()
    monkeypatch.setenv("BELLCRANK_CACHE", str(Path("a file", "kernels").resolve()))
    answer = call("doctor")
    assert answer.status == 1
    assert "pip install 'scipy>=1.11'" in answer.out
    assert answer.out.endswith("to be mended: scipy\n")

    monkeypatch.setattr(metadata, "version", versions)
    monkeypatch.setattr(special, "ellipk", lambda m: 1.7)
    monkeypatch.setattr(doctor, "_drawing", lambda: doctor.Finding("pictures", "not asked again"))
    answer = call("doctor")
    assert answer.status == 1
    assert "BELLCRANK_CACHE=FOLDER" in answer.out
    assert answer.out.endswith(
        "to be mended: angle after a quarter of the period, rate there, by the energy\n"
    )


def test_names_are_completed_in_the_shell(call: Call, monkeypatch: pytest.MonkeyPatch, stored: Path) -> None:
    """Typer's completion of bash, as the shell asks for it."""

    def offered(line: str) -> list[str]:
        words = line.split(" ")
        monkeypatch.setenv("_BELLCRANK_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        return call().out.split("\n")

    assert "rod.velocity" in offered("bellcrank run pendulum -q rod.v")
    assert "rod.velocity.x" in offered("bellcrank run pendulum -q rod.velocity")
    assert "friction=" in offered("bellcrank run pendulum --set fr")
    assert "pivot=" in offered("bellcrank run pendulum --initial p")
    assert "slider.velocity" in offered(f"bellcrank plot {stored} slider.v")
    assert not any(offered("bellcrank run no_such_model -q r"))

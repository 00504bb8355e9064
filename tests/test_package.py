"""The names of the package itself: the same for those who run it and for editors and type checkers."""

from __future__ import annotations

import ast
import inspect
import os
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import bellcrank
from bellcrank.base.optional import needed
from bellcrank.base.provided import provided
from bellcrank.model import System
from bellcrank.result.result import Result


def test_type_checkers_see_every_name() -> None:
    tree = ast.parse(Path(bellcrank.__file__).read_text(encoding="utf-8"))
    shown = {
        alias.asname: node.module
        for branch in tree.body
        if isinstance(branch, ast.If)
        for node in branch.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert shown == bellcrank._HOMES | dict.fromkeys(bellcrank._FOLDERS, "bellcrank")
    assert all(getattr(bellcrank, name).__name__ == f"bellcrank.{name}" for name in bellcrank._FOLDERS)
    assert all(getattr(bellcrank, name) is not None for name in bellcrank.__all__)


def test_a_model_file_is_loaded() -> None:
    path = Path(__file__).parents[1] / "examples" / "pendulum.yaml"
    assert bellcrank.load(path).name == "pendulum"


@pytest.mark.parametrize(
    ("method", "service"),
    [
        (System.simulate, "simulate"),
        (System.simulate_many, "simulate many"),
        (System.equilibrium, "equilibrium"),
        (System.linearize, "linearize"),
        (System.kinematics, "kinematics"),
        (System.inverse_dynamics, "inverse dynamics"),
        (System.sensitivity, "sensitivity"),
        (System.mechanism, "analyse"),
        (Result.picture, "picture"),
        (Result.video, "video"),
    ],
)
def test_methods_spell_out_the_arguments_of_their_functions(method: Callable, service: str) -> None:
    own = list(inspect.signature(method).parameters.values())[1:]
    theirs = list(inspect.signature(provided(service)).parameters.values())[1:]
    assert [(p.name, p.kind, p.default) for p in own] == [(p.name, p.kind, p.default) for p in theirs]


def test_a_first_simulation_loads_no_scipy() -> None:
    program = """
import sys
from bellcrank.verify.slider_crank import slider_crank
slider_crank(9.81).simulate(0.1, progress=False)
print([name for name in sys.modules if name.partition(".")[0] == "scipy"])
"""
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert ran.stdout.strip() == "[]"


def test_missing_packages_are_named_with_an_extra_that_brings_them() -> None:
    root = Path(__file__).parents[1]
    extras = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    found = 0
    for path in (root / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "needed(" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "needed":
                package, extra = (ast.literal_eval(a) for a in node.args[2:])
                brought = " ".join(extras[extra]).lower().replace("distributed", "dask")
                assert package.lower() in brought, f"{path.name}: {package} is not in the extra {extra}"
                found += 1
    assert found >= 12
    with pytest.raises(bellcrank.ModelError, match=r"a test needs nothing: pip install 'bellcrank\[none\]'"):
        needed("no_such_package", "a test", "nothing", "none")


def test_every_command_works_or_names_an_extra_without_optional_packages() -> None:
    script = Path(__file__).with_name("bare.py")
    done = subprocess.run(
        [sys.executable, str(script), "--block"],
        capture_output=True,
        text=True,
        env={**os.environ, "CFLAGS": "-O0"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("needs the extra") >= 7


def test_the_command_line_is_a_module(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["bellcrank", "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("bellcrank", run_name="__main__")
    assert ended.value.code == 0
    assert "Usage: bellcrank" in capsys.readouterr().out

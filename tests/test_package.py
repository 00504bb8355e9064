"""The names of the package itself: the same for those who run it and for editors and type checkers."""

from __future__ import annotations

import ast
from pathlib import Path

import bellcrank


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
    assert shown == bellcrank._HOMES
    assert all(getattr(bellcrank, name) is not None for name in bellcrank.__all__)


def test_a_model_file_is_loaded() -> None:
    path = Path(__file__).parents[1] / "examples" / "pendulum.yaml"
    assert bellcrank.load(path).name == "pendulum"

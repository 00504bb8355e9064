"""The examples that come with the package: model files and Python files."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

SUFFIXES = (".yaml", ".py", ".study", ".elastic")


@dataclass(frozen=True, eq=False)
class Example:
    """One example. name: without suffix. files: its model file, its Python file, or both."""

    name: str
    files: tuple[Any, ...]

    @property
    def model(self) -> Any | None:
        """Its model file."""
        return next((f for f in self.files if f.name.endswith(".yaml")), None)

    @property
    def elastic(self) -> Any | None:
        """Its file of an elastic contact problem."""
        return next((f for f in self.files if f.name.endswith(".elastic")), None)

    @property
    def study(self) -> Any | None:
        """Its study file."""
        return next((f for f in self.files if f.name.endswith(".study")), None)

    @property
    def title(self) -> str:
        """The first sentence of its first file."""
        file = self.files[0]
        text = file.read_text(encoding="utf-8")
        if file.name.endswith(".py"):
            text = ast.get_docstring(ast.parse(text)) or ""
            return " ".join(text.split("\n\n")[0].split())
        lines = []
        for line in text.splitlines():
            if not line.startswith("#"):
                break
            lines.append(line.lstrip("# "))
        return " ".join(lines).split(". ")[0].rstrip(".")


@cache
def examples() -> dict[str, Example]:
    """All examples by name."""
    # In a wheel the folder is part of the package; in a checkout it is the one of the repository.
    folder: Any = files("bellcrank").joinpath("examples")
    if not folder.is_dir():
        folder = Path(__file__).parents[3] / "examples"
    found: dict[str, list[Any]] = {}
    for suffix in SUFFIXES:
        for file in sorted(folder.iterdir() if folder.is_dir() else (), key=lambda f: str(f.name)):
            if file.name.endswith(suffix) and not file.name.startswith("_"):
                found.setdefault(file.name.removesuffix(suffix), []).append(file)
    return {name: Example(name, tuple(found[name])) for name in sorted(found)}


def find(name: str) -> Example:
    """An example by name; hyphens and suffixes do not matter."""
    from bellcrank.errors import unknown_name

    known = examples()
    plain = name.replace("-", "_")
    for suffix in SUFFIXES:
        plain = plain.removesuffix(suffix)
    if plain not in known:
        raise unknown_name("example", name, known)
    return known[plain]

"""Imports between folders point one way, and lower folders reach upper ones by services that exist."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from bellcrank.base import provided

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "extensions"))

from folders import DRAWING, FOLDERS, PACKAGE, drawing, folder_of, imports, modules  # noqa: E402

KNOWN: set[tuple[str, str]] = set()
"""Imports that still go up."""
ASKED = re.compile(r"""\bprovided(?:_by)?\(\s*"([^"]+)"\s*\)""")


def test_every_folder_has_its_place() -> None:
    assert sorted(FOLDERS) == sorted({folder_of(module) for module in modules()})


def test_no_import_goes_up() -> None:
    upward = [one for one in imports() if one.upward]
    new = "\n".join(str(one) for one in upward if (one.file, one.module) not in KNOWN)
    assert not new, f"a folder imports only those before it in docs/extensions/folders.py:\n{new}"
    gone = KNOWN - {(one.file, one.module) for one in upward}
    assert not gone, f"these imports are no longer there; take them out of KNOWN: {gone}"


@pytest.mark.parametrize(
    "line",
    [
        "from bellcrank.run.run import Run",
        "import bellcrank.run.run",
        "from bellcrank.run import run",
        "def f():\n    from bellcrank.run import run",
        "def f(name):\n    return import_module(f'bellcrank.run.{name}')",
    ],
)
def test_an_upward_import_is_seen(line: str, tmp_path: Path) -> None:
    for folder in ("model", "run"):
        (tmp_path / "src" / "bellcrank" / folder).mkdir(parents=True)
    (tmp_path / "src" / "bellcrank" / "run" / "run.py").touch()
    (tmp_path / "src" / "bellcrank" / "model" / "bodies.py").write_text(f"{line}\n")
    found = imports(tmp_path / "src" / "bellcrank")
    assert [(one.file, one.reaches, one.upward) for one in found] == [
        ("src/bellcrank/model/bodies.py", "run", True)
    ]


@pytest.mark.parametrize(
    "line", ["import bellcrank", "from bellcrank import System", "import bellcrank.demo"]
)
@pytest.mark.parametrize("file", ["errors.py", "verify/case.py"])
def test_the_package_itself_and_loose_modules_count(line: str, file: str, tmp_path: Path) -> None:
    package = tmp_path / "src" / "bellcrank"
    (package / "verify").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "demo.py").touch()
    (package / file).write_text(f"{line}\n")
    (found,) = imports(package)
    assert found.upward
    assert found.reaches == ("demo" if "demo" in line else "bellcrank")


def test_imports_for_type_checkers_are_free(tmp_path: Path) -> None:
    (tmp_path / "src" / "bellcrank" / "model").mkdir(parents=True)
    text = "if TYPE_CHECKING:\n    from bellcrank.run.run import Run\nelse:\n    import bellcrank.errors\n"
    (tmp_path / "src" / "bellcrank" / "model" / "bodies.py").write_text(text)
    assert [one.module for one in imports(tmp_path / "src" / "bellcrank")] == ["bellcrank.errors"]


def test_services_that_are_asked_for_are_provided() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    asked = {name for text in texts.values() for name in ASKED.findall(text)}
    assert asked == set(provided._PROVIDERS)
    for service in asked:
        assert callable(provided.provided(service)), service
    assigning = {path for path, text in texts.items() if "base.provided import register" in text}
    assert assigning == {PACKAGE / "__init__.py"}


def test_the_drawing_is_that_of_the_code() -> None:
    assert DRAWING.read_text(encoding="utf-8") == drawing(imports()), "draw it anew with 'make graph'"

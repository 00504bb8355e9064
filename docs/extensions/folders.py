"""The folders of the package in their order, their imports, and a drawing of both.

``python docs/extensions/folders.py`` (``make graph``) writes the drawing that the page on the modules shows.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "bellcrank"
DRAWING = ROOT / "docs" / "pictures" / "folders.svg"

FOLDERS = (
    *(
        "errors",
        "base",
        "program",
        "math",
        "sparse",
        "fe",
        "flexible",
        "contact",
        "tyres",
        "roads",
        "model",
        "topology",
        "mechanics",
    ),
    *(
        "formulations",
        "quantities",
        "mechanism",
        "files",
        "integrate",
        "result",
        "run",
        "impacts",
        "fmu",
        "view",
    ),
    *(
        "analyses",
        "batch",
        "elastic",
        "study",
        "gym",
        "vehicles",
        "verify",
        "apps",
        "cli",
        "demo",
        "bellcrank",
    ),
)
"""Folders and single modules in their order: each imports only those before it. ``bellcrank`` is the package itself."""


@dataclass(frozen=True)
class Import:
    """An import across folders: the file, its line, the folder it is in, the module and folder it reaches for."""

    file: str
    line: int
    folder: str
    module: str
    reaches: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.folder} imports {self.module}"

    @property
    def upward(self) -> bool:
        """Whether it goes against the order."""
        return FOLDERS.index(self.reaches) > FOLDERS.index(self.folder)


def folder_of(module: str) -> str:
    """The folder of a module given by its dotted path."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] != "__main__" else parts[0]


def modules(package: Path = PACKAGE) -> dict[str, Path]:
    """All modules by their dotted paths."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = [package.name, *path.relative_to(package).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports(package: Path = PACKAGE) -> tuple[Import, ...]:
    """All imports across folders, in functions and by ``import_module`` too; those for type checkers alone are free."""
    known = modules(package)
    found = []
    for name, path in known.items():
        here = folder_of(name)
        for line, module in sorted(_imported(ast.parse(path.read_text(encoding="utf-8")), known)):
            if folder_of(module) != here:
                file = path.relative_to(package.parents[1]).as_posix()
                found.append(Import(file, line, here, module, folder_of(module)))
    return tuple(found)


def _imported(tree: ast.Module, known: Container[str]) -> Iterator[tuple[int, str]]:
    """Lines and modules of the package that a module imports."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names if _ours(alias.name))
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(f"line {node.lineno}: imports name their modules in full")
            if node.module and _ours(node.module):
                whole = (f"{node.module}.{alias.name}" for alias in node.names)
                yield from {(node.lineno, path if path in known else node.module) for path in whole}
        elif isinstance(node, ast.Call) and node.args:
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            given = node.args[0]
            first = given.values[0] if isinstance(given, ast.JoinedStr) else given
            words = getattr(first, "value", None)
            if called == "import_module" and isinstance(words, str) and _ours(words):
                yield node.lineno, words.rstrip(".")


def _ours(module: str) -> bool:
    return module.split(".")[0] == PACKAGE.name


def graph(found: Iterable[Import]) -> dict[str, set[str]]:
    """The folders each folder imports."""
    reached: dict[str, set[str]] = {folder: set() for folder in FOLDERS}
    for one in found:
        reached[one.folder].add(one.reaches)
    return reached


def downward(found: Iterable[Import]) -> dict[str, set[str]]:
    """The folders each folder imports in the order, those left out that another of them imports anyway."""
    direct = graph(one for one in found if not one.upward)
    below: dict[str, set[str]] = {}
    for folder in FOLDERS:
        below[folder] = direct[folder].union(*(below[other] for other in direct[folder]))
    return {
        folder: {other for other in others if not any(other in below[third] for third in others)}
        for folder, others in direct.items()
    }


def drawing(found: Iterable[Import]) -> str:
    """The graph as SVG: a folder stands above all it imports. The package itself, which names them all, is left out."""
    reached = downward(found)
    drawn = [folder for folder in FOLDERS if folder != PACKAGE.name]
    above = {folder: [other for other in drawn if folder in reached[other]] for folder in drawn}
    level: dict[str, int] = {}
    for folder in reversed(drawn):
        level[folder] = 1 + max((level[other] for other in above[folder]), default=-1)
    rows = [[folder for folder in drawn if level[folder] == k] for k in range(max(level.values()) + 1)]
    width, step, high = 760, 62, 30
    place: dict[str, tuple[float, float]] = {}
    for k, row in enumerate(rows):
        # In the order of what imports them, so that few lines cross.
        row.sort(key=lambda folder: sum(place[o][0] for o in above[folder]) / max(1, len(above[folder])))
        for i, folder in enumerate(row):
            place[folder] = (width * (i + 1) / (len(row) + 1), 30 + step * k)
    height = 60 + step * (len(rows) - 1)
    lines, boxes = [], []
    for folder in drawn:
        x, y = place[folder]
        for other in sorted(reached[folder]):
            u, v = place[other]
            bend = (v - y) / 2
            lines.append(
                f'<path d="M{x:.0f} {y + high / 2:.0f} C{x:.0f} {y + bend:.0f} {u:.0f} {v - bend:.0f} '
                f'{u:.0f} {v - high / 2:.0f}"/>'
            )
        wide = 9 * len(folder) + 18
        boxes.append(
            f'<rect x="{x - wide / 2:.0f}" y="{y - high / 2:.0f}" width="{wide}" height="{high}" rx="6"/>'
        )
        boxes.append(f'<text x="{x:.0f}" y="{y + 5:.0f}">{escape(folder)}</text>')
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">',
            "<title>Folders of the package; lines lead down to what a folder imports</title>",
            "<style>rect{fill:#eef2f7;stroke:#4a6076}text{font:14px monospace;text-anchor:middle;fill:#16212c}",
            "path{fill:none;stroke:#8799aa;stroke-width:1.2}</style>",
            f'<path d="M0 0H{width}V{height}H0Z" style="fill:#fff;stroke:none"/>',
            *lines,
            *boxes,
            "</svg>",
            "",
        ]
    )


def first_words(folder: str) -> str:
    """The first line of a folder's docstring."""
    path = PACKAGE if folder == PACKAGE.name else PACKAGE / folder
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").partition("\n")[0]


if __name__ == "__main__":
    DRAWING.write_text(drawing(imports()), encoding="utf-8")
    print(DRAWING)

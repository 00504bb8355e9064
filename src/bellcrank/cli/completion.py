"""What the shell offers after the tab key: files by kind, examples, names."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stderr, suppress
from pathlib import Path

import typer

MODELS = (".yaml", ".yml", ".urdf", ".xml", ".elastic")
RESULTS = (".h5", ".hdf5")
IMPACTS = ("dense", "stepping")
"""Ways to find impacts that a command has options for."""


def models(incomplete: str) -> list[str]:
    """Model files and folders here, then examples."""
    from bellcrank.cli.library import examples as known

    named = [name for name, example in known().items() if example.model is not None]
    return [*_files(incomplete, MODELS), *(name for name in named if name.startswith(incomplete))]


def results(incomplete: str) -> list[str]:
    """Result files and folders here."""
    return _files(incomplete, RESULTS)


def results_and_models(incomplete: str) -> list[str]:
    """Both."""
    return [*results(incomplete), *models(incomplete)]


def examples(incomplete: str) -> list[str]:
    """Names of examples."""
    from bellcrank.cli.library import examples as known

    return [name for name in known() if name.startswith(incomplete)]


def terrains(incomplete: str) -> list[str]:
    """Terrains to drive on."""
    from bellcrank.apps.drive.terrain import TERRAINS

    return [name for name in TERRAINS if name.startswith(incomplete)]


def integrators(incomplete: str) -> list[str]:
    """Integrators."""
    from bellcrank.integrate.methods import METHODS

    return [name for name in METHODS if name.startswith(incomplete)]


def impacts(incomplete: str) -> list[str]:
    """How impacts are found."""
    return [name for name in IMPACTS if name.startswith(incomplete)]


def formulations(incomplete: str) -> list[str]:
    """Formulations."""
    from bellcrank.formulations.registry import Formulation

    return [f.value for f in Formulation if f.value.startswith(incomplete)]


def quantities(context: typer.Context, incomplete: str) -> list[str]:
    """Quantities of the model or result that was named before, components once the quantity is there."""

    def known(file: str) -> Iterator[str]:
        from bellcrank.cli.inputs import is_result, model, result

        if is_result(file):
            table = result(file).quantities.table
        else:
            from bellcrank.mechanism import analyse
            from bellcrank.quantities.quantities import Quantities
            from bellcrank.quantities.snapshot import Snapshot

            m = analyse(model(file))
            table = Quantities(Snapshot(m.system, m.tree, m.mechanics)).table
        for name, quantity in table.items():
            yield name
            if incomplete.startswith(name):
                yield from (f"{name}.{part}" for part in quantity.components)

    return _of_file(context, known, incomplete)


def parameters(context: typer.Context, incomplete: str) -> list[str]:
    """Parameters of the model that was named before, each with its sign of equality."""

    def known(file: str) -> Iterator[str]:
        from bellcrank.cli.inputs import model

        return (f"{name}=" for name in model(file).parameters)

    return _of_file(context, known, incomplete)


def joints(context: typer.Context, incomplete: str) -> list[str]:
    """Joints of the model that was named before, each with its sign of equality."""

    def known(file: str) -> Iterator[str]:
        from bellcrank.cli.inputs import model

        return (f"{name}=" for name in model(file).joints)

    return _of_file(context, known, incomplete)


def _of_file(context: typer.Context, known: Callable[[str], Iterable[str]], incomplete: str) -> list[str]:
    """Names that a file knows; none where no file is named yet, or it is not one."""
    file = context.params.get("file") or _file_in_line()
    if not isinstance(file, str):
        return []
    # A shell that completes is no place for messages.
    with suppress(Exception), open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stderr(nowhere):
        return [name for name in known(file) if name.startswith(incomplete)]
    return []


def _file_in_line() -> str | None:
    """The first word of the line that is a file or an example: an option still without its value ends the parsing."""
    from bellcrank.cli.library import examples as known

    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    try:
        words = shlex.split(line)[2:]
    except ValueError:
        words = line.split()[2:]
    return next((w for w in words if Path(w).is_file() or w.replace("-", "_") in known()), None)


def _files(incomplete: str, endings: tuple[str, ...]) -> list[str]:
    folder, begun = (
        (Path(incomplete), "")
        if incomplete.endswith("/")
        else (Path(incomplete).parent, Path(incomplete).name)
    )
    if not folder.is_dir():
        return []
    shown = "" if str(folder) == "." and not incomplete.startswith("./") else f"{folder}/"
    found = []
    for path in sorted(folder.iterdir()):
        if not path.name.startswith(begun) or (path.name.startswith(".") and not begun):
            continue
        if path.is_dir():
            found.append(f"{shown}{path.name}/")
        elif path.suffix.lower() in endings:
            found.append(f"{shown}{path.name}")
    return found

"""What the shell offers after the tab key: files by kind, examples, names."""

from __future__ import annotations

from pathlib import Path

MODELS = (".yaml", ".yml", ".urdf", ".xml", ".elastic")
RESULTS = (".h5", ".hdf5")


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


def formulations(incomplete: str) -> list[str]:
    """Formulations."""
    from bellcrank.formulations.registry import Formulation

    return [f.value for f in Formulation if f.value.startswith(incomplete)]


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

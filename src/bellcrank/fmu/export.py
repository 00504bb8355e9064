"""A mechanism as an FMU: model exchange and co-simulation in one file, with its sources."""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from collections.abc import Sequence
from importlib.resources import files
from os import PathLike
from pathlib import Path

from bellcrank.errors import ModelError, unknown_name
from bellcrank.fmu.compilers import PLATFORMS, build, check_platforms
from bellcrank.fmu.description import BUILD, description, identifier
from bellcrank.fmu.programs import check_inputs, default_outputs, outputs_of, partitions_met, programs
from bellcrank.fmu.text import Contents, model_text
from bellcrank.integrate.methods import AUTO, METHODS, adaptive
from bellcrank.mechanism import Mechanism
from bellcrank.mechanism.export import check_exportable
from bellcrank.run.simulation import check_options
from bellcrank.run.touch import begun, followed

VERSIONS = {"2.0": "fmi2", "3.0": "fmi3"}
WRITTEN = (1980, 1, 1, 0, 0, 0)
"""The date of everything in the file: the same mechanism gives the same bytes."""


def export_fmu(
    mechanism: Mechanism,
    path: str | PathLike[str],
    *,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] | None = None,
    version: str = "2.0",
    duration: float = 10.0,
    tolerance: float = 1e-8,
    integrator: str = AUTO,
    platforms: Sequence[str] = ("this",),
    name: str | None = None,
) -> Path:
    """Write a mechanism as an FMU of FMI `version` ("2.0" or "3.0"); returns its path.

    inputs: parameters that the other program drives; all others are its parameters. outputs: quantities by name
    (default: coordinates of joints, positions and velocities of bodies). duration: how long a run is by default [s]; a
    mechanism with loops is followed that long, to have the partitions that it takes. tolerance, integrator: of
    co-simulation. platforms: for which the file has binaries, "this" or of :data:`PLATFORMS`; the sources are in the
    file in any case. name: of the model (default: the system's).

    Model exchange and co-simulation run the same equations; co-simulation has the integrator of this package, with its
    events and changes of partition. Contacts in the continuous treatment go along; impacts cannot.
    """
    if version not in VERSIONS:
        raise unknown_name("FMI version", str(version), VERSIONS)
    check_options(integrator, tolerance, 0.0, 1.0, (), ())
    if integrator not in METHODS:
        raise unknown_name("integrator", integrator, METHODS)
    if not adaptive(integrator):
        raise ModelError(
            f"the integrator {integrator!r} does not choose its steps; an FMU needs one that does"
        )
    if not 0.0 < duration < float("inf"):
        raise ModelError(f"duration must be a positive number of seconds, not {duration!r}")
    if isinstance(inputs, str) or isinstance(outputs, str):
        raise ModelError("inputs and outputs are lists of names, such as ['force']")
    targets = check_platforms(platforms, version)
    check_exportable(mechanism)
    if followed(mechanism):
        mechanism = begun(mechanism)
    check_inputs(mechanism, inputs)
    names = default_outputs(mechanism) if outputs is None else list(outputs)
    contents = Contents(
        mechanism,
        name or mechanism.system.name,
        [programs(mechanism, p, names) for p in partitions_met(mechanism, duration, tolerance)],
        outputs_of(mechanism, names),
        list(inputs),
        duration,
        tolerance,
        integrator,
    )
    return _write(Path(path), contents, version, targets)


def _write(target: Path, contents: Contents, version: str, platforms: Sequence[str]) -> Path:
    text = model_text(contents)
    digest = hashlib.sha256(text.encode() + description(contents, version, "")).hexdigest()
    token = f"{{{digest[:32]}}}"
    about = description(contents, version, token)
    api = VERSIONS[version]
    shipped = files("bellcrank.fmu") / "sources"
    sources = {"model.c": text.encode()}
    for item in sorted(shipped.iterdir(), key=lambda i: i.name):
        if item.name in ("run.c", "component.c", f"{api}.c") or (
            item.name.startswith(api) and item.name.endswith(".h")
        ):
            sources[item.name] = item.read_bytes()
    order = ("model.c", "run.c", "component.c", f"{api}.c")
    included = [f'#include "{part}"' for part in order]
    sources["all.c"] = "\n".join([f'#define BC_TOKEN "{token}"', *included, ""]).encode()
    entries = {"modelDescription.xml": about} | {f"sources/{name}": data for name, data in sources.items()}
    model = identifier(contents)
    if version == "3.0":
        entries["sources/buildDescription.xml"] = BUILD.format(name=model).encode()
    with tempfile.TemporaryDirectory() as folder:
        for name, data in sources.items():
            (Path(folder) / name).write_bytes(data)
        for name in platforms:
            library = Path(folder) / f"{name}{PLATFORMS[name].suffix}"
            build(Path(folder), name, library)
            place = getattr(PLATFORMS[name], api)
            entries[f"binaries/{place}/{model}{PLATFORMS[name].suffix}"] = library.read_bytes()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(zipfile.ZipInfo(name, WRITTEN), data, zipfile.ZIP_DEFLATED)
    return target

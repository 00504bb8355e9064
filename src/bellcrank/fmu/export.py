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
from bellcrank.fmu.contacts import Striking, check, check_coefficients, refusal
from bellcrank.fmu.description import BUILD, description, identifier
from bellcrank.fmu.programs import (
    check_inputs,
    default_outputs,
    outputs_of,
    partitions_met,
    partitions_struck,
    programs,
    struck_programs,
)
from bellcrank.fmu.signals import moving, signals_of
from bellcrank.fmu.steps import Stepping
from bellcrank.fmu.text import Contents, model_text
from bellcrank.integrate.methods import AUTO, METHODS, adaptive
from bellcrank.mechanism import Mechanism
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
    step: float = 0.0,
    platforms: Sequence[str] = ("this",),
    name: str | None = None,
) -> Path:
    """Write a mechanism as an FMU of FMI `version` ("2.0" or "3.0"); returns its path.

    inputs: parameters that the other program drives; all others are its parameters. One that drivers follow has two
    more inputs beside it, ``NAME rate`` and ``NAME acceleration``, for the speeds of what it moves. outputs: quantities
    by name (default: coordinates of joints, positions and velocities of bodies). duration: how long a run is by default
    [s]; a mechanism with loops or impacts is followed that long, to have the partitions that it takes. tolerance,
    integrator: of co-simulation; the tolerance is also that to which another program is taken to integrate. step:
    length of steps [s], for contacts that strike: co-simulation runs by steps then, as
    ``simulate(..., impacts="stepping", step=...)`` does; without it the file is for model exchange alone. platforms:
    for which it has binaries, "this" or of :data:`PLATFORMS`; the sources are in the file in any case. name: of the
    model (default: the system's).

    Model exchange and co-simulation run the same equations; co-simulation has the integrator of this package, with its
    events and changes of partition. Contacts in the continuous treatment go along in both. Rigid contacts strike, last,
    slip, stick and let go in the events of model exchange, as in :meth:`~bellcrank.Mechanism.simulate`.
    """
    if version not in VERSIONS:
        raise unknown_name("FMI version", str(version), VERSIONS)
    check_options(integrator, tolerance, step, 1.0, (), ())
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
    _check_steps(mechanism, integrator, step)
    if followed(mechanism):
        mechanism = begun(mechanism)
    check_inputs(mechanism, inputs)
    check_coefficients(mechanism, inputs)
    signals = signals_of(mechanism, inputs)
    mechanism = moving(mechanism, signals)
    inputs = [*inputs, *(name for s in signals for name in s.given[1:])]
    names = default_outputs(mechanism) if outputs is None else list(outputs)
    steps = Stepping(mechanism, step, duration) if step else None
    strikes = bool(mechanism.system.contacts) and not refusal(mechanism)
    striking = Striking(mechanism, tolerance) if strikes else None
    if steps is not None:
        parts = [struck_programs(mechanism, p, names, striking) for p in steps.partitions]
    elif striking is not None:
        met = partitions_struck(mechanism, duration, tolerance)
        parts = [struck_programs(mechanism, p, names, striking) for p in met]
    else:
        parts = [programs(mechanism, p, names) for p in partitions_met(mechanism, duration, tolerance)]
    contents = Contents(
        mechanism,
        name or mechanism.system.name,
        parts,
        outputs_of(mechanism, names),
        inputs,
        duration,
        tolerance,
        integrator,
        steps,
        signals,
        striking,
    )
    return _write(Path(path), contents, version, targets)


def _check_steps(mechanism: Mechanism, integrator: str, step: float) -> None:
    """Raise where contacts strike and need a step, or a step and an integrator are given."""
    if step and integrator != AUTO:
        raise ModelError(
            f"integrator={integrator!r} and step= exclude each other: runs by steps have their own"
        )
    system = mechanism.system
    struck = [*system.contacts.values(), *system.collisions.values()]
    if struck and not step:
        check(mechanism)
    if step and not struck:
        raise ModelError("step= is for contacts that strike, and nothing strikes here; leave it out")


def _write(target: Path, contents: Contents, version: str, platforms: Sequence[str]) -> Path:
    text = model_text(contents)
    digest = hashlib.sha256(text.encode() + description(contents, version, "")).hexdigest()
    token = f"{{{digest[:32]}}}"
    about = description(contents, version, token)
    api = VERSIONS[version]
    shipped = files("bellcrank.fmu") / "sources"
    run = "run.c" if contents.integrated else "exchange.c" if contents.steps is None else "steps.c"
    order = ("model.c", "motion.c", "signals.c", "impacts.c", run, "component.c", f"{api}.c")
    sources = {"model.c": text.encode()}
    for item in sorted(shipped.iterdir(), key=lambda i: i.name):
        if item.name in order or (item.name.startswith(api) and item.name.endswith(".h")):
            sources[item.name] = item.read_bytes()
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

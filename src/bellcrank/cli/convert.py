"""``bellcrank convert``: models from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bellcrank.base.words import counted
from bellcrank.cli import completion
from bellcrank.cli.output import Json, Table, note, show, show_json

if TYPE_CHECKING:
    from bellcrank.files.imported import Imported
    from bellcrank.model.system import System

READING, FMU = "URDF and MJCF", "FMU"
"""Groups of options."""
SUFFIXES = (".yaml", ".yml", ".c", ".fmu")


def convert(
    file: Annotated[
        str,
        typer.Argument(
            metavar="IN",
            help="A model file (YAML, URDF, MJCF), a result, or an example.",
            autocompletion=completion.results_and_models,
        ),
    ],
    out: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            help="A model file (.yaml), C source (.c), an FMU (.fmu), or - for a model on standard output.",
        ),
    ],
    base: Annotated[
        str,
        typer.Option(
            "--base",
            metavar="WORD",
            rich_help_panel=READING,
            help="URDF: fixed welds the root link to the ground, free lets it float.",
        ),
    ] = "fixed",
    balance_inertia: Annotated[
        bool,
        typer.Option(
            "--balance-inertia",
            rich_help_panel=READING,
            help="URDF: put the mean in place of inertias no body has.",
        ),
    ] = False,
    include_root: Annotated[
        str | None,
        typer.Option(
            "--include-root",
            metavar="FOLDER",
            rich_help_panel=READING,
            help="MJCF: read includes and meshes below this folder.",
        ),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow",
            metavar="EFFECT",
            rich_help_panel=READING,
            help="What may be left out though it changes the motion, or all.",
        ),
    ] = None,
    limits: Annotated[
        bool,
        typer.Option(
            "--limits/--no-limits",
            rich_help_panel=READING,
            help="URDF, MJCF: rigid stops at the limits of joints.",
        ),
    ] = True,
    contacts: Annotated[
        bool,
        typer.Option(
            "--contacts", rich_help_panel=READING, help="MJCF: let geoms collide, in runs by steps."
        ),
    ] = False,
    keyframe: Annotated[
        str | None,
        typer.Option(
            "--keyframe", metavar="NAME", rich_help_panel=READING, help="MJCF: start in this keyframe."
        ),
    ] = None,
    fmi: Annotated[
        str,
        typer.Option(
            "--fmi", metavar="VERSION", rich_help_panel=FMU, help="Version of the interface, 2.0 or 3.0."
        ),
    ] = "2.0",
    driven: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="NAME",
            rich_help_panel=FMU,
            help="A parameter that is an input; may be repeated.",
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            metavar="NAME",
            rich_help_panel=FMU,
            help="A quantity that is an output; may be repeated.",
        ),
    ] = None,
    step: Annotated[
        float,
        typer.Option(
            "--step",
            metavar="SECONDS",
            rich_help_panel=FMU,
            show_default=False,
            help="Length of steps of co-simulation, where contacts strike.",
        ),
    ] = 0.0,
    platform: Annotated[
        list[str] | None,
        typer.Option(
            "--platform",
            metavar="NAME",
            rich_help_panel=FMU,
            help="this, linux, linux-arm, windows, macos or macos-intel; may be repeated.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it is there.")] = False,
    as_json: Json = False,
) -> None:
    """Convert a model to the native format, and list everything that could not be taken over; or to C, or to an FMU.

    From a result, its model is taken out. C is one self-contained C99 file of the equations of motion, the projection
    onto the constraints, the start state and the parameters, for hardware in the loop. An FMU serves model exchange and
    co-simulation in other programs.

    \b
    Examples:
      bellcrank convert robot.urdf robot.yaml --base free
      bellcrank convert humanoid.xml humanoid.yaml
      bellcrank convert run.h5 model.yaml
      bellcrank convert slider_crank.yaml slider_crank.c
      bellcrank convert slider_crank.yaml slider_crank.fmu --output slider.position.x
    """
    from bellcrank.cli import inputs
    from bellcrank.errors import ModelError, unknown_name
    from bellcrank.files import dumps

    if base not in ("fixed", "free"):
        raise unknown_name("base", base, ("fixed", "free"))
    if out != "-":
        target = inputs.writable(out, SUFFIXES)
        if target.exists() and not force:
            raise ModelError(f"{out} is there already; --force replaces it")
    imported: Imported | None = None
    if inputs.is_result(file):
        system = inputs.result(file).mechanism.system
    elif Path(file).is_file() and inputs.is_foreign(file):
        imported = inputs.foreign(file, base, balance_inertia, include_root, allow or (), limits, contacts)
        if keyframe is not None:
            imported.start_in(keyframe)
        system = imported.system
    else:
        system = inputs.model(file)
    if Path(out).suffix.lower() == ".c":
        _to_c(system, imported, out, as_json)
        return
    if Path(out).suffix.lower() == ".fmu":
        mechanism = system.mechanism()
        mechanism.export_fmu(
            out,
            inputs=driven or (),
            outputs=given or None,
            version=fmi,
            step=step,
            platforms=platform or ("this",),
        )
        if as_json:
            show_json(
                {**(imported.to_json() if imported else {"system": system.name}), "fmi": fmi, "out": out}
            )
        else:
            show(*(_tables(imported) if imported else []), f"written: {out}")
        if system.contacts and not step:
            note(
                "contacts strike: the FMU is for model exchange alone; --step 1e-3 adds co-simulation by steps"
            )
        return
    text = dumps(system)
    if out == "-":
        typer.echo(text, nl=False)
        if imported is not None and imported.ignored:
            note(
                f"{len(imported.ignored)} elements and attributes were not imported; name a file to see them"
            )
        return
    Path(out).write_text(text, encoding="utf-8")
    if as_json:
        show_json({**(imported.to_json() if imported else {"system": system.name}), "out": out})
        return
    show(*(_tables(imported) if imported else []), f"written: {out}")


def _to_c(system: System, imported: Imported | None, out: str, as_json: bool) -> None:
    """Write the C file and say what is in it."""
    from bellcrank.mechanism.export import export_of
    from bellcrank.program.c_file import c_file

    export = export_of(system.mechanism())
    Path(out).write_text(c_file(export), encoding="utf-8")
    if as_json:
        about = imported.to_json() if imported else {"system": system.name}
        sizes = {"states": list(export.states), "parameters": list(export.parameters)}
        operations = len(export.rates.operations)
        show_json(
            {**about, **sizes, "operations": operations, "projects": bool(export.projection), "out": out}
        )
        return
    rows = [
        ("states", str(len(export.states))),
        ("parameters", str(len(export.parameters))),
        ("operations of one evaluation", f"{len(export.rates.operations):,}"),
        ("projection onto the constraints", "yes" if export.projection is not None else "not needed"),
    ]
    tables = _tables(imported) if imported else []
    show(*tables, Table(f"{system.name} as C99", ("", ""), rows), f"written: {out}")


def _tables(imported: Imported) -> list[Table | str]:
    lost = [(what, why, str(count), str(line)) for what, why, count, line in imported.summary()]
    title = (
        f"{counted(len(imported.ignored), 'element or attribute', 'elements and attributes')} not imported"
    )
    return [
        Table(title, ("what", "why", "times", "first line"), lost, words=2),
        Table(
            "imported in another form",
            ("what", "how", "line"),
            [(n.what, n.why, str(n.line)) for n in imported.changed],
            words=2,
        ),
        Table("renamed", ("was", "is"), list(imported.renamed.items()), words=2),
        Table("files of shapes, not read", ("file",), [(mesh,) for mesh in imported.meshes]),
        f"{imported.system.name}: {counted(len(imported.system.bodies), 'body', 'bodies')}, "
        f"{counted(len(imported.system.joints), 'joint')}",
    ]

"""``bellcrank cad``: assemblies of STEP files as models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bellcrank.base.words import counted
from bellcrank.cli.output import Json, Table, note, number, show, show_json

if TYPE_CHECKING:
    from bellcrank.files.step import Assembly


def cad(
    file: Annotated[str, typer.Argument(metavar="FILE.step", help="An assembly or a part (STEP).")],
    out: Annotated[
        str | None,
        typer.Argument(metavar="[OUT.yaml]", help="Model file to write, with meshes in a folder beside it."),
    ] = None,
    density: Annotated[
        list[str] | None,
        typer.Option(
            "--density",
            metavar="[PART=]VALUE",
            help="kg/m^3 or a material such as steel; of all parts, or of one. May be repeated.",
        ),
    ] = None,
    ground: Annotated[
        str | None,
        typer.Option("--ground", metavar="PART", help="Part that does not move; the first by default."),
    ] = None,
    joints: Annotated[bool, typer.Option("--joints/--no-joints", help="Join parts as proposed.")] = True,
    contacts: Annotated[
        bool, typer.Option("--contacts", help="Let parts collide as meshes, in runs by steps.")
    ] = False,
    friction: Annotated[float, typer.Option("--friction", help="Of these contacts.")] = 0.3,
    deflection: Annotated[
        float,
        typer.Option("--deflection", help="Distance of triangles from the surface over the size of a part."),
    ] = 1e-3,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it is there.")] = False,
    as_json: Json = False,
) -> None:
    """Read an assembly: print its tree, propose joints where faces fit, and write a model file to edit.

    STEP files hold no mates. A pin in a bore, flat faces on each other and balls in sockets suggest joints; look
    through them before a run. Needs the extra cad.

    \b
    Examples:
      bellcrank cad gearbox.step
      bellcrank cad linkage.step linkage.yaml --density steel --density cover=2700 --ground base
      bellcrank run linkage.yaml
    """
    from bellcrank.cli import inputs
    from bellcrank.errors import ModelError
    from bellcrank.files import dumps
    from bellcrank.files.step import density_of, load_step

    target = None if out is None else inputs.writable(out, (".yaml", ".yml"))
    if target is not None and target.exists() and not force:
        raise ModelError(f"{out} is there already; --force replaces it")
    usual, own = _densities(density or ())
    # Words that are no material are told before a file is read, which may take minutes.
    for value in (*own.values(), *(() if usual is None else (usual,))):
        density_of(value)
    assembly = load_step(file, deflection)
    known = _known(assembly, usual, own)
    if target is not None:
        folder = target.parent / f"{target.stem}_parts"
        system = assembly.system(
            usual, own, ground, joints, contacts, friction if contacts else 0.0, folder=folder
        )
        target.write_text(dumps(system, target.parent), encoding="utf-8")
    if as_json:
        show_json({**_data(assembly, known), "out": out})
        return
    show(_tree(assembly), *_tables(assembly, known))
    for text in assembly.notes:
        note(text)
    if target is None:
        show(
            "write a model file to edit: bellcrank cad "
            + f"{Path(file).name} {Path(file).stem}.yaml --density steel"
        )
    else:
        floating = sum(j.kind == "free" for j in system.joints.values())
        if floating:
            note(f"{counted(floating, 'group')} of parts without a joint to the ground got a free joint")
        show(f"written: {out}, meshes in {folder.name}")


def _densities(given: Any) -> tuple[float | str | None, dict[str, float | str]]:
    usual: float | str | None = None
    own: dict[str, float | str] = {}
    for text in given:
        part, equals, value = text.rpartition("=")
        try:
            density: float | str = float(value)
        except ValueError:
            density = value
        if equals:
            own[part] = density
        else:
            usual = density
    return usual, own


def _known(
    assembly: Assembly, usual: float | str | None, own: dict[str, float | str]
) -> dict[str, float] | None:
    """Densities, None where some part has none and no model is asked for."""
    given = usual is not None or own or all(part.density > 0.0 for part in assembly.parts)
    return assembly.densities(usual, own) if given else None


def _data(assembly: Assembly, known: dict[str, float] | None) -> dict[str, Any]:
    return {
        "assembly": assembly.name,
        "parts": [
            {
                "name": part.name,
                "product": part.product,
                "assembly": list(part.assembly),
                "at": part.at,
                "volume": part.volume,
                "density": None if known is None else known[part.name],
                "mass": None if known is None else known[part.name] * part.volume,
                "triangles": len(part.faces),
            }
            for part in assembly.parts
        ],
        "joints": [
            {"kind": j.kind, "a": j.a, "b": j.b, "at": j.at, "axis": j.axis, "why": j.why}
            for j in assembly.joints
        ],
        "notes": list(assembly.notes),
    }


def _tree(assembly: Assembly) -> str:
    """Assemblies and the parts in them, indented."""
    lines = [f"{assembly.name}: {counted(len(assembly.parts), 'part')}"]
    open_: tuple[str, ...] = ()
    for part in assembly.parts:
        same = 0
        while same < min(len(open_), len(part.assembly)) and open_[same] == part.assembly[same]:
            same += 1
        lines += [f"{'  ' * (k + 1)}{name}" for k, name in enumerate(part.assembly) if k >= same]
        open_ = part.assembly
        lines.append(f"{'  ' * (len(open_) + 1)}{part.name}")
    return "\n".join(lines)


def _tables(assembly: Assembly, known: dict[str, float] | None) -> list[Table]:
    parts = [
        (
            part.name,
            number(1e6 * part.volume),
            "-" if known is None else number(known[part.name]),
            "-" if known is None else number(known[part.name] * part.volume),
            str(len(part.faces)),
        )
        for part in assembly.parts
    ]
    joints = [
        (
            j.kind,
            j.a,
            j.b,
            j.why,
            "-" if j.axis is None else ", ".join(f"{x:.4g}" for x in j.axis),
            ", ".join(f"{x + 0.0:.4g}" for x in j.at),
        )
        for j in assembly.joints
    ]
    return [
        Table("parts", ("part", "volume [cm^3]", "density [kg/m^3]", "mass [kg]", "triangles"), parts),
        Table("proposed joints", ("kind", "a", "b", "because of", "axis", "at [m]"), joints, words=6),
    ]

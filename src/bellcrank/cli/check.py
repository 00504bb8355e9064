"""``bellcrank check``: what the analysis of a model finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bellcrank.base.words import counted
from bellcrank.cli.inputs import Initial, Model, Set
from bellcrank.cli.output import Json, Table, on_terminal, show, show_json

if TYPE_CHECKING:
    from bellcrank.mechanism import Mechanism


def check(
    file: Model,
    set_: Set = None,
    initial: Initial = None,
    picture: Annotated[
        str | None, typer.Option("--picture", metavar="FILE.svg", help="Draw bodies and joints as a graph.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Analyse a model: tree, cuts, loops, groups, redundant constraints, degrees of freedom.

    \b
    Examples:
      bellcrank check four_bar.yaml
      bellcrank check full-car --picture car.svg
    """
    from bellcrank.cli import inputs
    from bellcrank.mechanism import analyse

    target = None if picture is None else inputs.writable(picture, (".svg",))
    system = inputs.model(file)
    mechanism = analyse(
        system, parameters=inputs.parameters(set_, system), initial=inputs.initial(initial, system)
    )
    if target is not None:
        from bellcrank.cli.graph import graph

        target.write_text(graph(mechanism), encoding="utf-8")
    found = findings(mechanism)
    if as_json:
        show_json({**found, "picture": picture})
        return
    rows = [(key.replace("_", " "), str(value)) for key, value in found["sizes"].items()]
    show(Table(found["model"], ("", ""), rows))
    _show_tree(mechanism)
    show(*_tables(found), *([f"written: {picture}"] if picture else []))


def findings(m: Mechanism) -> dict[str, Any]:
    """Everything the command prints, as plain data."""
    from bellcrank.mechanism.description import (
        contact_methods,
        described_coordinates,
        moved_bodies,
        moved_coordinates,
    )
    from bellcrank.topology.loops import loops

    linkage, system, pressing = m.linkage, m.system, contact_methods(m)
    groups = []
    for group in m.groups:
        if not any(linkage.links[k].own_speeds for k in group.links):
            # Nodes of flexible bodies are links of their own, but nothing is solved there.
            continue
        groups.append(
            {
                "bodies": list(dict.fromkeys(linkage.links[k].name for k in group.links)),
                "closed_by": [m.mechanics.constraints[c].what for c in group.constraints],
                "driven_by": list(dict.fromkeys(linkage.links[k].name for k in group.inputs)),
            }
        )
    return {
        "model": system.name,
        "sizes": {
            "bodies": len(system.bodies),
            "joints": len(system.joints),
            "drivers": len(system.drivers),
            "couplings": len(system.couplings),
            "constraints": len(system.constraints),
            "forces": len(system.forces) - len(pressing),
            "contacts": len(system.contacts) + len(system.collisions) + len(pressing),
            "parameters": len(system.parameters),
            "coordinates": m.coordinates,
            "constraint_equations": m.constraints,
            "redundant_equations": len(m.dropped),
            "degrees_of_freedom": m.degrees_of_freedom,
            "position_freedoms": m.position_freedoms,
        },
        "tree": [
            {
                "body": link.body.name,
                "parent": link.parent.name,
                "joint": link.joint.name,
                "kind": link.joint.kind,
            }
            for link in m.tree.links
        ],
        "loops": [
            {
                "cut": loop.cut.name,
                "kind": loop.cut.kind,
                "equations": loop.cut.constraints,
                "through": [link.joint.name for link in (*reversed(loop.path_a), *loop.path_b)],
            }
            for loop in loops(m.tree)
        ],
        "groups": groups,
        "described_coordinates": [
            {"coordinate": name, "value": value, "unit": unit, "why": why}
            for name, value, unit, why in described_coordinates(m)
        ],
        "moved_coordinates": [
            {"coordinate": name, "described": before, "start": start, "unit": unit}
            for name, before, start, unit in moved_coordinates(m)
        ],
        "moved_bodies": [
            {"body": name, "distance": far, "angle": turned} for name, far, turned in moved_bodies(m)
        ],
        "continuous_contacts": [{"contact": name, "method": how, "law": law} for name, how, law in pressing],
        "redundant": list(m.redundant),
        "independent_speeds": [m.speed_names[i] for i in m.partition.independent],
    }


def _tables(found: dict[str, Any]) -> list[Table | str]:
    loops = [
        (loop["cut"], loop["kind"], ", ".join(loop["through"]), str(loop["equations"]))
        for loop in found["loops"]
    ]
    groups = [
        (
            str(k + 1),
            ", ".join(g["bodies"]),
            ", ".join(g["closed_by"]) or "-",
            ", ".join(g["driven_by"]) or "-",
        )
        for k, g in enumerate(found["groups"])
    ]
    lost = "redundant equations, dropped; their share of the reactions is not determined"
    return [
        Table(
            counted(len(loops), "loop"),
            ("cut joint", "kind", "through the joints", "equations"),
            loops,
            words=3,
        ),
        Table("groups solved together", ("group", "bodies", "closed by", "driven by"), groups, words=4),
        Table(
            "coordinates that are not zero in the described pose",
            ("coordinate", "value", "unit", "why"),
            [
                (c["coordinate"], f"{c['value']:.6g}", c["unit"], c["why"])
                for c in found["described_coordinates"]
            ],
            words=4,
        ),
        Table(
            "moved from the described pose at the start",
            ("coordinate", "described", "start", "unit"),
            [
                (c["coordinate"], f"{c['described']:.6g}", f"{c['start']:.6g}", c["unit"])
                for c in found["moved_coordinates"]
            ],
        ),
        Table(
            "put elsewhere than described by joints whose frames lie apart",
            ("body", "moved by [m]", "turned by [rad]"),
            [(b["body"], f"{b['distance']:.6g}", f"{b['angle']:.6g}") for b in found["moved_bodies"]],
        ),
        Table(
            "continuous contacts",
            ("contact", "method", "law"),
            [(c["contact"], c["method"], c["law"]) for c in found["continuous_contacts"]],
        ),
        Table(lost, ("equation",), [(name,) for name in found["redundant"]]),
        Table("independent speeds", ("",), [(name,) for name in found["independent_speeds"]]),
    ]


def _show_tree(m: Mechanism) -> None:
    if not on_terminal():
        typer.echo("\n" + _plain_tree(m) + "\n")
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.tree import Tree

    drawn = {m.tree.ground.name: Tree("[bold]ground[/]")}
    for link in m.tree.links:
        label = (
            f"[bold]{escape(link.body.name)}[/]  [dim]{link.joint.kind} {escape(repr(link.joint.name))}[/]"
        )
        drawn[link.body.name] = drawn[link.parent.name].add(label)
    Console(highlight=False).print(drawn[m.tree.ground.name], "")


def _plain_tree(m: Mechanism) -> str:
    lines = ["tree", f"  {m.tree.ground.name}"]
    for link in m.tree.links:
        lines.append(f"  {'  ' * link.depth}{link.body.name}  ({link.joint.kind} {link.joint.name!r})")
    return "\n".join(lines)

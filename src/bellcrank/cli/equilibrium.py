"""``bellcrank equilibrium``: where a model stays at rest."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bellcrank.cli.inputs import Initial, Model, Quantity, Set
from bellcrank.cli.output import Json, Table, clean, number, show, show_json


def equilibrium(
    file: Model,
    set_: Set = None,
    initial: Initial = None,
    time: Annotated[
        float | None, typer.Option("--time", help="When forces and drivers are taken, in s.")
    ] = None,
    drivers: Annotated[
        str, typer.Option("--drivers", help="frozen, or moving for a steady state.")
    ] = "frozen",
    nearest: Annotated[
        bool, typer.Option("--nearest", help="Take the nearest one, even if unstable.")
    ] = False,
    hold: Annotated[
        list[str] | None,
        typer.Option("--hold", metavar="COORDINATE", help="A coordinate that stays; may be repeated."),
    ] = None,
    quantity: Quantity = None,
    as_json: Json = False,
) -> None:
    """Find where a model stays at rest, and whether it is stable there.

    \b
    Examples:
      bellcrank equilibrium pendulum
      bellcrank equilibrium full-car -q FL_tyre.load
      bellcrank equilibrium ball.yaml --hold flight.x --hold flight.y
    """
    from bellcrank.cli import inputs
    from bellcrank.errors import unknown_name

    if drivers not in ("frozen", "moving"):
        raise unknown_name("state of drivers", drivers, ("frozen", "moving"))
    system = inputs.model(file)
    found = system.equilibrium(
        parameters=inputs.parameters(set_, system),
        initial=inputs.initial(initial, system),
        t=time,
        drivers=drivers,
        nearest=nearest,
        hold=hold or (),
    )
    values = [(name, found[name], _unit(found, name)) for name in quantity or []]
    table = found.result.quantities.table
    names = [f"{j.name}.{c}" for j in system.joints.values() for c in j.scalar_coordinates]
    standing = [(name, found[name], _unit(found, name)) for name in names if name in table]
    word = {True: "stable", False: "unstable", None: "neutral"}[found.stable]
    if as_json:
        show_json(
            {
                "model": system.name,
                "time": found.state.t,
                "stability": word,
                "neutral": found.neutral,
                "residual": found.residual,
                "iterations": found.iterations,
                "relaxed": found.relaxed,
                "held": dict(found.held),
                "coordinates": {name: value for name, value, _ in standing},
                "quantities": {name: clean(value) for name, value, _ in values},
                "eigenvalues": [] if found.held else list(found.eigenvalues),
            }
        )
        return
    rows = [
        ("stability", word),
        ("neutral moves", ", ".join(found.neutral) or "none"),
        ("residual", f"{found.residual:.1e} of its own forces"),
        ("Newton steps", f"{found.iterations}" + (", with relaxation" if found.relaxed else "")),
    ]
    rows += [(f"held: {name}", number(force)) for name, force in found.held.items()]
    show(
        Table(f"{system.name}: equilibrium at t = {found.state.t:g} s", ("", ""), rows, words=2),
        Table("coordinates", ("coordinate", "value", "unit"), [(n, _text(v), u) for n, v, u in standing]),
        Table("quantities", ("quantity", "value", "unit"), [(n, _text(v), u) for n, v, u in values]),
    )


def _unit(found: Any, name: str) -> str:
    return str(found.result[name].unit)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return number(value)
    return "(" + ", ".join(number(float(x)) for x in value.ravel()) + ")"

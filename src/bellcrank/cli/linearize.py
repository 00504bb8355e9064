"""``bellcrank linearize``: small motions about a state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bellcrank.cli.inputs import Initial, Model, Set
from bellcrank.cli.output import Json, Table, number, show, show_json

if TYPE_CHECKING:
    from bellcrank.analyses.linearize import Linear


def linearize(
    file: Model,
    at: Annotated[str, typer.Option("--at", help="start, the described one, or equilibrium.")] = "start",
    input_: Annotated[
        list[str] | None, typer.Option("--input", metavar="PARAMETER", help="An input; may be repeated.")
    ] = None,
    output: Annotated[
        list[str] | None, typer.Option("--output", metavar="QUANTITY", help="An output; may be repeated.")
    ] = None,
    set_: Set = None,
    initial: Initial = None,
    matrices: Annotated[bool, typer.Option("--matrices", help="Print A, B, C and D as well.")] = False,
    as_json: Json = False,
) -> None:
    """Linearise a model: natural frequencies, damping, shapes, and the matrices A, B, C, D (with --json).

    \b
    Examples:
      bellcrank linearize pendulum --at equilibrium
      bellcrank linearize full-car --at equilibrium --output chassis.acceleration.z
      bellcrank linearize four_bar.yaml --initial crank=0.3,5 --input drive_torque --json
    """
    from bellcrank.cli import inputs
    from bellcrank.errors import unknown_name

    if at not in ("equilibrium", "start"):
        raise unknown_name("state", at, ("equilibrium", "start"))
    system = inputs.model(file)
    given: dict[str, Any] = {
        "parameters": inputs.parameters(set_, system),
        "initial": inputs.initial(initial, system),
    }
    options: dict[str, Any] = {"inputs": input_ or [], "outputs": output or []}
    found = system.linearize("equilibrium" if at == "equilibrium" else None, **given, **options)
    word = {True: "stable", False: "unstable", None: "neutral"}[found.stable]
    if as_json:
        show_json(
            {
                "model": system.name,
                "at": at,
                "stability": word,
                "states": found.states,
                "inputs": found.inputs,
                "outputs": found.outputs,
                "A": found.A,
                "B": found.B,
                "C": found.C,
                "D": found.D,
                "eigenvalues": list(found.eigenvalues),
                "modes": [
                    {"frequency": m.frequency, "damping_ratio": m.damping_ratio, "eigenvalue": m.eigenvalue}
                    for m in found.modes
                ],
            }
        )
        return
    rows = []
    for mode in found.modes:
        largest = sorted(mode.shape.items(), key=lambda item: -abs(item[1]))[:3]
        shape = ", ".join(f"{name} {abs(a):.2f}" for name, a in largest if abs(a) > 0.005)
        value = f"{mode.eigenvalue.real:.4g}" + (
            f" + {mode.eigenvalue.imag:.4g} i" if mode.eigenvalue.imag else ""
        )
        rows.append((shape, f"{mode.frequency:.5g}", f"{mode.damping_ratio:.4g}", value))
    head = ("shape, largest moves", "frequency [Hz]", "damping ratio", "eigenvalue [1/s]")
    about = [("stability", word), ("neutral moves", ", ".join(found.neutral) or "none")]
    show(
        Table(f"{system.name}: small motions about the {at}", ("", ""), about, words=2),
        Table("modes, slowest first", head, rows),
        *(_matrices(found) if matrices else []),
    )


def _matrices(found: Linear) -> list[Table | str]:
    parts = (
        ("A", found.A, found.states, found.states),
        ("B", found.B, found.states, found.inputs),
        ("C", found.C, found.outputs, found.states),
        ("D", found.D, found.outputs, found.inputs),
    )
    tables: list[Table | str] = []
    for name, matrix, rows, columns in parts:
        if columns:
            body = [(row, *(number(x) for x in line)) for row, line in zip(rows, matrix, strict=True)]
            tables.append(Table(name, ("", *columns), body))
    return tables

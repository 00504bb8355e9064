"""A mechanism handed to others: one C file for hardware in the loop, CasADi functions for optimal control."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bellcrank.base.provided import provided
from bellcrank.errors import ModelError
from bellcrank.model.parameters import names_in
from bellcrank.program.c_file import Export, Touch, c_file

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism


def needs_projection(mechanism: Mechanism) -> bool:
    """Whether there are loops to close or quaternions to keep unit."""
    return bool(mechanism.kept) or mechanism.linkage.has_quaternions


def state_names(mechanism: Mechanism) -> tuple[str, ...]:
    """What the integrated state is made of: positions of the links, states of forces, then the independent speeds."""
    speeds = [f"rate of {mechanism.speed_names[i]}" for i in mechanism.partition.independent]
    return (*mechanism.linkage.position_names, *speeds)


def check_exportable(mechanism: Mechanism) -> None:
    """Raise where contacts are no function of state and parameters."""
    for contact in (*mechanism.system.contacts.values(), *mechanism.system.collisions.values()):
        advice = (
            "give the limits stiffness=; of an import, limits=bellcrank.Limits(stiffness=...), or --no-limits"
            if getattr(contact, "limits", None) is not None
            else "add treatment='continuous' with stiffness= or young="
        )
        raise ModelError(
            f"contact {contact.name!r} strikes, and impacts cannot be exported: they are no function of the state; "
            + advice
        )


def _touches(mechanism: Mechanism) -> list[Touch]:
    """The contacts of a mechanism, all of which are functions of state and parameters."""
    check_exportable(mechanism)
    forces = provided("continuous contacts")(mechanism)
    places = {name: k for k, name in enumerate(mechanism.mechanics.parameters)}
    found = []
    for force in forces:
        kept = names_in(force.approach_speed)
        found.append(Touch(force.name, places[kept[0]] if kept else None, force.slowest))
    return found


def export_of(mechanism: Mechanism, name: str | None = None) -> Export:
    """The programs of a mechanism in its start partition, with names, start state and parameter values."""
    touches = _touches(mechanism)
    if touches:
        mechanism = provided("contacts as a run begins")(mechanism)
    m, traced = mechanism, mechanism.traced()
    x = m.kernel_input()
    n = len(traced.rates.outputs)
    return Export(
        name=name or m.system.name,
        rates=traced.rates,
        full=traced.full,
        projection=m.projection(m.partition) if needs_projection(m) else None,
        states=state_names(m),
        parameters=m.mechanics.parameters,
        speeds=m.speed_names,
        equations=m.equation_names,
        start_time=m.start.t,
        start=[float(v) for v in x[1 : 1 + n]],
        values=m.parameter_values,
        touches=touches,
        gaps=provided("gaps of contacts")(m) if touches else None,
    )


def export_c(mechanism: Mechanism, path: str | PathLike[str], name: str | None = None) -> Path:
    """Write the mechanism as one self-contained C99 file; returns its path.

    name: what the functions begin with (default: the system's name). The file describes the motion as long as
    the independent speeds of the start do: ``NAME_project`` returns the margin by which they do. Of contacts it takes
    those in the continuous treatment; ``NAME_touch``, called after each step, keeps the speeds at which they began.
    """
    target = Path(path)
    target.write_text(c_file(export_of(mechanism, name)), encoding="utf-8")
    return target


@dataclass(frozen=True, eq=False)
class CasadiFunctions:
    """Functions of (t, y, p): rates of the state, outputs (speeds, speed rates, residuals), projection.

    gaps: Gaps of contacts and rates at which they close, or None where there are no contacts; the parameters
    "<contact> approach speed" are the rates at which the gaps closed last.
    """

    rates: Any
    outputs: Any
    projection: Any
    states: tuple[str, ...]
    parameters: tuple[str, ...]
    gaps: Any = None


def export_casadi(mechanism: Mechanism) -> CasadiFunctions:
    """The mechanism as CasADi functions of (t, y, p), differentiable by CasADi."""
    from bellcrank.program.casadi import casadi_function

    e = export_of(mechanism)
    n, k = len(e.states), len(e.parameters)
    blocks = {"t": 1, "y": n, "p": k}
    projection = None
    if e.projection is not None:
        projection = casadi_function(e.projection, blocks, {"y_corrected": n, "residual": 1, "margin": 1})
    u = len(e.speeds)
    return CasadiFunctions(
        casadi_function(e.rates, blocks, {"dy": n}),
        casadi_function(e.full, blocks, {"u": u, "du": u, "residuals": len(e.full.outputs) - 2 * u}),
        projection,
        tuple(e.states),
        tuple(e.parameters),
        None
        if e.gaps is None
        else casadi_function(e.gaps, blocks, {"gaps": len(e.touches), "rates": len(e.touches)}),
    )

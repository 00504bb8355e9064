"""A mechanism handed to others: one C file for hardware in the loop, CasADi functions for optimal control."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bellcrank.mechanics.links import LinkKind
from bellcrank.program.c_file import Export, c_file

if TYPE_CHECKING:
    from bellcrank.mechanism import Mechanism


def needs_projection(mechanism: Mechanism) -> bool:
    """Whether there are loops to close or quaternions to keep unit."""
    whole = (LinkKind.BALL, LinkKind.FREE)
    return bool(mechanism.kept) or any(link.kind in whole for link in mechanism.linkage.links)


def state_names(mechanism: Mechanism) -> tuple[str, ...]:
    """What the integrated state is made of: positions of the links, then the independent speeds."""
    links = mechanism.linkage.links
    positions = [f"position {i} of {link.name}" for link in links for i in range(len(link.own_positions))]
    return (*positions, *(f"rate of {mechanism.speed_names[i]}" for i in mechanism.partition.independent))


def export_of(mechanism: Mechanism, name: str | None = None) -> Export:
    """The programs of a mechanism in its start partition, with names, start state and parameter values."""
    from bellcrank.touch import refuse_continuous

    refuse_continuous(mechanism, "export")
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
    )


def export_c(mechanism: Mechanism, path: str | PathLike[str], name: str | None = None) -> Path:
    """Write the mechanism as one self-contained C99 file; returns its path.

    name: what the functions begin with (default: the system's name). The file describes the motion as long as
    the independent speeds of the start do: ``NAME_project`` returns the margin by which they do.
    """
    target = Path(path)
    target.write_text(c_file(export_of(mechanism, name)), encoding="utf-8")
    return target


@dataclass(frozen=True, eq=False)
class CasadiFunctions:
    """Functions of (t, y, p): rates of the state, outputs (speeds, speed rates, residuals), projection."""

    rates: Any
    outputs: Any
    projection: Any
    states: tuple[str, ...]
    parameters: tuple[str, ...]


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
    )

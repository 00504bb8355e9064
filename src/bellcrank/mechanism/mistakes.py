"""What is wrong with a mechanism that cannot move or cannot be assembled, in the user's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import AssemblyError
from bellcrank.formulations.equations import Mechanics
from bellcrank.formulations.partition import NumericRows, equation_numbers
from bellcrank.mechanics.constraints import Constraint
from bellcrank.mechanism.assembly import LoopState, contradiction, worst_constraint
from bellcrank.topology.groups import Group

if TYPE_CHECKING:
    from bellcrank.model.system import System
    from bellcrank.topology.tree import Tree

Array = NDArray[np.float64]


def check_locked(mechanics: Mechanics, groups: Sequence[Group], kept: Sequence[int]) -> None:
    """A closed loop that cannot move is a mistake, unless a driver moves it."""
    keep, numbers = set(kept), equation_numbers(mechanics.constraints)
    for g in groups:
        speeds = sum(len(mechanics.linkage.links[k].own_speeds) for k in g.links)
        cuts = [c for c in g.constraints if not _drives(mechanics.constraints[c])]
        equations = sum(e in keep for c in cuts for e in numbers[c])
        if cuts and equations >= speeds and len(cuts) == len(g.constraints):
            joints = ", ".join(mechanics.constraints[c].what for c in cuts)
            bodies = ", ".join(dict.fromkeys(mechanics.linkage.links[k].name for k in g.links))
            raise AssemblyError(
                f"the loop closed by {joints} is locked: its {speeds} coordinates meet {equations} independent "
                f"equations, so {bodies} cannot move; free a joint of the loop, or make it rigid with fixed joints"
            )


def _drives(constraint: Constraint) -> bool:
    return constraint.drives or constraint.what.startswith("driver")


def check_implied(
    loops: LoopState, q: Array, u: Array, t: float, kept: Sequence[int], dropped: Sequence[int]
) -> None:
    """Two drivers may agree in the start state and part later."""
    k = contradiction(loops, q, u, t, kept, dropped)
    if k is not None:
        numbers = equation_numbers(loops.constraints)
        what = next(c.what for c, own in zip(loops.constraints, numbers, strict=True) if k in own)
        raise AssemblyError(
            f"{what} fits the other drivers and joints at t = {t:g} s but not after; "
            "take it away, or let the functions of the drivers agree at all times"
        )


def open_loop(
    system: System, tree: Tree, constraints: Sequence[Any], fixed: Sequence[int], rows: NumericRows
) -> str:
    """Which loop stays open, by how much, and what to look at."""
    worst, miss = worst_constraint(constraints, rows.residual)
    near = f"{miss * 1e3:.3g} mm" if miss < 1.0 else f"{miss:.3g} m"
    held = "; some coordinates of it are held by initial=" if fixed else ""
    loop = ", ".join(sorted(set(_loop_bodies(tree, worst.name))))
    check = f"the lengths and start poses of {loop}" if loop else "it against the other joints and drivers"
    return (
        f"{worst.what} of {system.name!r} cannot be satisfied: nearest miss {near} (or rad){held}. "
        f"Check {check}"
    )


def _loop_bodies(tree: Tree, joint: str) -> list[str]:
    from bellcrank.topology import loops

    for loop in loops(tree):
        if loop.cut.name == joint:
            return [link.body.name for link in loop.links]
    return []


def stuck(constraints: Sequence[Any], left: Array, fixed: Sequence[int]) -> str:
    """Which constraint no speeds can satisfy."""
    worst, miss = worst_constraint(constraints, left)
    if fixed:
        return (
            f"the given rates do not fit together: {worst.what} is violated at {miss:.3g} m/s or rad/s; "
            "give fewer rates in initial=, the others follow"
        )
    return (
        f"{worst.what} asks for a motion that is impossible in the start pose: it is violated at "
        f"{miss:.3g} m/s or rad/s whatever moves; start away from the dead centre, or let the drivers agree"
    )

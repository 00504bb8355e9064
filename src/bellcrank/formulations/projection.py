"""Newton's correction of the dependent positions, and the speeds that follow.

Source: Ahn and Lee (1994), equations 31, 32, 38 and 39.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bellcrank.formulations.equations import Mechanics
from bellcrank.formulations.loops import Loops, Partition
from bellcrank.mechanics.constraints import comparable
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.numbers import Traced
from bellcrank.mechanics.twins import twin_inputs
from bellcrank.program.functions import maximum, minimum, sqrt
from bellcrank.program.graph import Graph
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar, function


def projection(mechanics: Mechanics, partition: Partition, with_rank: bool = False) -> Program:
    """[t, q, u_i, p] to [q corrected, u_i, residual, margin]; quaternions leave with unit length.

    with_rank: One more output, how far the loops are from losing rank.
    """
    graph = Graph()
    linkage = mechanics.linkage
    graph.twins = twin_inputs(linkage)
    t = graph.input("t.")
    given = linkage.position_inputs(graph)
    v = [graph.input(f"u.{i}") for i in partition.independent]
    parameters = [graph.input(name) for name in mechanics.parameters]
    q = _nearly_unit(mechanics, given)
    kin = Kinematics(linkage, q, Traced(graph))
    loops = Loops(kin, mechanics.constraints, partition, t)
    step = loops.position_step()
    kin.set_speeds(step)
    corrected: list[Scalar] = []
    for link in linkage.links:
        corrected += link.kind.corrected(kin, link)
    corrected += q[linkage.positions - len(linkage.states) :]
    gaps = [loops.equations[e].residual for g in partition.groups for e, _ in g.pivots]
    residual = _extreme(maximum, [function("abs", gap) for gap in gaps], 0.0)
    measures = [residual, _margin(loops), *([_rank(loops)] if with_rank else [])]
    return Program.of([t, *given, *v, *parameters], [*corrected, *v, *measures], "projection")


def _nearly_unit(mechanics: Mechanics, q: Sequence[Scalar]) -> list[Scalar]:
    """Positions with quaternions of unit length up to the square of what they lacked.

    A correction computed from others would be undone in first order when they are brought to unit length after it.
    """
    found = list(q)
    for link in mechanics.linkage.links:
        first = link.quaternion
        if first is not None:
            a, b, c, d = q[first : first + 4]
            stretch = 1.5 - 0.5 * (a * a + b * b + c * c + d * d)
            found[first : first + 4] = [x * stretch for x in (a, b, c, d)]
    return found


def _margin(loops: Loops) -> Scalar:
    """The smallest pivot against the largest other entry of its row, 1 where nothing competes."""
    margins: list[Scalar] = [1.0]
    units = _units(loops)
    for lu in loops.eliminations:
        pivots = {c for _, c in lu.pivots}
        for row, (_, c) in zip(lu.upper, lu.pivots, strict=True):
            others = [
                function("abs", _counted(x, units[j] / units[c])) for j, x in row.items() if j not in pivots
            ]
            if others:
                margins.append(function("abs", row[c]) / (_extreme(maximum, others, 0.0) + 1e-300))
    return _extreme(minimum, margins, 1.0)


def _rank(loops: Loops) -> Scalar:
    """The smallest pivot against the dependent entries of its constraint; towards zero the loops lose rank.

    Squares, because they cost less than magnitudes.
    """
    found: list[Scalar] = [1.0]
    units, owner = _units(loops), comparable(loops.constraints)
    for group, lu in zip(loops.partition.groups, loops.eliminations, strict=True):
        dependent = {c for _, c in group.pivots}
        sizes: dict[int, Scalar] = {}
        for e, _ in group.pivots:
            for column, x in loops.row(e, group.turned).items():
                if column in dependent:
                    x = _counted(x, units[column])
                    sizes[owner[e]] = sizes.get(owner[e], 0.0) + x * x
        for pivot, (e, c) in zip(lu.pivot_values, group.pivots, strict=True):
            pivot = _counted(pivot, units[c])
            found.append(pivot * pivot / (sizes[owner[e]] + 1e-300))
    return sqrt(_extreme(minimum, found, 1.0))


def _units(loops: Loops) -> list[float]:
    linkage = loops.kin.linkage
    return [*linkage.speed_units, *[1.0] * linkage.shadows]


def _counted(x: Scalar, unit: float) -> Scalar:
    return x if unit == 1.0 else x * unit


def _extreme(of_two: Callable[[Scalar, Scalar], Scalar], values: Sequence[Scalar], of_none: Scalar) -> Scalar:
    """Of all of them, by twos: none waits for all before it."""
    while len(values) > 1:
        left = [of_two(a, b) for a, b in zip(values[::2], values[1::2], strict=False)]
        values = [*left, *values[2 * len(left) :]]
    return values[0] if values else of_none

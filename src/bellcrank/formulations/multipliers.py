"""Multipliers of the constraints once the speed rates are known (Ahn and Lee 1994, equation 28).

Phi_u^T lambda = Q_u - (M du)_u, group by group from the last to the first: the multipliers of a group act on the
groups that drive it as loads.
"""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.formulations.equations import Equations
from bellcrank.math.tuples import times
from bellcrank.program.trace import Scalar


def multipliers(eq: Equations, du: Sequence[Scalar]) -> dict[int, Scalar]:
    """lambda by equation number, with M du + Phi^T lambda = Q; redundant equations have none."""
    rest = eq.forces(du)
    found: dict[int, Scalar] = {}
    loops = eq.loops
    for group, elimination in zip(reversed(eq.partition.groups), reversed(loops.eliminations), strict=True):
        columns = [c for _, c in group.pivots]
        rhs = {c: rest[c] for c in columns}
        for k in group.turned:
            u = eq.mechanics.linkage.links[k].u
            R = eq.kin.pose(k, loops.base_of(k)).R
            seen = times(R, (rest[u], rest[u + 1], rest[u + 2]))
            rhs.update({u + j: seen[j] for j in range(3)})
        solved = elimination.solve_transposed(rhs)
        for e, value in solved.items():
            for c, entry in loops.row(e).items():
                if c not in rhs:
                    rest[c] = rest[c] - entry * value
        found.update(solved)
    return found

"""Generalised coordinate partitioning (Ahn and Lee 1994, equations 24 to 37).

M and Q of the whole tree are formed first, then projected: M-bar = M_vv + H^T M_uv + (M_vu + H^T M_uu) H,
Q-bar = Q_v + H^T Q_u - (M_vu + H^T M_uu) Phi_u^-1 gamma. Equation (33) carries + Phi_u^-1 gamma. With many modes
M-bar is not multiplied out but eliminated modes first.
"""

from __future__ import annotations

from bellcrank.formulations.algebra import LDL
from bellcrank.formulations.equations import Equations
from bellcrank.formulations.modal import whole_mass
from bellcrank.program.trace import Scalar


def accelerations(eq: Equations) -> list[Scalar]:
    """The rates of all speeds."""
    M, Q = eq.tree_mass(), eq.tree_forces()
    H, g = eq.loops.B, eq.bias
    place = {i: n for n, i in enumerate(eq.partition.independent)}
    with eq.graph.counting("reduction"):
        full: dict[int, dict[int, Scalar]] = {i: {} for i in range(eq.mechanics.linkage.speeds)}
        for (i, j), entry in M.items():
            full[i][j] = entry
            full[j][i] = entry
        # T = M [1; H] column by column of the independent speeds, and M g of the bias.
        T: dict[int, dict[int, Scalar]] = {i: {} for i in full}
        bias: dict[int, Scalar] = dict.fromkeys(full, 0.0)
        for i, row in full.items():
            for j, entry in row.items():
                if j in place:
                    T[i][place[j]] = T[i].get(place[j], 0.0) + entry
                else:
                    for v, h in H[j].items():
                        T[i][place[v]] = T[i].get(place[v], 0.0) + entry * h
                    bias[i] = bias[i] + entry * g[j]
        M_bar: dict[tuple[int, int], Scalar] = {}
        Q_bar: dict[int, Scalar] = {}
        for v, n in place.items():
            for m, entry in T[v].items():
                if m <= n:
                    M_bar[n, m] = M_bar.get((n, m), 0.0) + entry
            Q_bar[n] = Q_bar.get(n, 0.0) + (Q[v] - bias[v])
        for u, row in H.items():
            for v, h in row.items():
                n = place[v]
                for m, entry in T[u].items():
                    if m <= n:
                        M_bar[n, m] = M_bar.get((n, m), 0.0) + h * entry
                Q_bar[n] = Q_bar[n] + h * (Q[u] - bias[u])
    with eq.graph.counting("solve"):
        modal = whole_mass(eq.kin, eq.loops.columns(), eq.sample)
        du = (modal or LDL.of(M_bar, list(reversed(range(len(place)))))).solve(Q_bar)
        return eq.loops.accelerations({i: du[n] for i, n in place.items()})

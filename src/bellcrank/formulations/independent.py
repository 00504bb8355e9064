"""Independent coordinates through body groups (Kang and Yoon 2001, equations 24 to 36).

Kinematics, loop Jacobian, dependent-to-independent map of each group, reduced mass matrix by the modified
velocity transformation, and a factorisation that keeps the doubly bordered block structure: groups are
eliminated from the tips of the tree inwards, so nothing fills in. Many modes of flexible members are eliminated
before all else.
"""

from __future__ import annotations

from bellcrank.formulations.algebra import LDL
from bellcrank.formulations.equations import Equations
from bellcrank.formulations.modal import whole_mass
from bellcrank.mechanics.dynamics import mass_matrix
from bellcrank.program.trace import Scalar


def accelerations(eq: Equations) -> list[Scalar]:
    """The rates of all speeds."""
    with eq.graph.counting("loops"):
        columns = eq.loops.columns()
    rhs = eq.reduced_forces()
    with eq.graph.counting("mass matrix"):
        factors = whole_mass(eq.kin, columns, eq.sample)
        M = {} if factors else mass_matrix(eq.level, eq.mechanics.inertias, columns)
    with eq.graph.counting("solve"):
        order = list(reversed(range(len(columns))))
        du = (factors or LDL.of(M, order)).solve(rhs)
        independent = {i: du[n] for n, i in enumerate(eq.partition.independent)}
        return eq.loops.accelerations(independent)

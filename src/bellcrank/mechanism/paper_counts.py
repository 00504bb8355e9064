"""The multiplications that the formulas of Kang and Yoon give for a mechanism's topology.

Source: Kang, Yoon: "An Efficient Multibody Dynamic Algorithm Using Independent Coordinates Set and Modified
Velocity Transformation Method", Tables 1 to 3, for kinematics, M and f, and the maps V_di, W_di. What the
tables leave out (elimination of the Jacobian, reduction, solution) the paper prints no formula for: section 4
names LU for the conventional method and Cholesky of a bordered matrix for its own, nothing for the other two.
It is counted here as dense algebra; how many right-hand sides and which products are taken was chosen so
that the car's percentages come near the printed ones, and every function below says what it takes.
Divisions count as multiplications, square roots do not count.

Section 4 prints 62.3, 80.6 and 12.0 % of the conventional method for its car; these readings give
62.1, 80.6 and 12.7 %, and 12.1 % where the rack's column is left out of the maps of the front groups.

A minus stands for "without base bodies": Nb- and n- leave out the bodies that hang on the ground and their
coordinates, Np- the points on the ground and on bodies that float on a free joint (the chassis).

Differs in: welded bodies count as one; redundant equations and constraints without points (couplings,
drivers of coordinates) have no place in the tables: the former are left out, the latter count in m alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bellcrank.formulations.registry import Formulation
from bellcrank.mechanics.links import GROUND, Linkage
from bellcrank.model.drivers import PointTarget

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism

STAGES = ("kinematics", "M, f", "Jacobian, B_di", "V_di, W_di, gamma_di", "reduction", "solve")
"""The rows of the count."""

METHODS = (
    Formulation.LAGRANGE,
    Formulation.REDUCED_LAGRANGE,
    Formulation.PARTITIONING,
    Formulation.INDEPENDENT,
)
"""The methods the paper compares."""


@dataclass(frozen=True)
class GroupSize:
    """A body group as B_di sees it: its dependent speeds (equations) and the independent ones it follows."""

    dependent: frozenset[int]
    independent: frozenset[int]


@dataclass(frozen=True)
class Topology:
    """What the formulas ask of a mechanism.

    rotational: for each speed whether it turns. lower: for every body the speeds between it and the ground
    (NLQ_i of them). lowest: bodies that hang on the ground. turning: bodies that their own joint turns.
    points: the lower speeds of each constrained point (Np of them), `fixed_points` of which lie on base
    bodies. groups: those with equations. independent: the independent speeds.
    """

    rotational: tuple[bool, ...]
    lower: tuple[frozenset[int], ...]
    lowest: frozenset[int]
    turning: frozenset[int]
    points: tuple[frozenset[int], ...]
    fixed_points: int
    groups: tuple[GroupSize, ...]
    independent: tuple[int, ...]

    @staticmethod
    def of(mechanism: Mechanism) -> Topology:
        """Of an analysed mechanism, with the partition of its start."""
        linkage = mechanism.linkage
        turns = tuple(flag for link in linkage.links for flag in link.kind.turning)
        paths = [_lower(linkage, k) for k in range(len(linkage.links))]
        carriers = sorted({p.link for p in mechanism.linkage.placements.values()} - {GROUND})
        inner = {k: _next_carrier(linkage, k, frozenset(carriers)) for k in carriers}
        lowest = frozenset(n for n, k in enumerate(carriers) if inner[k] == GROUND)
        own = [paths[k] - (paths[inner[k]] if inner[k] != GROUND else frozenset()) for k in carriers]
        turning = frozenset(n for n, speeds in enumerate(own) if any(turns[s] for s in speeds))
        seats = [linkage.placements[body].link for body in _constrained_points(mechanism)]
        based = [k == GROUND or linkage.links[k].kind.floats for k in seats]
        return Topology(
            turns,
            tuple(paths[k] for k in carriers),
            lowest,
            turning,
            tuple(paths[k] if k != GROUND else frozenset() for k in seats),
            sum(based),
            _group_sizes(mechanism),
            mechanism.partition.independent,
        )

    @property
    def n(self) -> int:
        """Coordinates."""
        return len(self.rotational)

    @property
    def m(self) -> int:
        """Independent constraint equations."""
        return sum(len(g.dependent) for g in self.groups)

    def turns_of(self, speeds: Iterable[int]) -> int:
        """How many of some speeds turn: NRQ."""
        return sum(self.rotational[s] for s in speeds)


def _lower(linkage: Linkage, link: int) -> frozenset[int]:
    inner = [linkage.links[k] for k in linkage.path(link)]
    return frozenset(s for k in inner for s in range(k.u, k.u + k.kind.speeds))


def _next_carrier(linkage: Linkage, link: int, carriers: frozenset[int]) -> int:
    """The next link inwards that carries a body; the massless parts of a joint are passed over."""
    return next((k for k in linkage.path(link)[1:] if k in carriers), GROUND)


def _constrained_points(mechanism: Mechanism) -> list[str]:
    """The bodies of all constrained points: two a cut joint, one a driven point."""
    cuts = [frame.body.name for joint in mechanism.tree.cuts for frame in (joint.a, joint.b)]
    targets = [driver.target for driver in mechanism.system.drivers.values()]
    return cuts + [target.frame.body.name for target in targets if isinstance(target, PointTarget)]


def _group_sizes(mechanism: Mechanism) -> tuple[GroupSize, ...]:
    """For each group with equations what its dependent speeds follow, lower groups' own followed down."""
    follows: dict[int, frozenset[int]] = {}
    numbered = [
        speeds for c in mechanism.mechanics.constraints for speeds in [_speeds(mechanism, c.links)] * c.size
    ]
    found = []
    for group in mechanism.partition.groups:
        dependent = frozenset(c for _, c in group.pivots)
        entering = frozenset(s for e, _ in group.pivots for s in numbered[e]) - dependent
        independent = frozenset(i for s in entering for i in follows.get(s, frozenset({s})))
        follows.update(dict.fromkeys(dependent, independent))
        found.append(GroupSize(dependent, independent))
    return tuple(found)


def _speeds(mechanism: Mechanism, links: Iterable[int]) -> frozenset[int]:
    chosen = [mechanism.linkage.links[k] for k in links]
    return frozenset(s for k in chosen for s in range(k.u, k.u + k.kind.speeds))


@dataclass(frozen=True)
class PaperCounts:
    """Multiplications by stage (see STAGES) for each of the paper's methods."""

    stages: Mapping[Formulation, Mapping[str, int]]

    def total(self, method: Formulation) -> int:
        """All multiplications of a method."""
        return sum(self.stages[method].values())

    def percent(self, method: Formulation) -> float:
        """Against the conventional method [%]."""
        return 100.0 * self.total(method) / self.total(Formulation.LAGRANGE)


def paper_counts(mechanism: Mechanism) -> PaperCounts:
    """The formulas evaluated on the topology of a mechanism."""
    return evaluate_formulas(Topology.of(mechanism))


def evaluate_formulas(top: Topology) -> PaperCounts:
    """The formulas evaluated on a topology."""
    full = equations_of_motion(top, top.lower, [top.turns_of(path) for path in top.lower])
    parts = {
        Formulation.LAGRANGE: (full, 0, 0, 0, lu(top.n + top.m) + lu_solve(top.n + top.m)),
        Formulation.REDUCED_LAGRANGE: (full, 0, 0, reduced_reduction(top), reduced_solution(top)),
        Formulation.PARTITIONING: (
            *(full, dense_map(top), 0),
            *(partitioning_reduction(top), partitioning_solution(top)),
        ),
        Formulation.INDEPENDENT: (
            *(independent_equations_of_motion(top), group_maps(top), transformed_velocities(top)),
            *(0, bordered_solution(top)),
        ),
    }
    first = kinematics(top)
    return PaperCounts({f: dict(zip(STAGES, (first, *counts), strict=True)) for f, counts in parts.items()})


def kinematics(top: Topology) -> int:
    """Table 1: R, then d, c, p, then velocities, W and U, V, velocity-dependent accelerations, and I.

    27 Nb- + 9 (Nb- + Nb + Np-) + (3 n + 6 Nb-) + 9 n- + 6 (sum NRQ of bodies + sum NRQ of points)
    + (3 NRQ + 15 NRB- + 12 Nb- + 18 (Nb + Np)) + 45 Nb; NRB- are the bodies above the lowest that their
    joint turns.
    """
    Nb, Np = len(top.lower), len(top.points)
    Nb_minus = Nb - len(top.lowest)
    n_minus = top.n - len(frozenset[int]().union(*(top.lower[b] for b in top.lowest)))
    NRQ = sum(top.rotational)
    NRB_minus = len(top.turning - top.lowest)
    lower_turns = sum(top.turns_of(path) for path in (*top.lower, *top.points))
    return (
        27 * Nb_minus
        + 9 * (Nb_minus + Nb + Np - top.fixed_points)
        + (3 * top.n + 6 * Nb_minus)
        + 9 * n_minus
        + 6 * lower_turns
        + (3 * NRQ + 15 * NRB_minus + 12 * Nb_minus + 18 * (Nb + Np))
        + 45 * Nb
    )


def equations_of_motion(top: Topology, lower: Sequence[frozenset[int]], turning: Sequence[int]) -> int:
    """Table 2: M and f with NLQ_i speeds that move body i and NRQ_i that turn it.

    M: 3 NLQ + 3 (NLQ + 1) NLQ / 2 + 9 NRQ + 3 (NRQ + 1) NRQ / 2. f: 27 + 3 (NLQ + NRQ).
    """
    total = 0
    for path, NRQ in zip(lower, turning, strict=True):
        NLQ = len(path)
        total += 3 * NLQ + 3 * (NLQ + 1) * NLQ // 2 + 9 * NRQ + 3 * (NRQ + 1) * NRQ // 2
        total += 27 + 3 * (NLQ + NRQ)
    return total


def independent_equations_of_motion(top: Topology) -> int:
    """Table 2 with the independent speeds that move and turn each body (33 and 34 in the place of 9)."""
    follows = {c: g.independent for g in top.groups for c in g.dependent}

    def behind(speeds: Iterable[int]) -> frozenset[int]:
        return frozenset(i for s in speeds for i in follows.get(s, frozenset({s})))

    turning = [len(behind(s for s in path if top.rotational[s])) for path in top.lower]
    return equations_of_motion(top, [behind(path) for path in top.lower], turning)


def transformed_velocities(top: Topology) -> int:
    """Table 3: V_di, W_di (33, 34) and gamma_di (35, 36).

    3 sum_i sum_j (NDLQ + NDRQ) f_j + 3 sum_i sum_j (NDLQ + NDRQ), over bodies i and groups j; f_j are the
    columns of the group's B_di.
    """
    total = 0
    for path in top.lower:
        for group in top.groups:
            below = path & group.dependent
            total += 3 * (len(below) + top.turns_of(below)) * (len(group.independent) + 1)
    return total


def group_maps(top: Topology) -> int:
    """B_di and g_di (28, 30), group by group: LU of Phi_d, one solution a column and one for g_di."""
    sizes = [(len(g.dependent), len(g.independent)) for g in top.groups]
    return sum(lu(m) + (f + 1) * lu_solve(m) for m, f in sizes)


def dense_map(top: Topology) -> int:
    """B_di, b_di and g_di (28 to 30) of the whole mechanism at once: LU and n - m + 2 solutions.

    One more than `group_maps` takes: b_di is zero where nothing is driven, and is left out there.
    """
    return lu(top.m) + (top.n - top.m + 2) * lu_solve(top.m) if top.m else 0


def reduced_reduction(top: Topology) -> int:
    """J M^-1 J^T and J M^-1 f: Cholesky of M, m + 1 solutions, the lower half of the products."""
    n, m = top.n, top.m
    return cholesky(n) + (m + 1) * cholesky_solve(n) + m * (m + 1) // 2 * n + m * n


def reduced_solution(top: Topology) -> int:
    """The multipliers by Cholesky, J^T lambda, and the accelerations by one more solution with M."""
    n, m = top.n, top.m
    return cholesky(m) + cholesky_solve(m) + m * n + cholesky_solve(n) if m else 0


def partitioning_reduction(top: Topology) -> int:
    """B^T M B and B^T (f - M g) with the full matrix B = [1; B_di]: M B, B^T (M B), M g, B^T f."""
    n, f = top.n, top.n - top.m
    return n * n * f + f * f * n + n * n + f * n if top.m else 0


def partitioning_solution(top: Topology) -> int:
    """The independent accelerations by Cholesky, the dependent ones by B_di."""
    f = top.n - top.m
    return cholesky(f) + cholesky_solve(f) + top.m * f


def bordered_solution(top: Topology) -> int:
    """Cholesky of the doubly bordered block diagonal matrix, without fill, and one solution.

    The dependent accelerations B_di q_i are left out, although `partitioning_solution` has them: a choice of
    this reading, worth 36 multiplications on the car.
    """
    follows = {c: g.independent for g in top.groups for c in g.dependent}
    neighbours: dict[int, set[int]] = {i: set() for i in top.independent}
    for path in top.lower:
        moving = {i for s in path for i in follows.get(s, frozenset({s}))}
        for i in moving:
            neighbours[i] |= moving - {i}
    total = 0
    while neighbours:
        i = min(neighbours, key=lambda k: (len(neighbours[k]), -k))
        below = neighbours.pop(i)
        for j in below:
            neighbours[j] |= below - {j}
            neighbours[j].discard(i)
        b = len(below)
        # b divisions and a triangle of products in the factor; twice b products and two divisions to solve.
        total += b + b * (b + 1) // 2 + 2 * b + 2
    return total


def lu(n: int) -> int:
    """LU of a dense matrix: n (n - 1) (2 n - 1) / 6 products, n (n - 1) / 2 divisions."""
    return (n**3 - n) // 3


def lu_solve(n: int) -> int:
    """One solution: n (n - 1) products, n divisions."""
    return n * n


def cholesky(n: int) -> int:
    """Cholesky of a dense matrix: (n^3 - n) / 6 products, n (n - 1) / 2 divisions."""
    return (n**3 - n) // 6 + n * (n - 1) // 2


def cholesky_solve(n: int) -> int:
    """One solution: n (n - 1) products, 2 n divisions."""
    return n * (n - 1) + 2 * n

"""Members from mass and stiffness matrices that another program made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from bellcrank.base.keys import NUMBER, TEXT, VECTOR3, Keys, by_name, list_of, may, must, ref
from bellcrank.errors import ModelError
from bellcrank.fe.matrix_files import NodalMatrix, read_matrix
from bellcrank.flexible.interfaces import Region, interface_places, which_nodes
from bellcrank.flexible.model import Array, ElasticModel, FieldMatrix, Inertia, Integrals, Place, Sparse
from bellcrank.flexible.modes import DIRECTIONS
from bellcrank.flexible.nodal_inertia import NodalInertia, rigid_motions
from bellcrank.flexible.recipe import CHECK_UNITS, ModelRecipe
from bellcrank.flexible.recovery import SPATIAL
from bellcrank.flexible.stations import LEVI_CIVITA, Stations
from bellcrank.flexible.units import check_size

MATRICES = Keys(
    "A body given by its mass and stiffness matrices, free of supports.",
    must("mass_matrix", ref("given_matrix"), "Rows, or a file below the model's folder (.npy, .mtx)."),
    must("stiffness_matrix", ref("given_matrix"), "Rows, or a file below the model's folder (.npy, .mtx)."),
    must("positions", list_of(VECTOR3), "Of the nodes [m]."),
    may("freedoms", TEXT, "Of every node in their order, out of x y z rx ry rz; 'x y z' by default."),
    may("nodes", by_name(NUMBER), "Names for node numbers, counted from 0.", whole=(0, 10**9)),
    may("interfaces", by_name(ref("region")), "Nodes by name, each the mean motion of a region."),
    may("generalised", NUMBER, "Coordinates without a place that follow the nodal ones.", whole=(0, 10**6)),
    CHECK_UNITS,
)


def given_matrices(
    name: str,
    mass_matrix: Any,
    stiffness_matrix: Any,
    positions: ArrayLike,
    freedoms: str = "x y z",
    nodes: Mapping[str, int] | None = None,
    check_units: bool = True,
    *,
    interfaces: Mapping[str, Region] | None = None,
    generalised: int = 0,
    node_numbers: Sequence[int] | None = None,
) -> ElasticModel:
    """A body given by its matrices, not yet reduced, and without second-order displacements: these matrices
    do not know them.

    mass_matrix, stiffness_matrix: (N, N), dense or sparse, node by node; or paths of files of NumPy, Matrix Market,
    Nastran, Abaqus, Ansys or CalculiX. positions: Of the nodes, (s, 3) [m]. freedoms: Of every node in their order,
    out of x y z rx ry rz. nodes: Names for some node numbers, counted from 0. interfaces: Named regions, each the mean
    motion of its nodes: a function of the coordinates (3, s) giving which belong, a box, a point, or node numbers.
    Where neither is given, all nodes are reachable as "node 0", ... generalised: How many coordinates without a place
    follow the nodal ones, those of modes of a body that another program reduced to its interface nodes.
    node_numbers: What a file that names its rows calls the nodes, in the order of `positions`; ascending by default.

    Momentum and coupling with rigid motion are exact for the given mass matrix. Where every direction carries
    the same scalar mass matrix (solids) so is everything else; otherwise the products of two modes are summed
    nodewise and their trace is made exact.
    """
    x = np.asarray(positions, dtype=float)
    if x.ndim != 2 or x.shape[1] != 3:
        raise ModelError(f"positions of the nodes of {name!r} must be (nodes, 3), not {x.shape}")
    if check_units and len(x) > 1:
        check_size(name, float(np.linalg.norm(np.ptp(x, axis=0))))
    order = freedoms.split()
    for word in order:
        if word not in DIRECTIONS:
            raise ModelError(f"freedom {word!r} of member {name!r} is none of {', '.join(DIRECTIONS)}")
    rows = _Rows(name, x, order, generalised, node_numbers)
    M, K = rows.matrix("mass", mass_matrix), rows.matrix("stiffness", stiffness_matrix)
    select = _selection(len(x), order, generalised)
    R = np.asarray(select.T @ _six(x))
    planar = [i for i in range(6) if not _representable(select[:, : len(x) * len(order)], _six(x)[:, i])]
    R[:, planar] = 0.0
    _check_rigid(name, K, R)
    inertia = _inertia(M, x, select, order, R, generalised)
    mass, first, second = _moments(name, M, x, R, inertia)
    moves = np.arange(6 * len(x)) % 6 < 3
    moved = sp.csr_array(select)[np.flatnonzero(moves)]
    turned = sp.csr_array(select)[np.flatnonzero(~moves)] if set(order) - set(SPATIAL) else None
    none = np.zeros((0, 2), dtype=np.int64)
    return ElasticModel(
        name=name,
        mass=mass,
        first_moment=first,
        second_moment=second,
        mass_matrix=M,
        stiffness_matrix=K,
        rigid=R,
        freedom_places=np.vstack(
            [np.repeat(x, len(order), axis=0), np.tile(x.mean(axis=0), (generalised, 1))]
        ),
        places=_places(name, x, select, nodes or {})
        | _interfaces(name, x, (moved, turned), K, len(order), interfaces or {})
        if nodes or interfaces
        else _places(name, x, select, {f"node {i}": i for i in range(len(x))}, True),
        inertia=inertia,
        fields={"displacement": FieldMatrix(x, moved, SPATIAL, "m", none)},
        recipe=ModelRecipe(
            "matrices",
            {
                "mass_matrix": M,
                "stiffness_matrix": K,
                "positions": x,
                "freedoms": freedoms,
                "nodes": dict(nodes or {}),
                "interfaces": dict(interfaces or {}),
                "generalised": generalised,
                "check_units": check_units,
            },
        ),
    )


def _places(
    name: str, x: Array, select: Sparse, nodes: Mapping[str, int], numbered: bool = False
) -> dict[str, Place]:
    places = {}
    for label, number in nodes.items():
        if not 0 <= number < len(x):
            raise ModelError(
                f"nodes of {name!r}: {label!r} is node {number}, but the nodes are 0 to {len(x) - 1}"
            )
        rows = sp.csr_array(select[6 * number : 6 * number + 6])
        places[label] = Place(label, x[number], rows[:3], rows[3:], numbered)
    return places


def _interfaces(
    name: str,
    x: Array,
    motions: tuple[Sparse, Sparse | None],
    K: Sparse,
    width: int,
    interfaces: Mapping[str, Region],
) -> dict[str, Place]:
    def neighbours(nodes: Any) -> Any:
        rows = (width * np.asarray(nodes)[:, None] + np.arange(width)).ravel()
        reached = np.unique(sp.csr_array(K)[rows].indices) // width
        return np.unique(reached[reached < len(x)])

    found = {label: which_nodes(name, label, which, x) for label, which in interfaces.items()}
    regions = {label: (numbers, np.ones(len(numbers))) for label, numbers in found.items()}
    moved, turned = motions
    return interface_places(name, x, regions, moved, neighbours, turned)


@dataclass(frozen=True, eq=False)
class GivenInertia:
    """Integrals from a mass matrix whose elements are not known.

    mass: (N, N). rigid: (N, 6). nodal: Translations of the nodes from the freedoms, (3 s, N). stations: The
    nodes with their masses.
    """

    mass: Sparse
    rigid: Array
    nodal: Sparse
    stations: Stations
    directions: Array

    def integrals(self, basis: Array) -> Integrals:
        """Momentum and angular momentum by the mass matrix, the symmetric rest nodewise."""
        d = np.asarray(self.nodal @ basis).reshape(-1, 3, basis.shape[1])
        carried = np.asarray(self.rigid.T @ (self.mass @ basis))
        momentum = self.stations.momentum(d)
        able = np.abs(self.rigid[:, :3]).max(axis=0) > 0
        momentum[:, able] = carried[:3].T[:, able]
        G = self.stations.coupling(d)
        turning = np.einsum("ijk,nkj->ni", LEVI_CIVITA, G)
        turns = np.abs(self.rigid[:, 3:]).max(axis=0) > 0
        exact = np.where(turns, carried[3:].T, turning)
        # s0 x phi = exact fixes the antisymmetric part of G.
        G = G - 0.5 * np.einsum("ijk,nk->nij", LEVI_CIVITA, exact - turning)
        GG = self.stations.modal_coupling(d)
        missing = basis.T @ (self.mass @ basis) - np.trace(GG, axis1=2, axis2=3)
        GG = GG + missing[:, :, None, None] * np.diag(self.directions / self.directions.sum())
        return Integrals(momentum, G, GG)


def _inertia(M: Sparse, x: Array, select: Sparse, order: list[str], R: Array, generalised: int) -> Inertia:
    if order == ["x", "y", "z"] and not generalised:
        scalar = sp.csr_array(M[::3][:, ::3])
        difference = M - sp.kron(scalar, sp.eye_array(3), format="csr")
        if np.abs(difference).max() <= 1e-9 * np.abs(M).max():
            return NodalInertia(scalar, x, sp.csr_array(sp.eye_array(M.shape[0])))
    translations = [i for i, word in enumerate(order) if word in SPATIAL]
    k = len(order)
    # The force that a unit acceleration calls up at a node is the mass there.
    force = np.asarray(M @ R)[: k * len(x)]
    sums = [force[i::k, DIRECTIONS[order[i]]] for i in translations if R[:, DIRECTIONS[order[i]]].any()] or [
        np.asarray(M[i::k][:, i::k].sum(axis=1)).ravel() for i in translations
    ]
    nodal = sp.csr_array(select)[np.flatnonzero(np.arange(6 * len(x)) % 6 < 3)]
    masses = np.mean(sums, axis=0)
    stations = Stations(masses, _mass_places(M, x, order, R, masses), np.zeros((len(x), 3, 3)))
    directions = np.array([float(word in order) for word in SPATIAL])
    return GivenInertia(M, R, nodal, stations, directions)


def _mass_places(M: Sparse, x: Array, order: list[str], R: Array, masses: Array) -> Array:
    """Where the mass that answers to each node's translation has its centre.

    The force that rotation about an axis calls up at a node is that rotation crossed with its share's first moment.
    """
    places = x.copy()
    k = len(order)
    heavy = masses > 0
    force = np.asarray(M @ R)
    for component, turn, along, sign in ((0, 5, "y", 1.0), (1, 5, "x", -1.0), (2, 4, "x", 1.0)):
        if along in order and R[:, turn].any():
            moment = sign * force[order.index(along) : k * len(x) : k, turn]
            places[heavy, component] = moment[heavy] / masses[heavy]
    return places


def _moments(name: str, M: Sparse, x: Array, R: Array, inertia: Inertia) -> tuple[float, Array, Array]:
    if isinstance(inertia, NodalInertia):
        return inertia.rigid_moments()
    assert isinstance(inertia, GivenInertia)
    rigid = R.T @ (M @ R)
    able = np.flatnonzero(np.abs(R).max(axis=0) > 0)
    masses = np.array([rigid[i, i] for i in range(3) if i in able])
    if np.ptp(masses) > 1e-6 * masses.max():
        raise ModelError(
            f"the mass matrix of {name!r} weighs differently along x, y and z "
            f"({', '.join(f'{m:.6g}' for m in masses)} kg); "
            "check the order of the freedoms"
        )
    mass = float(masses.mean())
    if len(able) < 6:
        s = inertia.stations
        return mass, s.first_moment() * mass / s.total, s.second_moment()
    cross = rigid[:3, 3:]
    # The block of translation and rotation is the transposed skew matrix of the first moment.
    first = 0.5 * np.array([cross[1, 2] - cross[2, 1], cross[2, 0] - cross[0, 2], cross[0, 1] - cross[1, 0]])
    J = rigid[3:, 3:]
    return mass, first, 0.5 * np.trace(J) * np.eye(3) - J


def _six(x: Array) -> Array:
    """Rigid motions in six freedoms a node, (6 s, 6)."""
    full = np.zeros((len(x), 6, 6))
    full[:, :3] = rigid_motions(x).reshape(-1, 3, 6)
    full[:, 3:, 3:] = np.eye(3)
    return full.reshape(-1, 6)


def _selection(count: int, order: list[str], generalised: int = 0) -> Sparse:
    """From the freedoms to six a node, (6 s, N); generalised ones move no node by themselves."""
    one = np.zeros((6, len(order)))
    for column, word in enumerate(order):
        one[DIRECTIONS[word], column] = 1.0
    nodal = sp.csr_array(sp.kron(sp.eye_array(count), one, format="csr"))
    return sp.csr_array(sp.hstack([nodal, sp.csr_array((6 * count, generalised))]))


def _representable(select: Sparse, motion: Array) -> bool:
    """Whether the freedoms can make this motion; nodes without rotations follow by their translations."""
    k = select.shape[1] * 6 // select.shape[0]
    rotations = k > 3 or (np.asarray(select[3:6, :k].sum()) > 0)
    rest = motion - select @ (select.T @ motion)
    rows = np.arange(len(motion)) % 6
    checked = rest if rotations else rest[rows < 3]
    return bool(np.abs(checked).max() <= 1e-12 * np.abs(motion).max())


@dataclass(frozen=True, eq=False)
class _Rows:
    """What the rows of the matrices are."""

    name: str
    x: Array
    order: list[str]
    generalised: int
    node_numbers: Sequence[int] | None

    def matrix(self, what: str, given: Any) -> Sparse:
        """A checked matrix, from a file where it is a path."""
        who = f"the {what} matrix of {self.name!r}"
        if isinstance(given, str | Path):
            try:
                given = read_matrix(Path(given), "K" if what == "stiffness" else "M")
            except (OSError, ValueError) as error:
                raise ModelError(f"{who}: {Path(given).name} cannot be read ({error})") from None
        if isinstance(given, NodalMatrix):
            given = self._sorted(who, given)
        matrix = sp.csr_array(given)
        N = len(self.x) * len(self.order) + self.generalised
        if matrix.shape != (N, N):
            more = f" and {self.generalised} generalised ones" if self.generalised else ""
            raise ModelError(
                f"{who} is {matrix.shape[0]} x {matrix.shape[1]}, but {len(self.x)} nodes with freedoms "
                f"{' '.join(self.order)}{more} make {N}"
            )
        if not np.isfinite(matrix.data).all():
            raise ModelError(f"{who} has entries that are not finite")
        if abs(matrix - matrix.T).max() > 1e-8 * abs(matrix).max():
            raise ModelError(f"{who} is not symmetric")
        return sp.csr_array(0.5 * (matrix + matrix.T))

    def _sorted(self, who: str, given: NodalMatrix) -> Sparse:
        """Node by node in the order of the positions; rows without a direction come last."""
        node, direction = given.labels.T
        placed = (direction >= 1) & (direction <= 6)
        numbers = np.unique(node[placed]) if self.node_numbers is None else np.asarray(self.node_numbers)
        if len(numbers) != len(self.x):
            raise ModelError(
                f"{who} has {len(numbers)} nodes ({numbers[:4].tolist()}, ...), but {len(self.x)} positions are given"
            )
        place = {int(number): i for i, number in enumerate(numbers)}
        column = {DIRECTIONS[word] + 1: i for i, word in enumerate(self.order)}
        at = np.empty(len(node), dtype=np.int64)
        last = len(self.x) * len(self.order)
        for row, (number, axis) in enumerate(given.labels.tolist()):
            if not 1 <= axis <= 6:
                at[row], last = last, last + 1
            elif number not in place or axis not in column:
                raise ModelError(
                    f"{who} has a row of node {number} in direction {axis}, which node_numbers or freedoms do not name"
                )
            else:
                at[row] = len(self.order) * place[number] + column[axis]
        entries = sp.coo_array(given.matrix)
        rows, columns = entries.coords
        N = max(last, len(self.x) * len(self.order) + self.generalised)
        return sp.coo_array((entries.data, (at[rows], at[columns])), shape=(N, N))


def _check_rigid(name: str, K: Sparse, R: Array) -> None:
    for i, word in enumerate(DIRECTIONS):
        size = np.abs(K) @ np.abs(R[:, i])
        if size.max() > 0 and np.abs(K @ R[:, i]).max() > 1e-6 * size.max():
            raise ModelError(
                f"the stiffness matrix of {name!r} resists the rigid motion {word}: it is held somewhere, "
                "or positions, units or the order of freedoms do not fit it; give the matrices of the free body"
            )

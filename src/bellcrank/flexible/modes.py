"""Reductions: which modal coordinates a body has.

Every reduction ends in mass-orthonormal modes with diagonal stiffness, ordered by frequency. Modes of equal
frequency are turned towards the member's axes, and signs are fixed by what the modes do, so that the result
does not depend on the numbering of the nodes. Source for component modes: Craig, Bampton, AIAA J. 6 (1968)
1313; Craig, Kurdila: Fundamentals of Structural Dynamics, ch. 17.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import scipy.sparse as sp

from bellcrank.base.keys import NUMBER, TEXT, Keys, Kinds, by_name, list_of, may, must, ref
from bellcrank.errors import ModelError
from bellcrank.flexible.frames import Chord, Clamped, MeanAxes, MemberFrame, movable
from bellcrank.flexible.held import Held, independent_rows
from bellcrank.flexible.model import Array, ElasticModel, Sparse

DIRECTIONS = {"x": 0, "y": 1, "z": 2, "rx": 3, "ry": 4, "rz": 5}
EQUAL = 1e-6
"""Relative difference of squared frequencies up to which two modes count as one pair."""
MAX_MODES = 500
"""Modes that a model file may ask for."""
MORE = "raise the count of normal modes"
"""What remains where the static modes of a node are among those chosen."""
COUNT = may("count", NUMBER, "How many normal modes.", whole=(0, MAX_MODES))


class Reduction(Protocol):
    """A choice of modes."""

    def modes(self, model: ElasticModel, held: Held) -> tuple[Array, Array]:
        """Squared angular frequencies (n,) and mass-orthonormal shapes (N, n) that meet the frame's
        conditions."""
        ...

    def remedy(self, node: str, direction: str) -> str:
        """What would hold the static answer to a load at a node in a direction (x, ..., rz) that these modes miss."""
        ...


@dataclass(frozen=True)
class Supports:
    """Nodes held in some directions: Supports({"start": "x y z rx", "end": "y z"}), along and about member
    axes."""

    kind: ClassVar[str] = "supports"
    keys: ClassVar[Keys] = Keys(
        "Nodes held in some directions.", must("held", by_name(TEXT), "Directions by node.")
    )

    held: Mapping[str, str]

    def conditions(self, model: ElasticModel) -> Sparse:
        """One row for each held direction."""
        return sp.vstack([_rows(model, node, which) for node, which in self.held.items()], format="csr")

    def reference(self, model: ElasticModel) -> str | None:
        """The first of the held nodes."""
        return next(iter(self.held))


@dataclass(frozen=True)
class NormalModes:
    """Natural modes: the lowest `count`, all up to a frequency [Hz], or so many along each axis.

    along: {"y": 2, "x": 1} keeps the two lowest modes moving mostly along y and the lowest along x; "turn"
    stands for twisting. boundary: Where the body is held while it vibrates; by default at the member's frame.
    """

    kind: ClassVar[str] = "normal"
    keys: ClassVar[Keys] = Keys(
        "The lowest `count` modes, all up to a frequency [Hz], or so many along each axis.",
        COUNT,
        may("up_to", NUMBER, "[Hz]."),
        may(
            "along",
            by_name(NUMBER),
            "Modes by the axis they move along: x, y, z, turn.",
            whole=(1, MAX_MODES),
        ),
        may("boundary", ref("member_frame"), "Where the body is held while it vibrates."),
    )

    count: int | None = None
    up_to: float | None = None
    along: Mapping[str, int] | None = None
    boundary: MemberFrame | None = None

    def __post_init__(self) -> None:
        given = [x for x in (self.count, self.up_to, self.along) if x is not None]
        if len(given) != 1:
            raise ModelError(
                "normal modes are chosen by count, by up_to or by along: give exactly one of them"
            )

    def modes(self, model: ElasticModel, held: Held) -> tuple[Array, Array]:
        """The chosen ones."""
        if self.boundary is None:
            return self._chosen(model, held)
        other = Held(model, self.boundary.conditions(model), None, "the boundary of the normal modes")
        shapes = in_frame(model, held, self._chosen(model, other)[1])
        return held.rayleigh_ritz(shapes)

    def remedy(self, node: str, direction: str) -> str:
        """Static modes of that node."""
        return f"attachment modes or Craig-Bampton at {node!r} hold it, or more normal modes"

    def _chosen(self, model: ElasticModel, held: Held) -> tuple[Array, Array]:
        limit = model.freedoms - held.conditions.shape[0]
        ask = min(limit, (self.count or sum((self.along or {"": 6}).values())) + 4)
        while True:
            squares, shapes = held.modes(ask)
            asked = len(squares)
            if ask < limit:
                squares, shapes = without_last_group(squares, shapes)
            squares, shapes = aligned(model, squares, shapes)
            keep = self._selection(model, squares, shapes)
            if keep is not None:
                return squares[keep], shapes[:, keep]
            if ask >= limit or asked < ask:
                raise ModelError(
                    f"{model.name!r} has only {len(squares)} modes in its frame, too few for {self}; "
                    "refine the mesh or ask for fewer"
                )
            ask = min(limit, 2 * ask)

    def _selection(self, model: ElasticModel, squares: Array, shapes: Array) -> list[int] | None:
        if self.count is not None:
            return list(range(self.count)) if len(squares) >= self.count else None
        if self.up_to is not None:
            inside = np.sqrt(squares) <= 2 * np.pi * self.up_to
            everything = len(squares) >= model.freedoms - 6
            return None if inside.all() and not everything else [int(i) for i in np.flatnonzero(inside)]
        keep: list[int] = []
        kinds = mode_kinds(model, shapes)
        for kind, count in (self.along or {}).items():
            found = [i for i, name in enumerate(kinds) if name == kind]
            if len(found) < count:
                return None
            keep += found[:count]
        return sorted(keep)


@dataclass(frozen=True)
class CraigBampton:
    """Static modes of the interface nodes and the lowest `count` modes with the interface held.

    directions: Of each interface node that belong to the interface.
    """

    kind: ClassVar[str] = "craig_bampton"
    keys: ClassVar[Keys] = Keys(
        "Static modes of interface nodes and normal modes with the interface held.",
        must("interface", list_of(TEXT)),
        COUNT,
        may("directions", TEXT, "Of x y z rx ry rz."),
    )

    interface: Sequence[str]
    count: int = 0
    directions: str = "x y z rx ry rz"

    def __post_init__(self) -> None:
        if not self.interface:
            raise ModelError(
                "interface of Craig-Bampton modes is empty; name the nodes where the body is joined"
            )

    def modes(self, model: ElasticModel, held: Held) -> tuple[Array, Array]:
        """Static modes of what interface motions have beyond rigid ones, and normal modes, moved into the frame.

        Of a rigid motion a static solution would be the rounding alone, which fine meshes make stiff.
        """
        rows = independent_rows(sp.vstack([_rows(model, node, self.directions) for node in self.interface]))
        fixed = Held(model, rows, None, "the interface")
        rigid = np.asarray(fixed.conditions @ movable(model))
        beyond = np.linalg.qr(rigid / np.linalg.norm(rigid, axis=0), mode="complete").Q[:, rigid.shape[1] :]
        basis = fixed.constrained(beyond)
        if self.count:
            basis = np.hstack([basis, lowest(model, fixed, self.count)])
        if not basis.shape[1]:
            raise ModelError(
                f"Craig-Bampton modes of member {model.name!r}: the interface "
                f"{', '.join(self.interface)} moves rigidly, which bends nothing; give a count of normal modes or one "
                "more interface node"
            )
        return aligned(model, *held.rayleigh_ritz(in_frame(model, held, basis), basis.shape[1]))

    def remedy(self, node: str, direction: str) -> str:
        """The node or the direction that the interface lacks."""
        if node not in self.interface:
            return f"add {node!r} to the interface"
        if direction not in self.directions.split():
            return f"add {direction} to the directions of the interface"
        return MORE


@dataclass(frozen=True)
class AttachmentModes:
    """Static answers to unit loads at nodes, {"end": "x y z"}, and the lowest `count` normal modes.

    In mean axes the loads are balanced by the inertia of the whole body (inertia relief).
    """

    kind: ClassVar[str] = "attachment"
    keys: ClassVar[Keys] = Keys(
        "Static answers to unit loads at nodes, and normal modes.",
        must("loads", by_name(TEXT), "Directions by node."),
        COUNT,
    )

    loads: Mapping[str, str]
    count: int = 0

    def __post_init__(self) -> None:
        if not self.loads:
            raise ModelError("loads of attachment modes are empty; give nodes and directions: {'end': 'y z'}")

    def modes(self, model: ElasticModel, held: Held) -> tuple[Array, Array]:
        """Orthonormalised together."""
        loads = sp.vstack([_rows(model, node, which) for node, which in self.loads.items()]).toarray().T
        basis = held.solve(loads)
        size = np.abs(basis).max(axis=0)
        basis = basis[:, size > 0]
        if self.count:
            basis = np.hstack([basis, lowest(model, held, self.count)])
        return aligned(model, *held.rayleigh_ritz(basis))

    def remedy(self, node: str, direction: str) -> str:
        """The load that is not among those given."""
        if direction not in self.loads.get(node, "").split():
            return f"add {direction} at {node!r} to the loads"
        return MORE


@dataclass(frozen=True, eq=False)
class GivenModes:
    """Shapes given in the freedoms of the model, (N, n), moved into the frame."""

    shapes: Array

    def modes(self, model: ElasticModel, held: Held) -> tuple[Array, Array]:
        """Orthonormalised."""
        given = np.asarray(self.shapes, dtype=float)
        if given.ndim != 2 or given.shape[0] != model.freedoms:
            raise ModelError(f"shapes of {model.name!r} must be ({model.freedoms}, n), not {given.shape}")
        return aligned(model, *held.rayleigh_ritz(in_frame(model, held, given)))

    def remedy(self, node: str, direction: str) -> str:
        """Another shape."""
        return f"add the static shape of a load along {direction} at {node!r} to the given ones"


MODES = Kinds.of("A choice of modal coordinates.", NormalModes, CraigBampton, AttachmentModes, usual="normal")
MEMBER_FRAMES = Kinds.of("The frame in which deformation is measured.", MeanAxes, Clamped, Chord, Supports)
"""The kinds that model files know."""


def lowest(model: ElasticModel, held: Held, count: int) -> Array:
    """The lowest normal modes, (N, count)."""
    return NormalModes(count).modes(model, held)[1]


def without_last_group(squares: Array, shapes: Array) -> tuple[Array, Array]:
    """Without the last modes of equal frequency, of which one may have been cut off."""
    keep = squares < squares[-1:] * (1 - EQUAL)
    return squares[keep], shapes[:, keep]


def in_frame(model: ElasticModel, held: Held, shapes: Array) -> Array:
    """The shapes with so much rigid motion added that they meet the frame's conditions."""
    R, B = movable(model), held.conditions
    if B.shape[0] != R.shape[1]:
        raise ModelError(
            f"the frame of {model.name!r} makes {B.shape[0]} conditions for {R.shape[1]} rigid motions; "
            "these modes need a frame that only holds the rigid motions: mean axes, Clamped or Chord"
        )
    return np.asarray(shapes - R @ np.linalg.solve(np.asarray(B @ R), np.asarray(B @ shapes)))


def mode_kinds(model: ElasticModel, shapes: Array) -> list[str]:
    """For each mode the axis along which most of its mass moves, or "turn" where the axis of mass hardly
    moves."""
    parts = model.inertia.integrals(shapes)
    kinds = []
    for k in range(shapes.shape[1]):
        directional = np.diag(parts.modal_coupling[k, k])
        twist = model.twist_share(shapes[:, k]) if model.twist_share is not None else 0.0
        kinds.append("turn" if twist > 0.5 else "xyz"[int(np.argmax(directional))])
    return kinds


def aligned(model: ElasticModel, squares: Array, shapes: Array) -> tuple[Array, Array]:
    """Modes of equal frequency turned towards the axes (x before y before z), and signs fixed."""
    shapes = shapes.copy()
    start = 0
    while start < len(squares):
        end = start + 1
        while end < len(squares) and squares[end] - squares[start] <= EQUAL * squares[start]:
            end += 1
        if end - start > 1:
            group = shapes[:, start:end]
            coupling = model.inertia.integrals(group).modal_coupling
            along = np.einsum("klii,i->kl", coupling, np.array([1.0, 2.0, 3.0]))
            shapes[:, start:end] = group @ np.linalg.eigh(0.5 * (along + along.T))[1]
        start = end
    return squares, shapes * signs(model, shapes)


def signs(model: ElasticModel, shapes: Array) -> Array:
    """Plus or minus one for each mode, from what it does at the outermost places and in the mean.

    The place farthest along x (then y, z) moves forward; if it stays, the opposite one turns so that its side
    towards +x moves forward; failing both, the momentum and the first moments decide.
    """
    n = shapes.shape[1]
    places = sorted(model.places.values(), key=lambda p: tuple(np.round(p.position, 12)))
    # Mass-orthonormal modes move by about 1 / sqrt(m); against that a motion is there or is rounding.
    m, size = model.mass, float(np.sqrt(np.trace(model.second_moment) / model.mass))
    tests: list[tuple[Array, float]] = []
    if places:
        first, last = places[0], places[-1]
        turned = np.asarray(first.rotation @ shapes) * np.array([[1.0], [-1.0], [1.0]])
        tests.append((np.asarray(last.translation @ shapes), m**-0.5))
        tests.append((turned[::-1], m**-0.5 / size))
        tests.append((np.asarray(last.rotation @ shapes), m**-0.5 / size))
    parts = model.inertia.integrals(shapes)
    tests.append((parts.momentum.T, m**0.5))
    tests.append((parts.coupling.reshape(n, 9).T, m**0.5 * size))
    result = np.ones(n)
    for k in range(n):
        for test, level in tests:
            amount = np.abs(test[:, k])
            if amount.max() > 1e-5 * level:
                result[k] = np.sign(test[int(np.flatnonzero(amount > 0.999 * amount.max())[0]), k])
                break
    return result


def _rows(model: ElasticModel, node: str, directions: str) -> Sparse:
    place = model.place(node)
    names = directions.split()
    for name in names:
        if name not in DIRECTIONS:
            raise ModelError(f"direction {name!r} at node {node!r} is none of {', '.join(DIRECTIONS)}")
    both = sp.vstack([sp.csr_array(place.translation), sp.csr_array(place.rotation)], format="csr")
    return both[[DIRECTIONS[name] for name in names]]

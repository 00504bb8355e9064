"""From an elastic model and a choice of modes to a member."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from bellcrank.errors import ModelError
from bellcrank.flexible.damping import Damping
from bellcrank.flexible.frames import MeanAxes, MemberFrame
from bellcrank.flexible.held import Held, row_squares
from bellcrank.flexible.member import Member, Node
from bellcrank.flexible.model import Array, ElasticModel, Integrals, SecondOrder, distributed_rows
from bellcrank.flexible.modes import EQUAL, Reduction
from bellcrank.flexible.recipe import MemberRecipe
from bellcrank.flexible.recovery import Field
from bellcrank.flexible.truncation import Truncation
from bellcrank.sparse.cholesky import Elimination
from bellcrank.sparse.iterations import solve_mass
from bellcrank.sparse.progress import factorising


class StiffeningNote(UserWarning):
    """A member that is reduced without the geometric stiffening that was asked for."""


def reduced(
    model: ElasticModel,
    reduction: Reduction,
    frame: MemberFrame | None,
    damping: Damping | None,
    stiffening: bool,
    progress: bool | None = False,
) -> Member:
    """See :meth:`ElasticModel.reduce`."""
    try:
        with factorising(model.name, progress):
            return _reduced(model, reduction, frame, damping, stiffening)
    except ModelError:
        raise
    except (ArithmeticError, LookupError, RuntimeError, ValueError) as error:
        # Whether a matrix can be factorised is known when it has been tried; the errors are those of NumPy and SciPy.
        raise ModelError(
            f"modes of flexible member {model.name!r} cannot be computed ({error}): its stiffness and mass span too "
            "many orders of magnitude; check its sizes, materials and elements"
        ) from error


def _reduced(
    model: ElasticModel,
    reduction: Reduction,
    frame: MemberFrame | None,
    damping: Damping | None,
    stiffening: bool,
) -> Member:
    frame = MeanAxes() if frame is None else frame
    held = Held(model, frame.conditions(model), frame.reference(model))
    squares, shapes = reduction.modes(model, held)
    if not shapes.shape[1]:
        raise ModelError(
            f"modes of flexible member {model.name!r}: none is chosen; ask for one at least, or describe a rigid body"
        )
    shapes = _orthonormal(model, _unmixed(model, held, shapes))
    n = shapes.shape[1]
    second = SecondOrder.none(n)
    if stiffening and model.stiffening is not None:
        second = model.stiffening.second_order(shapes, held)
    elif stiffening:
        warnings.warn(
            f"member {model.name!r} cannot stiffen geometrically: its matrices do not say how it shortens when it "
            "bends. Where it turns fast or is loaded along its axis, use beam, solid or rod; stiffening=False says "
            "that the linear theory is meant",
            StiffeningNote,
            stacklevel=4,
        )
    K = np.asarray(shapes.T @ (model.stiffness_matrix @ shapes))
    # Modes of different frequency are orthogonal; what rounding leaves there would cost operations.
    K[np.abs(np.subtract.outer(squares, squares)) > 2 * EQUAL * np.maximum.outer(squares, squares)] = 0.0
    member = member_of(
        model, shapes, K, second, damping, truncation_of(model, held, squares, shapes, reduction)
    )
    if model.recipe is None:
        return member
    return replace(member, recipe=MemberRecipe(model.recipe, reduction, frame, damping, stiffening))


def _unmixed(model: ElasticModel, held: Held, shapes: Array) -> Array:
    """Shapes without traces of motions they are not coupled with, such as stretching in a bending mode.

    An eigensolver mixes modes of neighbouring frequency by a little more than rounding. Freedoms that no matrix
    joins move independently; parts of a shape that carry next to nothing of its mass are such traces.
    """
    from scipy.sparse.csgraph import connected_components

    own = abs(model.mass_matrix) + abs(model.stiffness_matrix)
    if connected_components(own, directed=False)[0] == 1:
        return shapes
    # Conditions of the frame join freedoms, too: they stand in the graph as vertices of their own.
    B = abs(sp.csr_array(held.conditions))
    count, labels = connected_components(
        sp.block_array([[own, B.T], [B, None]], format="csr"), directed=False
    )
    labels = labels[: len(shapes)]
    share = shapes * np.asarray(model.mass_matrix @ shapes)
    parts = np.array([share[labels == i].sum(axis=0) for i in range(count)])
    traces = np.abs(parts) < TRACE * share.sum(axis=0)
    return np.where(traces[labels], 0.0, shapes)


def _orthonormal(model: ElasticModel, shapes: Array) -> Array:
    """Mass-orthonormal shapes, those of an eigensolver without what it leaves at the edge of its accuracy."""
    mass = np.asarray(shapes.T @ (model.mass_matrix @ shapes))
    return np.asarray(np.linalg.solve(np.linalg.cholesky(mass), shapes.T).T)


def member_of(
    model: ElasticModel,
    shapes: Array,
    stiffness: Array,
    second: SecondOrder,
    damping: Damping | None,
    truncation: Truncation,
) -> Member:
    """The member whose modal coordinates multiply the columns of `shapes` (N, n)."""
    n = shapes.shape[1]
    parts = model.inertia.integrals(shapes)
    modal_mass = np.asarray(np.trace(parts.modal_coupling, axis1=2, axis2=3))
    own, size = np.sqrt(np.diag(stiffness)), np.sqrt(np.diag(modal_mass))
    pairs = np.outer(np.where(size > 0, size, 1.0), np.where(size > 0, size, 1.0))
    K = without_dust(0.5 * (stiffness + stiffness.T), np.outer(own, own))
    parts = clean_integrals(model, parts)
    return Member(
        name=model.name,
        mass=model.mass,
        first_moment=model.first_moment,
        second_moment=model.second_moment,
        modes=n,
        momentum=parts.momentum,
        coupling=parts.coupling,
        modal_coupling=parts.modal_coupling,
        stiffness=K,
        damping=np.zeros((n, n)) if damping is None else damping.matrix(modal_mass, K),
        shortening_momentum=scaled_clean(second.momentum, pairs[:, :, None]),
        shortening_coupling=scaled_clean(second.coupling, pairs[:, :, None, None]),
        curving=scaled_clean(second.curving, np.sqrt(np.outer(np.diag(K), np.diag(K)))[None]),
        nodes=_nodes(model, shapes, second, pairs),
        frequencies=np.sqrt(np.diag(K) / np.diag(modal_mass)) / (2 * np.pi),
        truncation=truncation,
        fields={
            name: Field(
                name,
                matrix.points,
                distributed_rows(matrix.matrix, shapes, len(matrix.components)),
                matrix.components,
                matrix.unit,
                matrix.cells,
            )
            for name, matrix in model.fields.items()
        },
    )


def _nodes(model: ElasticModel, shapes: Array, second: SecondOrder, pairs: Array) -> dict[str, Node]:
    n = shapes.shape[1]
    translations = {name: np.asarray(place.translation @ shapes) for name, place in model.places.items()}
    rotations = {name: np.asarray(place.rotation @ shapes) for name, place in model.places.items()}
    # Dust is judged against the largest motion of that mode anywhere, not at this node, which may be held.
    largest = np.max([np.abs(t).max(axis=0) for t in translations.values()], axis=0) if translations else 0
    turned = np.max([np.abs(r).max(axis=0) for r in rotations.values()], axis=0) if rotations else 0
    nodes = {}
    for name, place in model.places.items():
        shortening = second.places.get(name, np.zeros((3, n, n)))
        nodes[name] = Node(
            name,
            place.position,
            without_dust(translations[name], largest),
            without_dust(rotations[name], turned),
            scaled_clean(shortening, pairs[None]),
        )
    return nodes


DUST = 1e-11
TRACE = 1e-14
"""Share of a mode's mass below which a part of its shape is left over from other modes."""
SECOND_DUST = 1e-9
"""Second-order displacements come out of a linear solve and carry more rounding."""


def without_dust(values: Array, level: Array | float, share: float = DUST) -> Array:
    """Values with those zeroed that are rounding errors against `level`: exact zeros fold away in compiled
    equations."""
    return np.where(np.abs(values) < share * np.asarray(level), 0.0, values)


def clean(values: Array, share: float = DUST) -> Array:
    """Values without dust against the largest of them."""
    return without_dust(values, float(np.abs(values).max()) if values.size else 0.0, share)


def scaled_clean(values: Array, scale: Array) -> Array:
    """Second-order values without dust, judged for modes of unit modal mass."""
    return clean(values / scale, SECOND_DUST) * scale


def clean_integrals(model: ElasticModel, parts: Integrals) -> Integrals:
    """Integrals without dust, judged against what a body of this mass and size could have."""
    GG = parts.modal_coupling
    own = np.sqrt(np.abs(np.einsum("kkii->k", GG)))
    size = np.sqrt(np.trace(model.second_moment))
    momentum = without_dust(parts.momentum, (own * np.sqrt(model.mass))[:, None])
    coupling = without_dust(parts.coupling, (own * size)[:, None, None])
    return Integrals(momentum, coupling, without_dust(GG, np.multiply.outer(own, own)[:, :, None, None]))


def effective_mass(model: ElasticModel, momentum: Array, coupling: Array, modal_mass: Array) -> Array:
    """Shares of the rigid mass and inertia (about the origin) that each orthogonal mode moves, (n, 6)."""
    G = coupling
    turning = np.stack([G[:, 2, 1] - G[:, 1, 2], G[:, 0, 2] - G[:, 2, 0], G[:, 1, 0] - G[:, 0, 1]], axis=1)
    J = np.trace(model.second_moment) - np.diag(model.second_moment)
    rigid = np.concatenate([np.full(3, model.mass), np.where(J > 0, J, np.inf)])
    return np.asarray(np.hstack([momentum, turning]) ** 2 / rigid / np.diag(modal_mass)[:, None])


def truncation_of(
    model: ElasticModel, held: Held, squares: Array, shapes: Array, reduction: Reduction
) -> Truncation:
    """What the modes left out would have carried."""
    parts = model.inertia.integrals(shapes)
    shares = effective_mass(model, parts.momentum, parts.coupling, np.eye(shapes.shape[1]))
    found = Truncation(shares, _reachable(model, held), _residuals(model, held, squares, shapes))
    if found.worst_residual is None:
        return found
    node, direction, _ = found.worst_residual
    return replace(found, remedy=reduction.remedy(node, direction.replace("about ", "r")))


def _reachable(model: ElasticModel, held: Held) -> Array:
    """Share of each rigid motion's mass that deformation in the frame can move.

    The distance in the mass norm from a rigid motion r to the motions with B u = 0 is (B r)^T (B M^-1 B^T)^-1
    B r.
    """
    B, M = held.conditions, model.mass_matrix
    regular = sp.csr_array(M + 1e-10 * float(np.mean(M.diagonal())) * sp.eye_array(M.shape[0]))
    scaled = sp.diags_array(1.0 / np.sqrt(row_squares(B))) @ B
    loads = scaled.T.toarray()
    answers = solve_mass(regular, loads)
    if answers is None:
        answers = Elimination(regular, model.freedom_places).factorised(regular).solve(loads)
    compliance = np.asarray(scaled @ answers)
    Br = np.asarray(scaled @ model.rigid)
    blocked = np.einsum("ij,ij->j", Br, np.linalg.solve(compliance, Br))
    whole = np.einsum("ij,ij->j", model.rigid, M @ model.rigid)
    return np.where(whole > 0, np.clip(1.0 - blocked / np.where(whole > 0, whole, 1.0), 0.0, 1.0), 0.0)


def _residuals(model: ElasticModel, held: Held, squares: Array, shapes: Array) -> dict[str, Array]:
    places = {name: place for name, place in model.places.items() if not place.numbered}
    if not places:
        return {}
    rows = sp.vstack([part for place in places.values() for part in (place.translation, place.rotation)])
    answers = held.solve(rows.T.toarray())
    compliance = np.asarray(sp.csr_array(rows).multiply(answers.T).sum(axis=1)).reshape(-1, 6)
    carried = np.asarray((rows @ shapes) ** 2 / squares).sum(axis=1).reshape(-1, 6)
    exact = dict(zip(places, compliance, strict=True))
    kept = dict(zip(places, carried, strict=True))
    table = np.array(list(exact.values()))
    level = np.repeat([table[:, :3].max(), table[:, 3:].max()], 3)
    return {
        name: np.where(
            exact[name] > 1e-9 * level, 1.0 - kept[name] / np.where(exact[name] > 0, exact[name], 1.0), np.nan
        )
        for name in exact
    }

"""Stiffness, mass and load of a body, assembled by scikit-fem and numbered node by node.

Unknown `node * d + direction` everywhere outside this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from bellcrank.elastic.elements import Element, scalar_element
from bellcrank.elastic.lattices import Array, Index
from bellcrank.elastic.material import Analysis, Mass
from bellcrank.elastic.material import lame as lame_of
from bellcrank.fe.material import Material
from bellcrank.fe.stiffness import isotropic_stiffness


@dataclass(frozen=True, eq=False)
class Fields:
    """The function spaces of a body: scalar and vector, and where each unknown of the vector space goes."""

    scalar: Any
    vector: Any
    place: Index
    """Unknown `node * d + direction` of each unknown of scikit-fem."""
    weight: Any
    """The factor of an area element that makes it a volume element: thickness, 2 pi r or 1."""


def fields(mesh: Any, element: Element, analysis: Analysis, thickness: float) -> Fields:
    """The spaces; the quadrature is exact for the squares of the shape functions on straight elements."""
    import skfem

    one = scalar_element(element)
    order = 2 * element.order + 1
    vector = skfem.Basis(mesh, skfem.ElementVector(one), intorder=order)
    scalar = vector.with_element(scalar_element(element))
    d = analysis.dimension
    place = np.empty(vector.N, dtype=np.int64)
    for kind in ("nodal_dofs", "edge_dofs", "facet_dofs", "interior_dofs"):
        nodes, unknowns = getattr(scalar.dofs, kind), getattr(vector.dofs, kind)
        if nodes is None or nodes.size == 0:
            continue
        for k in range(d):
            place[unknowns[k]] = d * nodes[0] + k

    def weight(x: Array) -> Array | float:
        if analysis is Analysis.AXISYMMETRIC:
            return np.asarray(2.0 * np.pi * x[0])
        return thickness if d == 2 else 1.0

    return Fields(scalar, vector, place, weight)


def _renumbered(matrix: Any, place: Index) -> sp.csr_array:
    coo = matrix.tocoo()
    return sp.csr_array((coo.data, (place[coo.row], place[coo.col])), shape=coo.shape)


def stiffness(space: Fields, material: Material, analysis: Analysis) -> sp.csr_array:
    """The integral of lambda tr(e) tr(e') + 2 mu e : e'; an axisymmetric body has the hoop strain u_r / r too."""
    lame, shear = lame_of(material, analysis), material.shear
    if analysis is not Analysis.AXISYMMETRIC:
        scalar, ones = space.scalar, np.ones(space.scalar.nelems)
        return isotropic_stiffness(scalar, lame * ones, shear * ones, space.weight(np.empty(0)))
    from skfem import BilinearForm
    from skfem.helpers import ddot, sym_grad

    @BilinearForm  # type: ignore[untyped-decorator]
    def form(u: Any, v: Any, w: Any) -> Any:
        e, f = sym_grad(u), sym_grad(v)
        trace, trace_v = np.einsum("ii...", e), np.einsum("ii...", f)
        hoop, hoop_v = u[0] / w.x[0], v[0] / w.x[0]
        trace, trace_v, product = trace + hoop, trace_v + hoop_v, ddot(e, f) + hoop * hoop_v
        return space.weight(w.x) * (lame * trace * trace_v + 2.0 * shear * product)

    return _renumbered(form.assemble(space.vector), space.place)


def mass(space: Fields, density: float, kind: Mass) -> sp.csr_array:
    """Consistent mass matrix, or its diagonal scaled element by element."""
    from skfem import BilinearForm

    d = space.vector.mesh.dim()
    if kind is Mass.LUMPED:
        return sp.csr_array(sp.diags_array(np.repeat(_lumped(space, density), d)))

    @BilinearForm  # type: ignore[untyped-decorator]
    def form(u: Any, v: Any, w: Any) -> Any:
        return density * space.weight(w.x) * u * v

    scalar = form.assemble(space.scalar)
    return sp.csr_array(sp.kron(scalar, sp.eye_array(d), format="csr"))


def _lumped(space: Fields, density: float) -> Array:
    basis = space.scalar
    volume = basis.dx * space.weight(np.asarray(basis.global_coordinates())) * density
    squares = np.array(
        [(np.asarray(basis.basis[i][0]) ** 2 * volume).sum(axis=-1) for i in range(basis.Nbfun)]
    )
    share = squares / squares.sum(axis=0) * volume.sum(axis=-1)
    return np.asarray(np.bincount(basis.element_dofs.ravel(), share.ravel(), basis.N), dtype=float)


def volume_weights(space: Fields) -> Array:
    """The integral of each shape function [m^3 or m^2 times thickness]."""
    from skfem import LinearForm

    @LinearForm  # type: ignore[untyped-decorator]
    def form(v: Any, w: Any) -> Any:
        return space.weight(w.x) * v

    return np.asarray(form.assemble(space.scalar))

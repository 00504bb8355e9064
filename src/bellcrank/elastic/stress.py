"""Stress fields: computed at the quadrature points, recovered at the nodes by projection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bellcrank.elastic.body import ElasticBody
from bellcrank.elastic.lattices import Array
from bellcrank.elastic.material import Analysis
from bellcrank.elastic.material import lame as lame_of


@dataclass(frozen=True, eq=False)
class Stress:
    """Stress at the nodes [Pa].

    tensor: shape (nodes, 3, 3); plane bodies have the stress across the plane too, axisymmetric ones the axes radius,
    axis, hoop.
    """

    tensor: Array

    @property
    def mean(self) -> Array:
        """A third of the trace [Pa]; negative under pressure."""
        return np.asarray(np.trace(self.tensor, axis1=1, axis2=2) / 3.0)

    @property
    def von_mises(self) -> Array:
        """Equivalent stress [Pa]."""
        deviator = self.tensor - self.mean[:, None, None] * np.eye(3)
        return np.asarray(np.sqrt(1.5 * (deviator**2).sum(axis=(1, 2))))


def stress(body: ElasticBody, u: Array) -> Stress:
    """Least-squares fit of nodal stresses to those at the quadrature points. u: shape (nodes, d) [m]."""
    basis = body.fields.scalar
    lame, shear, analysis = lame_of(body.material, body.analysis), body.material.shear, body.analysis
    x = np.asarray(basis.global_coordinates())
    d = body.dimension
    gradient = np.zeros((3, 3, *x.shape[1:]))
    radial = np.zeros(x.shape[1:])
    for i in range(basis.Nbfun):
        nodes = basis.element_dofs[i]
        shape = basis.basis[i][0]
        for a in range(d):
            gradient[a, :d] += u[nodes, a][:, None] * shape.grad
        radial += u[nodes, 0][:, None] * np.asarray(shape)
    if body.axisymmetric:
        gradient[2, 2] = radial / x[0]
    strain = 0.5 * (gradient + np.swapaxes(gradient, 0, 1))
    sigma = 2.0 * shear * strain
    for k in range(3):
        sigma[k, k] += lame * (strain[0, 0] + strain[1, 1] + strain[2, 2])
    if analysis is Analysis.PLANE_STRESS:
        sigma[2, 2] = 0.0
    return Stress(_at_nodes(body, sigma))


def _at_nodes(body: ElasticBody, sigma: Array) -> Array:
    basis = body.fields.scalar
    weight = basis.dx * body.fields.weight(np.asarray(basis.global_coordinates()))
    right = np.zeros((basis.N, 9))
    for i in range(basis.Nbfun):
        share = (sigma.reshape(9, *sigma.shape[2:]) * np.asarray(basis.basis[i][0]) * weight).sum(axis=-1)
        for k in range(9):
            right[:, k] += np.bincount(basis.element_dofs[i], weights=share[k], minlength=basis.N)
    return np.asarray(body.projector.solve(right)).reshape(-1, 3, 3)

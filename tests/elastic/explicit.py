"""A slow second route to impact on a plane: central differences, lumped mass, one node at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank import elastic

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Impact:
    time: Array
    normal: Array
    radial: Array
    velocity: Array


def explicit_impact(
    body: elastic.ElasticBody, duration: float, friction: float, safety: float = 0.8
) -> Impact:
    """A body above the plane y = 0; each node that would pass it is put back on it, and slides or sticks by Coulomb."""
    from scipy.sparse.linalg import eigsh

    k = body.stiffness_matrix
    m = body.mass_matrix.diagonal()
    root = 1.0 / np.sqrt(m)
    scaled = k.multiply(root[:, None]).multiply(root[None, :]).tocsr()
    top = float(eigsh(scaled, k=1, which="LA", return_eigenvectors=False)[0])
    dt = safety * 2.0 / np.sqrt(top)
    steps = int(np.ceil(duration / dt))
    u, v = np.zeros(len(m)), body.start_velocity.copy()
    held = body.held
    surface = body.surface.nodes
    y0 = body.nodes[surface, 1]
    mx, my = m[2 * surface], m[2 * surface + 1]
    can_slide = ~np.isin(2 * surface, held)
    normal, radial, velocity = np.zeros(steps), np.zeros(steps), np.zeros(steps)
    for i in range(steps):
        v -= dt * (k @ u) / m
        v[held] = 0.0
        vx, vy = v[2 * surface], v[2 * surface + 1]
        depth = -(y0 + u[2 * surface + 1] + dt * vy)
        push = np.where(depth > 0.0, my * depth / dt, 0.0)
        drag = np.where(can_slide, np.clip(-mx * vx, -friction * push, friction * push), 0.0)
        v[2 * surface + 1] += push / my
        v[2 * surface] += drag / mx
        u += dt * v
        normal[i], radial[i] = push.sum() / dt, drag.sum() / dt
        velocity[i] = (m[1::2] @ v[1::2]) / m[1::2].sum()
    return Impact(dt * np.arange(1, steps + 1), normal, radial, velocity)

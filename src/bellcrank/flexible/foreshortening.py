"""The second-order displacement of a beam: its axis keeps its length, so bending draws it together.

    Gamma_kl(x) = - int_ref^x (v_k' v_l' + w_k' w_l') dx,  along the axis,

with the element's own slopes, integrated exactly. Source: Kane, Ryan, Banerjee, J. Guidance 10 (1987) 139.

The axis so drawn together is curved along x, too: with u'' = -(v' v'' + w' w'') the strain energy of an inextensible
beam has the further term 1/2 int EI u''^2, of the same order as the inertia of the second-order displacement
(Crespo da Silva, Glynn, J. Struct. Mech. 6 (1978) 437). It is exact for bending in one plane, and of round sections
without twist. Left out: the second-order displacement of a section's points against the axis, and what twisting
draws together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bellcrank.flexible.beam_elements import GAUSS, gauss, interpolate
from bellcrank.flexible.model import Array, Place, SecondOrder
from bellcrank.flexible.sections import section_at
from bellcrank.flexible.stations import Stations

if TYPE_CHECKING:
    from bellcrank.flexible.beams import BeamMesh
    from bellcrank.flexible.held import Held

INNER = 3
"""Gauss points for the square of a quadratic slope."""


class Foreshortening:
    """Foreshortening of a beam's axis."""

    def __init__(self, mesh: BeamMesh, places: Mapping[str, Place]) -> None:
        self.mesh = mesh
        self.places = places

    def second_order(self, basis: Array, held: Held) -> SecondOrder:
        """Of the columns of `basis` (N, n); zero at the frame's reference, or in the mean."""
        whole = np.array([self._drawn(basis, index, 1.0) for index in range(len(self.mesh.elements))])
        before = np.concatenate([np.zeros_like(whole[:1]), np.cumsum(whole, axis=0)])

        def at(index: int, xi: float) -> Array:
            part = whole[index] if xi == 1.0 else self._drawn(basis, index, xi)
            return np.asarray(-(before[index] + part))

        stations = np.array([at(index, xi) for index, xi in self.mesh.station_places])
        named = {name: at(*self._where(place.position[0])) for name, place in self.places.items()}
        reference = named[held.reference] if held.reference is not None else None
        return axial(self.mesh.stations, stations, named, reference, self._curving(basis, held))

    def _curving(self, basis: Array, held: Held) -> Array:
        """H of the strain energy 1/2 sum (1/2 eta^T H eta)^2 of the curvature along x."""
        mesh, E = self.mesh, self.mesh.material.young
        points, weights = gauss(GAUSS)
        slopes, bends, shares = [], [], []
        for index, e in enumerate(mesh.elements):
            local, where = mesh.columns(index)
            for x, w in zip(points, weights, strict=True):
                at = interpolate(e, float(x))
                section = section_at(mesh.profile, e.start - mesh.origin + float(x) * e.h)
                slopes.append(at.slope[1:][:, local] @ basis[where])
                bends.append(at.curvature[[2, 1]][:, local] @ basis[where] * np.array([[1.0], [-1.0]]))
                shares.append(np.sqrt(E * w * e.h * np.array([section.bending_z, section.bending_y])))
        K = held.model.stiffness_matrix
        stiff = np.einsum("ij,ij->j", basis, K @ basis)
        return curving(np.array(slopes), np.array(bends), np.array(shares), stiff)

    def _where(self, x: float) -> tuple[int, float]:
        nodes = self.mesh.nodes
        index = int(np.clip(np.searchsorted(nodes, x, side="right") - 1, 0, len(nodes) - 2))
        return index, float((x - nodes[index]) / (nodes[index + 1] - nodes[index]))

    def _drawn(self, basis: Array, index: int, up_to: float) -> Array:
        """int (v_k' v_l' + w_k' w_l') dx from the element's start to xi = up_to."""
        e = self.mesh.elements[index]
        local, where = self.mesh.columns(index)
        points, weights = gauss(INNER)
        slopes = (
            np.array([interpolate(e, up_to * float(x)).slope[1:][:, local] for x in points]) @ basis[where]
        )
        return np.asarray(np.einsum("q,qik,qil->kl", weights * up_to * e.h, slopes, slopes))


KEPT = 1e-2
"""Second-order curvature that is kept, against the largest, at the amplitudes of equal modal forces: its energy is
then right to the square of this share. Only the lowest modes bend far enough to have any."""


def curving(slopes: Array, bends: Array, shares: Array, stiff: Array) -> Array:
    """H (s, n, n): v' v'' + w' w'' along the axis as few independent quadratic forms, largest first.

    slopes, bends: v', w' and v'', w'' at places, (q, 2, n). shares: sqrt(EI dx), (q, 2). stiff: Of each mode, (n,).
    """
    n = len(stiff)
    size = 1.0 / np.where(stiff > 0, stiff, np.inf)
    fields = np.einsum("qi,qik,qil->qkl", shares, slopes * size, bends * size)
    fields = fields + fields.swapaxes(1, 2)
    _, values, forms = np.linalg.svd(fields.reshape(-1, n * n), full_matrices=False)
    keep = values > KEPT * values.max(initial=0.0)
    H = (values[keep, None] * forms[keep]).reshape(-1, n, n)
    # Entries that matter less than what is dropped would only cost operations.
    H = np.where(np.abs(H) > KEPT**2 * np.abs(H).max(initial=0.0), H, 0.0)
    back = np.where(size > 0, 1.0 / np.where(size > 0, size, 1.0), 0.0)
    return np.asarray(0.5 * (H + H.swapaxes(1, 2)) * np.outer(back, back))


def axial(
    stations: Stations, values: Array, named: Mapping[str, Array], reference: Array | None, bent: Array
) -> SecondOrder:
    """Second-order displacement along x: values at the stations (q, n, n) and at places, less that at the
    reference; bent: the strain energy it brings, see :func:`curving`."""
    n = values.shape[1]
    if reference is None:
        reference = np.tensordot(stations.mass, values, axes=1) / stations.total
    relative = values - reference
    momentum = np.zeros((n, n, 3))
    momentum[:, :, 0] = np.tensordot(stations.mass, relative, axes=1)
    coupling = np.zeros((n, n, 3, 3))
    weighted = stations.mass[:, None] * stations.places
    coupling[:, :, 0, :] = np.einsum("qj,qkl->klj", weighted, relative)
    places = {}
    for name, value in named.items():
        full = np.zeros((3, n, n))
        full[0] = value - reference
        places[name] = full
    return SecondOrder(momentum, coupling, places, bent)

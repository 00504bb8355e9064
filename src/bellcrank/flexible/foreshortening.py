"""The second-order displacement of a beam: its axis keeps its length, so bending draws it together.

    Gamma_kl(x) = - int_ref^x (v_k' v_l' + w_k' w_l') dx,  along the axis,

with the element's own slopes, integrated exactly. Source: Kane, Ryan, Banerjee, J. Guidance 10 (1987) 139.
Left out: the second-order displacement of a section's points against the axis, and what twisting draws
together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bellcrank.flexible.beam_elements import gauss, interpolate
from bellcrank.flexible.model import Array, Place, SecondOrder
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
        return axial(self.mesh.stations, stations, named, reference)

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


def axial(
    stations: Stations, values: Array, named: Mapping[str, Array], reference: Array | None
) -> SecondOrder:
    """Second-order displacement along x: values at the stations (q, n, n) and at places, less that at the
    reference."""
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
    return SecondOrder(momentum, coupling, places)

"""Straight beams along the member's x axis: planar or spatial, Euler-Bernoulli or Timoshenko."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from bellcrank.base.keys import (
    NUMBER,
    TRUTH,
    TRUTH_OR_NULL,
    Keys,
    any_of,
    by_name,
    list_of,
    may,
    must,
    ref,
    words,
)
from bellcrank.errors import ModelError, unknown_name
from bellcrank.fe.material import Material
from bellcrank.flexible.beam_elements import GAUSS, Element, element, element_stiffness, gauss, interpolate
from bellcrank.flexible.beam_fields import beam_fields
from bellcrank.flexible.foreshortening import Foreshortening
from bellcrank.flexible.model import Array, ElasticModel, Integrals, Place, Sparse, distributed_rows
from bellcrank.flexible.recipe import CHECK_UNITS, MASS, ModelRecipe
from bellcrank.flexible.sections import Profile, section_at
from bellcrank.flexible.stations import LEVI_CIVITA, Stations
from bellcrank.flexible.units import UNITS
from bellcrank.flexible.units import check_units as check_member_units


class Theory(StrEnum):
    """What a cross-section may do: stay normal to the axis, or shear."""

    EULER_BERNOULLI = "euler-bernoulli"
    TIMOSHENKO = "timoshenko"


class MassModel(StrEnum):
    """Mass spread as the interpolation says, or put into the nodes."""

    CONSISTENT = "consistent"
    LUMPED = "lumped"

    @classmethod
    def of(cls, given: MassModel | str) -> MassModel:
        """The choice, from its name too."""
        return _choice(cls, given, "mass")


PLANAR = (0, 1, 5)

Choice = TypeVar("Choice", bound=StrEnum)


def _choice(kind: type[Choice], given: str, what: str) -> Choice:
    try:
        return kind(given)
    except ValueError:
        raise unknown_name(what, str(given), [item.value for item in kind]) from None


MAX_ELEMENTS = 500
"""Of a beam in a model file; finding its modes takes some seconds then, growing with the square. Beams of more are
written by their numbers."""
BEAM = Keys(
    "A straight beam along the body's x axis.",
    must("length", NUMBER, "[m]."),
    must("section", ref("section"), "Cross-section."),
    must("material", ref("material"), "Material."),
    may(
        "elements",
        any_of(NUMBER, list_of(NUMBER)),
        "How many elements, or where the nodes are as growing shares 0..1 of the length; 10 by default.",
        whole=(1, MAX_ELEMENTS),
    ),
    may("theory", words(*(theory.value for theory in Theory))),
    MASS,
    may("planar", TRUTH, "Only stretching and bending in the x-y plane."),
    may("rotary_inertia", TRUTH_OR_NULL, "Whether bending turns the mass of the sections."),
    may("start", NUMBER, "x of the beam's start [m]; 0 by default."),
    may("points", by_name(NUMBER), "Further named nodes by their distance from the start [m]."),
    CHECK_UNITS,
)


def beam(
    name: str,
    length: float,
    section: Profile,
    material: Material,
    elements: int | ArrayLike = 10,
    *,
    theory: Theory | str = Theory.EULER_BERNOULLI,
    mass: MassModel | str = MassModel.CONSISTENT,
    planar: bool = False,
    rotary_inertia: bool | None = None,
    start: float = 0.0,
    points: Mapping[str, float] | None = None,
    check_units: bool = True,
) -> ElasticModel:
    """A straight beam along x from (start, 0, 0) to (start + length, 0, 0) [m], not yet reduced.

    section: A Section, or a function of the distance from the beam's start [m] for a taper. elements: How
    many, or where the nodes are as growing shares 0..1 of the length. planar: Only stretching and bending in
    the x-y plane. rotary_inertia: Whether bending turns the mass of the sections; by default yes for Timoshenko
    and no for Euler-Bernoulli. Twisting always does. points: Further named places, by their distance
    from the beam's start [m]; "start", "end" and "node 1", ... exist anyway.
    """
    given = {
        "length": length,
        "section": section,
        "material": material,
        "elements": elements,
        "theory": theory,
        "mass": mass,
        "planar": planar,
        "rotary_inertia": rotary_inertia,
        "start": start,
        "points": dict(points or {}),
        "check_units": check_units,
    }
    length = float(length)
    if not (math.isfinite(length) and length > 0):
        raise ModelError(f"length of beam {name!r} must be positive, not {length!r}")
    shares = _shares(name, elements)
    timoshenko = _choice(Theory, theory, "theory") is Theory.TIMOSHENKO
    mesh = BeamMesh(
        nodes=start + length * shares,
        origin=start,
        profile=section,
        material=material,
        timoshenko=timoshenko,
        planar=planar,
        rotary=timoshenko if rotary_inertia is None else rotary_inertia,
        lumped=MassModel.of(mass) is MassModel.LUMPED,
    )
    material.undamped_in(repr(name))
    if check_units:
        check_beam(name, length, section_at(section, length / 2).area, material)
    places = _places(name, mesh, points or {}, start, length)
    inertia = BeamInertia(mesh)
    stations = mesh.stations
    return ElasticModel(
        name=name,
        mass=stations.total,
        first_moment=stations.first_moment(),
        second_moment=stations.second_moment(),
        mass_matrix=inertia.matrix(),
        stiffness_matrix=mesh.stiffness(),
        rigid=_rigid(mesh),
        freedom_places=np.repeat(
            np.column_stack([mesh.nodes, np.zeros((len(mesh.nodes), 2))]), len(mesh.kept), axis=0
        ),
        places=places,
        inertia=inertia,
        stiffening=Foreshortening(mesh, places),
        fields=beam_fields(mesh),
        twist_share=inertia.twist_share,
        recipe=ModelRecipe("beam", given),
    )


@dataclass(frozen=True, eq=False)
class BeamMesh:
    """Nodes along x [m] and what is between them."""

    nodes: Array
    origin: float
    profile: Profile
    material: Material
    timoshenko: bool
    planar: bool
    rotary: bool
    lumped: bool

    @cached_property
    def elements(self) -> list[Element]:
        """From node to node."""
        pairs = zip(self.nodes[:-1], self.nodes[1:], strict=True)
        return [
            element(
                a, b - a, section_at(self.profile, (a + b) / 2 - self.origin), self.material, self.timoshenko
            )
            for a, b in pairs
        ]

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """Freedoms of each node, out of six."""
        return PLANAR if self.planar else tuple(range(6))

    @property
    def freedoms(self) -> int:
        """N."""
        return len(self.kept) * len(self.nodes)

    def columns(self, index: int) -> tuple[list[int], list[int]]:
        """Freedoms of an element: numbers among its twelve, and numbers in the model."""
        k = len(self.kept)
        local = [6 * end + f for end in (0, 1) for f in self.kept]
        return local, list(range(k * index, k * (index + 2)))

    def operator(self, entries: list[tuple[int, Array]]) -> Sparse:
        """Rows (r, 12) on elements, stacked into a sparse matrix over all freedoms."""
        rows, cols, data = [], [], []
        at = 0
        for index, block in entries:
            local, where = self.columns(index)
            part = block[:, local]
            r, c = np.nonzero(part)
            rows.append(r + at)
            cols.append(np.asarray(where)[c])
            data.append(part[r, c])
            at += block.shape[0]
        triple = (np.concatenate(data), (np.concatenate(rows), np.concatenate(cols)))
        return sp.csr_array(sp.coo_array(triple, shape=(at, self.freedoms)))

    def stiffness(self) -> Sparse:
        """(N, N)."""
        K: Any = sp.lil_array((self.freedoms, self.freedoms))
        points, _ = gauss(GAUSS)
        for index, e in enumerate(self.elements):
            sections = [section_at(self.profile, e.start - self.origin + xi * e.h) for xi in points]
            local, where = self.columns(index)
            block = element_stiffness(e, sections, self.material)
            K[np.ix_(where, where)] += block[np.ix_(local, local)]
        return sp.csr_array(K)

    @cached_property
    def station_places(self) -> list[tuple[int, float]]:
        """Element and place in it of each station: Gauss points, or both ends of each element when lumped."""
        where = (0.0, 1.0) if self.lumped else tuple(float(x) for x in gauss(GAUSS)[0])
        return [(index, xi) for index in range(len(self.elements)) for xi in where]

    @cached_property
    def stations(self) -> Stations:
        """Where the mass is."""
        points, weights = gauss(GAUSS)
        masses, spreads, places = [], [], []
        for e in self.elements:
            sections = [section_at(self.profile, e.start - self.origin + xi * e.h) for xi in points]
            m = self.material.density * e.h * weights * np.array([s.area for s in sections])
            J = np.array([self._spread(s.bending_z, s.bending_y, s.product) for s in sections])
            J *= (self.material.density * e.h * weights)[:, None, None]
            shape = np.stack([1 - points, points]) if self.lumped else np.eye(GAUSS)
            masses.append(shape @ m)
            spreads.append(np.tensordot(shape, J, axes=1))
            x = e.start + e.h * (np.array([0.0, 1.0]) if self.lumped else points)
            places.append(np.column_stack([x, np.full_like(x, e.offset[0]), np.full_like(x, e.offset[1])]))
        return Stations(np.concatenate(masses), np.concatenate(places), np.concatenate(spreads))

    @staticmethod
    def _spread(yy: float, zz: float, yz: float) -> Array:
        return np.array([[0.0, 0.0, 0.0], [0.0, yy, yz], [0.0, yz, zz]])


class BeamInertia:
    """Shape integrals by the stations of a beam; exact for the interpolation, nodewise for lumped mass."""

    def __init__(self, mesh: BeamMesh) -> None:
        self.mesh = mesh
        at = [(index, interpolate(mesh.elements[index], xi)) for index, xi in mesh.station_places]
        self.displacement = mesh.operator([(index, i.displacement) for index, i in at])
        turns = np.diag([1.0, 1.0, 1.0] if mesh.rotary else [1.0, 0.0, 0.0])
        self.rotation = mesh.operator([(index, turns @ i.rotation) for index, i in at])

    def integrals(self, basis: Array) -> Integrals:
        """Of the columns of `basis` (N, n)."""
        d = distributed_rows(self.displacement, basis, 3)
        r = distributed_rows(self.rotation, basis, 3)
        s = self.mesh.stations
        return Integrals(s.momentum(d), s.coupling(d, r), s.modal_coupling(d, r))

    def matrix(self) -> Sparse:
        """The mass matrix."""
        s = self.mesh.stations
        D = self.displacement
        M = D.T @ sp.diags_array(np.repeat(s.mass, 3)) @ D
        # |theta x r|^2 summed over the section: theta^T (tr(J) 1 - J) theta.
        inertia = np.einsum("iab,qbc,idc->qad", LEVI_CIVITA, s.spread, LEVI_CIVITA)
        M = M + self.rotation.T @ sp.block_diag(list(inertia), format="csr") @ self.rotation
        return sp.csr_array(M)

    def twist_share(self, shape: Array) -> float:
        """Share of a shape's kinetic energy that is twist about x."""
        r = np.asarray(self.rotation @ shape).reshape(-1, 3)[:, 0]
        polar = self.mesh.stations.spread[:, 1, 1] + self.mesh.stations.spread[:, 2, 2]
        d = np.asarray(self.displacement @ shape).reshape(-1, 3)
        twist, whole = float(polar @ r**2), float(self.mesh.stations.mass @ (d**2).sum(axis=1))
        return twist / max(twist + whole, 1e-300)


def check_beam(name: str, length: float, area: float, material: Material) -> None:
    """Refuse a beam whose numbers cannot be in metres, kilograms and pascals."""
    check_member_units(name, length, material)
    slenderness = length / math.sqrt(area)
    if not 0.3 < slenderness < 1e5:
        raise ModelError(
            f"beam {name!r} is {length:g} m long with a section of {area:g} m^2, {slenderness:.2g} times its size: "
            f"check the units (metres and square metres){UNITS}"
        )


def _shares(name: str, elements: int | ArrayLike) -> Array:
    if isinstance(elements, int):
        if elements < 1:
            raise ModelError(f"beam {name!r} needs at least one element, not {elements}")
        return np.linspace(0.0, 1.0, elements + 1)
    shares = np.asarray(elements, dtype=float)
    if (
        shares.ndim != 1
        or len(shares) < 2
        or shares[0] != 0
        or shares[-1] != 1
        or (np.diff(shares) <= 0).any()
    ):
        raise ModelError(f"the nodes of beam {name!r} must be growing shares of its length from 0 to 1")
    return shares


def _places(
    name: str, mesh: BeamMesh, points: Mapping[str, float], start: float, length: float
) -> dict[str, Place]:
    count = len(mesh.elements)
    wanted = {"start": 0.0, **{f"node {i}": mesh.nodes[i] - start for i in range(1, count)}, "end": length}
    for label, x in points.items():
        if label in wanted:
            raise ModelError(f"beam {name!r} has a node named {label!r} already; give the point another name")
        if not 0.0 <= x <= length:
            raise ModelError(
                f"point {label!r} of beam {name!r} is at {x:g} m, outside its length of {length:g} m"
            )
        wanted[label] = float(x)
    return {label: _place(mesh, label, start + x) for label, x in wanted.items()}


def _place(mesh: BeamMesh, label: str, x: float) -> Place:
    index = int(np.clip(np.searchsorted(mesh.nodes, x, side="right") - 1, 0, len(mesh.elements) - 1))
    e = mesh.elements[index]
    at = interpolate(e, (x - e.start) / e.h)
    y, z = e.offset
    # Back from the centroid to the node line: d - theta x (0, y, z).
    back = np.array([[0.0, z, -y], [-z, 0.0, 0.0], [y, 0.0, 0.0]])
    translation = mesh.operator([(index, at.displacement - back @ at.rotation)])
    return Place(label, np.array([x, 0.0, 0.0]), translation, mesh.operator([(index, at.rotation)]))


def _rigid(mesh: BeamMesh) -> Array:
    R = np.zeros((len(mesh.nodes), 6, 6))
    R[:, :3, :3] = np.eye(3)
    R[:, 3:, 3:] = np.eye(3)
    # omega x (x, 0, 0) = (0, wz x, -wy x).
    R[:, 1, 5] = mesh.nodes
    R[:, 2, 4] = -mesh.nodes
    kept = R[:, mesh.kept, :].reshape(-1, 6)
    if mesh.planar:
        kept[:, [2, 3, 4]] = 0.0
    return kept

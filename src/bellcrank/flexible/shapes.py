"""Members from assumed shape functions on a straight beam: sines, polynomials, or any functions with their
derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp
from numpy.polynomial import Polynomial

from bellcrank.errors import ModelError
from bellcrank.fe.material import Material
from bellcrank.flexible.beam_elements import gauss
from bellcrank.flexible.beams import check_beam
from bellcrank.flexible.damping import Damping
from bellcrank.flexible.foreshortening import axial, curving
from bellcrank.flexible.held import ritz
from bellcrank.flexible.member import Member
from bellcrank.flexible.model import Array, ElasticModel, FieldMatrix, Integrals, Place, SecondOrder
from bellcrank.flexible.recovery import SPATIAL
from bellcrank.flexible.reduce import effective_mass, member_of
from bellcrank.flexible.sections import Profile, section_at
from bellcrank.flexible.stations import Stations
from bellcrank.flexible.truncation import Truncation

Function = Callable[[float], float]
AXES = ("x", "y", "z", "turn")


@dataclass(frozen=True)
class Shape:
    """Displacement of the axis along x (stretch), y or z (bending), or rotation about x ("turn"), as a
    function of x [m].

    value, slope, curvature: The function and its first two derivatives by x; the last serves bending only.
    """

    axis: str
    value: Function
    slope: Function
    curvature: Function = lambda x: 0.0

    def __post_init__(self) -> None:
        if self.axis not in AXES:
            raise ModelError(f"the axis of a shape is one of {', '.join(AXES)}, not {self.axis!r}")


def sine(axis: str, half_waves: float, length: float) -> Shape:
    """sin(half_waves pi x / length)."""
    k = half_waves * math.pi / length
    return Shape(
        axis, lambda x: math.sin(k * x), lambda x: k * math.cos(k * x), lambda x: -k * k * math.sin(k * x)
    )


def polynomial(axis: str, coefficients: Sequence[float], length: float) -> Shape:
    """sum_i coefficients[i] (x / length)^i."""
    p = Polynomial(np.asarray(coefficients, dtype=float))

    def derivative(order: int, x: float) -> float:
        q = p.deriv(order) if order else p
        return float(q(x / length)) / length**order

    return Shape(axis, partial(derivative, 0), partial(derivative, 1), partial(derivative, 2))


def assumed_shapes(
    name: str,
    length: float,
    section: Profile,
    material: Material,
    shapes: Sequence[Shape],
    *,
    points: Mapping[str, float] | None = None,
    reference: float | None = 0.0,
    rotary_inertia: bool = False,
    damping: Damping | None = None,
    stiffening: bool = True,
    panels: int = 16,
    check_units: bool = True,
) -> Member:
    """A straight beam along x from the origin whose modal coordinates multiply the given shapes, unscaled.

    Euler-Bernoulli, integrals by eight-point Gauss quadrature on `panels` equal parts of the length. points:
    Named places by their x [m]; "start" and "end" exist anyway. reference: The x without second-order
    displacement, which must stay where it is in all shapes; None puts the mean of it to zero.
    """
    material.undamped_in(repr(name))
    if check_units:
        check_beam(name, length, section_at(section, length / 2).area, material)
    axis = _Axis(length, section, material, tuple(shapes), rotary_inertia, panels)
    wanted = {"start": 0.0, "end": length, **(points or {})}
    places = {label: axis.place(label, x) for label, x in wanted.items()}
    n = len(shapes)
    s = axis.stations
    integrals = axis.integrals(np.eye(n))
    mass_matrix = np.trace(integrals.modal_coupling, axis1=2, axis2=3)
    K = axis.stiffness()
    model = ElasticModel(
        name=name,
        mass=s.total,
        first_moment=s.first_moment(),
        second_moment=s.second_moment(),
        mass_matrix=sp.csr_array(mass_matrix),
        stiffness_matrix=sp.csr_array(K),
        rigid=np.zeros((n, 6)),
        freedom_places=np.zeros((n, 3)),
        places=places,
        inertia=axis,
        fields=axis.fields(),
    )
    _check_independent(name, mass_matrix)
    second = SecondOrder.none(n)
    if stiffening:
        named = {label: axis.drawn(x) for label, x in wanted.items()}
        second = axial(
            s,
            axis.drawn_at_stations(),
            named,
            None if reference is None else axis.drawn(reference),
            axis.curving(np.diag(K)),
        )
    natural = ritz(K, mass_matrix)[1]
    parts = axis.integrals(natural)
    truncation = Truncation(effective_mass(model, parts.momentum, parts.coupling, np.eye(natural.shape[1])))
    return member_of(model, np.eye(n), K, second, damping, truncation)


class _Axis:
    """Shapes sampled where the mass is."""

    def __init__(
        self,
        length: float,
        section: Profile,
        material: Material,
        shapes: tuple[Shape, ...],
        rotary: bool,
        panels: int,
    ) -> None:
        points, weights = gauss(8)
        self.length, self.material, self.shapes = length, material, shapes
        self.h = length / panels
        self.x = (self.h * (np.arange(panels)[:, None] + points)).ravel()
        self.w = np.tile(self.h * weights, panels)
        self.section = section
        self.sections = [section_at(section, float(x)) for x in self.x]
        if any(s.offset != (0.0, 0.0) for s in self.sections):
            raise ModelError("assumed shapes are of the line of centroids: sections must not be offset")
        dm = material.density * self.w
        spread = np.zeros((len(self.x), 3, 3))
        spread[:, 1, 1] = dm * np.array([s.bending_z for s in self.sections])
        spread[:, 2, 2] = dm * np.array([s.bending_y for s in self.sections])
        spread[:, 1, 2] = spread[:, 2, 1] = dm * np.array([s.product for s in self.sections])
        line = np.column_stack([self.x, np.zeros((len(self.x), 2))])
        self.stations = Stations(dm * np.array([s.area for s in self.sections]), line, spread)
        self.displacements = np.array([self.translation(x) for x in self.x])
        turns = np.array([1.0, 1.0, 1.0] if rotary else [1.0, 0.0, 0.0])
        self.rotations = turns[:, None] * np.array([self.rotation(x) for x in self.x])

    def translation(self, x: float) -> Array:
        """Displacement of the axis, (3, n)."""
        rows = np.zeros((3, len(self.shapes)))
        for k, shape in enumerate(self.shapes):
            if shape.axis != "turn":
                rows["xyz".index(shape.axis), k] = shape.value(x)
        return rows

    def rotation(self, x: float) -> Array:
        """Of the section, (3, n)."""
        rows = np.zeros((3, len(self.shapes)))
        for k, shape in enumerate(self.shapes):
            if shape.axis == "turn":
                rows[0, k] = shape.value(x)
            elif shape.axis == "y":
                rows[2, k] = shape.slope(x)
            elif shape.axis == "z":
                rows[1, k] = -shape.slope(x)
        return rows

    def strain(self, x: float) -> Array:
        """Stretch, twist, bending about y and about z, (4, n)."""
        rows = np.zeros((4, len(self.shapes)))
        for k, shape in enumerate(self.shapes):
            if shape.axis == "x":
                rows[0, k] = shape.slope(x)
            elif shape.axis == "turn":
                rows[1, k] = shape.slope(x)
            elif shape.axis == "z":
                rows[2, k] = -shape.curvature(x)
            else:
                rows[3, k] = shape.curvature(x)
        return rows

    def place(self, name: str, x: float) -> Place:
        """A named point of the axis."""
        if not 0.0 <= x <= self.length * (1 + 1e-12):
            raise ModelError(f"point {name!r} is at {x:g} m, outside the length of {self.length:g} m")
        return Place(
            name, np.array([x, 0.0, 0.0]), sp.csr_array(self.translation(x)), sp.csr_array(self.rotation(x))
        )

    def integrals(self, basis: Array) -> Integrals:
        """Of the shapes combined by `basis`."""
        d, r, s = self.displacements @ basis, self.rotations @ basis, self.stations
        return Integrals(s.momentum(d), s.coupling(d, r), s.modal_coupling(d, r))

    def stiffness(self) -> Array:
        """int of the strain energy, (n, n)."""
        K = np.zeros((len(self.shapes), len(self.shapes)))
        E, G = self.material.young, self.material.shear
        for x, w, s in zip(self.x, self.w, self.sections, strict=True):
            rigidity = np.diag([E * s.area, G * s.torsion_constant, E * s.bending_y, E * s.bending_z])
            rigidity[2, 3] = rigidity[3, 2] = -E * s.product
            strain = self.strain(float(x))
            K += w * strain.T @ rigidity @ strain
        return K

    def curving(self, stiff: Array) -> Array:
        """The strain energy of the curvature along x, see :func:`bellcrank.flexible.foreshortening.curving`."""
        turn = np.array([[1.0], [-1.0]])
        slopes = np.array([self.rotation(float(x))[[2, 1]] * turn for x in self.x])
        bends = np.array([self.strain(float(x))[[3, 2]] * turn for x in self.x])
        rigidity = np.array([(s.bending_z, s.bending_y) for s in self.sections]) * self.material.young
        return curving(slopes, bends, np.sqrt(rigidity * self.w[:, None]), stiff)

    def drawn(self, x: float) -> Array:
        """Gamma_kl at x, counted from the start."""
        panel = min(int(x / self.h), len(self.x) // 8 - 1)
        return np.asarray(-(self._panels()[panel] + self._piece(panel * self.h, x)))

    def drawn_at_stations(self) -> Array:
        """Gamma_kl at the stations, (q, n, n)."""
        before = self._panels()
        return -np.array(
            [before[i // 8] + self._piece((i // 8) * self.h, float(x)) for i, x in enumerate(self.x)]
        )

    def _panels(self) -> Array:
        count = len(self.x) // 8
        whole = np.array([self._piece(i * self.h, (i + 1) * self.h) for i in range(count)])
        return np.concatenate([np.zeros_like(whole[:1]), np.cumsum(whole, axis=0)])

    def _piece(self, start: float, end: float) -> Array:
        points, weights = gauss(8)
        rows = np.array([self.rotation(start + (end - start) * float(t))[1:] for t in points])
        return np.asarray(np.einsum("q,qik,qil->kl", weights * (end - start), rows, rows))

    def fields(self) -> dict[str, FieldMatrix]:
        """Displacement, and axial strain and stress at the sections' extremes, along the axis."""
        xs = np.linspace(0.0, self.length, 2 * len(self.x) // 8 + 1)
        line = np.column_stack([xs, np.zeros((len(xs), 2))])
        edges = np.column_stack([np.arange(len(xs) - 1), np.arange(1, len(xs))])
        moved = sp.csr_array(np.vstack([self.translation(float(x)) for x in xs]))
        fields = {"displacement": FieldMatrix(line, moved, SPATIAL, "m", edges)}
        points, rows = [], []
        for x in xs:
            strain = self.strain(float(x))
            for y, z in section_at(self.section, float(x)).extremes:
                points.append((float(x), y, z))
                rows.append(strain[0] - y * strain[3] + z * strain[2])
        if points:
            none = np.zeros((0, 2), dtype=np.int64)
            matrix = sp.csr_array(np.array(rows))
            fields["strain"] = FieldMatrix(np.array(points), matrix, ("xx",), "1", none)
            fields["stress"] = FieldMatrix(
                np.array(points), self.material.young * matrix, ("xx",), "Pa", none
            )
        return fields


def _check_independent(name: str, mass: Array) -> None:
    scale = np.sqrt(np.diag(mass))
    if (scale == 0).any() or np.linalg.eigvalsh(mass / np.outer(scale, scale))[0] < 1e-10:
        raise ModelError(f"the shapes of {name!r} are not independent of each other: leave one out")

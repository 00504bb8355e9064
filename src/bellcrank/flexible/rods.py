"""Rods that bend as far as they like: the strains along the arc are the coordinates.

    wire = rod("wire", 1.0, circle(0.005), STEEL)
    body = system.flexible_body("wire", wire)
    system.fixed("wall", system.ground, body.node("start"))

The axis runs along x of the body at its start; the section lies in the y-z plane. Each strain is a sum of Legendre
polynomials along the arc, whose number is the accuracy; strains without coordinates stay as they are at rest. See
:mod:`bellcrank.flexible.rod_motion` for the equations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import ArrayLike, NDArray

from bellcrank.base.reach import is_size, shown, within
from bellcrank.errors import ModelError
from bellcrank.fe.material import Material
from bellcrank.flexible import planar_rods
from bellcrank.flexible.member import FlexibleMember
from bellcrank.flexible.recovery import Field
from bellcrank.flexible.rod_motion import RodRoutines
from bellcrank.flexible.sections import Profile, Section, section_at
from bellcrank.flexible.spatial_rods import Chain, Slices, Stations

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

COMPONENTS = ("torsion", "bending_y", "bending_z", "stretch", "shear_y", "shear_z")
"""Of the strain, in the order of the 6 x 6 matrices."""
FORCES = ("moment_x", "moment_y", "moment_z", "force_x", "force_y", "force_z")
"""Of a section, in the same order."""
SAMPLES = 1025
"""Arcs at which a function of the arc is sampled; between them it is linear, which leaves 1e-7 of a smooth one."""
DRAWN = 33
"""Points along the axis by which a rod is drawn and its fields are given."""
GAUSS = 8
"""Points of the quadrature over each piece of a rod; exact for polynomials to degree 15."""
GAUSS_POINTS = legendre.leggauss(GAUSS)
"""Places in (-1, 1), and weights."""
MAX_COORDINATES = 60
"""Of one component: beyond, the mass matrix of Legendre polynomials has lost its digits. Use several rods."""
ON_AXIS = 1e-6
"""A position names a station if it lies within this share of the length from the axis."""
NEARER = 20
"""Newton steps towards a place on the axis at most; from a 256th of the length away three or four reach rounding."""

Along = float | Sequence[Any] | Array | Callable[[float], Any]
"""A value, or a function of the arc [m]."""


@dataclass(frozen=True, eq=False)
class Table:
    """Values along the arc, linear in between: arcs (m,) [m] growing, values (m, ...). One row is a constant."""

    arcs: Array
    values: Array

    def at(self, s: Any) -> Array:
        """Interpolated at arcs (k,): (k, ...)."""
        s = np.atleast_1d(np.asarray(s, dtype=float))
        if len(self.arcs) == 1:
            return np.repeat(self.values, len(s), axis=0)
        k = np.clip(np.searchsorted(self.arcs, s, side="right") - 1, 0, len(self.arcs) - 2)
        share = (s - self.arcs[k]) / (self.arcs[k + 1] - self.arcs[k])
        share = share.reshape(-1, *[1] * (self.values.ndim - 1))
        return np.asarray((1.0 - share) * self.values[k] + share * self.values[k + 1])


@dataclass(frozen=True, eq=False)
class Station:
    """A section of a rod where joints, forces and markers may sit: its arc [m], and place and axes at rest.

    position: In the rod's axes [m], (3,). axes: Columns are the section's axes, x along the rod, (3, 3).
    """

    name: str
    arc: float
    position: Array
    axes: Array


@dataclass(frozen=True, eq=False)
class Rod(FlexibleMember):
    """A rod, made by :func:`rod`.

    counts: Coordinates of each component of the strain. slices: Of the chain that carries pose and mass.
    stiffness_table: Of the section by arc, (m, 6, 6) over torsion, bending_y, bending_z, stretch, shear_y, shear_z.
    density: Mass, first and second moment of the section for each metre (m, 10). curvature: At rest (m, 3) [1/m].
    stress: Axial, at the extremes of the section, for bending_y, bending_z and stretch, (m, e, 3) [Pa m, Pa m, Pa].
    damping_times: By which strain rates count like strains, for each component [s]. stations: Arcs [m] by name. given:
    The section and material it was made of, where it was.
    """

    name: str
    length: float
    counts: tuple[int, ...]
    slices: int
    stiffness_table: Table
    density: Table
    curvature: Table
    stress: Table | None
    damping_times: tuple[float, ...]
    stations: Mapping[str, float]
    given: Mapping[str, Any] = field(default_factory=lambda: {"section": None, "material": None})

    def __getstate__(self) -> dict[str, Any]:
        """What it is made of; loops and what else is computed once are made anew from a pickle."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @property
    def mass_table(self) -> Table:
        """Of the section by arc over angular and linear velocity, (m, 6, 6)."""
        found = []
        for m, x, y, z, xx, yy, zz, xy, xz, yz in self.density.values:
            hat = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
            J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            inertia = np.trace(J) * np.eye(3) - J
            found.append(np.block([[inertia, hat], [hat.T, m * np.eye(3)]]))
        return Table(self.density.arcs, np.array(found))

    @property
    def modes(self) -> int:
        """How many coordinates it has."""
        return sum(self.counts)

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """Component of the strain and number of the polynomial."""
        return tuple(
            f"{what} {k + 1}" for what, n in zip(COMPONENTS, self.counts, strict=True) for k in range(n)
        )

    @cached_property
    def component(self) -> Integers:
        """Of the strain, by coordinate."""
        return np.repeat(np.arange(6), self.counts)

    @cached_property
    def _degree(self) -> Integers:
        return np.concatenate([np.arange(n) for n in self.counts]).astype(np.int64)

    def shapes(self, s: ArrayLike) -> Array:
        """The polynomial of each coordinate at arcs (k,): (k, n)."""
        x = 2.0 * np.atleast_1d(np.asarray(s, dtype=float)) / self.length - 1.0
        values = legendre.legvander(x, max(self._degree, default=0))
        return np.asarray(values[:, self._degree])

    def strain_rows(self, s: ArrayLike) -> Array:
        """The strain beyond that at rest, by coordinate, at arcs (k,): (k, 6, n)."""
        rows = np.zeros((np.size(s), 6, self.modes))
        rows[:, self.component, np.arange(self.modes)] = self.shapes(s)
        return rows

    def _condensed(self, s: ArrayLike) -> Array:
        """Stiffness of the components that have coordinates, (k, 6, 6); the others carry no force of their own.

        Without coupling that is the stiffness itself. With it, a strain that has no coordinate takes the value at which
        its force vanishes, as in the theory of Euler and Bernoulli.
        """
        C = self.stiffness_table.at(s)
        used = [d for d in range(6) if self.counts[d]]
        rest = [d for d in range(6) if not self.counts[d]]
        found = np.zeros_like(C)
        inner = C[:, used][:, :, used]
        if rest:
            across = C[:, used][:, :, rest]
            inner = inner - across @ np.linalg.solve(C[:, rest][:, :, rest], np.swapaxes(across, 1, 2))
        found[np.ix_(range(len(C)), used, used)] = inner
        return found

    def _quadrature(self, start: float, end: float) -> tuple[Array, Array]:
        """Arcs and weights over a stretch of the rod, from kink to kink of its tables."""
        kinks = [t.arcs for t in (self.stiffness_table, self.density, self.curvature) if len(t.arcs) <= 100]
        inner = np.concatenate([np.zeros(0), *kinks])
        ends = np.unique(
            np.concatenate([[start, end], inner[(inner > start) & (inner < end)], self._panels(start, end)])
        )
        x, w = GAUSS_POINTS
        half = np.diff(ends) / 2.0
        middle = (ends[1:] + ends[:-1]) / 2.0
        return (middle[:, None] + half[:, None] * x).ravel(), (half[:, None] * w).ravel()

    def _panels(self, start: float, end: float) -> Array:
        """Inner arcs that leave polynomials of a degree that the quadrature integrates."""
        pieces = 1 + int(max(self.counts)) // GAUSS
        return np.linspace(start, end, pieces + 1)[1:-1]

    @cached_property
    def stiffness(self) -> Array:
        """Over the coordinates, (n, n)."""
        s, w = self._quadrature(0.0, self.length)
        rows = self.strain_rows(s)
        K = np.einsum("k,kdi,kde,kej->ij", w, rows, self._condensed(s), rows)
        return np.asarray(0.5 * (K + K.T))

    @cached_property
    def damping(self) -> Array:
        """Over the rates of the coordinates, (n, n)."""
        times = np.asarray(self.damping_times)[self.component]
        root = np.sqrt(times)
        return np.asarray(root[:, None] * self.stiffness * root[None, :])

    @cached_property
    def sections(self) -> Array:
        """Arcs of the sections between slices, Lobatto's points (slices + 1,)."""
        inner = legendre.legroots(legendre.legder([0.0] * self.slices + [1.0]))
        x = np.concatenate([[-1.0], np.sort(inner.real), [1.0]])
        return np.asarray(self.length * (x + 1.0) / 2.0)

    @cached_property
    def section_mass(self) -> Array:
        """Mass, first and second moment of each section (slices + 1, 10).

        A section carries what the quadrature of Lobatto gives it; for a density that is given by a table, its integral
        against the polynomials that are one at one section and zero at the others, so that no mass is lost.
        """
        s, w = self._quadrature(0.0, self.length)
        nodes = self.sections
        if len(self.density.arcs) == 1:
            degree = [0.0] * self.slices + [1.0]
            x = 2.0 * nodes / self.length - 1.0
            own = self.length / (self.slices * (self.slices + 1) * legendre.legval(x, degree) ** 2)
            return np.asarray(own[:, None] * self.density.values)
        # Linear between sections: never negative, whatever the table.
        hats = np.array([np.interp(s, nodes, row) for row in np.eye(len(nodes))])
        return np.asarray(np.einsum("ik,k,kj->ij", hats, w, self.density.at(s)))

    def _slices(self, starts: Array, ends: Array) -> Slices:
        """Moments of the strain from each start to each end."""
        n, count = self.modes, len(starts)
        zeroth, first = np.zeros((count, n)), np.zeros((count, n))
        rest0, rest1 = np.zeros((count, 6)), np.zeros((count, 6))
        for i, (a, b) in enumerate(zip(starts, ends, strict=True)):
            if b <= a:
                continue
            s, w = self._quadrature(float(a), float(b))
            arm = w * (s - 0.5 * (a + b)) / (b - a)
            shapes, rest = self.shapes(s), np.zeros((len(s), 6))
            rest[:, :3], rest[:, 3] = self.curvature.at(s), 1.0
            zeroth[i], first[i] = w @ shapes, arm @ shapes
            rest0[i], rest1[i] = w @ rest, arm @ rest
        for table in (zeroth, first, rest0, rest1):
            table[np.abs(table) < 1e-15 * self.length] = 0.0
        return Slices(zeroth, first, rest0, rest1)

    @cached_property
    def chain(self) -> Chain:
        """The rod as the loops see it."""
        used = np.array([d for d in range(6) if self.counts[d]], dtype=np.int64)
        nodes = self.sections
        firsts = np.cumsum([0, *(n for n in self.counts if n)]).astype(np.int64)
        return Chain(used, firsts, self._slices(nodes[:-1], nodes[1:]), self.section_mass)

    @cached_property
    def routines(self) -> RodRoutines:
        """The loops over its slices."""
        return RodRoutines(self.chain)

    @cached_property
    def planar_routines(self) -> RodRoutines | None:
        """The loops for motion in the x-y plane; None of a rod that leaves it."""
        inside = list(planar_rods.COMPONENTS)
        # First moment along z, products of inertia with z.
        across = self.density.values[:, [3, 8, 9]]
        if sum(self.counts) > sum(self.counts[d] for d in inside):
            return None
        if self.curvature.values[:, :2].any() or across.any():
            return None
        whole = self.chain
        slices = _in_plane(whole.slices)
        # Mass, first moment in the plane, second moments xx, yy, zz and xy.
        mass = np.ascontiguousarray(whole.mass[:, [0, 1, 2, 4, 5, 6, 7]])
        place = np.zeros(6, np.int64)
        place[inside] = range(len(inside))
        return RodRoutines(planar_rods.Chain(place[whole.used], whole.firsts, slices, mass))

    def branches(self, arcs: Sequence[float], axes: Sequence[Array]) -> Stations:
        """Stations at arcs that grow, as the loops see them."""
        nodes = self.sections
        ends = np.asarray(arcs, dtype=float)
        after = np.clip(np.searchsorted(nodes, ends, side="right") - 1, 0, len(nodes) - 1)
        return Stations(
            after.astype(np.int64),
            (ends > nodes[after]).astype(np.int64),
            self._slices(nodes[after], ends),
            np.array(axes, dtype=float).reshape(-1, 9),
        )

    @property
    def loops(self) -> RodRoutines:
        """Its loops: in the plane, if it does not leave it."""
        return self.planar_routines or self.routines

    def station_branches(self, stations: Sequence[Station]) -> Stations:
        """Stations that are sorted along the arc, as these loops see them."""
        found = self.branches([s.arc for s in stations], [s.axes for s in stations])
        return found if self.planar_routines is None else found._replace(slices=_in_plane(found.slices))

    def pieces(self, arcs: Array) -> tuple[Slices, Integers]:
        """The chain with branches to growing arcs, in the order of a walk: slices, and whether each is a branch."""
        nodes = self.sections
        after = np.clip(np.searchsorted(nodes, arcs, side="right") - 1, 0, len(nodes) - 1)
        starts, ends, branch = list[float](), list[float](), list[int]()
        for i, node in enumerate(nodes):
            if i > 0:
                starts.append(nodes[i - 1])
                ends.append(node)
                branch.append(0)
            for arc in arcs[after == i]:
                starts.append(node)
                ends.append(arc)
                branch.append(1)
        return self._slices(np.array(starts), np.array(ends)), np.array(branch, dtype=np.int64)

    def poses(self, arcs: ArrayLike, coordinates: ArrayLike) -> tuple[Array, Array]:
        """Places (..., k, 3) [m] and axes (..., k, 3, 3) of sections at growing arcs for coordinates (..., n)."""
        arcs, q = np.atleast_1d(np.asarray(arcs, dtype=float)), np.asarray(coordinates, dtype=float)
        stations = self.branches(arcs.tolist(), [np.eye(3)] * len(arcs))
        routine = self.routines.poses(stations)
        if q.ndim == 1:
            # Every number of arcs is a loop of its own: one state is not worth a compilation.
            found = routine.interpreted(q)[None, 1:]
        else:
            found = routine.evaluate(np.ascontiguousarray(q.reshape(-1, self.modes).T)).T[:, 1:]
        found = found.reshape(*q.shape[:-1], len(arcs), 12 + 6 * self.modes)
        return found[..., 9:12], found[..., :9].reshape(*found.shape[:-1], 3, 3)

    def _at_rest(self, arcs: ArrayLike) -> tuple[Array, Array]:
        places, axes = self.poses(arcs, np.zeros(self.modes))
        return tidied(places, self.length), tidied(axes, 1.0)

    def station(self, arc: float, name: str = "") -> Station:
        """The section at an arc [m]."""
        s = float(arc)
        if not (within(s) and -ON_AXIS * self.length <= s <= (1.0 + ON_AXIS) * self.length):
            raise ModelError(
                f"rod {self.name!r} runs from 0 to {self.length:g} m; there is no station at {shown(arc)}"
            )
        s = min(max(s, 0.0), self.length)
        places, axes = self._at_rest([s])
        return Station(name or f"at {s:.12g}", s, places[0], axes[0])

    @cached_property
    def nodes(self) -> Mapping[str, Station]:
        """Its named stations: "start", "end" and those that were given."""
        return {name: self.station(s, name) for name, s in self.stations.items()}

    def node(self, name_or_position: Any) -> Station:
        """A station by name, by arc [m], or by its place at rest [m, rod's axes]."""
        if isinstance(name_or_position, Station):
            return name_or_position
        if isinstance(name_or_position, str):
            if name_or_position.startswith("at ") and name_or_position not in self.nodes:
                return self._by_text(name_or_position)
            return cast("Station", self._named(name_or_position))
        if np.ndim(name_or_position) == 0:
            return self.station(float(name_or_position))
        return self._nearest(np.asarray(name_or_position, dtype=float))

    def _by_text(self, name: str) -> Station:
        try:
            return self.station(float(name[3:]), name)
        except ValueError:
            return cast("Station", self._named(name))

    def _nearest(self, where: Array) -> Station:
        """The station at a place on the axis; the first one where the axis meets itself."""
        for node in self.nodes.values():
            if np.linalg.norm(node.position - where) <= ON_AXIS * self.length:
                return node
        arcs, places = self._sampled
        far = np.linalg.norm(places - where, axis=1)
        nearest = np.flatnonzero((far <= np.append(far[1:], np.inf)) & (far <= np.append(np.inf, far[:-1])))
        found = [self._approached(float(arcs[k]), where) for k in nearest]
        away = [float(np.linalg.norm(station.position - where)) for station in found]
        for station, distance in zip(found, away, strict=True):
            if distance <= ON_AXIS * self.length:
                return station
        k = int(np.argmin(away))
        raise ModelError(
            f"({', '.join(f'{x:.6g}' for x in where)}) is {away[k]:.3g} m from the axis of rod {self.name!r}; "
            f"joints, forces and shapes sit on its stations: body.node({found[k].arc:.4g})"
        )

    def _approached(self, arc: float, where: Array) -> Station:
        """The station nearest to a place, from an arc in its neighbourhood, by Newton's method along the tangent."""
        for _ in range(NEARER):
            here, axes = self._at_rest([arc])
            nearer = float(np.clip(arc + axes[0, :, 0] @ (where - here[0]), 0.0, self.length))
            moved, arc = abs(nearer - arc), nearer
            if moved <= 1e-15 * self.length:
                break
        return self.station(arc)

    @cached_property
    def _sampled(self) -> tuple[Array, Array]:
        """Arcs, and their places at rest, from which the nearest one is sought."""
        arcs = np.linspace(0.0, self.length, 257)
        return arcs, self._at_rest(arcs)[0]

    @property
    def loop_advice(self) -> str:
        """A straight rod that keeps its length cannot yield along its axis."""
        return "" if self.counts[3] else f"give rod {self.name!r} a coordinate of stretch (stretch=1)"

    @property
    def extent(self) -> float:
        """Its length [m]."""
        return self.length

    @cached_property
    def _rest_inertia(self) -> tuple[float, Array, Array]:
        found = self.routines.inertia(self.branches([], [])).interpreted(np.zeros(self.modes))[1:]
        J = found[[3, 6, 7, 6, 4, 8, 7, 8, 5]].reshape(3, 3)
        return float(self.section_mass[:, 0].sum()), found[:3], J

    @property
    def mass(self) -> float:
        """[kg]."""
        return self._rest_inertia[0]

    @property
    def first_moment(self) -> Array:
        """int rho s0, at rest, (3,)."""
        return self._rest_inertia[1]

    @property
    def second_moment(self) -> Array:
        """int rho s0 s0^T, at rest, (3, 3)."""
        return self._rest_inertia[2]

    def position(self, node: Any, coordinates: ArrayLike) -> Array:
        """Where a station is, bent, in the rod's axes [m]; coordinates: (..., n) gives (..., 3)."""
        places, _ = self.poses([self.node(node).arc], coordinates)
        return np.asarray(places[..., 0, :])

    @cached_property
    def drawn_arcs(self) -> Array:
        """Arcs of the points by which it is drawn: evenly spread, and its stations."""
        return np.unique(
            np.concatenate([np.linspace(0.0, self.length, DRAWN), sorted(self.stations.values())])
        )

    @cached_property
    def drawn_points(self) -> Array:
        """At rest, rod's axes [m], (p, 3)."""
        return self._at_rest(self.drawn_arcs)[0]

    @property
    def drawn_cells(self) -> Integers:
        """Edges between the points (p - 1, 2)."""
        count = len(self.drawn_arcs)
        return np.column_stack([np.arange(count - 1), np.arange(1, count)]).astype(np.int64)

    def drawn(self, coordinates: ArrayLike) -> Array:
        """The points, bent, for coordinates (..., n): (..., p, 3)."""
        return self.poses(self.drawn_arcs, coordinates)[0]

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """Strain, forces of the section, and axial stress at its extremes; all linear in the coordinates.

        Strains beyond those at rest, and forces of those strains; of a strain without coordinates nothing is known.
        """
        s, points, cells = self.drawn_arcs, self.drawn_points, self.drawn_cells
        rows = self.strain_rows(s)
        used = [d for d in range(6) if self.counts[d]]
        loads = self._condensed(s) @ rows
        found = {
            "strain": Field(
                "strain", points, rows[:, used], tuple(COMPONENTS[d] for d in used), "1/m, 1", cells
            ),
            "section_force": Field(
                "section_force", points, loads[:, used], tuple(FORCES[d] for d in used), "N m, N", cells
            ),
        }
        if self.stress is not None:
            by = np.einsum("ked,kdn->ken", self.stress.at(s), rows[:, 1:4])
            count = by.shape[1]
            found["stress"] = Field(
                "stress",
                np.repeat(points, count, axis=0),
                by.reshape(-1, 1, self.modes),
                ("xx",),
                "Pa",
                np.repeat(cells * count, 1, axis=0),
            )
        return found

    def __str__(self) -> str:
        spread = ", ".join(f"{n} of {what}" for what, n in zip(COMPONENTS, self.counts, strict=True) if n)
        return (
            f"rod {self.name!r}: {self.mass:.6g} kg, {self.length:g} m, {self.modes} coordinates ({spread}), "
            f"{self.slices} slices"
        )


def rod(
    name: str,
    length: float,
    section: Profile | None = None,
    material: Material | None = None,
    *,
    stiffness: Along | Table | None = None,
    mass: Along | Table | None = None,
    curvature: Along | Table = (0.0, 0.0, 0.0),
    bending: int | tuple[int, int] = 4,
    torsion: int = 2,
    stretch: int = 0,
    shear: int | tuple[int, int] = 0,
    slices: int | None = None,
    damping: float | Sequence[float] = 0.0,
    stations: Mapping[str, float] | None = None,
) -> Rod:
    """A rod that may bend and twist without limit.

    length: [m]. section, material: A Section, or a function of the arc [m] for a taper, and what it is made of. Instead
    of both: stiffness (6, 6) [N m^2, N m, N] over (torsion, bending_y, bending_z, stretch, shear_y, shear_z), moments
    and forces of the section for its strains; and mass (6, 6) [kg m, kg, kg/m] for angular and linear velocity in the
    same axes. Both may be functions of the arc, or a :class:`Table`.

    curvature: Of the axis at rest, (twist, about y, about z) [1/m], or a function of the arc; (0, 0, 1 / r) is an arc
    of radius r in the x-y plane. bending: Coordinates of bending about y and z, one number or two. torsion, stretch,
    shear: Coordinates of the other strains; none leaves them as they are at rest. slices: Of the chain that carries
    pose and mass, two more than the most coordinates of a strain unless given. damping: Time [s] by which the rate of
    each strain counts like the strain, one number or six. stations: Named arcs [m]; "start" and "end" exist anyway.
    """
    who = f"rod {name!r}"
    if not is_size(length):
        raise ModelError(f"length of {who} must be positive, not {shown(length)}")
    length = float(length)
    about_y, about_z = _pair(who, "bending", bending)
    across_y, across_z = _pair(who, "shear", shear)
    given_counts = (torsion, about_y, about_z, stretch, across_y, across_z)
    counts = tuple(_count(who, what, n) for what, n in zip(COMPONENTS, given_counts, strict=True))
    if not any(counts):
        raise ModelError(f"{who} has no coordinates; give it some of bending, torsion, stretch and shear")
    # As many slices as coordinates lets the higher frequencies slip; two more do not.
    pieces = max(counts) + 2 if slices is None else _count(who, "slices", slices, 1, 1000)
    if section is None and material is None:
        if stiffness is None or mass is None:
            raise ModelError(f"{who} needs a section and a material, or a stiffness and a mass (6 x 6)")
        C, density, stress = _stiffness(who, stiffness, length), _density(who, mass, length), None
    elif section is None or material is None or stiffness is not None or mass is not None:
        raise ModelError(f"{who} takes a section and a material, or a stiffness and a mass, not a mixture")
    else:
        material.undamped_in(who)
        C, density, stress = _from_section(section, material, length)
    times = np.broadcast_to(np.asarray(damping, dtype=float), (6,)) if np.size(damping) in (1, 6) else None
    if times is None or not (np.isfinite(times).all() and (times >= 0.0).all()):
        raise ModelError(f"damping of {who} is a time [s] that is not negative, or six, not {damping!r}")
    named = {"start": 0.0, "end": length} | {str(key): s for key, s in (stations or {}).items()}
    for key, s in named.items():
        if not isinstance(s, int | float | np.number) or isinstance(s, bool):
            raise ModelError(f"station {key!r} of {who} lies at an arc [m], a number, not at {s!r}")
        if not (np.isfinite(s) and 0.0 <= s <= length):
            raise ModelError(f"station {key!r} of {who} lies at {s:g} m, outside 0 to {length:g} m")
        if key.startswith("at "):
            raise ModelError(f"station {key!r} of {who}: names that begin with 'at ' stand for arcs")
    given = {"section": section, "material": material}
    bent = _table(f"curvature of {who}", curvature, length, (3,))
    return Rod(
        name,
        length,
        counts,
        pieces,
        C,
        density,
        bent,
        stress,
        tuple(float(t) for t in times),
        {key: float(s) for key, s in named.items()},
        given,
    )


def _in_plane(slices: Slices) -> Slices:
    """Without the strains at rest that leave the plane, which are zero."""
    inside = list(planar_rods.COMPONENTS)
    rest = [np.ascontiguousarray(table[:, inside]) for table in (slices.rest_zeroth, slices.rest_first)]
    return Slices(slices.zeroth, slices.first, *rest)


def _pair(who: str, what: str, given: Any) -> tuple[Any, Any]:
    if np.ndim(given) == 0:
        return given, given
    if len(given) != 2:
        raise ModelError(f"{what} of {who} is one number or two, not {given!r}")
    return given[0], given[1]


def _count(who: str, what: str, n: Any, least: int = 0, most: int = MAX_COORDINATES) -> int:
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not least <= n <= most:
        raise ModelError(f"{what} of {who} must be a whole number from {least} to {most}, not {shown(n)}")
    return int(n)


def _table(what: str, given: Any, length: float, shape: tuple[int, ...]) -> Table:
    """A value, a function or a table as a table."""
    if isinstance(given, Table):
        arcs, values = np.asarray(given.arcs, dtype=float), np.asarray(given.values, dtype=float)
        if arcs.ndim != 1 or not len(arcs) or (np.diff(arcs) <= 0.0).any():
            raise ModelError(f"{what}: the arcs of a table grow from row to row")
    elif callable(given):
        arcs = np.linspace(0.0, length, SAMPLES)
        values = np.array([_numbers(f"{what} at {s:g} m", partial(given, float(s))) for s in arcs])
    else:
        arcs, values = np.zeros(1), _numbers(what, lambda: given)[None]
    if values.shape != (len(arcs), *shape):
        raise ModelError(f"{what} has the shape {values.shape[1:]} for each arc, not {shape}")
    if not np.isfinite(values).all():
        raise ModelError(f"{what} holds something that is not a number")
    return Table(arcs, values)


def _numbers(what: str, found: Callable[[], Any]) -> Array:
    """What is given or a function of the arc gives, as an array of numbers."""
    try:
        return np.asarray(found(), dtype=float)
    except (TypeError, ValueError, ArithmeticError) as problem:
        raise ModelError(f"{what} is no array of numbers: {problem}") from problem


def _stiffness(who: str, given: Any, length: float) -> Table:
    found = _table(f"stiffness of {who}", given, length, (6, 6))
    size = np.sqrt(np.abs(np.einsum("kii->ki", found.values)))
    level = size[:, :, None] * size[:, None, :]
    if (np.abs(found.values - np.swapaxes(found.values, 1, 2)) > 1e-9 * level).any():
        raise ModelError(f"stiffness of {who} must be symmetric")
    if (
        not (size > 0.0).all()
        or np.linalg.eigvalsh(found.values / np.where(level > 0.0, level, 1.0)).min() <= 0.0
    ):
        raise ModelError(
            f"stiffness of {who} must be positive definite; a strain that should not happen has no coordinates, "
            "its stiffness is any positive number"
        )
    return found


def _density(who: str, given: Any, length: float) -> Table:
    """From (6, 6) to mass, first and second moment."""
    found = _table(f"mass of {who}", given, length, (6, 6))
    rows = []
    for M in found.values:
        m = float(M[3, 3])
        h = np.array([M[2, 4], M[0, 5], M[1, 3]])
        hat = np.array([[0.0, -h[2], h[1]], [h[2], 0.0, -h[0]], [-h[1], h[0], 0.0]])
        inertia = M[:3, :3]
        rigid = np.block([[inertia, hat], [hat.T, m * np.eye(3)]])
        size = np.sqrt(np.abs(np.diag(rigid)))
        if (np.abs(M - rigid) > 1e-6 * size[:, None] * size[None, :]).any() or m <= 0.0:
            raise ModelError(
                f"mass of {who} must be that of a rigid section: [[inertia, m [c]x], [-m [c]x, m 1]] with one "
                "mass m for each metre and its centre c"
            )
        J = 0.5 * np.trace(inertia) * np.eye(3) - inertia
        rows.append([m, *h, J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])
    return Table(found.arcs, np.array(rows))


def _from_section(profile: Profile, material: Material, length: float) -> tuple[Table, Table, Table | None]:
    """Stiffness, density and stress of a section of one material."""
    constant = isinstance(profile, Section)
    arcs = np.zeros(1) if constant else np.linspace(0.0, length, SAMPLES)
    sections = [section_at(profile, float(s)) for s in arcs]
    E, G, rho = material.young, material.shear, material.density
    C, mass = np.zeros((len(arcs), 6, 6)), np.zeros((len(arcs), 10))
    for k, one in enumerate(sections):
        A, (y, z) = one.area, one.offset
        about_y, about_z, product = (
            one.bending_y + A * z * z,
            one.bending_z + A * y * y,
            one.product + A * y * z,
        )
        # eps = stretch + bending_y z - bending_z y; shear at the centroid: shear_y - torsion z, shear_z + torsion y.
        axial = E * np.array([[about_y, -product, A * z], [-product, about_z, -A * y], [A * z, -A * y, A]])
        C[k, 1:4, 1:4] = axial
        sheared = np.array([[-z, 1.0, 0.0], [y, 0.0, 1.0]])
        here = sheared.T @ np.diag([one.shear_y * G * A, one.shear_z * G * A]) @ sheared
        here[0, 0] += G * one.torsion_constant
        C[k][np.ix_((0, 4, 5), (0, 4, 5))] = here
        mass[k] = rho * np.array([A, 0.0, A * y, A * z, 0.0, about_z, about_y, 0.0, 0.0, product])
    extremes = [[(b + one.offset[0], c + one.offset[1]) for b, c in one.extremes] for one in sections]
    if not extremes[0] or len({len(row) for row in extremes}) > 1:
        return Table(arcs, C), Table(arcs, mass), None
    at = np.array(extremes)
    by = E * np.stack([at[..., 1], -at[..., 0], np.ones(at.shape[:2])], axis=-1)
    return Table(arcs, C), Table(arcs, mass), Table(arcs, by)


def tidied(a: Array, scale: float) -> Array:
    """Rounding dropped, so that it folds away."""
    rounded = np.round(a)
    a = np.where(np.abs(a - rounded) < 1e-14 * scale, rounded, a)
    return np.asarray(a) + 0.0


__all__ = ["COMPONENTS", "Rod", "Station", "Table", "rod"]

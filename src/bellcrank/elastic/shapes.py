"""Built-in shapes: disc, sphere, block and cylinder, graded to where contact is expected.

Contact is expected at the lowest point: the lowest second coordinate in two dimensions, third in three.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bellcrank.elastic import lattices
from bellcrank.elastic.body import ElasticBody
from bellcrank.elastic.elements import Element, element_of, with_element
from bellcrank.elastic.lattices import Array
from bellcrank.elastic.material import Analysis
from bellcrank.errors import ModelError
from bellcrank.fe.material import Material

_CORE = {2: 0.5, 3: 0.42}


def disc(
    radius: float,
    material: Material,
    *,
    analysis: Analysis = Analysis.PLANE_STRAIN,
    element: Element = Element.QUADRILATERAL9,
    divisions: int = 8,
    grading: float = 1.0,
    refinement: int = 0,
    contact_zone: float = 0.0,
    centre: Sequence[float] = (0.0, 0.0),
    **body: Any,
) -> ElasticBody:
    """A disc.

    radius: [m]. divisions: elements over a quarter of the rim. grading: size of the elements at the top over those at
    the bottom. refinement: times triangles are halved around the lowest point, each time within half the distance,
    but never less than contact_zone [m]. centre: [m]. body: further arguments of `ElasticBody` (name, velocity,
    supports, ...).
    """
    if analysis not in (Analysis.PLANE_STRAIN, Analysis.PLANE_STRESS):
        raise ModelError(
            f"a disc is plane, not {analysis}; elastic.sphere and elastic.cylinder are the others"
        )
    mesh = _ball(
        element,
        2,
        radius,
        divisions,
        grading,
        (refinement, contact_zone),
        np.asarray(centre, float),
        half=False,
    )
    return ElasticBody(mesh, material, analysis, **{"name": "disc", **body})


def sphere(
    radius: float,
    material: Material,
    *,
    analysis: Analysis = Analysis.AXISYMMETRIC,
    element: Element | None = None,
    divisions: int = 8,
    grading: float = 1.0,
    refinement: int = 0,
    contact_zone: float = 0.0,
    centre: Sequence[float] | None = None,
    **body: Any,
) -> ElasticBody:
    """A sphere: the half disc that makes it by turning, or a solid ball.

    radius: [m]. element: by default nine-node quadrilaterals (axisymmetric) or 27-node hexahedra (solid). divisions:
    elements over a quarter of a great circle; even for a half disc. grading, refinement, contact_zone: as for
    `disc`. centre: [m], on the axis. body: further arguments of `ElasticBody`.
    """
    if analysis not in (Analysis.AXISYMMETRIC, Analysis.SOLID):
        raise ModelError(
            f"a sphere is axisymmetric or solid, not {analysis}; elastic.disc is the plane shape"
        )
    dimension = analysis.dimension
    chosen = element or (Element.QUADRILATERAL9 if dimension == 2 else Element.HEXAHEDRON27)
    middle = np.zeros(dimension) if centre is None else np.asarray(centre, float)
    half = analysis is Analysis.AXISYMMETRIC
    if half and divisions % 2:
        raise ModelError(f"a half disc needs an even number of divisions, not {divisions}")
    mesh = _ball(chosen, dimension, radius, divisions, grading, (refinement, contact_zone), middle, half)
    return ElasticBody(mesh, material, analysis, **{"name": "sphere", **body})


def block(
    size: Sequence[float],
    material: Material,
    *,
    analysis: Analysis | None = None,
    element: Element | None = None,
    divisions: Sequence[int] | None = None,
    grading: float = 1.0,
    lowest: Sequence[float] | None = None,
    **body: Any,
) -> ElasticBody:
    """A rectangle or a box.

    size: lengths along the axes [m]. analysis: by default plane strain or solid. divisions: elements along each
    axis. grading: size of the elements at the top over those at the bottom. lowest: the corner of lowest
    coordinates [m]. body: further arguments of `ElasticBody`.
    """
    dimension = len(size)
    kind = analysis or (Analysis.SOLID if dimension == 3 else Analysis.PLANE_STRAIN)
    chosen = element or (Element.QUADRILATERAL9 if dimension == 2 else Element.HEXAHEDRON27)
    _check(kind, chosen, dimension)
    if min(size) <= 0.0:
        raise ModelError(f"the sides of a block must be positive, not {tuple(size)}")
    counts = [8] * dimension if divisions is None else list(divisions)
    start = np.zeros(dimension) if lowest is None else np.asarray(lowest, float)
    lines = [np.linspace(a, a + s, n + 1) for a, s, n in zip(start[:-1], size[:-1], counts[:-1], strict=True)]
    lines.append(lattices.spaced(start[-1], start[-1] + size[-1], counts[-1], grading))
    mesh = _cut(lattices.tensor_cells(lines), chosen)
    return ElasticBody(with_element(mesh, chosen), material, kind, **{"name": "block", **body})


def cylinder(
    radius: float,
    height: float,
    material: Material,
    *,
    analysis: Analysis = Analysis.AXISYMMETRIC,
    element: Element | None = None,
    divisions: Sequence[int] = (6, 12),
    grading: float = 1.0,
    lowest: float = 0.0,
    **body: Any,
) -> ElasticBody:
    """An upright cylinder: the rectangle that makes it by turning, or a solid.

    radius, height: [m]. divisions: elements over the radius (solid: over a quarter of the rim) and over the height.
    grading: size of the elements at the top over those at the bottom. lowest: height of the lower face [m]. body:
    further arguments of `ElasticBody`.
    """
    if radius <= 0.0 or height <= 0.0:
        raise ModelError(f"radius and height of a cylinder must be positive, not {radius} and {height}")
    named = {"name": "cylinder", **body}
    if analysis is Analysis.AXISYMMETRIC:
        return block(
            (radius, height), material, analysis=analysis, element=element, divisions=divisions, grading=grading,
            lowest=(0.0, lowest), **named,
        )  # fmt: skip
    chosen = element or Element.HEXAHEDRON27
    _check(analysis, chosen, 3)
    core = _CORE[2]
    flat = lattices.ball_cells(2, divisions[0], max(2, divisions[0] // 2), core)
    levels = lattices.spaced(lowest, lowest + height, divisions[1], grading)
    mesh = with_element(_cut(_extruded(flat, levels), chosen), chosen)

    def place(x: Array) -> Array:
        return np.vstack([radius * lattices.cube_to_ball(x[:2], core), x[2:]])

    return ElasticBody(_moved(mesh, place), material, analysis, **named)


def _extruded(flat: Any, levels: Array) -> Any:
    """Hexahedra between copies of a plane mesh; the node order is that of a scikit-fem lattice."""
    from skfem import MeshHex

    pattern = MeshHex()
    count = flat.p.shape[1]
    points = np.vstack([np.tile(flat.p, len(levels)), np.repeat(levels, count)])
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    which = [int(np.flatnonzero((corners == c[:2]).all(axis=1))[0]) for c in pattern.p.T]
    layer = pattern.p[2].astype(int)
    t = np.hstack([
        np.vstack([flat.t[which[i]] + (k + layer[i]) * count for i in pattern.t[:, 0]]) for k in range(len(levels) -
        1)
    ])  # fmt: skip
    return lattices.made(MeshHex, points, t)


def _ball(
    element: Element, dimension: int, radius: float, divisions: int, grading: float,
    refinement: tuple[int, float], centre: Array, half: bool,
) -> Any:  # fmt: skip
    _check(Analysis.SOLID if dimension == 3 else Analysis.PLANE_STRAIN, element, dimension)
    if radius <= 0.0:
        raise ModelError(f"the radius must be positive, not {radius}")
    if not 1.0 <= grading <= 100.0:
        raise ModelError(f"grading {grading} is outside 1 to 100; refine triangles or tetrahedra for more")
    if refinement[0] and not element.simplex:
        raise ModelError(f"{element} cannot be refined locally; take triangles or tetrahedra, or a grading")
    core = _CORE[dimension]
    pole = np.zeros(dimension)
    pole[-1] = -1.0

    def place(x: Array) -> Array:
        return lattices.crowd(lattices.cube_to_ball(x, core), pole, grading)

    mesh = _cut(lattices.ball_cells(dimension, divisions, max(1, (divisions + 1) // 2), core, half), element)
    if refinement[0]:
        mesh = lattices.refined_near(mesh, place, pole, refinement[0], refinement[1] / radius)
    mesh = with_element(mesh, element)
    return _moved(mesh, lambda x: centre[:, None] + radius * place(x))


def _moved(mesh: Any, place: Callable[[Array], Array]) -> Any:
    """A mesh put in place; inner edges of second-order triangles and tetrahedra stay straight and so sound."""
    points = place(mesh.doflocs)
    corners = int(mesh.t.max()) + 1
    if element_of(mesh).simplex and points.shape[1] > corners:
        edges, rim = (
            (mesh.facets, mesh.boundary_facets()) if mesh.dim() == 2 else (mesh.edges, mesh.boundary_edges())
        )
        inner = np.setdiff1d(np.arange(edges.shape[1]), rim)
        points[:, corners + inner] = points[:, edges[:, inner]].mean(axis=1)
    return lattices.made(type(mesh), points, mesh.t)


def _cut(mesh: Any, element: Element) -> Any:
    if not element.simplex:
        return mesh
    return lattices.triangles(mesh) if element.dimension == 2 else lattices.tetrahedra(mesh)


def _check(analysis: Analysis, element: Element, dimension: int) -> None:
    if element.dimension != dimension or analysis.dimension != dimension:
        raise ModelError(f"{element} does not fit a {analysis} body of {dimension} dimensions")

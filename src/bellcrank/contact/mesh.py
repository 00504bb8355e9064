"""Triangle meshes as contact shapes, as they come: closed or open, overlapping, in several shells, wound either way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.keys import ARRAY, NUMBER, PACKED, POSITIVE, TEXT, Keys, may, must
from bellcrank.contact.given import FACES, OUT_OF_SAMPLES, is_positive, numbers
from bellcrank.contact.mesh_cache import kept
from bellcrank.contact.mesh_depth import ExactDepth, Surface, areas_and_normals, clustered, prepared, spread
from bellcrank.contact.mesh_field import BLOCK, MeshField
from bellcrank.contact.mesh_grid import evaluated, tabulated
from bellcrank.contact.mesh_surface import SPREAD, contact_surface
from bellcrank.contact.shapes import FieldShape
from bellcrank.contact.shapes.base import check_plain
from bellcrank.contact.triangles import Triangles
from bellcrank.errors import ModelError
from bellcrank.fe.triangle_files import read_triangles
from bellcrank.math.tuples import Vec
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.contact.sampled import Sampled

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

RESOLUTION = 64
"""Cells along the longest side where the user says nothing: 3 mm of 0.2 m, a few MB and a fraction of a second."""
FINEST = 256
"""Cells along the longest side to which thin walls are followed where the user says nothing."""
BLOCKS = 8000
"""Blocks at most where the user says nothing: 85 MB."""
LARGEST = 512
"""Cells along the longest side at most."""
SHEET = 32.0
"""Size of a mesh over the thickness of its sheets where the user says nothing: two cells."""
THIN = 0.1
"""Share of the surface on walls thinner than a cell beyond which cells are halved: sharp edges make up less."""
WALL = 0.25
"""Half the thickness [cells] that walls get which are too thin for the grid: a spline takes 0.12 off a kink."""
SMALLEST_SIZE, LARGEST_SIZE = 1e-6, 1e6
"""Sizes [m] beyond which a mesh is in another unit of length."""
ROUNDED = 2.0**-30
"""Steps of the coordinates of vertices [cells]: far above what a change of unit does to them, far below an error."""
OLD_FILES = (".stl", ".obj", ".ply")
"""Mesh files that older models name."""
DRAWN = 40_000
"""Triangles in pictures at most, about: parts of robots have ten thousand, and a page takes ten bytes for each."""
PROBES = 2000
"""Points of the surface at which the depth is compared with the exact one."""


def _check_scale(scale: Any) -> None:
    check_plain("mesh", scale=scale)
    if not is_positive(scale):
        raise ModelError(f"scale of a mesh must be a positive number, not {scale!r}")


@dataclass(frozen=True, eq=False)
class Mesh(FieldShape):
    """A body bounded by triangles, or sheets of them.

    vertices: [m], (n, 3). faces: Numbers of their vertices, (m, 3). thickness: [m] makes all of it a sheet, half of the
    thickness on either side; without it closed parts are solid, and open ones are sheets of 1/32 of the size.
    resolution: Cells of the grid of depths along the longest side; without it 64, or up to 256 where walls are thin.
    source: The file it was read from and its scale; a model file beside it names it instead of the triangles.
    """

    kind: ClassVar[str] = "triangles"
    keys: ClassVar[Keys] = Keys(
        "A triangle mesh, closed or open, that touches by its field.",
        may(
            "file",
            TEXT,
            "Mesh file beside the model (STL, OBJ, PLY, OFF, GLB, glTF, COLLADA), instead of vertices and faces.",
            files=(*OLD_FILES, ".off", ".glb", ".gltf"),
        ),
        may(
            "scale",
            NUMBER,
            "Metres in a unit of length of the file; 1 where missing. A plain number.",
            plain=True,
        ),
        may("vertices", PACKED, ARRAY, dimensions=2),
        FACES,
        may("thickness", NUMBER, "Of sheets [m]. A plain number.", plain=True),
        may(
            "resolution",
            NUMBER,
            "Cells of the grid of depths along the longest side. A plain number.",
            whole=(BLOCK, LARGEST),
        ),
    )
    old_kinds: ClassVar[Mapping[str, Keys]] = {
        "mesh": Keys(
            "The surface of a triangle mesh.",
            must(
                "file", TEXT, "STL, OBJ or PLY file in the folder of the model or below it.", files=OLD_FILES
            ),
            may("spacing", POSITIVE, "Distance of samples [m].", old=OUT_OF_SAMPLES),
            may("scale", POSITIVE, "Of the coordinates, such as 1e-3 for millimetres; 1 where missing."),
        )
    }

    vertices: Array
    # Of other shapes a flag about their ends.
    faces: Indices  # type: ignore[assignment, misc]
    thickness: float | None = None
    resolution: int | None = None
    source: tuple[Path, float] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        vertices = numbers(self.vertices, "vertices of a mesh")
        given = np.asarray(self.faces)
        for found, what in ((vertices, "vertices"), (given, "faces")):
            if found.ndim != 2 or found.shape[1] != 3:
                raise ModelError(f"{what} of a mesh have the shape (number, 3), not {found.shape}")
        if given.dtype.kind not in "iu":
            raise ModelError(f"faces of a mesh are whole numbers, not {given.dtype}")
        if len(given) == 0:
            raise ModelError("the mesh has no triangles")
        faces = np.ascontiguousarray(given, np.int64)
        wrong = (faces < 0) | (faces >= len(vertices))
        if wrong.any():
            row = int(np.argmax(wrong.any(axis=1)))
            raise ModelError(
                f"face {row} of the mesh names vertex {faces[row][wrong[row]][0]}, which does not exist: "
                f"there are {len(vertices)}"
            )
        named = np.unique(faces)
        used = vertices[named]
        bad = np.flatnonzero(~np.isfinite(used).all(axis=1))
        if len(bad):
            raise ModelError(f"vertex {named[bad[0]]} of the mesh is not a number")
        size = float(np.ptp(used, axis=0).max())
        if size == 0.0:
            raise ModelError("all vertices of the mesh lie in one point")
        if not SMALLEST_SIZE <= size <= LARGEST_SIZE or np.abs(used).max() > 1e6 * size:
            raise ModelError(
                f"the mesh is {size:g} m long and reaches to {np.abs(used).max():g} m; give scale= (1e-3 for "
                "millimetres), or move it to its own origin"
            )
        if self.thickness is not None and not is_positive(self.thickness):
            raise ModelError(f"the thickness of a mesh must be a positive length [m], not {self.thickness!r}")
        r = self.resolution
        if r is not None and not (
            isinstance(r, int | np.integer) and not isinstance(r, bool) and BLOCK <= r <= LARGEST
        ):
            raise ModelError(
                f"the resolution of a mesh is a whole number of {BLOCK} to {LARGEST} cells, not {r!r}"
            )
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "faces", faces)

    @classmethod
    def of_keys(cls, given: Mapping[str, Any]) -> Mesh:
        more = {key: value for key, value in given.items() if key not in ("file", "vertices", "faces")}
        if "file" in given:
            return cls.from_file(Path(given["file"]), **more)
        for key in ("vertices", "faces"):
            if key not in given:
                raise ModelError(f"a mesh needs {key!r}, or a 'file'")
        if "scale" in given:
            raise ModelError("scale of a mesh belongs to a file; vertices are in metres")
        return cls(given["vertices"], given["faces"], **more)

    def to_keys(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in ("vertices", "faces", "thickness", "resolution")}

    @staticmethod
    def of(given: Any, *, scale: float = 1.0, **more: Any) -> Mesh:
        """From a file, from vertices and faces, or from what has both, as the meshes of trimesh do."""
        if isinstance(given, str | PathLike):
            return Mesh.from_file(given, scale=scale, **more)
        pair: Any = given
        if not isinstance(given, tuple | list):
            pair = getattr(given, "vertices", None), getattr(given, "faces", None)
        if len(pair) != 2 or any(part is None for part in pair):
            raise ModelError(f"a mesh is a file, or (vertices, faces), not a {type(given).__name__}")
        _check_scale(scale)
        vertices, faces = pair
        return Mesh(scale * numbers(vertices, "vertices of a mesh"), faces, **more)

    @staticmethod
    def from_file(
        path: str | PathLike[str],
        *,
        scale: float = 1.0,
        thickness: float | None = None,
        resolution: int | None = None,
    ) -> Mesh:
        """A mesh file (STL, OBJ, PLY, OFF, GLB, glTF, COLLADA).

        scale: Metres in its unit of length, 1e-3 for millimetres.
        """
        _check_scale(scale)
        vertices, faces = read_triangles(path)
        try:
            return Mesh(vertices * scale, faces, thickness, resolution, (Path(path), float(scale)))
        except ModelError as error:
            raise ModelError(f"{path}: {error}") from None

    @cached_property
    def _surface(self) -> Surface:
        return prepared(self.vertices, self.faces, self.thickness is not None)

    @cached_property
    def size(self) -> float:
        """The longest side of the box around the mesh [m]."""
        return float(np.ptp(self._surface.vertices, axis=0).max())

    @cached_property
    def sheet_thickness(self) -> float:
        """Of the parts that are sheets [m]."""
        return self.size / SHEET if self.thickness is None else float(self.thickness)

    @cached_property
    def _tables(self) -> tuple[MeshField, Array, float]:
        """The field, its errors [m] at points of the surface, and the share of walls that are too thin for it."""
        return kept(self.vertices, self.faces, f"{self.thickness!r} {self.resolution!r}", self._made)

    def _made(self) -> tuple[MeshField, Array, float]:
        cells = RESOLUTION if self.resolution is None else int(self.resolution)
        while True:
            exact = ExactDepth(self._scaled(cells), self.sheet_thickness * cells / self.size)
            points, inwards = self._probes()
            centre, spacing = self._middle, self.size / cells
            # A point half a cell behind a wall is that deep, unless the wall ends before.
            behind = exact((points - centre) / spacing + 0.5 * inwards)
            thin = float(np.mean(behind < 0.4))
            # The band around a smooth surface passes through about three blocks for each square of a block's side.
            blocks = 3.0 * self._area / (BLOCK * 0.5 * spacing) ** 2
            if self.resolution is None and thin > THIN and 2 * cells <= FINEST and blocks <= BLOCKS:
                cells *= 2
                continue
            if thin > THIN:
                exact = exact.thickened(WALL)
            field = tabulated(exact, self._extent / spacing, centre, spacing)
            expected = spacing * exact((points - centre) / spacing)
            errors = evaluated(field, points)[0] - expected
            # Within overlaps of solids the surface is none.
            return field, errors[np.abs(expected) < spacing], thin

    def _scaled(self, cells: int) -> Surface:
        """The surface around the origin, in cells; rounded, so that a mesh has the same tables in every unit."""
        return self._surface.scaled(self._middle, self.size / cells, ROUNDED)

    @cached_property
    def _middle(self) -> Array:
        v = self._surface.vertices
        return np.asarray(0.5 * (v.min(axis=0) + v.max(axis=0)))

    @cached_property
    def _extent(self) -> Array:
        """Sides of the box around the mesh [m], (3,)."""
        thick = self.sheet_thickness if len(self._surface.sheets) else 0.0
        return np.asarray(np.ptp(self._surface.vertices, axis=0) + thick)

    @cached_property
    def _area(self) -> float:
        return float(areas_and_normals(self._surface.vertices, self._surface.faces)[0].sum())

    def _probes(self) -> tuple[Array, Array]:
        """Points spread evenly over solids and both sides of sheets [m], and the inward normals there."""
        s = self._surface
        points, normals, chosen = spread(s.vertices, s.faces, PROBES)
        side = np.where(chosen < len(s.solids), 0.0, np.where(np.arange(PROBES) % 2, -0.5, 0.5))
        inwards = normals * np.where(side < 0.0, 1.0, -1.0)[:, None]
        return points + (side * self.sheet_thickness)[:, None] * normals, inwards

    @property
    def field(self) -> MeshField:
        """The depth of points in the shape, as a record of the loop language."""
        return self._tables[0]

    @property
    def repairs(self) -> tuple[str, ...]:
        """What was repaired."""
        return tuple(self._surface.notes)

    def sampled(self) -> Sampled:
        """The vertices as samples of a smooth surface, with the mean normals of the triangles around them."""
        from bellcrank.contact.sampled import Sampled

        s = self._surface
        used, local = np.unique(s.faces, return_inverse=True)
        area, normal = areas_and_normals(s.vertices, s.faces)
        sums = np.zeros((len(used), 3))
        np.add.at(sums, local.reshape(-1), np.repeat(area[:, None] * normal, 3, axis=0))
        whole = np.linalg.norm(sums, axis=1) > 0.0
        return Sampled(np.ascontiguousarray(s.vertices[used][whole]), sums[whole], self.repairs)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What was assumed and repaired, and how exact the depth is."""
        field, errors, thin = self._tables
        notes = list(self._surface.notes)
        if len(self._surface.sheets) and self.thickness is None:
            parts = (
                "the surface is open" if not len(self._surface.solids) else "parts of the surface are open"
            )
            notes.append(
                f"{parts} and taken as sheets {1e3 * self.sheet_thickness:.3g} mm thick; give thickness= to change that"
            )
        if thin > THIN:
            notes.append(
                f"{100.0 * thin:.0f} % of the surface is on walls thinner than a cell of {1e3 * field.spacing:.3g} mm; "
                f"walls are at least {2e3 * WALL * field.spacing:.2g} mm thick"
            )
        median, most = 1e3 * np.percentile(np.abs(errors), (50, 99))
        notes.append(
            f"depths are on cells of {1e3 * field.spacing:.3g} mm: off by {median:.2g} mm in the median and "
            f"{most:.2g} mm for 99 % of the surface; give resolution= to change that"
        )
        return tuple(notes)

    def triangles(self, spacing: float | None = None) -> Triangles:
        """The surface, graded: original triangles, cut along convex creases, thinned where there are far too many.

        spacing: Longest edge along creases [m]; without it a fiftieth of the size.
        """
        return contact_surface(
            self._surface, self.sheet_thickness, self.size / 50.0 if spacing is None else spacing, self.size
        )

    def facets(self) -> Triangles:
        """Creases in pieces of an eighth of the size: a plane needs them no finer, and the load spreads well enough."""
        return contact_surface(self._surface, self.sheet_thickness, self.size / 8.0, self.size, SPREAD)

    def drawn(self) -> Triangles:
        """The triangles as they are, or thinned where there are very many."""
        s = self._surface
        if len(s.faces) <= DRAWN:
            return Triangles(s.vertices, s.faces)
        return Triangles(*clustered(s.vertices, s.faces, 2.0 * (self._area / DRAWN) ** 0.5))

    @cached_property
    def _moments(self) -> tuple[float, Array, Array]:
        s = self._surface
        if not len(s.solids):
            return _of_sheets(s.vertices, s.sheets, self.sheet_thickness)
        if not len(s.sheets) and s.closed_solids and not s.overlapping:
            whole = Triangles(s.vertices, s.solids)
            return whole.volume, whole.centre, whole.inertia
        return _of_field(self.field)

    @property
    def volume(self) -> float:
        """[m^3]."""
        return self._moments[0]

    @property
    def centre(self) -> Array:
        """The centre of mass [m], (3,)."""
        return self._moments[1]

    @property
    def inertia(self) -> Array:
        """About the centre of mass in the axes of the shape, at unit density [m^5], (3, 3)."""
        return self._moments[2]

    @cached_property
    def extent(self) -> float:
        """No point lies further than this from the origin of the frame [m]."""
        thick = 0.5 * self.sheet_thickness if len(self._surface.sheets) else 0.0
        return float(np.linalg.norm(self._surface.vertices, axis=1).max()) + thick

    def bounding_radius(self) -> Scalar:
        return self.extent

    def implicit(self, s: Vec) -> Scalar:
        raise ModelError(
            "a mesh has no implicit function of traced values; it meets other shapes by its field"
        )


def _of_sheets(v: Array, f: Indices, thickness: float) -> tuple[float, Array, Array]:
    """Volume, centre and inertia of thin sheets: integrals over the area, by the middles of edges (exact)."""
    area, _ = areas_and_normals(v, f)
    middles = 0.5 * (v[f] + v[np.roll(f, -1, axis=1)])
    centre = np.einsum("i,ijk->k", area, middles) / (3.0 * area.sum())
    r = middles - centre
    products = np.einsum("i,ijk,ijl->kl", area, r, r) / 3.0
    return (
        thickness * float(area.sum()),
        centre,
        thickness * (np.trace(products) * np.eye(3) - products),
    )


def _of_field(field: MeshField) -> tuple[float, Array, Array]:
    """Volume, centre and inertia of what the field holds inside, by one point a cell; a cell across the surface counts
    by its depth."""
    h = field.spacing
    axes = [
        np.arange(BLOCK * n) * h + 0.5 * h + at
        for n, at in zip((field.nx, field.ny, field.nz), field.origin, strict=True)
    ]
    total, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for x in axes[0]:
        points = np.stack(np.meshgrid([x], axes[1], axes[2], indexing="ij"), axis=-1).reshape(-1, 3)
        share = np.clip(evaluated(field, points)[0] / h + 0.5, 0.0, 1.0) * h**3
        total += float(share.sum())
        first += share @ points
        second += np.einsum("i,ij,ik->jk", share, points, points)
    if total == 0.0:
        raise ModelError("the mesh holds no volume at its resolution; give mass and inertia, or resolution=")
    centre = first / total
    products = second - total * np.outer(centre, centre)
    return total, centre, np.trace(products) * np.eye(3) - products


__all__ = ["Mesh"]

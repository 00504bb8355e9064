"""Volume, centre and inertia of the meshes of an MJCF model, as MuJoCo takes them.

Source: MuJoCo documentation, XML reference, asset/mesh/inertia. Volumes are sums over tetrahedra between a point and
the triangles: signed ones in "exact", those of the convex hull in "convex", and magnitudes about the centroid of the
surface in "legacy".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bellcrank.files.beside import MAX_MESH_BYTES, below, is_file
from bellcrank.files.elements import Element
from bellcrank.files.imported import Array
from bellcrank.files.places import nearest
from bellcrank.math.arrays import rotation_of_quaternion

Faces = NDArray[np.int64]

MODES = ("legacy", "exact", "convex")
"""The first where a mesh says nothing."""
KINDS = (".stl", ".obj", ".msh")


@dataclass(eq=False)
class Meshes:
    """The meshes of a model by name. folder: Where their files lie, None for a text. root: The folder never left."""

    folder: Path | None = None
    root: Path | None = None
    elements: dict[str, Element] = field(default_factory=dict)
    _found: dict[str, tuple[float, Array, Array]] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Element, folder: Path | None, include_root: Path | None) -> Meshes:
        """From the <asset> elements."""
        made = cls(folder, include_root or folder)
        for compiler in root.all("compiler"):
            given = compiler.text("meshdir") or compiler.text("assetdir")
            if given and folder is not None:
                made.folder = folder / given
        for asset in root.children:
            for mesh in asset.children if asset.tag == "asset" else ():
                if mesh.tag == "mesh":
                    name = mesh.attributes.get("name") or Path(mesh.attributes.get("file", "")).stem
                    made.elements[name] = mesh
        return made

    def of_unit_density(self, geom: Element, name: str) -> tuple[float, Array, Array]:
        """Volume [m^3], centre [m] and inertia about it for a density of one [m^5], in the axes of the file."""
        if name not in self.elements:
            raise geom.error(f"no mesh named {name!r}{nearest(name, self.elements)}")
        if name not in self._found:
            self._found[name] = self._read(geom, self.elements[name])
        return self._found[name]

    def _read(self, geom: Element, mesh: Element) -> tuple[float, Array, Array]:
        mode = mesh.text("inertia", MODES[0]) or MODES[0]
        if mode not in MODES:
            raise mesh.error(
                f"inertia={mode!r} of {mesh.label} is not read; give the bodies with it an <inertial>"
            )
        scale = np.array(mesh.numbers("scale", (3,), (1.0, 1.0, 1.0)))
        if mesh.text("vertex") is not None:
            vertices = np.array(mesh.numbers("vertex", ())).reshape(-1, 3)
            faces = np.array(mesh.numbers("face", (), ())).reshape(-1, 3).astype(np.int64)
            if not len(faces):
                mode = "convex"
        else:
            vertices, faces = self._file(geom, mesh)
        if mode == "convex":
            vertices, faces = hull(mesh, vertices)
        vertices = vertices - np.array(mesh.numbers("refpos", (3,), (0.0, 0.0, 0.0)))
        turn = np.array(mesh.numbers("refquat", (4,), (1.0, 0.0, 0.0, 0.0)))
        vertices = vertices @ rotation_of_quaternion(turn / np.linalg.norm(turn)) * scale
        if np.prod(scale) < 0.0:
            faces = faces[:, ::-1]
        volume, centre, inertia = integrals(vertices, faces, mode == "legacy")
        if not volume > 0.0:
            raise mesh.error(f"{mesh.label} encloses no volume; give the bodies with it an <inertial>")
        return volume, centre, inertia

    def _file(self, geom: Element, mesh: Element) -> tuple[Array, Faces]:
        name = mesh.needed("file")
        if self.folder is None or self.root is None:
            raise geom.error(
                f"the mass of {geom.label} comes from the mesh {name!r}, which a text has not beside it"
            )
        relative = self.folder.resolve() / name
        try:
            path = below(self.root, str(relative.resolve().relative_to(self.root.resolve())))
        except ValueError:
            path = None
        if path is None:
            raise geom.error(
                f"the mesh {name!r} lies outside of the model's folder and is not read, for safety; name a folder "
                "above both (include_root=, --include-root), or give the body an <inertial>"
            )
        if path.suffix.lower() not in KINDS or not is_file(path) or path.stat().st_size > MAX_MESH_BYTES:
            raise geom.error(
                f"the mass of {geom.label} comes from the mesh {name!r}, which is not there or of no kind that is read "
                f"({', '.join(KINDS)}); give the body an <inertial>"
            )
        if path.suffix.lower() == ".msh":
            return _binary(mesh, path.read_bytes())
        from bellcrank.fe.triangle_files import read_triangles as read

        vertices, faces = read(path)
        return np.asarray(vertices, dtype=float), np.asarray(faces, dtype=np.int64)


def _binary(mesh: Element, data: bytes) -> tuple[Array, Faces]:
    """MuJoCo's own format: four counts, then vertices, normals, texture coordinates and faces, 4 bytes a number."""
    counts = np.frombuffer(data[:16], "<i4").astype(int) if len(data) >= 16 else np.full(4, -1)
    vertices, normals, texture, faces = counts.tolist()
    numbers = 3 * vertices + 3 * normals + 2 * texture + 3 * faces
    if min(counts) < 0 or len(data) != 16 + 4 * numbers:
        raise mesh.error(f"the file of {mesh.label} is no mesh of MuJoCo: its counts do not fit its size")
    first = 16 + 4 * (3 * vertices + 3 * normals + 2 * texture)
    points = np.frombuffer(data[16 : 16 + 12 * vertices], "<f4").reshape(-1, 3).astype(float)
    corners = np.frombuffer(data[first:], "<i4").reshape(-1, 3).astype(np.int64)
    if not np.isfinite(points).all() or (faces and not 0 <= corners.min() <= corners.max() < vertices):
        raise mesh.error(
            f"the file of {mesh.label} is no mesh of MuJoCo: faces name points that are not there"
        )
    return points, corners


def hull(mesh: Element, vertices: Array) -> tuple[Array, Faces]:
    """The convex hull of points, its triangles turned outwards."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        found = ConvexHull(vertices)
    except (QhullError, ValueError) as error:
        raise mesh.error(f"{mesh.label} has no convex hull: its points lie in a plane") from error
    faces: Faces = found.simplices.astype(np.int64)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), found.equations[:, :3]) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return vertices, faces


def integrals(vertices: Array, faces: Faces, magnitudes: bool) -> tuple[float, Array, Array]:
    """Volume, centre and inertia about it of a closed surface.

    magnitudes: Of tetrahedra about the centroid of the surface for the centre, and then about that for the others.
    """
    corners = vertices[faces]
    apex = np.zeros(3)
    if magnitudes:
        areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        apex = (areas @ corners.mean(axis=1)) / max(areas.sum(), 1e-300)
    volumes = _volumes(corners - apex, magnitudes)
    volume = float(volumes.sum())
    if not volume > 0.0:
        return volume, apex, np.zeros((3, 3))
    centre = apex + (volumes @ (corners - apex).sum(axis=1)) / (4.0 * volume)
    corners = corners - centre
    volumes, sums = _volumes(corners, magnitudes), corners.sum(axis=1)
    # Second moments of a tetrahedron with a corner at the origin: V/20 (sum of corner products + product of sums).
    S = np.einsum("t,tki,tkj->ij", volumes, corners, corners) + np.einsum("t,ti,tj->ij", volumes, sums, sums)
    return float(volumes.sum()), centre, (np.trace(S) * np.eye(3) - S) / 20.0


def _volumes(corners: Array, magnitudes: bool) -> Array:
    """Of the tetrahedra between the origin and triangles."""
    found = np.linalg.det(corners) / 6.0
    return np.asarray(np.abs(found) if magnitudes else found)


__all__ = ["MODES", "Meshes", "hull", "integrals"]

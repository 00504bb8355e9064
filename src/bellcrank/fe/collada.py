"""Triangles and colours of a COLLADA file (.dae), which robots in URDF use; nothing else is opened.

Source: Barnes, Finch (2008), "COLLADA - Digital Asset Schema Release 1.4.1", chapter 5. Differs in: z is up, whatever
axis the file says is, as the tools of URDF take it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from warnings import catch_warnings, simplefilter
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from bellcrank.fe.gltf import MOST, NODES

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

DEPTH, ELEMENTS = 100, 200_000
"""Of XML at most."""
SHAPES = ("triangles", "polylist", "polygons", "tristrips", "trifans")
"""Elements that hold faces; others hold lines."""


@dataclass(eq=False)
class Tag:
    """An element."""

    name: str
    attributes: dict[str, str]
    texts: list[str] = field(default_factory=list)
    children: list[Tag] = field(default_factory=list)

    def all(self, *names: str) -> list[Tag]:
        """The children of these names."""
        return [child for child in self.children if child.name in names]

    def first(self, name: str) -> Tag | None:
        """The first child of a name."""
        return next(iter(self.all(name)), None)

    def walk(self) -> Iterator[Tag]:
        """The element and all below it."""
        waiting = [self]
        while waiting:
            here = waiting.pop()
            yield here
            waiting += reversed(here.children)

    def numbers(self, count: int | None = None) -> Array:
        """Its text as so many numbers."""
        found: Array = self._read(np.float64)
        if count is not None and len(found) != count:
            raise ValueError(f"<{self.name}> holds {len(found)} numbers instead of {count}")
        if not np.isfinite(found).all():
            raise ValueError(f"<{self.name}> holds what is no finite number")
        return found

    def whole(self) -> Indices:
        """Its text as whole numbers."""
        return self._read(np.int64)

    def _read(self, kind: type) -> NDArray[Any]:
        with catch_warnings():
            # Versions of NumPy differ in how they say that a text is no list of numbers.
            simplefilter("error", DeprecationWarning)
            try:
                return np.fromstring("".join(self.texts).strip(), kind, sep=" ")
            except (ValueError, DeprecationWarning):
                raise ValueError(f"<{self.name}> holds what is no number") from None


Colour = tuple[float, float, float]
"""Red, green and blue, 0 to 1."""


@dataclass(frozen=True, eq=False)
class Piece:
    """Triangles of one colour: vertices [m] (n, 3), faces (m, 3). colour: None where the file names none."""

    vertices: Array
    faces: Indices
    colour: Colour | None


def joined(meshes: Sequence[tuple[Array, Indices]]) -> tuple[Array, Indices]:
    """Several meshes as one."""
    if len(meshes) == 1:
        return meshes[0]
    vertices, faces, first = [np.zeros((0, 3))], [np.zeros((0, 3), np.int64)], 0
    for points, corners in meshes:
        vertices.append(points)
        faces.append(corners + first)
        first += len(points)
    return np.concatenate(vertices), np.concatenate(faces)


def pieces(data: bytes) -> list[Piece]:
    """What the scene of a file shows, in the order of the file."""
    return _Reader(_parsed(data)).whole()


def _parsed(data: bytes) -> Tag:
    """The elements of a file, no document types and entities among them."""
    parser = expat.ParserCreate()
    root = Tag("", {})
    open_tags, count = [root], 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > ELEMENTS or len(open_tags) > DEPTH:
            raise ValueError(f"more than {ELEMENTS} elements, or {DEPTH} within each other")
        tag = Tag(name.rpartition(":")[2], attributes)
        open_tags[-1].children.append(tag)
        open_tags.append(tag)

    def refuse(*_: object) -> None:
        raise ValueError("it has a document type, which COLLADA has not")

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: open_tags.pop() and None
    parser.CharacterDataHandler = lambda text: open_tags[-1].texts.append(text)
    parser.StartDoctypeDeclHandler = refuse
    parser.buffer_text = True
    parser.Parse(data, True)
    found = root.first("COLLADA")
    if found is None:
        raise ValueError("there is no element <COLLADA>")
    return found


class _Reader:
    def __init__(self, root: Tag) -> None:
        self.root = root
        self.named = {tag.attributes["id"]: tag for tag in root.walk() if "id" in tag.attributes}
        self.pieces: list[Piece] = []
        self.points = self.triangles = self.nodes = 0

    def whole(self) -> list[Piece]:
        """Everything in the scene, or every geometry where there is none."""
        scene = self.root.first("scene")
        shown = None if scene is None else scene.first("instance_visual_scene")
        if shown is not None:
            for node in self._named(shown, "url").all("node"):
                self._node(node, np.eye(4), ())
        else:
            for library in self.root.all("library_geometries"):
                for geometry in library.all("geometry"):
                    self._geometry(geometry, np.eye(4), {})
        asset = self.root.first("asset")
        unit = None if asset is None else asset.first("unit")
        metre = 1.0 if unit is None else float(unit.attributes.get("meter", "1"))
        if not 0.0 < metre < np.inf:
            raise ValueError(f"its unit is {metre} m")
        return [Piece(metre * piece.vertices, piece.faces, piece.colour) for piece in self.pieces]

    def _named(self, tag: Tag, key: str) -> Tag:
        """What an attribute refers to, within the file."""
        name = tag.attributes.get(key, "")
        if not name.startswith("#"):
            raise ValueError(f"{name[:80]!r} is in another file; export it into one")
        if name[1:] not in self.named:
            raise ValueError(f"nothing is called {name[1:80]!r}")
        return self.named[name[1:]]

    def _node(self, node: Tag, above: Array, path: tuple[int, ...]) -> None:
        self.nodes += 1
        if id(node) in path or len(path) > DEPTH:
            raise ValueError("its nodes contain themselves")
        if self.nodes > NODES:
            raise ValueError(f"it shows more than {NODES} nodes")
        here, path = above, (*path, id(node))
        for child in node.children:
            here = here @ _placement(child)
        for child in node.children:
            if child.name == "node":
                self._node(child, here, path)
            elif child.name == "instance_node":
                self._node(self._named(child, "url"), here, path)
            elif child.name == "instance_geometry":
                self._geometry(self._named(child, "url"), here, self._bound(child))
            elif child.name == "instance_controller":
                raise ValueError("its triangles hang on a skeleton; export them without it")

    def _bound(self, instance: Tag) -> dict[str, Colour]:
        """The colours that the symbols of materials have in an instance of a geometry."""
        found = {}
        for tag in instance.walk():
            if tag.name == "instance_material" and (colour := self._colour(tag)) is not None:
                found[tag.attributes.get("symbol", "")] = colour
        return found

    def _colour(self, instance: Tag) -> Colour | None:
        """The diffuse colour of a material; None for textures, and where it is not told."""
        material = self.named.get(instance.attributes.get("target", "").removeprefix("#"))
        used = None if material is None else material.first("instance_effect")
        effect = None if used is None else self.named.get(used.attributes.get("url", "").removeprefix("#"))
        for tag in () if effect is None else effect.walk():
            colour = tag.first("color") if tag.name == "diffuse" else None
            if colour is not None:
                r, g, b, _ = np.clip(colour.numbers(4), 0.0, 1.0).tolist()
                return r, g, b
        return None

    def _geometry(self, geometry: Tag, here: Array, colours: Mapping[str, Colour]) -> None:
        for mesh in geometry.all("mesh"):
            for shape in mesh.all(*SHAPES):
                self._shape(shape, here, colours.get(shape.attributes.get("material", "")))

    def _shape(self, shape: Tag, here: Array, colour: Colour | None) -> None:
        inputs = shape.all("input")
        vertex = next((tag for tag in inputs if tag.attributes.get("semantic") == "VERTEX"), None)
        if vertex is None:
            return
        position = next(
            tag
            for tag in self._named(vertex, "source").all("input")
            if tag.attributes.get("semantic") == "POSITION"
        )
        points = self._array(self._named(position, "source"))
        offsets = [int(tag.attributes.get("offset", "0")) for tag in inputs]
        width, own = max(offsets) + 1, int(vertex.attributes.get("offset", "0"))
        if min(offsets) < 0 or width > 100:
            raise ValueError("the offset of an input is no place")
        if shape.name == "polygons" and shape.all("ph"):
            raise ValueError("its polygons have holes; export it as triangles")
        lists = [p.whole()[own::width] for p in shape.all("p")]
        faces = _faces(shape, lists)
        if len(faces) and not (faces.min() >= 0 and faces.max() < len(points)):
            raise ValueError("a face names a vertex that does not exist")
        if np.linalg.det(here[:3, :3]) < 0.0:
            faces = faces[:, ::-1]
        self.pieces.append(Piece(points @ here[:3, :3].T + here[:3, 3], faces, colour))
        self.points += len(points)
        self.triangles += len(faces)
        if max(self.points, self.triangles) > MOST:
            raise ValueError(f"it shows more than {MOST} triangles or vertices")

    def _array(self, source: Tag) -> Array:
        """The points of a source (n, 3)."""
        technique = source.first("technique_common")
        accessor = None if technique is None else technique.first("accessor")
        if accessor is None:
            raise ValueError("a source of positions has no accessor")
        values = self._named(accessor, "source").numbers()
        about = accessor.attributes
        count, stride, first = (
            int(about["count"]),
            int(about.get("stride", "1")),
            int(about.get("offset", "0")),
        )
        if not (count >= 0 and stride >= 3 and first >= 0 and first + stride * count <= len(values)):
            raise ValueError(f"an array of {count} points is longer than its numbers; the file is cut off")
        return values[first : first + stride * count].reshape(count, stride)[:, :3]


def _placement(tag: Tag) -> Array:
    """The matrix of one transformation of a node (4, 4)."""
    found = np.eye(4)
    if tag.name == "matrix":
        return tag.numbers(16).reshape(4, 4)
    if tag.name == "translate":
        found[:3, 3] = tag.numbers(3)
    elif tag.name == "scale":
        found[:3, :3] = np.diag(tag.numbers(3))
    elif tag.name == "rotate":
        *axis, degrees = tag.numbers(4)
        n, angle = np.array(axis), np.radians(degrees)
        length = np.linalg.norm(n)
        if length > 0.0:
            x, y, z = n / length
            K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
            found[:3, :3] += np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
    elif tag.name in ("lookat", "skew"):
        raise ValueError(f"a node is placed by <{tag.name}>; export it with matrices")
    return found


def _faces(shape: Tag, lists: list[Indices]) -> Indices:
    """Triangles (n, 3) of the corners of an element; polygons are fans around their first corner."""
    if shape.name == "triangles":
        lists = [corners[: len(corners) // 3 * 3].reshape(-1, 3) for corners in lists]
        return np.concatenate(lists) if lists else np.zeros((0, 3), np.int64)
    if shape.name == "polylist":
        counted = shape.first("vcount")
        sizes = np.zeros(0, np.int64) if counted is None else counted.whole()
        corners = np.concatenate(lists) if lists else np.zeros(0, np.int64)
        if len(sizes) and (sizes.min() < 0 or sizes.sum() != len(corners)):
            raise ValueError("its polygons have more or fewer corners than they say; the file is cut off")
        lists = np.split(corners, np.cumsum(sizes)[:-1]) if len(sizes) else []
    found = [np.zeros((0, 3), np.int64)]
    for corners in lists:
        k = np.arange(max(0, len(corners) - 2))
        if shape.name == "tristrips":
            odd = k % 2
            found.append(np.stack([corners[k], corners[k + 1 + odd], corners[k + 2 - odd]], axis=1))
        else:
            found.append(np.stack([corners[np.zeros_like(k)], corners[k + 1], corners[k + 2]], axis=1))
    return np.concatenate(found)

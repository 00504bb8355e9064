"""Triangles of a glTF 2.0 file, binary (.glb) or text with its buffers within it; nothing else is opened.

Source: Khronos, glTF 2.0 specification, 3.6 (buffers and accessors), 3.7 (meshes), 3.5 (nodes), 4.4 (binary layout).
"""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

TYPES = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
"""Of numbers, by their codes."""
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
MOST = 5_000_000
"""Triangles and vertices at most, as many as the largest file of another format holds; meshes may be shown often."""
NODES = 20_000
"""Nodes at most, each as often as it is shown: about a second."""
TRIANGLES, STRIP, FAN = 4, 5, 6
"""Modes of primitives."""


def triangles(data: bytes) -> tuple[Array, Indices]:
    """Vertices and faces of the default scene, y up turned to z up, as the format says its y is."""
    document, binary = _parts(data)
    if not isinstance(document, dict):
        raise ValueError("its JSON is not an object")
    return _Reader(document, binary).whole()


def _parts(data: bytes) -> tuple[Any, bytes]:
    """The JSON of a file, and its binary chunk."""
    if data[:4] != b"glTF":
        return json.loads(data), b""
    if len(data) < 20:
        raise ValueError("the file is cut off")
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2 or length > len(data):
        raise ValueError(f"version {version}, {length} bytes claimed and {len(data)} there")
    found: dict[bytes, bytes] = {}
    at = 12
    while at + 8 <= length:
        size, kind = struct.unpack_from("<I4s", data, at)
        if at + 8 + size > length:
            raise ValueError("a chunk is longer than the file; it is cut off")
        found.setdefault(kind, data[at + 8 : at + 8 + size])
        at += 8 + size
    return json.loads(found[b"JSON"]), found.get(b"BIN\0", b"")


class _Reader:
    def __init__(self, document: dict[str, Any], binary: bytes) -> None:
        self.document, self.binary = document, binary
        self.vertices: list[Array] = []
        self.faces: list[Indices] = []
        self.buffers: dict[int, bytes] = {}
        self.triangles = self.points = self.nodes = 0

    def whole(self) -> tuple[Array, Indices]:
        scenes = self.document.get("scenes", [])
        nodes = self.document.get("nodes", [])
        if scenes:
            roots = scenes[self.document.get("scene", 0)].get("nodes", [])
        else:
            roots = range(len(nodes))
        for root in roots:
            self._node(nodes, root, np.eye(4), ())
        if not self.faces:
            return np.zeros((0, 3)), np.zeros((0, 3), np.int64)
        x, y, z = np.concatenate(self.vertices).T
        return np.stack([x, -z, y], axis=1), np.concatenate(self.faces)

    def _node(self, nodes: list[Any], index: int, above: Array, path: tuple[int, ...]) -> None:
        if index in path or len(path) > 100:
            raise ValueError("its nodes contain themselves")
        node = nodes[index]
        self.nodes += 1
        if self.nodes > NODES:
            raise ValueError(f"it shows more than {NODES} nodes")
        here = above @ _placement(node)
        if "mesh" in node:
            for primitive in self.document["meshes"][node["mesh"]]["primitives"]:
                self._primitive(primitive, here)
        for child in node.get("children", []):
            self._node(nodes, child, here, (*path, index))

    def _primitive(self, primitive: dict[str, Any], here: Array) -> None:
        mode = primitive.get("mode", TRIANGLES)
        if mode not in (TRIANGLES, STRIP, FAN):
            return
        if "extensions" in primitive and "KHR_draco_mesh_compression" in primitive["extensions"]:
            raise ValueError("its triangles are compressed by Draco; export it without compression")
        points = self._accessor(primitive["attributes"]["POSITION"]).astype(np.float64).reshape(-1, 3)
        if "indices" in primitive:
            index = self._accessor(primitive["indices"]).astype(np.int64).reshape(-1)
        else:
            index = np.arange(len(points))
        if len(index) and not (index.min() >= 0 and index.max() < len(points)):
            raise ValueError("a triangle names a vertex that does not exist")
        f = _faces(index, mode)
        if np.linalg.det(here[:3, :3]) < 0.0:
            f = f[:, ::-1]
        self.faces.append(f + self.points)
        self.triangles += len(f)
        self.points += len(points)
        if max(self.triangles, self.points) > MOST:
            raise ValueError(f"it shows more than {MOST} triangles or vertices")
        self.vertices.append(points @ here[:3, :3].T + here[:3, 3])

    def _accessor(self, index: int) -> NDArray[Any]:
        """An array, never larger than the bytes it comes from."""
        about = self.document["accessors"][index]
        if "sparse" in about or "bufferView" not in about:
            raise ValueError("sparse arrays are not read; export it without them")
        view = self.document["bufferViews"][about["bufferView"]]
        data = self._buffer(view["buffer"])
        dtype, width, count = np.dtype(TYPES[about["componentType"]]), WIDTHS[about["type"]], about["count"]
        item = dtype.itemsize * width
        stride = view.get("byteStride", item)
        first = view.get("byteOffset", 0) + about.get("byteOffset", 0)
        if not (
            count >= 1 and first >= 0 and stride >= item and first + stride * (count - 1) + item <= len(data)
        ):
            raise ValueError(f"an array of {count} items is longer than its buffer; the file is cut off")
        return np.ndarray((count, width), dtype, data, first, (stride, dtype.itemsize))

    def _buffer(self, index: int) -> bytes:
        if index not in self.buffers:
            uri = self.document["buffers"][index].get("uri")
            if uri is None:
                return self.binary
            head, _, text = uri.partition(",")
            if not (head.startswith("data:") and head.endswith(";base64")):
                raise ValueError(f"its numbers are in another file, {uri[:80]!r}; export it as .glb")
            self.buffers[index] = base64.b64decode(text)
        return self.buffers[index]


def _placement(node: dict[str, Any]) -> Array:
    """The matrix of a node (4, 4)."""
    if "matrix" in node:
        return np.array(node["matrix"], np.float64).reshape(4, 4).T
    m = np.eye(4)
    x, y, z, w = np.array(node.get("rotation", (0.0, 0.0, 0.0, 1.0)), np.float64)
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    m[:3, :3] = turn * np.array(node.get("scale", (1.0, 1.0, 1.0)), np.float64)
    m[:3, 3] = node.get("translation", (0.0, 0.0, 0.0))
    return m


def _faces(index: Indices, mode: int) -> Indices:
    if mode == TRIANGLES:
        return index[: len(index) // 3 * 3].reshape(-1, 3)
    k = np.arange(max(0, len(index) - 2))
    if mode == FAN:
        return np.stack([index[np.zeros_like(k)], index[k + 1], index[k + 2]], axis=1)
    odd = k % 2
    return np.stack([index[k], index[k + 1 + odd], index[k + 2 - odd]], axis=1)

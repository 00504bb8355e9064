"""A scene with its motion as one binary glTF 2.0 file, for presentations and other viewers.

Source: Khronos Group, glTF 2.0 specification. Every frame of the scene is a node with a track of translation, rotation
and, where it is drawn out, scale; flexible bodies go from shape to shape by morph targets.
"""

from __future__ import annotations

import json
import struct
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.base.version import __version__
from bellcrank.errors import ModelError
from bellcrank.view.placing import GROUND
from bellcrank.view.scene import Scene, rgb, scene
from bellcrank.view.shapes import Array, Index

if TYPE_CHECKING:
    from bellcrank.result.result import Result

FLOAT, INDEX, POINTS, ELEMENTS = 5126, 5125, 34962, 34963
SHAPES = 48
"""Shapes of a flexible body, between which viewers mix."""
LINES, TRIANGLES = 1, 4


def gltf(result: Result, path: str | PathLike[str], magnified: float = 1.0, frames: int = 600) -> None:
    """Write the motion of a result; see :meth:`bellcrank.Result.gltf`."""
    path = Path(path)
    if path.suffix.lower() != ".glb":
        raise ModelError(f"{path}: motions are written as .glb, glTF in one file, not as {path.suffix!r}")
    if not len(result):
        raise ModelError("the result has no outputs: there is nothing to show")
    path.write_bytes(_File(scene(result, frames, magnified), result.mechanism.system.name).data())


class _File:
    def __init__(self, drawn: Scene, name: str) -> None:
        self.scene, self.name = drawn, name
        self.buffer = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self.materials: dict[tuple[str, float, bool], int] = {}
        self.nodes: list[dict[str, Any]] = []
        self.meshes: list[dict[str, Any]] = []
        self.samplers: list[dict[str, Any]] = []
        self.channels: list[dict[str, Any]] = []

    def data(self) -> bytes:
        """The file."""
        drawn = self.scene
        root: dict[str, Any] = {"name": self.name, "rotation": _xyzw(_upright(drawn.up)), "children": []}
        self.nodes.append(root)
        time = self._accessor(drawn.time - drawn.time[0], bounds=True)
        moving = len(drawn.time) > 1
        for k, name in enumerate(drawn.bodies):
            primitives = [p for body, s in drawn.solids if body == k for p in self._solid(s)]
            node: dict[str, Any] = {
                "name": name or f"part {k}",
                "translation": drawn.positions[0, k].tolist(),
                "rotation": _xyzw(drawn.quaternions[0, k]),
            }
            if primitives:
                node["mesh"] = self._mesh(primitives)
            root["children"].append(len(self.nodes))
            if moving:
                self._track(time, len(self.nodes), "translation", drawn.positions[:, k])
                self._track(time, len(self.nodes), "rotation", drawn.quaternions[:, k, [1, 2, 3, 0]])
                if np.ptp(drawn.stretch[:, k]) > 0.0:
                    scale = np.ones((len(drawn.time), 3))
                    scale[:, 2] = drawn.stretch[:, k]
                    self._track(time, len(self.nodes), "scale", scale)
            self.nodes.append(node)
        still = [p for body, s in drawn.solids if body == GROUND for p in self._solid(s)]
        if still:
            root["children"].append(len(self.nodes))
            self.nodes.append({"name": "ground", "mesh": self._mesh(still)})
        for d in drawn.deforming:
            kept = np.unique(np.linspace(0, len(drawn.time) - 1, SHAPES).round().astype(int))
            first = d.skin(0)
            primitive = self._primitive(first, d.skin_faces, d.colour, 1.0)
            primitive["targets"] = [
                {"POSITION": self._accessor(d.skin(int(k)) - first, POINTS, bounds=True)} for k in kept[1:]
            ]
            weights = np.eye(len(kept))[:, 1:]
            root["children"].append(len(self.nodes))
            if moving and len(kept) > 1:
                keys = self._accessor(drawn.time[kept] - drawn.time[0], bounds=True)
                self._track(keys, len(self.nodes), "weights", weights.reshape(-1))
            mesh = self._mesh([primitive])
            self.meshes[mesh]["weights"] = [0.0] * (len(kept) - 1)
            self.nodes.append({"name": f"{drawn.bodies[d.body]} (deformed)", "mesh": mesh})
        return self._packed()

    def _packed(self) -> bytes:
        document: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": f"Bellcrank {__version__}"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": self.nodes,
            "meshes": self.meshes,
            "materials": [_material(*key) for key in self.materials],
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{"byteLength": len(self.buffer)}],
        }
        if self.channels:
            document["animations"] = [{"name": "run", "samplers": self.samplers, "channels": self.channels}]
        text = json.dumps(
            {k: v for k, v in document.items() if v}, separators=(",", ":"), allow_nan=False
        ).encode()
        text += b" " * (-len(text) % 4)
        chunks = ((b"JSON", text), (b"BIN\0", bytes(self.buffer)))
        whole = 12 + sum(8 + len(content) for _, content in chunks)
        parts = [struct.pack("<I4s", len(content), kind) + content for kind, content in chunks]
        return struct.pack("<4sII", b"glTF", 2, whole) + b"".join(parts)

    def _solid(self, solid: Any) -> list[dict[str, Any]]:
        parts = []
        if len(solid.faces):
            vertices, normals, triangles = solid.surface
            parts.append(self._primitive(vertices, triangles, solid.colour, solid.opacity, normals))
        if len(solid.lines):
            parts.append(self._primitive(solid.corners, solid.lines, solid.colour, 1.0))
        return parts

    def _primitive(
        self, points: Array, cells: Index, colour: str, opacity: float, normals: Array | None = None
    ) -> dict[str, Any]:
        attributes = {"POSITION": self._accessor(points, POINTS, bounds=True)}
        if normals is not None:
            attributes["NORMAL"] = self._accessor(normals, POINTS)
        material = self.materials.setdefault((colour, opacity, cells.shape[1] == 2), len(self.materials))
        return {
            "attributes": attributes,
            "indices": self._accessor(cells.reshape(-1), ELEMENTS),
            "mode": LINES if cells.shape[1] == 2 else TRIANGLES,
            "material": material,
        }

    def _mesh(self, primitives: list[dict[str, Any]]) -> int:
        self.meshes.append({"primitives": primitives})
        return len(self.meshes) - 1

    def _track(self, time: int, node: int, what: str, values: Array) -> None:
        self.samplers.append({"input": time, "output": self._accessor(values), "interpolation": "LINEAR"})
        self.channels.append({"sampler": len(self.samplers) - 1, "target": {"node": node, "path": what}})

    def _accessor(self, values: Array | Index, target: int | None = None, bounds: bool = False) -> int:
        whole = target == ELEMENTS
        array = np.ascontiguousarray(values, dtype="<u4" if whole else "<f4")
        kind = "SCALAR" if array.ndim == 1 else f"VEC{array.shape[1]}"
        view: dict[str, Any] = {"buffer": 0, "byteOffset": len(self.buffer), "byteLength": array.nbytes}
        if target is not None:
            view["target"] = target
        self.buffer += array.tobytes()
        self.views.append(view)
        made: dict[str, Any] = {
            "bufferView": len(self.views) - 1,
            "componentType": INDEX if whole else FLOAT,
            "count": len(array),
            "type": kind,
        }
        if bounds:
            low, high = array.min(axis=0), array.max(axis=0)
            made["min"], made["max"] = (np.atleast_1d(x).astype(float).tolist() for x in (low, high))
        self.accessors.append(made)
        return len(self.accessors) - 1


def _material(colour: str, opacity: float, line: bool) -> dict[str, Any]:
    # glTF takes colours as linear light.
    linear = [float(c / 255.0) ** 2.2 for c in rgb(colour)]
    made: dict[str, Any] = {
        "pbrMetallicRoughness": {
            "baseColorFactor": [*linear, opacity],
            "metallicFactor": 0.0,
            "roughnessFactor": 1.0 if line else 0.55,
        },
        "doubleSided": True,
    }
    if opacity < 1.0:
        made["alphaMode"] = "BLEND"
    return made


def _xyzw(q: Any) -> list[float]:
    w, x, y, z = (float(v) for v in np.asarray(q) / np.linalg.norm(q))
    return [x, y, z, w]


def _upright(up: Array) -> Array:
    """The smallest rotation from the upward direction to y, which is upwards in glTF."""
    y = np.array([0.0, 1.0, 0.0])
    w = 1.0 + float(up @ y)
    return np.array([w, *np.cross(up, y)]) if w > 1e-9 else np.array([0.0, 1.0, 0.0, 0.0])

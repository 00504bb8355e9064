"""Files of triangles, which may be anything: STL, OBJ, PLY, OFF, GLB, glTF and COLLADA by their names, from memory.

So nothing that a file refers to is opened: no materials, no textures, no buffers. What a header claims is compared with
the size of the file before any of it is believed. Trimesh reads OBJ, PLY, OFF and STL of text; the rest is read here.
"""

from __future__ import annotations

import io
import re
import stat
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.optional import needed
from bellcrank.errors import MissingFile, ModelError
from bellcrank.fe import collada, gltf
from bellcrank.fe.collada import Colour, Piece, joined

Array = NDArray[np.float64]

KINDS = ("stl", "obj", "ply", "off", "glb", "gltf", "dae")
BINARY = 256_000_000
"""Bytes of a file at most: five million triangles of a binary STL."""
TEXT = 100_000_000
"""Of text, which takes ten times as much to be read."""
HEADER = 100_000
"""Of what says how a PLY file is to be read."""


def read_triangles(path: str | PathLike[str]) -> tuple[Array, NDArray[np.int64]]:
    """Vertices (n, 3) and faces (m, 3) of a mesh file (STL, OBJ, PLY, OFF, GLB, glTF, COLLADA).

    They are in its own unit of length, those of COLLADA in metres, since such a file says what its unit is.
    """
    return joined([(piece.vertices, piece.faces) for piece in read_pieces(path)])


def read_pieces(path: str | PathLike[str]) -> list[Piece]:
    """A mesh file as pieces of one colour each; files of other kinds than COLLADA are one piece without a colour."""
    if not isinstance(path, str | PathLike):
        raise ModelError(f"a mesh is read from a file, whose path is a text, not a {type(path).__name__}")
    kind = Path(path).suffix.lower().lstrip(".")
    if kind not in KINDS:
        raise ModelError(
            f"{path}: meshes are read from .stl, .obj, .ply, .off, .glb, .gltf and .dae files, not from .{kind}"
        )
    data = _bytes(path)
    wrong = {"stl": _stl, "ply": _ply, "obj": _obj}.get(kind, _too_much_text)(data if kind != "glb" else b"")
    if wrong:
        raise ModelError(f"{path}: {wrong}")
    try:
        if kind == "dae":
            found = _by_colour(collada.pieces(data))
        elif kind in ("glb", "gltf"):
            found = [Piece(*gltf.triangles(data), None)]
        elif kind == "stl" and len(data) == 84 + 50 * int.from_bytes(data[80:84], "little"):
            found = [Piece(*_binary_stl(data), None)]
        else:
            found = [Piece(*_by_trimesh(data, kind), None)]
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"{path}: not a mesh that can be read ({error})") from error
    if not any(len(piece.faces) for piece in found):
        raise ModelError(f"{path}: the file holds no triangles")
    return found


def _by_colour(pieces: Sequence[Piece]) -> list[Piece]:
    """Pieces of the same colour as one."""
    found: dict[Colour | None, list[tuple[Array, NDArray[np.int64]]]] = {}
    for piece in pieces:
        if len(piece.faces):
            found.setdefault(piece.colour, []).append((piece.vertices, piece.faces))
    return [Piece(*joined(alike), colour) for colour, alike in found.items()]


def _binary_stl(data: bytes) -> tuple[Array, NDArray[np.int64]]:
    """Corners as they stand, three a triangle."""
    rows = np.frombuffer(data, np.uint8, offset=84).reshape(-1, 50)
    corners = np.ascontiguousarray(rows[:, 12:48]).view("<f4").astype(np.float64)
    return corners.reshape(-1, 3), np.arange(3 * len(rows), dtype=np.int64).reshape(-1, 3)


def _by_trimesh(data: bytes, kind: str) -> tuple[Array, NDArray[np.int64]]:
    trimesh = needed("trimesh", f"a .{kind} file", "trimesh", "mesh")
    more = {"skip_materials": True} if kind in ("obj", "ply") else {}
    mesh: Any = trimesh.load(io.BytesIO(data), file_type=kind, force="mesh", process=False, **more)
    faces = getattr(mesh, "faces", ())
    if len(faces) == 0:
        return np.zeros((0, 3)), np.zeros((0, 3), np.int64)
    return np.asarray(mesh.vertices, dtype=np.float64), np.asarray(faces, dtype=np.int64)


def _bytes(path: str | PathLike[str]) -> bytes:
    """What a file holds, if it is one and not too large."""
    try:
        about = Path(path).stat()
        if not stat.S_ISREG(about.st_mode):
            raise ModelError(f"{path}: not a file")
        with Path(path).open("rb") as file:
            data = file.read(BINARY + 1)
    except FileNotFoundError as error:
        raise MissingFile(f"{path}: there is no such file") from error
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror})") from error
    if len(data) > BINARY:
        raise ModelError(
            f"{path}: {about.st_size / 1e6:.0f} MB, mesh files may have {BINARY // 10**6} MB; decimate the mesh"
        )
    return data


def _too_much_text(data: bytes) -> str:
    if len(data) > TEXT:
        return (
            f"{len(data) / 1e6:.0f} MB of text, of which {TEXT // 10**6} MB are read; write it as binary STL or PLY, "
            "or decimate the mesh"
        )
    return ""


def _stl(data: bytes) -> str:
    """What is wrong with an STL file: empty where nothing is."""
    claimed = int.from_bytes(data[80:84], "little")
    if len(data) >= 84 and len(data) == 84 + 50 * claimed:
        return ""
    if data.lstrip()[:5].lower() != b"solid" or b"\0" in data[:1000]:
        if len(data) < 84:
            return "holds no triangles"
        return (
            f"the header claims {claimed} triangles, {84 + 50 * claimed} bytes, but the file has {len(data)}; "
            "it is cut off, or no STL file"
        )
    text = data.lower()
    begun, ended = (len(re.findall(word, text)) for word in (rb"\bfacet\s", rb"\bendfacet\b"))
    if begun != ended:
        return f"{begun} triangles begin and {ended} end; the file is cut off"
    if begun and re.search(rb"\bendsolid\b", text) is None:
        return "there is no line 'endsolid' behind its triangles; the file is cut off"
    return "" if begun == 0 else _too_much_text(data)


def _obj(data: bytes) -> str:
    """What is wrong with an OBJ file: empty where nothing is."""
    if re.search(rb"(?m)^[ \t]*f\b[^\n]*[ \t]0+(?:/|\s|\Z)", data):
        return "a face names vertex 0, but they count from 1"
    return _too_much_text(data)


def _ply(data: bytes) -> str:
    """What is wrong with a PLY file: empty where nothing is."""
    end = re.search(rb"(?m)^end_header\r?\n?", data[:HEADER])
    if not data.startswith(b"ply") or end is None:
        return f"no header of a PLY file within {HEADER} bytes"
    head = data[: end.start()].decode("latin-1")
    elements = [int(n) for n in re.findall(r"(?m)^element[ \t]+\S+[ \t]+(-?\d{1,18})\s*$", head)]
    if len(elements) != len(re.findall(r"(?m)^element\b", head)):
        return "an element of its header does not say how many there are"
    room = len(data) - end.end()
    if "format ascii" not in head:
        # At least a byte each.
        if not elements or min(elements) < 0 or sum(elements) > room:
            return (
                f"the header claims {sum(elements)} elements, but the file has room for {room}; it is cut off"
            )
        return ""
    wrong = _too_much_text(data)
    return wrong or _ply_lines(head, elements, [x for x in data[end.end() :].splitlines() if x.strip()])


def _ply_lines(head: str, elements: list[int], lines: list[bytes]) -> str:
    """What is wrong with the lines behind the header of a PLY file of text: one for each element."""
    if not elements or min(elements) < 0 or sum(elements) != len(lines):
        return f"the header claims {sum(elements)} elements, but {len(lines)} lines follow; it is cut off, or not right"
    names = re.findall(r"(?m)^element[ \t]+(\S+)", head)
    first = 0
    for name, number, about in zip(names, elements, re.split(r"(?m)^element[ \t]", head)[1:], strict=True):
        if re.findall(r"(?m)^property[ \t]+(\S+)", about) == ["list"]:
            for line in lines[first : first + number]:
                words = line.split()
                if words[0] != str(len(words) - 1).encode():
                    said = words[0].decode("latin-1")
                    return f"a line of element {name!r} claims {said} numbers and has {len(words) - 1}"
        first += number
    return ""


__all__ = ["read_pieces", "read_triangles"]

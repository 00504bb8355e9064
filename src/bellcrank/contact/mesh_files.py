"""Mesh files, which may be anything: STL, OBJ and PLY by their names, read by trimesh from bytes in memory.

So nothing that a file refers to is opened: no materials, no textures. What a header claims is compared with the size of
the file before any of it is believed.
"""

from __future__ import annotations

import io
import re
import stat
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError

Array = NDArray[np.float64]

KINDS = ("stl", "obj", "ply")
BINARY = 256_000_000
"""Bytes of a file at most: five million triangles of a binary STL."""
TEXT = 100_000_000
"""Of text, which takes ten times as much to be read."""
HEADER = 100_000
"""Of what says how a PLY file is to be read."""


def read(path: str | PathLike[str]) -> tuple[Array, NDArray[np.int64]]:
    """Vertices and faces of a mesh file (STL, OBJ, PLY)."""
    if not isinstance(path, str | PathLike):
        raise ModelError(f"a mesh is read from a file, whose path is a text, not {path!r}")
    kind = Path(path).suffix.lower().lstrip(".")
    if kind not in KINDS:
        raise ModelError(f"{path}: meshes are read from .stl, .obj and .ply files, not from .{kind}")
    try:
        import trimesh
    except ImportError as error:
        raise ModelError("mesh files are read by trimesh: pip install 'bellcrank[mesh]'") from error
    data = _bytes(path)
    wrong = {"stl": _stl, "obj": _obj, "ply": _ply}[kind](data)
    if wrong:
        raise ModelError(f"{path}: {wrong}")
    more = {} if kind == "stl" else {"skip_materials": True}
    try:
        mesh: Any = trimesh.load(io.BytesIO(data), file_type=kind, force="mesh", process=False, **more)
        found = getattr(mesh, "faces", ())
        if len(found) == 0:
            raise ModelError(f"{path}: the file holds no triangles")
        return np.asarray(mesh.vertices, dtype=np.float64), np.asarray(found, dtype=np.int64)
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"{path}: not a mesh that can be read ({error})") from error


def _bytes(path: str | PathLike[str]) -> bytes:
    """What a file holds, if it is one and not too large."""
    try:
        about = Path(path).stat()
        if not stat.S_ISREG(about.st_mode):
            raise ModelError(f"{path}: not a file")
        with Path(path).open("rb") as file:
            data = file.read(BINARY + 1)
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


__all__ = ["read"]

"""Reduced members as bytes: every number of a member, exactly, for result files and for models no recipe describes.

The bytes are a compressed archive of plain arrays. They may come from strangers: nothing in them is code, sizes are
bounded before anything is unpacked, and shapes must fit each other.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError
from bellcrank.flexible.member import FlexibleMember, Member, Node
from bellcrank.flexible.recovery import Field
from bellcrank.flexible.rod_packing import rod_arrays, rod_from_arrays
from bellcrank.flexible.rods import Rod
from bellcrank.flexible.truncation import Truncation

Array = NDArray[np.float64]

MAX_BYTES = 1 << 30
MAX_MODES = 1000
VERSION = 1

_SPOILED = (
    *(KeyError, TypeError, ValueError, OSError, EOFError, AttributeError, MemoryError),
    *(zlib.error, zipfile.BadZipFile),
)
_INTEGRALS = (
    *("first_moment", "second_moment", "momentum", "coupling", "modal_coupling", "stiffness", "damping"),
    *("shortening_momentum", "shortening_coupling", "frequencies"),
)


def packed_member(member: FlexibleMember) -> bytes:
    """All numbers of a member."""
    arrays, about = rod_arrays(member) if isinstance(member, Rod) else _modal(member)
    buffer = io.BytesIO()
    text = np.frombuffer(json.dumps({"version": VERSION, **about}).encode(), dtype="u1")
    np.savez(buffer, allow_pickle=False, about=text, **{k: np.asarray(a) for k, a in arrays.items()})
    return zlib.compress(buffer.getvalue(), 6)


def _modal(member: FlexibleMember) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays of a reduced member, and the rest of it in words."""
    assert isinstance(member, Member)
    arrays: dict[str, NDArray[Any]] = {name: getattr(member, name) for name in _INTEGRALS}
    for k, node in enumerate(member.nodes.values()):
        arrays[f"node_{k}_position"] = node.position
        for part in ("translation", "rotation", "shortening"):
            arrays[f"node_{k}_{part}"] = getattr(node, part)
    for k, one in enumerate(member.fields.values()):
        arrays[f"field_{k}_points"], arrays[f"field_{k}_values"] = one.points, one.values
        arrays[f"field_{k}_cells"] = one.cells
    arrays["curving"] = member.curving
    cut = member.truncation
    arrays["effective_mass"], arrays["reachable"] = cut.effective_mass, cut.reachable_mass
    for k, residual in enumerate(cut.static_residual.values()):
        arrays[f"residual_{k}"] = residual
    about = {
        "name": member.name,
        "mass": member.mass,
        "modes": member.modes,
        "nodes": [node.name for node in member.nodes.values()],
        "fields": [[f.name, list(f.components), f.unit] for f in member.fields.values()],
        "residuals": list(cut.static_residual),
        "remedy": cut.remedy,
    }
    return arrays, about


def unpacked_member(data: bytes, who: str) -> FlexibleMember:
    """The member in some bytes; `who` is what errors call it."""
    try:
        return _Reader(data).member()
    except _SPOILED as error:
        raise ModelError(f"{who}: the numbers of the flexible member cannot be read ({error})") from error


class _Reader:
    def __init__(self, data: bytes) -> None:
        step = zlib.decompressobj()
        plain = step.decompress(data, MAX_BYTES)
        if step.unconsumed_tail:
            raise ValueError(f"they are larger than {MAX_BYTES >> 20} MiB")
        with np.load(io.BytesIO(plain), allow_pickle=False) as archive:
            if sum(entry.file_size for entry in archive.zip.infolist()) > MAX_BYTES:
                raise ValueError(f"they are larger than {MAX_BYTES >> 20} MiB")
            self.about: dict[str, Any] = json.loads(archive["about"].tobytes())
            self.arrays: Mapping[str, NDArray[Any]] = {k: archive[k] for k in archive.files if k != "about"}
        if self.about["version"] != VERSION:
            raise ValueError(f"they are of version {self.about['version']}, not {VERSION}")
        self.n = int(self.about.get("modes", 0))
        if not 0 <= self.n <= MAX_MODES:
            raise ValueError(f"{self.n} modes")

    def number(self, name: str, *shape: int | None, holes: bool = False) -> Array:
        """An array of this shape (None: any length), finite unless it may have holes."""
        found = np.asarray(self.arrays[name], dtype=float)
        fits = found.ndim == len(shape) and all(
            b is None or a == b for a, b in zip(found.shape, shape, strict=True)
        )
        if not fits:
            raise ValueError(f"{name} has the shape {found.shape}")
        if not holes and not np.isfinite(found).all():
            raise ValueError(f"{name} is not finite")
        return found

    def member(self) -> FlexibleMember:
        n, about = self.n, self.about
        if about.get("kind") == "rod":
            return rod_from_arrays(about, self.number, self.arrays)
        mass = float(about["mass"])
        if not (np.isfinite(mass) and mass >= 0.0):
            raise ValueError(f"a mass of {mass} kg")
        shapes: dict[str, tuple[int, ...]] = {
            "first_moment": (3,),
            "second_moment": (3, 3),
            "momentum": (n, 3),
            "coupling": (n, 3, 3),
            "modal_coupling": (n, n, 3, 3),
            "stiffness": (n, n),
            "damping": (n, n),
            "shortening_momentum": (n, n, 3),
            "shortening_coupling": (n, n, 3, 3),
            "frequencies": (n,),
        }
        integrals = {name: self.number(name, *shapes[name]) for name in _INTEGRALS}
        nodes = {str(name): self.node(k, str(name)) for k, name in enumerate(about["nodes"])}
        if not nodes:
            raise ValueError("no node")
        residuals = {
            str(name): self.number(f"residual_{k}", 6, holes=True)
            for k, name in enumerate(about["residuals"])
        }
        cut = Truncation(
            self.number("effective_mass", n, 6, holes=True),
            self.number("reachable", 6, holes=True),
            residuals,
            *([str(about["remedy"])] if "remedy" in about else []),
        )
        fields = {str(f[0]): self.field(k, *f) for k, f in enumerate(about["fields"])}
        # Files of earlier versions have none.
        curving = self.number("curving", None, n, n) if "curving" in self.arrays else np.zeros((0, n, n))
        name = str(about["name"])
        more: dict[str, Any] = {**integrals, "curving": curving, "fields": fields}
        return Member(name, mass, modes=n, nodes=nodes, truncation=cut, **more)

    def node(self, k: int, name: str) -> Node:
        n = self.n
        parts = {"position": (3,), "translation": (3, n), "rotation": (3, n), "shortening": (3, n, n)}
        return Node(name, **{part: self.number(f"node_{k}_{part}", *shape) for part, shape in parts.items()})

    def field(self, k: int, name: str, components: list[str], unit: str) -> Field:
        points = self.number(f"field_{k}_points", None, 3)
        values = self.number(f"field_{k}_values", len(points), len(components), self.n)
        cells = np.asarray(self.arrays[f"field_{k}_cells"])
        if cells.dtype.kind not in "iu" or cells.ndim != 2:
            raise ValueError(f"cells of {name}")
        if cells.size and not (cells.min() >= 0 and cells.max() < len(points)):
            raise ValueError(f"cells of {name} name points that are not there")
        return Field(
            str(name), points, values, tuple(map(str, components)), str(unit), cells.astype(np.int64)
        )


def packed_members(members: Mapping[str, FlexibleMember]) -> bytes:
    """Members by body, one after another; nothing for none."""
    if not members:
        return b""
    parts = {name: packed_member(member) for name, member in members.items()}
    head = json.dumps({name: len(part) for name, part in parts.items()}).encode()
    return len(head).to_bytes(8, "little") + head + b"".join(parts.values())


def unpacked_members(data: bytes) -> dict[str, FlexibleMember]:
    """What :func:`packed_members` was given."""
    if not data:
        return {}
    at = 8 + int.from_bytes(data[:8], "little")
    found: dict[str, FlexibleMember] = {}
    for name, length in dict(json.loads(data[8:at])).items():
        found[name] = unpacked_member(data[at : at + int(length)], f"body {name!r}")
        at += int(length)
    return found

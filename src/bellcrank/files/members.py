"""Flexible members in model files: finite element models, how they are reduced, and members by their numbers.

All numbers here are plain ones: elements are assembled and modes found when the file is read. Meshes and matrices
lie in files beside the model, below its folder; their sizes are bounded.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.base.keys import NUMBER, TEXT, TRUTH, TRUTH_OR_NULL, VECTOR3, Key, Keys, Schema
from bellcrank.files import layout
from bellcrank.files.beside import file_beside, refuse_includes
from bellcrank.files.documents import Entries, Items, Node, Text
from bellcrank.files.fields import Fields, numbers, word
from bellcrank.files.matrices import read_matrix
from bellcrank.files.rods import made_rod
from bellcrank.files.scope import Scope
from bellcrank.program.trace import Expr

if TYPE_CHECKING:
    from bellcrank.fe.material import Material
    from bellcrank.flexible.damping import Damping
    from bellcrank.flexible.frames import MemberFrame
    from bellcrank.flexible.member import FlexibleMember
    from bellcrank.flexible.model import ElasticModel
    from bellcrank.flexible.modes import Reduction
    from bellcrank.flexible.rods import Rod
    from bellcrank.flexible.sections import Profile

MESHES = (".msh", ".inp", ".nas", ".bdf", ".fem", ".vtk", ".vtu")
MATRICES = (".npy", ".mtx")


class MemberReader:
    """Reads the `flexible` entry of a body.

    folder: Where the model file lies; None for a text, which cannot name other files. stored: Members by body, of a
    file that keeps their numbers elsewhere.
    """

    def __init__(
        self, scope: Scope, folder: Path | None, stored: Mapping[str, FlexibleMember] | None
    ) -> None:
        self.scope, self.folder, self.stored = scope, folder, stored

    def member(self, body: str, node: Node) -> FlexibleMember:
        """The member of a body."""
        who = f"flexible member of {body!r}"
        kind, fields = self._kind(node, who, layout.MEMBERS)
        if kind == "numbers":
            return self._numbers(body, fields)
        if kind == "rod":
            return self._rod(fields.optional_word("name") or body, fields)
        make: Callable[[str, Fields], ElasticModel] = getattr(self, f"_{kind}")
        with fields.blamed():
            model = make(fields.optional_word("name") or body, fields)
            return model.reduce(
                self._reduction(fields),
                self._frame(fields.get("frame"), f"frame of {who}") if "frame" in fields else None,
                self._damping(fields.get("damping"), f"damping of {who}") if "damping" in fields else None,
                fields.truth("stiffening") is not False,
            )

    def _kind(
        self, node: Node, who: str, kinds: Mapping[str, Sequence[str]], usual: str = ""
    ) -> tuple[str, Fields]:
        if not isinstance(node, Entries):
            raise node.error(f"{who} must be a mapping with a 'kind', not {node.described}")
        if "kind" not in node.values and not usual:
            raise node.error(f"{who} needs a 'kind': {', '.join(kinds)}")
        kind = word(node.values["kind"], f"kind of {who}", tuple(kinds)) if "kind" in node.values else usual
        return kind, Fields(self.scope, node, who, kinds[kind])

    def _numbers(self, body: str, fields: Fields) -> FlexibleMember:
        from bellcrank.flexible.packing import unpacked_member

        if "data" not in fields:
            if self.stored is not None and body in self.stored:
                return self.stored[body]
            raise fields.node.error(f"{fields.who} needs 'data'")
        try:
            data = base64.b64decode(fields.word("data"), validate=True)
        except (binascii.Error, ValueError):
            raise fields.get("data").error(f"data of {fields.who} is not base64 text") from None
        with fields.blamed():
            return unpacked_member(data, fields.who)

    def _rod(self, name: str, fields: Fields) -> Rod:
        with fields.blamed():
            given = self._values(fields, layout.MEMBERS["rod"], "section")
            if "section" in fields:
                who = f"section of {fields.who}"
                given["section"] = self._section(fields.get("section"), who, given["length"])
            return made_rod(name, given)

    def _beam(self, body: str, fields: Fields) -> ElasticModel:
        from bellcrank.flexible.beams import beam

        given = self._values(fields, layout.MEMBERS["beam"], "section", *layout.REDUCED)
        section = self._section(fields.get("section"), f"section of {fields.who}", given["length"])
        return beam(body, section=section, **given)

    def _section(self, node: Node, who: str, length: float) -> Profile:
        from bellcrank.flexible.sections import SHAPES, Section, Tapered

        kind, fields = self._kind(node, who, layout.SECTIONS, "general")
        keys = layout.SECTIONS[kind]
        with fields.blamed():
            given = self._values(fields, keys)
            if kind == "general":
                return Section(**given)
            sizes: dict[str, Any] = {key: given.pop(key) for key in keys if key in layout.SIZES}
            if all(isinstance(size, float) for size in sizes.values()):
                return SHAPES[kind](**sizes, **given)
            ends = {key: (size, size) if isinstance(size, float) else size for key, size in sizes.items()}
            if all(a == b for a, b in ends.values()):
                return SHAPES[kind](**{key: a for key, (a, _) in ends.items()}, **given)
            profile = Tapered(kind, ends, length, given)
            for x in (0.0, length):
                profile(x)
            return profile

    def _material(self, node: Node, who: str) -> Material:
        from bellcrank.fe.material import Material

        fields = Fields(self.scope, node, who, layout.MATERIAL)
        with fields.blamed():
            return Material(**self._values(fields, layout.MATERIAL))

    def _solid(self, body: str, fields: Fields) -> ElasticModel:
        from bellcrank.flexible.solids import solid

        given = self._values(fields, layout.MEMBERS["solid"], "mesh", "material", *layout.REDUCED)
        path = self._path(fields, "mesh", MESHES)
        refuse_includes(path, fields)
        return solid(body, path, self._materials(fields), **given)

    def _materials(self, fields: Fields) -> Material | dict[str, Material]:
        node = fields.get("material")
        if isinstance(node, Entries) and not set(node.values) <= set(layout.MATERIAL):
            return self._mapping(fields, "material", self._material)
        return self._material(node, f"material of {fields.who}")

    def _region(self, node: Node, who: str) -> Any:
        from bellcrank.flexible.interfaces import Box

        if isinstance(node, Text):
            return word(node, who)
        fields = Fields(self.scope, node, who, layout.REGION)
        if len(fields.node.values) != 1:
            raise node.error(
                f"{who} is one of {', '.join(layout.REGION)}, or the name of a boundary of the mesh"
            )
        if "point" in fields:
            return np.array(self._row(fields.get("point"), f"point of {who}", 3))
        if "box" in fields:
            rows = self._rows(fields, "box", 3)
            if len(rows) != 2:
                raise fields.get("box").error(f"box of {who} must be two corners")
            return Box(*(tuple(row) for row in rows))  # type: ignore[arg-type]
        listed = fields.get("nodes")
        if not isinstance(listed, Items):
            raise listed.error(f"nodes of {who} must be a list of node numbers, not {listed.described}")
        return np.array([self._count(item, f"nodes of {who}", 10**9, least=0) for item in listed.items])

    def _matrices(self, body: str, fields: Fields) -> ElasticModel:
        from bellcrank.flexible.given import given_matrices

        own = ("nodes", "mass_matrix", "stiffness_matrix")
        given = self._values(fields, layout.MEMBERS["matrices"], *own, *layout.REDUCED)
        if "nodes" in fields:
            last = len(given["positions"]) - 1
            given["nodes"] = self._mapping(
                fields, "nodes", lambda node, what: self._count(node, what, last, least=0)
            )
        M, K = (self._matrix(fields, key) for key in ("mass_matrix", "stiffness_matrix"))
        return given_matrices(body, M, K, **given)

    def _matrix(self, fields: Fields, key: str) -> Any:
        """Rows of numbers, or the name of a file that holds them."""
        node = fields.get(key)
        what = f"{key} of {fields.who}"
        if isinstance(node, Items):
            width = len(node.items)
            return np.array([self._row(item, f"a row of {what}", width) for item in node.items])
        path = self._path(fields, key, MATRICES)
        try:
            return read_matrix(path)
        except ValueError as error:
            raise node.error(f"{what}: {path.name} cannot be read ({error})") from None

    def _path(self, fields: Fields, key: str, kinds: tuple[str, ...]) -> Path:
        return file_beside(self.folder, fields, key, kinds)

    def _reduction(self, fields: Fields) -> Reduction:
        from bellcrank.flexible.modes import AttachmentModes, CraigBampton, NormalModes

        who = f"modes of {fields.who}"
        kind, given = self._kind(fields.get("modes"), who, layout.MODES, "normal")
        kinds: Mapping[str, Callable[..., Reduction]] = {
            "normal": NormalModes,
            "craig_bampton": partial(CraigBampton, count=0),
            "attachment": AttachmentModes,
        }
        with given.blamed():
            return kinds[kind](**self._values(given, layout.MODES[kind]))

    def _frame(self, node: Node, who: str) -> MemberFrame:
        from bellcrank.flexible.frames import Chord, Clamped, MeanAxes
        from bellcrank.flexible.modes import Supports

        kind, fields = self._kind(node, who, layout.MEMBER_FRAMES)
        kinds: Mapping[str, Callable[..., MemberFrame]] = {
            "mean_axes": MeanAxes,
            "clamped": Clamped,
            "chord": Chord,
            "supports": Supports,
        }
        return kinds[kind](**self._values(fields, layout.MEMBER_FRAMES[kind]))

    def _damping(self, node: Node, who: str) -> Damping:
        from bellcrank.flexible.damping import Ratios, Rayleigh

        kind, fields = self._kind(node, who, layout.DAMPINGS)
        kinds: Mapping[str, Callable[..., Damping]] = {"ratios": Ratios, "rayleigh": Rayleigh}
        return kinds[kind](**self._values(fields, layout.DAMPINGS[kind]))

    def _values(self, fields: Fields, keys: Keys, *others: str) -> dict[str, Any]:
        """What the keys of a mapping say, by their types; `others` are read elsewhere, null says nothing."""
        read = (key for key in keys.keys if key.name not in ("kind", *others))
        found = {key.name: self._value(fields, key) for key in read if key.needed or key.name in fields}
        return {name: value for name, value in found.items() if value is not None}

    def _value(self, fields: Fields, key: Key) -> Any:
        """What one key says."""
        takes, name = key.takes, key.name
        if takes in (TRUTH, TRUTH_OR_NULL):
            return fields.truth(name)
        if takes == TEXT or ("enum" in takes and key.whole is None):
            return fields.word(name)
        if takes.get("type") == "object":
            return self._mapping(fields, name, self._item(takes["additionalProperties"], key.whole))
        node, what = fields.get(name), f"{name} of {fields.who}"
        if takes.get("type") == "array":
            return self._listed(fields, name, takes["items"], takes.get("minItems"))
        if "anyOf" in takes and isinstance(node, Items):
            if key.whole is not None and len(node.items) > key.whole[1]:
                raise node.error(f"{what}: {len(node.items)} are too many; at most {key.whole[1]}")
            (listed,) = (choice for choice in takes["anyOf"] if choice.get("type") == "array")
            return self._listed(fields, name, listed["items"], listed.get("minItems"))
        return self._item(takes if key.defined else NUMBER, key.whole)(node, what)

    def _item(self, takes: Schema, whole: tuple[int, int] | None) -> Callable[[Node, str], Any]:
        """What reads a single value of a type."""
        if takes == TEXT:
            return word
        readers = {"material": self._material, "region": self._region, "member_frame": self._frame}
        reader = readers.get(str(takes.get("$ref", "")).rpartition("/")[2])
        if reader is not None:
            return reader
        if whole is not None:
            return lambda node, what: self._count(node, what, whole[1], whole[0])
        return self._number

    def _listed(self, fields: Fields, key: str, items: Schema, count: int | None) -> Any:
        """Names, numbers, or rows of numbers."""
        if items == TEXT:
            return tuple(self._words(fields, key))
        node, what = fields.get(key), f"{key} of {fields.who}"
        if items == NUMBER:
            if count is not None:
                return tuple(self._row(node, what, count))
            if not isinstance(node, Items):
                raise node.error(f"{what} must be a list of numbers, not {node.described}")
            return [self._number(item, what) for item in node.items]
        width = 3 if items == VECTOR3 else items["minItems"]
        return tuple(map(tuple, self._rows(fields, key, width)))

    def _number(self, node: Node, what: str) -> float:
        value = self.scope.number(node, what)
        if isinstance(value, Expr):
            raise node.error(f"{what} must be a plain number: elements are assembled when the file is read")
        return float(value)

    def _count(self, node: Node, what: str, most: int, least: int = 1) -> int:
        value = self._number(node, what)
        if value != int(value) or not least <= value <= most:
            raise node.error(f"{what} must be a whole number from {least} to {most}, not {value:g}")
        return int(value)

    def _row(self, node: Node, what: str, count: int) -> list[float]:
        found = numbers(self.scope, node, what, (count,))
        if any(isinstance(x, Expr) for x in found):
            raise node.error(f"{what} must be plain numbers: elements are assembled when the file is read")
        return [float(x) for x in found]  # type: ignore[arg-type]

    def _rows(self, fields: Fields, key: str, count: int) -> list[list[float]]:
        node = fields.get(key)
        if not isinstance(node, Items):
            raise node.error(f"{key} of {fields.who} must be a list of rows, not {node.described}")
        return [self._row(item, f"a row of {key} of {fields.who}", count) for item in node.items]

    def _words(self, fields: Fields, key: str) -> list[str]:
        node = fields.get(key)
        if not isinstance(node, Items):
            raise node.error(f"{key} of {fields.who} must be a list of names, not {node.described}")
        return [word(item, f"{key} of {fields.who}") for item in node.items]

    def _mapping(self, fields: Fields, key: str, read: Callable[[Node, str], Any]) -> dict[str, Any]:
        node = fields.get(key)
        if not isinstance(node, Entries):
            raise node.error(f"{key} of {fields.who} must be a mapping of names, not {node.described}")
        return {name: read(item, f"{name!r} in {key} of {fields.who}") for name, item in node.values.items()}

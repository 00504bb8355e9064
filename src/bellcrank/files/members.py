"""Flexible members in model files: finite element models, how they are reduced, and members by their numbers.

All numbers here are plain ones: elements are assembled and modes found when the file is read. Meshes and matrices
lie in files beside the model, below its folder; their sizes are bounded.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.files import layout
from bellcrank.files.beside import file_beside, refuse_includes
from bellcrank.files.documents import Entries, Items, Node, Text
from bellcrank.files.fields import Fields, numbers, word
from bellcrank.files.matrices import read_matrix
from bellcrank.files.scope import Scope
from bellcrank.program.trace import Expr

if TYPE_CHECKING:
    from bellcrank.fe.material import Material
    from bellcrank.flexible.damping import Damping
    from bellcrank.flexible.frames import MemberFrame
    from bellcrank.flexible.member import Member
    from bellcrank.flexible.model import ElasticModel
    from bellcrank.flexible.modes import Reduction
    from bellcrank.flexible.sections import Profile

MAX_ELEMENTS = 500
"""Of a beam; finding its modes takes some seconds then, growing with the square. Beams of more are written by their
numbers."""
MAX_MODES = 500
MESHES = (".msh", ".inp", ".nas", ".bdf", ".fem", ".vtk", ".vtu")
MATRICES = (".npy", ".mtx")


class MemberReader:
    """Reads the `flexible` entry of a body.

    folder: Where the model file lies; None for a text, which cannot name other files. stored: Members by body, of a
    file that keeps their numbers elsewhere.
    """

    def __init__(self, scope: Scope, folder: Path | None, stored: Mapping[str, Member] | None) -> None:
        self.scope, self.folder, self.stored = scope, folder, stored

    def member(self, body: str, node: Node) -> Member:
        """The member of a body."""
        who = f"flexible member of {body!r}"
        kind, fields = self._kind(node, who, layout.MEMBERS)
        if kind == "numbers":
            return self._numbers(body, fields)
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

    def _numbers(self, body: str, fields: Fields) -> Member:
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

    def _beam(self, body: str, fields: Fields) -> ElasticModel:
        from bellcrank.flexible.beams import beam

        length = self._plain(fields, "length")
        more: dict[str, Any] = {key: fields.word(key) for key in ("theory", "mass") if key in fields}
        for key in ("planar", "rotary_inertia", "check_units"):
            if fields.truth(key) is not None:
                more[key] = fields.truth(key)
        if "start" in fields:
            more["start"] = self._plain(fields, "start")
        if "points" in fields:
            more["points"] = self._mapping(fields, "points", self._number)
        return beam(
            body,
            length,
            self._section(fields.get("section"), f"section of {fields.who}", length),
            self._material(fields.get("material"), f"material of {fields.who}"),
            self._elements(fields),
            **more,
        )

    def _elements(self, fields: Fields) -> Any:
        if "elements" not in fields:
            return 10
        node = fields.get("elements")
        what = f"elements of {fields.who}"
        if isinstance(node, Items):
            if len(node.items) > MAX_ELEMENTS:
                raise node.error(f"{what}: {len(node.items)} are too many; at most {MAX_ELEMENTS}")
            return [self._number(item, what) for item in node.items]
        return self._count(node, what, MAX_ELEMENTS)

    def _section(self, node: Node, who: str, length: float) -> Profile:
        from bellcrank.flexible.sections import SHAPES, Section, Tapered

        kind, fields = self._kind(node, who, layout.SECTIONS, "general")
        more: dict[str, Any] = {}
        if "offset" in fields:
            more["offset"] = tuple(self._row(fields.get("offset"), f"offset of {who}", 2))
        with fields.blamed():
            if kind == "general":
                for key in layout.SECTION_NUMBERS:
                    if key in fields or key in ("area", "bending_y", "bending_z"):
                        more[key] = self._plain(fields, key)
                if "extremes" in fields:
                    more["extremes"] = tuple(map(tuple, self._rows(fields, "extremes", 2)))
                return Section(**more)
            if "poisson" in fields:
                more["poisson"] = self._plain(fields, "poisson")
            sizes = {key: self._size(fields, key) for key in layout.SECTIONS[kind] if key in layout.SIZES}
            if all(a == b for a, b in sizes.values()):
                return SHAPES[kind](**{key: a for key, (a, _) in sizes.items()}, **more)
            profile = Tapered(kind, sizes, length, more)
            for x in (0.0, length):
                profile(x)
            return profile

    def _size(self, fields: Fields, key: str) -> tuple[float, float]:
        """One size, or two: at the start and at the end."""
        node = fields.get(key)
        if isinstance(node, Items):
            a, b = self._row(node, f"{key} of {fields.who}", 2)
            return a, b
        value = self._plain(fields, key)
        return value, value

    def _material(self, node: Node, who: str) -> Material:
        from bellcrank.fe.material import Material

        fields = Fields(self.scope, node, who, layout.MATERIAL)
        with fields.blamed():
            for key in ("young", "density"):
                fields.get(key)
            return Material(**{key: self._plain(fields, key) for key in fields.node.keys})

    def _solid(self, body: str, fields: Fields) -> ElasticModel:
        from bellcrank.flexible.solids import solid

        more: dict[str, Any] = {}
        if "mass" in fields:
            more["mass"] = fields.word("mass")
        if "order" in fields:
            more["order"] = self._count(fields.get("order"), f"order of {fields.who}", 2)
        if "scale" in fields:
            more["scale"] = self._plain(fields, "scale")
        if fields.truth("check_units") is not None:
            more["check_units"] = fields.truth("check_units")
        if "rigid" in fields:
            more["rigid"] = tuple(self._words(fields, "rigid"))
        if "interfaces" in fields:
            more["interfaces"] = self._mapping(fields, "interfaces", self._region)
        path = self._path(fields, "mesh", MESHES)
        refuse_includes(path, fields)
        return solid(body, path, self._materials(fields), **more)

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

        positions = self._rows(fields, "positions", 3)
        more: dict[str, Any] = {"freedoms": fields.word("freedoms")} if "freedoms" in fields else {}
        if "nodes" in fields:
            count = len(positions)
            more["nodes"] = self._mapping(
                fields, "nodes", lambda node, what: self._count(node, what, count - 1, least=0)
            )
        if fields.truth("check_units") is not None:
            more["check_units"] = fields.truth("check_units")
        M, K = (self._matrix(fields, key) for key in ("mass_matrix", "stiffness_matrix"))
        return given_matrices(body, M, K, positions, **more)

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
        count = (
            self._count(given.get("count"), f"count of {who}", MAX_MODES, least=0)
            if "count" in given
            else None
        )
        with given.blamed():
            if kind == "craig_bampton":
                directions = {"directions": given.word("directions")} if "directions" in given else {}
                return CraigBampton(self._words(given, "interface"), count or 0, **directions)
            if kind == "attachment":
                return AttachmentModes(self._mapping(given, "loads", word), count or 0)
            return NormalModes(
                count,
                self._plain(given, "up_to") if "up_to" in given else None,
                self._mapping(given, "along", lambda n, what: self._count(n, what, MAX_MODES))
                if "along" in given
                else None,
                self._frame(given.get("boundary"), f"boundary of {who}") if "boundary" in given else None,
            )

    def _frame(self, node: Node, who: str) -> MemberFrame:
        from bellcrank.flexible.frames import Chord, Clamped, MeanAxes
        from bellcrank.flexible.modes import Supports

        kind, fields = self._kind(node, who, layout.MEMBER_FRAMES)
        match kind:
            case "clamped":
                return Clamped(fields.word("node"))
            case "chord":
                return Chord(fields.word("first"), fields.word("last"))
            case "supports":
                return Supports(self._mapping(fields, "held", word))
            case _:
                return MeanAxes()

    def _damping(self, node: Node, who: str) -> Damping:
        from bellcrank.flexible.damping import Ratios, Rayleigh

        kind, fields = self._kind(node, who, layout.DAMPINGS)
        if kind == "rayleigh":
            return Rayleigh(
                **{
                    key: self._plain(fields, key)
                    for key in ("mass_factor", "stiffness_factor")
                    if key in fields
                }
            )
        given = fields.get("ratios")
        if isinstance(given, Items):
            return Ratios([self._number(item, f"ratios of {who}") for item in given.items])
        return Ratios(self._plain(fields, "ratios"))

    def _number(self, node: Node, what: str) -> float:
        value = self.scope.number(node, what)
        if isinstance(value, Expr):
            raise node.error(f"{what} must be a plain number: elements are assembled when the file is read")
        return float(value)

    def _plain(self, fields: Fields, key: str) -> float:
        return self._number(fields.get(key), f"{key} of {fields.who}")

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

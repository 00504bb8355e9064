"""Flexible members in model files: finite element models, how they are reduced, and members by their numbers.

All numbers here are plain ones: elements are assembled and modes found when the file is read. Meshes and matrices
lie in files beside the model, below its folder; their sizes are bounded.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.base.keys import (
    NUMBER,
    TEXT,
    Keys,
    Kinds,
    Schema,
    any_of,
    by_name,
    described,
    list_of,
    may,
    ref,
)
from bellcrank.errors import ModelError
from bellcrank.fe.material import Material
from bellcrank.fe.matrix_files import read_matrix
from bellcrank.files.beside import file_beside
from bellcrank.files.documents import MAX_BYTES, Entries, Items, Node, Text
from bellcrank.files.fields import Fields, numbers, word
from bellcrank.files.rods import ROD, made_rod, rod_entries
from bellcrank.files.scope import Scope
from bellcrank.files.values import Unsaid, ValueReader, ValueWriter
from bellcrank.files.yaml_text import Flow, Row
from bellcrank.flexible.beams import BEAM, beam
from bellcrank.flexible.damping import DAMPINGS
from bellcrank.flexible.given import MATRICES, given_matrices
from bellcrank.flexible.interfaces import REGION, Box
from bellcrank.flexible.member import Member
from bellcrank.flexible.modes import MEMBER_FRAMES, MODES
from bellcrank.flexible.packing import packed_member, unpacked_member
from bellcrank.flexible.recipe import REDUCED
from bellcrank.flexible.rods import Rod
from bellcrank.flexible.sections import SECTIONS, Profile, Section, Tapered, profile_of
from bellcrank.flexible.solids import SOLID, solid
from bellcrank.program.trace import Expr

if TYPE_CHECKING:
    from bellcrank.flexible.member import FlexibleMember
    from bellcrank.flexible.model import ElasticModel
    from bellcrank.flexible.recipe import MemberRecipe
    from bellcrank.model import Body

MATRIX_FILES = (".npy", ".mtx")
MAX_ROWS = 60
"""Freedoms up to which given matrices are written out."""
PLAIN = "elements are assembled when the file is read"

MEMBERS = Kinds(
    "A flexible member: a finite element model reduced to modal coordinates, a rod, or a member by its"
    " numbers. All numbers are plain.",
    makes={"beam": beam, "solid": solid, "matrices": given_matrices},
    beam=Keys(BEAM.text, *BEAM.keys, *REDUCED),
    solid=Keys(SOLID.text, *SOLID.keys, *REDUCED),
    matrices=Keys(MATRICES.text, *MATRICES.keys, *REDUCED),
    rod=ROD,
    numbers=Keys(
        "A reduced member by all its numbers, as written by Bellcrank.",
        may("data", TEXT, "Compressed arrays as base64 text."),
    ),
)
DEFINITIONS: dict[str, Schema | Keys | Kinds] = {
    "member": MEMBERS,
    "material": Material.keys,
    "materials": any_of(ref("material"), by_name(ref("material"))),
    "section": SECTIONS,
    "region": described(
        "Nodes of a mesh: the name of a boundary, a point, all nodes in a box, or node numbers.",
        any_of(TEXT, REGION),
    ),
    "given_matrix": any_of(TEXT, described("Rows.", list_of(list_of(NUMBER)))),
    "modes": MODES,
    "member_frame": MEMBER_FRAMES,
    "member_damping": DAMPINGS,
}
"""Types of the schema that members need."""


class MemberReader:
    """Reads the `flexible` entry of a body.

    folder: Where the model file lies; None for a text, which cannot name other files. stored: Members by body, of a
    file that keeps their numbers elsewhere.
    """

    def __init__(
        self, scope: Scope, folder: Path | None, stored: Mapping[str, FlexibleMember] | None
    ) -> None:
        self.scope, self.folder, self.stored = scope, folder, stored
        things: dict[str, Callable[[Node, str], Any]] = {
            # A section that runs along its beam needs the beam's length, so it is read after the rest.
            "section": lambda node, what: (node, what),
            "material": self._material,
            "materials": self._materials,
            "region": self._region,
            "given_matrix": self._matrix,
            "modes": lambda node, what: self.values.made(MODES, node, what),
            "member_frame": lambda node, what: self.values.made(MEMBER_FRAMES, node, what),
            "member_damping": lambda node, what: self.values.made(DAMPINGS, node, what),
        }
        self.values = ValueReader(scope, folder, things, PLAIN)

    def member(self, body: str, node: Node) -> FlexibleMember:
        """The member of a body."""
        kind, fields = self.values.kind(MEMBERS, node, f"flexible member of {body!r}")
        if kind == "numbers":
            return self._numbers(body, fields)
        with fields.blamed():
            given = self.values.values(fields, MEMBERS[kind])
            if kind == "rod":
                return self._rod(body, given)
            reduced = {key.attribute: given.pop(key.attribute) for key in REDUCED if key.attribute in given}
            if "section" in given:
                node, who = given["section"]
                given["section"] = self._section(node, who, given["length"])
            model: ElasticModel = MEMBERS.makes[kind](reduced.pop("name", body), **given)
            return model.reduce(**reduced)

    def _rod(self, body: str, given: dict[str, Any]) -> Rod:
        if "section" in given:
            node, who = given["section"]
            given["section"] = self._section(node, who, given["length"])
        return made_rod(given.pop("name", body), given)

    def _numbers(self, body: str, fields: Fields) -> FlexibleMember:
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

    def _section(self, node: Node, who: str, length: float) -> Profile:
        """A section, which may run over the length of its beam."""
        kind, fields = self.values.kind(SECTIONS, node, who)
        with fields.blamed():
            return profile_of(kind, self.values.values(fields, SECTIONS[kind]), length)

    def _material(self, node: Node, who: str) -> Material:
        fields = Fields(self.scope, node, who, Material.keys)
        with fields.blamed():
            return Material(**self.values.values(fields, Material.keys))

    def _materials(self, node: Node, who: str) -> Material | dict[str, Material]:
        if isinstance(node, Entries) and not set(node.values) <= set(Material.keys):
            return {name: self._material(item, f"{name!r} in {who}") for name, item in node.values.items()}
        return self._material(node, who)

    def _region(self, node: Node, who: str) -> Any:
        if isinstance(node, Text):
            return word(node, who)
        fields = Fields(self.scope, node, who, REGION)
        if len(fields.node.values) != 1:
            raise node.error(f"{who} is one of {', '.join(REGION)}, or the name of a boundary of the mesh")
        ((kind, given),) = self.values.values(fields, REGION).items()
        return Box(*map(tuple, given)) if kind == "box" else np.array(given)

    def _matrix(self, node: Node, what: str) -> Any:
        """Rows of numbers, or the name of a file that holds them."""
        if isinstance(node, Items):
            width = len(node.items)
            rows = [numbers(self.scope, item, f"a row of {what}", (width,)) for item in node.items]
            if any(isinstance(x, Expr) for row in rows for x in row):
                raise node.error(f"{what} must be plain numbers: {PLAIN}")
            return np.array(rows, dtype=float)
        path = file_beside(self.folder, node, what, MATRIX_FILES)
        try:
            return read_matrix(path, "K" if "stiffness" in what else "M")
        except ValueError as error:
            raise node.error(f"{what}: {path.name} cannot be read ({error})") from None


def member_entries(
    body: Body,
    member: FlexibleMember,
    folder: Path | None,
    stored: MutableMapping[str, FlexibleMember] | None,
) -> dict[str, Any]:
    """What `flexible` of a body says, the recipe where a file can say it, else all numbers.

    See :func:`bellcrank.files.dumps`.
    """
    if stored is not None:
        stored[body.name] = member
        return Flow(kind="numbers")
    name = member.name if member.name != body.name else None
    try:
        if isinstance(member, Rod) and (said := _rod(member)) is not None:
            return ({"name": name} if name else {}) | said
        if isinstance(member, Member) and member.recipe is not None:
            return _recipe(name, member.recipe, folder)
    except Unsaid:
        pass
    data = base64.b64encode(packed_member(member)).decode("ascii")
    if len(data) > MAX_BYTES // 2:
        raise ModelError(
            f"body {body.name!r} is flexible, and its {len(data) >> 20} MiB of numbers are too many for a model file; "
            "give its mesh as a file in the model's folder"
        )
    return {"kind": "numbers", "data": data}


def _recipe(name: str | None, recipe: MemberRecipe, folder: Path | None) -> dict[str, Any]:
    things: dict[str, Callable[[Any], Any]] = {
        "section": lambda section: _section(writer, section, recipe.model.given["length"]),
        "material": lambda material: Flow(writer.values(Material.keys, vars(material))),
        "materials": lambda material: _materials(things["material"], material),
        "region": lambda region: _region(writer, region),
        "given_matrix": _matrix,
        "modes": lambda modes: writer.made(MODES, modes),
        "member_frame": lambda frame: writer.made(MEMBER_FRAMES, frame),
        "member_damping": lambda damping: writer.made(DAMPINGS, damping),
    }
    writer = ValueWriter(folder, _no_function, things)
    kind = recipe.model.kind
    said = {**recipe.model.given, **vars(recipe), "name": name}
    return {"kind": kind, **writer.values(MEMBERS[kind].keys[1:], said)}


def _rod(member: Rod) -> dict[str, Any] | None:
    writer = ValueWriter(None, _no_function, {})
    return rod_entries(
        member,
        lambda section, length: _section(writer, section, length),
        lambda material: Flow(writer.values(Material.keys, vars(material))),
    )


def _no_function(*_: Any) -> Any:
    raise Unsaid


def _section(writer: ValueWriter, section: Any, length: float) -> Flow:
    if isinstance(section, Section):
        return writer.made(SECTIONS, section)
    if not isinstance(section, Tapered) or section.length != length:
        raise Unsaid
    said = {**section.sizes, **section.more}
    return Flow({"kind": section.kind, **writer.values(SECTIONS[section.kind].keys[1:], said)})


def _materials(one: Callable[[Any], Any], given: Any) -> Any:
    return (
        {str(name): one(item) for name, item in given.items()} if isinstance(given, Mapping) else one(given)
    )


def _region(writer: ValueWriter, which: Any) -> Any:
    if isinstance(which, str):
        return which
    if isinstance(which, Box):
        return Flow(writer.values(REGION, {"box": (which.low, which.high)}))
    if callable(which):
        raise Unsaid
    given = np.asarray(which)
    return Flow(writer.values(REGION, {"nodes" if given.dtype.kind in "iu" else "point": given}))


def _matrix(matrix: Any) -> list[Row]:
    if matrix.shape[0] > MAX_ROWS:
        raise Unsaid
    return [Row(float(x) for x in row) for row in matrix.toarray()]

"""Elastic contact problems as files: YAML with expressions, like model files, beginning with ``elastic: 1``.

Files may come from strangers: nothing in them is code, meshes lie in the file's own folder or below it, and sizes are
bounded before anything is built.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.elastic import layout, shapes
from bellcrank.elastic.accelerated import AcceleratedIteration
from bellcrank.elastic.active_set import DirectActiveSet
from bellcrank.elastic.body import ElasticBody, Support, Where
from bellcrank.elastic.elements import Element
from bellcrank.elastic.interface import Contact
from bellcrank.elastic.lattices import MAX_UNKNOWNS, Array
from bellcrank.elastic.material import Analysis, Mass
from bellcrank.elastic.mesh_files import read_mesh
from bellcrank.elastic.obstacles import Obstacle, RigidPlane, RigidSphere, RigidSurface
from bellcrank.elastic.problem import ContactSolver
from bellcrank.elastic.schemes import Scheme, generalised_alpha, newmark
from bellcrank.elastic.setup import Setup
from bellcrank.elastic.stepping import Compatibility
from bellcrank.errors import unknown_name
from bellcrank.fe.material import Material
from bellcrank.files import read_text
from bellcrank.files.beside import file_beside
from bellcrank.files.documents import Entries, Items, Node, Text, parse_document
from bellcrank.files.fields import Fields, entries, numbers, word
from bellcrank.files.scope import FileFunction, Scope, check_name

MAX_STEPS = 1_000_000
MAX_FRAMES = 2_000
MAX_REFINEMENT = 12
MESHES = (".msh", ".inp", ".nas", ".bdf", ".fem", ".vtk", ".vtu")
_PLANES = (Analysis.PLANE_STRAIN, Analysis.PLANE_STRESS)


def load(path: str | PathLike[str], values: Mapping[str, float] | None = None) -> Setup:
    """The problem in a file. values: other values for parameters, by name."""
    return loads(read_text(path), str(path), Path(path).parent, values)


def loads(
    text: str,
    name: str = "problem",
    folder: str | PathLike[str] | None = None,
    values: Mapping[str, float] | None = None,
) -> Setup:
    """The problem a text describes.

    name: what errors call it. folder: where its meshes lie; without one none is read.
    """
    return _Reader(parse_document(text, name), None if folder is None else Path(folder), values or {}).setup()


def schema() -> dict[str, Any]:
    """The JSON Schema of the format (draft 2020-12)."""
    return layout.schema()


class _Reader:
    def __init__(self, root: Node, folder: Path | None, values: Mapping[str, float]) -> None:
        self.scope, self.folder = Scope(), folder
        self.top = Fields(self.scope, root, "an elastic contact problem", layout.TOP)
        if "elastic" not in self.top:
            raise self.top.node.error(f"an elastic contact problem begins with 'elastic: {layout.VERSION}'")
        if self.top.word("elastic") != layout.VERSION:
            raise self.top.get("elastic").error(
                f"this is format version {self.top.word('elastic')}; this Bellcrank reads version {layout.VERSION}"
            )
        self.parameters = self._parameters(values)
        for key, node in self._section("definitions"):
            self.scope.define(key, node)

    def setup(self) -> Setup:
        materials = {k.value: self._material(k, n) for k, n in self._section("materials")}
        bodies = {k.value: self._body(k, n, materials) for k, n in self._section("bodies")}
        if not bodies:
            raise self.top.node.error("an elastic contact problem needs 'bodies'")
        d = next(iter(bodies.values())).dimension
        obstacles = {k.value: self._obstacle(k, n, d) for k, n in self._section("obstacles")}
        for k in obstacles:
            if k in bodies:
                raise self.top.get("obstacles").error(f"{k!r} is a body already; choose another name")
        contacts = tuple(self._contact(k, n, bodies, obstacles) for k, n in self._section("contacts"))
        if not contacts:
            raise self.top.node.error("an elastic contact problem needs 'contacts': who may touch whom")
        duration, step = self.top_number("duration"), self.top_number("step")
        if step > 0.0 and duration / step > MAX_STEPS:
            raise self.top.get("step").error(
                f"{duration / step:.3g} steps are too many; up to {MAX_STEPS} are run"
            )
        with self.top.blamed():
            return Setup(
                self.top.word("name"), tuple(bodies.values()), contacts, duration, step, self._scheme(), self._solver(),
                self._compatibility(),
                self._count(self.top, "frames", MAX_FRAMES) if "frames" in self.top else 60, self.parameters,
            )  # fmt: skip

    def top_number(self, key: str) -> float:
        return float(self.scope.number(self.top.get(key), key))  # type: ignore[arg-type]

    def _parameters(self, values: Mapping[str, float]) -> dict[str, float]:
        found: dict[str, float] = {}
        for key, node in self._section("parameters"):
            check_name(key, self.scope.find(key.value) is not None)
            given = self.scope.number(node, f"parameter {key.value!r}")
            found[key.value] = float(values.get(key.value, given))  # type: ignore[arg-type]
            self.scope.definitions[key.value] = found[key.value]
        for name in values:
            if name not in found:
                raise unknown_name("parameter", name, found)
        return found

    def _section(self, name: str) -> Iterator[tuple[Text, Node]]:
        if name in self.top:
            section = entries(self.top.get(name), name)
            yield from ((text, section.values[key]) for key, text in section.keys.items())

    def _material(self, key: Text, node: Node) -> Material:
        fields = Fields(self.scope, node, f"material {key.value!r}", layout.MATERIAL)
        for name in ("young", "poisson", "density"):
            fields.get(name)
        with fields.blamed():
            return Material(**{name: self._number(fields, name) for name in fields.node.keys})

    def _body(self, key: Text, node: Node, materials: Mapping[str, Material]) -> ElasticBody:
        shape, fields = self._kind(node, f"body {key.value!r}", layout.BODIES, "shape")
        name = fields.word("material")
        if name not in materials:
            raise fields.get("material").error(str(unknown_name("material", name, materials)))
        analysis = self._analysis(shape, fields)
        d = analysis.dimension
        common: dict[str, Any] = {"name": key.value}
        if "thickness" in fields:
            common["thickness"] = self._number(fields, "thickness")
        if "mass" in fields:
            common["mass"] = Mass(fields.word("mass", tuple(Mass)))
        if "velocity" in fields:
            common["velocity"] = self._velocity(fields, d)
        if "body_force" in fields:
            common["body_force"] = self._vector(fields, "body_force", d)
        if "supports" in fields:
            common["supports"] = self._supports(fields, d)
        element = Element(fields.word("element", tuple(Element))) if "element" in fields else None
        with fields.blamed():
            if shape == "mesh":
                path = file_beside(self.folder, fields.get("file"), f"file of {fields.who}", MESHES)
                if "scale" in fields:
                    common["scale"] = self._number(fields, "scale")
                return read_mesh(path, materials[name], analysis, element=element, **common)
            make = {
                "disc": self._disc,
                "sphere": self._sphere,
                "block": self._block,
                "cylinder": self._cylinder,
            }
            if element is not None:
                common["element"] = element
            return make[shape](fields, materials[name], analysis, common)

    def _analysis(self, shape: str, fields: Fields) -> Analysis:
        usual = Analysis.AXISYMMETRIC if shape in ("sphere", "cylinder") else Analysis.PLANE_STRAIN
        if "analysis" in fields:
            return Analysis(fields.word("analysis", tuple(Analysis)))
        if shape == "block" and isinstance(fields.get("size"), Items):
            size = fields.get("size")
            assert isinstance(size, Items)
            return Analysis.SOLID if len(size.items) == 3 else usual
        if shape == "mesh":
            raise fields.node.error(f"{fields.who} needs 'analysis': {', '.join(Analysis)}")
        return usual

    def _round(self, fields: Fields, analysis: Analysis, common: dict[str, Any]) -> dict[str, Any]:
        d = analysis.dimension
        given = {"analysis": analysis, **common}
        divisions = self._count(fields, "divisions", 100_000) if "divisions" in fields else 8
        given["divisions"] = divisions
        if "grading" in fields:
            given["grading"] = self._number(fields, "grading")
        refinement = 0
        if "refinement" in fields:
            refinement = given["refinement"] = self._count(fields, "refinement", MAX_REFINEMENT, least=0)
        if "contact_zone" in fields:
            given["contact_zone"] = self._number(fields, "contact_zone")
        if "centre" in fields:
            given["centre"] = self._vector(fields, "centre", d)
        # Half discs and balls of so many cells over a quarter of the rim; each refinement halves those near the pole.
        cells = 3.0 * divisions**2 if d == 2 else 7.0 * divisions**3
        self._check_size(fields, cells * (1.0 + refinement), d)
        return given

    def _disc(
        self, fields: Fields, material: Material, analysis: Analysis, common: dict[str, Any]
    ) -> ElasticBody:
        if analysis not in _PLANES:
            raise fields.get("analysis").error(f"a disc is {' or '.join(_PLANES)}, not {analysis}")
        return shapes.disc(self._number(fields, "radius"), material, **self._round(fields, analysis, common))

    def _sphere(
        self, fields: Fields, material: Material, analysis: Analysis, common: dict[str, Any]
    ) -> ElasticBody:
        if analysis in _PLANES:
            raise fields.get("analysis").error(
                f"a sphere is axisymmetric or solid, not {analysis}; see 'disc'"
            )
        return shapes.sphere(
            self._number(fields, "radius"), material, **self._round(fields, analysis, common)
        )

    def _block(
        self, fields: Fields, material: Material, analysis: Analysis, common: dict[str, Any]
    ) -> ElasticBody:
        d = analysis.dimension
        given = {"analysis": analysis, **common, **self._layers(fields, d)}
        if "lowest" in fields:
            given["lowest"] = self._vector(fields, "lowest", d)
        return shapes.block(self._vector(fields, "size", d), material, **given)

    def _cylinder(
        self, fields: Fields, material: Material, analysis: Analysis, common: dict[str, Any]
    ) -> ElasticBody:
        given = {"analysis": analysis, **common, **self._layers(fields, 2, analysis.dimension)}
        if "lowest" in fields:
            given["lowest"] = self._number(fields, "lowest")
        return shapes.cylinder(
            self._number(fields, "radius"), self._number(fields, "height"), material, **given
        )

    def _layers(self, fields: Fields, count: int, d: int | None = None) -> dict[str, Any]:
        given: dict[str, Any] = {}
        if "divisions" in fields:
            node = fields.get("divisions")
            what = f"divisions of {fields.who}"
            if not isinstance(node, Items) or len(node.items) != count:
                raise node.error(f"{what} must be a list of {count} whole numbers")
            given["divisions"] = [self._whole(item, what, 100_000) for item in node.items]
            cells = float(np.prod([float(n) for n in given["divisions"]]))
            self._check_size(fields, cells * (3 * given["divisions"][0] if d == 3 else 1), d or count)
        if "grading" in fields:
            given["grading"] = self._number(fields, "grading")
        return given

    def _check_size(self, fields: Fields, cells: float, d: int) -> None:
        # Second-order elements have 2^d nodes each where neighbours share them.
        unknowns = cells * 2**d * d
        if unknowns > MAX_UNKNOWNS:
            raise fields.get("divisions").error(
                f"divisions of {fields.who} make about {unknowns:.2g} unknowns; up to {MAX_UNKNOWNS:.0e} are built"
            )

    def _velocity(self, fields: Fields, d: int) -> Any:
        letters = ("x", "y", "z")[:d]
        function = fields.function("velocity", letters, d)
        if not function.arguments:
            return tuple(float(v) for v in function())
        return lambda places: _over(function, letters, places)

    def _supports(self, fields: Fields, d: int) -> tuple[Support, ...]:
        node = fields.get("supports")
        if not isinstance(node, Items):
            raise node.error(f"supports of {fields.who} must be a list of mappings of box and directions")
        found = []
        for item in node.items:
            one = Fields(self.scope, item, f"a support of {fields.who}", layout.SUPPORT)
            letters = one.word("directions").replace(" ", "") if "directions" in one else "xyz"[:d]
            if not letters or any(letter not in "xyz"[:d] for letter in letters):
                raise one.get("directions").error(f"directions of {one.who} are letters of {'xyz'[:d]!r}")
            found.append(Support(self._box(one.get("box"), one.who, d), letters))
        return tuple(found)

    def _box(self, node: Node, who: str, d: int) -> Where:
        """Between two corners, with a little room for rounding."""
        if not isinstance(node, Items) or len(node.items) != 2:
            raise node.error(f"the box of {who} must be two corners of {d} numbers")
        low, high = (
            np.array(numbers(self.scope, item, f"a corner of the box of {who}", (d,)), dtype=float)
            for item in node.items
        )
        room = 1e-9 * max(float(np.abs(high - low).max()), float(np.abs(high).max()), 1e-300)
        return lambda x: ((x >= low - room) & (x <= high + room)).all(axis=1)

    def _obstacle(self, key: Text, node: Node, d: int) -> Obstacle:
        kind, fields = self._kind(node, f"obstacle {key.value!r}", layout.OBSTACLES, "kind")
        given: dict[str, Any] = {}
        if "velocity" in fields:
            given["velocity"] = self._vector(fields, "velocity", d)
        if "path" in fields:
            path = fields.function("path", ("t",), d)
            given["path"] = lambda t: [float(v) for v in (path(t=float(t)) if path.arguments else path())]
        with fields.blamed():
            if kind == "plane":
                for name in ("point", "normal"):
                    given[name] = self._vector(fields, name, d)
                return RigidPlane(**given)
            if kind == "sphere":
                hollow = fields.truth("hollow") is True
                return RigidSphere(
                    self._vector(fields, "centre", d), self._number(fields, "radius"), hollow, **given
                )
            letters = ("x", "y", "z")[:d]
            level = fields.function("level", letters)
            if "size" in fields:
                given["size"] = self._number(fields, "size")
            return RigidSurface(lambda x: _over(level, letters, x)[:, 0], **given)

    def _contact(
        self, key: Text, node: Node, bodies: Mapping[str, ElasticBody], obstacles: Mapping[str, Obstacle]
    ) -> Contact:
        fields = Fields(self.scope, node, f"contact {key.value!r}", layout.CONTACT)
        body, against = fields.word("body"), fields.word("against")
        for name, what, known in (
            (body, "body", list(bodies)),
            (against, "against", [*obstacles, *bodies]),
        ):
            if name not in known:
                noun = "body" if what == "body" else "obstacle or body"
                raise fields.get(what).error(str(unknown_name(noun, name, known)))
        surface = None
        if "surface" in fields:
            surface = self._box(fields.get("surface"), f"the surface of {fields.who}", bodies[body].dimension)
        friction = self._number(fields, "friction") if "friction" in fields else 0.0
        with fields.blamed():
            met = obstacles[against] if against in obstacles else bodies[against]
            return Contact(bodies[body], met, friction, surface, key.value)

    def _scheme(self) -> Scheme:
        if "scheme" not in self.top:
            return Scheme()
        kind, fields = self._kind(self.top.get("scheme"), "scheme", layout.SCHEMES, "kind")
        given = {name: self._number(fields, name) for name in fields.node.keys if name != "kind"}
        with fields.blamed():
            return newmark(**given) if kind == "newmark" else generalised_alpha(**given)

    def _solver(self) -> ContactSolver:
        if "solver" not in self.top:
            return DirectActiveSet()
        kind, fields = self._kind(self.top.get("solver"), "solver", layout.SOLVERS, "kind")
        if kind == "direct":
            return DirectActiveSet()
        given: dict[str, Any] = {}
        if "level" in fields:
            given["level"] = self._count(fields, "level", 30)
        if "tolerance" in fields:
            given["tolerance"] = self._number(fields, "tolerance")
        with fields.blamed():
            return AcceleratedIteration(**given)

    def _compatibility(self) -> Compatibility:
        if "compatibility" not in self.top:
            return Compatibility()
        fields = Fields(self.scope, self.top.get("compatibility"), "compatibility", layout.COMPATIBILITY)
        return Compatibility(*(fields.truth(name) is not False for name in layout.COMPATIBILITY))

    def _kind(self, node: Node, who: str, kinds: Mapping[str, Sequence[str]], key: str) -> tuple[str, Fields]:
        if not isinstance(node, Entries) or key not in node.values:
            raise node.error(f"{who} must be a mapping with a {key!r}: {', '.join(kinds)}")
        kind = word(node.values[key], f"{key} of {who}", tuple(kinds))
        return kind, Fields(self.scope, node, who, kinds[kind])

    def _number(self, fields: Fields, key: str) -> float:
        return float(fields.number(key))  # type: ignore[arg-type]

    def _vector(self, fields: Fields, key: str, d: int) -> tuple[float, ...]:
        return tuple(float(v) for v in fields.vector(key, (d,)))  # type: ignore[arg-type]

    def _count(self, fields: Fields, key: str, most: int, least: int = 1) -> int:
        return self._whole(fields.get(key), f"{key} of {fields.who}", most, least)

    def _whole(self, node: Node, what: str, most: int, least: int = 1) -> int:
        value = float(self.scope.number(node, what))  # type: ignore[arg-type]
        if value != int(value) or not least <= value <= most:
            raise node.error(f"{what} must be a whole number from {least} to {most}, not {value:g}")
        return int(value)


def _over(function: FileFunction, letters: Sequence[str], places: Array) -> Array:
    """A function of the file at each of some places."""
    wanted = [letters.index(name) for name in function.arguments]
    rows = [function(**{letters[i]: float(x[i]) for i in wanted}) if wanted else function() for x in places]
    return np.array(rows, dtype=float).reshape(len(places), max(function.count, 1))

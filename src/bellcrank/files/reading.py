"""From a tree of the file to a system, by the same methods a person calls in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.base.keys import Keys, Kinds
from bellcrank.files import layout
from bellcrank.files.documents import Entries, Items, Node, Text, parse_document
from bellcrank.files.fields import Fields, entries, is_null, numbers, word
from bellcrank.files.older import by_field
from bellcrank.files.places import nearest
from bellcrank.files.scope import FileFunction, Scope, check_name
from bellcrank.files.shapes import SHAPES, read_part, read_shape
from bellcrank.files.values import ValueReader
from bellcrank.math.tuples import Vec
from bellcrank.model import Body, Frame, System
from bellcrank.model.collisions import Collisions
from bellcrank.model.constraints import Own
from bellcrank.model.contact_keys import CONTACT
from bellcrank.model.contacts import PlacedShape
from bellcrank.model.forces.limits import STOPS, Limits
from bellcrank.model.forces.road import ARGUMENTS
from bellcrank.model.joints import Zero
from bellcrank.model.visuals import Visual
from bellcrank.program.trace import Expr, Scalar
from bellcrank.roads.kinds import ROADS
from bellcrank.tyres.envelope import ENVELOPES
from bellcrank.tyres.property_file import TYRES

if TYPE_CHECKING:
    from bellcrank.flexible.member import FlexibleMember

_UNIT = 4 * np.finfo(float).eps
"""A spin axis of unit length up to rounding is taken as it is written; scaling it again would move it."""


def read_system(
    text: str,
    file: str = "model",
    folder: Path | None = None,
    stored: Mapping[str, FlexibleMember] | None = None,
) -> System:
    """The system a model file describes; `file` is what errors call it.

    folder: Where meshes may lie. stored: Flexible members by body that the text leaves out.
    """
    return _Reader(parse_document(text, file), folder, stored).system


class _Reader:
    def __init__(self, root: Node, folder: Path | None, stored: Mapping[str, FlexibleMember] | None) -> None:
        self.scope, self.folder, self.stored = Scope(), folder, stored
        self.values = ValueReader(
            self.scope,
            folder,
            {
                "side": self._side,
                "joint_name": self._joint_named,
                "coordinate": self._coupled,
                "terms": self._terms,
                "shape": self._shape,
                "part": lambda node, what: read_part(self.values, node, what),
                "friction": lambda node, what: self.values.made(layout.FRICTIONS, node, what),
                "tyre": lambda node, what: self.values.made(TYRES, node, what),
                "envelope": lambda node, what: self.values.made(ENVELOPES, node, what),
                "road": self._road,
                "limits": self._limits,
            },
        )
        self.top = Fields(self.scope, root, "a model file", layout.TOP)
        self._check_version()
        with self.top.blamed():
            zero = self.top.word("zero", [*Zero]) if "zero" in self.top else None
            self.system = System(self.top.word("name"), zero=zero)
        self._parameters()
        for key, node in self._section("definitions"):
            self.scope.define(key, node)
        if "gravity" in self.top:
            with self.top.blamed():
                self.system.gravity = self.top.vector("gravity")
        for key, node in self._section("bodies"):
            self._body(key, node)
        for key, node in self._section("joints"):
            self._joint(key, node)
        for key, node in self._section("drivers"):
            self._driver(key, node)
        for key, node in self._section("couplings"):
            self._coupling(key, node)
        for key, node in self._section("constraints"):
            self._constraint(key, node)
        for key, node in self._section("states"):
            self._state(key, node)
        for key, node in self._section("forces"):
            self._force(key, node)
        for key, node in self._section("contacts"):
            self._contact(key, node)
        for key, node in self._section("collisions"):
            self._collisions(key, node)
        self._visuals()
        for key, node in self._section("initial"):
            self._initial(key, node)

    def _road(self, node: Node, what: str) -> Any:
        if isinstance(node, Entries) and "kind" in node.values:
            return self.values.made(ROADS, node, what)
        return FileFunction(self.scope, node, what, ARGUMENTS)

    def _check_version(self) -> None:
        if "bellcrank" not in self.top:
            raise self.top.node.error(f"a model file begins with 'bellcrank: {layout.VERSION}'")
        if self.top.word("bellcrank") != layout.VERSION:
            raise self.top.get("bellcrank").error(
                f"this is format version {self.top.word('bellcrank')}; "
                f"this Bellcrank reads version {layout.VERSION}"
            )

    def _section(self, name: str) -> Iterator[tuple[Text, Node]]:
        if name in self.top:
            section = entries(self.top.get(name), name)
            for key, text in section.keys.items():
                yield text, section.values[key]

    def _fields(self, key: Text, node: Node, what: str, known: Sequence[str]) -> Fields:
        return Fields(self.scope, node, f"{what} {key.value!r}", known)

    def _parameters(self) -> None:
        for key, node in self._section("parameters"):
            name = key.value
            if isinstance(node, Entries):
                fields = self._fields(key, node, "parameter", layout.PARAMETER)
                value, unit = fields.number("value"), fields.optional_word("unit") or ""
            else:
                fields = Fields(self.scope, Entries(key.place), f"parameter {name!r}", ())
                value, unit = self.scope.number(node, f"parameter {name!r}"), ""
            with fields.blamed():
                self.scope.parameters[name] = self.system.parameter(name, value, unit)

    def _body(self, key: Text, node: Node) -> None:
        fields = self._fields(key, node, "body", layout.BODY)
        given: dict[str, Any] = {}
        for name, count in (("at", 3), ("quaternion", 4)):
            if name in fields:
                given[name] = fields.vector(name, (count,))
        if "angle" in fields:
            given["angle"] = fields.number("angle")
        if "rotation" in fields:
            given["rotation"] = fields.matrix("rotation")
        if "flexible" in fields:
            self._flexible_body(key, fields, given)
            return
        if "center_of_mass" in fields:
            given["center_of_mass"] = fields.vector("center_of_mass")
        if "inertia" in fields:
            given["inertia"] = self._inertia(fields)
        with fields.blamed():
            self.system.body(key.value, fields.number("mass"), **given)

    def _flexible_body(self, key: Text, fields: Fields, given: dict[str, Any]) -> None:
        for name in ("mass", "inertia", "center_of_mass"):
            if name in fields:
                raise fields.get(name).error(
                    f"{name} of {fields.who} follows from its flexible member; leave it out"
                )
        from bellcrank.files.members import MemberReader

        reader = MemberReader(self.scope, self.folder, self.stored)
        member = reader.member(key.value, fields.get("flexible"))
        with fields.blamed():
            self.system.flexible_body(key.value, member, **given)

    def _inertia(self, fields: Fields) -> Any:
        node = fields.get("inertia")
        if isinstance(node, Items) and node.items and isinstance(node.items[0], Items):
            return fields.matrix("inertia")
        return fields.vector("inertia", (3, 6))

    def _body_named(self, node: Node, what: str) -> Body:
        name = word(node, what)
        found = self.system.ground if name == "ground" else self.system.bodies.get(name)
        if found is None:
            known = {"ground": self.system.ground, **self.system.bodies}
            raise node.error(f"no body named {name!r}{nearest(name, known) or _listed('bodies', known)}")
        return found

    def _side(self, node: Node, what: str) -> Body | Frame:
        """A body by name, or a point or frame of one as a mapping."""
        if isinstance(node, Text):
            return self._body_named(node, what)
        given = Fields(self.scope, node, what, Frame.keys)
        body = self._body_named(given.get("body"), f"body of {what}")
        if "at" in given and "position" in given:
            raise node.error(f"{what} is placed twice, by 'at' and by 'position'; leave one of them out")
        with given.blamed():
            name = given.optional_word("name") or ""
            turned: dict[str, Any] = {}
            if "node" in given:
                node_frame = self._node(given, body)
                position: Any = node_frame.position
                name, turned = name or node_frame.name, {"rotation": node_frame.rotation}
            elif "at" in given:
                position = body.point_at(given.vector("at")).position
            else:
                position = given.vector("position") if "position" in given else (0.0, 0.0, 0.0)
            if "rotation" in given:
                turned = {"rotation": given.matrix("rotation")}
            return body.frame(position, name=name, **turned)

    def _node(self, fields: Fields, body: Body) -> Frame:
        """A node of a flexible body by name."""
        for key in ("at", "position"):
            if key in fields:
                raise fields.get(key).error(f"{fields.who} is placed twice, by 'node' and by {key!r}")
        with fields.blamed():
            return body.node(fields.word("node"))

    def _made(self, what: str, key: Text, node: Node, kinds: Kinds) -> tuple[Any, dict[str, Any]]:
        """Read a thing, and add it by the method of the system that is called like its kind; what it was made of."""
        kind, fields = self.values.kind(kinds, node, f"{what} {key.value!r}")
        make: Callable[..., Any] = getattr(self.system, "coupling" if kind == "linear" else kind)
        with fields.blamed():
            given = self.values.values(fields, kinds[kind])
            return make(key.value, **given), given

    def _joint(self, key: Text, node: Node) -> None:
        self._made("joint", key, node, layout.JOINTS)

    def _limits(self, node: Node, what: str) -> Any:
        """Limits of a coordinate, or of several by their names."""
        if isinstance(node, Entries) and not set(node.values) <= {key.name for key in STOPS}:
            return {name: self._limit(item, f"{name} in {what}") for name, item in node.values.items()}
        return self._limit(node, what)

    def _limit(self, node: Node, what: str) -> Limits:
        if isinstance(node, Items) and len(node.items) == 2:
            return Limits(*(None if is_null(x) else self.scope.number(x, what) for x in node.items))
        if not isinstance(node, Entries):
            raise node.error(f"{what} are a list of low and high, or a mapping, not {node.described}")
        return Limits(**self.values.values(Fields(self.scope, node, what, Keys("", *STOPS)), STOPS))

    def _joint_named(self, node: Node, what: str) -> str:
        name = word(node, what)
        if name not in self.system.joints:
            hint = nearest(name, self.system.joints) or _listed("joints", self.system.joints)
            raise node.error(f"no joint named {name!r}{hint}")
        return name

    def _driver(self, key: Text, node: Node) -> None:
        fields = self._fields(key, node, "driver", layout.DRIVER)
        if ("joint" in fields) == ("point" in fields):
            raise node.error(f"{fields.who} drives a 'joint' or a 'point'; give one of them")
        target: Any
        if "joint" in fields:
            target = self._joint_named(fields.get("joint"), f"joint of {fields.who}")
        else:
            target = self._side(fields.get("point"), f"point of {fields.who}")
            target = target.origin if isinstance(target, Body) else target
        given = {name: fields.optional_word(name) for name in ("coordinate", "axis")}
        with fields.blamed():
            law = fields.function("function", layout.DRIVER_ARGUMENTS)
            self.system.driver(target, law, name=key.value, **given)

    def _coordinate(self, node: Node, what: str, known: Sequence[str]) -> tuple[Fields, tuple[str, Any]]:
        fields = Fields(self.scope, node, what, known)
        joint = self._joint_named(fields.get("joint"), f"joint of {what}")
        return fields, (joint, fields.optional_word("coordinate"))

    def _coupled(self, node: Node, what: str) -> Any:
        """A joint by name, or a mapping of joint and coordinate."""
        if isinstance(node, Text):
            return self._joint_named(node, what)
        return self._coordinate(node, what, layout.COORDINATE)[1]

    def _coupling(self, key: Text, node: Node) -> None:
        self._made("coupling", key, node, layout.COUPLINGS)

    def _terms(self, node: Node, what: str) -> dict[Any, Scalar]:
        if not isinstance(node, Items):
            raise node.error(f"{what} must be a list, not {node.described}")
        terms: dict[Any, Scalar] = {}
        for item in node.items:
            term, which = self._coordinate(item, f"a term in {what}", layout.TERM)
            if which in terms:
                raise item.error(f"{what}: joint {which[0]!r} stands there twice; add the factors")
            terms[which] = term.number("factor")
        return terms

    def _constraint(self, key: Text, node: Node) -> None:
        kind, fields = self.values.kind(layout.CONSTRAINTS, node, f"constraint {key.value!r}")
        if kind == Own.kind:
            velocity = bool(fields.truth("velocity"))
            law = self._measuring(fields, "function")
            with fields.blamed():
                self.system.constraint(key.value, law, velocity)
            return
        made, given = self._made("constraint", key, node, layout.CONSTRAINTS)
        exact = _unit_vector(given["axis"]) if "axis" in given else None
        if exact is not None:
            self.system.constraints[key.value] = replace(made, axis=exact)

    def _measuring(self, fields: Fields, key: str) -> Callable[[Mapping[str, Any]], Any]:
        """A function of quantities, from an expression of t and the words of `measures`."""
        places: dict[str, str] = {}
        if "measures" in fields:
            section = entries(fields.get("measures"), f"measures of {fields.who}")
            for name, text in section.keys.items():
                check_name(text, self.scope.find(name) is not None)
                places[name] = word(section.values[name], f"measure {name!r} of {fields.who}")
        law = fields.function(key, ("t", *places))

        def function(m: Mapping[str, Any]) -> Any:
            return law(t=m["t"], **{name: m[quantity] for name, quantity in places.items()})

        return function

    def _state(self, key: Text, node: Node) -> None:
        fields = self._fields(key, node, "state", layout.STATE)
        laws: dict[str, Any] = {
            law: self._measuring(fields, law) for law in ("rate", "follows") if law in fields
        }
        numbers: dict[str, Any] = {key: fields.number(key) for key in ("initial", "lag") if key in fields}
        with fields.blamed():
            made = self.system.state(key.value, unit=fields.optional_word("unit") or "", **laws, **numbers)
        self.scope.parameters[key.value] = made

    def _initial(self, key: Text, node: Node) -> None:
        who = f"start of {key.value!r}"
        with Fields(self.scope, Entries(key.place), who, ()).blamed():
            counts = self.system.start_keys(key.value)
        if not isinstance(node, Entries):
            values: Any = self._position(node, who)
            fields = Fields(self.scope, Entries(node.place), who, ())
        else:
            fields = Fields(self.scope, node, who, tuple(counts))
            values = {
                name: fields.vector(name, (counts[name],))
                if counts[name] > 1
                else self._position(item, f"{name} of {who}")
                for name, item in node.values.items()
            }
        with fields.blamed():
            self.system.initial(key.value, values)

    def _position(self, node: Node, what: str) -> Any:
        """A position, or a list of a position and its rate."""
        return (
            numbers(self.scope, node, what, (1, 2))
            if isinstance(node, Items)
            else self.scope.number(node, what)
        )

    def _force(self, key: Text, node: Node) -> None:
        made, given = self._made("force", key, node, layout.FORCES)
        # An axis that is a unit vector keeps its digits.
        exact = _unit_vector(given["axis"]) if "axis" in given else None
        if exact is not None:
            self.system.forces[key.value] = replace(made, axis=exact)

    def _contact(self, key: Text, node: Node) -> None:
        fields = self._fields(key, node, "contact", CONTACT)
        with fields.blamed():
            self.system.contact(key.value, **by_field(fields, self.values.values(fields, CONTACT)))

    def _collisions(self, key: Text, node: Node) -> None:
        fields = self._fields(key, node, "collisions", Collisions.keys)
        with fields.blamed():
            self.system.contacts_between(**self.values.values(fields, Collisions.keys), name=key.value)

    def _visuals(self) -> None:
        if "visuals" not in self.top:
            return
        given = self.top.get("visuals")
        if not isinstance(given, Items):
            raise given.error("visuals are a list")
        for k, node in enumerate(given.items):
            fields = Fields(self.scope, node, f"visual {k + 1}", Visual.keys)
            with fields.blamed():
                said = self.values.values(fields, Visual.keys)
                placed = said.pop("shape")
                placed.frame.body.visual(placed, **said)

    def _shape(self, node: Node, what: str) -> PlacedShape:
        kind, fields = self.values.kind(SHAPES, node, what)
        body = self._body_named(fields.get("body"), f"body of {what}")
        turned = fields.matrix("rotation") if "rotation" in fields else None
        at: Any = fields.vector("at") if "at" in fields else (0.0, 0.0, 0.0)
        if "node" in fields:
            at = self._node(fields, body).position
        with fields.blamed():
            return body.shape(read_shape(self.values, kind, fields), at, turned)


def _unit_vector(axis: str | list[Scalar]) -> Vec | None:
    if isinstance(axis, str) or any(isinstance(x, Expr) for x in axis):
        return None
    x, y, z = axis
    return (x, y, z) if abs(float(np.linalg.norm(np.array(axis, dtype=float))) - 1.0) <= _UNIT else None


def _listed(what: str, known: Mapping[str, Any]) -> str:
    names = list(known)
    return f"; {what} here: {', '.join(names[:20]) or 'none'}{', ...' if len(names) > 20 else ''}"

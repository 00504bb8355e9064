"""From a system to the text of a model file, without loss.

Joints are written by their frames and numbers by their shortest exact text. Functions are run once on named
inputs; the expression that comes out is the function, whatever Python it was made of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.errors import ModelError
from bellcrank.files import layout
from bellcrank.files.language import RESERVED
from bellcrank.files.printing import print_expressions
from bellcrank.files.scope import components
from bellcrank.files.shapes import part_entries, shape_entries
from bellcrank.files.tokens import is_word, quoted
from bellcrank.files.values import ValueWriter
from bellcrank.files.yaml_text import Flow, Row, collect, dumped, plain, replaced
from bellcrank.flexible.rods import Rod
from bellcrank.formulations.equations import Mechanics
from bellcrank.math.arrays import rotation_about_z
from bellcrank.math.tuples import UNIT, ZERO
from bellcrank.mechanics.lowering import lower
from bellcrank.mechanism.constraints import constraints_of
from bellcrank.model import (
    Body,
    CoordinateTarget,
    Coupling,
    Driver,
    Frame,
    Joint,
    System,
)
from bellcrank.model.collisions import Collisions
from bellcrank.model.constraints import Constraint, Own
from bellcrank.model.contact_keys import CONTACT, said
from bellcrank.model.contacts import Contact, PlacedShape
from bellcrank.model.forces import ContactForce, ForceElement
from bellcrank.model.forces.road import ARGUMENTS
from bellcrank.model.functions import SHAPES, UserFunction
from bellcrank.model.initials import Start
from bellcrank.model.states import StateVariable
from bellcrank.model.visuals import Visual
from bellcrank.program.graph import Graph
from bellcrank.program.trace import Expr, Scalar
from bellcrank.quantities.measured import arranged
from bellcrank.quantities.quantities import Quantities
from bellcrank.quantities.snapshot import Snapshot
from bellcrank.roads.kinds import ROADS
from bellcrank.topology import spanning_tree
from bellcrank.tyres.envelope import ENVELOPES
from bellcrank.tyres.law import TyreLaw
from bellcrank.tyres.property_file import TYRES

if TYPE_CHECKING:
    from bellcrank.flexible.member import FlexibleMember


def write_system(
    system: System, folder: Path | None = None, stored: MutableMapping[str, FlexibleMember] | None = None
) -> str:
    """The text of a model file that describes `system`; see :func:`bellcrank.files.dumps`."""
    return dumped(_Writer(system, folder, stored).document())


class _Writer:
    def __init__(
        self, system: System, folder: Path | None, stored: MutableMapping[str, FlexibleMember] | None
    ) -> None:
        self.system = system
        self.folder = folder
        self.stored = stored
        self.values = ValueWriter(
            folder,
            self._function,
            {
                "side": self._frame,
                "joint_name": lambda joint: joint.name,
                "coordinate": lambda pair: Flow(joint=pair[0].name, coordinate=pair[1]),
                "shape": self._placed,
                "part": lambda part: part_entries(self.values, part),
                "friction": lambda law: dict(self.values.made(layout.FRICTIONS, law)),
                "tyre": self._tyre,
                "envelope": lambda envelope: dict(self.values.made(ENVELOPES, envelope)),
                "road": self._road,
            },
        )

    def _tyre(self, law: TyreLaw) -> Any:
        # A law of one's own has no keys; one derived from a kind would be read as that kind.
        if TYRES.makes.get(getattr(law, "kind", "")) is not type(law):
            raise ModelError(
                f"a tyre by {type(law).__name__} cannot be written: model files know the laws "
                f"{', '.join(TYRES)}; a class of your own goes with the program that makes it"
            )
        return dict(self.values.made(TYRES, law))

    def _road(self, road: UserFunction) -> Any:
        # Roads of a user's own class have no keys; they are written as the expressions that they are.
        if getattr(road.function, "kind", "") in ROADS:
            return dict(self.values.made(ROADS, road.function))
        return self._function(road, ARGUMENTS, 0)

    def document(self) -> dict[str, Any]:
        """Everything as plain mappings, lists, numbers and texts."""
        system = self.system
        body: dict[str, Any] = {"gravity": Row(system.gravity)}
        sections: dict[str, Any] = {
            "bodies": {name: self._body(item) for name, item in system.bodies.items()},
            "joints": {name: self._joint(item) for name, item in system.joints.items()},
            "drivers": {name: self._driver(item) for name, item in system.drivers.items()},
            "couplings": {name: self._coupling(item) for name, item in system.couplings.items()},
            "constraints": {name: self._constraint(item) for name, item in system.constraints.items()},
            "states": {name: self._state(item) for name, item in system.states.items() if item.owner is None},
            "forces": {
                name: self._force(item)
                for name, item in system.forces.items()
                if not isinstance(item, ContactForce)
            }
            | {
                item.limits.name: self._force(item.limits)
                for item in system.contacts.values()
                if item.limits is not None
            },
            "contacts": {
                **{
                    item.group: self.values.values(CONTACT, said(item))
                    for item in (*system.contacts.values(), *system.forces.values())
                    if isinstance(item, ContactForce) or (isinstance(item, Contact) and item.limits is None)
                },
                **{
                    name: self.values.values(CONTACT, item.said)
                    for name, item in system.collisions.items()
                    if item.pair
                },
            },
            "collisions": {
                name: self.values.values(Collisions.keys, item.said)
                for name, item in system.collisions.items()
                if not item.pair
            },
            "visuals": [
                self.values.values(Visual.keys, self._visual(v))
                for b in (system.ground, *system.bodies.values())
                for v in b.visuals
            ],
            "initial": {name: self._initial(name, start) for name, start in system.initials.items()},
        }
        body.update({name: things for name, things in sections.items() if things})
        roots: list[Expr] = []
        collect(body, roots)
        definitions, texts = print_expressions(roots, self._leaf(()), system.parameters, "d")
        body = replaced(body, iter(texts))
        head: dict[str, Any] = {"bellcrank": int(layout.VERSION), "name": system.name}
        gravity = body.pop("gravity")
        if system.zero_is_said:
            head["zero"] = system.zero.value
        if system.parameters.own():
            head["parameters"] = {p.name: _parameter(p) for p in system.parameters.values() if not p.internal}
        if definitions:
            head["definitions"] = definitions
        return {**head, "gravity": gravity, **body}

    def _leaf(self, arguments: Sequence[str]) -> Callable[[str], str]:
        """How inputs are written: arguments, which begin with a dot in the trace, and parameters."""

        def leaf(name: str) -> str:
            if name.startswith("."):
                return name[1:]
            if name not in self.system.parameters and name not in self.system.states:
                raise ModelError(f"an expression uses {name!r}, which is not a parameter of this system")
            bare = is_word(name) and name not in RESERVED and name not in arguments
            return name if bare else quoted(name)

        return leaf

    def _function(self, function: Callable[..., Any], arguments: Sequence[str], count: int = 0) -> Any:
        """A function as an expression, or as definitions and a value where parts of it are shared."""
        graph = Graph()
        given = {a: _inputs(graph, a) for a in arguments}
        is_user = isinstance(function, UserFunction)
        result = function(**given) if is_user else function(*given.values())
        memo: dict[int, Scalar] = {}
        roots = [graph.bring(x, memo) for x in (result if count else (result,))]
        names = [name for a in arguments for name in components(a)]
        let, texts = print_expressions(roots, self._leaf(names), self.system.parameters)
        values = [t if isinstance(x, Expr) else _finite(x) for t, x in zip(texts, roots, strict=True)]
        value = Row(values) if count else values[0]
        return {"let": let, "value": value} if let else value

    def _body(self, body: Body) -> dict[str, Any]:
        if body.member is not None:
            from bellcrank.files.members import member_entries

            result: dict[str, Any] = {"flexible": member_entries(body, body.member, self.folder, self.stored)}
        else:
            result = {"mass": body.mass, "inertia": _inertia(body)}
            if not _same(body.center_of_mass, ZERO):
                result["center_of_mass"] = Row(body.center_of_mass)
        if not _same(body.position, ZERO):
            result["at"] = Row(body.position)
        if not _same(body.rotation, UNIT):
            angle = math.atan2(body.rotation[1][0], body.rotation[0][0])
            if bool((rotation_about_z(angle) == np.array(body.rotation)).all()):
                result["angle"] = angle
            else:
                result["rotation"] = _rows(body.rotation)
        return result

    def _frame(self, frame: Frame, always: bool = False) -> Any:
        """A frame; its body's name stands for the body's own where not `always` a mapping is needed."""
        result = Flow({"body": frame.body.name})
        node = _node_of(frame)
        if node:
            result["node"] = node
        elif not _same(frame.position, ZERO):
            result["position"] = Row(frame.position)
        member = frame.body.member
        axes = member.node(node).axes.tolist() if node and member is not None else UNIT
        if not _same(frame.rotation, axes):
            result["rotation"] = _rows(frame.rotation)
        if frame.name:
            result["name"] = frame.name
        return result if always or len(result) > 1 else frame.body.name

    def _joint(self, joint: Joint) -> dict[str, Any]:
        """By its frames, which say where it is: `at` and axes are not needed beside them."""
        result: dict[str, Any] = {"kind": joint.kind}
        result["a"], result["b"] = self._frame(joint.a, True), self._frame(joint.b, True)
        own = {
            field.name: getattr(joint, field.name) for field in fields(joint) if field.name not in ("a", "b")
        }
        return result | self.values.values(joint.keys, own)

    def _driver(self, driver: Driver) -> dict[str, Any]:
        target = driver.target
        if isinstance(target, CoordinateTarget):
            result: dict[str, Any] = {"joint": target.joint.name, "coordinate": target.coordinate}
        else:
            result = {"point": self._frame(target.frame), "axis": target.axis}
        return {**result, "function": self._function(driver.function, layout.DRIVER_ARGUMENTS)}

    def _coupling(self, coupling: Coupling) -> dict[str, Any]:
        terms = [Flow(joint=j.name, coordinate=c, factor=factor) for j, c, factor in coupling.terms]
        return {"terms": terms, "offset": coupling.offset}

    def _state(self, state: StateVariable) -> dict[str, Any]:
        if state.follows is not None:
            result = self._measuring("follows", state.follows, f"state {state.name!r}: what it follows")
            result["lag"] = state.lag
        else:
            assert state.rate is not None
            result = self._measuring("rate", state.rate, f"state {state.name!r}: its rate")
            result["initial"] = state.initial
        return {**result, "unit": state.unit} if state.unit else result

    def _constraint(self, item: Constraint) -> dict[str, Any]:
        if isinstance(item, Own):
            found = self._measuring("function", item.function, f"constraint {item.name!r}: its function")
            return {"kind": item.kind, **found, **({"velocity": True} if item.velocity else {})}
        said = {key.attribute: getattr(item, key.attribute) for key in item.keys.keys}
        return {"kind": item.kind, **self.values.values(item.keys, said)}

    def _measuring(self, key: str, rate: Callable[[Mapping[str, Any]], Any], what: str) -> dict[str, Any]:
        """A function of quantities over words that stand for those it looks at."""
        # Which quantities are vectors only the analysed mechanism knows.
        seen = _Seen(self.system, self._components)
        try:
            rate(seen)
        except TypeError as error:
            raise ModelError(f"{what} cannot be written as an expression: {error}") from error
        names = [name for name in seen.quantities if name != "t"]
        taken = {*self.system.parameters, *self.system.states}
        free = (f"m{k}" for k in range(1, 10_000) if f"m{k}" not in taken)
        words = dict(zip(names, free, strict=False))

        def law(t: Scalar, *values: Scalar) -> Scalar:
            given = {**dict(zip(names, values, strict=True)), "t": t}
            return rate(_Seen(self.system, self._components, given))  # type: ignore[no-any-return]

        result: dict[str, Any] = {key: self._function(law, ("t", *words.values()))}
        if words:
            result["measures"] = Flow({word: name for name, word in words.items()})
        return result

    @cached_property
    def _quantities(self) -> Quantities:
        # Names and components need no assembled start: what cannot move can be written too.
        system, tree = self.system, spanning_tree(self.system)
        linkage = lower(system, tree)
        mechanics = Mechanics(linkage, constraints_of(system, tree, linkage), (), tuple(system.parameters))
        return Quantities(Snapshot(system, tree, mechanics))

    def _components(self, name: str) -> tuple[Sequence[str], tuple[int, ...]]:
        """The components of a quantity and its shape, none for a single number."""
        quantity, chosen = self._quantities.find(name)
        components = quantity.components if chosen is None else ()
        return components, quantity.shape(chosen, max(1, len(components)))

    def _initial(self, name: str, start: Start) -> Any:
        """A position, a pair, or a mapping of them; the only coordinate of a joint needs no name."""
        rows = Flow({key: row[0] if len(row) == 1 else Row(row) for key, row in start.items()})
        joint = self.system.joints.get(name)
        single = joint is not None and tuple(start) == joint.coordinates
        return next(iter(rows.values())) if single else rows

    def _force(self, force: ForceElement) -> dict[str, Any]:
        said = {key.attribute: getattr(force, key.attribute) for key in force.keys.keys}
        return {"kind": force.kind, **self.values.values(force.keys, said)}

    def _visual(self, visual: Visual) -> dict[str, Any]:
        opacity = visual.opacity if visual.opacity != 1.0 else None
        shape = PlacedShape(visual.frame, visual.shape)
        return {"shape": shape, "colour": visual.colour, "opacity": opacity}

    def _placed(self, placed: PlacedShape) -> Flow:
        frame = self._frame(replace(placed.frame, name=""), True)
        result = Flow({"at" if key == "position" else key: value for key, value in frame.items()})
        entries = shape_entries(self.values, placed.shape.whole)
        return Flow({"kind": entries.pop("kind"), **result, **entries})


class _Seen(Mapping[str, Any]):
    """Quantities by name as a rate asks for them; parameters and states are themselves."""

    def __init__(
        self,
        system: System,
        components: Callable[[str], tuple[Sequence[str], tuple[int, ...]]],
        given: Mapping[str, Scalar] | None = None,
    ) -> None:
        self.system, self.components, self.given = system, components, given
        self.quantities: dict[str, Scalar] = {}
        self._trace = Graph()

    def __getitem__(self, name: str) -> Any:
        graph = self.system.parameters.graph
        if name in self.system.parameters or name in self.system.states:
            return graph.input(name)
        parts, shape = self.components(name) if name != "t" else ((), ())
        return (
            arranged([self._number(f"{name}.{part}") for part in parts], shape)
            if parts
            else self._number(name)
        )

    def _number(self, name: str) -> Scalar:
        if self.given is not None:
            return self.given[name]
        return self.quantities.setdefault(name, self._trace.input(f".{name}"))

    def __iter__(self) -> Any:
        return iter(self.quantities)

    def __len__(self) -> int:
        return len(self.quantities)


def _node_of(frame: Frame) -> str:
    """The name of the node a frame sits on; empty where it has none."""
    member = frame.body.member
    if member is None:
        return ""
    if isinstance(member, Rod) and frame.name.startswith("at "):
        return frame.name
    here = [name for name, node in member.nodes.items() if tuple(node.position) == tuple(frame.position)]
    return frame.name if frame.name in here else next(iter(here), "")


def _parameter(parameter: Any) -> Any:
    value = plain(parameter.value)
    return Flow(value=value, unit=parameter.unit) if parameter.unit else value


def _inputs(graph: Graph, argument: str) -> Any:
    names = [graph.input(f".{name}") for name in components(argument)]
    if argument not in SHAPES:
        return names[0]
    cells = np.empty(len(names), dtype=object)
    cells[:] = names
    return cells.reshape(SHAPES[argument])


def _inertia(body: Body) -> Row:
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = body.inertia
    if not all(_equal(a, b) for a, b in ((xy, yx), (xz, zx), (yz, zy))):
        return _rows(body.inertia)
    if all(_equal(x, 0.0) for x in (xy, xz, yz)):
        return Row([xx, yy, zz])
    return Row([xx, yy, zz, xy, xz, yz])


def _rows(matrix: Sequence[Sequence[Scalar]]) -> Row:
    return Row(Row(row) for row in matrix)


def _equal(a: Scalar, b: Scalar) -> bool:
    """Whether two numbers are the same, bit for bit or node for node."""
    if isinstance(a, Expr) or isinstance(b, Expr):
        return a is b
    return a == b and math.copysign(1.0, a) == math.copysign(1.0, b)


def _same(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return all(_same(x, y) if isinstance(x, tuple) else _equal(x, y) for x, y in zip(a, b, strict=True))


def _finite(value: float) -> Any:
    if not math.isfinite(value):
        raise ModelError(f"a function comes to {value}, which model files cannot carry")
    return plain(value)

"""What expressions of a file can see, and functions made of expressions."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from typing import Any

from bellcrank.base.reach import LARGEST, within
from bellcrank.files.documents import Entries, Items, Node, Text
from bellcrank.files.language import RESERVED, Formula, Value
from bellcrank.files.tokens import is_word
from bellcrank.model.functions import SHAPES
from bellcrank.program.functions import reachable
from bellcrank.program.trace import Expr, Scalar

MAX_WORK = 3_000_000
"""Operations that all numbers of a file together may need; guards against files made to keep us busy."""


def components(argument: str) -> tuple[str, ...]:
    """The names of an argument in expressions: velocity.x, rotation.xy (row, column), or its own."""
    match SHAPES.get(argument):
        case (3,):
            return tuple(f"{argument}.{i}" for i in "xyz")
        case (3, 3):
            return tuple(f"{argument}.{i}{j}" for i in "xyz" for j in "xyz")
        case _:
            return (argument,)


def flat(argument: str, given: Any) -> list[Any]:
    """The values of an argument in the order of :func:`components`."""
    match SHAPES.get(argument):
        case (3,):
            return list(given)
        case (3, 3):
            return [x for row in given for x in row]
        case _:
            return [given]


class Scope:
    """The parameters and definitions of one file."""

    def __init__(self) -> None:
        self.parameters: dict[str, Expr] = {}
        self.definitions: dict[str, Value] = {}
        self.work = 0

    def find(self, name: str) -> Value | None:
        """A definition or parameter."""
        return self.definitions.get(name, self.parameters.get(name))

    def find_parameter(self, name: str) -> Value | None:
        """A parameter."""
        return self.parameters.get(name)

    def listed(self) -> list[str]:
        """All names."""
        return [*self.definitions, *self.parameters]

    def listed_parameters(self) -> list[str]:
        """All parameters."""
        return list(self.parameters)

    def define(self, key: Text, node: Node) -> None:
        """Make a definition known; later ones may use it."""
        check_name(key, self.find(key.value) is not None)
        value = Formula(as_text(node, f"definition {key.value!r}")).value(self)
        if isinstance(value, list):
            raise node.error(f"definition {key.value!r} must be a number or a condition, not a list")
        self.definitions[key.value] = value

    def number(self, node: Node, what: str) -> Scalar:
        """A number of the file: an expression of parameters and definitions."""
        source = as_text(node, what)
        value = Formula(source).number(self)
        if isinstance(value, Expr):
            # Checks walk through the whole expression of each number they are given.
            self.work += len(reachable([value]))
            if self.work > MAX_WORK:
                raise source.error("the expressions of this file are too large together")
        elif not within(value):
            size = "must be a finite number" if not math.isfinite(value) else f"must not exceed {LARGEST:g}"
            raise source.error(f"{what} is {value:g}; it {size}")
        return value


class _Local:
    """Arguments and local definitions of one call, then the names of the file, brought into its trace."""

    def __init__(self, scope: Scope, values: dict[str, Value], usable: Sequence[str]) -> None:
        self.scope = scope
        self.usable = usable
        self.values = values
        self.graph = next((v.graph for v in values.values() if isinstance(v, Expr)), None)
        self.memo: dict[int, Scalar] = {}

    def find(self, name: str) -> Value | None:
        found = self.values.get(name)
        return self._brought(self.scope.find(name)) if found is None else found

    def find_parameter(self, name: str) -> Value | None:
        return self._brought(self.scope.find_parameter(name))

    def listed(self) -> list[str]:
        return [*self.usable, *self.scope.listed()]

    def listed_parameters(self) -> list[str]:
        return self.scope.listed_parameters()

    def _brought(self, found: Value | None) -> Value | None:
        # Once for a call, with one memory, or each operation would bring the whole expression again.
        if self.graph is None or not isinstance(found, Expr):
            return found
        return self.graph.bring(found, self.memo)


def check_name(key: Text, taken: bool) -> None:
    """Refuse what cannot be the name of a definition."""
    name = key.value
    if not is_word(name):
        raise key.error(f"{name!r} cannot be the name of a definition; use letters, digits and _")
    if name in RESERVED:
        raise key.error(f"{name!r} is a word of the expression language; choose another name")
    if taken:
        raise key.error(f"{name!r} stands for something else already; choose another name")


def as_text(node: Node, what: str) -> Text:
    """A scalar of the file."""
    if not isinstance(node, Text):
        raise node.error(f"{what} must be a number or an expression, not {node.described}")
    return node


class FileFunction:
    """A function of a mechanism's quantities, given by expressions: what a lambda is in Python.

    `arguments` are those the function may use; its signature shows those it does use.
    """

    def __init__(self, scope: Scope, node: Node, who: str, arguments: Sequence[str], count: int = 0) -> None:
        self.scope = scope
        self.count = count
        let, value = _let_and_value(node, who)
        self.let: dict[str, Formula] = {}
        names = [name for argument in arguments for name in components(argument)]
        if let is not None:
            for name, key in let.keys.items():
                check_name(key, name in names or scope.find(name) is not None)
                self.let[name] = Formula(as_text(let.values[name], f"{name!r} of {who}"))
        self.usable = [*names, *self.let]
        self.results = [Formula(as_text(item, who)) for item in _results(value, who, count)]
        used = frozenset[str]().union(*(f.names for f in (*self.let.values(), *self.results)))
        kind = inspect.Parameter.KEYWORD_ONLY
        self.ordered = tuple(arguments)
        self.arguments = tuple(a for a in arguments if used.intersection(components(a)))
        self.__signature__ = inspect.Signature([inspect.Parameter(a, kind) for a in self.arguments])

    def __call__(self, *ordered: Any, **given: Any) -> Any:
        """The value, or values, for arguments that are numbers or traced; by name, or all of them in order."""
        local: dict[str, Value] = {}
        given |= zip(self.ordered, ordered, strict=False)
        for argument in self.arguments:
            local.update(zip(components(argument), flat(argument, given[argument]), strict=True))
        names = _Local(self.scope, local, self.usable)
        for name, formula in self.let.items():
            local[name] = formula.value(names)
        results = [formula.number(names) for formula in self.results]
        return tuple(results) if self.count else results[0]


def _let_and_value(node: Node, who: str) -> tuple[Entries | None, Node]:
    if not isinstance(node, Entries):
        return None, node
    for name, key in node.keys.items():
        if name not in ("let", "value"):
            raise key.error(f"{who} is an expression, or a mapping of 'let' and 'value'; {name!r} is neither")
    if "value" not in node.values:
        raise node.error(f"{who} has no 'value'")
    let = node.values.get("let")
    if let is not None and not isinstance(let, Entries):
        raise let.error(f"'let' of {who} must be a mapping of names to expressions, not {let.described}")
    return let, node.values["value"]


def _results(value: Node, who: str, count: int) -> list[Node]:
    if not count:
        return [value]
    if not isinstance(value, Items) or len(value.items) != count:
        given = f"{len(value.items)} items" if isinstance(value, Items) else value.described
        raise value.error(f"{who} must be a list of {count} expressions, not {given}")
    return value.items

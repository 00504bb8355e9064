"""What keys say, read and written by their types: the one table of keys serves reader, writer and JSON Schema."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.base.keys import NUMBER, PACKED, TEXT, TRUTH, TRUTH_OR_NULL, Key, Keys, Kinds, Schema, defined
from bellcrank.contact.notes import ContactNote
from bellcrank.files.beside import file_beside
from bellcrank.files.documents import Entries, Items, Node, Text
from bellcrank.files.fields import Fields, axis, entries, matrix, numbers, truth, word
from bellcrank.files.packed import packed, unpacked
from bellcrank.files.scope import FileFunction, Scope
from bellcrank.files.yaml_text import Flow, Row
from bellcrank.program.trace import Expr, Scalar

VECTORS = {"vector3": 3, "vector4": 4, "vector6": 6}
RIGID = "rigid"
"""What stands for an infinite modulus."""
Read = Callable[[Node, str], Any]
Function = Callable[[Callable[..., Any], Sequence[str], int], Any]


class Unsaid(Exception):
    """A value that model files have no words for."""


class ValueReader:
    """Reads what the keys of a mapping say.

    folder: Where files beside the model may lie; None for a text, which has none. things: What reads the types of the
    definitions that are things of the model, by their names. plain: Why numbers hold no parameters; empty where they
    may.
    """

    def __init__(
        self, scope: Scope, folder: Path | None, things: Mapping[str, Read], plain: str = ""
    ) -> None:
        self.scope, self.folder, self.things, self.plain = scope, folder, things, plain

    def values(self, fields: Fields, keys: Keys | Iterable[Key], *others: str) -> dict[str, Any]:
        """What keys say, by their names in Python; `others` are read elsewhere, null says nothing."""
        found = {}
        for key in keys.keys if isinstance(keys, Keys) else keys:
            if key.name in ("kind", *others) or not (key.needed or key.name in fields):
                continue
            value = self.value(fields, key)
            if key.old:
                warnings.warn(
                    f"{fields.who}: the key {key.name!r} of an older file is ignored: {key.old}; save the model again "
                    "to leave it out",
                    ContactNote,
                    stacklevel=2,
                )
            elif value is not None:
                found[key.attribute] = value
        return found

    def value(self, fields: Fields, key: Key) -> Any:
        """What one key says."""
        return self._read(key, key.takes, fields.get(key.name), f"{key.name} of {fields.who}")

    def made(self, kinds: Kinds, node: Node, who: str) -> Any:
        """The thing of one of several kinds that a mapping describes."""
        kind, fields = self.kind(kinds, node, who)
        with fields.blamed():
            return kinds.makes[kind](**self.values(fields, kinds[kind]))

    def kind(self, kinds: Kinds, node: Node, who: str) -> tuple[str, Fields]:
        """The kind of a thing, and its fields with the keys of that kind."""
        if not isinstance(node, Entries):
            raise node.error(f"{who} must be a mapping with a 'kind', not {node.described}")
        if "kind" not in node.values:
            if not kinds.usual:
                raise node.error(f"{who} needs a 'kind': {', '.join(kinds)}")
            return kinds.usual, Fields(self.scope, node, who, kinds[kinds.usual])
        kind = word(node.values["kind"], f"kind of {who}", tuple(kinds))
        return kind, Fields(self.scope, node, f"{kind} {who}", kinds[kind])

    def _read(self, key: Key, takes: Schema, node: Node, what: str) -> Any:
        name = defined(takes)
        if name in self.things:
            return self.things[name](node, what)
        if name in VECTORS:
            return self._row(key, node, what, VECTORS[name])
        match name:
            case "number":
                return self._number(key, node, what)
            case "of_both":
                return self._of_both(key, node, what)
            case "matrix":
                return [
                    [self._checked(key, x, node, what) for x in row] for row in matrix(self.scope, node, what)
                ]
            case "axis":
                return axis(self.scope, node, what)
            case "function":
                return FileFunction(self.scope, node, what, key.arguments)
            case "vector_function":
                return FileFunction(self.scope, node, what, key.arguments, 3)
            case "packed":
                return self._array(key, node, what)
            case "tables":
                return self._tables(node, what)
        if "anyOf" in takes or "oneOf" in takes:
            return self._read(key, self._choice(takes, node), node, what)
        if "enum" in takes and key.whole is None:
            return word(node, what, takes["enum"])
        if takes in (TRUTH, TRUTH_OR_NULL):
            return truth(node, what)
        match takes.get("type"):
            case "array":
                return self._listed(key, takes, node, what)
            case "object":
                items = entries(node, what).values.items()
                return {
                    own: self._read(key, takes["additionalProperties"], item, f"{own!r} in {what}")
                    for own, item in items
                }
            case "string":
                return file_beside(self.folder, node, what, key.files) if key.files else word(node, what)
        return self._bounded(key, takes, node, what)

    def _choice(self, takes: Schema, node: Node) -> Schema:
        """Which of several types a value has, by whether it is a list, a mapping or a single value."""
        choices: list[Schema] = takes.get("anyOf") or takes["oneOf"]
        if isinstance(node, Items):
            return next((x for x in choices if x.get("type") == "array" or x == PACKED), choices[0])
        if isinstance(node, Entries):
            mappings = [x for x in choices if x.get("type") == "object" or defined(x) in self.things]
            return next(iter(mappings), choices[0])
        return choices[0]

    def _checked(self, key: Key, value: Scalar, node: Node, what: str) -> Scalar:
        """A number, without parameters in it where there may be none."""
        why = self.plain or ("it is read before parameters have values" if key.plain else "")
        if not why:
            return value
        if isinstance(value, Expr):
            raise node.error(f"{what} must be a plain number: {why}")
        return float(value)

    def _number(self, key: Key, node: Node, what: str) -> Scalar:
        value = self.scope.number(node, what)
        if key.whole is None:
            return self._checked(key, value, node, what)
        least, most = key.whole
        if isinstance(value, Expr) or value != int(value) or not least <= value <= most:
            raise node.error(f"{what} must be a whole number from {least} to {most}, not {node_text(node)}")
        return int(value)

    def _bounded(self, key: Key, takes: Schema, node: Node, what: str) -> Scalar:
        """A plain number within the bounds of its type."""
        value = self._number(key, node, what)
        if isinstance(value, Expr):
            raise node.error(f"{what} must be a plain number")
        if "exclusiveMinimum" in takes and not value > takes["exclusiveMinimum"]:
            raise node.error(f"{what} must be greater than {takes['exclusiveMinimum']}, not {value:g}")
        if "minimum" in takes and not value >= takes["minimum"]:
            raise node.error(f"{what} must be at least {takes['minimum']}, not {value:g}")
        return value

    def _row(self, key: Key, node: Node, what: str, count: int) -> list[Scalar]:
        return [self._checked(key, x, node, what) for x in numbers(self.scope, node, what, (count,))]

    def _of_both(self, key: Key, node: Node, what: str) -> Any:
        """One number for both bodies or one each."""
        items = node.items if isinstance(node, Items) else [node]
        found = tuple(
            math.inf if isinstance(item, Text) and item.value == RIGID else self._number(key, item, what)
            for item in items
        )
        return found if isinstance(node, Items) else found[0]

    def _listed(self, key: Key, takes: Schema, node: Node, what: str) -> Any:
        items, count = takes["items"], takes.get("maxItems")
        if items == NUMBER and count is not None and key.whole is None:
            return tuple(self._row(key, node, what, count))
        if not isinstance(node, Items):
            raise node.error(f"{what} must be a list, not {node.described}")
        if count is not None and len(node.items) != count:
            raise node.error(f"{what} must be a list of {count}, not {len(node.items)}")
        if key.whole is not None and len(node.items) > key.whole[1]:
            raise node.error(f"{what}: {len(node.items)} are too many; at most {key.whole[1]}")
        if "anyOf" in key.takes:
            # The bounds of a single number are not those of the numbers in a list.
            return [self._checked(key, self.scope.number(item, what), item, what) for item in node.items]
        return tuple(
            self._read(key, items, item, f"item {k} of {what}") for k, item in enumerate(node.items, 1)
        )

    def _array(self, key: Key, node: Node, what: str) -> Any:
        try:
            found = unpacked(word(node, what), key.dimensions)
        except ValueError as error:
            raise node.error(f"{what} cannot be read: {error}") from error
        if key.whole is None:
            return found
        least, most = key.whole
        if not (np.all((found >= least) & (found <= most)) and np.all(found == np.round(found))):
            raise node.error(f"{what} are whole numbers from {least} to {most}")
        return found.astype(np.int64)

    def _tables(self, node: Node, what: str) -> dict[str, Any]:
        """Rows of numbers by name."""
        found: dict[str, Any] = {}
        for name, rows in entries(node, what).values.items():
            if not isinstance(rows, Items):
                raise rows.error(f"table {name!r} in {what} must be a list of pairs, not {rows.described}")
            found[name] = [
                numbers(self.scope, row, f"a row of table {name!r} in {what}", (2,)) for row in rows.items
            ]
        return found


def node_text(node: Node) -> str:
    """A node as an error shows it."""
    return node.value if isinstance(node, Text) else node.described


class ValueWriter:
    """Writes what the keys of a mapping say.

    folder: Where the file will lie; None where nothing lies beside it. function: Writes a function of arguments that
    has so many values, 0 for a single number. things: What writes the types of the definitions that are things of the
    model.
    """

    def __init__(
        self, folder: Path | None, function: Function, things: Mapping[str, Callable[[Any], Any]]
    ) -> None:
        self.folder, self.function, self.things = folder, function, things

    def values(self, keys: Keys | Iterable[Key], said: Mapping[str, Any]) -> dict[str, Any]:
        """The entries of keys from what is said by their names in Python; None, and nothing of many, are left out."""
        found = {}
        for key in keys.keys if isinstance(keys, Keys) else keys:
            value = said.get(key.attribute)
            if value is None or (not key.needed and isinstance(value, Mapping | list | tuple) and not value):
                continue
            found[key.name] = self._written(key, key.takes, value)
        return found

    def made(self, kinds: Kinds, thing: Any) -> Flow:
        """The entries of a thing of one of several kinds."""
        kind = getattr(thing, "kind", "")
        if kind not in kinds:
            raise Unsaid
        keys = kinds[kind]
        said = {key.attribute: getattr(thing, key.attribute) for key in keys.keys[1:]}
        return Flow({"kind": kind, **self.values(keys.keys[1:], said)})

    def _written(self, key: Key, takes: Schema, value: Any) -> Any:
        name = defined(takes)
        if name in self.things:
            return self.things[name](value)
        if name in (*VECTORS, "axis"):
            return Row(self._number(x) for x in value)
        match name:
            case "number":
                return self._number(value, key.whole)
            case "of_both":
                both = [RIGID if isinstance(x, float) and math.isinf(x) else self._number(x) for x in value]
                return Row(both)
            case "matrix":
                return Row(Row(row) for row in value)
            case "function":
                return self.function(value, key.arguments, 0) if callable(value) else value
            case "vector_function":
                return self.function(value, key.arguments, 3)
            case "packed":
                return packed(np.asarray(value, dtype=float))
            case "tables":
                return {name: Row(Row(row) for row in rows) for name, rows in value.items()}
        if "anyOf" in takes or "oneOf" in takes:
            return self._written(key, self._choice(takes, value), value)
        if "enum" in takes:
            return int(value) if key.whole is not None else str(value)
        if takes in (TRUTH, TRUTH_OR_NULL):
            return bool(value)
        match takes.get("type"):
            case "array":
                return self._listed(key, takes["items"], value)
            case "object":
                items = {
                    str(own): self._written(key, takes["additionalProperties"], x) for own, x in value.items()
                }
                return items if any(isinstance(x, Mapping) for x in items.values()) else Flow(items)
            case "string":
                return self._file(value) if key.files else str(value)
        return self._number(value, key.whole)

    def _choice(self, takes: Schema, value: Any) -> Schema:
        choices: list[Schema] = takes.get("anyOf") or takes["oneOf"]
        if isinstance(value, Mapping):
            return next(x for x in choices if x.get("type") == "object")
        if np.ndim(value) if not isinstance(value, Expr | str) and hasattr(value, "__len__") else False:
            return next((x for x in choices if x.get("type") == "array" or x == PACKED), choices[0])
        if isinstance(value, str | Path):
            return next((x for x in choices if x == TEXT), choices[0])
        if not isinstance(value, int | float | Expr | np.number):
            return next((x for x in choices if defined(x) in self.things), choices[0])
        return choices[0]

    def _listed(self, key: Key, items: Schema, values: Any) -> Any:
        if key.whole is not None and len(values) > key.whole[1]:
            raise Unsaid
        if items == NUMBER:
            return Row(self._number(x) for x in values)
        written = [self._written(key, items, x) for x in values]
        short = not any(isinstance(x, list | Mapping) for x in written) or len(written) <= 4
        return Row(written) if short and not any(isinstance(x, Mapping) for x in written) else written

    def _number(self, value: Any, whole: tuple[int, int] | None = None) -> Any:
        if isinstance(value, Expr):
            return value
        if whole is not None:
            if not whole[0] <= value <= whole[1]:
                raise Unsaid
            return int(value)
        return float(value)

    def beside(self, path: Path) -> bool:
        """Whether a file lies in the folder of the model or below it."""
        return self.folder is not None and path.resolve().is_relative_to(self.folder.resolve())

    def _file(self, path: Path) -> str:
        """The name of a file below the folder of the model."""
        if self.folder is None or not self.beside(path):
            raise Unsaid
        return path.resolve().relative_to(self.folder.resolve()).as_posix()


__all__ = ["Unsaid", "ValueReader", "ValueWriter"]

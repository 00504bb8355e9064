"""Keys of mappings in files: one table from which readers take what they know and the JSON Schema is made.

    MATERIAL = Keys("Isotropic.", must("young", NUMBER, "[Pa]."), may("poisson", NUMBER, "0.3 where missing."))
    "poisson" in MATERIAL          # for the reader: keys by name, in order
    MATERIAL.schema                # for editors

A type is a piece of JSON Schema (draft 2020-12), or again such a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack, overload

Schema = dict[str, Any]


@dataclass(frozen=True)
class Key:
    """A key of a mapping: its name, what it takes, what it means, and whether it must be there.

    arguments: Those of a function. python: Name of the argument, and of the attribute, that it becomes in Python, where
    that is not its own. plain: Whether parameters may not stand in it. dimensions: Of an array. whole: The least and
    the greatest whole number that it takes, where it takes no others. files: Endings of the files beside the model
    that it may name. old: Of a key that only older files have, why it is ignored. formerly: What older files call it,
    of a key that may be missing.
    """

    name: str
    takes: Schema
    text: str
    needed: bool
    arguments: tuple[str, ...] = ()
    python: str = ""
    plain: bool = False
    dimensions: int = 0
    whole: tuple[int, int] | None = None
    files: tuple[str, ...] = ()
    old: str = ""
    formerly: str = ""

    @property
    def attribute(self) -> str:
        """What it is called in Python."""
        return self.python or self.name


class Options(TypedDict, total=False):
    """What else a :class:`Key` may say of itself."""

    python: str
    plain: bool
    dimensions: int
    whole: tuple[int, int] | None
    files: tuple[str, ...]
    old: str
    formerly: str


def must(
    name: str, takes: Schema | Keys | Kinds, text: str = "", of: tuple[str, ...] = (), **more: Unpack[Options]
) -> Key:
    """A key that must be there. of: Arguments of a function."""
    return Key(name, schema_of(takes), text, True, of, **more)


def may(
    name: str, takes: Schema | Keys | Kinds, text: str = "", of: tuple[str, ...] = (), **more: Unpack[Options]
) -> Key:
    """A key that may be missing. of: Arguments of a function."""
    return Key(name, schema_of(takes), text, False, of, **more)


@dataclass(frozen=True, eq=False)
class Keys(Sequence[str]):
    """The keys of one kind of mapping, as a sequence of their names.

    text: What the mapping describes. rules: What JSON Schema has to say of keys that go together.
    """

    text: str
    keys: tuple[Key, ...]
    rules: Schema = field(default_factory=dict)

    def __init__(self, text: str, *keys: Key, rules: Schema | None = None) -> None:
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "keys", keys)
        object.__setattr__(self, "rules", rules or {})

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...

    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        return tuple(key.name for key in self.keys)[index]

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def renamed(self) -> dict[str, str]:
        """Names of keys by what older files call them."""
        return {key.formerly: key.name for key in self.keys if key.formerly}

    @property
    def schema(self) -> Schema:
        """Of a mapping with these keys and no others."""
        found: Schema = {"description": self.text} if self.text else {}
        found |= {"type": "object", "additionalProperties": False}
        found["properties"] = {
            key.name: ({"description": key.text} if key.text else {})
            | key.takes
            | ({"deprecated": True} if key.old else {})
            for key in self.keys
        }
        found["properties"] |= {
            key.formerly: {"description": f"What older files call {key.name}."}
            | key.takes
            | {"deprecated": True}
            for key in self.keys
            if key.formerly
        }
        if twice := [{"required": [name, formerly]} for formerly, name in self.renamed.items()]:
            found["not"] = {"anyOf": twice}
        if needed := [key.name for key in self.keys if key.needed]:
            found["required"] = needed
        return found | self.rules


class Kinds(Mapping[str, Keys]):
    """The keys of each kind of a thing; which kind it is says the key `tag`, or nothing for the kind `usual`.

    makes: For each kind what makes the thing of what its keys say, by their names in Python.
    """

    def __init__(
        self,
        text: str = "",
        tag: str = "kind",
        usual: str = "",
        kinds: Mapping[str, Keys] | None = None,
        makes: Mapping[str, Callable[..., Any]] | None = None,
        **more: Keys,
    ) -> None:
        """kinds, more: The kinds by name."""
        self.text, self.usual, self.makes = text, usual, makes or {}
        self._kinds = {
            name: Keys(keys.text, Key(tag, {"const": name}, "", name != usual), *keys.keys, rules=keys.rules)
            for name, keys in {**(kinds or {}), **more}.items()
        }

    @classmethod
    def of(cls, text: str, *classes: Any, usual: str = "") -> Kinds:
        """The kinds of a thing that are classes, each with its own `kind` and `keys`."""
        kinds = {made.kind: made.keys for made in classes}
        return cls(text, usual=usual, kinds=kinds, makes={made.kind: made for made in classes})

    def __getitem__(self, kind: str) -> Keys:
        return self._kinds[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)

    @property
    def schema(self) -> Schema:
        """Of a mapping of any of these kinds."""
        found: Schema = {"description": self.text} if self.text else {}
        return found | {"oneOf": [keys.schema for keys in self.values()]}


def schema_of(takes: Schema | Keys | Kinds) -> Schema:
    """A type as JSON Schema."""
    return takes.schema if isinstance(takes, Keys | Kinds) else takes


TEXT: Schema = {"type": "string"}
NAME: Schema = {"type": "string", "minLength": 1}
TRUTH: Schema = {"type": "boolean"}
TRUTH_OR_NULL: Schema = {"type": ["boolean", "null"]}
EXPRESSION: Schema = {"type": ["number", "string"]}
WHOLE: Schema = {"type": ["integer", "string"]}
POSITIVE: Schema = {"type": "number", "exclusiveMinimum": 0}
NOT_NEGATIVE: Schema = {"type": "number", "minimum": 0}


def described(text: str, takes: Schema) -> Schema:
    """A type with what it means."""
    return {"description": text, **takes}


def ref(name: str) -> Schema:
    """A type of the definitions."""
    return {"$ref": f"#/$defs/{name}"}


def defined(takes: Schema) -> str:
    """The name of a type among the definitions; empty where it is none of them."""
    return str(takes.get("$ref", "")).rpartition("/")[2]


NUMBER = ref("number")
WORD, AXIS, SIDE, PACKED = ref("word"), ref("axis"), ref("side"), ref("packed")
VECTOR3, VECTOR4, VECTOR6, MATRIX = ref("vector3"), ref("vector4"), ref("vector6"), ref("matrix")
TABLES, JOINT, BOTH, LIMITS = ref("tables"), ref("joint_name"), ref("of_both"), ref("limits")
SHAPE, PART, ROAD = ref("shape"), ref("part"), ref("road")
LET, FUNCTION, VECTOR_FUNCTION = ref("let"), ref("function"), ref("vector_function")


def words(*choices: Any) -> Schema:
    """One of these."""
    return {"enum": list(choices)}


def list_of(takes: Schema | Keys | Kinds, least: int | None = None, most: int | None = None) -> Schema:
    """A list; of `least` items exactly where `most` is missing."""
    found: Schema = {"type": "array", "items": schema_of(takes)}
    if least is not None:
        found["minItems"], found["maxItems"] = least, least if most is None else most
    return found


def by_name(takes: Schema | Keys | Kinds, names: Schema | None = None) -> Schema:
    """A mapping with any keys."""
    return {
        "type": "object",
        **({"propertyNames": names} if names else {}),
        "additionalProperties": schema_of(takes),
    }


def section(takes: Schema | Keys | Kinds, names: Schema | None = None) -> Schema:
    """A mapping with any keys that may be left empty."""
    return by_name(takes, names) | {"type": ["object", "null"]}


def any_of(*choices: Schema | Keys | Kinds) -> Schema:
    """One of these types, or several."""
    return {"anyOf": [schema_of(choice) for choice in choices]}


def one_of(*choices: Schema | Keys | Kinds) -> Schema:
    """One of these types alone."""
    return {"oneOf": [schema_of(choice) for choice in choices]}


def document(title: str, name: str, top: Keys, definitions: Mapping[str, Schema | Keys | Kinds]) -> Schema:
    """The schema of a file; `name` is that of the format."""
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:bellcrank:{name}",
        "title": title,
    }
    return head | top.schema | {"$defs": {key: schema_of(takes) for key, takes in definitions.items()}}


ARRAY = "Numbers [m] as sizes, a colon, and base64 of the zlib-compressed little-endian doubles."
"""What keys of packed arrays say of how they are written."""

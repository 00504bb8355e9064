"""The keys of a mapping: known ones are handed out with their types checked, others are refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from bellcrank.base.keys import Keys
from bellcrank.errors import ModelError, TracedBranch
from bellcrank.files.documents import Entries, Items, Node, Text
from bellcrank.files.grammar import QUOTES
from bellcrank.files.places import ModelFileError, nearest
from bellcrank.files.scope import FileFunction, Scope
from bellcrank.program.trace import Scalar

_SUBJECT = re.compile(r"(?:no )?(?:[xyz] of |row \d of )*(\w+) (?:of|for) ")


ELSEWHERE = {
    "position": "at",
    "pos": "at",
    "origin": "at",
    "orientation": "rotation",
    "parent": "a",
    "child": "b",
    "type": "kind",
}
"""Keys by other words, as other packages have them."""


class Fields:
    """A mapping of the file that describes one thing, `who`; its keys are among `known`."""

    def __init__(self, scope: Scope, node: Node, who: str, known: Sequence[str]) -> None:
        if not isinstance(node, Entries):
            raise node.error(f"{who} must be a mapping of {', '.join(known)}, not {node.described}")
        if isinstance(known, Keys) and not known.renamed.keys().isdisjoint(node.keys):
            node = _renamed(node, who, known.renamed)
        self.scope = scope
        self.node = node
        self.who = who
        for name, key in node.keys.items():
            if name not in known:
                torn = name.count(")") > name.count("(")
                near = nearest(name, known)
                if ELSEWHERE.get(name) in known:
                    near = f"; did you mean {ELSEWHERE[name]!r}?"
                hint = f"; {QUOTES}" if torn else near or f"; keys here: {', '.join(known)}"
                raise key.error(f"{who} has no key {name!r}{hint}")

    def __contains__(self, key: str) -> bool:
        return key in self.node.values

    def get(self, key: str) -> Node:
        """The value of a key that must be there."""
        if key not in self.node.values:
            raise self.node.error(f"{self.who} needs {key!r}")
        return self.node.values[key]

    def word(self, key: str, choices: Sequence[str] = ()) -> str:
        """A name, or one of the words `choices`."""
        return word(self.get(key), f"{key} of {self.who}", choices)

    def optional_word(self, key: str) -> str | None:
        """A name that may be missing."""
        return self.word(key) if key in self else None

    def truth(self, key: str) -> bool | None:
        """true, false, or None where missing or null."""
        return truth(self.get(key), f"{key} of {self.who}") if key in self else None

    def number(self, key: str) -> Scalar:
        """A number."""
        return self.scope.number(self.get(key), f"{key} of {self.who}")

    def vector(self, key: str, counts: Sequence[int] = (3,)) -> list[Scalar]:
        """So many numbers."""
        return numbers(self.scope, self.get(key), f"{key} of {self.who}", counts)

    def matrix(self, key: str) -> list[list[Scalar]]:
        """Three rows of three numbers."""
        return matrix(self.scope, self.get(key), f"{key} of {self.who}")

    def function(self, key: str, arguments: Sequence[str], count: int = 0) -> FileFunction:
        """An expression of the arguments, or `count` of them."""
        return FileFunction(self.scope, self.get(key), f"{key} of {self.who}", arguments, count)

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Give errors of the model the place of the key they speak of."""
        try:
            yield
        except ModelFileError:
            raise
        except (ModelError, TracedBranch) as error:
            subject = _SUBJECT.match(str(error))
            blamed: Node = self.node
            if subject and subject[1] in self.node.values:
                blamed = self.node.values[subject[1]]
            raise blamed.error(str(error)) from error


def _renamed(node: Entries, who: str, renamed: Mapping[str, str]) -> Entries:
    """A mapping with the keys of older files under the names they have now."""
    for formerly, name in renamed.items():
        if formerly in node.keys and name in node.keys:
            raise node.keys[formerly].error(
                f"{who} has both {name!r} and {formerly!r}, what older files call it; leave {formerly!r} out"
            )
    keys = {renamed.get(name, name): key for name, key in node.keys.items()}
    return Entries(node.place, keys, {renamed.get(name, name): value for name, value in node.values.items()})


def word(node: Node, what: str, choices: Sequence[str] = ()) -> str:
    """A name, or one of the words `choices`."""
    if not isinstance(node, Text):
        raise node.error(f"{what} must be a name, not {node.described}")
    if choices and node.value not in choices:
        hint = nearest(node.value, choices) or f"; choose from {', '.join(choices)}"
        raise node.error(f"{what} is {node.value!r}{hint}")
    return node.value


def truth(node: Node, what: str) -> bool | None:
    """true, false, or None for null."""
    answers = {"true": True, "false": False, "null": None, "~": None, "": None}
    given = word(node, what)
    if given.lower() not in answers:
        raise node.error(f"{what} must be true or false, not {given!r}")
    return answers[given.lower()]


def axis(scope: Scope, node: Node, what: str) -> str | list[Scalar]:
    """ "x", "y", "z" or three numbers."""
    if isinstance(node, Text):
        return word(node, what, ("x", "y", "z"))
    return numbers(scope, node, what, (3,))


def numbers(scope: Scope, node: Node, what: str, counts: Sequence[int]) -> list[Scalar]:
    """A list of so many numbers."""
    wanted = " or ".join(str(n) for n in counts)
    if not isinstance(node, Items):
        raise node.error(f"{what} must be a list of {wanted} numbers, not {node.described}")
    if len(node.items) not in counts:
        torn = any(isinstance(x, Text) and x.value.count("(") > x.value.count(")") for x in node.items)
        hint = f"; {QUOTES}" if torn else ""
        raise node.error(f"{what} must be a list of {wanted} numbers, not {len(node.items)}{hint}")
    return [scope.number(item, what) for item in node.items]


def matrix(scope: Scope, node: Node, what: str) -> list[list[Scalar]]:
    """Three rows of three numbers."""
    if not isinstance(node, Items) or len(node.items) != 3:
        raise node.error(f"{what} must be a list of 3 rows of 3 numbers")
    return [numbers(scope, row, f"a row of {what}", (3,)) for row in node.items]


def entries(node: Node, what: str) -> Entries:
    """A mapping of names to things."""
    if isinstance(node, Text) and node.plain and not node.value:
        return Entries(node.place)
    if not isinstance(node, Entries):
        raise node.error(f"{what} must be a mapping of names, not {node.described}")
    return node


def is_null(node: Node) -> bool:
    """Whether a value says nothing."""
    return isinstance(node, Text) and node.plain and node.value in ("null", "~", "")

"""YAML as a tree of texts, lists and mappings that know their places.

Model files may come from strangers, so the tree is built from the event stream: nothing is constructed from
tags, aliases are refused (they can expand without bound), keys stand once, and size and nesting are bounded.
Scalars stay the text that was written; what is a number is decided by who reads it, so that ``1e5``, which
YAML 1.1 takes for a string, is the number it looks like.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import yaml

from bellcrank.files.places import ModelFileError, Place, Source, excerpt

MAX_BYTES = 16 * 2**20
MAX_NESTING = 32
MAX_NODES = 1_000_000

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, eq=False)
class Text:
    """A scalar as it was written."""

    place: Place
    value: str
    plain: bool = True
    described = "a single value"

    def error(self, message: str, start: int = 0, width: int | None = None) -> ModelFileError:
        """An error at the character `start` of the value."""
        width = max(1, len(self.value)) if width is None else width
        line = self.place.source.line(self.place.line)
        for shift in (0, 1):
            # Where quotes or folding changed the text, the value itself is shown instead of the line.
            first = self.place.column + shift
            if line[first : first + len(self.value)] == self.value:
                return Place(self.place.source, self.place.line, first + start).error(message, width)
        shown = excerpt(self.value.replace("\n", " "), start, width)
        return ModelFileError(
            message, self.place.source.name, self.place.line + 1, self.place.column + 1, shown
        )


@dataclass(frozen=True, eq=False)
class Items:
    """A list."""

    place: Place
    items: list[Node] = field(default_factory=list)
    described = "a list"

    def error(self, message: str) -> ModelFileError:
        """An error at the beginning of the list."""
        return self.place.error(message)


@dataclass(frozen=True, eq=False)
class Entries:
    """A mapping, in the order of the file."""

    place: Place
    keys: dict[str, Text] = field(default_factory=dict)
    values: dict[str, Node] = field(default_factory=dict)
    described = "a mapping"

    def error(self, message: str) -> ModelFileError:
        """An error at the beginning of the mapping."""
        return self.place.error(message)


Node: TypeAlias = Text | Items | Entries


def parse_document(text: str, name: str) -> Node:
    """The tree of the one document in `text`; `name` is what errors call it."""
    source = Source(name, text)
    beginning = Place(source, 0, 0)
    if len(text) > MAX_BYTES:
        raise ModelFileError(f"the file is larger than {MAX_BYTES // 2**20} MiB", name, 1, 1)
    if text.lstrip().startswith("<"):
        raise ModelFileError(
            "this is XML, not a model file; URDF is read by bellcrank.files.urdf.load_urdf, MJCF by "
            "bellcrank.files.mjcf.load_mjcf, and both by 'bellcrank convert'",
            name,
            1,
            1,
        )
    try:
        root = _Composer(source).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(source, mark.line, mark.column) if mark else beginning
        raise place.error(f"this is not YAML: {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise beginning.error(f"this is not YAML: {error}") from error
    except UnicodeError as error:
        raise beginning.error(f"this is not text: {error}") from error
    if root is None:
        raise beginning.error("the file is empty; a model file begins with 'bellcrank: 1'")
    return root


class _Composer:
    """Builds the tree from events, without recursion."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.root: Node | None = None
        self.open: list[Items | Entries] = []
        self.key: list[Text | None] = []
        self.nodes = 0

    def document(self) -> Node | None:
        documents = 0
        for event in self._events():
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self._place(event).error("a model file holds one document; another begins here")
            elif isinstance(event, yaml.NodeEvent):
                self._node(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                self.open.pop()
                self.key.pop()
        return self.root

    def _events(self) -> Iterator[Any]:
        yield from yaml.parse(self.source.text, Loader=_LOADER)

    def _place(self, event: Any) -> Place:
        mark = event.start_mark
        return Place(self.source, mark.line, mark.column)

    def _node(self, event: Any) -> None:
        place = self._place(event)
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise place.error(f"the file holds more than {MAX_NODES} values")
        if isinstance(event, yaml.AliasEvent):
            raise place.error("aliases (*name) are not part of model files; use a definition")
        if event.anchor is not None:
            raise place.error("anchors (&name) are not part of model files; use a definition")
        if event.tag is not None:
            raise place.error(f"tags ({event.tag}) are not part of model files; leave it out")
        if isinstance(event, yaml.ScalarEvent):
            self._put(Text(place, event.value, not event.style))
            return
        node = Items(place) if isinstance(event, yaml.SequenceStartEvent) else Entries(place)
        if len(self.open) >= MAX_NESTING:
            raise place.error(f"nested more than {MAX_NESTING} deep")
        self._put(node)
        self.open.append(node)
        self.key.append(None)

    def _put(self, node: Node) -> None:
        if not self.open:
            self.root = node
            return
        parent = self.open[-1]
        if isinstance(parent, Items):
            parent.items.append(node)
            return
        key = self.key[-1]
        if key is not None:
            parent.values[key.value] = node
            self.key[-1] = None
            return
        if not isinstance(node, Text):
            raise node.error(f"a key must be a single word or name, not {node.described}")
        if node.value in parent.keys:
            first = parent.keys[node.value].place.line + 1
            raise node.error(f"{node.value!r} stands here a second time; it is given in line {first} already")
        parent.keys[node.value] = node
        self.key[-1] = node

"""XML read safely: elements with their places, no document types, no entities, bounded in size and depth.

Every element remembers what was asked of it, so that what nobody asked for can be listed afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from xml.parsers import expat

from bellcrank.base.reach import LARGEST, within
from bellcrank.base.whole_files import read_given
from bellcrank.files.documents import MAX_BYTES
from bellcrank.files.places import ModelFileError, Place, Source, nearest

MAX_DEPTH = 200
MAX_ELEMENTS = 200_000


@dataclass(eq=False)
class Element:
    """An XML element. `taken`: attributes that were read. `seen`: whether anybody looked at it at all.

    `fallback`: an element whose attributes stand in where this one has none.
    """

    tag: str
    attributes: dict[str, str]
    place: Place
    children: list[Element] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    seen: bool = False
    fallback: Element | None = None

    @property
    def line(self) -> int:
        """Counted from 1."""
        return self.place.line + 1

    @property
    def label(self) -> str:
        """The element as an error or a list calls it."""
        name = self.attributes.get("name")
        return f"<{self.tag}>" if name is None else f"<{self.tag} name={name!r}>"

    def error(self, message: str) -> ModelFileError:
        """An error here."""
        return self.place.error(message, len(self.tag) + 1)

    def all(self, *tags: str) -> list[Element]:
        """The children of these kinds, now seen."""
        found = [child for child in self.children if child.tag in tags]
        for child in found:
            child.seen = True
        return found

    def first(self, tag: str) -> Element | None:
        """The only child of a kind; later ones stay unseen, and are listed so."""
        for child in self.children:
            if child.tag == tag:
                child.seen = True
                return child
        return None

    def text(self, key: str, default: str | None = None) -> str | None:
        """An attribute, or the default."""
        self.taken.add(key)
        if key in self.attributes or self.fallback is None:
            return self.attributes.get(key, default)
        return self.fallback.text(key, default)

    def needed(self, key: str) -> str:
        """An attribute that must be there."""
        found = self.text(key)
        if found is None:
            raise self.error(f"{self.label} needs the attribute {key!r}{nearest(key, self.attributes)}")
        return found

    def numbers(self, key: str, counts: Sequence[int], default: Sequence[float] | None = None) -> list[float]:
        """An attribute of so many numbers."""
        found = self.text(key)
        if found is None:
            if default is None:
                raise self.error(f"{self.label} needs the attribute {key!r}{nearest(key, self.attributes)}")
            return list(default)
        return parse_numbers(self, key, found, counts)

    def number(self, key: str, default: float | None = None) -> float:
        """An attribute of one number."""
        return self.numbers(key, (1,), None if default is None else (default,))[0]

    def walk(self) -> Iterator[Element]:
        """The element and everything below it."""
        pending = [self]
        while pending:
            here = pending.pop()
            yield here
            pending.extend(reversed(here.children))


def parse_numbers(element: Element, key: str, text: str, counts: Sequence[int]) -> list[float]:
    """Numbers separated by blanks; `counts` empty: any number of them."""
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        raise element.error(f"{key} of {element.label} must be numbers, not {text[:60]!r}") from None
    if not all(math.isfinite(x) for x in values):
        raise element.error(f"{key} of {element.label} must be finite numbers, not {text[:60]!r}")
    if not all(map(within, values)):
        raise element.error(f"{key} of {element.label} must not exceed {LARGEST:g}, not {text[:60]!r}")
    if counts and len(values) not in counts:
        wanted = " or ".join(str(n) for n in counts)
        raise element.error(f"{key} of {element.label} must be {wanted} numbers, not {len(values)}")
    return values


def read_bytes(path: str | PathLike[str]) -> bytes:
    """A file of bounded size."""
    data = read_given(path, MAX_BYTES)
    if len(data) > MAX_BYTES:
        raise ModelFileError(f"the file is larger than {MAX_BYTES // 2**20} MiB", str(path), 1, 1)
    return data


def parse_elements(data: bytes | str, name: str) -> Element:
    """The root element of an XML text."""
    shown = data if isinstance(data, str) else data.decode("utf-8", "replace")
    return _Parser(Source(name, shown)).root(data.encode() if isinstance(data, str) else data)


class _Parser:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.open: list[Element] = []
        self.top: Element | None = None
        self.count = 0
        self.expat = expat.ParserCreate()
        self.expat.StartElementHandler = self._start
        self.expat.EndElementHandler = self._end
        self.expat.StartDoctypeDeclHandler = self._refuse
        self.expat.EntityDeclHandler = self._refuse
        self.expat.UnparsedEntityDeclHandler = self._refuse
        self.expat.ExternalEntityRefHandler = self._refuse

    def root(self, data: bytes) -> Element:
        try:
            self.expat.Parse(data, True)
        except expat.ExpatError as error:
            place = Place(self.source, max(error.lineno - 1, 0), error.offset)
            raise place.error(f"this is not well-formed XML: {expat.ErrorString(error.code)}") from None
        except (LookupError, ValueError, UnicodeError) as error:
            raise ModelFileError(
                f"this is not XML that can be read: {error}", self.source.name, 1, 1
            ) from None
        assert self.top is not None
        self.top.seen = True
        return self.top

    def _here(self) -> Place:
        return Place(self.source, self.expat.CurrentLineNumber - 1, self.expat.CurrentColumnNumber)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        place = self._here()
        self.count += 1
        if self.count > MAX_ELEMENTS:
            raise place.error(f"the file has more than {MAX_ELEMENTS} elements")
        if len(self.open) >= MAX_DEPTH:
            raise place.error(f"elements are nested more than {MAX_DEPTH} deep")
        element = Element(tag, attributes, place)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.top = element
        self.open.append(element)

    def _end(self, tag: str) -> None:
        self.open.pop()

    def _refuse(self, *_: object) -> int:
        raise self._here().error("document types and entities are not read, for safety; take the DOCTYPE out")

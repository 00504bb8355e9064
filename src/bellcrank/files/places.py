"""Where something stands in a file, and errors that point there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

from bellcrank.errors import ModelError

_BREAKS = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_SHOWN = 100
"""Characters of a long line shown around the place of an error."""


class ModelFileError(ModelError):
    """A model file that cannot be read; the message gives file, line and column, and shows the place."""

    def __init__(self, message: str, file: str, line: int, column: int, excerpt: str = "") -> None:
        super().__init__(f"{file}:{line}:{column}: {message}{excerpt}")
        self.file = file
        self.line = line
        self.column = column


@dataclass(frozen=True, eq=False)
class Source:
    """The text of a file and what to call it."""

    name: str
    text: str

    @cached_property
    def lines(self) -> list[str]:
        """The lines, broken where YAML breaks them."""
        return _BREAKS.split(self.text)

    def line(self, number: int) -> str:
        """A line by its number, counted from 0; empty beyond the end."""
        return self.lines[number] if number < len(self.lines) else ""


@dataclass(frozen=True, eq=False)
class Place:
    """A line and a column of a source, both counted from 0."""

    source: Source
    line: int
    column: int

    def error(self, message: str, width: int = 1) -> ModelFileError:
        """An error here, with the line and a caret below its text."""
        shown = excerpt(self.source.line(self.line), self.column, width)
        return ModelFileError(message, self.source.name, self.line + 1, self.column + 1, shown)


def excerpt(text: str, start: int, width: int) -> str:
    """A text on a line of its own with a caret below `start`; the middle of it where it is long."""
    first = max(0, start - _SHOWN // 2) if len(text) > _SHOWN else 0
    part = text[first : first + _SHOWN].replace("\t", " ")
    if not part.strip():
        return ""
    before, after = "..." if first else "", "..." if first + _SHOWN < len(text) else ""
    room = max(1, min(width, len(part) - (start - first)))
    mark = " " * (len(before) + start - first) + "^" + "~" * (room - 1)
    return f"\n    {before}{part}{after}\n    {mark}"


def nearest(name: str, known: Iterable[str]) -> str:
    """'; did you mean ...?' where a known name is near, else nothing."""
    near = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""

"""What goes wrong, said in the user's own names and with a remedy."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from os import PathLike
from typing import Any


class BellcrankError(Exception):
    """The root of all errors raised on purpose."""


class ModelError(BellcrankError, ValueError):
    """The description of a mechanism does not make sense."""


class UnknownName(ModelError):
    """A name that nothing in the system carries."""


class MissingFile(ModelError, FileNotFoundError):
    """A file that a model names, or a model file, that is not there."""

    def __str__(self) -> str:
        return str(self.args[0])


class TracedBranch(BellcrankError, TypeError):
    """A user function tried to decide on a value that is known only at run time."""


class AssemblyError(ModelError):
    """A loop cannot be closed, or a mechanism is locked."""


class SingularMechanism(BellcrankError, ArithmeticError):
    """The equations of motion have no unique solution in this configuration."""


class ResultFileError(BellcrankError, ValueError):
    """A file that does not hold a result, or not one that can be read."""


class WriteError(BellcrankError, OSError):
    """A file that could not be written; what was there before is unchanged.

    result: What was computed, where a run could not be kept; it can be saved elsewhere.
    """

    def __init__(self, path: str | PathLike[str], message: str, number: int | None = None) -> None:
        super().__init__(message)
        self.filename, self.errno = str(path), number
        self.result: Any = None

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.filename, str(self), self.errno)


class MissingFolder(WriteError, FileNotFoundError):
    """A file that could not be written because its folder does not exist."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UnknownName:
    """An error that lists what exists and suggests the nearest name."""
    names = list(known)
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ";"
    listed = ", ".join(names[:30]) + (", ..." if len(names) > 30 else "")
    return UnknownName(f"no {kind} named {name!r}{hint} {kind} names here: {listed or 'none'}")

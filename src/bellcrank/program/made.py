"""What is made once of a mechanism and kept with it: traces, kernels, measurements.

Every kind of thing has a table, declared with the types of its keys and values by the module that makes it:

    MACHINES: Table[Partition, Machine] = Table("machines")
    machine = mechanism.compiled.once(MACHINES, partition, make)

So nothing here needs to know what modules above keep, and a type checker does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import RLock
from typing import Any, Generic, TypeVar

from bellcrank.program.preparing import preparing

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Table(Generic[Key, Value]):
    """A kind of things that are kept, by key; no two tables are the same, whatever they are called."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Table({self.name!r})"


class Compiled:
    """The tables of one mechanism, or of several that share them.

    lock: Held while something is made, so that threads that need it make it once.
    """

    def __init__(self) -> None:
        self._tables: dict[Table[Any, Any], dict[Any, Any]] = {}
        self.lock = RLock()

    def table(self, kind: Table[Key, Value]) -> dict[Key, Value]:
        """All that is kept of a kind."""
        return self._tables.setdefault(kind, {})

    def once(self, kind: Table[Key, Value], key: Key, make: Callable[[], Value]) -> Value:
        """What `make` gives, kept under its key."""
        known = self.table(kind)
        if key not in known:
            with self.lock, preparing():
                if key not in known:
                    known[key] = make()
        return known[key]

    def share(self, other: Compiled) -> None:
        """Keep everything together with another one from now on."""
        self._tables, self.lock = other._tables, other.lock

    def shares(self, other: Compiled) -> bool:
        """Whether both keep everything together."""
        return self._tables is other._tables

"""A system that is analysed again: what was traced and compiled of it serves while it is described the same.

Whether it is, its contents tell: all that it holds, as pickled bytes, in a digest. Functions and classes of the user
may do something else on every call, whatever they look like; a system that holds one is traced anew.
"""

from __future__ import annotations

import copyreg
import hashlib
import pickle
from functools import cached_property
from types import FunctionType
from typing import Any

from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.model.system import System

KNOWN = frozenset(
    {"bellcrank", "numpy", "scipy", "builtins", "collections", "fractions", "pathlib", "enum", "types"}
)
"""Packages whose functions and classes do the same on every call."""


class _Unknown(Exception):
    """The system holds something of which the contents do not tell what it does."""


class _Digest:
    """A file that keeps nothing but the digest of what is written."""

    def __init__(self) -> None:
        self.hash = hashlib.blake2b(digest_size=20)

    def write(self, data: Any) -> int:
        """Take in some bytes, or the numbers of an array."""
        self.hash.update(data)
        return memoryview(data).nbytes


class _Contents(pickle.Pickler):
    """All contents of objects but what they keep for themselves to be quicker."""

    def reducer_override(self, obj: Any) -> Any:
        """What an object is made of."""
        kind = obj if isinstance(obj, type | FunctionType) else type(obj)
        if kind.__module__.partition(".")[0] not in KNOWN or "<locals>" in kind.__qualname__:
            raise _Unknown
        if isinstance(kind, FunctionType) or kind is obj or not _plain(kind):
            return NotImplemented
        own = {k: v for k, v in vars(obj).items() if not isinstance(getattr(kind, k, None), cached_property)}
        return copyreg.__newobj__, (kind,), own  # type: ignore[attr-defined]


def _plain(kind: type) -> bool:
    """Whether what an object of a class holds is its attributes, all of them in its dictionary."""
    usual = "__reduce_ex__", "__reduce__", "__getstate__"
    own = any(getattr(kind, name) is not getattr(object, name) for name in usual)
    slots = any(vars(part).get("__slots__") for part in kind.__mro__)
    return not own and not slots and kind.__dictoffset__ != 0 and not issubclass(kind, tuple | list | dict)


def contents(system: System) -> bytes | None:
    """A digest of all that a system holds; None where that does not tell what it does."""
    found = _Digest()
    try:
        _Contents(found, pickle.HIGHEST_PROTOCOL).dump(system)
    except (_Unknown, pickle.PicklingError, TypeError, AttributeError, RecursionError, ValueError):
        return None
    return found.hash.digest()


def known_again(fresh: Mechanism) -> Mechanism:
    """A mechanism just analysed, with the programs of the last one of the same system if nothing has changed.

    Pivots are chosen by the start and the parameters, so these must be the same, too: what ran before does not matter
    for the bits of a run.
    """
    described = contents(fresh.system)
    if described is None:
        return fresh
    start = fresh.start
    numbers = (start.t, start.q.tobytes(), start.u.tobytes(), fresh.parameter_values, fresh.formulation)
    key = described, numbers
    before = fresh.system.analysed
    if before is not None and before[0] == key:
        fresh.with_programs_of(before[1])
    fresh.system.analysed = key, fresh
    return fresh


__all__ = ["contents", "known_again"]

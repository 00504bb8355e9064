"""A bar while a matrix is factorised, with the time and memory foretold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from bellcrank.base.progress_bar import ProgressBar
from bellcrank.sparse.cholesky import Elimination, Factor
from bellcrank.sparse.types import Sparse

_SHOWN: ContextVar[tuple[str, bool | None]] = ContextVar("shown", default=("", False))


@contextmanager
def factorising(name: str, wanted: bool | None) -> Iterator[None]:
    """While inside, factorisations of this body show a bar; wanted: None for a terminal only."""
    token = _SHOWN.set((name, wanted))
    try:
        yield
    finally:
        _SHOWN.reset(token)


def factorised(elimination: Elimination, matrix: Sparse) -> Factor:
    """The factors, with a bar where one is wanted."""
    name, wanted = _SHOWN.get()
    if wanted is False:
        return elimination.factorised(matrix)
    bar = ProgressBar(1.0, f"factorising {name}, {elimination.forecast}", wanted)
    try:
        return elimination.factorised(matrix, bar.show)
    finally:
        bar.close()

"""A run between two steps, complete: one that goes on from it gives the same bits as one never stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from bellcrank.errors import BellcrankError


class UnfitCheckpoint(BellcrankError, ValueError):
    """Arrays that are not those of such a run: of another problem, another version, or tampered with."""


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Everything the driver of a run knows, but for the outputs already written.

    Attributes:
        arrays: The arrays of the integrator, see `Run.snapshot`.
        method: The method at work, which `auto` may have changed.
        calls: How often each sampled controller was called.
        repartitions: Times at which the partition changed [s].
        switches: (time, method) for every change of method.
    """

    arrays: Mapping[str, NDArray[Any]]
    method: str
    calls: tuple[int, ...]
    repartitions: tuple[float, ...]
    switches: tuple[tuple[float, str], ...]

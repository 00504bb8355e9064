"""Quantities by name, compiled as they are first asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.batch.readout import Readout, readout
from bellcrank.gym.motions import Row
from bellcrank.mechanism import Mechanism

Array = NDArray[np.float64]


class Reading:
    """The quantities that an environment reads; functions of the user may ask for more of them later."""

    def __init__(self, mechanism: Mechanism, names: Sequence[str]) -> None:
        self.mechanism = mechanism
        self.parameters = {name: k for k, name in enumerate(mechanism.mechanics.parameters)}
        self.names: list[str] = []
        self.places: dict[str, tuple[slice, tuple[int, ...]]] = {}
        self.readout: Readout | None = None
        self.add(names)

    def add(self, names: Sequence[str]) -> None:
        """Read these too; raises where there is no such quantity."""
        new = [name for name in dict.fromkeys(names) if not self.plain(name) and name not in self.names]
        if new:
            self.readout = readout(self.mechanism, [*self.names, *new])
            self.names += new
            first = 0
            for name, shape in zip(self.readout.names, self.readout.shapes, strict=True):
                self.places[name] = slice(first, first + math.prod(shape)), shape
                first += math.prod(shape)

    def plain(self, name: str) -> bool:
        """Whether it is the time or a parameter, which need no program."""
        return name == "t" or name in self.parameters

    def shape(self, name: str) -> tuple[int, ...]:
        """Of a quantity in one state."""
        return () if self.plain(name) else self.places[name][1]

    def of(self, row: Row) -> Values:
        """What is read in one state."""
        contacts = None if row.contacts is None else row.contacts[None]
        return Values(
            self, (np.array([row.t]), row.q[None], row.u[None], row.du[None], row.p[None], contacts), True
        )


class Values(Mapping[str, Any]):
    """Quantities by name in one state, or arrays of them in many; ``t`` is time, parameters go by their names."""

    def __init__(
        self, reading: Reading, states: tuple[Array, Array, Array, Array, Array, Array | None], single: bool
    ) -> None:
        self.reading, self.states, self.single = reading, states, single
        self.numbers: Array | None = None

    def __getitem__(self, name: str) -> Any:
        columns = self._columns(name)
        shape = self.reading.shape(name)
        if not self.single:
            return columns.reshape(len(columns), *shape)
        return columns[0].reshape(shape) if shape else float(columns[0, 0])

    def _columns(self, name: str) -> Array:
        """A quantity, its components side by side."""
        reading = self.reading
        if name == "t":
            return self.states[0][:, None]
        if name in reading.parameters:
            return self.states[4][:, [reading.parameters[name]]]
        if name not in reading.places:
            reading.add([name])
            self.numbers = None
        if self.numbers is None:
            assert reading.readout is not None
            self.numbers = reading.readout.rows(*self.states)
        return self.numbers[:, reading.places[name][0]]

    def __iter__(self) -> Iterator[str]:
        return iter(self.reading.names)

    def __len__(self) -> int:
        return len(self.reading.names)

    def stacked(self, names: Sequence[str]) -> Array:
        """The quantities side by side, components after each other: (rows, numbers)."""
        return np.concatenate([self._columns(name) for name in names], axis=1)


__all__ = ["Reading", "Values"]

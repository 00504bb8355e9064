"""Machines: the programs of a mechanism as machine code, one machine a partition."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bellcrank.formulations.loops import Partition
from bellcrank.formulations.registry import Formulation
from bellcrank.mechanism.carried_loads import carried_loads
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.traced import Traced
from bellcrank.program.derive import jvp_program
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.made import Table
from bellcrank.program.preparing import preparing

Array = NDArray[np.float64]


@dataclass(eq=False)
class Machine:
    """The compiled programs of a mechanism for one partition."""

    mechanism: Mechanism
    traced: Traced

    @property
    def partition(self) -> Partition:
        """Which speeds are independent."""
        return self.traced.partition

    @cached_property
    @preparing()
    def rates(self) -> Kernel:
        """What the integrator calls."""
        return compile_program(self.traced.rates)

    @cached_property
    @preparing()
    def projection(self) -> Kernel:
        """One Newton step back onto the constraints."""
        return compile_program(self.mechanism.projection(self.partition, with_rank=True))

    @cached_property
    @preparing()
    def full(self) -> Kernel:
        """All speeds, all rates, residuals."""
        return compile_program(self.traced.full)

    @cached_property
    @preparing()
    def tangent(self) -> Kernel:
        """Rates and their directional derivative, for implicit methods."""
        return compile_program(jvp_program(self.traced.rates))

    @cached_property
    def loads(self) -> Kernel:
        """Loads that follow reactions, with the forces of contacts."""
        return compile_program(carried_loads(self.mechanism, self.partition))

    def pack(self, q: Array, u: Array) -> Array:
        """The integrator's state: positions and independent speeds."""
        return np.concatenate([q, u[list(self.partition.independent)]])


MACHINES: Table[Partition, Machine] = Table("machines")


class Machines:
    """The machines of one mechanism by partition; compiled when first needed, kept for the next time."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self._formulation: Formulation | None = None

    def for_partition(self, partition: Partition) -> Machine:
        """The machine of a partition."""
        return self.mechanism.compiled.once(MACHINES, partition, lambda: self._machine(partition))

    def _machine(self, partition: Partition) -> Machine:
        traced = self.mechanism.traced(self._formulation, partition)
        self._formulation = traced.formulation
        return Machine(self.mechanism, traced)

"""Loops and contacts in one state: how far they are open, and their rows over all speeds, compiled.

Which contacts last changes all along a run; with each change it is judged anew which of their equations are needed.
One program for all of them serves every choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.formulations.equations import Mechanics
from bellcrank.formulations.partition import NumericRows
from bellcrank.mechanics.constraints import over_speeds
from bellcrank.mechanics.contacts import ContactPair
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.numbers import Traced
from bellcrank.mechanism.assembly import LoopState
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class ContactRows:
    """The equations of all loops, then normal and tangents of every contact."""

    def __init__(self, mechanics: Mechanics, pairs: Sequence[ContactPair]) -> None:
        graph = Graph()
        t = graph.input("t.")
        q = mechanics.linkage.position_inputs(graph)
        parameters = [graph.input(name) for name in mechanics.parameters]
        kin = Kinematics(mechanics.linkage, q, Traced(graph))
        equations = [e for c in mechanics.constraints for e in c.equations(kin, t)]
        self.loops = len(equations)
        self.first: dict[str, int] = {}
        for pair in pairs:
            self.first[pair.contact.name] = len(equations)
            equations += pair.rows(kin)[1]
        outputs: list[Scalar] = [*(e.residual for e in equations), *(e.nu for e in equations)]
        self.shape = len(equations), mechanics.linkage.speeds
        places = list[tuple[int, int]]()
        for number, equation in enumerate(equations):
            for speed, entry in over_speeds(kin, equation).items():
                places.append((number, speed))
                outputs.append(entry)
        self.places: Index = np.array(places, np.int64).reshape(-1, 2)
        self.kernel: Kernel = compile_program(Program.of([t, *q, *parameters], outputs, "contact rows"))

    def at(self, t: float, q: Array, p: Array, chosen: Index) -> NumericRows:
        """Some of the rows at a time, positions and values of the parameters."""
        y = self.kernel(np.concatenate([[t], q, p]))
        n = self.shape[0]
        J = np.zeros(self.shape)
        J[self.places[:, 0], self.places[:, 1]] = y[2 * n :]
        return NumericRows(J[chosen], y[:n][chosen], y[n : 2 * n][chosen], ())


@dataclass(frozen=True, eq=False)
class ContactLoops(LoopState):
    """Loops of which some are lasting contacts; chosen: The equations of all that there are."""

    compiled: ContactRows | None = None
    chosen: Index | None = None

    def rows(self, q: Array, t: float = 0.0) -> NumericRows:
        assert self.compiled is not None
        assert self.chosen is not None
        return self.compiled.at(t, q, np.array(list(self.parameters.values())), self.chosen)


__all__ = ["ContactLoops", "ContactRows"]

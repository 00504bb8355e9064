"""Integration on a graphics processor as CUDA C++: programs and the loop of a method in one kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.integrate.vectors import ROUNDED
from bellcrank.program import cuda_device as text
from bellcrank.program.cuda import DIALECTS, Precision, Source, device_function, head
from bellcrank.program.program import Program

if TYPE_CHECKING:
    from bellcrank.integrate.embedded import Table


@dataclass(frozen=True)
class Problem:
    """What runs on the device: programs of [t, y, p] to the rates of y and to [y corrected, residual, margin].

    least_rank: Where it is not zero, a last output of the projection that must not fall below it.
    """

    rates: Program
    projection: Program | None
    states: int
    parameters: int
    least_rank: float = 0.0


def fits(table: Table) -> bool:
    """Whether there are kernels of a method: of those with one error estimate, and of the classical one with none."""
    return len(table.errors) == 1 or (len(table.errors) == 0 and table.order == len(table.b) == 4)


def integration(problem: Problem, table: Table, precision: Precision = "double", block: int = 0) -> Source:
    """A kernel ``bc_runge_kutta4``, or ``bc_embedded`` of an adaptive method, that integrates one state a thread."""
    if not fits(table):
        raise ValueError(
            f"the device has no kernel for methods with several error estimates, as {table.name!r}"
        )
    loop = _embedded(table, precision) if len(table.errors) else text.RUNGE_KUTTA4
    n = problem.states
    sizes = f"#define BC_STATES {n}\n#define BC_PROJECTS {int(problem.projection is not None)}\n"
    if problem.least_rank:
        sizes += f"#define BC_LEAST_RANK ((real){problem.least_rank!r})\n"
    tables: dict[str, NDArray[np.int64]] = {}
    parts = [
        head(precision, block),
        sizes,
        *device_function(problem.rates, "bc_rates", n, precision, tables, "__noinline__"),
    ]
    if problem.projection is not None:
        parts += device_function(problem.projection, "bc_projection", n, precision, tables, "__noinline__")
    return Source("\n".join([*parts, text.PROJECT, loop]), tables)


def _embedded(table: Table, precision: Precision) -> str:
    dialect = DIALECTS[precision]

    def row(values: object) -> str:
        return ", ".join(dialect.number(float(v)) for v in values)  # type: ignore[attr-defined]

    return text.EMBEDDED.format(
        stages=len(table.b),
        a=",\n  ".join(f"{{{row(combination)}}}" for combination in (*table.a[1:], table.b)),
        c=row([*table.c, 1.0]),
        e=row(table.errors[0]),
        exponent=table.exponent,
        beta=table.beta,
        shrink=table.shrink,
        grow=table.grow,
        rounded=ROUNDED if precision == "double" else ROUNDED * 2.0**29,
    )


__all__ = ["Problem", "fits", "integration"]

"""A batch on a graphics processor: one instance a thread, states back at the output times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.batch.group import lane_machine
from bellcrank.errors import ModelError
from bellcrank.integrate import Options
from bellcrank.integrate.cuda import Problem, fits, integration
from bellcrank.integrate.methods import AUTO, METHODS, adaptive, load
from bellcrank.integrate.run import held_against
from bellcrank.integrate.steps import CLOSE
from bellcrank.mechanism import Mechanism
from bellcrank.mechanism.export import export_of
from bellcrank.mechanism.sizes import tolerance_scales
from bellcrank.program import cuda
from bellcrank.program.cuda import Source
from bellcrank.program.gpu import Device, device, integrate_adaptive, integrate_fixed

Array = NDArray[np.float64]

MOST_BYTES = 2**30
"""Output states held on the device at once."""
RESIDUAL = {"double": 1e-11, "single": 2e-6}
"""Position residual to which loops are closed; single precision cannot close them further."""


@dataclass(frozen=True, eq=False)
class DeviceRun:
    """The kernel of a mechanism for one method and precision, ready for any number of states.

    An instance whose steps end beside a change point, within a twentieth of where its loops lose rank, fails here.

    absolute, lengths: What the errors of each entry of the state are held against, as on the processor. coarseness:
    what the tolerance of positions is multiplied by in large mechanisms.
    """

    on: Device
    source: Source
    method: str
    precision: cuda.Precision
    times: Array
    options: Options
    absolute: Array
    lengths: NDArray[np.bool_]
    coarseness: float = 1.0

    @staticmethod
    def of(
        mechanism: Mechanism,
        method: str,
        times: Array,
        options: Options,
        precision: cuda.Precision = "double",
        on: Device | None = None,
    ) -> DeviceRun:
        """Emit for the graphics processor of this machine, or for `on`."""
        table = None if method == AUTO else load(method).table
        if table is None or not fits(table):
            fitting = (name for name in METHODS if name != AUTO and (t := load(name).table) and fits(t))
            raise ModelError(f"on the device there are the integrators {', '.join(fitting)}, not {method!r}")
        if precision not in cuda.DIALECTS:
            raise ModelError(f"the precision is 'double' or 'single', not {precision!r}")
        if not adaptive(method):
            _fixed_grid(mechanism.start.t, times, options.fixed_step)
        elif options.fixed_step:
            raise ModelError("step= on the device goes with integrator='runge_kutta4'")
        e = export_of(mechanism)
        projection, least = None, 0.0
        if e.projection is not None:
            projection = mechanism.projection(mechanism.partition, with_rank=True)
            least = CLOSE * lane_machine(mechanism).rank
        problem = Problem(e.rates, projection, len(e.states), len(e.parameters), least)
        source = integration(problem, table, precision)
        coarseness = max(1.0, mechanism.length_scale)
        held = held_against(len(e.states), options, *tolerance_scales(mechanism, mechanism.partition))
        return DeviceRun(on or device(), source, method, precision, times, options, *held, coarseness)

    def rows_at_once(self, states: int) -> int:
        """How many instances fit."""
        return max(1, int(MOST_BYTES // (8 * states * max(len(self.times), 10))))

    def go(self, t: float, y: Array, p: Array) -> tuple[Array, NDArray[np.bool_]]:
        """States at the output times, shape (rows, outputs, n), and which rows reached the end."""
        real: Any = np.float64 if self.precision == "double" else np.float32
        block, closing = cuda.BLOCK[self.precision], RESIDUAL[self.precision] * self.coarseness
        begins = int(self.times[0] <= t)
        if not adaptive(self.method):
            steps, every = _fixed_grid(t, self.times, self.options.fixed_step)
            found, status = integrate_fixed(
                self.on, self.source, block, t, y, p, self.options.fixed_step, steps, every, real, closing
            )
        else:
            first = self.options.first_step or 1e-4
            found, status, _ = integrate_adaptive(
                self.on,
                self.source,
                block,
                t,
                y,
                p,
                self.times[begins:],
                self.options.rtol,
                self.absolute,
                real,
                closing,
                first,
                lengths=self.lengths,
            )
        states = np.empty((len(y), len(self.times), y.shape[1]))
        states[:, begins:] = found.transpose(2, 0, 1)
        if begins:
            states[:, 0] = y
        return states, status == 0


def _fixed_grid(t: float, times: Array, step: float) -> tuple[int, int]:
    """Steps in all and between outputs; every output must fall on a step."""
    if step <= 0.0:
        raise ModelError("'runge_kutta4' does not choose its step: give step=")
    after = times[times > t]
    numbers = np.rint((after - t) / step).astype(int)
    every = int(numbers[0])
    even = np.array_equal(numbers, every * np.arange(1, len(numbers) + 1))
    if not even or every < 1 or np.abs(t + numbers * step - after).max() > 1e-9 * abs(after[-1]):
        raise ModelError(
            f"with fixed steps on the device outputs lie a whole number of steps ({step:g} s) apart; "
            "choose another step= or output=, or integrator='dormand_prince5'"
        )
    return int(numbers[-1]), every


__all__ = ["DeviceRun"]

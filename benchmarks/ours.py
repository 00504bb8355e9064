"""Our side of the measurements.

Kernels are timed in a compiled loop that calls them by address, as an integrator does.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bellcrank.program.loops import Reals, call, entry
from benchmarks.timing import REPEATS, minimum

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Build:
    """A mechanism with its machine code, and what it took to get there [s]."""

    mechanism: Any
    kernel: Any
    trace_seconds: float
    compile_seconds: float
    from_cache: bool

    @property
    def in_words(self) -> str:
        """The times, and whether the machine code was on disk already."""
        found = ", found in the cache" if self.from_cache else ""
        return f"trace {self.trace_seconds:.2f} s, compile {self.compile_seconds:.2f} s{found}"


def car_system(forces: bool = False) -> Any:
    """The 22-body car; without springs, tyres and rack actuator it is what the peers have."""
    from bellcrank.verify.full_car import full_car_system

    system = full_car_system()
    if not forces:
        system.forces.clear()
    return system


def chain_system(links: int, length: float = 0.1, mass: float = 0.1) -> Any:
    """Links hanging one on the other by revolute joints about z; gravity along -y."""
    from bellcrank.model import System

    system = System(f"chain of {links}", gravity=(0.0, -9.81, 0.0))
    moment = mass * length**2 / 12.0
    before = system.ground
    for i in range(links):
        link = system.body(
            f"link {i}", mass, (1e-2 * moment, moment, moment), (length / 2, 0, 0), at=(i * length, 0, 0)
        )
        system.revolute(f"pin {i}", before, link, at=(i * length, 0, 0))
        before = link
    return system


def build(system: Any, formulation: str = "auto", lanes: int = 1) -> Build:
    """Analyse, trace and compile the accelerations of all coordinates."""
    from bellcrank.mechanism import analyse
    from bellcrank.program.kernel import compile_program

    start = time.perf_counter()
    mechanism = analyse(system, formulation=formulation)
    program = mechanism.traced().accelerations
    traced = time.perf_counter()
    kernel = compile_program(program, lanes=lanes)
    return Build(mechanism, kernel, traced - start, time.perf_counter() - traced, kernel.from_cache)


def sample_inputs(mechanism: Any, kernel: Any) -> Array:
    """Inputs of the kernel with random independent speeds; a tree of angles is bent at random too.

    A mechanism with loops stays in its start pose, as the peers' does, so that its loops are closed.
    """
    from bellcrank.mechanism import State

    rng = np.random.default_rng(1)
    start = mechanism.start
    bent = mechanism.constraints == 0 and len(start.q) == len(start.u)
    q = rng.uniform(-1, 1, len(start.q)) if bent else start.q
    x = mechanism.kernel_input(State(start.t, q, rng.uniform(-1, 1, len(start.u))))
    return np.repeat(x[:, None], kernel.lanes, axis=1).ravel() if kernel.lanes > 1 else x


def kernel_seconds(kernel: Any, x: Array, repeats: int = REPEATS) -> float:
    """Seconds a call: the minimum over repeats of a compiled loop."""
    y = np.zeros(kernel.n_out * kernel.lanes)
    x = np.ascontiguousarray(x, dtype=float)
    return minimum(lambda count: _timed(kernel.address, x, y, count), repeats)[0]


@entry
def _loop(address: int, x: Reals, y: Reals, count: int) -> int:
    for _ in range(count):
        call(address, x, y)
    return 0


def _timed(address: int, x: Array, y: Array, count: int) -> float:
    run = _loop.bound(address, x, y, count)
    start = time.perf_counter()
    run()
    return time.perf_counter() - start

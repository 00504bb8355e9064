"""The initial value problem, as addresses of compiled kernels, and the options of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.errors import ModelError

Sampler = Callable[[float, NDArray[np.float64], NDArray[np.float64]], Mapping[int, float] | None]


@dataclass(frozen=True, eq=False)
class Problem:
    """An initial value problem whose functions are machine code, each `void f(const double *x, double *y)`.

    Attributes:
        rhs: Address; x = [t, y (n), p] -> rates of the state (n).
        y0: Start state, shape (n,).
        t0: Start time [s].
        p: Parameters.
        project: Address or 0; x = [t, y, p] -> [corrected y (n), residual, margin, rank]: one Newton correction of
            the dependent coordinates with normalised quaternions, the norm of the position residual before
            it, the smallest pivot over the largest entry of its row, and how far the loops are from losing rank
            (where it writes no such number, they never do).
        jacobian: Address or 0; x = [t, y, p] -> d(rates)/dy, dense, row by row (n*n).
        tangent: Address or 0; x = [t, y, p, dt, dy, dp] -> [rates (n), their directional derivative (n)].
            Used for the Jacobian where `jacobian` is 0; where both are 0, finite differences are taken.
        make_tangent: Makes `tangent` when a run turns to an implicit method; many never do.
        events: Address or 0; x = [t, y, p] -> event functions (one per entry of `directions`).
        directions: For each event: +1 only rising, -1 only falling, 0 both crossings count; RATE and CLOCK of
            :mod:`bellcrank.integrate.events` for functions of another kind.
        terminal: For each event: whether the run ends there.
        names: Names of the state entries for messages; may be empty.
        event_names: Names of the events; may be empty.
        scales: What the absolute tolerance of each state entry is multiplied by, or None for one.
        sizes: For each state entry that is a length, the size [m] that its error is measured against, together with
            the distance moved in a step; so the origin does not matter. Below zero for other entries. None where there
            are no lengths.
        independence: How far the loops are from losing rank at the start, 0 to 1, whatever the partition.
        standing: Events that stand at zero at the start, up to rounding; where they go from there is looked for.
        keep: Whatever must stay alive for the addresses to stay valid.
    """

    rhs: int
    y0: NDArray[np.float64]
    t0: float = 0.0
    p: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    project: int = 0
    jacobian: int = 0
    tangent: int = 0
    make_tangent: Callable[[], int] | None = field(default=None, repr=False)
    events: int = 0
    directions: tuple[int, ...] = ()
    terminal: tuple[bool, ...] = ()
    names: tuple[str, ...] = ()
    event_names: tuple[str, ...] = ()
    standing: tuple[int, ...] = ()
    scales: NDArray[np.float64] | None = field(default=None, repr=False)
    sizes: NDArray[np.float64] | None = field(default=None, repr=False)
    independence: float = 1.0
    keep: tuple[object, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "y0", np.array(self.y0, dtype=np.float64).reshape(-1))
        object.__setattr__(self, "p", np.array(self.p, dtype=np.float64).reshape(-1))
        if self.rhs == 0:
            raise ModelError("the right-hand side has address 0")
        if bool(self.events) != bool(self.directions):
            raise ModelError(
                "events need both an address and one direction (-1, 0 or 1) for each event function"
            )
        if any(d not in (-1, 0, 1, 2, 3) for d in self.directions):
            raise ModelError(
                f"event directions are -1, 0 or 1 (2 for a rate, 3 for a function of time), not {self.directions}"
            )
        if self.terminal and len(self.terminal) != len(self.directions):
            raise ModelError(f"{len(self.terminal)} terminal flags for {len(self.directions)} events")
        if self.names and len(self.names) != self.n:
            raise ModelError(f"{len(self.names)} names for {self.n} state entries")

    @property
    def n(self) -> int:
        """Size of the state."""
        return len(self.y0)

    @property
    def n_events(self) -> int:
        """Number of event functions."""
        return len(self.directions)


@dataclass(frozen=True)
class Sample:
    """A sampled controller: called at t0, t0 + period, ...; between the calls the parameters stand still.

    Attributes:
        period: Time between calls [s].
        function: (t, y, p) -> {index in p: new value} or None for no change.
        offset: Time of the first call after the start of the run [s].
    """

    period: float
    function: Sampler
    offset: float = 0.0

    def __post_init__(self) -> None:
        if not self.period > 0.0:
            raise ModelError(f"the sampling period must be positive, not {self.period}")
        if self.offset < 0.0:
            raise ModelError(f"the first sample cannot lie before the start: offset {self.offset}")


@dataclass(frozen=True)
class Options:
    """How to integrate.

    Attributes:
        rtol: Relative tolerance of the local error. A step is accepted when the root mean square over all
            state entries of error / (atol + rtol * max(|y old|, |y new|)) is at most one, as in the codes of
            Hairer and Wanner, from which the controllers are taken. Errors of lengths are measured against their size
            and the distance moved in the step instead, see `Problem.sizes`.
        atol: Absolute tolerance, one number or one per state entry (in the unit of that entry).
        first_step: First step size [s]; 0 chooses it (Hairer, Norsett, Wanner, II.4).
        max_step: Largest step size [s].
        fixed_step: Constant step size [s], without error control; 0 adapts. 'runge_kutta4' needs it.
        max_steps: Accepted and rejected steps allowed.
        position_tolerance: Largest norm of the position residual after the projection.
        corrections: Newton corrections allowed per projection.
        repartition_threshold: Margin below which another partition is asked for.
        spectral_radius: Of the generalised-alpha method at infinite frequency, 0 (annihilating) to 1
            (undamped).
        chunk_seconds: Wall time after which the interpreter is given a turn [s].
    """

    rtol: float = 1e-8
    atol: float | Sequence[float] | NDArray[np.float64] = 1e-10
    first_step: float = 0.0
    max_step: float = np.inf
    fixed_step: float = 0.0
    max_steps: int = 100_000_000
    position_tolerance: float = 1e-11
    corrections: int = 8
    repartition_threshold: float = 1e-2
    spectral_radius: float = 0.8
    chunk_seconds: float = 0.25

    def __post_init__(self) -> None:
        if not self.rtol > 0.0:
            raise ModelError(f"rtol must be positive, not {self.rtol}")
        if not np.all(np.asarray(self.atol) >= 0.0):
            raise ModelError("atol must not be negative")
        if self.first_step < 0.0 or self.fixed_step < 0.0 or not self.max_step > 0.0:
            raise ModelError("step sizes must be positive (0 for first_step: choose; for fixed_step: adapt)")
        if not 0.0 <= self.spectral_radius <= 1.0:
            raise ModelError(f"the spectral radius lies between 0 and 1, not {self.spectral_radius}")
        if self.max_steps < 1 or self.corrections < 1:
            raise ModelError("max_steps and corrections must be at least 1")

    def absolute(self, n: int) -> NDArray[np.float64]:
        """The absolute tolerance of each of n state entries."""
        if isinstance(self.atol, float):
            return np.full(n, max(self.atol, 1e-300))
        atol: ArrayLike = self.atol
        values = np.asarray(atol, dtype=np.float64)
        if values.ndim and values.shape != (n,):
            raise ModelError(f"atol has shape {values.shape}, the state has {n} entries")
        # A state entry at rest at zero with no absolute tolerance would divide by zero.
        return np.maximum(np.broadcast_to(values, (n,)), 1e-300)

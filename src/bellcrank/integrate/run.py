"""A run in progress: the arrays of an integrator, filled from a problem and its options."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError
from bellcrank.integrate import layout as at
from bellcrank.integrate.arrays import Arrays
from bellcrank.integrate.auto import explicit
from bellcrank.integrate.beginning import begin
from bellcrank.integrate.checkpoint import UnfitCheckpoint
from bellcrank.integrate.integrator import Integrator
from bellcrank.integrate.methods import AUTO, load
from bellcrank.integrate.problem import Options, Problem
from bellcrank.integrate.status import Status
from bellcrank.integrate.stiffness import BEYOND, change, look
from bellcrank.program.loops import Entry

Floats = NDArray[np.float64]


class _Plan(NamedTuple):
    """Where the arrays of a run lie in its memory, and what is in there before anything is known of the run.

    The words of `Arrays` lie there as well. `near` is one for those that are addresses within the memory: adding the
    address of the whole to all of them is quicker than asking every array for its own, which shows in short runs.
    """

    filled: Floats
    parts: tuple[slice, ...]
    near: NDArray[np.int64]


@lru_cache(maxsize=64)
def _plan(integrator: Integrator, n: int, events: int, parameters: int) -> _Plan:
    own_ints, own_reals = integrator.arrays(n, parameters)
    sizes = (
        at.ADDRESSES,
        at.INTS,
        at.REALS,
        1 + n + parameters,
        integrator.rows * n,
        at.EVENT_ROWS * events,
        n + 3,
        len(own_ints),
        len(own_reals),
        _WORDS,
    )
    places = [0]
    for size in sizes:
        # Every array begins where a register can be loaded at once.
        places.append((places[-1] + size + 7) & ~7)
    filled = np.zeros(places[-1])
    parts = tuple(slice(place, place + size) for place, size in zip(places, sizes, strict=False))
    whole = filled.view(np.int64)
    whole[parts[7]] = own_ints
    filled[parts[8]] = own_reals
    ints = whole[parts[1]]
    ints[_OF_METHOD] = integrator.rows, len(own_ints), len(own_reals), integrator.order
    # A projection that does not measure how far the loops are from losing rank counts as having full rank.
    filled[parts[6]][n + 2] = 1.0
    filled[parts[2]][[at.MARGIN, at.STEP_MARGIN, at.RANK, at.RANK_START]] = 1.0
    ints[at.N], ints[at.N_EVENTS], ints[at.FRESH], ints[at.INDEX] = n, events, 1, -1
    # An address within the memory, then its lengths; those of the outputs come with the run.
    lengths = ((at.ADDRESSES,), (at.INTS,), (at.REALS,), (sizes[3],), (integrator.rows, n), (at.EVENT_ROWS, events),
               (sizes[6],), (sizes[7],), (sizes[8],))  # fmt: skip
    words, near, k = whole[parts[9]], np.zeros(_WORDS, np.int64), 0
    for part, behind in zip(parts, lengths, strict=False):
        k += _OUT_WORDS if k == _OUT_T else 0
        words[k], near[k] = 8 * part.start, 1
        words[k + 1 : k + 1 + len(behind)] = behind
        k += 1 + len(behind)
    return _Plan(filled, parts, near)


_WORDS, _OUT_T, _OUT_WORDS = 25, 16, 5
"""Words of `Arrays`, where those of the outputs begin, and how many these are."""
_OF_METHOD = [at.ROWS, at.OWN_INTS, at.OWN_REALS, at.ORDER]


_first_byte = ctypes.c_char.from_buffer


def _address(memory: Floats) -> int:
    """Where an array begins, 0 where it is empty; a third of the time that asking the array takes."""
    return ctypes.addressof(_first_byte(memory)) if memory.size else 0  # type: ignore[arg-type]


def held_against(
    n: int, options: Options, scales: Floats | None, sizes: Floats | None
) -> tuple[Floats, NDArray[np.bool_]]:
    """The absolute tolerance of each of n entries, and whether it is a length; see `Problem.sizes`."""
    if sizes is None:
        absolute = options.absolute(n)
        return absolute if scales is None else absolute * scales, np.zeros(n, bool)
    # One number for all entries needs no array of its own, which shows in short runs.
    same = isinstance(options.atol, float) and scales is None
    least = max(options.atol, 1e-300) if same else options.absolute(n)  # type: ignore[type-var]
    absolute = options.rtol * np.maximum(sizes, 0.0)
    absolute += least if scales is None else least * scales
    return absolute, sizes >= 0.0


def hold(v: NDArray[np.float64], options: Options, scales: Floats | None, sizes: Floats | None) -> None:
    """Write into the rows of v, shape (rows, n, ...), what the errors of each entry are held against."""
    absolute, lengths = held_against(v.shape[1], options, scales, sizes)
    v[at.ATOL].T[:] = absolute
    v[at.FROM_HERE].T[:] = lengths


class Image(NamedTuple):
    """The memory of a run before its first step, for a copy of it elsewhere.

    memory: Words of eight bytes; addresses of kernels are zero, those of arrays relative to its beginning. parts: Where
    `addresses`, `ints`, `reals`, `x`, `v`, `g`, `corrected`, the method's own integers and reals, and the words that
    its entries take lie in there. near: One for each of the last that is an address.
    """

    memory: NDArray[np.int64]
    parts: tuple[slice, ...]
    near: NDArray[np.int64]


class Run:
    """The whole state of an integration; `advance` moves it, nothing else does.

    `snapshot` and `restore` copy the state out and back: a restored run goes on with the same bits.
    """

    def __init__(self, problem: Problem, method: str, output_times: Floats, end: float, options: Options):
        self.problem = problem
        self.method = method
        self.options = options
        self.end = end
        self.integrator = load(explicit(options) if method == AUTO else method)
        if not self.integrator.adaptive and options.fixed_step == 0.0:
            raise ModelError(f"the method {method!r} does not choose its step size: give fixed_step")
        n, times = len(problem.y0), len(output_times)
        self._out = np.zeros(times * (1 + n))
        self.out_t, self.out_y = self._out[:times], self._out[times:].reshape(times, n)
        self.out_t[:] = output_times
        self._allocate()

        ints, reals = self.ints, self.reals
        ints[at.N_OUT] = times
        ints[at.MAX_STEPS] = options.max_steps
        ints[at.FIXED] = options.fixed_step > 0.0
        ints[at.CORRECTIONS] = options.corrections
        ints[at.WATCH_STIFFNESS] = method == AUTO
        reals[at.T] = reals[at.T_NEW] = problem.t0
        reals[at.T_STOP] = end
        reals[at.H] = options.fixed_step or options.first_step
        reals[at.FIXED_STEP] = options.fixed_step
        reals[at.RTOL] = options.rtol
        reals[at.MAX_STEP] = options.max_step
        reals[at.POSITION_TOLERANCE] = options.position_tolerance
        reals[at.THRESHOLD] = reals[at.THRESHOLD_USUAL] = options.repartition_threshold
        reals[at.INDEPENDENCE] = problem.independence
        reals[at.SPECTRAL_RADIUS] = options.spectral_radius
        self._take_tolerances()
        self.v[at.Y] = problem.y0
        if problem.events:
            self.g[at.DIRECTION] = problem.directions
            self.g[at.HIT, list(problem.standing)] = 1.0
        self.x[1 + n :] = problem.p
        self._take_addresses()

    def _allocate(self) -> None:
        """All arrays but the outputs, side by side in one piece of memory."""
        problem = self.problem
        n = len(problem.y0)
        plan = self._plan = _plan(self.integrator, n, len(problem.directions), len(problem.p))
        memory = self._memory = plan.filled.copy()
        whole = memory.view(np.int64)
        part = plan.parts
        self.addresses, self.ints, self.reals = whole[part[0]], whole[part[1]], memory[part[2]]
        self.x = memory[part[3]]
        self.v = memory[part[4]].reshape(self.integrator.rows, n)
        words, base = whole[part[9]], _address(memory)
        words += plan.near * base
        times, out = len(self.out_t), _address(self._out)
        words[_OUT_T : _OUT_T + _OUT_WORDS] = out, times, out + 8 * times, times, n
        self._words_at = base + 8 * part[9].start

    @property
    def g(self) -> Floats:
        """Event vectors; a view."""
        return self._memory[self._plan.parts[5]].reshape(at.EVENT_ROWS, self.problem.n_events)

    @property
    def corrected(self) -> Floats:
        """What the projection gave last; a view."""
        return self._memory[self._plan.parts[6]]

    @property
    def own(self) -> tuple[NDArray[np.int64], Floats]:
        """Whatever else the method keeps; views."""
        ints, reals = self._plan.parts[7:9]
        return self._memory.view(np.int64)[ints], self._memory[reals]

    @property
    def arrays(self) -> Arrays:
        """All of them, as its entries take them."""
        return Arrays(
            self.addresses,
            self.ints,
            self.reals,
            self.x,
            self.v,
            self.g,
            self.corrected,
            self.out_t,
            self.out_y,
            *self.own,
        )

    def _call(self, entry: Entry) -> Status:
        """Run machine code on the arrays."""
        return _STATUS[entry.at(self._words_at)]

    def _take_tolerances(self) -> None:
        hold(self.v, self.options, self.problem.scales, self.problem.sizes)

    def _take_addresses(self) -> None:
        p = self.problem
        if self.integrator.implicit and not p.jacobian and not p.tangent and p.make_tangent:
            p = self.problem = replace(p, tangent=p.make_tangent())
        search = 0
        if p.events:
            from bellcrank.integrate.events import search as unit

            search = unit.address
        self.addresses[:] = (p.rhs, p.project, p.jacobian, p.tangent, p.events, search)

    def advance(self, steps: int) -> Status:
        """Make up to that many steps."""
        if self.ints[at.FRESH] and (status := self._call(begin)) is not Status.RUNNING:
            return status
        self.ints[at.BUDGET] = steps
        return self._call(self.integrator.advance)

    def unstable(self) -> bool:
        """Whether the fixed step of an explicit method makes errors grow here, by the largest eigenvalue.

        INDEX is then the entry of the state that its mode changes most.
        """
        row = self.integrator.spare
        if self.options.fixed_step == 0.0 or row < 0 or self.problem.n == 0:
            return False
        if self.ints[at.FRESH] and self._call(begin) is not Status.RUNNING:
            # Advancing says why.
            return False
        self.ints[at.INDEX] = row
        look.function(self.arrays)
        size = float(self.reals[at.LARGEST_EIGENVALUE])
        self.reals[at.LARGEST_EIGENVALUE] = 0.0
        unstable = self.options.fixed_step * size > BEYOND * self.integrator.stability
        self.ints[at.INDEX] = int(np.argmax(np.abs(self.v[row]))) if unstable else -1
        return unstable

    def image(self) -> Image:
        """Its memory, as another copy of the run would begin; that has no outputs."""
        plan = self._plan
        memory = self._memory.view(np.int64).copy()
        memory[plan.parts[0]] = 0
        memory[plan.parts[1]][[at.N_OUT, at.OUT_NEXT]] = 0
        words = memory[plan.parts[9]]
        words -= plan.near * _address(self._memory)
        words[_OUT_T : _OUT_T + _OUT_WORDS] = 0
        return Image(memory, plan.parts, plan.near)

    @property
    def t(self) -> float:
        """Time reached [s]."""
        return float(self.reals[at.T])

    @property
    def y(self) -> Floats:
        """State there; a view."""
        state: Floats = self.v[at.Y]
        return state

    @property
    def p(self) -> Floats:
        """Parameters; a view. Call `restart` after changing them."""
        return self.x[1 + self.problem.n :]

    @property
    def hits(self) -> tuple[int, ...]:
        """The events just located."""
        return tuple(int(i) for i in np.flatnonzero(self.g[at.HIT]))

    def restart(self, t: float, y: Floats, hits: bool = False) -> None:
        """Begin anew from a state; the step size is kept. `hits`: the events just located stand at zero."""
        self.reals[at.T] = t
        self.v[at.Y] = y
        self.ints[at.FRESH] = 1
        self.ints[at.SCANNING] = 0
        if not hits:
            self.g[at.HIT] = 0.0

    def change_problem(self, problem: Problem, y: Floats) -> None:
        """Go on with other kernels from the present time: another partition of the same coordinates."""
        if problem.n != self.problem.n or problem.n_events != self.problem.n_events:
            raise ModelError("a run goes on only with a state of the same size and the same events")
        if len(problem.p) != len(self.p):
            raise ModelError("a run goes on only with the same parameters")
        self.problem = problem
        self._take_addresses()
        self._take_tolerances()
        # Other pivots measure up to other values.
        self.reals[at.RANK_BEST], self.reals[at.INDEPENDENCE] = 0.0, problem.independence
        self.restart(self.t, np.asarray(y, dtype=np.float64))

    def change_method(self, name: str) -> None:
        """Go on with another method from the present time."""
        before = {name: getattr(self, name) for name in (*_ARRAYS, "addresses")}
        self.integrator = load(name)
        self._allocate()
        of_method = self.ints[_OF_METHOD]
        for array, values in before.items():
            if array == "v":
                self.v[: at.OWN] = values[: at.OWN]
            else:
                np.copyto(getattr(self, array), values)
        self.ints[_OF_METHOD] = of_method
        change.function(self.arrays)
        self._take_addresses()
        self.restart(self.t, self.y.copy())

    def snapshot(self, outputs: bool = True) -> dict[str, NDArray[Any]]:
        """A copy of all arrays, those of the outputs only where asked for."""
        arrays = {name: getattr(self, name).copy() for name in (*_ARRAYS, *(_OUTPUTS if outputs else ()))}
        return arrays | {f"own{k}": a.copy() for k, a in enumerate(self.own)}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the arrays of a snapshot of the same problem, method and output times."""
        self._check(arrays)
        for name in (*_ARRAYS, *(n for n in _OUTPUTS if n in arrays)):
            np.copyto(getattr(self, name), arrays[name])
        for k, a in enumerate(self.own):
            np.copyto(a, arrays[f"own{k}"])
        self._take_addresses()

    def _check(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """The compiled loops trust these numbers as places in memory; a snapshot may come from a file."""
        own = {f"own{k}": a for k, a in enumerate(self.own)}
        for name, a in ({name: getattr(self, name) for name in _ARRAYS} | own).items():
            given = arrays.get(name)
            if given is None or given.shape != a.shape or given.dtype != a.dtype:
                raise UnfitCheckpoint(f"the array {name!r} of the snapshot is not one of such a run")
        ints, fixed = arrays["ints"], [at.N, at.N_EVENTS, at.N_OUT, at.ROWS, at.OWN_INTS, at.OWN_REALS]
        bounded = {at.OUT_NEXT: len(self.out_t), at.HEAD: 7, at.DENSE_ROWS: at.DENSE_LIMIT}
        constant = self.own[0] != 0
        places = arrays["own0"][~constant]
        if (
            np.any(ints[fixed] != self.ints[fixed])
            or any(not 0 <= ints[k] <= limit for k, limit in bounded.items())
            or np.any(arrays["own0"][constant] != self.own[0][constant])
            or np.any((places < 0) | (places >= self.problem.n))
        ):
            raise UnfitCheckpoint("the snapshot is not one of such a run")


_STATUS = dict(enumerate(Status))
"""By code: asking the class shows in short runs."""
_ARRAYS = ("ints", "reals", "x", "v", "g", "corrected")
_OUTPUTS = ("out_t", "out_y")

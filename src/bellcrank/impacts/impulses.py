"""Impacts of any number of contacts, with friction, in contact space.

Equation (22) of Park et al. (2000), with the joints eliminated: velocities after are v + W p, where
W = J M^-1 J^T (Delassus) is taken through the constrained mass matrix, and p are the impulses.

One contact follows Routh's process (`routh`). Several contacts that feel each other:

- sequential: the contact that approaches fastest is struck first, alone, by Routh's process, then the fastest of
  the velocities that leaves, until none approaches; contacts of equal speed are struck at once, so that symmetric
  impacts stay symmetric. Each strike takes energy, so the whole does. Contacts without restitution stay in touch once
  they have met: where none has any and one of them is pressed again, all meet together, without restitution.
- simultaneous: compression and restitution are two Coulomb complementarity problems. Newton:
  Moreau (1988), v_n(after) + e v_n(before) in complementarity with p_n. Poisson: Glocker and Pfeiffer (1995), the
  impulse of restitution is at least e times that of compression. Stronge: the impulse of restitution of Poisson's law,
  scaled so that its normal work is the sum of e^2 times the work of compression of each contact.

Kinetic energy never rises. One contact: where a law with friction would raise it, Stronge's is used. Several at once:
restitution is scaled back along the segment from the plastic impact, on which all conditions go on to hold, to where
the energy is kept. Both are reported.

Differs in: Park et al. have one contact, no friction and Newton's law.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.errors import BellcrankError, ModelError
from bellcrank.impacts.coulomb import CoulombProblem, rows_of, uncoupled
from bellcrank.impacts.routh import EVENTS, ImpactLaw, single_impact
from bellcrank.impacts.strikes import (
    CONTACT,
    ENDED,
    ENDLESS,
    FULL,
    IMMOVABLE,
    JAMMED,
    LOCKED,
    LOG,
    NUMBER,
    RESTING,
    ROUNDING,
    SLOWED,
    TIE,
    TIED,
    Strikes,
    sequence_of,
)

Array = NDArray[np.float64]


class Propagation(Enum):
    """How an impact passes through contacts that touch at the same time."""

    SEQUENTIAL = "sequential"
    SIMULTANEOUS = "simultaneous"


class ImpactError(BellcrankError, ArithmeticError):
    """An impact that no impulse can resolve."""


@dataclass(frozen=True, eq=False)
class Impact:
    """What an impact did. Rows as in W.

    impulses: [N s]. velocities: Relative velocities after [m/s]. energy_change: Kinetic, never positive [J].
    energetic: Contacts at which the law asked for would have raised the energy, so that restitution was limited
        by energy instead.
    strikes: Contacts struck, in order. slips: What slip did at each strike: stick, reversal, slip.
    plastic: Contacts that still approached after many strikes, and met without restitution. plastic_loss: The energy
        which that took, over what an impact without any restitution would have taken.
    residual: How far the conditions of coupled contacts are missed, over the largest speed. In space, rarely, the
        direction of friction is that of a polyhedral cone, and this is up to a few per cent.
    """

    impulses: Array
    velocities: Array
    energy_change: float
    energetic: tuple[int, ...]
    strikes: tuple[tuple[int, ...], ...]
    slips: tuple[tuple[str, ...], ...]
    residual: float
    plastic: tuple[int, ...] = ()
    plastic_loss: float = 0.0


def solve_impact(
    W: ArrayLike,
    velocities: ArrayLike,
    restitution: Sequence[float] | Array | float,
    friction: Sequence[float] | Array | float = 0.0,
    *,
    tangents: int = 1,
    law: ImpactLaw | str = ImpactLaw.NEWTON,
    propagation: Propagation | str = Propagation.SEQUENTIAL,
    jammed: Sequence[int] = (),
) -> Impact:
    """The impulses of an impact.

    W: J M^-1 J^T over the stacked rows (normal, tangent, ...) of each contact [1/kg].
    velocities: Relative velocities before, negative normal parts approach [m/s].
    restitution, friction: e in [0, 1] and mu >= 0, one for all or one a contact.
    tangents: Tangential rows a contact: 0 without friction, 1 in the plane, 2 in space.
    jammed: Contacts that slide and strike without approaching, because no finite force belongs to their sliding
        (an impact without collision: Lecornu, 1905; Genot and Brogliato, 1999); they strike first.
    """
    problem = _Problem.of(W, velocities, restitution, friction, tangents, ImpactLaw(law))
    if jammed:
        return _after_jam(problem, jammed)
    if Propagation(propagation) is Propagation.SEQUENTIAL:
        return _sequence(problem)
    approaching = problem.approaching(np.zeros(len(problem.v)))
    if not len(approaching):
        return problem.finished(np.zeros(len(problem.v)), [], [], [])
    p, energetic, slips = _together(problem, problem.v, list(range(problem.contacts)))
    return problem.finished(p, energetic, [tuple(range(problem.contacts))], slips)


@dataclass(frozen=True, eq=False)
class _Problem:
    W: Array
    v: Array
    e: Array
    mu: Array
    rows: int
    law: ImpactLaw
    misses: list[float] = field(default_factory=list)

    @staticmethod
    def of(
        W: ArrayLike,
        velocities: ArrayLike,
        restitution: Sequence[float] | Array | float,
        friction: Sequence[float] | Array | float,
        tangents: int,
        law: ImpactLaw,
    ) -> _Problem:
        v = np.asarray(velocities, dtype=float)
        W = np.asarray(W, dtype=float)
        rows = 1 + tangents
        if tangents not in (0, 1, 2) or len(v) % rows or W.shape != (len(v), len(v)):
            raise ModelError(
                f"an impact with {tangents} tangents cannot have W {W.shape} and {len(v)} velocities"
            )
        contacts = len(v) // rows
        e, mu = np.empty(contacts), np.empty(contacts)
        e[:], mu[:] = restitution, friction
        if not ((e >= 0.0) & (e <= 1.0)).all():
            raise ModelError(f"restitution must lie in 0 ... 1, not {e[~((e >= 0.0) & (e <= 1.0))][0]:g}")
        if not (mu >= 0.0).all():
            raise ModelError(f"friction must not be negative: {mu[~(mu >= 0.0)][0]:g}")
        return _Problem(0.5 * (W + W.T), v, e, mu if tangents else np.zeros(contacts), rows, law)

    @property
    def contacts(self) -> int:
        return len(self.e)

    @property
    def resting(self) -> float:
        """Approach below this is none [m/s]."""
        return 1e-12 * float(np.max(np.abs(self.v), initial=0.0))

    def index(self, contacts: Sequence[int]) -> NDArray[np.intp]:
        """The rows of these contacts."""
        return rows_of(contacts, self.rows)

    def approaching(self, p: Array) -> NDArray[np.intp]:
        """The contacts that still approach after the impulses p."""
        return np.flatnonzero((self.v + self.W @ p)[:: self.rows] < -self.resting)

    def energy(self, v: Array, p: Array) -> float:
        """Kinetic energy gained by the impulses p on the velocities v [J]."""
        return float(p @ (v + 0.5 * (self.W @ p)))

    def groups(self, contacts: Sequence[int]) -> list[list[int]]:
        """These contacts in groups that do not feel each other."""
        return uncoupled(self.W, contacts, self.rows)

    def finished(
        self,
        p: Array,
        energetic: Sequence[int],
        strikes: Sequence[tuple[int, ...]],
        slips: Sequence[tuple[str, ...]],
    ) -> Impact:
        return Impact(
            impulses=p,
            velocities=self.v + self.W @ p,
            energy_change=self.energy(self.v, p),
            energetic=tuple(sorted(set(energetic))),
            strikes=tuple(strikes),
            slips=tuple(slips),
            residual=max(self.misses, default=0.0),
        )


def _after_jam(problem: _Problem, jammed: Sequence[int]) -> Impact:
    """The impacts without collision, and whatever they set off."""
    p = np.zeros(len(problem.v))
    limited: list[int] = []
    strikes: list[tuple[int, ...]] = []
    slips: list[tuple[str, ...]] = []
    for i in jammed:
        rows = problem.index([i])
        v = (problem.v + problem.W @ p)[rows]
        v[0] = min(v[0], 0.0)
        p[rows], energetic, slip = _alone(problem, v, i)
        limited += [i] if energetic else []
        strikes.append((i,))
        slips.append(slip)
    return _sequence(problem, p, limited, strikes, slips)


def _sequence(
    problem: _Problem,
    p: Array | None = None,
    energetic: Sequence[int] = (),
    strikes: Sequence[tuple[int, ...]] = (),
    slips: Sequence[tuple[str, ...]] = (),
) -> Impact:
    """One strike after another, after those already made."""
    p = np.zeros(len(problem.v)) if p is None else p
    energetic, strikes, slips = list(energetic), list(strikes), list(slips)
    striking = sequence_of(
        problem.W, problem.v + problem.W @ p, problem.e, problem.mu, problem.rows, problem.law.number
    )
    one_by_one: Strikes = striking.arguments[0]
    one_by_one.p[:], one_by_one.sizes[RESTING] = p, problem.resting
    while True:
        why = striking()
        for i, what in one_by_one.log[: one_by_one.counts[LOG]].tolist():
            strikes.append((i,))
            slips.append(EVENTS[what])
        one_by_one.counts[LOG] = 0
        if why == LOCKED:
            raise _immovable(int(one_by_one.counts[CONTACT]))
        if why == JAMMED:
            raise _jamming(int(one_by_one.counts[CONTACT]))
        if why == TIED:
            v = one_by_one.v.copy()
            speeds = v[:: problem.rows]
            struck = [int(i) for i in np.flatnonzero(speeds <= float(np.min(speeds)) * (1.0 - TIE))]
            one_by_one.met[struck] = 1
            for group in problem.groups(struck):
                more, limited, slip = _together(problem, v, group)
                one_by_one.p[:] += more
                energetic += limited
                strikes.append(tuple(group))
                slips += slip
            one_by_one.v[:] = problem.v + problem.W @ one_by_one.p
            one_by_one.counts[NUMBER] += 1
        elif why != FULL:
            break
    p = one_by_one.p.copy()
    energetic += np.flatnonzero(one_by_one.limited).tolist()
    if why == ENDED:
        return problem.finished(p, energetic, strikes, slips)
    waiting = problem.approaching(p) if why in (ENDLESS, SLOWED) else ()
    v = problem.v + problem.W @ p
    more = _plastic(problem, v, list(range(problem.contacts)))
    ended = problem.finished(p + more, energetic, [*strikes, tuple(range(problem.contacts))], slips)
    if not len(waiting):
        return ended
    taken = problem.energy(problem.v, _plastic(problem, problem.v, list(range(problem.contacts))))
    lost = problem.energy(v, more) / min(taken, -1e-300)
    return replace(ended, plastic=tuple(int(i) for i in waiting), plastic_loss=lost)


def _together(
    problem: _Problem, v: Array, contacts: list[int]
) -> tuple[Array, list[int], list[tuple[str, ...]]]:
    """Impulses of these contacts struck at once, where restitution was limited, and what slip did."""
    p = np.zeros(len(v))
    energetic: list[int] = []
    slips: list[tuple[str, ...]] = []
    for group in problem.groups(contacts):
        rows = problem.index(group)
        if len(group) == 1:
            if v[rows[0]] < 0.0:
                p[rows], limited, slip = _alone(problem, v[rows], group[0])
                energetic += group if limited else []
                slips.append(slip)
        else:
            more, limited = _simultaneous(problem, v, group)
            p += more
            energetic += group if limited else []
    return p, energetic, slips


def _alone(problem: _Problem, v: Array, i: int) -> tuple[Array, bool, tuple[str, ...]]:
    rows = problem.index([i])
    W = problem.W[np.ix_(rows, rows)]
    if W[0, 0] <= IMMOVABLE * max(float(np.max(np.abs(np.diag(problem.W)))), 1e-300):
        raise _immovable(i)
    e, mu = float(problem.e[i]), float(problem.mu[i])
    try:
        p, slips = single_impact(W, v, e, mu, problem.law)
    except ArithmeticError as error:
        raise _jamming(i) from error
    gained = float(p @ (v + 0.5 * (W @ p)))
    if mu > 0.0 and problem.law is not ImpactLaw.STRONGE and gained > ROUNDING * abs(float(p @ v)):
        p, slips = single_impact(W, v, e, mu, ImpactLaw.STRONGE)
        return p, True, slips
    return p, False, slips


def _immovable(i: int) -> ImpactError:
    return ImpactError(f"contact {i} approaches but no impulse can move it: the bodies are locked there")


def _jamming(i: int) -> ImpactError:
    return ImpactError(f"friction locks contact {i}: no impulse lets it part or slide again")


def _coulomb(problem: _Problem, b: Array, contacts: list[int], least: Array | None = None) -> Array:
    """Impulses at these contacts with velocities W p + b in Coulomb's complementarity; b over all rows."""
    rows = problem.index(contacts)
    W = problem.W[np.ix_(rows, rows)]
    found = CoulombProblem.of(W, b[rows], problem.mu[contacts], least).solve()
    if found is None:
        raise ImpactError(f"no impulses separate the contacts {contacts}: the bodies between them are locked")
    problem.misses.append(found.miss)
    p = np.zeros(len(b))
    p[rows] = found.p
    return p


def _plastic(problem: _Problem, v: Array, contacts: list[int]) -> Array:
    return _coulomb(problem, v, contacts)


def _simultaneous(problem: _Problem, v: Array, contacts: list[int]) -> tuple[Array, bool]:
    """Compression, then restitution, of coupled contacts; whether energy limited it."""
    normals = problem.index(contacts)[:: problem.rows]
    e = problem.e[contacts]
    compression = _plastic(problem, v, contacts)
    if not np.any(compression) or not np.any(e):
        return compression, False
    if problem.law is ImpactLaw.NEWTON:
        b = v.copy()
        b[normals] += e * np.minimum(v[normals], 0.0)
        whole = _coulomb(problem, b, contacts)
    else:
        whole = compression + _restitution(problem, v, compression, contacts)
    before = problem.energy(v, compression)
    change = whole - compression
    after = v + problem.W @ compression
    # Along compression + s change the energy is before + s slope + s^2 bend.
    slope, bend = float(change @ after), 0.5 * float(change @ problem.W @ change)
    if problem.law is ImpactLaw.STRONGE:
        mean = 0.5 * (v + after)
        returned = -float(np.sum(e**2 * np.minimum(compression[normals] * mean[normals], 0.0)))
        share = _crossing(slope, bend, returned)
        limit = _crossing(slope, bend, -before)
        return compression + min(share, limit, 1.0) * change, False
    limit = _crossing(slope, bend, -before)
    if limit >= 1.0 - ROUNDING:
        return whole, False
    return compression + limit * change, True


def _crossing(slope: float, bend: float, target: float) -> float:
    """The s > 0 where s slope + s^2 bend reaches the target >= 0."""
    target = max(target, 0.0)
    if bend <= 0.0:
        return 1.0
    return max((-slope + float(np.sqrt(slope * slope + 4.0 * bend * target))) / (2.0 * bend), 0.0)


def _restitution(problem: _Problem, v: Array, compression: Array, contacts: list[int]) -> Array:
    """Glocker and Pfeiffer (1995): normal impulses of at least e times those of compression.

    Differs in: no tangential restitution; friction acts on the whole normal impulse.
    """
    least = problem.e[contacts] * compression[problem.index(contacts)[:: problem.rows]]
    return _coulomb(problem, v + problem.W @ compression, contacts, least)

"""Static equilibrium: damped Newton on the generalised forces, dynamic relaxation where that fails.

The forces Q along the freedoms and their exact derivative J = dQ/dz give the step. The symmetric part of -J
is the stiffness K of a potential; with its eigenvalues taken positive the step Q / |K| always goes downhill,
so that the search settles where the mechanism would come to rest (Nocedal and Wright, "Numerical
Optimization", 3.4). Near the end, and where forces have no potential, the plain Newton step of least length
is taken. Directions without stiffness and without force are left alone: a free car stays where it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.analyses.freeze import frozen
from bellcrank.analyses.holding import Hold, holds
from bellcrank.analyses.lasting import contacts_of
from bellcrank.analyses.linearize import Linear, linearize
from bellcrank.analyses.relaxation import relaxed
from bellcrank.analyses.statics import Statics
from bellcrank.analyses.tangent import move_names
from bellcrank.analyses.touch import Touch
from bellcrank.errors import BellcrankError, ModelError
from bellcrank.math.rotations import from_quaternion
from bellcrank.mechanics.links import GROUND
from bellcrank.mechanism.carried_loads import start_loads
from bellcrank.model.parameters import value
from bellcrank.result.result import Result, RunReport
from bellcrank.result.series import Series

if TYPE_CHECKING:
    from bellcrank.impacts.contacts import Contacts
    from bellcrank.mechanism import Mechanism, State
    from bellcrank.model.system import System

Array = NDArray[np.float64]

LONGEST_MOVE = 0.3
"""No freedom moves more than this [rad, or sizes of the mechanism] in one step."""

NEUTRAL = 1e-10
"""Stiffness below this share of the largest counts as none."""

UNCOMPILED = 300
"""Steps of relaxation where forces are evaluated without machine code, about as long as 4000 with it."""

DIFFERENCE = 1e-5
"""Moves by which forces are differenced [rad, or sizes of the mechanism]: rounding and curvature are 1e-10 then."""

TIGHT, ENOUGH = 1e-11, 1e-8
"""Forces below these shares of the mechanism's own forces: the aim, and what is accepted."""


class NoEquilibrium(BellcrankError, ArithmeticError):
    """No configuration was found in which all forces balance. `state` is the best one met."""

    def __init__(self, message: str, state: State) -> None:
        super().__init__(message)
        self.state = state


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A configuration in which the mechanism stays.

    state: time, positions and speeds. residual: largest force left along a freedom, over the mechanism's own
    forces (weight times size). iterations: Newton steps. relaxed: whether dynamic relaxation was
    needed. result: one output; ``equilibrium["guide.force.y"]`` reads any quantity from it. held: the forces that hold
    coordinates where they were asked to stay [N, N m].
    """

    state: State
    residual: float
    iterations: int
    relaxed: bool
    result: Result
    held: Mapping[str, float] = field(default_factory=dict)
    stiff: bool | None = None
    """Whether every move that held coordinates leave meets resistance; None where nothing is held."""

    def __getitem__(self, name: str) -> Any:
        """A quantity by name: a float, or an array where it has components."""
        found: Series = self.result[name]
        values = found.to_numpy()[0]
        return float(values) if np.ndim(values) == 0 else values

    @cached_property
    def linear(self) -> Linear:
        """Small motions about it."""
        if self.held:
            raise ModelError(
                f"the equilibrium of {self.result.mechanism.system.name!r} is held along {', '.join(self.held)}; small "
                "motions about it are those of a mechanism whose held coordinates have drivers or are fixed"
            )
        return linearize(self.result.mechanism, self.state)

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """Of the small motions [1/s], those of neutral directions included."""
        return self.linear.eigenvalues

    @property
    def neutral(self) -> tuple[str, ...]:
        """Moves that meet no resistance: coordinates in which the mechanism may stand anywhere."""
        return () if self.held else self.linear.neutral

    @property
    def stable(self) -> bool | None:
        """Whether small disturbances stay small, neutral moves left out; None where all moves are neutral.

        With held coordinates, whether all others meet resistance.
        """
        return self.stiff if self.held else self.linear.stable

    def __repr__(self) -> str:
        word = {True: "stable", False: "unstable", None: "neutral"}[self.stable]
        free = f", neutral: {', '.join(self.neutral)}" if self.neutral and self.stable is not None else ""
        name = self.result.mechanism.system.name
        return f"<Equilibrium of {name!r}: {word}, residual {self.residual:.1e}{free}>"


def equilibrium(
    system: System | Mechanism,
    *,
    t: float | None = None,
    drivers: str = "frozen",
    nearest: bool = False,
    initial: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    start: State | Equilibrium | None = None,
    hold: Sequence[str] = (),
    iterations: int = 200,
) -> Equilibrium:
    """Where the mechanism stays at rest, on its contacts as well.

    t: time at which forces and drivers are taken (default: that of the start). drivers: "frozen" at their values,
    or "moving": the steady state in which the freedoms rest while drivers keep their speeds, such as the balls of a
    governor on its turning spindle. nearest: take the nearest equilibrium even if unstable; by default the search
    goes downhill. initial, parameters, start: as for a run; the search begins there. hold: coordinates that stay
    where they are, ``"joint"``, ``"joint.angle"``, ``"flight.x"``, such as the place of a car on an uneven road.
    iterations: Newton steps at most. First-order states come to rest too, but for the deflections of tyres and
    bristles, which stay.
    """
    from bellcrank.run.simulation import prepared

    if drivers not in ("frozen", "moving"):
        raise ModelError(f"drivers are 'frozen' or 'moving', not {drivers!r}")
    mechanism = prepared(system, "auto", initial, parameters, start)
    mechanism = at_time(mechanism, mechanism.start.t if t is None else t, still=drivers == "frozen")
    kept = holds(mechanism, hold)
    search = _Search(mechanism, nearest, kept)
    contacts = contacts_of(mechanism, "equilibrium")
    if contacts is not None:
        return _on_contacts(mechanism, contacts, search, iterations)
    q, search, slow = _sought(search, iterations)
    q = search.headings_kept(q)
    residual = search.residual(q)
    if residual > ENOUGH:
        raise search.failure(q)
    return _found(search, q, residual, slow)


def _sought(search: _Search, iterations: int) -> tuple[Array, _Search, bool]:
    """Where a search ends, the search that got there, and whether it needed relaxation."""
    start = search.mechanism.start.q
    q, done = search.newton(start, iterations)
    slow = not done
    if slow and len(search.statics.units):
        q = relaxed(search.statics, q, search.scale(q), 4000 if search.statics.plain else UNCOMPILED)
        q, done = search.newton(q, iterations)
    if not done and not search.nearest and search.touch is None:
        # Forces without a potential know no downhill; what Newton's method finds is an equilibrium still.
        search = search.again()
        q, done = search.newton(start, iterations)
    states = search.statics.states
    if states is not None and states.left(search.statics.rested(q))[0] > ENOUGH:
        q = search.with_states(search.statics.rested(q))
    return search.statics.rested(q), search, slow


def _on_contacts(mechanism: Mechanism, contacts: Contacts, plain: _Search, iterations: int) -> Equilibrium:
    """An equilibrium in which contacts may press, stick and roll."""
    scale = plain.scale(mechanism.start.q)
    rubs = any(pair.contact.rubs for pair in contacts.pairs)
    failure: NoEquilibrium | None = None
    for rolls in (True, False) if rubs else (False,):
        search = _Search(mechanism, plain.nearest, plain.statics.hold, Touch(contacts, scale, rolls))
        touch = search.touch
        assert touch is not None
        q, slow = search.statics.rested(mechanism.start.q), False
        residual, forces, _ = touch.borne(search.statics, q)
        if residual > ENOUGH:
            found, search, slow = _sought(search, iterations)
            closed = touch.closed(search.statics, search.headings_kept(found))
            if closed is None:
                failure = failure or search.failure(found)
                continue
            q = closed
            residual, forces, worst = touch.borne(search.statics, q)
            if residual > ENOUGH:
                left = search.failure(q, f"; contact {worst!r} would slip there" if rolls else "")
                failure = failure or left
                continue
        return _found(search, q, residual, slow, forces)
    assert failure is not None
    raise failure


def at_time(mechanism: Mechanism, t: float, still: bool) -> Mechanism:
    """The mechanism at another time, with its drivers frozen there if asked, loops closed, at rest."""
    from bellcrank.mechanism import State
    from bellcrank.mechanism.assembly import close_positions, close_speeds

    moved = frozen(mechanism, t) if still else mechanism
    loops = moved.loop_state()
    name = mechanism.system.name
    q = close_positions(
        loops, mechanism.start.q, (), t, lambda rows: f"{name!r} cannot be assembled at t = {t:g} s"
    )
    # Speeds follow from the drivers once the freedoms rest; their values here only seed the partition.
    u = close_speeds(loops, loops.rows(q, t), np.zeros(mechanism.linkage.speeds), (), lambda left: name)
    return replace(moved, start=State(t, q, u), initial=None).with_programs_of(mechanism)


class _Search:
    """A search in progress."""

    def __init__(
        self, mechanism: Mechanism, nearest: bool, hold: Sequence[Hold] = (), touch: Touch | None = None
    ) -> None:
        self.mechanism, self.nearest, self.touch = mechanism, nearest, touch
        self.statics = Statics(mechanism, mechanism.start.t, hold, touch)
        self.steps = 0
        self._scale = self.statics.weight * self.statics.length if touch is None else touch.scale

    def again(self) -> _Search:
        """The same search for the nearest equilibrium, stable or not."""
        return _Search(self.mechanism, True, self.statics.hold, self.touch)

    def with_states(self, q: Array) -> Array:
        """Newton's method on forces and rates of states together, for states that do not rest by themselves.

        An integrator, for one, rests only where what it integrates is zero.
        """
        statics, states = self.statics, self.statics.states
        assert states is not None
        n, places = len(statics.units), states.places
        scale = self.scale(q)
        for _ in range(60):
            own = np.zeros((len(q), len(places)))
            own[places, range(len(places))] = 1.0
            dq = np.hstack([statics.tangents(q), own])
            Q, by = statics.along(q, dq)
            r, rates = states.rates(q, dq)
            sizes = np.abs(rates).max(axis=1, initial=1e-300)
            P = statics.projection(q)
            left = np.concatenate([P @ Q / scale, r / sizes])
            if np.abs(left).max() <= TIGHT:
                break
            K = np.vstack([P @ by / scale, rates / sizes[:, None]])
            K[:, :n] = K[:, :n] @ P
            step = np.linalg.lstsq(K, -left, rcond=1e-12)[0]
            share = min(1.0, LONGEST_MOVE / max(float(np.abs(step[:n]).max(initial=0.0)), 1e-300))
            moved = statics.moved(q, share * step[:n])
            if moved is None:
                break
            q = moved
            q[places] += share * step[n:]
            self.steps += 1
        return q

    def scale(self, q: Array) -> float:
        """The size of the forces at work [N m], by which balance is judged."""
        if not self._scale:
            Q, J = self.statics.stiffness(q)
            self._scale = max(
                float(np.abs(Q).max(initial=0.0)), 0.01 * float(np.abs(J).max(initial=0.0)), 1e-30
            )
        return self._scale

    def residual(self, q: Array) -> float:
        """Largest force left, over the scale, or rate of a state."""
        force = float(np.abs(self.statics.forces(q)).max(initial=0.0)) / self.scale(q)
        states = self.statics.states
        return force if states is None else max(force, states.left(q)[0])

    def newton(self, q: Array, iterations: int) -> tuple[Array, bool]:
        """Iterate; the configuration reached and whether it is one of equilibrium."""
        Q, J = self.statics.stiffness(q)
        scale = self.scale(q)
        for _ in range(iterations):
            size = np.abs(Q).max(initial=0.0)
            if size <= TIGHT * scale:
                return self._polished(q, Q, J), True
            new = self._step(q, Q, J)
            if new is None:
                return q, bool(size <= ENOUGH * scale)
            self.steps += 1
            q = new
            if not self.statics.conditioned(q):
                self.statics.turn_to(q)
            Q, J = self.statics.stiffness(q)
        return q, False

    def _polished(self, q: Array, Q: Array, J: Array) -> Array:
        """Newton steps as long as they help: quadratic convergence makes the last digits cheap."""
        for _ in range(3):
            trial = self.statics.moved(q, _least_step(Q, J, self.scale(q)))
            if trial is None:
                break
            Q_new, J_new = self.statics.stiffness(trial)
            if np.abs(Q_new).max(initial=0.0) > 0.5 * np.abs(Q).max(initial=0.0):
                break
            q, Q, J = trial, Q_new, J_new
        return q

    def _step(self, q: Array, Q: Array, J: Array) -> Array | None:
        W = self._basis(Q, J)
        w, V = np.linalg.eigh(-0.5 * W.T @ (J + J.T) @ W)
        downhill = bool((w >= -NEUTRAL * np.abs(w).max(initial=0.0)).all())
        if downhill or self.nearest:
            new = self._newton_step(q, Q, J)
            if new is not None:
                return new
        return self._downhill_step(q, Q, w, W @ V)

    def _basis(self, Q: Array, J: Array) -> Array:
        """The directions to move in: those with stiffness, and that of a force which meets none."""
        _, s, Vt = np.linalg.svd(J)
        stiff = s > NEUTRAL * s.max(initial=0.0)
        idle = Vt[~stiff].T @ (Vt[~stiff] @ Q)
        size = float(np.linalg.norm(idle))
        lost = [idle[:, None] / size] if size > ENOUGH * self._scale else []
        return np.hstack([Vt[stiff].T, *lost])

    def _newton_step(self, q: Array, Q: Array, J: Array) -> Array | None:
        """The plain step if it is short and cuts the residual, as it does near the end."""
        z = _least_step(Q, J, self.scale(q))
        largest = float(np.abs(z).max(initial=0.0))
        if largest == 0.0:
            return None
        share = min(1.0, LONGEST_MOVE / largest)
        for _ in range(8 if self.nearest else 1):
            trial = self.statics.moved(q, share * z)
            if trial is not None:
                left = np.linalg.norm(self.statics.forces(trial))
                if left < (1.0 - 0.3 * share) * np.linalg.norm(Q):
                    return trial
            share *= 0.5
        return None

    def _downhill_step(self, q: Array, Q: Array, w: Array, V: Array) -> Array | None:
        """Along every principal direction by force over |stiffness|, until the force no longer helps."""
        along = V.T @ Q
        stiff = np.abs(w) > NEUTRAL * np.abs(w).max(initial=0.0)
        # A force that meets no stiffness, such as weight above the ground, is followed as far as a step goes.
        lost = ~stiff & (np.abs(along) > ENOUGH * self.scale(q))
        z = np.zeros_like(along)
        z[stiff] = along[stiff] / np.abs(w[stiff])
        z[lost] = np.sign(along[lost]) * LONGEST_MOVE
        z = V @ np.clip(z, -LONGEST_MOVE, LONGEST_MOVE)
        power = float(Q @ z)
        if not power > 0.0:
            return None
        share = min(1.0, LONGEST_MOVE / float(np.abs(z).max()))
        for _ in range(25):
            trial = self.statics.moved(q, share * z)
            if trial is not None:
                after = float(self.statics.forces(trial) @ z)
                if after >= -0.5 * power:
                    return trial
            share *= 0.5
        return None

    def headings_kept(self, q: Array) -> Array:
        """Free bodies that may face anywhere turned back about the vertical to where they faced at the start.

        Steps of least length keep the rotation vector, not the heading, from wandering: the two differ by
        products of roll and pitch.
        """
        m = self.mechanism
        named = m.loop_state().parameters
        down = np.array([value(g, named) for g in m.linkage.gravity])
        if not down.any():
            return q
        up = -down / np.linalg.norm(down)
        place = {i: n for n, i in enumerate(self.statics.partition.independent)}
        for link in m.linkage.links:
            turns = [place.get(link.u + k) for k in range(3)]
            if not link.kind.floats or link.parent != GROUND or None in turns:
                continue
            for _ in range(2):
                here, there = (_rotation(a[link.q + 3 : link.q + 7]) for a in (q, m.start.q))
                z = np.zeros(len(place))
                z[turns] = here.T @ up  # type: ignore[index]
                _, J = self.statics.stiffness(q)
                if np.abs(J @ z).max() > NEUTRAL * np.abs(J).max():
                    break
                trial = self.statics.moved(q, -_heading(up, there, here) * z)
                q = q if trial is None else trial
        return q

    def failure(self, q: Array, why: str = "") -> NoEquilibrium:
        """Which force is left, in the user's words."""
        from bellcrank.mechanism import State

        statics = self.statics
        Q = statics.forces(q) / statics.units
        rate, name = statics.states.left(q) if statics.states is not None else (0.0, "")
        if rate > ENOUGH and np.abs(statics.forces(q)).max(initial=0.0) <= ENOUGH * self.scale(q):
            state = State(statics.t, q, np.zeros(self.mechanism.linkage.speeds))
            return NoEquilibrium(
                f"{self.mechanism.system.name!r} finds no equilibrium: the state {name!r} does not come to rest",
                state,
            )
        k = int(np.argmax(np.abs(Q * statics.units)))
        name = move_names(self.mechanism, statics.partition.independent)[k]
        unit = "N m" if statics.units[k] == 1.0 else "N"
        state = State(statics.t, q, np.zeros(self.mechanism.linkage.speeds))
        return NoEquilibrium(
            f"{self.mechanism.system.name!r} finds no equilibrium: along {name!r} {Q[k]:.3g} {unit} remain "
            f"unbalanced{why}; check that something holds it there (a spring, a stop, the ground), or start "
            "nearer to where it should rest",
            state,
        )


def _rotation(quaternion: Array) -> Array:
    return np.array(from_quaternion(quaternion.tolist()), dtype=float)


def _heading(up: Array, before: Array, after: Array) -> float:
    """The angle about the vertical from where a body faced to where it faces [rad]."""
    level = [R[:, k] - (R[:, k] @ up) * up for k in (0, 1) for R in (before, after)]
    # The axis that lies flatter faces somewhere; the other may point up.
    a, b = level[:2] if np.linalg.norm(level[0]) > 0.7 else level[2:]
    return float(np.arctan2(up @ np.cross(a, b), a @ b))


def _least_step(Q: Array, J: Array, scale: float) -> Array:
    """The shortest z with J z = -Q in the directions that have stiffness."""
    U, s, Vt = np.linalg.svd(J)
    keep = s > NEUTRAL * s.max(initial=0.0)
    step: Array = -Vt[keep].T @ ((U.T[keep] @ Q) / s[keep])
    return step


def _found(
    search: _Search, q: Array, residual: float, slow: bool, forces: Array | None = None
) -> Equilibrium:
    from bellcrank.mechanism import State

    mechanism, steps = search.mechanism, search.steps
    n, p = mechanism.linkage.speeds, np.array(mechanism.parameter_values)
    t = mechanism.start.t
    u, du = _driven_rates(mechanism, q, t)
    q = q.copy()
    state = State(t, q, u)
    rested = replace(mechanism, start=state, initial=None).with_programs_of(mechanism)
    for place, load in start_loads(rested, forces):
        q[place] = load
    report = RunReport("equilibrium", "relaxation" if slow else "newton", "", steps, 0, 0, 0.0)
    result = Result(
        rested, np.array([t]), q[None], u.reshape(1, n), du.reshape(1, n), p.reshape(1, -1), report,
        contact_forces=None if forces is None else forces.reshape(1, -1),
    )  # fmt: skip
    return Equilibrium(state, residual, steps, slow, result, *_held(search, q, forces))


def _held(search: _Search, q: Array, forces: Array | None) -> tuple[dict[str, float], bool | None]:
    """The forces that hold coordinates, and whether all other moves meet resistance."""
    statics = search.statics
    if not statics.hold:
        return {}, None
    Q, _ = statics.unbound(q)
    if search.touch is not None and forces is not None:
        Q = Q + search.touch.along(statics, q, forces)
    rows = statics.held_rows(q)
    needed = -np.linalg.lstsq(rows.T, Q, rcond=1e-9)[0]
    sizes = [1.0 if h.unit == "N m" else statics.length for h in statics.hold]
    return {h.name: float(f / L) for h, f, L in zip(statics.hold, needed, sizes, strict=True)}, _resists(
        search, q
    )


def _resists(search: _Search, q: Array) -> bool:
    """Whether no move that held coordinates leave is downhill; contacts give way a little for it.

    The held directions turn with the configuration, so forces are differenced along them: to h^2, against NEUTRAL.
    """
    statics = search.statics
    if search.touch is not None:
        q, _ = search.newton(q, 50)
    w, V = np.linalg.eigh(statics.projection(q))
    K = []
    for z in V[:, w > 0.5].T:
        ahead, behind = (statics.moved(q, h * z) for h in (DIFFERENCE, -DIFFERENCE))
        if ahead is None or behind is None:
            return False
        K.append(V[:, w > 0.5].T @ (statics.forces(behind) - statics.forces(ahead)) / (2.0 * DIFFERENCE))
    if not K:
        return True
    stiff = np.linalg.eigvalsh(0.5 * (np.array(K) + np.array(K).T))
    return bool((stiff >= -DIFFERENCE * np.abs(stiff).max()).all())


def _driven_rates(mechanism: Mechanism, q: Array, t: float) -> tuple[Array, Array]:
    """All speeds and rates while the freedoms rest: what the drivers impose."""
    from bellcrank.mechanism import State
    from bellcrank.program.evaluate import evaluate

    n = mechanism.linkage.speeds
    if not mechanism.system.drivers:
        return np.zeros(n), np.zeros(n)
    here = replace(mechanism, start=State(t, q, np.zeros(n))).with_programs_of(mechanism)
    traced = here.traced("independent") if here.degrees_of_freedom else here.traced()
    x = np.concatenate([[t], q, np.zeros(len(here.partition.independent)), here.parameter_values])
    values = evaluate(traced.full, x)
    return values[:n], values[n : 2 * n]

"""One contact struck with friction: the impulse grows, slip changes, stops or turns round as it does.

Routh (1860), Darboux (1880), Keller (1986), "Impact with friction", J. Appl. Mech. 53: with the normal impulse
p as time, dv/dp = W (1, -mu v_t/|v_t|) while the contact slips, and dv/dp = W (1, f) with f = -W_tt^-1 W_tn while it
sticks, which lasts when |f| <= mu. Planar slip is piecewise straight and exact; spatial slip turns, and is
integrated until it stops; after a stop its direction is constant (Bhatt and Koechlin, 1995).

The end of the process is the law's: Newton v_n = -e v_n(0); Poisson p = (1 + e) p at greatest compression;
Stronge (1990): the work of restitution is e^2 that of compression.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STOPPED = 1e-12
"""Slip below this share of the first speed counts as stopped."""
TOLERANCE = 1e-11
"""Error a step of turning slip: of the direction [rad], and of speeds relative to the first."""
ALIGNED = 1e-10
"""Slip whose direction turns by less than this share of the largest rate is straight."""
MOST_STEPS = 20000

State: TypeAlias = tuple[float, ...]


class ImpactLaw(Enum):
    """What the coefficient of restitution compares."""

    NEWTON = "newton"
    POISSON = "poisson"
    STRONGE = "stronge"


@dataclass
class _Process:
    """The state of an impact: velocity, impulse, normal work, and what compression left."""

    W: Array
    e: float
    law: ImpactLaw
    v: Array
    start: float
    p: Array
    work: float = 0.0
    compressed: float | None = None
    """Normal impulse at the greatest compression."""
    spent: float = 0.0
    """Work done against compression (negative)."""
    done: bool = False
    events: list[str] = field(default_factory=list)

    def straight(self, f: Array, until: float) -> None:
        """Go on with impulse direction (1, f) until the law is fulfilled, at most by `until` more impulse."""
        direction = np.concatenate([[1.0], f])
        rate = self.W @ direction
        left = until
        while not self.done and left > 0.0:
            self.compress_again(float(rate[0]))
            if self.compressed is None:
                stop = -self.v[0] / rate[0] if rate[0] > 0.0 else math.inf
            else:
                stop = self._to_end(float(rate[0]))
            again = self._to_compression(float(rate[0]))
            step = min(stop, left, again)
            if not math.isfinite(step):
                raise ArithmeticError(
                    "an impact with friction does not end: its matrix W is not positive definite"
                )
            self.work += self.v[0] * step + 0.5 * rate[0] * step * step
            self.v = self.v + step * rate
            self.p = self.p + step * direction
            left -= step
            if step == stop:
                self.turn()
            elif step == again:
                self.v[0] = 0.0

    def compress_again(self, rate: float = 0.0) -> None:
        """Friction may turn the parting round before the energetic law is fulfilled: compression goes on."""
        closing = self.v[0] < 0.0 or (self.v[0] == 0.0 and rate < 0.0)
        if self.law is ImpactLaw.STRONGE and self.compressed is not None and closing:
            self.compressed = None

    def _to_compression(self, rate: float) -> float:
        """More normal impulse until that happens, at constant rate dv_n/dp."""
        parting = self.law is ImpactLaw.STRONGE and self.compressed is not None and rate < 0.0
        return -float(self.v[0]) / rate if parting else math.inf

    def turn(self) -> None:
        """At greatest compression, or at the end."""
        if self.compressed is None:
            self.compressed, self.spent = float(self.p[0]), self.work
            self.v[0] = 0.0
            self.done = self.e == 0.0
        else:
            self.done = True

    def _to_end(self, rate: float) -> float:
        """More normal impulse until the law is fulfilled, at constant rate dv_n/dp."""
        assert self.compressed is not None
        if self.law is ImpactLaw.POISSON:
            return (1.0 + self.e) * self.compressed - float(self.p[0])
        if self.law is ImpactLaw.NEWTON:
            return (-self.e * self.start - float(self.v[0])) / rate if rate > 0.0 else math.inf
        missing = -self.e * self.e * self.spent - (self.work - self.spent)
        root = math.sqrt(max(self.v[0] ** 2 + 2.0 * rate * missing, 0.0))
        return 2.0 * missing / (float(self.v[0]) + root) if missing > 0.0 else 0.0


def single_impact(W: Array, v: Array, e: float, mu: float, law: ImpactLaw) -> tuple[Array, tuple[str, ...]]:
    """The impulse of one contact that approaches with v (normal first), and what the slip did.

    W: 2 by 2 in the plane, 3 by 3 in space, [1/kg]. v: relative velocity before, v[0] < 0 [m/s].
    """
    process = _Process(W, e, law, v.astype(float), float(v[0]), np.zeros(len(v)))
    if mu == 0.0:
        process.straight(np.zeros(len(v) - 1), math.inf)
        return process.p, ()
    slip = float(np.linalg.norm(v[1:]))
    if slip > STOPPED * abs(v[0]):
        if len(v) == 2:
            _planar_slip(process, mu)
        else:
            _spatial_slip(process, mu)
    else:
        process.v[1:] = 0.0
    if not process.done:
        f, event = after_stop(W, mu)
        process.events.append("stick" if event == "stick" else "reversal" if slip > 0.0 else "slip")
        process.straight(f, math.inf)
    return process.p, tuple(process.events)


def after_stop(W: Array, mu: float) -> tuple[Array, str]:
    """The tangential impulse per normal impulse from rest: "stick", or "slip" in the one direction that lasts."""
    tt, tn = W[1:, 1:], W[1:, 0]
    f = np.asarray(-np.linalg.lstsq(tt, tn, rcond=1e-13)[0])
    if np.linalg.norm(f) <= mu:
        return f, "stick"
    # (mu W_tt + lambda I) d = W_tn with |d| = 1 and lambda > 0: the norm falls with lambda.
    values, vectors = np.linalg.eigh(tt)
    parts = vectors.T @ tn

    def excess(growth: float) -> float:
        return float(np.sum((parts / (mu * values + growth)) ** 2)) - 1.0

    low, high = 0.0, float(np.linalg.norm(tn))
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if excess(middle) > 0.0 else (low, middle)
    d = vectors @ (parts / (mu * values + high))
    return np.asarray(d * (-mu / float(np.linalg.norm(d)))), "slip"


def _planar_slip(process: _Process, mu: float) -> None:
    f = np.array([-mu * math.copysign(1.0, process.v[1])])
    rate = float(process.W[1, 0] + process.W[1, 1] * f[0])
    to_stop = -float(process.v[1]) / rate if rate * process.v[1] < 0.0 else math.inf
    process.straight(f, to_stop)
    if not process.done:
        process.v[1] = 0.0


def _spatial_slip(process: _Process, mu: float) -> None:
    """Slip of direction phi and speed exp(sigma), over the stretched time dp = speed ds.

    dphi/ds = k(phi) and dsigma/ds = g(phi), the parts of W_tn - mu W_tt d across and along d = (cos, sin) phi.
    The state is (v_n, phi, sigma, p_n, p_1, p_2, work), integrated by Dormand and Prince's pair of order 5(4).
    """
    (nn, n1, n2), (_, w11, w12), (_, _, w22) = (tuple(float(x) for x in row) for row in process.W)

    def turning(phi: float) -> tuple[float, float, float, float]:
        c, s = math.cos(phi), math.sin(phi)
        a, b = n1 - mu * (w11 * c + w12 * s), n2 - mu * (w12 * c + w22 * s)
        return c, s, b * c - a * s, a * c + b * s

    def rates(y: State) -> State:
        c, s, k, g = turning(y[1])
        speed = math.exp(y[2])
        normal = (nn - mu * (n1 * c + n2 * s)) * speed
        return (normal, k, g, speed, -mu * c * speed, -mu * s * speed, y[0] * speed)

    speed = math.hypot(process.v[1], process.v[2])
    stopped = math.log(STOPPED * (abs(process.start) + speed))
    size = math.hypot(n1, n2) + mu * (w11 + w22) + 1e-300
    phi = math.atan2(process.v[2], process.v[1])
    y: State = (float(process.v[0]), phi, math.log(speed), *process.p.tolist(), process.work)
    h = 0.1 / size
    for _ in range(MOST_STEPS):
        if abs(turning(y[1])[2]) <= ALIGNED * size:
            _straight_slip(process, mu, y[1])
            return
        trial, error = _dormand_prince(rates, y, h, abs(process.start))
        if error > TOLERANCE:
            h *= max(0.2, 0.9 * (error / TOLERANCE) ** -0.2)
            continue
        event = _event(process)
        if event(y) < 0.0 <= event(trial):
            part = _located(lambda t, y=y: _dormand_prince(rates, y, t, 1.0)[0], h, event)  # type: ignore[misc]
            y = _dormand_prince(rates, y, part, 1.0)[0]
            _take(process, y)
            process.turn()
            y = (float(process.v[0]), *y[1:])
        else:
            y = trial
            _take(process, y)
            process.compress_again()
            h *= min(4.0, 0.9 * max(error / TOLERANCE, 1e-4) ** -0.2)
        if process.done:
            return
        if y[2] <= stopped:
            process.v[1:] = 0.0
            return
    raise ArithmeticError("an impact with friction does not end: its matrix W is not positive definite")


def _straight_slip(process: _Process, mu: float, phi: float) -> None:
    """Slip that no longer turns goes straight on, to its stop or to the end of the impact."""
    d = np.array([math.cos(phi), math.sin(phi)])
    growth = float(d @ (process.W[1:, 0] - mu * process.W[1:, 1:] @ d))
    speed = float(np.linalg.norm(process.v[1:]))
    process.straight(-mu * d, speed / -growth if growth < 0.0 else math.inf)
    if not process.done:
        process.v[1:] = 0.0


def _take(process: _Process, y: State) -> None:
    speed = math.exp(y[2])
    process.v = np.array([y[0], speed * math.cos(y[1]), speed * math.sin(y[1])])
    process.p, process.work = np.array(y[3:6]), y[6]


def _event(process: _Process) -> Callable[[State], float]:
    """Grows through zero at greatest compression, then at the end."""
    if process.compressed is None:
        return lambda y: y[0]
    e, end, start, spent = process.e, (1.0 + process.e) * process.compressed, process.start, process.spent
    if process.law is ImpactLaw.POISSON:
        return lambda y: y[3] - end
    if process.law is ImpactLaw.NEWTON:
        return lambda y: y[0] + e * start
    return lambda y: y[6] - spent + e * e * spent


def _located(step: Callable[[float], State], h: float, event: Callable[[State], float]) -> float:
    """The part of the step h at which the event happens (Illinois)."""
    low, high = 0.0, h
    at_low, at_high = event(step(0.0)), event(step(h))
    side = 0
    for _ in range(60):
        if high - low <= 1e-15 * h or at_high == 0.0:
            break
        middle = low + (high - low) * at_low / (at_low - at_high)
        at = event(step(middle))
        if at < 0.0:
            low, at_low = middle, at
            at_high = 0.5 * at_high if side == -1 else at_high
            side = -1
        else:
            high, at_high = middle, at
            at_low = 0.5 * at_low if side == 1 else at_low
            side = 1
    return high


_A = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_ERROR = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)


def _dormand_prince(rates: Callable[[State], State], y: State, h: float, size: float) -> tuple[State, float]:
    """One step, and the estimate of its error in v_n over `size`, phi and sigma."""
    k = [rates(y)]
    new = y
    for row in _A:
        new = tuple(
            y[i] + h * sum(a * slope[i] for a, slope in zip(row, k, strict=True)) for i in range(len(y))
        )
        k.append(rates(new))
    errors = [abs(h * sum(c * slope[i] for c, slope in zip(_ERROR, k, strict=True))) for i in range(3)]
    return new, max(errors[0] / size, errors[1], errors[2])

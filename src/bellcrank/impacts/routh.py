"""One contact struck with friction: the impulse grows, slip changes, stops or turns round as it does.

Routh (1860), Darboux (1880), Keller (1986), "Impact with friction", J. Appl. Mech. 53: with the normal impulse
p as time, dv/dp = W (1, -mu v_t/|v_t|) while the contact slips, and dv/dp = W (1, f) with f = -W_tt^-1 W_tn while it
sticks, which lasts when |f| <= mu. Planar slip is piecewise straight and exact; spatial slip turns, and is
integrated until it stops; after a stop its direction is constant (Bhatt and Koechlin, 1995).

The end of the process is the law's: Newton v_n = -e v_n(0); Poisson p = (1 + e) p at greatest compression;
Stronge (1990): the work of restitution is e^2 that of compression.

Compiled. In the plane the second tangent has no mobility, without friction neither has.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.program.loops import Ints, Reals, Reals2, compiled, entry, reals

Array = NDArray[np.float64]

STOPPED = 1e-12
"""Slip below this share of the first speed counts as stopped."""
TOLERANCE = 1e-11
"""Error a step of turning slip: of the direction [rad], and of speeds relative to the first."""
ALIGNED = 1e-10
"""Slip whose direction turns by less than this share of the largest rate is straight."""
MOST_STEPS = 20000
SINGULAR = 1e-13
"""Below this share of its terms a sum of mobilities is rounding: the determinant along the tangents over their trace
squared, where one of them is locked, and the rate of the normal velocity."""
ENDLESS = 1e300

RESTITUTION, FRICTION, START, WORK, COMPRESSED, SPENT, NUMBERS = range(7)
"""Of an impact: e, mu, normal velocity at its start [m/s], normal work [J], normal impulse at the greatest compression
[N s], and work done against compression, negative [J]."""
LAW, ROWS, PARTING, DONE, SLIPPED, FLAGS = range(6)
"""The law; rows of W that count; whether compression is over, and the impact; what the slip did."""
NEWTON, POISSON, STRONGE = range(3)
NOTHING, STICK, REVERSAL, SLIP = range(4)
EVENTS = ((), ("stick",), ("reversal",), ("slip",))


class ImpactLaw(Enum):
    """What the coefficient of restitution compares."""

    NEWTON = "newton"
    POISSON = "poisson"
    STRONGE = "stronge"

    @property
    def number(self) -> int:
        """In compiled code."""
        return {"newton": NEWTON, "poisson": POISSON, "stronge": STRONGE}[self.value]


class Process(NamedTuple):
    """The state of an impact: W, velocity v, impulse p, and what is listed above."""

    W: Reals2
    v: Reals
    p: Reals
    numbers: Reals
    flags: Ints


def room() -> Process:
    """For one impact."""
    return Process(np.zeros((3, 3)), np.zeros(3), np.zeros(3), np.zeros(NUMBERS), np.zeros(FLAGS, np.int64))


def single_impact(W: Array, v: Array, e: float, mu: float, law: ImpactLaw) -> tuple[Array, tuple[str, ...]]:
    """The impulse of one contact that approaches with v (normal first), and what the slip did.

    W: 2 by 2 in the plane, 3 by 3 in space, [1/kg]. v: relative velocity before, v[0] < 0 [m/s].
    """
    g, n = room(), len(v)
    g.W[:n, :n], g.v[:n] = W, v
    g.numbers[RESTITUTION], g.numbers[FRICTION] = e, mu
    g.flags[LAW], g.flags[ROWS] = law.number, n
    if not strike_one(g):
        raise ArithmeticError("an impact with friction does not end: its matrix W is not positive definite")
    return g.p[:n], EVENTS[g.flags[SLIPPED]]


@entry
def strike_one(g: Process) -> int:
    """Carry an impact through from its velocity; 0 where it does not end."""
    done = 0
    if carry_through(g):
        done = 1
    return done


@compiled
def carry_through(g: Process) -> bool:
    """From v to the end of the impact; False where there is none."""
    mu = g.numbers[FRICTION]
    g.numbers[START], g.numbers[WORK] = g.v[0], 0.0
    g.flags[PARTING], g.flags[DONE], g.flags[SLIPPED] = 0, 0, NOTHING
    for k in range(3):
        g.p[k] = 0.0
    if mu == 0.0:
        return straight(g, 0.0, 0.0, ENDLESS)
    slip = math.sqrt(g.v[1] * g.v[1] + g.v[2] * g.v[2])
    if slip > STOPPED * abs(g.v[0]):
        ends = True
        if g.flags[ROWS] == 2:
            ends = planar_slip(g)
        else:
            ends = spatial_slip(g)
        if not ends:
            return False
    else:
        g.v[1], g.v[2] = 0.0, 0.0
    if g.flags[DONE] == 1:
        return True
    x, y, sticks = after_stop(g.W, mu)
    g.flags[SLIPPED] = SLIP
    if sticks:
        g.flags[SLIPPED] = STICK
    elif slip > 0.0:
        g.flags[SLIPPED] = REVERSAL
    return straight(g, x, y, ENDLESS)


@compiled
def straight(g: Process, x: float, y: float, until: float) -> bool:
    """Go on with impulse direction (1, x, y) until the law is fulfilled, at most by `until` more impulse."""
    W, v, p, numbers, flags = g
    a, b, c = W[0, 0] + W[0, 1] * x + W[0, 2] * y, W[1, 0] + W[1, 1] * x + W[1, 2] * y, 0.0
    c = W[2, 0] + W[2, 1] * x + W[2, 2] * y
    if abs(a) <= SINGULAR * (W[0, 0] + abs(W[0, 1] * x) + abs(W[0, 2] * y)):
        # Rounding of a rate that vanishes would stop the impact after an impulse of any size.
        a = 0.0
    left = until
    while flags[DONE] == 0 and left > 0.0:
        compress_again(g, a)
        stop = ENDLESS
        if flags[PARTING] == 1:
            stop = to_end(g, a)
        elif a > 0.0:
            stop = -v[0] / a
        # Friction may turn the parting round before the energetic law is fulfilled.
        again = ENDLESS
        if flags[LAW] == STRONGE and flags[PARTING] == 1 and a < 0.0:
            again = -v[0] / a
        step = min(min(stop, left), again)
        if not step < 0.1 * ENDLESS:
            return False
        numbers[WORK] += v[0] * step + 0.5 * a * step * step
        v[0] += step * a
        v[1] += step * b
        v[2] += step * c
        p[0] += step
        p[1] += step * x
        p[2] += step * y
        left -= step
        if step == stop:
            turn(g)
        elif step == again:
            v[0] = 0.0
    return True


@compiled
def compress_again(g: Process, rate: float) -> None:
    """Where friction has turned the parting round before the energetic law is fulfilled, compression goes on."""
    closing = g.v[0] < 0.0 or (g.v[0] == 0.0 and rate < 0.0)
    if g.flags[LAW] == STRONGE and g.flags[PARTING] == 1 and closing:
        g.flags[PARTING] = 0


@compiled
def turn(g: Process) -> None:
    """At greatest compression, or at the end."""
    if g.flags[PARTING] == 0:
        g.flags[PARTING] = 1
        g.numbers[COMPRESSED], g.numbers[SPENT] = g.p[0], g.numbers[WORK]
        g.v[0] = 0.0
        if g.numbers[RESTITUTION] == 0.0:
            g.flags[DONE] = 1
    else:
        g.flags[DONE] = 1


@compiled
def to_end(g: Process, rate: float) -> float:
    """More normal impulse until the law is fulfilled, at constant rate dv_n/dp."""
    e = g.numbers[RESTITUTION]
    found = ENDLESS
    if g.flags[LAW] == POISSON:
        found = (1.0 + e) * g.numbers[COMPRESSED] - g.p[0]
    elif g.flags[LAW] == NEWTON:
        if rate > 0.0:
            found = (-e * g.numbers[START] - g.v[0]) / rate
    else:
        missing = -e * e * g.numbers[SPENT] - (g.numbers[WORK] - g.numbers[SPENT])
        root = math.sqrt(max(g.v[0] * g.v[0] + 2.0 * rate * missing, 0.0))
        found = 0.0
        if missing > 0.0:
            found = 2.0 * missing / (g.v[0] + root)
    return found


@compiled
def after_stop(W: Reals2, mu: float) -> tuple[float, float, bool]:
    """The tangential impulse per normal impulse from rest, and whether it sticks; else slip lasts in one way alone."""
    a, b, d, x, y = W[1, 1], W[1, 2], W[2, 2], W[1, 0], W[2, 0]
    trace, det = a + d, a * d - b * b
    p, q = 0.0, 0.0
    if det > SINGULAR * trace * trace:
        p, q = -(d * x - b * y) / det, -(a * y - b * x) / det
    elif trace > 0.0:
        # One tangent is locked, or there is but one: the least solution.
        p, q = -(a * x + b * y) / (trace * trace), -(b * x + d * y) / (trace * trace)
    if math.sqrt(p * p + q * q) <= mu:
        return p, q, True
    # (mu W_tt + lambda I) d = W_tn with |d| = 1 and lambda > 0: the norm falls with lambda.
    low, high = 0.0, math.sqrt(x * x + y * y)
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            break
        s, t, c = mu * a + middle, mu * d + middle, mu * b
        size = s * t - c * c
        p, q = (t * x - c * y) / size, (s * y - c * x) / size
        if p * p + q * q > 1.0:
            low = middle
        else:
            high = middle
    s, t, c = mu * a + high, mu * d + high, mu * b
    p, q = t * x - c * y, s * y - c * x
    size = math.sqrt(p * p + q * q)
    return -mu * p / size, -mu * q / size, False


@compiled
def planar_slip(g: Process) -> bool:
    """Slip in the plane, to its stop or to the end of the impact."""
    x = -g.numbers[FRICTION]
    if g.v[1] < 0.0:
        x = -x
    rate = g.W[1, 0] + g.W[1, 1] * x
    stop = ENDLESS
    if rate * g.v[1] < 0.0:
        stop = -g.v[1] / rate
    if not straight(g, x, 0.0, stop):
        return False
    if g.flags[DONE] == 0:
        g.v[1] = 0.0
    return True


@compiled
def slip_rates(W: Reals2, mu: float, y: Reals, out: Reals) -> float:
    """Rates of (v_n, phi, sigma, p_n, p_1, p_2, work) over the stretched time; returns that of phi."""
    c, s = math.cos(y[1]), math.sin(y[1])
    a, b = W[1, 0] - mu * (W[1, 1] * c + W[1, 2] * s), W[2, 0] - mu * (W[1, 2] * c + W[2, 2] * s)
    speed = math.exp(y[2])
    turning: float = b * c - a * s
    out[0] = (W[0, 0] - mu * (W[1, 0] * c + W[2, 0] * s)) * speed
    out[1] = turning
    out[2] = a * c + b * s
    out[3] = speed
    out[4] = -mu * c * speed
    out[5] = -mu * s * speed
    out[6] = y[0] * speed
    return turning


@compiled
def slip_step(W: Reals2, mu: float, y: Reals, h: float, size: float, new: Reals) -> float:
    """One step of turning slip, and the estimate of its error in v_n over `size`, phi and sigma.

    The pair of order 5(4) of Dormand and Prince (1980).
    """
    a, b, c, d, e, f, g = reals(7), reals(7), reals(7), reals(7), reals(7), reals(7), reals(7)
    slip_rates(W, mu, y, a)
    for i in range(7):
        new[i] = y[i] + h * (1 / 5 * a[i])
    slip_rates(W, mu, new, b)
    for i in range(7):
        new[i] = y[i] + h * (3 / 40 * a[i] + 9 / 40 * b[i])
    slip_rates(W, mu, new, c)
    for i in range(7):
        new[i] = y[i] + h * (44 / 45 * a[i] - 56 / 15 * b[i] + 32 / 9 * c[i])
    slip_rates(W, mu, new, d)
    for i in range(7):
        more = 19372 / 6561 * a[i] - 25360 / 2187 * b[i] + 64448 / 6561 * c[i] - 212 / 729 * d[i]
        new[i] = y[i] + h * more
    slip_rates(W, mu, new, e)
    for i in range(7):
        more = (
            9017 / 3168 * a[i] - 355 / 33 * b[i] + 46732 / 5247 * c[i] + 49 / 176 * d[i] - 5103 / 18656 * e[i]
        )
        new[i] = y[i] + h * more
    slip_rates(W, mu, new, f)
    for i in range(7):
        more = 35 / 384 * a[i] + 500 / 1113 * c[i] + 125 / 192 * d[i] - 2187 / 6784 * e[i] + 11 / 84 * f[i]
        new[i] = y[i] + h * more
    slip_rates(W, mu, new, g)
    worst = 0.0
    for i in range(3):
        left = 71 / 57600 * a[i] - 71 / 16695 * c[i] + 71 / 1920 * d[i] - 17253 / 339200 * e[i]
        error = abs(h * (left + 22 / 525 * f[i] - 1 / 40 * g[i]))
        if i == 0:
            error /= size
        worst = max(worst, error)
    return worst


@compiled
def event(g: Process, y: Reals) -> float:
    """Grows through zero at greatest compression, then at the end."""
    e = g.numbers[RESTITUTION]
    found: float = y[0]
    if g.flags[PARTING] == 1:
        if g.flags[LAW] == POISSON:
            found = y[3] - (1.0 + e) * g.numbers[COMPRESSED]
        elif g.flags[LAW] == NEWTON:
            found = y[0] + e * g.numbers[START]
        else:
            found = y[6] - g.numbers[SPENT] + e * e * g.numbers[SPENT]
    return found


@compiled
def located(g: Process, y: Reals, h: float, new: Reals) -> None:
    """The state within the step at which the event happens (Illinois)."""
    mu = g.numbers[FRICTION]
    low, high = 0.0, h
    at_low = event(g, y)
    slip_step(g.W, mu, y, h, 1.0, new)
    at_high = event(g, new)
    side = 0
    for _ in range(60):
        if high - low <= 1e-15 * h or at_high == 0.0:
            break
        middle = low + (high - low) * at_low / (at_low - at_high)
        slip_step(g.W, mu, y, middle, 1.0, new)
        at = event(g, new)
        if at < 0.0:
            low, at_low = middle, at
            if side == -1:
                at_high *= 0.5
            side = -1
        else:
            high, at_high = middle, at
            if side == 1:
                at_low *= 0.5
            side = 1
    slip_step(g.W, mu, y, high, 1.0, new)


@compiled
def take(g: Process, y: Reals) -> None:
    """The state of turning slip as that of the impact."""
    speed = math.exp(y[2])
    g.v[0], g.v[1], g.v[2] = y[0], speed * math.cos(y[1]), speed * math.sin(y[1])
    g.p[0], g.p[1], g.p[2] = y[3], y[4], y[5]
    g.numbers[WORK] = y[6]


@compiled
def spatial_slip(g: Process) -> bool:
    """Slip of direction phi and speed exp(sigma), over the stretched time dp = speed ds.

    dphi/ds = k(phi) and dsigma/ds = g(phi), the parts of W_tn - mu W_tt d across and along d = (cos, sin) phi.
    """
    W, mu = g.W, g.numbers[FRICTION]
    y, new, out = reals(7), reals(7), reals(7)
    speed = math.sqrt(g.v[1] * g.v[1] + g.v[2] * g.v[2])
    start = abs(g.numbers[START])
    stopped = math.log(STOPPED * (start + speed))
    size = math.sqrt(W[1, 0] * W[1, 0] + W[2, 0] * W[2, 0]) + mu * (W[1, 1] + W[2, 2]) + 1e-300
    y[0], y[1], y[2] = g.v[0], math.atan2(g.v[2], g.v[1]), math.log(speed)
    h = 0.1 / size
    for _ in range(MOST_STEPS):
        if abs(slip_rates(W, mu, y, out)) <= ALIGNED * size:
            return straight_slip(g, y[1])
        error = slip_step(W, mu, y, h, start, new)
        if error > TOLERANCE:
            h *= max(0.2, 0.9 * (error / TOLERANCE) ** -0.2)
            continue
        if event(g, y) < 0.0 and event(g, new) >= 0.0:
            located(g, y, h, new)
            take(g, new)
            turn(g)
            new[0] = g.v[0]
        else:
            take(g, new)
            compress_again(g, 0.0)
            h *= min(4.0, 0.9 * max(error / TOLERANCE, 1e-4) ** -0.2)
        for i in range(7):
            y[i] = new[i]
        if g.flags[DONE] == 1:
            return True
        if y[2] <= stopped:
            g.v[1], g.v[2] = 0.0, 0.0
            return True
    return False


@compiled
def straight_slip(g: Process, phi: float) -> bool:
    """Slip that no longer turns goes straight on, to its stop or to the end of the impact."""
    W, mu = g.W, g.numbers[FRICTION]
    c, s = math.cos(phi), math.sin(phi)
    a, b = W[1, 0] - mu * (W[1, 1] * c + W[1, 2] * s), W[2, 0] - mu * (W[1, 2] * c + W[2, 2] * s)
    growth = a * c + b * s
    stop = ENDLESS
    if growth < 0.0:
        stop = math.sqrt(g.v[1] * g.v[1] + g.v[2] * g.v[2]) / -growth
    if not straight(g, -mu * c, -mu * s, stop):
        return False
    if g.flags[DONE] == 0:
        g.v[1], g.v[2] = 0.0, 0.0
    return True

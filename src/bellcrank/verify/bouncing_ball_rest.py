"""Bouncing ball that comes to rest: infinitely many impacts in finite time, then lasting contact.

e = 0.8 from 1 m, radius 0.2 m: with t0 = sqrt(2 h / g) the bounces end at t0 (1 + e) / (1 - e), and the ball stays.

Source: closed form (geometric series of the flights).
"""

from __future__ import annotations

import math

import numpy as np

from bellcrank.verify.ball_on_ground import GRAVITY, HEIGHT, RADIUS, run
from bellcrank.verify.cases import Quantity, Within

RESTITUTION = 0.8


def quantities() -> list[Quantity]:
    """When the ball rests, that it stays, and where its energy went."""
    result = run(RESTITUTION, 10.0)
    first = math.sqrt(2.0 * (HEIGHT - RADIUS) / GRAVITY)
    end = first * (1.0 + RESTITUTION) / (1.0 - RESTITUTION)
    rests = [change for change in result.contact_changes if change.what == "rest"]
    still = result.time > end + 1e-3
    away = float(np.abs(result["ball.position.y"][still] - RADIUS).max())
    force = float(np.abs(result["bounce.normal_force"][still] - GRAVITY).max())
    lost = GRAVITY * (HEIGHT - RADIUS)
    moving = float(np.abs(result["ball.velocity.y"][still]).max())
    at_most = Within.AT_MOST
    return [
        Quantity("rest_time", rests[0].time, end, 1e-9, "s", Within.RELATIVE),
        Quantity("rests", len(result.contact_changes), 1, 0.0),
        Quantity("distance_after", away, 1e-12, 0.0, "m", at_most),
        Quantity("speed_after", moving, 1e-12, 0.0, "m/s", at_most),
        Quantity("force_error_after", force, 1e-10, 0.0, "N", at_most),
        Quantity("energy_lost", result.impacts.energy_lost, lost, 1e-9, "J", Within.RELATIVE),
        Quantity("ledger_residual", result.ledger.relative_residual, 1e-9, 0.0, "relative", at_most),
    ]

"""Time integration: Newmark's method and generalised-alpha, as one set of coefficients.

Source: Newmark (1959); Chung and Hulbert (1993). alpha and delta are the letters of Lee (1995), (2) to (4), for
what is elsewhere beta and gamma.
"""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.errors import ModelError


@dataclass(frozen=True)
class Scheme:
    """Coefficients of a step.

    The equation of motion holds at t + (1 - inertia_shift) dt for accelerations and t + (1 - force_shift) dt for
    everything else.
    """

    alpha: float = 0.25
    delta: float = 0.5
    inertia_shift: float = 0.0
    force_shift: float = 0.0

    def __post_init__(self) -> None:
        if self.alpha <= 0.0 or self.delta < 0.5:
            raise ModelError(
                f"alpha {self.alpha} and delta {self.delta} give no stable implicit scheme; the standard is 0.25, 0.5"
            )


def newmark(alpha: float = 0.25, delta: float = 0.5) -> Scheme:
    """Newmark's method; the default parameters give constant average acceleration."""
    return Scheme(alpha, delta)


def generalised_alpha(spectral_radius: float = 0.8) -> Scheme:
    """Generalised-alpha. spectral_radius: what a step leaves of the highest frequencies, 0 to 1."""
    r = spectral_radius
    if not 0.0 <= r <= 1.0:
        raise ModelError(f"the spectral radius must be 0 to 1, not {r}")
    inertia, force = (2.0 * r - 1.0) / (r + 1.0), r / (r + 1.0)
    return Scheme(0.25 * (1.0 - inertia + force) ** 2, 0.5 - inertia + force, inertia, force)

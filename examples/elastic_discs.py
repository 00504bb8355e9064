"""Two rubber discs collide off centre, with friction: both leave spinning. Writes a film.

    python examples/elastic_discs.py [film.html]

A name that ends in .gif gives a film for slides.

Ends with what is left of the momentum and the angular momentum: both are kept, whatever the contact does.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from bellcrank import elastic

RUBBER = elastic.Material(young=500.0, poisson=0.3, density=1.0)


def discs() -> elastic.ElasticResult:
    """The upper disc comes down beside the centre of the lower one, which is at rest."""
    upper = elastic.disc(
        1.0, RUBBER, divisions=10, grading=3.0, centre=(0.25, 2.0), velocity=(0.0, -1.0), name="upper"
    )
    lower = elastic.disc(1.0, RUBBER, divisions=8, name="lower")
    return elastic.simulate([upper, lower], elastic.Contact(upper, lower, friction=0.3), 0.7, 0.004)


def spin(run: elastic.ElasticResult, name: str) -> float:
    """Angular velocity of a disc at the end [rad/s]."""
    body = next(body for body in run.bodies if body.name == name)
    m = body.node_masses
    x, v = body.nodes - m @ body.nodes / m.sum(), run.velocity(-1, name)
    moment = float((m * (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0])).sum())
    return moment / float((m * (x**2).sum(axis=1)).sum())


def main(film: Path | None = None) -> float:
    """Returns the relative change of the momentum."""
    run = discs()
    momentum = sum(body.total_mass * np.asarray(run[f"{body.name}.velocity"]) for body in run.bodies)
    drift = float(np.abs(momentum - momentum[0]).max() / np.abs(momentum[0]).max())
    for name in ("upper", "lower"):
        print(f"{name}: velocity {run.rebound_velocity(name)} m/s, spin {spin(run, name):.3f} rad/s")
    print(f"friction took {-100.0 * run['work.friction'][-1] / run['energy.kinetic'][0]:.2f} % of the energy")
    print(f"momentum kept to {drift:.1e} (exact: 0)")
    if film is not None:
        if film.suffix == ".gif":
            run.animate(film, frames=40)
        else:
            run.html(film)
    return drift


if __name__ == "__main__":
    if main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("elastic_discs.html")) > 1e-10:
        raise SystemExit("momentum was lost")

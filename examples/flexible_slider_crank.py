"""A slider-crank with a flexible rod: figure 4 of Ahn and Lee (1994), the deflection of the rod's middle, redrawn.

The rod is cut into 2, 4 and 10 beam elements with lumped and with consistent mass and keeps one bending and one axial
mode, as the paper seems to; beside it the rod with geometric stiffening and three to five bending modes. The paper's
remark that the deflection grows with the number of elements fits lumped mass; stiffening by the axial inertia forces
takes 7 % off.
Source: Ahn, Lee (1994); peaks from independent solutions, the stiffened one from two fully nonlinear beam codes.

The stiffened mechanism lies beside this as a model file; it gives the same numbers.

With a path as argument the figure is written there: python examples/flexible_slider_crank.py figure.svg
"""

import sys
from pathlib import Path

import numpy as np

from bellcrank.files import load
from bellcrank.verify.flexible_slider_crank import TURN, deflection, mechanism, rod

CURVES = {
    "lumped, 2 elements": (rod(2, axial=1, mass="lumped"), 0.008760),
    "lumped, 4 elements": (rod(4, axial=1, mass="lumped"), 0.010377),
    "lumped, 10 elements": (rod(10, axial=1, mass="lumped"), 0.010847),
    "consistent, 2 elements": (rod(2, axial=1), 0.010905),
    "consistent, 4 elements": (rod(4, axial=1), 0.010939),
    "consistent, 10 elements": (rod(10, axial=1), 0.010938),
    "stiffened, 2 elements": (rod(2, bending=3, stiffening=True), 0.0101437),
    "stiffened, 4 elements": (rod(4, bending=3, stiffening=True), 0.0101437),
    "stiffened, 10 elements": (rod(10, bending=5, stiffening=True), 0.0101437),
}


def main() -> None:
    drawn = {}
    for name, (member, reference) in CURVES.items():
        run = mechanism(member).simulate(TURN, tolerance=1e-9, output=2000)
        drawn[name] = (run.time, deflection(run))
        peak = np.abs(drawn[name][1]).max()
        print(f"{name:30} peak {peak:.6f} of the length, independent solution {reference:.6f}")
        assert abs(peak / reference - 1) < 3e-3
    model = Path(__file__).with_suffix(".yaml")
    run = load(model).simulate(TURN, tolerance=1e-9, output=2000)
    assert np.array_equal(deflection(run), drawn["stiffened, 10 elements"][1])
    print(f"{model.name} gives the last curve bit for bit")
    if len(sys.argv) > 1 and sys.argv[1].endswith((".svg", ".png", ".pdf")):
        figure(drawn, sys.argv[1])


def figure(drawn: dict[str, tuple[np.ndarray, np.ndarray]], path: str) -> None:
    """Three panels over the crank angle."""
    from matplotlib.figure import Figure

    page = Figure(figsize=(10, 3.6), layout="constrained")
    panels = page.subplots(1, 3, sharey=True)
    for panel, kind in zip(panels, ("lumped", "consistent", "stiffened"), strict=True):
        for name, (time, ratio) in drawn.items():
            if name.startswith(kind):
                panel.plot(360 * time / TURN, ratio, label=name.split(", ")[1])
        panel.set(title=kind, xlabel="crank angle [degrees]")
        panel.legend(frameon=False)
    panels[0].set_ylabel("deflection / length")
    page.savefig(path)


if __name__ == "__main__":
    main()

"""Figures 5, 6, 8, 10 and 11 of Park, Yoo, Hwang and Yang redrawn, beside the naive method and the linear spring.

Source: Park, Yoo, Hwang, Yang (2000), Dynamic analysis of constrained multibody systems undergoing collision; contact
times on springs and impulses from an independent solution. Figures go to a folder in the temporary directory.
"""

import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.model import System
from bellcrank.run.events import Event
from bellcrank.verify.ball_on_ground import HEIGHT, RADIUS, ball_on_ground
from bellcrank.verify.slider_crank_impact import slider_crank_with_block
from bellcrank.verify.two_pendulums_impact import IMPULSE, two_pendulums

CRANK_START = {"main bearing": (math.pi / 6.0, 1.0)}
SPEED_AT_THREE = 0.890217127
"""Of the slider at 3.0 s, after the impact [m/s]."""
TIGHT: dict[str, Any] = {"tolerance": 1e-10, "integrator": "dop853"}
FINE: dict[str, Any] = {**TIGHT, "output": 20000}
"""So many outputs that jumps stand upright."""
STIFFNESSES = {1e3: 104.29e-3, 1e4: 31.911e-3, 1e5: 9.9841e-3, 1e6: 3.1465e-3, 1e7: 0.99395e-3}
"""Contact times on a spring [s] by its stiffness [N/m]."""


def slider_speeds() -> dict[str, Any]:
    """Runs of example 1: the queue method at a step of 0.1 s, the naive one at three steps."""
    mechanism = slider_crank_with_block().mechanism(initial=CRANK_START)
    runs = {"proposed, 0.1 s": mechanism.simulate(5.0, impacts="queue", max_step=0.1, queue_size=5, **FINE)}
    for h in (0.1, 0.01, 0.001):
        runs[f"naive, {h:g} s"] = mechanism.simulate(5.0, impacts="queue", queue_size=1, max_step=h, **FINE)
    runs["dense"] = mechanism.simulate(5.0, **FINE)
    return runs


def ball_on_spring(stiffness: float) -> Any:
    """Example 2 with the ground as a linear spring; entering and leaving it are events."""
    system = System("ball on a spring", gravity=(0.0, -9.81, 0.0))
    ball = system.body("ball", mass=1.0, inertia=(0.4, 0.4, 0.4), at=(0.0, HEIGHT, 0.0))
    system.planar("plane", system.ground, ball, axis="z")
    on = system.parameter("touching", 0.0)
    push = lambda position: (0.0, on * stiffness * (RADIUS - position[1]), 0.0)  # noqa: E731
    system.applied_force("spring", ball.origin, push)
    depth = lambda m: m["ball.position.y"] - RADIUS  # noqa: E731
    events = [
        Event("touch", depth, direction=-1, parameters={"touching": 1.0}),
        Event("leave", depth, direction=1, parameters={"touching": 0.0}),
    ]
    return system.simulate(2.0, events=events, output=2000, **TIGHT)


def draw(folder: Path, name: str, curves: dict[str, tuple[Any, Any]], x: str, y: str, **limits: Any) -> None:
    """One figure."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8.0, 4.0), layout="constrained")
    styles = ("--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
    for k, (label, (time, value)) in enumerate(curves.items()):
        if k == 0:
            # Wide and pale beneath the others, which may lie on it.
            axes.plot(time, value, "o-" if len(time) < 20 else "-", label=label, linewidth=4.0, alpha=0.4)
        else:
            axes.plot(time, value, linestyle=styles[k % 4], label=label, linewidth=1.3)
    axes.set(xlabel=x, ylabel=y, title=name, **limits)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.savefig(folder / f"{name.split(':')[0].replace(' ', '_').lower()}.png", dpi=110)
    plt.close(figure)


def main() -> None:
    folder = Path(tempfile.gettempdir()) / "bellcrank_impact_figures"
    folder.mkdir(exist_ok=True)

    runs = slider_speeds()
    speeds = {name: (r.time, r["slider.velocity.x"]) for name, r in runs.items() if name != "dense"}
    draw(folder, "Figure 5: velocity of the slider", speeds, "time [s]", "velocity [m/s]")
    zoom = {"xlim": (2.8, 3.0), "ylim": (0.5, 3.0)}
    draw(folder, "Figure 6: the same near the impact", speeds, "time [s]", "velocity [m/s]", **zoom)
    for name, r in runs.items():
        k = int(np.argmin(np.abs(r.time - 3.0)))
        wrong = float(r["slider.velocity.x"][k]) - SPEED_AT_THREE
        print(f"slider at 3.0 s, {name:16} off by {wrong:9.1e} m/s, {r.run.evaluations:6} evaluations")

    ball = ball_on_ground().simulate(2.0, output=2000, **TIGHT)
    falls = {"proposed, e = 1": (ball.time, ball["ball.velocity.y"])}
    for stiffness, reference in STIFFNESSES.items():
        result = ball_on_spring(stiffness)
        touch, leave = (e.time for e in result.events[:2])
        print(
            f"K = {stiffness:.0e} N/m: in touch for {1e3 * (leave - touch):.5g} ms, reference {1e3 * reference:.5g} ms"
        )
        assert abs(leave - touch - reference) < 1e-4 * reference
        falls[f"spring, K = {stiffness:.0e} N/m"] = (result.time, result["ball.velocity.y"])
    draw(folder, "Figure 8: vertical velocity of the ball", falls, "time [s]", "velocity [m/s]")

    swing = two_pendulums(1.0).simulate(1.5, output=1500, **TIGHT)
    motion = {key: (swing.time, swing[f"two.{name}"]) for key, name in
              (("velocity x [m/s]", "velocity.x"), ("velocity y [m/s]", "velocity.y"),
               ("angular velocity [rad/s]", "angular_velocity.z"))}  # fmt: skip
    draw(folder, "Figure 10: motion of the second pendulum", motion, "time [s]", "")

    shares = np.linspace(0.0, 1.0, 11)
    impulses = np.array([two_pendulums(float(e)).simulate(0.7, **TIGHT).impacts[0].impulse for e in shares])
    line = {"computed": (shares, impulses), "3.4325 (1 + e)": (shares, IMPULSE * (1.0 + shares))}
    draw(folder, "Figure 11: impulse over restitution", line, "e", "impulse [N s]")
    wrong = float(np.abs(impulses / (IMPULSE * (1.0 + shares)) - 1.0).max())
    print(f"impulse over 1 + e: {wrong:.1e} from the independent solution; figures in {folder}")
    assert wrong < 1e-8


if __name__ == "__main__":
    main()

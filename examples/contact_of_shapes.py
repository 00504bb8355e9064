"""The examples of Park, Shin, Sohn and Yoo from model files, restitution of the force laws, errors of sampled shapes.

Source: Park, Shin, Sohn, Yoo (2003), section 3; restitution delivered by F = K d^n (1 + a v / v0):
a (1 + e) = ln((1 + a) / (1 - a e)).
"""

import math
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.contact import ClosestKernel, Sampled, Sphere
from bellcrank.contact.bezier import BezierGrid
from bellcrank.contact.laws import FACTORS, ForceLaw, delivered_restitution, kelvin_voigt_damping
from bellcrank.files import dumps, load
from bellcrank.model import System
from bellcrank.verify.bat_and_ball import bat_and_ball, central_normal, speeds_after
from bellcrank.verify.spatial_pendulums import pendulums
from bellcrank.verify.two_balls import two_balls

HERE = Path(__file__).parent
TIGHT = {"tolerance": 1e-10, "integrator": "dop853", "output": 20}
LAWS = ("hunt-crossley", "lankarani-nikravesh", "flores", "calibrated")


def model(name: str, described: System, joint: str, **start: Any) -> System:
    """The model file of an example, which says what the Python says, the start of a joint included."""
    described.initial(joint, start)
    system = load(HERE / f"{name}.yaml")
    assert dumps(system) == dumps(described)
    return system


def examples_of_paper_c() -> None:
    """Two balls, two pendulums in space, a bat and a ball."""
    described = two_balls(law="kelvin-voigt", stiffness=1e4, damping=10.0)
    run = model("two_balls", described, "left flight", velocity=(1.0, 0.0, 0.0)).simulate(0.1, **TIGHT)
    left, right = (float(run[f"{name}.velocity.x"][-1]) for name in ("left", "right"))
    print(f"two balls: {left:.6f} and {right:.6f} m/s after the impact, restitution {right - left:.6f}")
    assert abs(right - left - 0.808424) < 1e-6

    right = model("spatial_pendulums", pendulums(), "right pivot", angular_velocity=(0.0, 0.5, 0.0))
    run = right.simulate(1.0, **TIGHT)
    touch = next(e.time for e in run.events if e.name == "hit: touch")
    print(f"pendulums: touch at {touch:.7f} s")
    assert abs(touch - 0.5354799) < 1e-7

    _, _, slope = central_normal()
    towards = (1.0 / math.hypot(1.0, slope), 0.0, slope / math.hypot(1.0, slope))
    thrown = model("bat_and_ball", bat_and_ball(), "ball flight", velocity=towards)
    run = thrown.simulate(0.02, formulation="recursive", **TIGHT)
    ball, bat = speeds_after(run)
    print(f"bat and ball: {ball:.6f} and {bat:.6f} m/s after the impact")
    assert abs(ball - 0.15) < 1e-4
    assert abs(bat - 0.85) < 1e-4


def delivered(law: str, restitution: float) -> float:
    """Speed of parting over speed of approach of a ball of 1 kg on a wall, simulated."""
    system = System("ball", gravity=(0.0, 0.0, 0.0))
    ball = system.body("ball", mass=1.0, inertia=(1.0,) * 3, at=(0.0, 0.0, 0.11))
    system.prismatic("fall", system.ground, ball, axis="z")
    how = {"restitution": restitution}
    if law == "kelvin-voigt":
        how = {"damping": kelvin_voigt_damping(1e7, 1.0, restitution)}
    wall = system.ground.plane()
    system.contact("wall", wall, ball.sphere(0.1), law=law, treatment="continuous", stiffness=1e7, **how)
    run = system.simulate(0.3, initial={"fall": (0.0, -1.0)}, tolerance=1e-10, integrator="dop853", output=2)
    return float(run["ball.velocity.z"][-1])


def table_of_restitution() -> None:
    """Asked and delivered, simulated and by theory."""
    print("asked " + " ".join(f"{law:>20}" for law in (*LAWS, "kelvin-voigt")))
    for k in range(1, 11):
        e, row = k / 10.0, []
        for law in LAWS:
            found = delivered(law, e)
            assert abs(found - delivered_restitution(FACTORS[ForceLaw(law)](e))) < 1e-6
            row.append(found)
        assert abs(row[-1] - e) < 1e-6
        # Kelvin and Voigt's law is given its damping for the restitution; below exp(-2) none is enough.
        row.append(delivered("kelvin-voigt", e) if e > math.exp(-2.0) else math.nan)
        assert not abs(row[-1] - e) > 1e-6
        print(f"{e:5.1f} " + " ".join(f"{found:20.6f}" for found in row))


def errors(shape: Sampled | BezierGrid) -> tuple[float, float]:
    """Root mean square of the errors of gap and normal of a unit sphere against a ball, away from the poles."""
    pair, random = ClosestKernel(shape, Sphere(0.5)), np.random.default_rng(1)
    rows = []
    for _ in range(60):
        direction = random.normal(size=3) * [1.0, 1.0, 0.4]
        direction /= np.linalg.norm(direction)
        gap = random.uniform(0.0, 0.1)
        found = pair(np.eye(3), np.zeros(3), np.eye(3), (1.5 + gap) * direction)
        rows.append((found.distance - gap, np.linalg.norm(found.normal - direction)))
    gap_error, normal_error = np.sqrt(np.mean(np.square(rows), axis=0))
    return float(gap_error), float(normal_error)


def bezier_sphere(number: int) -> BezierGrid:
    """About so many samples in rings, with the patches of the paper."""
    rows = round(math.sqrt(number / 2))
    polar, turn = (
        np.linspace(0.0, np.pi, rows + 2)[1:-1],
        np.linspace(0.0, 2.0 * np.pi, 2 * rows, endpoint=False),
    )
    a, b = np.meshgrid(polar, turn, indexing="ij")
    grid = np.stack([np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)], axis=2)
    return BezierGrid(grid, around=True, inside=(0.0, 0.0, 0.0))


def sampled_sphere(number: int) -> Sampled:
    """So many samples, spread evenly."""
    k = np.arange(number)
    z, turn = 1.0 - (2 * k + 1) / number, np.pi * (3.0 - math.sqrt(5.0)) * k
    r = np.sqrt(1.0 - z * z)
    points = np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)
    return Sampled(points, points)


def table_of_errors() -> None:
    """Gap and normal of a sampled unit sphere against its number of points, with the order in the spacing."""
    print("points   bezier: gap   order   normal   order | default: gap   order   normal   order")
    before: dict[str, tuple[float, float]] = {}
    for number in (512, 2048, 8192):
        line = f"{number:6}"
        for name, make in (("bezier", bezier_sphere), ("default", sampled_sphere)):
            found = errors(make(number))
            orders = [math.log2(b / f) for b, f in zip(before.get(name, found), found, strict=True)]
            line += "   ".join(f" {x:9.2e}   {o:5.2f}" for x, o in zip(found, orders, strict=True))
            if name in before:
                assert abs(orders[0] - (2.0 if name == "bezier" else 4.0)) < 0.4
            before[name] = found
        print(line)


if __name__ == "__main__":
    examples_of_paper_c()
    table_of_restitution()
    table_of_errors()

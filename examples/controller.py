"""An inverted pendulum on a cart, held upright by a controller that is called 50 times a second.

The controller is plain Python; between its calls the run stays compiled. Its gains come from the linear model of
the cart (M, m, l): x'' = (F - m g theta) / M, theta'' = ((M + m) g theta - F) / (M l). Near the upright position
the sampled loop must follow the linear theory x[n] = (A - B K)^n x[0].
"""

import numpy as np
from scipy.linalg import expm, solve_discrete_are

import bellcrank as bc

M, m, length, g, period = 2.0, 0.5, 0.8, 9.81, 0.02

system = bc.System("inverted pendulum", gravity=(0, 0, -g))
push = system.parameter("push", 0.0, "N")
cart = system.body("cart", mass=M)
pendulum = system.body("pendulum", mass=m, at=(0, 0, length))
system.prismatic("rail", system.ground, cart, axis="x")
system.revolute("hinge", cart, pendulum, at=(0, 0, 0), axis="y")
system.joint_force("drive", "rail", lambda coordinate, rate, t: push)

continuous = np.zeros((5, 5))  # states x, theta, x', theta' and the held force
continuous[0, 2] = continuous[1, 3] = 1
continuous[2, 1], continuous[2, 4] = -m * g / M, 1 / M
continuous[3, 1], continuous[3, 4] = (M + m) * g / (M * length), -1 / (M * length)
sampled = expm(continuous * period)
A, B = sampled[:4, :4], sampled[:4, 4:]
weight, effort = np.diag([10.0, 10.0, 1.0, 1.0]), np.array([[0.1]])
S = solve_discrete_are(A, B, weight, effort)
gains = np.linalg.solve(effort + B.T @ S @ B, B.T @ S @ A)[0]
measures = ["rail.displacement", "hinge.angle", "rail.displacement_rate", "hinge.angle_rate"]


def control(t: float, measured: dict) -> dict:
    return {"push": -float(gains @ [measured[name] for name in measures])}


def run(angle: float, duration: float) -> bc.Result:
    controller = bc.Controller("balance", period, measures, control)
    return system.simulate(
        duration,
        initial={"hinge": angle},
        controllers=[controller],
        output=round(duration / period),
        tolerance=1e-10,
    )


def main() -> None:
    small = run(angle=1e-3, duration=2.0)
    state, worst = np.array([0, 1e-3, 0, 0]), 0.0
    for n in range(len(small)):
        worst = max(worst, abs(small["hinge.angle"][n] - state[1]))
        state = (A - np.outer(B, gains)) @ state
    large = run(angle=0.4, duration=10.0)
    print(f"1 mrad off: {worst:.1e} rad from the linear theory of the sampled loop, at all samples")
    print(f"0.4 rad off: upright to {abs(large['hinge.angle'][-1]):.1e} rad after 10 s, ", end="")
    print(
        f"cart went {np.ptp(large['cart.position.x']):.2f} m, largest push {np.abs(large.parameters).max():.1f} N"
    )
    assert worst < 1e-8
    assert abs(large["hinge.angle"][-1]) < 1e-5


if __name__ == "__main__":
    main()

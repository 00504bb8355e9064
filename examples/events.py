"""A ball that bounces: an event that changes the state, and one that ends the run.

Source: free fall. From rest at h the first bounce is at sqrt(2 h / g), the flights after it last 2 e^n sqrt(2 h / g).
"""

from dataclasses import replace

import numpy as np

import bellcrank as bc

h, g, e, radius = 1.0, 9.81, 0.8, 0.1

system = bc.System("bouncing ball", gravity=(0, 0, -g))
ball = system.body("ball", mass=0.5, inertia=(0.002, 0.002, 0.002), at=(0, 0, h + radius))
system.prismatic("flight", system.ground, ball, axis="z")

bounce = bc.Event(
    "bounce",
    lambda m: m["ball.position.z"] - radius,
    direction=-1,
    jump=lambda state, parameters: replace(state, u=-e * state.u),
)


def main() -> None:
    result = system.simulate(3.0, events=[bounce], tolerance=1e-11, integrator="dop853")
    times = np.array([event.time for event in result.events])
    first = np.sqrt(2 * h / g)
    exact = first * (1 + 2 * np.cumsum([0, *(e ** np.arange(1, len(times)))]))
    wrong = np.abs(times - exact).max()
    for n, (found, closed) in enumerate(zip(times, exact, strict=True), 1):
        print(f"bounce {n}: {found:.12f} s, closed form {closed:.12f} s")
    print(f"largest difference: {wrong:.1e} s")
    assert len(times) >= 5
    assert wrong < 1e-9
    top = bc.Event("top", lambda m: m["ball.velocity.z"], direction=-1, stops=True)
    rise = system.simulate(3.0, events=[bounce, top], tolerance=1e-11)
    print(f"stopped at the top of the first rebound, at {rise.events[-1].time:.9f} s")
    assert abs(rise.events[-1].time - first * (1 + e)) < 1e-8


if __name__ == "__main__":
    main()

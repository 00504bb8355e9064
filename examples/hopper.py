"""A hopper as an environment of gymnasium: a torso on a springy leg whose motor an agent drives, contact by steps.

The agent here is a rule that pushes while the leg extends on the ground. In flight only gravity acts on the whole,
so the speed of the centre of mass must fall by 9.81 m/s in a second, whatever the leg does.
"""

from typing import Any

import numpy as np

import bellcrank as bc
from bellcrank.gym import Environment

TORSO, FOOT, G = 3.0, 0.5, 9.81
STEP = 0.01

system = bc.System("hopper", gravity=(0, 0, -G))
thrust = system.parameter("thrust", 0.0, "N")
torso = system.body("torso", mass=TORSO, at=(0, 0, 0.55))
foot = system.body("foot", mass=FOOT, at=(0, 0, 0.05))
system.prismatic("guide", system.ground, torso, axis="z")
system.prismatic("leg", torso, foot, axis="z")
system.joint_force("spring", "leg", lambda coordinate, rate: -1500.0 * coordinate - 8.0 * rate - thrust)
system.contact("floor", system.ground.plane(), foot.sphere(0.05), restitution=0.0, friction=0.5)

NAMES = ["torso.position.z", "torso.velocity.z", "foot.position.z", "foot.velocity.z", "leg.displacement"]


def height(m: Any, action: Any) -> Any:
    """The higher the torso, and the less effort, the better."""
    return m["torso.position.z"] - 1e-5 * action["thrust"] ** 2


def environment(**options: Any) -> Environment:
    """The hopper, let fall from a height that every episode draws."""
    return Environment(
        system,
        observation=NAMES,
        action={"thrust": (0.0, 150.0)},
        reward=height,
        initial={"guide.displacement": (0.0, 0.1)},
        terminated=lambda m: m["torso.position.z"] < 0.2,
        step=STEP,
        substeps=5,
        duration=3.0,
        impacts="stepping",
        **options,
    )


def rule(seen: Any) -> list[float]:
    """Push while the leg extends on the ground."""
    _, _, lowest, _, shortened = seen
    rising = seen[1] > 0.0 and lowest < 0.051 and shortened > 0.0
    return [150.0 if rising else 0.0]


def main() -> None:
    env = environment()
    seen, _ = env.reset(seed=1)
    rows, total, ended = [seen], 0.0, False
    while not ended:
        seen, reward, terminated, truncated, _ = env.step(rule(seen))
        rows.append(seen)
        total += reward
        ended = terminated or truncated
    z, vz, foot_z, foot_vz, _ = np.array(rows).T
    centre = (TORSO * vz + FOOT * foot_vz) / (TORSO + FOOT)
    flying = (foot_z[:-1] > 0.055) & (foot_z[1:] > 0.055)
    fall = -np.diff(centre)[flying] / STEP
    print(f"highest {z.max():.2f} m after {len(rows) - 1} steps, return {total:.1f}")
    print(f"in flight the centre of mass accelerates by {fall.mean():.6f} m/s^2 downwards, {G} is gravity")
    assert flying.sum() > 50
    assert np.abs(fall - G).max() < 1e-3
    assert z.max() > 0.75


if __name__ == "__main__":
    main()

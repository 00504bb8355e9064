"""Steps a second of environments, beside MuJoCo's and gymnasium's own of like size.

    python -m benchmarks.gym [--steps 3000] [--repeats 3]

Processor time on one core with random actions, resets included, the least of a few repeats. The cart pole has two
integration steps of 10 ms a step by Runge-Kutta, MuJoCo's InvertedPendulum-v5 two of 20 ms by the same; the hopper has
five steps of 2 ms with one contact and two freedoms, MuJoCo's Hopper-v5 four of 2 ms with six freedoms.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from bellcrank.gym import Environment, VectorEnvironment
from bellcrank.model import System

EXAMPLES = Path(__file__).parents[1] / "examples"


def cart_pole() -> System:
    """A pole on a cart."""
    system = System("cart pole", gravity=(0.0, 0.0, -9.81))
    force = system.parameter("force", 0.0, "N")
    cart = system.body("cart", mass=10.0)
    pole = system.body("pole", mass=5.0, inertia=(0.15, 0.15, 0.006), at=(0.0, 0.0, 0.3))
    system.prismatic("rail", system.ground, cart, axis="x")
    system.revolute("pin", cart, pole, at=(0.0, 0.0, 0.0), axis="y")
    system.joint_force("motor", "rail", lambda: force)
    return system


TASK: dict[str, Any] = {
    "observation": ["rail.displacement", "pin.angle", "rail.displacement_rate", "pin.angle_rate"],
    "action": {"force": (-300.0, 300.0)},
    "reward": lambda m, a: np.abs(m["pin.angle"]) <= 0.2,
    "initial": {"rail.displacement": (-0.01, 0.01), "pin.angle": (-0.01, 0.01)},
    "terminated": lambda m: np.abs(m["pin.angle"]) > 0.2,
    "step": 0.02,
    "substeps": 2,
    "duration": 20.0,
}


def single(env: Any, steps: int, repeats: int) -> float:
    """Steps a second."""
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(steps)]
    env.reset(seed=0)
    env.step(actions[0])
    best = np.inf
    for _ in range(repeats):
        begun = time.process_time()
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        best = min(best, time.process_time() - begun)
    return steps / best


def several(env: Any, steps: int, repeats: int) -> float:
    """Steps a second over all episodes."""
    env.reset(seed=0)
    actions = env.action_space.sample()
    env.step(actions)
    rounds, best = max(1, steps // env.num_envs), np.inf
    for _ in range(repeats):
        begun = time.process_time()
        for _ in range(rounds):
            env.step(actions)
        best = min(best, time.process_time() - begun)
    return rounds * env.num_envs / best


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    sys.path.insert(0, str(EXAMPLES))
    import hopper

    system = cart_pole()
    rows = [
        ("cart pole", single(Environment(system, **TASK), given.steps, given.repeats)),
        (
            "  gymnasium CartPole-v1",
            single(gymnasium.make("CartPole-v1").unwrapped, given.steps, given.repeats),
        ),
        (
            "  mujoco InvertedPendulum-v5",
            single(gymnasium.make("InvertedPendulum-v5").unwrapped, given.steps, given.repeats),
        ),
    ]
    for number in (64, 1024):
        many = VectorEnvironment(system, number, **TASK)
        rows.append(
            (f"cart pole, {number} in lanes", several(many, 20 * max(given.steps, number), given.repeats))
        )
    theirs = gymnasium.make_vec("InvertedPendulum-v5", num_envs=64, vectorization_mode="sync")
    rows.append(("  mujoco InvertedPendulum-v5, 64 in sync", several(theirs, given.steps, given.repeats)))
    rows.append(("hopper by steps", single(hopper.environment(), given.steps, given.repeats)))
    rows.append(
        ("  mujoco Hopper-v5", single(gymnasium.make("Hopper-v5").unwrapped, given.steps, given.repeats))
    )
    for name, rate in rows:
        print(f"{name:42s} {rate:12,.0f} steps/s")


if __name__ == "__main__":
    main()

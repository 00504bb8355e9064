"""Environments of gymnasium: the bits of whole runs, and episodes that begin and end as said."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from bellcrank import Controller, Event, ModelError, System
from bellcrank.files import save
from bellcrank.gym import Environment, VectorEnvironment

SEEN = ["rail.displacement", "rail.displacement_rate", "pin.angle", "pin.angle_rate"]
SWING: dict[str, Any] = {
    "observation": SEEN,
    "action": {"force": (-10.0, 10.0)},
    "reward": lambda m, a: np.cos(m["pin.angle"]) - 0.001 * a["force"] ** 2,
    "step": 0.02,
    "initial": {"pin.angle": (-0.05, 0.05), "mass": (0.9, 1.1)},
    "terminated": lambda m: np.abs(m["pin.angle"]) > 0.5,
    "duration": 1.0,
}


def cart_pole() -> System:
    """A pole on a cart; the force on the cart and its mass are parameters."""
    system = System("cart pole", gravity=(0.0, 0.0, -9.81))
    force, mass = system.parameter("force", 0.0, "N"), system.parameter("mass", 1.0, "kg")
    cart = system.body("cart", mass=mass)
    pole = system.body("pole", mass=0.1, inertia=(0.01, 0.01, 1e-4), at=(0.0, 0.0, 0.5))
    system.prismatic("rail", system.ground, cart, axis="x")
    system.revolute("pin", cart, pole, at=(0.0, 0.0, 0.0), axis="y")
    system.joint_force("motor", "rail", lambda: force)
    return system


def hopper(treatment: str = "impact") -> System:
    """A ball on a guide, thrown up from a floor by a force."""
    system = System("ball", gravity=(0.0, 0.0, -9.81))
    push = system.parameter("push", 0.0, "N")
    ball = system.body("ball", mass=1.0, at=(0.0, 0.0, 0.15))
    system.prismatic("guide", system.ground, ball, axis="z")
    system.joint_force("motor", "guide", lambda: push)
    floor, shape = system.ground.plane(), ball.sphere(0.1)
    if treatment == "impact":
        system.contact("floor", floor, shape, restitution=0.6)
    else:
        system.contact("floor", floor, shape, treatment="continuous", stiffness=1e6, restitution=0.6)
    return system


def agent(actions: Any, name: str, period: float) -> Controller:
    """A controller that plays actions."""
    left = iter(actions[:, 0].tolist())
    return Controller("agent", period, [], lambda t, m: {name: next(left)})


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_gymnasium_finds_nothing_wrong() -> None:
    check_env(Environment(cart_pole(), substeps=2, **SWING))
    gymnasium.register(
        "bellcrank/CartPole", entry_point=lambda **more: Environment(cart_pole(), **SWING, **more)
    )
    env = gymnasium.make("bellcrank/CartPole", render_mode="rgb_array")
    env.reset(seed=1)
    picture = env.render()
    assert picture.shape == (400, 640, 3)
    assert len(np.unique(picture)) > 10
    twins = gymnasium.make_vec("bellcrank/CartPole", num_envs=2, vectorization_mode="sync")
    seen, _ = twins.reset(seed=1)
    assert seen.shape == (2, 4)
    np.testing.assert_array_equal(seen[0], env.reset(seed=1)[0])


@pytest.mark.parametrize(
    ("substeps", "options"),
    [(2, {"integrator": "runge_kutta4", "step": 0.01}), (None, {"integrator": "auto"})],
)
def test_an_episode_has_the_bits_of_one_run(substeps: int | None, options: dict[str, Any]) -> None:
    """An agent is a controller that is called at every step."""
    env = Environment(cart_pole(), substeps=substeps, **SWING)
    seen, _ = env.reset(seed=5)
    actions = np.random.default_rng(0).uniform(-3.0, 3.0, (15, 1)).astype(np.float32)
    rows, observed, rewards = [env.row], [seen], []
    for action in actions:
        seen, reward, terminated, truncated, info = env.step(action)
        assert not terminated
        assert not truncated
        rows.append(env.row)
        observed.append(seen)
        rewards.append(reward)
    assert info["time"] == pytest.approx(0.3, abs=1e-15)
    run = env.mechanism.simulate(0.3, output=15, controllers=[agent(actions, "force", 0.02)], **options)
    np.testing.assert_array_equal([row.q for row in rows], run.q)
    np.testing.assert_array_equal([row.u for row in rows], run.u)
    np.testing.assert_allclose(
        observed, np.column_stack([run[name] for name in SEEN]), rtol=1e-13, atol=1e-14
    )
    expected = np.cos(run["pin.angle"][1:]) - 0.001 * actions[:, 0].astype(float) ** 2
    np.testing.assert_allclose(rewards, expected, rtol=1e-13)


def test_by_steps_an_episode_has_the_bits_of_one_run() -> None:
    """The floor's force is observed too; a controller of the model's own is called within the steps of the agent."""
    holding = Controller(
        "hold", 0.004, ["ball.velocity.z"], lambda t, m: {"push": -0.1 * m["ball.velocity.z"]}
    )
    names = ["ball.position.z", "ball.velocity.z", "floor.normal_force"]
    common: dict[str, Any] = {"impacts": "stepping", "controllers": [holding]}
    env = Environment(
        hopper(),
        observation=names,
        action={"push": (-20.0, 20.0)},
        reward=lambda m, a: m["ball.position.z"],
        step=0.01,
        substeps=5,
        **common,
    )
    seen, _ = env.reset(seed=0)
    observed = []
    for _ in range(60):
        seen, *_ = env.step([0.0])
        observed.append(seen)
    quiet = agent(np.zeros((61, 1)), "push", 0.01)
    common["controllers"] = [quiet, holding]
    run = env.mechanism.simulate(0.6, output=60, step=0.002, **common)
    expected = np.column_stack([run[name][1:] for name in names])
    np.testing.assert_array_equal(np.array(observed)[:, :2], expected[:, :2])
    np.testing.assert_allclose(np.array(observed)[:, 2], expected[:, 2], rtol=1e-12)
    assert expected[:, 2].max() > 1.0
    assert len(run.impacts) > 0


@pytest.mark.parametrize("treatment", ["impact", "continuous"])
def test_contacts_followed_by_events(treatment: str) -> None:
    """Impacts and pressing contacts, from action to action, as in one run."""
    env = Environment(
        hopper(treatment),
        observation=["ball.position.z"],
        action={"push": (-20.0, 20.0)},
        reward=lambda m, a: 0.0,
        step=0.03,
    )
    env.reset(seed=0)
    actions = np.linspace(-5.0, 12.0, 12)[:, None]
    observed = [env.step(action)[0][0] for action in actions]
    run = env.mechanism.simulate(0.36, output=12, controllers=[agent(actions, "push", 0.03)])
    np.testing.assert_allclose(observed, run["ball.position.z"][1:], atol=1e-7)
    assert min(observed) < 0.11


def test_episodes_end_at_events_and_in_time() -> None:
    """A ball let fall passes 0.12 m at its time; without the event the episode is cut off after its duration."""
    options: dict[str, Any] = {
        "observation": {"ball.position.z": (-1.0, 1.0)},
        "action": {"push": (0.0, 1.0)},
        "reward": lambda m, a: m["t"],
        "step": 0.01,
        "impacts": "dense",
        "duration": 0.05,
    }
    low = Event("low", lambda m: m["ball.position.z"] - 0.12, direction=-1, stops=True)
    env = Environment(hopper(), events=[low], **options | {"duration": 1.0})
    env.reset()
    for _ in range(100):
        seen, reward, terminated, _, info = env.step([0.0])
        if terminated:
            break
    assert seen[0] == pytest.approx(0.12, abs=1e-9)
    assert reward == info["time"] == pytest.approx(np.sqrt(2.0 * 0.03 / 9.81), abs=1e-9)
    assert info["events"] == ["low"]
    env = Environment(hopper(), **options)
    env.reset()
    cut = [env.step([0.0])[3] for _ in range(5)]
    assert cut == [False, False, False, False, True]


def test_a_model_file(tmp_path: Path) -> None:
    """The same from a file; reset with a seed draws the same start, and options set values that are not drawn."""
    save(cart_pole(), tmp_path / "cart.yaml")
    one, other = Environment(tmp_path / "cart.yaml", **SWING), Environment(cart_pole(), **SWING)
    for env in (one, other):
        env.reset(seed=3)
    np.testing.assert_array_equal(one.step([2.0])[0], other.step([2.0])[0])
    assert 0.9 < one.mechanism.parameter_values[1] < 1.1
    seen, _ = one.reset(seed=3, options={"initial": {"pin.angle": 0.2}})
    assert seen[2] == 0.2


def test_lanes_and_single_episodes_agree() -> None:
    """The vector environment in SIMD lanes against one episode after the other; ended ones begin anew."""
    number = 6
    many = VectorEnvironment(cart_pole(), number, substeps=2, **SWING)
    assert many.one_by_one == ""
    many.reset(seed=2)
    y, p = many.motion.y.copy(), many.motion.p.copy()
    rng, ended = np.random.default_rng(1), np.zeros(number, bool)
    single = [Environment(cart_pole(), substeps=2, **SWING) for _ in range(number)]
    for k, env in enumerate(single):
        env.reset(options={"initial": {"pin.angle": y[k, 1], "mass": p[k, 1]}})
    for _ in range(60):
        actions = rng.uniform(-10.0, 10.0, (number, 1)).astype(np.float32)
        actions[0] = 10.0
        again = many.ended.copy()
        seen, reward, terminated, truncated, _ = many.step(actions)
        assert (reward[again] == 0.0).all()
        ended |= again
        for k in np.flatnonzero(~ended):
            wanted = single[k].step(actions[k])
            np.testing.assert_allclose(seen[k], wanted[0], rtol=1e-10, atol=1e-12)
            assert reward[k] == pytest.approx(wanted[1], abs=1e-10)
            assert (terminated[k], truncated[k]) == wanted[2:4]
    assert ended.all()
    assert (np.abs(seen[:, 2]) < 1.0).all()


def test_episodes_with_contacts_go_on_one_by_one() -> None:
    options: dict[str, Any] = {
        "observation": ["ball.position.z"],
        "action": {"push": (0.0, 1.0)},
        "reward": lambda m, a: 1.0,
        "step": 0.01,
        "duration": 0.02,
        "impacts": "stepping",
        "substeps": 2,
        "initial": {"guide.displacement": (0.0, 0.2)},
    }
    many = VectorEnvironment(hopper(), 3, **options)
    assert "contacts" in many.one_by_one
    start, _ = many.reset(seed=0)
    assert len(np.unique(start)) == 3
    _, reward, _, truncated, _ = many.step(np.zeros((3, 1)))
    assert (reward == 1.0).all()
    assert not truncated.any()
    assert many.step(np.zeros((3, 1)))[3].all()
    again, reward, *_ = many.step(np.zeros((3, 1)))
    assert (reward == 0.0).all()
    assert (again >= 0.15).all()


def test_a_step_that_cannot_be_computed_cuts_the_episode() -> None:
    """A force that grows without bound: truncated, with the reason."""
    system = System("runaway", gravity=(0.0, 0.0, 0.0))
    push = system.parameter("push", 0.0)
    block = system.body("block", mass=1.0)
    system.prismatic("rail", system.ground, block, axis="x")
    system.joint_force("motor", "rail", lambda coordinate: push / (1.0 - coordinate) ** 3)
    env = Environment(
        system,
        observation=["block.position.x"],
        action={"push": (0.0, 10.0)},
        reward=lambda m, a: 0.0,
        step=5.0,
    )
    env.reset()
    with pytest.warns(UserWarning, match="the episode ends at t = 0 s"):
        seen, _, terminated, truncated, info = env.step([10.0])
    assert truncated
    assert not terminated
    assert np.isfinite(seen).all()
    assert info["error"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"action": {"forces": (0.0, 1.0)}}, "did you mean 'force'"),
        ({"action": {"force": (1.0, 0.0)}}, "smallest and largest"),
        ({"action": {}}, "something to do"),
        ({"observation": []}, "something to see"),
        ({"observation": ["cart.postion.x"]}, "postion"),
        ({"initial": {"pin.angel": 0.0}}, "pin.angel"),
        ({"initial": {"force": 0.0}}, "an action and an initial value"),
        ({"step": 0.0}, "positive number of seconds"),
        ({"substeps": 0}, "at least 1"),
        ({"integrator": "runge_kutta4"}, "does not choose its steps"),
        ({"render_mode": "human"}, "rgb_array"),
    ],
)
def test_what_makes_no_sense_is_said(options: dict[str, Any], words: str) -> None:
    with pytest.raises((ModelError, KeyError), match=words):
        Environment(cart_pole(), **SWING | options)


def test_steps_need_a_number_and_a_beginning() -> None:
    with pytest.raises(ModelError, match="substeps="):
        Environment(
            hopper(),
            observation=["t"],
            action={"push": (0.0, 1.0)},
            reward=lambda m, a: 0.0,
            step=0.1,
            impacts="stepping",
        )
    env = Environment(cart_pole(), **SWING)
    with pytest.raises(ModelError, match="reset"):
        env.step([0.0])
    env.reset()
    with pytest.raises(ModelError, match="'force' is not a finite number"):
        env.step([np.nan])


def test_without_gymnasium_the_message_says_how_to_get_it() -> None:
    code = "import sys; sys.modules['gymnasium'] = None\nimport bellcrank\nimport bellcrank.gym"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "bellcrank.gym needs gymnasium: pip install 'bellcrank[gym]'" in found.stderr

"""Many episodes of one task side by side, by the vector interface of gymnasium."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from bellcrank.batch.group import LaneGroups, lane_machine
from bellcrank.batch.lanes import LANES
from bellcrank.batch.run import one_by_one
from bellcrank.gym.environment import Environment
from bellcrank.gym.motions import SmoothMotion
from bellcrank.gym.reading import Values
from bellcrank.gym.task import Task
from bellcrank.integrate import SimulationError
from bellcrank.mechanism import State
from bellcrank.program.trace import Expr

Array = NDArray[np.float64]


class VectorEnvironment(VectorEnv[Array, NDArray[np.float32], Any]):
    """`number` episodes of a task; options as for :class:`bellcrank.gym.Task`.

    Where nothing interrupts the motion, four episodes share SIMD lanes, and the functions `reward` and `terminated` are
    called once for all episodes, with arrays of quantities: write them for numbers and arrays alike. Otherwise the
    episodes go on one by one, and `one_by_one` says why. An episode that has ended begins anew at the next step.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, model: Any, number: int, **options: Any) -> None:
        self.task = model if isinstance(model, Task) else Task(model, **options)
        task = self.task
        self.num_envs = number
        self.one_by_one = why_alone(task)
        self.single_action_space = Box(task.low.astype(np.float32), task.high.astype(np.float32))
        self.single_observation_space = Box(*task.observed_bounds(), dtype=np.float64)
        self.action_space = batch_space(self.single_action_space, number)
        self.observation_space = batch_space(self.single_observation_space, number)
        self.motion: Lanes | Singles = Singles(task, number) if self.one_by_one else Lanes(task, number)
        self.ended = np.zeros(number, bool)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin all episodes."""
        super().reset(seed=seed)
        self.ended[:] = False
        given = (options or {}).get("initial", {})
        self.motion.begin(np.ones(self.num_envs, bool), self.np_random, given)
        return self.motion.observation(), {}

    def step(self, actions: Any) -> tuple[Array, Array, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Act in all episodes; those that ended begin anew instead."""
        acted = self.task.checked(actions).reshape(self.num_envs, -1)
        again = self.ended.copy()
        reward, terminated, truncated = self.motion.step(acted, ~again)
        if again.any():
            self.motion.begin(again, self.np_random, {})
        self.ended = terminated | truncated
        return self.motion.observation(), reward, terminated, truncated, {}


def why_alone(task: Task) -> str:
    """Why the episodes of a task share no lanes; empty where they do."""
    mechanism, method = task.mechanism, task.method
    if mechanism.system.strikes:
        return "contacts differ between episodes"
    if task.events:
        return "events are located episode by episode"
    program = lane_machine(mechanism).traced.rates
    used = {a.args[0] for e in program.operations for a in e.args if isinstance(a, Expr) and a.op == "input"}
    if "t" in used:
        return "the model depends on time, which differs between episodes"
    return one_by_one(mechanism, _lane_method(task), bool(task.controllers), method.timing)


def _lane_method(task: Task) -> str:
    """The integrator in lanes: what 'auto' begins with."""
    return "dop853" if task.method.integrator == "auto" else task.method.integrator


class Lanes:
    """Episodes in SIMD lanes; each step is a run of its own from time zero, since nothing depends on time."""

    def __init__(self, task: Task, number: int) -> None:
        self.task, m = task, task.mechanism
        self.machine = lane_machine(m)
        self.first = np.arange(0, number, LANES)
        times = np.array([task.step])
        parameters = len(m.parameter_values)
        self.groups = LaneGroups(
            self.machine,
            _lane_method(task),
            times,
            parameters,
            task.method.options,
            capacity=len(self.first),
        )
        self.y = np.zeros((number, self.machine.rates.n_out))
        self.p = np.zeros((number, parameters))
        self.steps = np.zeros(number, np.int64)

    def begin(self, which: NDArray[np.bool_], random: np.random.Generator, given: dict[str, float]) -> None:
        """Begin some episodes."""
        drawn = [self.task.drawn(random, given) for _ in range(int(which.sum()))]
        self.y[which], self.p[which] = self.task.starts(drawn)
        self.steps[which] = 0

    def step(
        self, acted: Array, going: NDArray[np.bool_]
    ) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_]]:
        """Rewards, and whether episodes have terminated or are truncated; only those that are going count."""
        task, number = self.task, len(self.y)
        self.p[:, task.places] = acted
        _, leavers = self.groups.run(0.0, self.y, self.p, self.first, lambda: False)
        failed = np.zeros(number, bool)
        self.y[:] = self.groups.kept[:number, -1]
        for leaver in leavers:
            failed[leaver.place] = not self._alone(leaver.place, leaver.t, leaver.y)
        self.steps += 1
        values = self._values()
        action = dict(zip(task.action, acted.T, strict=True))
        reward = np.where(going, np.broadcast_to(task.reward(values, action), number), 0.0)
        ended = (
            np.zeros(number, bool) if task.terminated is None else np.asarray(task.terminated(values), bool)
        )
        late = self.steps >= task.most_steps if task.most_steps else np.zeros(number, bool)
        return reward, ended & going, (late | failed) & going

    def _alone(self, k: int, t: float, y: Array) -> bool:
        """The rest of a step of one episode, outside its lane; whether it could be computed."""
        m, p = self.task.mechanism, self.p[k]
        u = self.machine.full.many(np.concatenate([[t], y, p])[None])[0][: m.linkage.speeds]
        own = replace(
            m, start=State(t, y[: m.linkage.positions].copy(), u), parameter_values=tuple(p.tolist())
        ).with_programs_of(m)
        motion = SmoothMotion(own, _lane_method(self.task), self.task.method.options, (), ())
        try:
            motion.advance(self.task.step, {})
        except SimulationError as error:
            warnings.warn(f"episode {k} ends: {error}", stacklevel=4)
            self.y[k] = y
            return False
        row = motion.row()
        self.y[k] = np.concatenate([row.q, row.u[list(self.machine.partition.independent)]])
        return True

    def _values(self) -> Values:
        linkage = self.task.mechanism.linkage
        t = np.asarray(self.task.mechanism.start.t + self.task.step * self.steps, dtype=np.float64)
        full = self.machine.full.many(np.hstack([t[:, None], self.y, self.p]))
        n = linkage.speeds
        q, u, du = self.y[:, : linkage.positions], full[:, :n], full[:, n : 2 * n]
        return Values(self.task.reading, (t, q, u, du, np.asarray(self.p), None), False)

    def observation(self) -> Array:
        """Of all episodes."""
        return self._values().stacked(self.task.names)


class Singles:
    """Episodes one by one."""

    def __init__(self, task: Task, number: int) -> None:
        self.episodes: Sequence[Environment] = [Environment(task) for _ in range(number)]
        self.seen = np.zeros((number, *task.observed_bounds()[0].shape))

    def begin(self, which: NDArray[np.bool_], random: np.random.Generator, given: dict[str, float]) -> None:
        """Begin some episodes."""
        for k in np.flatnonzero(which).tolist():
            episode = self.episodes[k]
            episode.np_random = random
            self.seen[k], _ = episode.reset(options={"initial": given})

    def step(
        self, acted: Array, going: NDArray[np.bool_]
    ) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_]]:
        """Rewards, and whether episodes have terminated or are truncated."""
        number = len(self.episodes)
        reward, ended, cut = np.zeros(number), np.zeros(number, bool), np.zeros(number, bool)
        for k in np.flatnonzero(going).tolist():
            self.seen[k], reward[k], ended[k], cut[k], _ = self.episodes[k].step(acted[k])
        return reward, ended, cut

    def observation(self) -> Array:
        """Of all episodes."""
        return self.seen.copy()


__all__ = ["VectorEnvironment", "why_alone"]

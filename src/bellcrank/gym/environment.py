"""One mechanism as an environment of gymnasium."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from bellcrank.errors import ModelError
from bellcrank.gym.motions import Motion, Row
from bellcrank.gym.reading import Values
from bellcrank.gym.task import Task
from bellcrank.impacts.errors import ContactError
from bellcrank.integrate import SimulationError
from bellcrank.mechanism import Mechanism

Array = NDArray[np.float64]


class Environment(gymnasium.Env[Array, NDArray[np.float32]]):
    """A task as an environment: ``Environment(model, observation=..., action=..., reward=..., step=...)``.

    Options are those of :class:`bellcrank.gym.Task`. Actions beyond their bounds are cut off there. A step whose motion
    cannot be computed ends the episode as truncated, with a warning and ``info["error"]``. render_mode: "rgb_array"
    draws the mechanism; it needs matplotlib.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012

    def __init__(self, model: Any, *, render_mode: str | None = None, **options: Any) -> None:
        self.task = model if isinstance(model, Task) else Task(model, **options)
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ModelError(f"render_mode is 'rgb_array' or None, not {render_mode!r}")
        self.render_mode = render_mode
        self.metadata = {**self.metadata, "render_fps": max(1, round(1.0 / self.task.step))}
        task = self.task
        self.action_space = Box(task.low.astype(np.float32), task.high.astype(np.float32))
        self.observation_space = Box(*task.observed_bounds(), dtype=np.float64)
        self.motion: Motion | None = None
        self.mechanism: Mechanism = task.mechanism
        self.row: Row
        self.steps = self.met = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin an episode; options: ``{"initial": {...}}`` sets values that are not drawn then."""
        super().reset(seed=seed)
        given: Mapping[str, float] = (options or {}).get("initial", {})
        self.mechanism = self.task.start(self.task.drawn(self.np_random, given))
        self.motion = self.task.method.begin(self.mechanism)
        self.row = self.motion.row()
        self.steps = self.met = 0
        return self._observation(self._values()), {"time": self.row.t}

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Act for the time of one step."""
        if self.motion is None:
            raise ModelError("call reset() before the first step()")
        task = self.task
        acted = task.checked(action).reshape(-1).tolist()
        self.steps += 1
        info: dict[str, Any] = {}
        stopped = failed = False
        end = self.mechanism.start.t + self.steps * task.step
        try:
            stopped = self.motion.advance(end, dict(zip(task.places, acted, strict=True)))
        except (SimulationError, ContactError) as error:
            failed, info["error"] = True, str(error)
            warnings.warn(f"the episode ends at t = {self.row.t:g} s: {error}", stacklevel=2)
        if not failed:
            self.row = self.motion.row()
        values = self._values()
        reward = float(task.reward(values, dict(zip(task.action, acted, strict=True))))
        ended = task.terminated is not None and bool(task.terminated(values))
        names = self.motion.happened()
        info |= {"time": self.row.t, "events": names[self.met :]}
        self.met = len(names)
        truncated = failed or (task.most_steps > 0 and self.steps >= task.most_steps)
        return self._observation(values), reward, stopped or ended, truncated, info

    def render(self) -> Any:
        """The mechanism as it is now, (height, width, 3) of bytes."""
        if self.render_mode is None or self.motion is None:
            return None
        from bellcrank.gym.picture import picture

        return picture(self.mechanism, self.row)

    def _values(self) -> Values:
        return self.task.reading.of(self.row)

    def _observation(self, values: Values) -> Array:
        return np.asarray(values.stacked(self.task.names)[0])


__all__ = ["Environment"]

"""The car, its driver and the clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.apps.drive.car import drive_car
from bellcrank.apps.drive.controls import Controls, Wish, manoeuvre
from bellcrank.apps.drive.realtime import Pace, StepFailed, Stepper
from bellcrank.apps.drive.terrain import TERRAINS
from bellcrank.apps.drive.timing import RECENT, Stopwatch
from bellcrank.errors import unknown_name
from bellcrank.verify.full_car_bump import rolling_start

Array = NDArray[np.float64]

STEP = 1e-3
"""[s]: 1 kHz."""
CONTROL = 10
"""Steps between two looks at the controls: 100 Hz."""
FRAME = 16
"""Steps between two frames for the page."""
WARMING = 200
"""Steps made before the clock starts, so that all code is loaded and in the caches."""
OVERTURNED = 0.2
"""Cosine of the chassis's lean below which it counts as overturned."""


class Drive:
    """The car on a terrain, stepped by `run`; `wish` may be set from another thread at any time."""

    def __init__(self, terrain: str = "bumps", speed: float = 0.0) -> None:
        if terrain not in TERRAINS:
            raise unknown_name("terrain", terrain, TERRAINS)
        self.terrain = TERRAINS[terrain]
        self.mechanism = drive_car(self.terrain).mechanism()
        self.bodies = tuple(self.mechanism.system.bodies)
        measured = [f"{b}.{what}" for b in self.bodies for what in ("position", "rotation")]
        start = rolling_start(self.mechanism, speed)
        self.stepper = Stepper(self.mechanism, start, STEP, [*measured, "chassis.velocity"])
        self.controls = Controls()
        self.wish = Wish()
        self.watch = Stopwatch(STEP)
        self.put_back = ""
        self._reset_wanted = threading.Event()
        # The controls look at the chassis alone, in a program of its own: they come a hundred times a second.
        self._look = self.stepper.measuring(["chassis.velocity", "chassis.rotation"])
        self._measured = self._look()
        for k in range(WARMING):
            self._step(k)
        self._back("")
        self.watch = Stopwatch(STEP)

    def reset(self) -> None:
        """Put the car back where it started, before the next step."""
        self._reset_wanted.set()

    def run(
        self,
        stop: threading.Event,
        on_frame: Callable[[dict[str, Any]], None] | None = None,
        real: bool = True,
    ) -> None:
        """Step until stopped."""
        pace, k = Pace(STEP, real), 0
        while not stop.is_set():
            lag, dropped = pace.wait()
            self.watch.behind(lag)
            self.watch.dropped += dropped
            if self._reset_wanted.is_set():
                self._back("")
            self._step(k)
            if on_frame is not None and k % FRAME == 0:
                on_frame(self.frame())
            k += 1

    def scripted(self, duration: float, real: bool = True) -> dict[str, Any]:
        """Drive :func:`manoeuvre` for some time [s] and say how it went."""
        steps = round(duration / STEP)
        self.watch = Stopwatch(STEP, steps)
        pace = Pace(STEP, real)
        fastest = 0.0
        for k in range(steps):
            lag, _ = pace.wait()
            self.watch.behind(lag)
            self.wish = manoeuvre(k / steps)
            self._step(k)
            fastest = max(fastest, self.speed)
        measured = self.stepper.measure()
        return {
            "duration": steps * STEP,
            "timing": self.watch.summary(),
            "position": measured["chassis.position"],
            "velocity": measured["chassis.velocity"],
            "fastest": fastest,
            "put_back": self.put_back,
        }

    @property
    def speed(self) -> float:
        """Of the chassis over ground when the controls were last looked at [m/s]."""
        return float(np.hypot(*self._measured["chassis.velocity"][:2]))

    def _step(self, k: int) -> None:
        begun = time.perf_counter()
        try:
            if k % CONTROL == 0:
                self._control()
            self.stepper.advance()
        except StepFailed as error:
            self._back(str(error))
            return
        self.watch.add(time.perf_counter() - begun)

    def _control(self) -> None:
        self._measured = self._look()
        if self._measured["chassis.rotation"][8] < OVERTURNED:
            self._back("the car turned over")
            return
        self.controls.follow(self.wish, CONTROL * STEP)
        c = self.controls
        self.stepper.set({"steering": c.rack(self.speed), "throttle": c.throttle, "brake": c.brake})

    def _back(self, why: str) -> None:
        self._reset_wanted.clear()
        self.put_back = why
        self.stepper.reset()
        self.controls = Controls()
        self._measured = self._look()

    def frame(self) -> dict[str, Any]:
        """What the page shows: poses (bodies, 12) as position and rotation by rows, speed, controls, timing."""
        measured = self.stepper.measure()
        poses = np.concatenate(
            [np.concatenate([measured[f"{b}.position"], measured[f"{b}.rotation"]]) for b in self.bodies]
        )
        timing = self.watch.summary()
        return {
            "poses": poses,
            "time": self.stepper.time,
            "speed": self.speed,
            "controls": [self.controls.steer, self.controls.throttle, self.controls.brake],
            "timing": timing,
            "put_back": self.put_back,
        }


__all__ = ["RECENT", "STEP", "Drive"]

"""The car, its driver and the clock."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.apps.drive.car import drive_car
from bellcrank.apps.drive.controls import Chauffeur, Controls, Wish, manoeuvre
from bellcrank.apps.drive.laps import Laps
from bellcrank.apps.drive.realtime import Pace, StepFailed, Stepper
from bellcrank.apps.drive.terrain import Terrain, terrain
from bellcrank.apps.drive.timing import RECENT, Stopwatch
from bellcrank.result.result import Result
from bellcrank.tyres import TyreLaw

Array = NDArray[np.float64]

STEP = 1e-3
"""[s]: 1 kHz."""
CONTROL = 10
"""Steps between two looks at the controls: 100 Hz."""
FRAME = 16
"""Steps between two frames for the page."""
WARMING = 200
"""Steps made before the clock starts, so that all code is loaded and in the caches."""
REMEMBERED = 180_000
"""Most samples of a drive that are kept, one at each look: half an hour."""
OVERTURNED = 0.2
"""Cosine of the chassis's lean below which it counts as overturned."""


class Drive:
    """The car on a terrain, stepped by `run`; `wish` may be set from another thread at any time.

    ground: A terrain, or what :func:`~bellcrank.apps.drive.terrain.terrain` takes. speed: To start with [m/s]. law: Of
    the tyres. remember: Whether drives are kept for :meth:`results`.
    """

    def __init__(
        self,
        ground: Terrain | str = "bumps",
        speed: float = 0.0,
        law: TyreLaw | None = None,
        remember: bool = False,
    ) -> None:
        self.terrain = ground if isinstance(ground, Terrain) else terrain(ground)
        self.vehicle = drive_car(self.terrain, law)
        self.mechanism = self.vehicle.mechanism
        self.bodies = tuple(self.mechanism.system.bodies)
        measured = [f"{b}.{what}" for b in self.bodies for what in ("position", "rotation")]
        self.stepper = Stepper(
            self.mechanism, self.vehicle.rolling(speed), STEP, [*measured, "chassis.velocity"]
        )
        self.controls = Controls()
        self.wish = Wish()
        self.watch = Stopwatch(STEP)
        self.put_back = ""
        self.laps = None if self.terrain.course is None else Laps(self.terrain.course)
        self._kept: list[deque[Array]] = []
        self._remember = False
        self._reset_wanted = threading.Event()
        # The controls look at the chassis alone, in a program of its own: they come a hundred times a second.
        self._look = self.stepper.measuring(["chassis.position", "chassis.velocity", "chassis.rotation"])
        self._measured = self._look()
        for k in range(WARMING):
            self._step(k)
        self._remember = remember
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
        """Drive along the course, or :func:`manoeuvre` where there is none, for some time [s] and say how it went."""
        steps = round(duration / STEP)
        course = self.terrain.course
        chauffeur = None if course is None else Chauffeur(self.vehicle, course)
        self.watch = Stopwatch(STEP, steps)
        pace = Pace(STEP, real)
        fastest = 0.0
        for k in range(steps):
            lag, _ = pace.wait()
            self.watch.behind(lag)
            if chauffeur is None:
                self.wish = manoeuvre(k / steps)
            elif k % CONTROL == 0:
                self.wish = chauffeur.wish(self.stepper.time, self._measured)
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
            "laps": [] if self.laps is None else self.laps.times,
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
        if self._remember:
            self._kept[-1].append(self.stepper.sample())
        if self.laps is not None:
            x, y, _ = self._measured["chassis.position"]
            self.laps.look(self.stepper.time, float(x), float(y))
        self.controls.follow(self.wish, CONTROL * STEP)
        c = self.controls
        self.stepper.set({"steering": c.rack(self.speed), "throttle": c.throttle, "brake": c.brake})

    def _back(self, why: str) -> None:
        self._reset_wanted.clear()
        self.put_back = why
        self.stepper.reset()
        self.controls = Controls()
        self._measured = self._look()
        if self.laps is not None:
            self.laps.put_back()
        if self._remember:
            self._kept.append(deque(maxlen=REMEMBERED))

    def results(self) -> list[Result]:
        """The drives since the beginning, or since the car was put back last time and every time before."""
        seconds = self.watch.total
        return [self.stepper.result(rows, seconds) for rows in self._kept if len(rows) > 1]

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
            "laps": self._lap_times(),
        }

    def _lap_times(self) -> list[float]:
        """Of the lap in progress, the last and the best one [s], and how many are made; 0 where there is none."""
        if self.laps is None:
            return [0.0] * 4
        made = self.laps.times
        last, best = (made[-1], min(made)) if made else (0.0, 0.0)
        return [self.laps.current(self.stepper.time), last, best, float(len(made))]


__all__ = ["RECENT", "STEP", "Drive"]

"""Driven lengths of distance joints during a run: none may fall to zero, where the direction of the rod is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError
from bellcrank.model.joints.distance import Distance
from bellcrank.model.parameters import value
from bellcrank.program.made import Table
from bellcrank.run.events import Event, StateEvent, Watched

if TYPE_CHECKING:
    from bellcrank.mechanics.kinematics import Kinematics
    from bellcrank.mechanism import Mechanism, State
    from bellcrank.program.trace import Scalar

SHORT = 1e-5
"""Length, over the size of the mechanism, at which a run ends: loops are closed to 1e-11 of that size, so that the
direction of a shorter rod is known to less than six digits."""

SAMPLES = 1000
"""Times at which lengths are looked at before a run; a zero between them ends the run where it is met."""

LENGTHS: Table[None, list[Event]] = Table("lengths of distance joints")


def length_events(mechanism: Mechanism) -> list[Event]:
    """Ends a run where the driven length of a distance joint falls to zero; the same events for all runs."""

    def make() -> list[Event]:
        joints = mechanism.system.joints.values()
        return [
            _ending(joint, mechanism)
            for joint in joints
            if isinstance(joint, Distance) and callable(joint.length)
        ]

    return mechanism.compiled.once(LENGTHS, None, make)


def check_lengths(mechanism: Mechanism, end: float) -> None:
    """Raise where a driven length falls to zero before a run ends that nothing else ends [s].

    Near the zero a rod that turns at all makes endlessly many turns, so such a run is not begun.
    """
    times = np.linspace(mechanism.start.t, end, SAMPLES)
    values = dict(zip(mechanism.mechanics.parameters, mechanism.parameter_values, strict=True))
    for joint in mechanism.system.joints.values():
        if isinstance(joint, Distance) and callable(joint.length):
            for t in times.tolist():
                if not value(joint.length(t), values) > 0.0:
                    raise _no_length(joint, t)


def _no_length(joint: Distance, t: float) -> ModelError:
    return ModelError(
        f"the length of distance joint {joint.name!r} falls to zero by t = {t:.6g} s, where its rod has no direction; "
        "keep length= positive, or end the run before"
    )


def _ending(joint: Distance, mechanism: Mechanism) -> Event:
    least = SHORT * mechanism.length_scale

    def left(kin: Kinematics, t: Scalar) -> Scalar:
        assert callable(joint.length)
        return joint.length(t) - least

    def stop(state: State, p: NDArray[np.float64], watched: Watched) -> None:
        raise _no_length(joint, state.t)

    return StateEvent(f"{joint.name}: no length", direction=-1, trace=left, revise=stop, recorded=False)


__all__ = ["length_events"]

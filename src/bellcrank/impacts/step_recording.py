"""Runs by steps that write as they go, and going on with them.

A checkpoint is taken at an output: the motion, and what steps know of the contacts of the steps before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts.recording import ForceRecorder, with_forces
from bellcrank.impacts.stepping import SteppedRun, known_of, told
from bellcrank.integrate import Options
from bellcrank.mechanism import State
from bellcrank.result import layout
from bellcrank.result.contact_storage import PREFIX, contact_fields, impact_arrays
from bellcrank.result.result import STEPS, Result
from bellcrank.result.storage import Stored
from bellcrank.run.recording import cut, header_of, shortened, told_of_other_versions

if TYPE_CHECKING:
    from bellcrank.run.events import Controller, Event

Array = NDArray[np.float64]

KNOWN = "known_"
"""Before the names of what steps know of contacts."""


class StepRecorder(ForceRecorder):
    """Writes a run by steps into its file."""

    @staticmethod
    def new(path: str | PathLike[str], run: SteppedRun, times: Array, options: Options) -> StepRecorder:
        """For a run that is about to start."""
        header = header_of(run, run.events, times, options, integrator=STEPS, contacts={"stepping": True})
        record = StepRecorder(path, header, run.force_numbers)
        record.begin()
        return record

    def add_output(self, run: SteppedRun, times: Array, seconds: float) -> None:
        """Bring the file up to date, where it is time to. The first output is filled in with the second."""
        if len(run.reached) < 2 or not self.due(seconds):
            return
        first, last = self.outputs, len(run.reached)
        q, u, du, forces = run.tables(first)
        p = run.parameters_at_outputs(times[:last])[first:]
        self.add(times[first:last], (q, u, du, p, forces), run.met)
        self.put(*self._contents(run, float(times[last - 1]), seconds))

    def _contents(
        self, run: SteppedRun, last: float, seconds: float
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """What a checkpoint holds. last: Time of the last output [s]."""
        run.gather()
        names = list(run.mechanism.system.contacts)
        mine, of_contacts = impact_arrays(names, run.records, run.changes)
        arrays = {PREFIX + key: a for key, a in mine.items()}
        arrays |= {KNOWN + key: a for key, a in known_of(run.scene).items()}
        kept = max((k for k, (t, _) in enumerate(run.history) if t < last), default=0)
        history = run.history[kept:]
        arrays |= {
            "x": run.scene.x,
            "speeds_before": run.speeds_before,
            "statistics": run.statistics,
            "history_p": np.array([p for _, p in history]),
        }
        if run.chosen is not None:
            state, p = run.chosen
            arrays |= {"chosen_t": np.array(state.t), "chosen_q": state.q, "chosen_u": state.u, "chosen_p": p}
        about = {
            "outputs": self.outputs,
            "events": self.events,
            "contacts": of_contacts,
            "calls": run.calls,
            "repartitions": run.repartitions,
            "h": run.h,
            "history_t": [t for t, _ in history],
            "counted": {"steps": run.steps, "rejected": 0, "evaluations": 0, "seconds": seconds},
        }
        return arrays, about


def resume_by_steps(
    path: str | PathLike[str],
    stored: Stored,
    options: Options,
    events: Sequence[Event],
    controllers: Sequence[Controller],
    progress: bool | None,
) -> Result:
    """Go on with a run by steps."""
    header = stored.header
    run = SteppedRun(header.mechanism(), options.fixed_step, events, controllers)
    record = StepRecorder(path, header, run.force_numbers)
    with told_of_other_versions(path):
        if stored.checkpoint:
            stored = cut(with_forces(stored, record.width))
            _take_over(run, stored)
        else:
            stored = shortened(stored, 0, 0)
        record.begin(stored)
        return told(run.go_on(header.output_times, progress, record))


def _take_over(run: SteppedRun, stored: Stored) -> None:
    """Be where the run was when it wrote last."""
    arrays, about = layout.unpacked(stored.checkpoint)
    mine = {k.removeprefix(PREFIX): a for k, a in arrays.items() if k.startswith(PREFIX)}
    fields = contact_fields(mine, about["contacts"], run.mechanism, len(stored.time))
    run.records, run.changes = list(fields["impacts"]), list(fields["contact_changes"])
    run.history = [(float(t), p) for t, p in zip(about["history_t"], arrays["history_p"], strict=True)]
    run.met, run.parameters_before = list(stored.events), stored.parameters
    assert stored.contact_forces is not None
    run.reached = list(zip(stored.q, stored.u, stored.du, stored.contact_forces, strict=True))
    run.steps, run.calls = int(about["counted"]["steps"]), [int(n) for n in about["calls"]]
    if len(run.calls) != len(run.samples):
        raise ValueError("the calls of another number of controllers")
    run.seconds_before = float(about["counted"]["seconds"])
    run.repartitions = [float(t) for t in about["repartitions"]]
    if "chosen_q" in arrays:
        run.chosen = (
            State(float(arrays["chosen_t"]), arrays["chosen_q"], arrays["chosen_u"]),
            arrays["chosen_p"],
        )
    run.enter(
        arrays["x"],
        {k.removeprefix(KNOWN): a for k, a in arrays.items() if k.startswith(KNOWN)},
    )
    run.statistics[:] = arrays["statistics"]
    run.speeds_before, run.h = arrays["speeds_before"], float(about["h"])


__all__ = ["StepRecorder", "resume_by_steps"]

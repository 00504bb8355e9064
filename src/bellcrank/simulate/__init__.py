"""Integrators: compiled loops over kernels, with projection, events, sampled controllers and restarts.

Nothing here imports Numba until a run begins.
"""

from bellcrank.simulate.failures import SimulationError
from bellcrank.simulate.loop import Change, Progress, integrate
from bellcrank.simulate.methods import METHODS
from bellcrank.simulate.problem import Options, Problem, Sample
from bellcrank.simulate.status import Status
from bellcrank.simulate.trajectory import EventRecord, Trajectory

__all__ = [
    "METHODS",
    "Change",
    "EventRecord",
    "Options",
    "Problem",
    "Progress",
    "Sample",
    "SimulationError",
    "Status",
    "Trajectory",
    "integrate",
]

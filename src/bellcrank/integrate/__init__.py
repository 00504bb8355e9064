"""Integrators: compiled loops over kernels, with projection, events, sampled controllers and restarts.

Nothing here imports Numba until a run begins.
"""

from bellcrank.integrate.failures import SimulationError
from bellcrank.integrate.loop import Change, Progress, integrate
from bellcrank.integrate.methods import METHODS
from bellcrank.integrate.problem import Options, Problem, Sample
from bellcrank.integrate.status import Status
from bellcrank.integrate.trajectory import EventRecord, Trajectory

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

"""Bellcrank: a compiler for mechanisms.

Describe bodies, joints and forces; Bellcrank turns exactly that mechanism into machine code and simulates
it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bellcrank.base.provided import register
from bellcrank.base.version import __version__

if TYPE_CHECKING:
    # What __getattr__ finds, for editors and type checkers.
    from bellcrank import contact as contact
    from bellcrank import elastic as elastic
    from bellcrank import files as files
    from bellcrank import flexible as flexible
    from bellcrank import fmu as fmu
    from bellcrank import gym as gym
    from bellcrank import roads as roads
    from bellcrank import study as study
    from bellcrank import tyres as tyres
    from bellcrank import vehicles as vehicles
    from bellcrank.batch import simulate_many as simulate_many
    from bellcrank.errors import AssemblyError as AssemblyError
    from bellcrank.errors import BellcrankError as BellcrankError
    from bellcrank.errors import MissingFile as MissingFile
    from bellcrank.errors import ModelError as ModelError
    from bellcrank.errors import SingularMechanism as SingularMechanism
    from bellcrank.errors import TracedBranch as TracedBranch
    from bellcrank.files import load as load
    from bellcrank.integrate import SimulationError as SimulationError
    from bellcrank.mechanism import Formulation as Formulation
    from bellcrank.mechanism import Mechanism as Mechanism
    from bellcrank.mechanism import State as State
    from bellcrank.mechanism import analyse as analyse
    from bellcrank.model import Body as Body
    from bellcrank.model import Frame as Frame
    from bellcrank.model import Joint as Joint
    from bellcrank.model import System as System
    from bellcrank.model.constraints import SplineCurve as SplineCurve
    from bellcrank.model.forces.limits import Limits as Limits
    from bellcrank.program.functions import clip as clip
    from bellcrank.program.functions import maximum as maximum
    from bellcrank.program.functions import minimum as minimum
    from bellcrank.program.functions import where as where
    from bellcrank.program.tables import linear_table as linear_table
    from bellcrank.program.tables import smooth_table as smooth_table
    from bellcrank.program.tables import table_and_integral as table_and_integral
    from bellcrank.result.result import Result as Result
    from bellcrank.result.series import Series as Series
    from bellcrank.result.storage import load_result as load_result
    from bellcrank.run.events import Controller as Controller
    from bellcrank.run.events import Event as Event
    from bellcrank.run.recording import resume as resume
    from bellcrank.study import Study as Study
    from bellcrank.study import load_study as load_study

_HOMES = {
    "System": "bellcrank.model",
    "Body": "bellcrank.model",
    "Frame": "bellcrank.model",
    "Joint": "bellcrank.model",
    "Mechanism": "bellcrank.mechanism",
    "State": "bellcrank.mechanism",
    "Formulation": "bellcrank.mechanism",
    "analyse": "bellcrank.mechanism",
    "Event": "bellcrank.run.events",
    "Controller": "bellcrank.run.events",
    "Result": "bellcrank.result.result",
    "Series": "bellcrank.result.series",
    "load": "bellcrank.files",
    "load_result": "bellcrank.result.storage",
    "resume": "bellcrank.run.recording",
    "simulate_many": "bellcrank.batch",
    "Study": "bellcrank.study",
    "load_study": "bellcrank.study",
    "SimulationError": "bellcrank.integrate",
    "BellcrankError": "bellcrank.errors",
    "ModelError": "bellcrank.errors",
    "MissingFile": "bellcrank.errors",
    "AssemblyError": "bellcrank.errors",
    "SingularMechanism": "bellcrank.errors",
    "TracedBranch": "bellcrank.errors",
    "where": "bellcrank.program.functions",
    "minimum": "bellcrank.program.functions",
    "maximum": "bellcrank.program.functions",
    "clip": "bellcrank.program.functions",
    "linear_table": "bellcrank.program.tables",
    "smooth_table": "bellcrank.program.tables",
    "table_and_integral": "bellcrank.program.tables",
    "SplineCurve": "bellcrank.model.constraints",
    "Limits": "bellcrank.model.forces.limits",
}

_FOLDERS = ("contact", "elastic", "files", "flexible", "fmu", "gym", "roads", "study", "tyres", "vehicles")
"""Packages for users that nothing else imports for them."""

# Services of upper folders for lower ones, so that all imports point in one direction.
register(
    {
        "analyse": "bellcrank.mechanism:analyse",
        "pickled mechanism": "bellcrank.result.header:pickled",
        "simulate": "bellcrank.run.simulation:simulate",
        "continuous contacts": "bellcrank.run.touch:continuous",
        "contacts as a run begins": "bellcrank.run.touch:begun",
        "gaps of contacts": "bellcrank.run.touch:gap_program",
        "a force in action": "bellcrank.mechanics.forces:Acting",
        "a pressing contact": "bellcrank.mechanics.pressing:Pressing.of",
        "motion between outputs": "bellcrank.run.between:pieces",
        "impact timing": "bellcrank.impacts.timing:Timing.of",
        "simulate impacts": "bellcrank.impacts.run:simulate_with_contacts",
        "resume impacts": "bellcrank.impacts.recording:resume_with_contacts",
        "plot": "bellcrank.view.plots:plot",
        "animation": "bellcrank.view.animation:html",
        "picture": "bellcrank.view.render:picture",
        "video": "bellcrank.view.render:video",
        "gltf": "bellcrank.view.gltf_file:gltf",
        "animation in place": "bellcrank.view.notebook:in_place",
        "drawing in place": "bellcrank.view.notebook:at_start",
        "report": "bellcrank.view.report:report",
        "citations": "bellcrank.view.citations:cite",
        "viewer": "bellcrank.view.live:Viewer",
        "equilibrium": "bellcrank.analyses.equilibrium:equilibrium",
        "linearize": "bellcrank.analyses.linearize:linearize",
        "kinematics": "bellcrank.analyses.kinematics:kinematics",
        "inverse dynamics": "bellcrank.analyses.inverse:inverse_dynamics",
        "sensitivity": "bellcrank.analyses.sensitivity:sensitivity",
        "simulate many": "bellcrank.batch:simulate_many",
        "fmu": "bellcrank.fmu:export_fmu",
        "elastic result": "bellcrank.elastic.storage:result_of",
    }
)

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    # A module is imported when its first name is asked for, so that importing the package stays quick.
    from importlib import import_module

    if name in _FOLDERS:
        return import_module(f"bellcrank.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'bellcrank' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_FOLDERS])

"""Bellcrank: a compiler for mechanisms.

Describe bodies, joints and forces; Bellcrank turns exactly that mechanism into machine code and simulates
it.
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "System": "bellcrank.model",
    "Body": "bellcrank.model",
    "Frame": "bellcrank.model",
    "Joint": "bellcrank.model",
    "JointKind": "bellcrank.model",
    "Mechanism": "bellcrank.mechanism",
    "State": "bellcrank.mechanism",
    "Formulation": "bellcrank.mechanism",
    "analyse": "bellcrank.mechanism",
    "Event": "bellcrank.run.events",
    "Controller": "bellcrank.run.events",
    "Result": "bellcrank.result.result",
    "Series": "bellcrank.result.series",
    "load_result": "bellcrank.result.storage",
    "resume": "bellcrank.run.recording",
    "simulate_many": "bellcrank.batch",
    "Study": "bellcrank.study",
    "load_study": "bellcrank.study",
    "SimulationError": "bellcrank.integrate",
    "BellcrankError": "bellcrank.errors",
    "ModelError": "bellcrank.errors",
    "AssemblyError": "bellcrank.errors",
    "SingularMechanism": "bellcrank.errors",
    "TracedBranch": "bellcrank.errors",
    "where": "bellcrank.program.functions",
    "minimum": "bellcrank.program.functions",
    "maximum": "bellcrank.program.functions",
    "clip": "bellcrank.program.functions",
    "linear_table": "bellcrank.program.tables",
    "smooth_table": "bellcrank.program.tables",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    # Rooms are opened when first entered, so that importing the package stays quick.
    if name not in _HOMES:
        raise AttributeError(f"module 'bellcrank' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)

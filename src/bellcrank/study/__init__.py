"""Studies of many runs: designs over distributions, stores that resume, clusters, global sensitivity, optimisation."""

from __future__ import annotations

from typing import Any

_HOMES = {
    "Uniform": "distributions",
    "LogUniform": "distributions",
    "Normal": "distributions",
    "LogNormal": "distributions",
    "Triangular": "distributions",
    "Truncated": "distributions",
    "Choice": "distributions",
    "Grid": "designs",
    "MonteCarlo": "designs",
    "LatinHypercube": "designs",
    "Sobol": "designs",
    "OneAtATime": "designs",
    "Given": "designs",
    "Measure": "objectives",
    "Function": "objectives",
    "Limit": "objectives",
    "Study": "study",
    "Outcome": "outcome",
    "Optimum": "optimise",
    "sobol_indices": "sensitivity",
    "morris": "sensitivity",
    "load_study": "files",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bellcrank.study' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"bellcrank.study.{_HOMES[name]}"), name)

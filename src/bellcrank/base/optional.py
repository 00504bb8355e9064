"""Packages that only some users need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from bellcrank.errors import ModelError


def needed(module: str, what: str, package: str, extra: str) -> Any:
    """A module of another package; where it is missing, an error says who needs it and how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ModelError(f"{what} needs {package}: pip install 'bellcrank[{extra}]'") from error


def finite_elements() -> Any:
    """scikit-fem."""
    return needed("skfem", "the finite element method", "scikit-fem", "elastic")

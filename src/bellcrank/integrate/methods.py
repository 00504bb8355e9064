"""The methods by name; a method is compiled only when it is used."""

from __future__ import annotations

from importlib import import_module

from bellcrank.errors import unknown_name
from bellcrank.integrate.auto import FIRST
from bellcrank.integrate.integrator import Integrator

METHODS: dict[str, str] = {
    "dop853": "explicit, order 8, adaptive: the default, accurate at low cost for smooth motion",
    "dormand_prince5": "explicit, order 5, adaptive: for loose tolerances and frequent events",
    "runge_kutta5": "explicit, order 5, adaptive, stable for longer steps: for damped mechanisms such as vehicles",
    "radau": "implicit, order 5, adaptive: for stiff mechanisms",
    "auto": "dop853 that goes over to radau while the motion is stiff",
    "generalised_alpha": "implicit, order 2, numerical damping by choice: for structural vibration",
    "milne_hamming": "predictor-corrector of order 5 by its modifiers, halving and doubling: two evaluations a step",
    "runge_kutta4": "explicit, order 4, fixed step: for real time",
}


def load(name: str) -> Integrator:
    """The method of that name."""
    if name not in METHODS:
        raise unknown_name("method", name, METHODS)
    module = import_module(f"bellcrank.integrate.{FIRST if name == 'auto' else name}")
    method: Integrator = module.METHOD
    return method

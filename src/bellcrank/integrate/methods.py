"""The methods by name. Each is a module of this package that defines `METHOD`; it is compiled only when it is used."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec

from bellcrank.errors import unknown_name
from bellcrank.integrate.integrator import Integrator

AUTO = "auto"
_PACKAGE = __name__.rpartition(".")[0]


class Methods(Mapping[str, str]):
    """What every method is for, by name. Asking for one loads that one alone."""

    @cached_property
    def _all(self) -> dict[str, str]:
        modules = (module.name for module in pkgutil.iter_modules(import_module(_PACKAGE).__path__))
        found = {name: method.purpose for name in modules if (method := _defined(name)) is not None}
        return {
            AUTO: "runge_kutta5 at tolerances from 1e-5 on, dop853 below, radau while the motion is stiff",
            **found,
        }

    def __getitem__(self, name: str) -> str:
        return self._all[name]

    def __contains__(self, name: object) -> bool:
        return name == AUTO or (isinstance(name, str) and _defined(name) is not None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


METHODS = Methods()


@cache
def _defined(name: str) -> Integrator | None:
    """The method that a module of this package defines."""
    if not name.isidentifier() or find_spec(f"{_PACKAGE}.{name}") is None:
        return None
    method: Integrator | None = getattr(import_module(f"{_PACKAGE}.{name}"), "METHOD", None)
    return method


def load(name: str) -> Integrator:
    """The method of that name; `auto` is none, it takes others."""
    method = _defined(name)
    if method is None:
        raise unknown_name("method", name, METHODS)
    return method


def implicit(name: str) -> bool:
    """Whether a method needs derivatives of the rates from the start."""
    return name != AUTO and load(name).implicit


def adaptive(name: str) -> bool:
    """Whether a method can choose its step size."""
    return name == AUTO or load(name).adaptive


def sources(name: str) -> tuple[str, ...]:
    """Whom to cite for a method; for `auto`, those it took."""
    return () if name == AUTO else load(name).sources

"""Services that upper folders provide to lower ones: a result plots itself without importing the pictures.

A lower folder asks for a service by name. The package itself says who provides it (``bellcrank/__init__.py``), and the
provider is imported at its first use.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from operator import attrgetter
from typing import Any

_PROVIDERS: dict[str, str] = {}


def register(providers: Mapping[str, str]) -> None:
    """Name the providers of services, each as ``module:function``."""
    _PROVIDERS.update(providers)


def provided(service: str) -> Any:
    """The function that provides a service."""
    module, _, function = _PROVIDERS[service].partition(":")
    return attrgetter(function)(import_module(module))

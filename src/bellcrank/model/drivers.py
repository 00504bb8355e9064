"""Prescribed motion and couplings between coordinates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from bellcrank.model.frames import Frame
from bellcrank.model.joints import Joint
from bellcrank.program.trace import Scalar


@dataclass(frozen=True, eq=False)
class CoordinateTarget:
    """A coordinate of a joint."""

    joint: Joint
    coordinate: str


@dataclass(frozen=True, eq=False)
class PointTarget:
    """The world coordinate `axis` ("x", "y" or "z") of a point [m]."""

    frame: Frame
    axis: str


Target: TypeAlias = CoordinateTarget | PointTarget


@dataclass(frozen=True, eq=False)
class Driver:
    """Makes `target` follow `function(t)` [m or rad]."""

    name: str
    target: Target
    function: Callable[..., Scalar]


@dataclass(frozen=True, eq=False)
class Coupling:
    """sum(factor * coordinate) = offset; terms are (joint, coordinate name, factor)."""

    name: str
    terms: tuple[tuple[Joint, str, Scalar], ...]
    offset: Scalar = 0.0

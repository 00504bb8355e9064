"""Runs whose reduced members leave the small deflections that their theory is for say so."""

from __future__ import annotations

import warnings

import pytest

from bellcrank.flexible import STEEL, Clamped, NormalModes, beam, circle
from bellcrank.model import System
from bellcrank.run.bending import DeflectionNote


def pulled(share: float) -> System:
    """A cantilever whose tip is pulled to about a share of its length, by the linear theory."""
    section, length = circle(0.01), 1.0
    member = beam("boom", length, section, STEEL, elements=4).reduce(NormalModes(4), Clamped("start"))
    system = System("crane", gravity=(0.0, 0.0, 0.0))
    body = system.flexible_body("arm", member)
    system.fixed("wall", system.ground, body.node("start"))
    force = 3.0 * STEEL.young * section.bending_z / length**2 * share
    system.applied_force("pull", body.node("end"), lambda t: (0.0, force * t, 0.0))
    return system


def test_what_bends_far_is_named() -> None:
    with pytest.warns(
        DeflectionNote, match=r"member 'boom' of body 'arm' deflects by 0\.\d+ m at t = 1 s, 0\.\d+ times its"
    ):
        pulled(0.5).simulate(1.0, tolerance=1e-3)


def test_what_bends_little_is_not() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeflectionNote)
        pulled(0.1).simulate(1.0, tolerance=1e-3)

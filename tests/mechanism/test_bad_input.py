"""Mistakes in a description, each answered in the user's own names and with a remedy."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from bellcrank.errors import (
    AssemblyError,
    BellcrankError,
    ModelError,
    SingularMechanism,
    TracedBranch,
    UnknownName,
)
from bellcrank.mechanism import analyse
from bellcrank.model import System
from mechanism.linkages import four_bar, truss


def rig() -> System:
    system = System("rig")
    system.body("crank", 1.0, (1, 1, 1))
    system.revolute("bearing", "ground", "crank", at=(0, 0, 0))
    return system


def two_apart(system: System) -> None:
    system.body("moon", 1.0, (1, 1, 1))
    system.body("probe", 1.0, (1, 1, 1))
    system.revolute("arm", "moon", "probe", at=(0, 0, 0))


def only_by_cut(system: System) -> None:
    system.body("flap", 1.0, (1, 1, 1))
    system.revolute("hinge", "crank", "flap", at=(1, 0, 0), cut=True)


def nothing_cut(system: System) -> None:
    system.body("rod", 1.0, (1, 1, 1), at=(1, 0, 0))
    system.revolute("pin", "crank", "rod", at=(1, 0, 0), cut=False)
    system.spherical("end", "ground", "rod", at=(2, 0, 0), cut=False)
    system.joints.pop("bearing")
    system.revolute("bearing", "ground", "crank", at=(0, 0, 0), cut=False)


MISTAKES: dict[str, tuple[Callable[[System], object], type[BellcrankError], str]] = {
    "unknown body": (
        lambda s: s.revolute("j", "ground", "crnak", at=(0, 0, 0)),
        UnknownName,
        r"no body named 'crnak'; did you mean 'crank'\?.*ground, crank",
    ),
    "unknown joint": (
        lambda s: s.driver("baering", lambda t: t),
        UnknownName,
        "no joint named 'baering'; did you mean 'bearing'",
    ),
    "unknown coordinate": (
        lambda s: s.driver("bearing", lambda t: t, coordinate="angel"),
        UnknownName,
        "'bearing' named 'angel'; did you mean 'angle'",
    ),
    "joint to itself": (
        lambda s: s.revolute("j", "crank", "crank", at=(0, 0, 0)),
        ModelError,
        "revolute joint 'j' joins body 'crank' to itself; give it two different bodies",
    ),
    "body without a joint": (
        lambda s: s.body("lone", 1.0),
        ModelError,
        r"body 'lone' has no joint; give it system.free\('...', system.ground, lone\) if it should float",
    ),
    "bodies apart from the ground": (
        two_apart,
        ModelError,
        "no chain of joints leads from the ground to 'moon', 'probe'; join one of them to the ground",
    ),
    "joined only by a cut": (
        only_by_cut,
        ModelError,
        r"'flap' .*only by cut joints \('hinge'\); take cut=True off",
    ),
    "nothing may be cut": (
        nothing_cut,
        AssemblyError,
        "cut=False, but it closes a loop with .*take cut=False off one",
    ),
    "negative mass": (
        lambda s: s.body("x", -1.0),
        ModelError,
        "mass of body 'x' is -1; it must not be negative",
    ),
    "triangle inequality": (
        lambda s: s.body("x", 1.0, (1, 1, 3)),
        ModelError,
        "inertia of body 'x'.*break the triangle inequality",
    ),
    "nan mass": (
        lambda s: s.body("x", math.nan),
        ModelError,
        "mass of body 'x' is nan; it must be a finite number",
    ),
    "nan place": (
        lambda s: s.revolute("j", "ground", "crank", at=(0, math.nan, 0)),
        ModelError,
        "at of revolute joint 'j' is nan",
    ),
    "nan gravity": (
        lambda s: setattr(s, "gravity", (0, 0, math.nan)),
        ModelError,
        "gravity of system 'rig' is nan",
    ),
    "nan parameter": (lambda s: s.parameter("k", math.nan), ModelError, "value of parameter 'k' is nan"),
    "zero axis": (
        lambda s: s.prismatic("j", "ground", "crank", axis=(0, 0, 0)),
        ModelError,
        "axis of prismatic joint 'j' is the zero vector; give it a direction",
    ),
    "branch in a force": (
        lambda s: s.joint_force("motor", "bearing", lambda rate: 1.0 if rate < 0 else 2.0),
        TracedBranch,
        "force 'motor'.*where",
    ),
    "branch in a driver": (
        lambda s: s.driver("bearing", lambda t: min(t, 1.0), name="ramp"),
        TracedBranch,
        "driver 'ramp'.*(where|minimum)",
    ),
    "name taken": (lambda s: s.body("bearing", 1.0), ModelError, "already a joint named 'bearing' in 'rig'"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_name_the_object_and_the_remedy(mistake: str) -> None:
    make, error, message = MISTAKES[mistake]

    def described_and_analysed() -> None:
        system = rig()
        make(system)
        analyse(system)

    with pytest.raises(error, match=message):
        described_and_analysed()


def test_over_constrained_and_locked() -> None:
    with pytest.raises(
        AssemblyError, match=r"closed by .*'ridge' is locked: its 2 coordinates .*left, right"
    ):
        analyse(truss())
    twice = four_bar()
    twice.driver("main", lambda t: np.pi / 2 + t, name="motor")
    twice.driver("foot", lambda t: np.pi / 2 + t, name="brake")
    with pytest.raises(AssemblyError, match=r"driver '(motor|brake)' asks for a motion that is impossible"):
        analyse(twice)
    with pytest.raises(AssemblyError, match="'ridge' is locked"):
        analyse(truss(), formulation="recursive")


def test_an_unknown_formulation_is_named() -> None:
    with pytest.raises((ValueError, UnknownName), match="recursiv"):
        analyse(rig(), formulation="recursiv")


def test_nothing_of_a_system_is_changed_by_its_analysis() -> None:
    system = four_bar()
    before = {name: (body.position, body.rotation) for name, body in system.bodies.items()}
    first, second = analyse(system), analyse(system)
    assert {name: (body.position, body.rotation) for name, body in system.bodies.items()} == before
    np.testing.assert_array_equal(first.start.q, second.start.q)
    assert first.partition == second.partition


def test_errors_are_of_one_family() -> None:
    for error in (ModelError, AssemblyError, SingularMechanism, TracedBranch, UnknownName):
        assert issubclass(error, BellcrankError)
    assert issubclass(ModelError, ValueError)

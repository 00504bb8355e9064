"""Axes that stay level along parallel hinges: fewer operations, the same motion."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bellcrank.mechanics import kinematics
from bellcrank.mechanism import State, analyse
from bellcrank.model import System
from bellcrank.program.kernel import compile_program

FORMULATIONS = ["lagrange", "reduced_lagrange", "partitioning", "independent", "recursive"]


def arm(base="ball", links=3, bent=0.3):
    """Crooked links with odd inertias on parallel axes, on a base that turns in space, a spring between two of them."""
    system = System("arm", gravity=(1.0, -2.0, -9.81))
    inner = system.body("base", 2.0, (0.2, 0.3, 0.25), (0.05, 0.02, -0.03))
    if base == "ball":
        system.spherical("foot", system.ground, inner, at=(0, 0, 0))
    elif base == "slide":
        system.prismatic("foot", system.ground, inner, at=(0, 0, 0), axis=(1, 2, 0))
    else:
        system.revolute("foot", system.ground, inner, at=(0, 0, 0), axis="x")
    before, x, y = inner, 0.2, 0.1
    for k in range(links):
        inertia = ((0.03, 0.002, -0.001), (0.002, 0.02, 0.003), (-0.001, 0.003, 0.04))
        body = system.body(f"link {k}", 1.0 + 0.2 * k, inertia, (0.1, 0.03, 0.02 * k), at=(x, y, 0.1 * k))
        system.revolute(f"hinge {k}", before, body, at=(x, y, 0.1 * k), axis=(0.0, 0.0, 1.0))
        before, x, y = body, x + 0.4 * math.cos(bent * k), y + 0.4 * math.sin(bent * k)
    system.spring("spring", system.ground.point(0.0, 1.0, 0.3), before.point(0.1, 0.2, 0.0), 30.0, 2.0, 0.5)
    return system


def accelerations(system, formulation):
    mechanism = analyse(system, formulation=formulation)
    start = mechanism.start
    rng = np.random.default_rng(4)
    q = np.array(start.q) + (rng.normal(size=len(start.q)) if mechanism.constraints == 0 else 0.0)
    for link in mechanism.linkage.links:
        if (k := link.quaternion) is not None:
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    x = mechanism.kernel_input(State(start.t, q, rng.normal(size=len(start.u))))
    program = mechanism.traced().accelerations
    return compile_program(program)(x), len(program.operations)


def tree(rng):
    """A tree of joints about parallel axes, the same ones turned round, and others; a spring on each third."""
    system = System("tree", gravity=tuple(rng.normal(size=3)))
    bodies, places = [system.ground], [np.zeros(3)]
    for k in range(7):
        p = int(rng.integers(max(0, k - 1), k + 1))
        at = tuple(places[p] + 0.3 * rng.normal(size=3))
        off = 0.004 * rng.normal(size=(3, 3))
        inertia = tuple(map(tuple, 0.05 * np.eye(3) + off + off.T))
        body = system.body(f"body {k}", 1.0 + rng.random(), inertia, tuple(0.1 * rng.normal(size=3)), at=at)
        kind = rng.choice(["hinge"] * 5 + ["turned", "skew", "slide", "ball"])
        if kind == "slide":
            system.prismatic(f"joint {k}", bodies[p], body, at=at, axis=tuple(rng.normal(size=3)))
        elif kind == "ball":
            system.spherical(f"joint {k}", bodies[p], body, at=at)
        else:
            axis = {"hinge": (0, 1, 0), "turned": (0, -1, 0)}.get(kind, tuple(rng.normal(size=3)))
            system.revolute(f"joint {k}", bodies[p], body, at=at, axis=axis)
        if k % 3 == 2:
            ends = bodies[p].point_at(tuple(rng.normal(size=3))), body.point(*rng.normal(size=3))
            system.spring(f"spring {k}", *ends, 20.0, 1.0, 0.5)
        bodies.append(body)
        places.append(np.array(at))
    return system


@pytest.mark.parametrize("seed", range(12))
def test_trees_move_as_in_the_axes_of_their_links(monkeypatch, seed):
    level = [accelerations(tree(np.random.default_rng(seed)), f)[0] for f in ("independent", "recursive")]
    monkeypatch.setattr(kinematics, "runs_of", lambda *given: {})
    turned, _ = accelerations(tree(np.random.default_rng(seed)), "independent")
    size = np.abs(turned).max()
    np.testing.assert_allclose(level, [turned] * 2, rtol=0.0, atol=1e-10 * size)


@pytest.mark.parametrize("base", ["ball", "slide", "hinge"])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_motion_is_that_in_the_axes_of_the_links(monkeypatch, formulation, base):
    level, operations = accelerations(arm(base), formulation)
    monkeypatch.setattr(kinematics, "runs_of", lambda *given: {})
    turned, more = accelerations(arm(base), formulation)
    np.testing.assert_allclose(level, turned, rtol=1e-11, atol=1e-11)
    assert operations < more


def test_a_chain_in_a_plane_has_no_turns_in_its_recursions():
    """Operations a link; 79 with turns."""
    counts = []
    for links in (20, 40):
        system = System("chain", gravity=(0.0, -9.81, 0.0))
        before = system.ground
        for k in range(links):
            link = system.body(f"link {k}", 0.1, (1e-6, 1e-4, 1e-4), (0.05, 0.0, 0.0), at=(0.1 * k, 0.0, 0.0))
            system.revolute(f"pin {k}", before, link, at=(0.1 * k, 0.0, 0.0))
            before = link
        counts.append(len(analyse(system, formulation="recursive").traced().accelerations.operations))
    assert (counts[1] - counts[0]) / 20 < 70.0

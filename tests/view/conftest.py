"""Results to be looked at."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.verify.slider_crank import slider_crank

EVIL = "</script><script>document['title']='owned'</script><img src=x onerror=\"document['title']='owned'\">"


@pytest.fixture(scope="session")
def crank() -> bc.Result:
    return slider_crank(9.81).simulate(2.0, initial={"main bearing": (0.5, 1.0)}, output=2000)


@pytest.fixture(scope="session")
def evil() -> bc.Result:
    """A model whose names try to become part of a page."""
    system = bc.System(EVIL, gravity=(0, 0, -9.81))
    k = system.parameter(f"k{EVIL}", 10.0, EVIL)
    body = system.body(f"body{EVIL}", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0))
    system.revolute(f"hinge{EVIL}", system.ground, body, at=(0, 0, 0), axis="y")
    system.spring(f"spring{EVIL}", system.ground.point(0, 0, 1), body, stiffness=k, free_length=1.0)
    low = bc.Event(f"low{EVIL}", lambda m: m[f"hinge{EVIL}.angle"] - 0.2)
    return system.simulate(1.0, events=[low], output=np.linspace(0, 1, 101))

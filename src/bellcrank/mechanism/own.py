"""The user's own constraint on quantities by name."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from bellcrank.formulations.equations import Mechanics
from bellcrank.mechanics.derived import BodyKinematics
from bellcrank.program.trace import Expr, Scalar
from bellcrank.quantities.measured import Measured
from bellcrank.quantities.quantities import Quantities
from bellcrank.quantities.snapshot import Snapshot
from bellcrank.quantities.states import checked_value

if TYPE_CHECKING:
    from bellcrank.model.constraints import Own
    from bellcrank.model.system import System
    from bellcrank.topology.tree import Tree


def own_value(system: System, tree: Tree, item: Own, kin: BodyKinematics, t: Expr) -> Scalar:
    """What is zero, of rigid bodies, joints, parameters and time."""
    seen = copy.copy(system)
    seen.drivers, seen.forces, seen.contacts, seen.collisions, seen.constraints = {}, {}, {}, {}, {}
    seen.bodies = {name: body for name, body in system.bodies.items() if body.member is None}
    mechanics = Mechanics(kin.linkage, (), (), tuple(system.parameters))
    s = Snapshot.on(seen, tree, mechanics, kin, t, kin.graph)
    who = f"constraint {item.name!r}"
    return checked_value(
        s, who, f"the function of {who}", lambda: item.function(Measured(Quantities(s), who))
    )


__all__ = ["own_value"]

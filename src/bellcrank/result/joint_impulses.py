"""What joints take in an impact: their impulsive reactions.

J^T Lambda = M du - J_c^T p over the tree (Park, Yoo, Hwang and Yang, 2000, equation 14, with the multipliers kept).
These are the equations of the joints' forces with impulses for forces and jumps of speed for their rates; so they are
read off there, less what the same state gives without an impact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from bellcrank.mechanism import Mechanism
    from bellcrank.result.impact_table import ImpactRecord

Array = NDArray[np.float64]


def joint_impulses(mechanism: Mechanism, records: Sequence[ImpactRecord]) -> dict[str, Array]:
    """For every joint impulse [N s] and moment about b's point [N m s] on b, world axes: one row of six an impact."""
    from bellcrank.result.result import Result, RunReport

    joints = tuple(mechanism.system.joints)
    if not records:
        return {name: np.zeros((0, 6)) for name in joints}
    n, speeds = len(records), mechanism.linkage.speeds
    contacts = tuple(mechanism.system.contacts)
    colliding = tuple(mechanism.system.colliding)
    struck = np.zeros((n, 3 * len(contacts) + 6 * len(colliding)))
    for k, record in enumerate(records):
        for c in record.contacts:
            if c.bodies is not None:
                for body, p in zip(c.bodies, (-c.on_b, c.on_b), strict=True):
                    if body in colliding:
                        i = 3 * len(contacts) + 6 * colliding.index(body)
                        struck[k, i : i + 6] += [*np.cross(c.point, p), *p]
                continue
            i = 3 * contacts.index(c.contact)
            struck[k, i : i + 3] += c.on_b
    jump = np.array([r.speeds_after - r.speeds_before for r in records])
    states = Result(
        mechanism,
        np.tile([r.time for r in records], 2),
        np.tile([r.q for r in records], (2, 1)),
        np.zeros((2 * n, speeds)),
        np.vstack([jump, np.zeros_like(jump)]),
        np.tile([r.parameters for r in records], (2, 1)),
        RunReport("done", "", "", 0, 0, 0, 0.0),
        contact_forces=np.vstack([struck, np.zeros_like(struck)]),
    )
    names = [f"{joint}.{part}" for joint in joints for part in ("force", "torque")]
    values = [np.asarray(s) for s in states.compute(names)]
    taken = [v[:n] - v[n:] for v in values]
    return {joint: np.hstack([taken[2 * k], taken[2 * k + 1]]) for k, joint in enumerate(joints)}

"""Members that bent farther than their theory goes."""

from __future__ import annotations

import warnings

import numpy as np

from bellcrank.flexible.member import Member
from bellcrank.result.result import Result

FAR = 0.3
"""Displacement over the size of a member from which on a run is warned of. There a cantilever under a force at its tip
moves by a tenth less than the linear theory says (elastica: 0.3017 of its length instead of 1/3)."""


class DeflectionNote(UserWarning):
    """A reduced member bent so far that its small-deflection theory no longer holds."""


def note_deflections(result: Result) -> None:
    """Warn of each reduced member that bent far at an output."""
    linkage = result.mechanism.linkage
    for body in result.mechanism.system.bodies.values():
        member = body.member
        if not isinstance(member, Member) or not len(result):
            continue
        link = linkage.links[linkage.placements[body.name].link]
        bent = result.q[:, link.eta_q : link.eta_q + link.modes]
        # Where one coordinate or all of them together are largest: more outputs than these need not be looked at.
        rows = np.unique([*np.abs(bent).argmax(axis=0), np.linalg.norm(bent, axis=1).argmax()])
        moved = np.linalg.norm(member.drawn(bent[rows]) - member.drawn_points, axis=-1).max(axis=-1)
        most = int(moved.argmax())
        share = float(moved[most]) / member.extent
        if share > FAR:
            warnings.warn(
                f"member {member.name!r} of body {body.name!r} deflects by {moved[most]:.3g} m at t = "
                f"{result.time[rows[most]]:.4g} s, {share:.2g} times its size; reduced members are for small "
                "deflections and the result is not to be trusted there; members that bend far are rods, see "
                "bellcrank.flexible.rod",
                DeflectionNote,
                stacklevel=4,
            )


__all__ = ["DeflectionNote", "note_deflections"]

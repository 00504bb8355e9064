"""How much of a body the kept modes can carry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DIRECTIONS = ("x", "y", "z", "about x", "about y", "about z")
ENOUGH_MASS = 0.9
SMALL_RESIDUAL = 0.05


@dataclass(frozen=True, eq=False)
class Truncation:
    """A measure of what the left-out modes would have carried.

    effective_mass: Share of the rigid mass (inertia) in each direction that a mode moves, (n, 6); the columns
    of a complete basis add up to the share that is free to move in the frame. Zero for a body in mean axes,
    whose modes carry no rigid motion. reachable_mass: The sum over all modes, kept or not, (6,).
    static_residual: By node, the share of the true compliance under a unit force (torque) there in each
    direction that the modes miss, (6,); not a number where the node is held by the frame. remedy: What would make the
    largest of these smaller, given the modes that were chosen.
    """

    effective_mass: Array
    reachable_mass: Array = field(default_factory=lambda: np.full(6, np.nan))
    static_residual: Mapping[str, Array] = field(default_factory=dict)
    remedy: str = "attachment modes or Craig-Bampton at that node remove it"

    @property
    def mass_shares(self) -> Array:
        """Sum of the effective mass shares over the modes, per direction, (6,)."""
        return np.asarray(self.effective_mass.sum(axis=0))

    @property
    def missing_mass(self) -> Array:
        """The share of the reachable mass that the kept modes leave out, per direction, (6,); nan if none is
        reachable."""
        reachable = np.where(self.reachable_mass > 1e-9, self.reachable_mass, np.nan)
        return np.asarray(1.0 - self.mass_shares / reachable)

    @property
    def worst_residual(self) -> tuple[str, str, float] | None:
        """Named node, direction and share of the largest static residual; None if there is none.

        Nodes that only carry a number ("node 3") are left to :attr:`static_residual`.
        """
        worst: tuple[str, str, float] | None = None
        for name, shares in self.static_residual.items():
            if name.startswith("node "):
                continue
            for direction, share in zip(DIRECTIONS, shares, strict=True):
                if np.isfinite(share) and (worst is None or share > worst[2]):
                    worst = (name, direction, float(share))
        return worst

    def __str__(self) -> str:
        shares = ", ".join(
            f"{name} {100 * share:.1f} %" for name, share in zip(DIRECTIONS, self.mass_shares, strict=True)
        )
        lines = [f"effective mass: {shares}"]
        for name, missing in zip(DIRECTIONS, self.missing_mass, strict=True):
            if np.isfinite(missing) and missing > 1.0 - ENOUGH_MASS:
                lines.append(
                    f"  {100 * missing:.1f} % of the movable mass {name} is left out; keep more modes"
                )
        worst = self.worst_residual
        if worst is not None:
            node, direction, share = worst
            line = f"static residual: at most {100 * share:.2g} % (node {node!r}, {direction})"
            if share > SMALL_RESIDUAL:
                line += f"; {self.remedy}"
            lines.append(line)
        return "\n".join(lines)

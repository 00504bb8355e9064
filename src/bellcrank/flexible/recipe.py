"""How a member was made, kept beside its numbers so that a model file can say it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bellcrank.base.keys import TEXT, TRUTH, may, must, ref, words

if TYPE_CHECKING:
    from bellcrank.flexible.damping import Damping
    from bellcrank.flexible.frames import MemberFrame
    from bellcrank.flexible.modes import Reduction


REDUCED = (
    may("name", TEXT, "Name of the member in messages; by default the name of the body."),
    must("modes", ref("modes"), "Modal coordinates that are kept.", python="reduction"),
    may("frame", ref("member_frame"), "Frame in which deformation is measured; by default mean axes."),
    may("damping", ref("member_damping"), "Structural damping; none by default."),
    may(
        "stiffening",
        TRUTH,
        "Whether second-order displacements (geometric stiffening) are kept; true by default.",
    ),
)
"""Keys of model files that say how a member is reduced, beside those of its elastic model."""
CHECK_UNITS = may("check_units", TRUTH, "Whether numbers far from SI units are refused.")
MASS = may("mass", words("consistent", "lumped"), "How mass is spread over the nodes.")


@dataclass(frozen=True, eq=False)
class ModelRecipe:
    """The function that made an elastic model ("beam", "solid", "matrices") and what it was given."""

    kind: str
    given: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class MemberRecipe:
    """An elastic model and how it was reduced; see :meth:`bellcrank.flexible.model.ElasticModel.reduce`."""

    model: ModelRecipe
    reduction: Reduction
    frame: MemberFrame | None
    damping: Damping | None
    stiffening: bool

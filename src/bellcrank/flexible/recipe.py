"""How a member was made, kept beside its numbers so that a model file can say it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bellcrank.flexible.damping import Damping
    from bellcrank.flexible.frames import MemberFrame
    from bellcrank.flexible.modes import Reduction


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

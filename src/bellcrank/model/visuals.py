"""How a body looks: shapes and meshes for the eye alone, without effect on the motion."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bellcrank.base.keys import NUMBER, TEXT, Keys, may, must, ref
from bellcrank.errors import ModelError
from bellcrank.model import checks

if TYPE_CHECKING:
    from bellcrank.contact.shapes import Shape
    from bellcrank.model.frames import Frame

COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


@dataclass(frozen=True, eq=False)
class Visual:
    """A shape that a body is drawn by.

    frame: Of the shape. colour: "#rrggbb", or None for that of the body. opacity: From 0, not seen, to 1.
    """

    keys: ClassVar[Keys] = Keys(
        "A shape or mesh that a body is drawn by, without effect on the motion.",
        must("shape", ref("shape"), "The shape on its body; a mesh may be a file beside the model."),
        may("colour", TEXT, "#rrggbb; that of the body where missing."),
        may("opacity", NUMBER, "From 0 to 1; 1 where missing. A plain number.", plain=True),
    )

    frame: Frame
    shape: Shape
    colour: str | None = None
    opacity: float = 1.0


def make_visual(frame: Frame, shape: Shape, colour: Any, opacity: Any) -> Visual:
    """A checked visual."""
    who = f"a visual of body {frame.body.name!r}"
    if colour is not None and not (isinstance(colour, str) and COLOUR.fullmatch(colour)):
        raise ModelError(f'the colour of {who} is a text such as "#3b75af", not {colour!r}')
    share = checks.plain_number(f"opacity of {who}", opacity, "what is drawn is made of plain numbers")
    if not 0.0 <= share <= 1.0:
        raise ModelError(f"the opacity of {who} lies between 0 and 1, not {opacity!r}")
    return Visual(frame, shape, None if colour is None else colour.lower(), float(share))

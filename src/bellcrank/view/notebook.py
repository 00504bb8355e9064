"""What a notebook shows of results and systems: the page of the animation in a frame, with nothing to load."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from bellcrank.errors import BellcrankError
from bellcrank.view.animation import page

if TYPE_CHECKING:
    from bellcrank.model.system import System
    from bellcrank.result.result import Result

FRAMES = 200
"""Of an animation in a notebook, which is kept in its file."""


def in_place(result: Result) -> str:
    """The animation of a result as an element of a page."""
    if not len(result):
        return f"<pre>{escape(repr(result))}</pre>"
    return _frame(page(result, frames=FRAMES))


def at_start(system: System) -> str:
    """A system as it is described, or why it cannot be put together."""
    from bellcrank.view.live.again import at_start as started

    try:
        return _frame(page(started(system.mechanism()), []))
    except BellcrankError as error:
        return f"<pre>{escape(repr(system))}\n{escape(str(error))}</pre>"


def _frame(text: str) -> str:
    """A page in a frame of its own, which runs its script but reaches nothing of the notebook."""
    return (
        f'<iframe srcdoc="{escape(text, quote=True)}" sandbox="allow-scripts" width="100%" height="520" '
        'style="border:1px solid #d0d7de"></iframe>'
    )

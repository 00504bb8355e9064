"""The words of the expression language."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from bellcrank.files.documents import Text

MAX_LENGTH = 2**20
"""Characters of one expression; tables of measured data are the long ones."""

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)?)
    | (?P<quoted>"(?:[^"\\]|\\.)*")
    | (?P<mark>\*\*|<=|>=|==|!=|[-+*/^<>()\[\],])
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Token:
    """A number, a name, a quoted name, a mark, or the end; with its place in the text."""

    kind: str
    text: str
    start: int

    @property
    def width(self) -> int:
        """Characters in the text."""
        return max(1, len(self.text))


def tokens(source: Text) -> list[Token]:
    """The tokens of an expression, an "end" token last."""
    text = source.value
    if len(text) > MAX_LENGTH:
        raise source.error(f"the expression is longer than {MAX_LENGTH} characters", 0, 1)
    found: list[Token] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            start = at + len(text[at:]) - len(text[at:].lstrip())
            raise source.error(f"{text[start]!r} is not part of the expression language", start, 1)
        kind = match.lastgroup or ""
        token = Token(kind, match.group(kind), match.start(kind))
        if kind in ("number", "name") and found and found[-1].kind == "number" and token.start == at:
            raise source.error(
                f"a number runs into {token.text!r}; write * between them", token.start, token.width
            )
        found.append(token)
        at = match.end()
    found.append(Token("end", "", len(text)))
    return found


def unquoted(source: Text, token: Token) -> str:
    """The name a quoted token stands for; escapes are those of JSON."""
    try:
        name: str = json.loads(token.text, strict=False)
    except ValueError as error:
        raise source.error(f"this quoted name cannot be read: {error}", token.start, token.width) from error
    return name


def quoted(name: str) -> str:
    """A name as a quoted token."""
    return json.dumps(name, ensure_ascii=False)


def is_word(name: str) -> bool:
    """Whether a name can stand in an expression without quotes, as far as its letters go."""
    return re.fullmatch(r"[^\W\d]\w*", name) is not None

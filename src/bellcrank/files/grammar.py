"""The expression language: a Pratt parser from tokens to postfix code.

From loose to tight: ``or``; ``and``; ``not``; comparisons, which chain (0 < x < 1); ``+ -``; ``* /``; sign;
``^`` or ``**``, from the right. V. R. Pratt, "Top down operator precedence", POPL 1973.

Postfix code is evaluated by a loop, so a long sum needs no depth; brackets do, and are bounded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from bellcrank.files.documents import Text
from bellcrank.files.tokens import Token, tokens, unquoted

MAX_DEPTH = 64
QUOTES = "inside [ ] and { } of YAML, put an expression with commas into quotes"
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
CONSTANTS = {"pi": math.pi, "inf": math.inf}
OPERATORS = ("and", "or", "not")

OR, AND, NOT, COMPARE, SUM, PRODUCT, SIGN, POWER, ATOM = range(1, 10)
"""How tightly things bind."""

_BINDING = {
    "or": OR,
    "and": AND,
    **dict.fromkeys(("+", "-"), SUM),
    **dict.fromkeys(("*", "/"), PRODUCT),
    **dict.fromkeys(("^", "**"), POWER),
    **dict.fromkeys(COMPARISONS, COMPARE),
}


@dataclass(frozen=True)
class Step:
    """One step of postfix code.

    action: "number" (push `what`), "name" or "parameter" (push the value of the name `what`), "negate",
    "not", "list" (of `count`), "call" (function `what` of `count`), "compare" (signs `what`, `count`
    operands), or a binary operator.
    """

    action: str
    what: Any
    count: int
    token: Token


def parse(source: Text) -> tuple[Step, ...]:
    """The code of an expression."""
    return _Parser(source).whole()


class _Parser:
    def __init__(self, source: Text) -> None:
        self.source = source
        self.tokens = tokens(source)
        self.at = 0
        self.depth = 0
        self.code: list[Step] = []

    def whole(self) -> tuple[Step, ...]:
        if self._here.kind == "end":
            raise self.source.error("an expression is missing here", 0, 1)
        self._expression(OR)
        if self._here.kind != "end":
            raise self._unexpected("an operator")
        return tuple(self.code)

    @property
    def _here(self) -> Token:
        return self.tokens[self.at]

    def _next(self) -> Token:
        token = self._here
        self.at += 1
        return token

    def _is(self, text: str) -> bool:
        return self._here.kind == "mark" and self._here.text == text

    def _expect(self, text: str) -> None:
        if not self._is(text):
            raise self._unexpected(repr(text))
        self.at += 1

    def _unexpected(self, wanted: str) -> Exception:
        token = self._here
        if token.kind != "end":
            unit = token.kind == "name" and self.at > 0 and self.tokens[self.at - 1].kind == "number"
            hint = "; numbers carry no units here, all are SI" if unit else ""
            return self.source.error(
                f"expected {wanted} before {token.text!r}{hint}", token.start, token.width
            )
        hint = ""
        if self.source.plain and self.source.value.count("(") > self.source.value.count(")"):
            hint = f"; {QUOTES}"
        return self.source.error(f"the expression ends where {wanted} is expected{hint}", token.start, 1)

    def _emit(self, action: str, token: Token, what: Any = None, count: int = 0) -> None:
        self.code.append(Step(action, what, count, token))

    def _expression(self, floor: int) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.source.error(
                f"nested more than {MAX_DEPTH} deep; name a part of it in 'let' or 'definitions'",
                self._here.start,
                1,
            )
        self._operand()
        while self._here.kind in ("mark", "name"):
            binding = _BINDING.get(self._here.text, 0)
            if binding < floor or not binding:
                break
            if binding == COMPARE:
                self._comparison()
                continue
            token = self._next()
            self._expression(POWER if binding == POWER else binding + 1)
            self._emit("^" if binding == POWER else token.text, token)
        self.depth -= 1

    def _comparison(self) -> None:
        first = self._here
        signs: list[str] = []
        while self._here.kind == "mark" and self._here.text in COMPARISONS:
            signs.append(self._next().text)
            self._expression(SUM)
        self._emit("compare", first, tuple(signs), len(signs) + 1)

    def _operand(self) -> None:
        token = self._next()
        match token.kind, token.text:
            case "number", text:
                value = float(text)
                if math.isinf(value):
                    raise self.source.error(
                        f"{text} is too large for a number of double precision", token.start, token.width
                    )
                self._emit("number", token, value)
            case "quoted", _:
                self._emit("parameter", token, unquoted(self.source, token))
            case "mark", "(":
                self._expression(OR)
                self._expect(")")
            case "mark", "[":
                self._emit("list", token, count=self._sequence("]"))
            case "mark", "-":
                self._expression(SIGN)
                self._emit("negate", token)
            case "mark", "+":
                self._expression(SIGN)
            case "name", "not":
                self._expression(NOT)
                self._emit("not", token)
            case "name", text if text not in OPERATORS:
                self._name(token)
            case _:
                self.at -= 1
                raise self._unexpected("a number or a name")

    def _name(self, token: Token) -> None:
        if self._is("("):
            self.at += 1
            self._emit("call", token, token.text, self._sequence(")"))
        elif token.text in CONSTANTS:
            self._emit("number", token, CONSTANTS[token.text])
        else:
            self._emit("name", token, token.text)

    def _sequence(self, end: str) -> int:
        """Expressions between commas up to `end`; how many there are."""
        if self._is(end):
            self.at += 1
            return 0
        count = 1
        self._expression(OR)
        while self._is(","):
            self.at += 1
            count += 1
            self._expression(OR)
        self._expect(end)
        return count

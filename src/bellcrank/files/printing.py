"""Traced expressions written in the expression language; reading them gives the same nodes again.

A traced expression is a graph: what is used twice is one node. Written out as a tree it may explode, so what
is used more than once, or grows too long or too deep, gets a name of its own. Powers and doubles are written
as such where the tracer would make the same multiplications of them again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count

from bellcrank.errors import ModelError
from bellcrank.files.grammar import AND, ATOM, COMPARE, NOT, OR, POWER, PRODUCT, SIGN, SUM
from bellcrank.program.functions import reachable
from bellcrank.program.trace import Expr, Scalar

MAX_TEXT = 300
"""Characters after which a part gets a name (tables of numbers may be longer)."""
MAX_NESTING = 12

_MARKS = {"lt": "<", "le": "<=", "eq": "=="}
_ADD_LIKE = {"add": "+", "sub": "-"}


@dataclass(frozen=True)
class Piece:
    """A printed expression: how tightly it binds, how deep its brackets are, whether it is a condition."""

    text: str
    binding: int
    depth: int = 0
    truth: bool = False


def number_text(value: float) -> str:
    """The shortest text that reads as exactly this number."""
    if math.isnan(value):
        raise ModelError("an expression holds the constant NaN, which model files cannot carry")
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value == int(value) and abs(value) < 1e15 and not (value == 0 and math.copysign(1.0, value) < 0):
        return str(int(value))
    return repr(float(value))


def print_expressions(
    roots: Sequence[Scalar], leaf: Callable[[str], str], taken: Iterable[str], prefix: str = "s"
) -> tuple[dict[str, str], list[str]]:
    """Definitions by name, in order, and the text of every root (all of one graph).

    leaf: The text of an input. taken: Names that definitions must not have.
    """
    return _Printer(roots, leaf, taken, prefix).printed()


class _Printer:
    def __init__(
        self, roots: Sequence[Scalar], leaf: Callable[[str], str], taken: Iterable[str], prefix: str
    ) -> None:
        self.roots = roots
        self.whole = {root.id for root in roots if isinstance(root, Expr)}
        self.leaf = leaf
        avoid = set(taken)
        self.fresh = (name for n in count(1) if (name := f"{prefix}{n}") not in avoid)
        self.powers: dict[int, tuple[Expr, int]] = {}
        self.pieces: dict[int, Piece] = {}
        self.definitions: dict[str, str] = {}

    def printed(self) -> tuple[dict[str, str], list[str]]:
        nodes = reachable(self.roots)
        for node in nodes:
            self.powers[node.id] = self._power(node)
        uses = self._uses(nodes)
        for node in nodes:
            if uses.get(node.id):
                self.pieces[node.id] = self._placed(node, uses[node.id])
        return self.definitions, [self._text(root) for root in self.roots]

    def _text(self, root: Scalar) -> str:
        return self._number(root).text

    def _uses(self, nodes: Sequence[Expr]) -> dict[int, int]:
        """How often each node is written, from the roots down; nodes inside a power are not."""
        uses: dict[int, int] = {}
        for root in self.roots:
            if isinstance(root, Expr):
                uses[root.id] = uses.get(root.id, 0) + 1
        for node in reversed(nodes):
            if uses.get(node.id):
                for part in self._parts(node):
                    uses[part.id] = uses.get(part.id, 0) + 1
        return uses

    def _parts(self, node: Expr) -> list[Expr]:
        base, exponent = self.powers[node.id]
        if exponent > 1:
            return [base]
        if _is_double(node):
            return [node.args[0]]
        return [a for a in node.args if isinstance(a, Expr)]

    def _power(self, node: Expr) -> tuple[Expr, int]:
        """(base, n) where the tracer makes this node of base ^ n: squares, times what the low bits left."""
        if node.op != "mul" or not isinstance(node.args[1], Expr):
            return node, 1
        (base_a, a), (base_b, b) = (self.powers[x.id] for x in node.args)
        if base_a is not base_b:
            if node.args[0] is node.args[1]:
                return node.args[0], 2
            # x * x^2, where x itself is a power of something: take x as the base.
            low, high = sorted(node.args, key=lambda x: x.id)
            if high.op == "mul" and high.args[0] is low and high.args[1] is low:
                return low, 3
            return node, 1
        low_n, high_n = min(a, b), max(a, b)
        squares = high_n & (high_n - 1) == 0
        if squares and (low_n < high_n or a == b) and low_n + high_n <= 64:
            return base_a, low_n + high_n
        return (node.args[0], 2) if node.args[0] is node.args[1] else (node, 1)

    def _placed(self, node: Expr, uses: int) -> Piece:
        piece = self._piece(node)
        table = node.op in ("interval", "gather")
        shared = uses > 1 and (table or any(part.op != "input" for part in self._parts(node)))
        large = piece.depth > MAX_NESTING or (len(piece.text) > MAX_TEXT and not table)
        if shared or (large and node.id not in self.whole):
            name = next(self.fresh)
            self.definitions[name] = piece.text
            return Piece(name, ATOM, 0, piece.truth)
        return piece

    def _piece(self, node: Expr) -> Piece:
        base, exponent = self.powers[node.id]
        if exponent > 1:
            return self._joined(f"{{}} ^ {exponent}", POWER, (base, ATOM))
        if _is_double(node):
            return self._joined("2 * {}", PRODUCT, (node.args[0], SIGN))
        args = node.args
        match node.op:
            case "input":
                return Piece(self.leaf(args[0]), ATOM)
            case "neg":
                return self._joined("-{}", SIGN, (args[0], POWER))
            case "add" | "sub":
                return self._sum(node)
            case "mul" if not isinstance(args[1], Expr) and self._number(args[0]).binding > PRODUCT:
                return self._joined("{} * {}", PRODUCT, (args[1], PRODUCT), (args[0], SIGN))
            case "mul":
                return self._joined("{} * {}", PRODUCT, (args[0], PRODUCT), (args[1], SIGN))
            case "div":
                return self._joined("{} / {}", PRODUCT, (args[0], PRODUCT), (args[1], POWER))
            case "pow":
                return self._joined("{} ^ {}", POWER, (args[0], ATOM), (args[1], ATOM))
            case "lt" | "le" | "eq":
                mark = f"{{}} {_MARKS[node.op]} {{}}"
                return self._joined(mark, COMPARE, (args[0], SUM), (args[1], SUM), truth=True)
            case "and":
                return self._joined("{} and {}", AND, (args[0], AND), (args[1], NOT), truth=True)
            case "or":
                return self._joined("{} or {}", OR, (args[0], OR), (args[1], AND), truth=True)
            case "not":
                return self._joined("not {}", NOT, (args[0], COMPARE), truth=True)
            case "select":
                return self._joined("where({}, {}, {})", ATOM, *((a, 0) for a in args), deeper=1)
            case "interval" | "gather":
                numbers = ", ".join(number_text(x) for x in args[1])
                return self._joined(f"{node.op}({{}}, [{numbers}])", ATOM, (args[0], 0), deeper=1)
            case op:
                places = ", ".join("{}" for _ in args)
                return self._joined(f"{op}({places})", ATOM, *((a, 0) for a in args), deeper=1)

    def _sum(self, node: Expr) -> Piece:
        a, b = node.args
        if node.op == "add" and not isinstance(b, Expr) and b < 0:
            return self._joined("{} - {}", SUM, (a, SUM), (-b, PRODUCT))
        return self._joined(f"{{}} {_ADD_LIKE[node.op]} {{}}", SUM, (a, SUM), (b, PRODUCT))

    def _number(self, x: Scalar) -> Piece:
        """A part where a number is wanted; a condition counts 1 or 0 there."""
        if not isinstance(x, Expr):
            return Piece(number_text(x), SIGN if math.copysign(1.0, x) < 0 else ATOM)
        piece = self.pieces[x.id]
        return Piece(f"where({piece.text}, 1, 0)", ATOM, piece.depth + 1) if piece.truth else piece

    def _joined(
        self, form: str, binding: int, *parts: tuple[Scalar, int], deeper: int = 0, truth: bool = False
    ) -> Piece:
        """The parts in a form, in brackets where they bind less than their place asks for."""
        texts: list[str] = []
        depth = 0
        for n, (part, least) in enumerate(parts):
            condition = binding in (OR, AND, NOT) or (n == 0 and form.startswith("where("))
            piece = self.pieces[part.id] if condition and isinstance(part, Expr) else self._number(part)
            brackets = piece.binding < least
            texts.append(f"({piece.text})" if brackets else piece.text)
            depth = max(depth, piece.depth + brackets)
        return Piece(form.format(*texts), binding, depth + deeper, truth)


def _is_double(node: Expr) -> bool:
    """Whether 2 * x makes this node again, which it does not where x has a factor to take the 2 in."""
    if node.op != "add" or node.args[0] is not node.args[1]:
        return False
    x = node.args[0]
    return x.op != "mul" or isinstance(x.args[1], Expr)

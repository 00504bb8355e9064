"""The expression language against Python's own arithmetic, and printing against reading."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bellcrank.files.documents import Text
from bellcrank.files.language import Formula
from bellcrank.files.places import ModelFileError, Place, Source
from bellcrank.files.printing import print_expressions
from bellcrank.program import functions, trace
from bellcrank.program.functions import reachable, where
from bellcrank.program.graph import Graph
from bellcrank.program.trace import FUNCTIONS_1, Expr


class Known:
    """Names with their values; all of them parameters too."""

    def __init__(self, **values):
        self.values = values

    def find(self, name):
        return self.values.get(name)

    find_parameter = find

    def listed(self):
        return list(self.values)

    listed_parameters = listed


def text(expression: str) -> Text:
    return Text(Place(Source("test", expression), 0, 0), expression)


def value(expression: str, **names):
    return Formula(text(expression)).value(Known(**names))


@pytest.mark.parametrize(
    "expression",
    ["1 + 2 * 3", "-2 ** 2", "2 ** 3 ** 2", "2 ** -1", "1 - 2 - 3", "8 / 4 / 2", "(1 + 2) * 3", "-(-3)",
     "+4 - -4", "1e5 + .5 - 3.", "2 * -3", "7 - 2 * -3 ** 2", "1e-300 * 1e-10", "0.1 + 0.2"],
)  # fmt: skip
def test_arithmetic_is_that_of_python(expression: str) -> None:
    expected = {
        "1 + 2 * 3": 7.0, "-2 ** 2": -4.0, "2 ** 3 ** 2": 512.0, "2 ** -1": 0.5, "1 - 2 - 3": -4.0,
        "8 / 4 / 2": 1.0, "(1 + 2) * 3": 9.0, "-(-3)": 3.0, "+4 - -4": 8.0, "1e5 + .5 - 3.": 99997.5,
        "2 * -3": -6.0, "7 - 2 * -3 ** 2": 25.0, "1e-300 * 1e-10": 1e-310, "0.1 + 0.2": 0.1 + 0.2,
    }  # fmt: skip
    assert value(expression) == expected[expression]
    assert value(expression.replace("**", "^")) == expected[expression]


@pytest.mark.parametrize("name", FUNCTIONS_1)
def test_functions_are_those_of_the_tracer(name: str) -> None:
    x = Graph().input("x")
    assert value(f"{name}(x)", x=x) is trace.function(name, x)
    assert value(f"{name}(0.25)") == trace.function(name, 0.25)


def test_choices_and_conditions() -> None:
    cases = {
        "where(0 < x < 1 and not x == 0.3, 5, 6)": lambda x: 5 if 0 < x < 1 and x != 0.3 else 6,
        "where(x >= 1 or x <= -1, x, 0)": lambda x: x if abs(x) >= 1 else 0,
        "where(x != 0.3, 1, 2)": lambda x: 1 if x != 0.3 else 2,
        "min(x, 0.5, 2) + max(x, -1) + clip(x, -0.5, 0.5)": (
            lambda x: min(x, 0.5) + max(x, -1) + min(max(x, -0.5), 0.5)
        ),
        "sign(x) * abs(x) + atan2(x, 2) + pi": lambda x: x + math.atan2(x, 2) + math.pi,
        "table(x, [-1, 0, 1], [1, 0, 1])": lambda x: min(abs(x), 1.0),
        "extended_table(x, [-1, 0, 1], [1, 0, 1])": abs,
        "extended_spline(x, [-2, -1, 0, 1, 2], [4, 1, 0, 1, 4])": lambda x: x * x,
    }
    for expression, expected in cases.items():
        for x in (-1.5, -0.25, 0.0, 0.3, 0.75, 1.0, 2.0):
            assert value(expression, x=x) == pytest.approx(expected(x), abs=1e-14), (expression, x)


def test_tracing_agrees_with_numpy() -> None:
    x = Graph().input("x")
    traced = value("-2.5 * max(x - 1, 0) ^ 2 + sin(x) / 3", x=x)
    assert traced is -2.5 * np.maximum(x - 1, 0) ** 2 + np.sin(x) / 3


@pytest.mark.parametrize(
    ("expression", "message", "column"),
    [
        ("2 * stifness", "no name 'stifness' here; did you mean 'stiffness'?", 5),
        ('2 * "stifness"', "no parameter named 'stifness'; did you mean 'stiffness'?", 5),
        ("1 + sine(x)", "no function 'sine'; did you mean 'sin", 5),
        ("sin", "'sin' is a function", 1),
        ("sin(1, 2)", "sin takes 1 arguments, not 2", 1),
        ("max(1)", "max takes at least 2 arguments, not 1", 1),
        ("1 + ", "ends where a number or a name is expected", 5),
        ("(1 + 2", "ends where ')' is expected", 7),
        ("1 2", "expected an operator before '2'", 3),
        ("3x", "a number runs into 'x'", 2),
        ("1 + $", "'$' is not part of the expression language", 5),
        ("1 / 0", "has no value", 3),
        ("sqrt(-1)", "has no value", 1),
        ("1e400", "too large", 1),
        ("1e300 * 1e300", "no finite value", 7),
        ("where(1, 2, 3)", "argument 1 of 'where' must be a condition", 1),
        ("(x < 1) + 1", "argument 1 of '+' must be a number", 9),
        ("1 and 2", "argument 1 of 'and' must be a condition", 3),
        ("table(x, [0, x], [1, 2])", "a list holds plain numbers", 10),
        ("table(x, [1, 0], [1, 2])", "must increase", 1),
        ("interval(x, [1])", "two or more", 1),
        ("", "an expression is missing", 1),
        ("__import__('os')", "is not part of the expression language", 12),
        ("x.__class__", "no name 'x.__class__' here", 1),
        ("(1).real", "is not part of the expression language", 4),
    ],
)
def test_mistakes_are_pointed_at(expression: str, message: str, column: int) -> None:
    x = Graph().input("x")
    with pytest.raises(ModelFileError) as caught:
        value(expression, x=x, stiffness=3.0)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column) == (1, column)


def test_the_caret_stands_below_the_word() -> None:
    with pytest.raises(ModelFileError) as caught:
        value("2 * stifness + 1", stiffness=3.0)
    _, shown, marks = str(caught.value).split("\n")
    assert shown[marks.index("^") :].startswith("stifness")
    assert marks.strip() == "^~~~~~~~"


def test_depth_is_bounded_and_length_needs_none() -> None:
    for deep in ("(" * 500 + "1" + ")" * 500, "-" * 5000 + "1", "2" + "^2" * 5000, "not " * 500 + "1 < 2"):
        with pytest.raises(ModelFileError, match="nested more than"):
            value(deep)
    assert value(" + ".join(["1"] * 20000)) == 20000.0
    with pytest.raises(ModelFileError, match="longer than"):
        value("1 + " * 300_000 + "1")


ONE = [f for f in FUNCTIONS_1 if f != "floor"]


@st.composite
def graphs(draw) -> list[Expr]:
    """Random expressions of three inputs, with sharing; never all constant."""
    graph = Graph()
    numbers = [graph.input(n) for n in ("x", "y", "two words")]
    constants = st.sampled_from([0.5, 2.0, -1.0, 3.0, -2.5, 1e-5, 1e20, 0.1, math.inf])
    for _ in range(draw(st.integers(1, 25))):
        a = draw(st.sampled_from(numbers))
        b = draw(st.sampled_from(numbers) | constants)
        op = draw(
            st.sampled_from(["+", "-", "*", "/", "r-", "r/", "^", "n", "f", "min", "where", "table", "a2"])
        )
        made = {
            "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
            "/": lambda a, b: a / b, "r-": lambda a, b: b - a, "r/": lambda a, b: b / a,
            "^": lambda a, b: a ** draw(st.sampled_from([2, 3, 4, 5, 6, 7, 8, 0.5, 0.3, -2])),
            "n": lambda a, b: -a, "f": lambda a, b: trace.function(draw(st.sampled_from(ONE)), a),
            "min": functions.minimum, "a2": functions.atan2,
            "where": lambda a, b: where((a > b) & ~(a <= 0.3) | trace.compare("eq", a, 1.0), a, b),
            "table": lambda a, b: functions.gather(functions.interval(a, [0.0, 0.5, 2.0]), [1.0, -3.5]),
        }[op](a, b)  # fmt: skip
        if isinstance(made, Expr):
            numbers.append(made)
    return [numbers[-1], draw(st.sampled_from(numbers))]


def reread(roots: list[Expr]) -> list[Expr]:
    graph = roots[0].graph
    names = {n: graph.input(n) for n in ("x", "y", "two words")}
    leaf = {"x": "x", "y": "y", "two words": '"two words"'}
    definitions, texts = print_expressions(roots, leaf.__getitem__, [])
    for name, definition in definitions.items():
        names[name] = value(definition, **names)
    return [value(t, **names) for t in texts]


@given(graphs())
def test_reading_what_was_printed_gives_the_same_nodes(roots: list[Expr]) -> None:
    # Infinite constants may add up to NaN, which files refuse in words.
    constants = [a for node in reachable(roots) for a in node.args if isinstance(a, float)]
    assume(not any(map(math.isnan, constants)))
    for before, after in zip(roots, reread(roots), strict=True):
        assert before is after


def test_shared_parts_do_not_explode() -> None:
    graph = Graph()
    x = graph.input("x")
    for n in range(300):
        x = functions.sin(x) * (x + float(n)) + x
    definitions, texts = print_expressions([x], lambda name: name, [])
    assert sum(map(len, [*definitions.values(), *texts])) < 40 * 3 * 300
    assert reread([x])[0] is x


def test_deep_and_long_expressions_are_cut_into_parts() -> None:
    graph = Graph()
    deep = long = graph.input("x")
    for n in range(2000):
        deep = functions.sin(deep)
        long = long + functions.cos(graph.input("y") * (n + 0.5))
    assert reread([deep])[0] is deep
    assert reread([long])[0] is long

"""Counting operations."""

from __future__ import annotations

from hypothesis import given, settings

from bellcrank.program.count import count
from bellcrank.program.functions import cos, minimum, sin
from bellcrank.program.graph import Graph
from bellcrank.program.program import Program
from program.samples import programs


def test_by_kind_and_stage():
    graph = Graph()
    a, b = graph.input("a"), graph.input("b")
    with graph.counting("position"):
        s = sin(a) * b + cos(a)
    with graph.counting("force"):
        f = minimum(s, 0.0) / b - (-s)
        unused = a * a
    counted = count(Program.of([a, b], [s, f, 3.0]))
    assert unused.op == "mul"
    assert (counted.multiplications, counted.additions, counted.divisions) == (1, 2, 1)
    assert (counted.functions, counted.negations, counted.other, counted.total) == (2, 0, 1, 7)
    assert list(counted.stages) == ["position", "force"]
    assert counted.stages["position"].total == 4
    assert counted.stages["force"].operations == {"min": 1, "div": 1, "add": 1}
    rows = counted.rows()
    assert [row[0] for row in rows] == ["stage", "position", "force", "all"]
    assert rows[-1][-2:] == ("7", "0")
    assert len({len(line) for line in str(counted).splitlines()}) == 1


@settings(max_examples=20, deadline=None)
@given(programs())
def test_parts_sum_to_the_whole(program):
    counted = count(program)
    assert counted.total == len(program.operations)
    assert sum(stage.total for stage in counted.stages.values()) == counted.total

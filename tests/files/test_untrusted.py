"""Files from strangers, and files with slips: refused with the place and a remedy."""

from __future__ import annotations

import sys
import time
from typing import Any

import pytest

from bellcrank.files import ModelFileError, documents, load, loads, scope

HEAD = "bellcrank: 1\nname: m\n"
BODY = HEAD + "bodies:\n  crank: {mass: 1, inertia: [1, 1, 1]}\n"
JOINT = BODY + "joints:\n  pin: {kind: revolute, a: ground, b: crank, at: [0, 0, 0]}\n"


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("", "the file is empty", 1, 1),
        ("[1, 2]", "must be a mapping", 1, 1),
        ("\n<robot name='arm'/>\n", "this is XML, not a model file; URDF is read by", 1, 1),
        ("name: x\n", "begins with 'bellcrank: 1'", 1, 1),
        ("bellcrank: 2\nname: x\n", "format version 2", 1, 12),
        (HEAD + "bodys: {}\n", "no key 'bodys'; did you mean 'bodies'?", 3, 1),
        (HEAD + "name: again\n", "'name' stands here a second time; it is given in line 2", 3, 1),
        (HEAD + "bodies:\n  a: {mass: 1}\n  a: {mass: 2}\n", "'a' stands here a second time", 5, 3),
        (HEAD + "bodies:\n  a: &x {mass: 1}\n  b: *x\n", "anchors", 4, 6),
        (HEAD + "bodies: *x\n", "aliases", 3, 9),
        (HEAD + "gravity: !!python/object/apply:os.system ['true']\n", "tags", 3, 10),
        (HEAD + "gravity: [0, 0\n", "not YAML", 4, 1),
        (HEAD + "---\nname: n\n", "one document", 3, 1),
        (HEAD + "<<: {name: q}\n", "no key '<<'", 3, 1),
        (HEAD + "[1]: 2\n", "a key must be a single word", 3, 1),
        (HEAD + "gravity: [0, 0]\n", "list of 3 numbers, not 2", 3, 10),
        (HEAD + "gravity: 9.81\n", "list of 3 numbers, not a single value", 3, 10),
        (HEAD + "gravity: [0, 0, 1e400]\n", "too large", 3, 17),
        (HEAD + "gravity: [0, 0, .inf]\n", "is not part of the expression language", 3, 17),
        (HEAD + "gravity: [0, 0, inf]\n", "finite", 3, 17),
        (HEAD + "gravity: [0, atan2(1, 2), 0]\n", "not 4; inside [ ]", 3, 10),
        (HEAD + "gravity: [atan2(1, 2), 0]\n", "put an expression with commas into quotes", 3, 18),
        (HEAD + "bodies:\n  crank: {mas: 1}\n", "no key 'mas'; did you mean 'mass'?", 4, 11),
        (HEAD + "bodies:\n  crank: {mass: [1]}\n", "mass of body 'crank' must be a number", 4, 17),
        (HEAD + "bodies:\n  crank: {mass: -1}\n", "must not be negative", 4, 17),
        (HEAD + "bodies:\n  crank: {mass: two}\n", "no name 'two' here", 4, 17),
        (HEAD + "bodies:\n  crank: 3\n", "must be a mapping of mass", 4, 10),
        (HEAD + "bodies:\n  energy: {mass: 1}\n", "'energy' is reserved", 4, 11),
        (HEAD + "bodies:\n  crank: {inertia: [1, 1, 1]}\n", "needs 'mass'", 4, 10),
        (HEAD + "parameters: {p: 1}\nbodies:\n  b: {mass: p, at: [p, 0, 0]}\n", "start pose", 5, 20),
        (HEAD + "parameters: {p: 1, q: 2 * p}\n", "plain number", 3, 20),
        (HEAD + "definitions: {sin: 1}\n", "a word of the expression language", 3, 15),
        (HEAD + "parameters: {p: 1}\ndefinitions: {p: 1}\n", "something else already", 4, 15),
        (BODY + "joints:\n  pin: {kind: revolut, a: ground, b: crank}\n", "did you mean 'revolute'?", 6, 15),
        (BODY + "joints:\n  pin: {kind: revolute, a: ground, b: crnk}\n", "did you mean 'crank'?", 6, 39),
        (BODY + "joints:\n  pin: {a: ground, b: crank}\n", "needs a 'kind'", 6, 8),
        (BODY + "joints:\n  p: {kind: free, a: ground, b: crank, axis: x}\n", "has no key 'axis'", 6, 40),
        (BODY + "joints:\n  p: {kind: free, a: ground, b: crank, cut: 2}\n", "true or false", 6, 45),
        (JOINT + "drivers:\n  d: {joint: pn, function: t}\n", "did you mean 'pin'?", 8, 14),
        (JOINT + "drivers:\n  d: {function: t}\n", "a 'joint' or a 'point'", 8, 6),
        (JOINT + "drivers:\n  d: {joint: pin, function: 2 * tt}\n", "did you mean 't'?", 8, 33),
        (JOINT + "drivers:\n  d: {joint: pin, function: {valu: 1}}\n", "'valu' is neither", 8, 30),
        (JOINT + "drivers:\n  d: {joint: pin, function: {let: {t: 1}, value: 1}}\n", "something else", 8, 36),
        (JOINT + "forces:\n  f: {kind: applied_force, point: crank, function: [1, 2]}\n", "list of 3", 8, 52),
        (JOINT + "couplings:\n  c: {terms: [{joint: pin, factor: 0}]}\n", "all factors", 8, 6),
        (JOINT + "forces:\n  pin: {kind: spring, a: ground, b: crank}\n", "already a joint named", 8, 8),
    ],
)
def test_refused_with_the_place(text: str, message: str, line: int, column: int) -> None:
    with pytest.raises(ModelFileError) as caught:
        loads(text, "m.yaml")
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"m.yaml:{line}:{column}: "), str(caught.value)


def test_numbers_as_people_write_them() -> None:
    body = loads(
        HEAD + "bodies:\n  a: {mass: 1e5, inertia: [+1.0E-2, .02, 2.e-2], at: ['1', \"2*3\", 007]}\n"
    ).bodies["a"]
    assert (body.mass, body.inertia[0][0], body.inertia[2][2]) == (1e5, 0.01, 0.02)
    assert body.position == (1.0, 6.0, 7.0)


def test_empty_sections_are_empty() -> None:
    assert not loads(HEAD + "bodies:\njoints: {}\nforces:\n").bodies


def test_quoted_expressions_are_pointed_into() -> None:
    with pytest.raises(ModelFileError, match=r"^model:4:20: .*\n.*\n +\^~$"):
        loads(HEAD + "bodies:\n  a: {mass: '1e3 + xx'}\n")
    with pytest.raises(ModelFileError, match="no name 'xx'"):
        loads(HEAD + 'bodies:\n  a:\n    mass: "1 +\n      xx"\n')


def test_arguments_hide_parameters_and_quotes_find_them() -> None:
    system = loads(JOINT + "parameters: {t: 5}\ndrivers:\n  d: {joint: pin, function: 't + 2 * \"t\"'}\n")
    traced = system.drivers["d"].function(3.0)
    assert system.parameters.value(traced) == 13.0


def test_nesting_is_bounded() -> None:
    for text in ("[" * 100_000, "{a: " * 5000, "- " * 5000 + "1"):
        with pytest.raises(ModelFileError):
            loads(text)


def test_size_is_bounded(tmp_path) -> None:
    path = tmp_path / "large.yaml"
    path.write_bytes(b"#" * (16 * 2**20 + 1))
    with pytest.raises(ModelFileError, match="16 MiB"):
        load(path)
    with pytest.raises(ModelFileError, match="16 MiB"):
        loads("#" * (16 * 2**20 + 1))


def test_count_and_work_are_bounded(monkeypatch) -> None:
    sums = "\n".join(f"  b{n}: {{mass: p + {n}}}" for n in range(100))
    text = HEAD + "parameters: {p: 1}\nbodies:\n" + sums + "\n"
    assert len(loads(text).bodies) == 100
    with monkeypatch.context() as patch:
        patch.setattr(documents, "MAX_NODES", 100)
        with pytest.raises(ModelFileError, match="more than 100 values"):
            loads(text)
    with monkeypatch.context() as patch:
        patch.setattr(scope, "MAX_WORK", 100)
        with pytest.raises(ModelFileError, match="too large together"):
            loads(text)


def test_only_text_is_read(tmp_path) -> None:
    path = tmp_path / "binary.yaml"
    path.write_bytes(b"bellcrank: 1\nname: \xff\n")
    with pytest.raises(ModelFileError, match=r"binary\.yaml:2:1: the file is not UTF-8"):
        load(path)
    path.write_bytes(b"\x89HDF\r\n\x1a\n")
    with pytest.raises(ModelFileError, match="load_result reads results"):
        load(path)
    with pytest.raises(ModelFileError, match="not YAML"):
        loads("name: \x00")


def test_definitions_cannot_explode() -> None:
    """Thirty doublings written as thirty definitions stay thirty nodes."""
    lines = ["  d0: sin(p) * p"] + [f"  d{n}: d{n - 1} * d{n - 1} + d{n - 1}" for n in range(1, 30)]
    start = time.perf_counter()
    system = loads(
        HEAD + "parameters: {p: 0.1}\ndefinitions:\n" + "\n".join(lines) + "\nbodies:\n  b: {mass: d29}\n"
    )
    assert time.perf_counter() - start < 1.0
    assert len(system.parameters.graph.nodes) < 100


def test_the_work_of_reading_grows_with_the_length() -> None:
    def lines_a_letter(count: int) -> float:
        """Lines of Python that run, repeated ones each time, for every letter of the file."""
        given = JOINT + "parameters:\n" + "".join(f"  p{k}: {k}\n" for k in range(count))
        ran = 0

        def trace(frame: Any, event: str, _: Any) -> Any:
            nonlocal ran
            ran += event == "line"
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            loads(given)
        finally:
            sys.settrace(before)
        return ran / len(given)

    loads(JOINT)
    # With a look at all parameters for each it was three times as many.
    assert lines_a_letter(2_000) < 1.3 * lines_a_letter(400)

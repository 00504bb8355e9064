"""Study files: YAML that says what varies, how runs go and what is read from them.

A study file may come from a stranger, as a model file may: it is data, nothing in it is executed, and the one file it
names, its model, must lie beside it or below. Numbers may be expressions of numbers, such as ``pi/6``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

from bellcrank.base.optional import needed
from bellcrank.errors import ModelError
from bellcrank.files import load, read_text
from bellcrank.files.beside import below, is_file
from bellcrank.files.documents import Entries, Items, Node, Text, parse_document
from bellcrank.files.places import ModelFileError, nearest
from bellcrank.study.designs import KINDS as DESIGNS
from bellcrank.study.distributions import KINDS as DISTRIBUTIONS
from bellcrank.study.distributions import Distribution, Truncated
from bellcrank.study.objectives import Limit, Measure, measure
from bellcrank.study.study import Study

if TYPE_CHECKING:
    from bellcrank.model.system import System
    from bellcrank.study.layout import StudyFile

VERSION = 1
_QUOTED = re.compile(r"'([^']+)'")


class LoadedStudy:
    """A study from a file, ready to run. search: options of its optimisation. sensitivity: what is asked of it."""

    def __init__(self, study: Study, file: StudyFile) -> None:
        self.study = study
        self.search: dict[str, Any] = {}
        if file.optimisation is not None:
            self.search = file.optimisation.model_dump(exclude_none=True)
        self.sensitivity = None if file.sensitivity is None else file.sensitivity.model_dump()


def load_study(path: str | PathLike[str]) -> Study:
    """The study a file describes."""
    return read_study(path).study


def read_study(path: str | PathLike[str]) -> LoadedStudy:
    """The study a file describes, with what it says about optimisation and sensitivity."""
    name = str(path)
    root = parse_document(read_text(path), name)
    if not isinstance(root, Entries) or "study" not in root.values:
        raise root.error(f"a study file begins with 'study: {VERSION}'")
    file = _validated(root)
    if file.study != VERSION:
        raise root.values["study"].error(
            f"this is format version {file.study}; this Bellcrank reads {VERSION}"
        )
    model = _model(Path(path), root, file.model)
    return LoadedStudy(_built(root, file, model), file)


def _validated(root: Entries) -> StudyFile:
    needed("pydantic", "a study file", "pydantic", "study")
    from pydantic import ValidationError

    from bellcrank.study.layout import StudyFile

    try:
        return StudyFile.model_validate(_plain(root))
    except ValidationError as error:
        # A key that is misspelt also leaves another one missing; the spelling is the mistake.
        found = sorted(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
        raise _pointed(root, found[0]) from error


def _plain(node: Node) -> Any:
    """Texts, lists and mappings without their places."""
    match node:
        case Text():
            return node.value
        case Items():
            return [_plain(item) for item in node.items]
        case Entries():
            return {key: _plain(value) for key, value in node.values.items()}


def _pointed(root: Node, error: Any) -> ModelFileError:
    """An error of validation at its place in the file."""
    from bellcrank.study.layout import keys_of

    node: Node = root
    said: list[str] = []
    for step in error["loc"]:
        if isinstance(node, Entries) and step in node.values:
            if error["type"] == "extra_forbidden" and step == error["loc"][-1]:
                known = keys_of(error["loc"][:-1])
                hint = nearest(step, known) or (f"; keys here: {', '.join(known)}" if known else "")
                where = ".".join(said) or "a study file"
                return node.keys[step].error(f"{where} has no key {step!r}{hint}")
            node = node.values[step]
            said.append(str(step))
        elif isinstance(node, Items) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
    where = ".".join(said) or "a study file"
    if error["type"] == "missing":
        return node.error(f"{where} needs {error['loc'][-1]!r}")
    if error["type"].startswith("union_tag"):
        return node.error(f"{where}: {_choices(error)}")
    text = str(error["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
    given = f", not {node.value!r}" if isinstance(node, Text) and not text.endswith(repr(node.value)) else ""
    return node.error(f"{where} must be {text}{given}" if text != str(error["msg"]) else f"{where}: {text}")


def _choices(error: Any) -> str:
    context = error.get("ctx", {})
    if "expected_tags" not in context:
        return "it needs a 'kind'"
    return f"there is no kind {context.get('tag')!r}; choose from {context['expected_tags']}".replace("'", "")


def _model(study: Path, root: Entries, given: str) -> System:
    """The model file, which lies beside the study or below."""
    node = root.values["model"]
    there = PurePosixPath(given)
    outside = (
        there.is_absolute() or PureWindowsPath(given).is_absolute() or ".." in there.parts or "\\" in given
    )
    if outside or not given.strip():
        raise node.error("model must be a file beside the study or below, by its relative path")
    path = study.parent / there
    if below(study.parent, given) is None:
        raise node.error("model must be a file beside the study or below; this is a link to elsewhere")
    if not is_file(path):
        here = [p.name for p in study.parent.glob("*.yaml")] if study.parent.is_dir() else []
        raise node.error(f"there is no model file {given!r} beside the study{nearest(given, here)}")
    if path.suffix.lower() not in (".yaml", ".yml"):
        raise node.error(
            f"model must be a model file (YAML); make one with 'bellcrank convert {given} model.yaml'"
        )
    return load(path)


def _built(root: Entries, file: StudyFile, model: System) -> Study:
    given: dict[str, Any] = {
        "name": file.name,
        "fixed": file.fixed,
        "start": file.start,
        "keep": tuple(file.keep),
        "integrator": file.integrator,
        "tolerance": file.tolerance,
        "output": file.outputs,
        "step": file.step,
        "impacts": file.impacts,
        "batch": file.batch,
    }
    if file.max_step is not None:
        given["max_step"] = file.max_step
    variables, measures, constraints = {}, {}, {}
    for name, d in file.variables.items():
        with _blaming(root, "variables", name):
            variables[name] = _distribution(d.model_dump())
    for name, m in file.measures.items():
        with _blaming(root, "measures", name):
            measures[name] = measure(m) if isinstance(m, str) else Measure(**m.model_dump(exclude_none=True))
    for name, c in file.constraints.items():
        with _blaming(root, "constraints", name):
            constraints[name] = Limit(**c.model_dump(exclude_none=True))
    if file.design is not None:
        data = file.design.model_dump(exclude_none=True)
        with _blaming(root, "design"):
            given["design"] = DESIGNS[data.pop("kind")](**data)
            given["design"].table(variables)
    if file.minimise and file.maximise:
        raise root.keys["maximise"].error("a study has one objective: minimise or maximise, not both")
    given["objective"] = file.minimise or file.maximise
    given["maximise"] = file.maximise is not None
    try:
        return Study(model, variables, measures, file.duration, constraints=constraints, **given)
    except ModelFileError:
        raise
    except ModelError as error:
        raise _blamed(root, error) from error


@contextmanager
def _blaming(root: Entries, *keys: str) -> Iterator[None]:
    """Errors point to the value under these keys."""
    node: Node = root
    for key in keys:
        assert isinstance(node, Entries)
        node = node.values[key]
    try:
        yield
    except ModelError as error:
        raise node.error(str(error)) from error


def _distribution(data: dict[str, Any]) -> Distribution:
    kind = data.pop("kind")
    if kind == Truncated.kind:
        return Truncated(_distribution(data["of"]), data["low"], data["high"])
    return DISTRIBUTIONS[kind](**data)


def _blamed(root: Entries, error: ModelError) -> ModelFileError:
    """An error of the study at the key or text it speaks of."""
    message = str(error)
    for word in _QUOTED.findall(message):
        for section in ("variables", "fixed", "measures", "constraints", "design"):
            node = root.values.get(section)
            if isinstance(node, Entries) and word in node.keys:
                return node.keys[word].error(message)
        for text in _texts(root):
            if text.value == word or text.value.endswith(f" of {word}"):
                return text.error(message)
    return root.error(message)


def _texts(node: Node) -> list[Text]:
    match node:
        case Text():
            return [node]
        case Items():
            return [t for item in node.items for t in _texts(item)]
        case Entries():
            return [t for value in node.values.values() for t in _texts(value)]


__all__ = ["LoadedStudy", "load_study", "read_study"]

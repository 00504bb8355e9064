"""What commands are given: models, results, parameters and start values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bellcrank.cli import completion

if TYPE_CHECKING:
    from bellcrank.elastic.result import ElasticResult
    from bellcrank.files.imported import Imported
    from bellcrank.model.system import System
    from bellcrank.result.result import Result

Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A model file (YAML, URDF, MJCF), or the name of an example.",
        autocompletion=completion.models,
    ),
]
Shown = Annotated[
    str,
    typer.Argument(
        metavar="RESULT",
        help="A result file, from bellcrank run --out; or a model or an example, which is simulated first.",
        autocompletion=completion.results_and_models,
    ),
]
Duration = Annotated[
    float,
    typer.Option("--duration", "-d", metavar="SECONDS", help="How long a model is simulated."),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Another value for a parameter; may be repeated.",
        autocompletion=completion.parameters,
    ),
]
Initial = Annotated[
    list[str] | None,
    typer.Option(
        "--initial",
        metavar="JOINT=VALUE,RATE",
        help="Start value of a joint, its rate where wanted; JOINT.COORDINATE where it has several. May be repeated.",
        autocompletion=completion.joints,
    ),
]
Quantity = Annotated[
    list[str] | None,
    typer.Option(
        "--quantity",
        "-q",
        metavar="NAME",
        help="A quantity to show; may be repeated.",
        autocompletion=completion.quantities,
    ),
]
Impacts = Annotated[
    str,
    typer.Option(
        "--impacts",
        metavar="WORD",
        help="dense: one after another as they come; stepping: all of a step of --step seconds together.",
        autocompletion=completion.impacts,
    ),
]
CAR = "full-car"
"""The car of Kang and Yoon on level ground, as its operations are counted; the example full_car has the bump."""
_RESULTS = (b"\x89HDF\r\n\x1a\n", b"bellcrank run ")
"""How results begin: HDF5 files, and the journals of runs that have not ended."""


def strikes(impacts: str, step: float) -> dict[str, Any]:
    """Options of a run that say how its impacts are found."""
    from bellcrank.errors import ModelError, unknown_name

    if impacts not in completion.IMPACTS:
        raise unknown_name("way to find impacts", impacts, completion.IMPACTS)
    if impacts == "stepping" and not step > 0.0:
        raise ModelError("--impacts stepping needs the length of its steps: --step 1e-3")
    return {"impacts": impacts, "step": step}


def is_result(path: str) -> bool:
    """Whether a file looks like a result."""
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return file.read(16).startswith(_RESULTS)


def model(text: str) -> System:
    """The system of a model file of any format, or of an example."""
    from bellcrank.cli import elastic

    if elastic.problem(text) is not None:
        from bellcrank.errors import ModelError

        raise ModelError(
            f"{text} is an elastic contact problem, not a mechanism; 'bellcrank run' simulates it, and plot, report "
            "and view take its results"
        )
    if Path(text).is_file():
        if is_result(text):
            from bellcrank.errors import ModelError

            raise ModelError(
                f"{text} is a result, not a model; its model is 'bellcrank convert {text} model.yaml'"
            )
        if is_foreign(text):
            from bellcrank.cli.output import note

            found = foreign(text)
            if found.ignored:
                lost = len(found.ignored)
                note(
                    f"{text}: {lost} elements and attributes are not imported; 'bellcrank convert' lists them"
                )
            return found.system
        from bellcrank.files import load

        return load(text)
    return _example(text)


def study(text: str) -> str:
    """The path of a study file, or of that of an example."""
    from bellcrank.cli.library import examples

    if Path(text).exists() or "/" in text or Path(text).suffix not in ("", ".study"):
        return text
    example = examples().get(text.replace("-", "_").removesuffix(".study"))
    found = None if example is None else example.study
    return text if found is None else str(found)


def _example(text: str) -> System:
    from bellcrank.cli.library import examples, find
    from bellcrank.errors import ModelError
    from bellcrank.files import loads
    from bellcrank.files.places import nearest

    if text == CAR:
        from bellcrank.verify.full_car import full_car_system

        return full_car_system()
    if "/" not in text:
        plain = text.replace("-", "_").removesuffix(".yaml")
        known = [name for name, example in examples().items() if example.model is not None]
        if plain in known and not text.endswith(".yaml"):
            file = find(text).model
            assert file is not None
            return loads(file.read_text(encoding="utf-8"), file.name)
    folder = Path(text).parent
    here = [str(p) for p in folder.iterdir() if p.is_file()] if folder.is_dir() else []
    known = [name for name, example in examples().items() if example.model is not None]
    hint = nearest(text, [*here, *known]) or f"; examples: {', '.join(known)}"
    raise ModelError(f"there is no file {text!r}, and no example of that name{hint}")


def is_foreign(path: str) -> bool:
    """Whether a file is XML: URDF or MJCF."""
    with Path(path).open("rb") as file:
        return file.read(1024).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")


def foreign(
    path: str,
    base: str = "fixed",
    balance_inertia: bool = False,
    include_root: str | None = None,
    allow: Sequence[str] = (),
    limits: bool = True,
    contacts: bool = False,
) -> Imported:
    """A URDF or MJCF file; its root element says which."""
    from bellcrank.files.elements import parse_elements, read_bytes
    from bellcrank.files.mjcf import read_mjcf_file
    from bellcrank.files.urdf import read_urdf

    root = parse_elements(read_bytes(path), path)
    if root.tag == "robot":
        if contacts:
            raise root.error("URDF gives no friction; in Python, say system.contacts_between(friction=...)")
        return read_urdf(root, base, balance_inertia, allow, Path(path).parent, limits)
    if root.tag == "mujoco":
        return read_mjcf_file(root, path, include_root, allow, limits, contacts)
    raise root.error(f"<{root.tag}> is neither URDF (<robot>) nor MJCF (<mujoco>)")


def any_result(path: str) -> Result | ElasticResult:
    """A result file, of a mechanism or of elastic contact."""
    if is_result(path):
        from bellcrank.result.storage import is_elastic

        if is_elastic(path):
            from bellcrank.elastic.storage import load as load_elastic

            return load_elastic(path)
    return result(path)


def shown(text: str, duration: float) -> Result | ElasticResult:
    """A result file, or the result of running a model, an elastic contact problem or an example."""
    from bellcrank.cli import elastic
    from bellcrank.cli.library import examples
    from bellcrank.cli.output import note

    if is_result(text):
        return any_result(text)
    if (problem := elastic.problem(text)) is not None:
        return elastic.setup(problem, None).simulate()
    if not Path(text).is_file() and text.replace("-", "_") not in examples():
        return result(text)
    mechanism = model(text).mechanism()
    note(
        f"{text} is simulated for {duration:g} s; a result of 'bellcrank run {text} --out run.h5' is shown as it is"
    )
    return mechanism.simulate(duration)


def result(path: str) -> Result:
    """A result file of a mechanism."""
    from bellcrank.errors import ModelError
    from bellcrank.result.storage import is_elastic, load

    if Path(path).is_file() and not is_result(path):
        raise ModelError(f"{path} is not a result; make one with 'bellcrank run {path} --out run.h5'")
    if not Path(path).exists():
        from bellcrank.files.places import nearest

        folder = Path(path).parent
        here = [str(p) for p in folder.iterdir() if is_result(str(p))] if folder.is_dir() else []
        hint = nearest(path, here) or "; make one with 'bellcrank run MODEL --out run.h5'"
        raise ModelError(f"there is no result file {path!r}{hint}")
    if is_elastic(path):
        raise ModelError(f"{path} is a result of elastic contact; plot, report, view and quantities take it")
    found = load(path)
    if not len(found):
        raise ModelError(f"{path} holds no outputs: its run was stopped before the first")
    return found


def setting(text: str) -> tuple[str, float]:
    """Name and value of one --set."""
    name, value = _split(text, "--set", "stiffness=2e4")
    return name, _number(value, text)


def parameters(given: Sequence[str] | None, system: System) -> dict[str, float]:
    """Values from --set."""
    from bellcrank.errors import unknown_name

    found: dict[str, float] = {}
    for text in given or ():
        name, value = setting(text)
        if name not in system.parameters:
            raise unknown_name("parameter", name, system.parameters)
        found[name] = value
    return found


def initial(given: Sequence[str] | None, system: System) -> dict[str, Any]:
    """Start values from --initial: by joint, or by joint and coordinate."""
    from bellcrank.errors import ModelError, unknown_name

    found: dict[str, Any] = {}
    for text in given or ():
        name, value = _split(text, "--initial", "pivot=0.5,1")
        numbers = [_number(part, text) for part in _parts(value)]
        joint, _, coordinate = name.partition(".")
        if joint not in (*system.joints, *system.bodies):
            raise unknown_name("joint", joint, system.joints)
        values: Any = numbers[0] if len(numbers) == 1 else tuple(numbers)
        if coordinate:
            known = found.setdefault(joint, {})
            if not isinstance(known, dict):
                raise ModelError(f"--initial names joint {joint!r} with and without a coordinate")
            known[coordinate] = values
        else:
            found[joint] = values
    return found


def _split(text: str, option: str, example: str) -> tuple[str, str]:
    from bellcrank.errors import ModelError

    name, sign, value = text.rpartition("=")
    if not sign or not name.strip():
        raise ModelError(f"{option} {text}: give a name and a value, such as {option} {example}")
    return name.strip(), value


def _parts(text: str) -> list[str]:
    """Split at commas that are not inside of parentheses."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def _number(text: str, whole: str) -> float:
    """A number, or an expression of numbers such as pi/6."""
    from bellcrank.errors import ModelError
    from bellcrank.files.documents import Text
    from bellcrank.files.places import Place, Source
    from bellcrank.files.scope import Scope

    try:
        value = Scope().number(Text(Place(Source(whole, text.strip()), 0, 0), text.strip()), "the value")
    except ModelError as error:
        raise ModelError(f"{whole}: {str(error).splitlines()[0].split(': ', 1)[-1]}") from error
    assert isinstance(value, int | float)
    return float(value)


def writable(path: str, kinds: Sequence[str] = ()) -> Path:
    """A path that can be written to, checked before any work is done."""
    from bellcrank.errors import ModelError

    target = Path(path)
    if target.is_dir():
        raise ModelError(f"{path} is a folder; name a file in it")
    if not target.parent.is_dir():
        raise ModelError(f"there is no folder {str(target.parent)!r} to write {target.name!r} into")
    if kinds and target.suffix.lower() not in kinds:
        raise ModelError(f"{path}: the name must end in {' or '.join(kinds)}")
    return target

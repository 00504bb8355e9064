"""``bellcrank view``: results and models in the browser, or as one page to send."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bellcrank.cli import completion
from bellcrank.cli.inputs import Impacts, Quantity, Set
from bellcrank.cli.output import Json, note, show, show_json

if TYPE_CHECKING:
    from bellcrank.elastic.result import ElasticResult
    from bellcrank.elastic.viewer import ElasticViewer
    from bellcrank.mechanism import Mechanism
    from bellcrank.result.result import Result
    from bellcrank.view.live import Viewer


def view(
    file: Annotated[
        str,
        typer.Argument(
            metavar="RESULT|MODEL",
            help="A result file, a model file, or an example.",
            autocompletion=completion.results_and_models,
        ),
    ],
    page: Annotated[
        str | None,
        typer.Option(
            "--html",
            "--out",
            "-o",
            metavar="FILE",
            help="Write one self-contained page to send instead of opening the viewer.",
        ),
    ] = None,
    quantity: Quantity = None,
    duration: Annotated[
        float, typer.Option("--duration", "-d", help="Of a model: how long to simulate, in seconds.")
    ] = 10.0,
    set_: Set = None,
    impacts: Impacts = "dense",
    step: Annotated[
        float, typer.Option("--step", help="Fixed step in seconds, with --impacts stepping.")
    ] = 0.0,
    magnified: Annotated[
        float, typer.Option("--magnified", help="Factor on the deformation of flexible bodies.")
    ] = 1.0,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen at; the default is this machine alone.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="Port of the viewer; 0 takes a free one.")] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", "--no-open", help="Open no browser; Ctrl-C ends the viewer.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Look at a result in the web viewer: scene, time, curves, impacts; sliders run a model again at once.

    A model is simulated first, and followed while it runs; a problem of elastic contact is solved first. --html writes
    an animation to send by mail instead.

    \b
    Examples:
      bellcrank view run.h5
      bellcrank view slider_crank.yaml --duration 5
      bellcrank view run.h5 --html send_me.html -q slider.velocity.x
    """
    from bellcrank.cli import elastic as problems
    from bellcrank.cli import inputs
    from bellcrank.errors import ModelError

    if not 0 <= port <= 65535:
        raise ModelError(f"--port is a number from 0 to 65535, not {port}")
    options = inputs.strikes(impacts, step)
    target = None if page is None else inputs.writable(page, (".html", ".htm"))
    if (impacts != "dense" or step) and (inputs.is_result(file) or problems.problem(file) is not None):
        raise ModelError(
            "--impacts and --step belong to the model of a mechanism; a result has run already, and a problem of "
            "elastic contact has steps of its own"
        )
    elastic = _elastic(file, set_, not as_json)
    if elastic is not None:
        if target is not None:
            elastic.html(target, quantity or None, magnified)
            _written(target, as_json)
        else:
            _serve(elastic, quantity, duration, {}, magnified, host, port, not no_browser, as_json)
        return
    if inputs.is_result(file):
        if set_:
            raise ModelError("--set belongs to a model; a result has run already")
        found: Result | Mechanism = inputs.result(file)
    else:
        system = inputs.model(file)
        found = system.mechanism(parameters=inputs.parameters(set_, system))
    if target is not None:
        from bellcrank.mechanism import Mechanism

        result = found.simulate(duration, **options) if isinstance(found, Mechanism) else found
        result.html(target, quantity or None, magnified)
        _written(target, as_json)
        return
    _serve(found, quantity, duration, options, magnified, host, port, not no_browser, as_json)


def _elastic(file: str, set_: list[str] | None, progress: bool) -> ElasticResult | None:
    """A result of elastic contact, from its file or from running its problem; None for everything else."""
    from bellcrank.cli import elastic, inputs
    from bellcrank.result.storage import is_elastic

    if inputs.is_result(file):
        if set_ or not is_elastic(file):
            return None
        from bellcrank.elastic.storage import load

        return load(file)
    problem = elastic.problem(file)
    return None if problem is None else elastic.setup(problem, set_).simulate(progress=progress)


def _written(target: Path, as_json: bool) -> None:
    if as_json:
        show_json({"out": str(target)})
    else:
        show(f"written: {target}")


def _serve(
    found: Result | Mechanism | ElasticResult,
    quantity: list[str] | None,
    duration: float,
    options: dict[str, Any],
    magnified: float,
    host: str,
    port: int,
    browser: bool,
    as_json: bool,
) -> None:
    from bellcrank.mechanism import Mechanism
    from bellcrank.view.live import Viewer

    # Ctrl-C is how a viewer ends, at any time.
    with suppress(KeyboardInterrupt), _viewer(found, quantity, magnified, host, port) as viewer:
        if as_json:
            show_json({"url": viewer.url})
        else:
            show(f"view at {viewer.url} (Ctrl-C ends)")
        sys.stdout.flush()
        if isinstance(viewer, Viewer) and isinstance(found, Mechanism):
            viewer.run(duration, **options)
        if browser and not viewer.open(True):
            note(f"no browser could be opened; open {viewer.url} yourself")
        viewer.wait()


def _viewer(
    found: Result | Mechanism | ElasticResult,
    quantity: list[str] | None,
    magnified: float,
    host: str,
    port: int,
) -> Viewer | ElasticViewer:
    from bellcrank.mechanism import Mechanism
    from bellcrank.result.result import Result
    from bellcrank.view.live import Viewer

    options: dict[str, Any] = {
        "quantities": quantity or None, "magnified": magnified, "host": host, "port": port
    }  # fmt: skip
    if isinstance(found, Result | Mechanism):
        return Viewer(found, **options)
    from bellcrank.elastic.viewer import ElasticViewer

    return ElasticViewer(found, **options)

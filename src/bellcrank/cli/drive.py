"""``bellcrank drive``: the full car with a driver in the loop."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bellcrank.base.words import seconds
from bellcrank.cli import completion
from bellcrank.cli.output import Json, Table, note, number, show, show_json

if TYPE_CHECKING:
    from bellcrank.apps.drive.drive import Drive


def drive(
    terrain: Annotated[
        str,
        typer.Option(
            "--terrain",
            help="bumps, flat, rough (class D of ISO 8608), circuit, or a file: the upper side of a mesh, or OpenCRG.",
            autocompletion=completion.terrains,
        ),
    ] = "bumps",
    course: Annotated[
        Path | None,
        typer.Option(
            "--course", help="Rows of x and y in m, a closed course on the terrain, to take lap times on."
        ),
    ] = None,
    tyre: Annotated[
        Path | None,
        typer.Option("--tyre", help="A tyre property file (.tir) in place of the tyre of the car."),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save", help="Write what was driven as a result; further ones where the car was put back."
        ),
    ] = None,
    speed: Annotated[float, typer.Option("--speed", help="Speed to start with, in m/s.")] = 0.0,
    duration: Annotated[
        float | None, typer.Option("--duration", "-d", help="End after so many seconds; 5 where headless.")
    ] = None,
    headless: Annotated[
        bool, typer.Option("--headless", help="No page: drive a set manoeuvre and print how long steps took.")
    ] = False,
    fast: Annotated[
        bool, typer.Option("--fast", help="Headless: do not wait for the clock between steps.")
    ] = False,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen at; the default is this machine alone.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="Port of the page; 0 takes a free one.")] = 8090,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Open no browser.")] = False,
    as_json: Json = False,
) -> None:
    """Drive the 22-body car in the browser, in real time, with fixed steps of 1 ms on one core.

    Steering, throttle and brake are keys, sliders or a gamepad; the page shows lap times and how long a step takes. The
    tyres are those of the Magic Formula. Headless, the car follows the course where there is one.

    \b
    Examples:
      bellcrank drive
      bellcrank drive --terrain circuit --save laps.h5
      bellcrank drive --terrain quarry.stl --tyre sport.tir
      bellcrank drive --headless --duration 5 --json
    """
    from bellcrank.errors import ModelError

    if duration is not None and not (math.isfinite(duration) and duration > 0.0):
        raise ModelError(f"--duration is a positive number of seconds, not {duration:g}")
    if not (math.isfinite(speed) and 0.0 <= speed <= 50.0):
        raise ModelError(f"--speed is a speed from 0 to 50 m/s, not {speed:g}")
    if not 0 <= port <= 65535:
        raise ModelError(f"--port is a number from 0 to 65535, not {port}")
    if fast and not headless:
        raise ModelError("--fast belongs to --headless: a page is driven by the clock")
    from bellcrank import tyres
    from bellcrank.apps.drive import terrain as terrains
    from bellcrank.apps.drive.drive import Drive
    from bellcrank.apps.drive.server import sockets
    from bellcrank.base.whole_files import check_target

    if not headless:
        # Before the car is compiled: it would be for nothing.
        sockets()
    ground = terrains.terrain(terrain)
    if course is not None:
        ground = replace(ground, course=terrains.read_course(course))
    law = None if tyre is None else tyres.tyre(tyre)
    if save is not None:
        check_target(save)
    made = Drive(ground, speed, law, remember=save is not None)
    if headless:
        report(made.scripted(duration or 5.0, real=not fast), as_json)
    else:
        _in_browser(made, host, port, duration, not no_browser, as_json)
    if save is not None:
        _keep(made, save)


def _keep(made: Drive, path: Path) -> None:
    """Write the results of a drive: the last one under the name itself, those before it with numbers."""
    found = made.results()
    for k, result in enumerate(found[:-1]):
        result.save(path.with_stem(f"{path.stem}-{k + 1}"))
    if found:
        found[-1].save(path)
        more = f", and {len(found) - 1} before the car was put back" if len(found) > 1 else ""
        note(f"wrote {path}: {found[-1].time[-1]:.1f} s{more}")


def _in_browser(
    made: Drive, host: str, port: int, duration: float | None, browser: bool, as_json: bool
) -> None:
    import sys
    import threading

    from bellcrank.apps.drive.server import DriveServer

    stop = threading.Event()
    before = sys.getswitchinterval()
    # The page's thread must not hold a step back for the interpreter's usual 5 ms.
    sys.setswitchinterval(2e-4)
    try:
        with suppress(KeyboardInterrupt), DriveServer(made, host, port) as server:
            if as_json:
                show_json({"url": server.url})
            else:
                show(f"drive at {server.url} (Ctrl-C ends)")
            sys.stdout.flush()
            if browser:
                import webbrowser

                if not webbrowser.open(server.url):
                    note(f"no browser could be opened; open {server.url} yourself")
            timer = threading.Timer(duration, stop.set) if duration else None
            if timer is not None:
                timer.daemon = True
                timer.start()
            try:
                made.run(stop, server.show)
            finally:
                if timer is not None:
                    timer.cancel()
    finally:
        sys.setswitchinterval(before)
    timing = made.watch.summary()
    note(
        f"{timing['steps']:,} steps, {seconds(timing['median'])} each, worst {seconds(timing['worst'])}, "
        f"{100 * timing['share_of_real_time']:.1f} % of real time"
    )


def report(found: dict[str, Any], as_json: bool) -> None:
    """Print how a scripted drive went."""
    if as_json:
        show_json(found)
        return
    timing = found["timing"]
    rows = [
        ("steps", f"{timing['steps']:,} of {seconds(timing['step'])}"),
        ("one step", f"{seconds(timing['median'])}, 99 of 100 under {seconds(timing['p99'])}"),
        ("worst step", seconds(timing["worst"])),
        ("of real time", f"{100 * timing['share_of_real_time']:.1f} %"),
        ("steps that took longer than they simulate", f"{timing['late']}"),
        ("most behind the clock", seconds(timing["lag"])),
        ("fastest", f"{number(found['fastest'])} m/s"),
        ("travelled to", ", ".join(f"{v:.2f}" for v in found["position"]) + " m"),
    ]
    show(Table("the full car in real time", ("", ""), rows))
    rows_of_laps = [(f"lap {k + 1}", f"{lap:.3f} s") for k, lap in enumerate(found["laps"])]
    if rows_of_laps:
        show(Table("laps", ("", ""), rows_of_laps))
    if found["put_back"]:
        note(f"the car was put back: {found['put_back']}")

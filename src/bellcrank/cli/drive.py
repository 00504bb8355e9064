"""``bellcrank drive``: the full car with a driver in the loop."""

from __future__ import annotations

import math
from contextlib import suppress
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
            help="bumps, flat, or rough: class D of ISO 8608.",
            autocompletion=completion.terrains,
        ),
    ] = "bumps",
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

    Steering, throttle and brake are keys and sliders of the page, which also shows how long a step takes.

    \b
    Examples:
      bellcrank drive
      bellcrank drive --terrain flat --speed 15
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
    from bellcrank.apps.drive.drive import Drive
    from bellcrank.apps.drive.server import sockets

    if not headless:
        # Before the car is compiled: it would be for nothing.
        sockets()
    made = Drive(terrain, speed)
    if headless:
        report(made.scripted(duration or 5.0, real=not fast), as_json)
        return
    _in_browser(made, host, port, duration, not no_browser, as_json)


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
    if found["put_back"]:
        note(f"the car was put back: {found['put_back']}")

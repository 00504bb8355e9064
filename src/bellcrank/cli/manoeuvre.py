"""``bellcrank manoeuvre``: manoeuvres of standards with a car, and the kinematics of its axles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bellcrank.cli.help import Command, Group
from bellcrank.cli.inputs import Model, Set
from bellcrank.cli.output import Json, Table, note, show, show_json

if TYPE_CHECKING:
    from bellcrank.vehicles.report import Reported
    from bellcrank.vehicles.vehicle import Vehicle

manoeuvre = typer.Typer(cls=Group)
SEDAN = "sedan"
"""Name of the car of :func:`bellcrank.vehicles.sedan`, where a model is asked for."""

Speed = Annotated[float, typer.Option("--speed", help="In m/s.")]
Out = Annotated[
    str | None, typer.Option("--out", "-o", metavar="FILE", help="Write a report as one HTML file.")
]
Said = Annotated[
    str | None,
    typer.Option(
        "--car",
        metavar="KEY=VALUE,...",
        help="What drives a model: body, steering, drive, brake (names), ratio, drive_force (numbers).",
    ),
]


@manoeuvre.callback(invoke_without_command=True)
def everything(context: typer.Context) -> None:
    """Drive a car on tyres through a manoeuvre of a standard and print its characteristic values.

    The model is a file, or sedan, a car that comes along. Its body is the one with a free joint to the ground; its
    parameters are called steering, drive or throttle, and brake, unless --car says otherwise. Each has its own
    --help, --out for a report and --json.

    \b
    Examples:
      bellcrank manoeuvre step-steer sedan --speed 25 --angle 1.2 --out step.html
      bellcrank manoeuvre braking sedan --speed 27.8 --pedal 1
      bellcrank manoeuvre suspension sedan --axle front --out front.html
    """
    if context.invoked_subcommand is None:
        show(context.get_help())


@manoeuvre.command("steady-circle", cls=Command)
def steady_circle(
    file: Model,
    speed: Speed = 20.0,
    angles: Annotated[str, typer.Option("--angles", help="Of the front wheels, in degrees.")] = "0.3,0.8,1.5",
    duration: Annotated[float, typer.Option("--duration", "-d", help="Of each circle, in s.")] = 8.0,
    car: Said = None,
    set_: Set = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Circles at one speed with several angles of the steering (ISO 4138)."""
    from bellcrank import vehicles

    wanted = [math.radians(_number("--angles", word)) for word in angles.split(",")]
    _told(vehicles.steady_circle(_vehicle(file, car, set_), speed, wanted, duration), out, as_json)


@manoeuvre.command("step-steer", cls=Command)
def step_steer(
    file: Model,
    speed: Speed = 25.0,
    angle: Annotated[float, typer.Option("--angle", help="Of the front wheels, in degrees.")] = 1.0,
    rise: Annotated[float, typer.Option("--rise", help="Time of the step, in s.")] = 0.1,
    duration: Annotated[float, typer.Option("--duration", "-d", help="In s.")] = 4.0,
    car: Said = None,
    set_: Set = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """A step of the steering (ISO 7401)."""
    from bellcrank import vehicles

    found = vehicles.step_steer(_vehicle(file, car, set_), speed, math.radians(angle), rise, duration)
    _told(found, out, as_json)


@manoeuvre.command("braking", cls=Command)
def braking(
    file: Model,
    speed: Speed = 27.8,
    pedal: Annotated[float, typer.Option("--pedal", help="Value of the brake parameter.")] = 1.0,
    car: Said = None,
    set_: Set = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Braking to standstill straight ahead (UN R13-H)."""
    from bellcrank import vehicles

    _told(vehicles.braking(_vehicle(file, car, set_), speed, pedal), out, as_json)


@manoeuvre.command("brake-in-turn", cls=Command)
def brake_in_turn(
    file: Model,
    speed: Speed = 22.0,
    radius: Annotated[float, typer.Option("--radius", help="Of the circle, in m.")] = 100.0,
    pedal: Annotated[float, typer.Option("--pedal", help="Value of the brake parameter.")] = 0.4,
    car: Said = None,
    set_: Set = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Braking on a circle with the steering held (ISO 7975)."""
    from bellcrank import vehicles

    _told(vehicles.brake_in_turn(_vehicle(file, car, set_), speed, radius, pedal), out, as_json)


@manoeuvre.command("sine-with-dwell", cls=Command)
def sine_with_dwell(
    file: Model,
    speed: Speed = 22.2,
    angle: Annotated[float, typer.Option("--angle", help="Of the front wheels, in degrees.")] = 4.0,
    car: Said = None,
    set_: Set = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """A sine of the steering that waits at its second peak (ISO 19365)."""
    from bellcrank import vehicles

    _told(vehicles.sine_with_dwell(_vehicle(file, car, set_), speed, math.radians(angle)), out, as_json)


@manoeuvre.command("double-lane-change", cls=Command)
def double_lane_change(
    file: Model,
    speed: Speed = 22.2,
    width: Annotated[float, typer.Option("--width", help="Of the car, in m.")] = 1.8,
    preview: Annotated[float, typer.Option("--preview", help="How far the driver looks ahead, in s.")] = 0.5,
    car: Said = None,
    set_: Set = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """The double lane change (ISO 3888-1)."""
    from bellcrank import vehicles

    _told(vehicles.double_lane_change(_vehicle(file, car, set_), speed, width, preview), out, as_json)


@manoeuvre.command("ride", cls=Command)
def ride(
    file: Model,
    speed: Speed = 20.0,
    duration: Annotated[float, typer.Option("--duration", "-d", help="In s.")] = 8.0,
    roughness: Annotated[
        str | None,
        typer.Option("--road", help="A class of ISO 8608, A to H; the road of the model where missing."),
    ] = None,
    car: Said = None,
    set_: Set = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """A ride over a rough road, weighted by ISO 2631-1."""
    from bellcrank import vehicles
    from bellcrank.roads import RandomRoad

    driven = _vehicle(file, car, set_)
    if roughness is not None:
        driven = driven.on(RandomRoad(roughness, length=speed * duration + 40.0))
    _told(vehicles.ride(driven, speed, duration, settle=min(2.0, 0.25 * duration)), out, as_json)


@manoeuvre.command("four-post", cls=Command)
def four_post(
    file: Model,
    mode: Annotated[str, typer.Option("--mode", help="heave, pitch or roll.")] = "heave",
    amplitude: Annotated[float, typer.Option("--amplitude", help="Of the posts, in mm.")] = 2.0,
    car: Said = None,
    set_: Set = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """A standing car on four posts, through frequencies from 0.5 to 20 Hz."""
    from bellcrank import vehicles

    _told(vehicles.four_post(_vehicle(file, car, set_), mode, 1e-3 * amplitude), out, as_json)


@manoeuvre.command("suspension", cls=Command)
def suspension(
    file: Model,
    axle: Annotated[str, typer.Option("--axle", help="front or rear.")] = "front",
    rack: Annotated[str, typer.Option("--rack", metavar="JOINT", help="Joint of the steering rack.")] = "",
    travel: Annotated[float, typer.Option("--travel", help="Of the wheels up and down, in m.")] = 0.08,
    car: Said = None,
    set_: Set = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Kinematics and compliance of an axle over travel, roll, steering and forces in the road."""
    from bellcrank import vehicles
    from bellcrank.errors import unknown_name

    if axle not in ("front", "rear"):
        raise unknown_name("axle", axle, ("front", "rear"))
    driven = _vehicle(file, car, set_)
    joint = rack or ("rack guide" if file == SEDAN and axle == "front" else "")
    found = vehicles.kinematics_and_compliance(
        driven.system, driven.body, driven.axle(axle), rack=joint, travel=travel
    )
    _told(found, out, as_json)


NUMBERS = ("ratio", "drive_force")
NAMES = ("body", "steering", "drive", "brake")


def _vehicle(file: str, car: str | None, set_: list[str] | None) -> Vehicle:
    from bellcrank.cli import inputs
    from bellcrank.errors import ModelError, unknown_name
    from bellcrank.vehicles import Vehicle, sedan

    said: dict[str, Any] = {}
    for word in (car or "").split(",") if car else ():
        key, equals, value = word.partition("=")
        if key.strip() not in (*NUMBERS, *NAMES) or not equals:
            raise unknown_name("key of --car", key.strip(), (*NAMES, *NUMBERS))
        said[key.strip()] = _number(f"--car {key}", value) if key.strip() in NUMBERS else value.strip()
    if file == SEDAN:
        made = sedan()
        values = inputs.parameters(set_, made.system)
        if said:
            raise ModelError("--car describes a model; the sedan knows what drives it")
        return made.with_parameters(values) if values else made
    system = inputs.model(file)
    known = system.parameters
    found: dict[str, Any] = {
        "steering": "steering",
        "drive": next((name for name in ("drive", "throttle") if name in known), ""),
        "brake": "brake" if "brake" in known else "",
        **said,
    }
    if "body" not in found:
        floating = [
            j.b.body if j.a.body.is_ground else j.a.body
            for j in system.joints.values()
            if j.kind == "free" and (j.a.body.is_ground or j.b.body.is_ground)
        ]
        if len(floating) != 1:
            raise ModelError(
                f"{system.name!r} has {len(floating)} free bodies; say which is the car: --car body=NAME"
            )
        found["body"] = floating[0].name
    made = Vehicle(system, **found)
    values = inputs.parameters(set_, system)
    return made.with_parameters(values) if values else made


def _number(what: str, word: str) -> float:
    from bellcrank.errors import ModelError

    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ModelError(f"{what} must be a finite number, not {word!r}")
    return value


def _told(found: Reported, out: str | None, as_json: bool) -> None:
    from bellcrank.cli import inputs
    from bellcrank.vehicles.report import shown

    target = None if out is None else inputs.writable(out, (".html", ".htm"))
    if target is not None:
        found.report(target)
    if as_json:
        values = {name: {"value": value, "unit": unit} for name, (value, unit) in found.values.items()}
        show_json({"manoeuvre": found.title, "of": found.subject, "values": values})
        return
    rows = [(name, *shown(value, unit)) for name, (value, unit) in found.values.items()]
    show(Table(f"{found.subject}: {found.title}", ("", "", ""), rows))
    if target is not None:
        note(f"written: {target}")


__all__ = ["manoeuvre"]

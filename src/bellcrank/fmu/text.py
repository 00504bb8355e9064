"""The C text of an FMU: the programs of every partition, the integrators with their memory, the tables of events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from bellcrank.fmu.contacts import Striking
from bellcrank.fmu.programs import Output, Programs
from bellcrank.fmu.signals import Signal
from bellcrank.fmu.steps import Stepping
from bellcrank.impacts import event_units, held_units
from bellcrank.impacts.coulomb_units import solve_problem
from bellcrank.impacts.moreau import advance
from bellcrank.impacts.strikes import strike_on
from bellcrank.integrate import layout
from bellcrank.integrate.auto import explicit
from bellcrank.integrate.beginning import begin
from bellcrank.integrate.events import search
from bellcrank.integrate.methods import AUTO
from bellcrank.integrate.problem import Options, Problem
from bellcrank.integrate.run import Run
from bellcrank.integrate.stiffness import change
from bellcrank.mechanism import Mechanism
from bellcrank.mechanism.sizes import tolerance_scales
from bellcrank.model.parameters import names_in
from bellcrank.program import c
from bellcrank.program.loops import Entry
from bellcrank.program.loops import c as loops_c
from bellcrank.program.loops.translate import Module
from bellcrank.quantities.snapshot import contact_inputs
from bellcrank.run.events import ClosingRate
from bellcrank.run.simulation import stepping
from bellcrank.run.touch import continuous, taken_over, touch_events

DRIFT = 0.1
"""How far the loops may open in model exchange before they are closed, over the tolerance and the size of the
mechanism: a tenth of what the integrator allows itself."""

TYPES = """\
typedef void (*Kernel)(const double *x, double *y);
typedef struct {
  Kernel motion, motion_tangent, speeds, project, outputs, outputs_tangent, events, gaps, impact, free, rooms;
  Kernel rates, tangent;
  const int *independent;
} Partition;
typedef struct {
  long long (*advance)(char *);
  int begin, length, part[10], size[10], entries;
  const int *at;
  const long long *value, *words;
} Method;
enum { BC_GOES_ON, BC_BEGINS_ANEW, BC_TOUCHES, BC_ENDS };
typedef struct { int kind, place, rate; double slowest, jumped; const char *name; } Happening;
"""

RATES = """\
static void p{k}_rates(const double *x, double *y) {{
  double out[{moving} + 1];
  int i;
  p{k}_motion(x, out);
  for (i = 0; i < {positions}; ++i) y[i] = out[i];
  for (i = 0; i < {free}; ++i) y[{positions} + i] = out[{positions} + p{k}_independent[i]];
}}
"""
TANGENT = """\
static void p{k}_tangent(const double *x, double *y) {{
  double out[2 * {moving} + 1];
  int i, half;
  p{k}_motion_tangent(x, out);
  for (half = 0; half < 2; ++half) {{
    const double *from = out + half * {moving};
    double *to = y + half * ({positions} + {free});
    for (i = 0; i < {positions}; ++i) to[i] = from[i];
    for (i = 0; i < {free}; ++i) to[{positions} + i] = from[{positions} + p{k}_independent[i]];
  }}
}}
"""
"""What an integrator asks for: the rates of the positions and of the independent speeds, and their derivatives."""


STRUCK = {
    "bc_cones": solve_problem,
    "bc_strike": strike_on,
    "bc_held": held_units.rates,
    "bc_hold": held_units.hold,
    "bc_meet": event_units.meet,
    "bc_indicate": event_units.indicate,
}
"""What events of rigid contacts run."""


@dataclass(frozen=True, eq=False)
class Contents:
    """What goes into an FMU.

    inputs: Parameters that are inputs. steps: Of a run with impacts, which is for co-simulation alone. signals: Inputs
    that drivers follow. striking: Rigid contacts, whose events others meet.
    """

    mechanism: Mechanism
    name: str
    partitions: Sequence[Programs]
    outputs: Sequence[Output]
    inputs: Sequence[str]
    duration: float
    tolerance: float
    integrator: str
    steps: Stepping | None = None
    signals: Sequence[Signal] = ()
    striking: Striking | None = None

    @property
    def exchanged(self) -> bool:
        """Whether others can integrate it."""
        return self.striking is not None or self.steps is None

    @property
    def integrated(self) -> bool:
        """Whether it integrates itself, without steps of equal length."""
        return self.striking is None and self.steps is None

    @property
    def visible(self) -> list[str]:
        """The parameters of the user, which come first among all."""
        return self.mechanism.system.parameters.own()

    @property
    def contacts(self) -> int:
        """Number of continuous contacts, whose gaps are event indicators."""
        return len(continuous(self.mechanism))


def model_text(contents: Contents) -> str:
    """The file ``model.c``."""
    m = contents.mechanism
    every = [program for p in contents.partitions for program in p.named().values() if program is not None]
    beside = contents.steps.programs() if contents.steps is not None else {}
    parts = [
        f"/* {c.comment(contents.name)}, written by Bellcrank. */",
        c.HEAD,
        "#include <stddef.h>",
        "#include <stdint.h>",
        # Entries need the words of the loop language whether or not a program calls a routine.
        loops_c.WORDS.format(static="static", real="double"),
        TYPES,
        c.helpers([*every, *beside.values()]),
        *(c.functions(program, name, public="static ") for name, program in beside.items()),
    ]
    rows = []
    for k, p in enumerate(contents.partitions):
        for name, program in p.named().items():
            if program is not None:
                parts.append(c.functions(program, f"p{k}_{name}", public="static "))
        independent = ", ".join(str(i) for i in p.partition.independent) or "0"
        parts.append(f"static const int p{k}_independent[] = {{{independent}}};")
        derived = p.motion_tangent is not None
        parts.append((RATES + TANGENT * derived).format(
            k=k, positions=m.linkage.positions, moving=m.linkage.positions + m.linkage.speeds,
            free=len(p.partition.independent)))  # fmt: skip
        kernels = [f"p{k}_{name}" if program is not None else "0" for name, program in p.named().items()]
        tangent = f"p{k}_tangent" if derived else "0"
        rows.append(f"{{{', '.join(kernels)}, p{k}_rates, {tangent}, p{k}_independent}}")
    parts.append(f"static const Partition PARTITIONS[] = {{{', '.join(rows)}}};")
    if contents.integrated:
        parts += [_entry(begin, "bc_begin"), _entry(search, "bc_search"), _entry(change, "bc_change")]
        parts += _methods(contents)
        parts += [f"#define AT_{name} {value}" for name, value in vars(layout).items() if name.isupper()]
    elif contents.steps is not None:
        parts += [_entry(advance, "bc_advance"), *contents.steps.text()]
    else:
        parts.append("#define BC_MEMORY 1")
    if contents.striking is not None:
        parts += [_entry(entry, name) for name, entry in STRUCK.items()] + contents.striking.text()
    else:
        parts.append("#define BC_STRUCK_MEMORY 1")
    parts += _events(contents)
    parts += _numbers(contents)
    sizes = {
        "BC_POSITIONS": m.linkage.positions,
        "BC_SPEEDS": m.linkage.speeds,
        "BC_STATES": m.linkage.positions + len(contents.partitions[0].partition.independent),
        "BC_PARAMETERS": len(m.parameter_values),
        "BC_VISIBLE": len(contents.visible),
        "BC_OUTPUTS": len(contents.outputs),
        "BC_CONTACTS": contents.contacts,
        "BC_EVENTS": len(touch_events(m)),
        "BC_PARTITIONS": len(contents.partitions),
        "BC_FORCES": 0 if contents.integrated else len(contact_inputs(m.system)),
        "BC_EXCHANGE": int(contents.exchanged),
        "BC_STEPS": int(contents.integrated or contents.steps is not None),
        "BC_STRUCK": 0 if contents.striking is None else contents.striking.count,
        "BC_SIGNALS": len(contents.signals),
    }
    limits = {
        "BC_POSITION_TOLERANCE": 1e-11 * m.length_scale,
        "BC_DRIFT": DRIFT * contents.tolerance * m.length_scale,
        "BC_LEAST_MARGIN": stepping(m, contents.tolerance, 0.0, np.inf).repartition_threshold,
        "BC_TOLERANCE": contents.tolerance,
        "BC_START_TIME": m.start.t,
    }
    parts += [f"#define {name} {value}" for name, value in sizes.items()]
    parts += [f"#define {name} {float(value)!r}" for name, value in limits.items()]
    return "\n".join(parts) + "\n"


@cache
def _entry(entry: Entry, name: str) -> str:
    """An entry of the loop language as the C function ``long long name(char *words)``."""
    module = Module()
    module.entry(entry.function, entry.types, "entry")
    text = loops_c.emit(module.functions, name)
    return f"{text}\nstatic long long {name}(char *words) {{ return {name}_entry(words); }}\n"


def _methods(contents: Contents) -> list[str]:
    """The integrators with the memory that a run begins with; `auto` has two."""
    m = contents.mechanism
    options = stepping(m, contents.tolerance, 0.0, np.inf)
    names = [explicit(options), "radau"] if contents.integrator == AUTO else [contents.integrator]
    parts, rows, begins = [], [], 0
    near = np.zeros(0, np.int64)
    for k, name in enumerate(names):
        run = _run(contents, name, options)
        image = run.image()
        near = image.near
        words = image.memory[image.parts[9]]
        filled = np.flatnonzero(image.memory)
        values = ", ".join(loops_c.literal(int(v)) for v in image.memory[filled]) or "0"
        parts += [
            _entry(run.integrator.advance, f"bc_method{k}"),
            f"static const int METHOD{k}_AT[] = {{{', '.join(map(str, filled)) or '0'}}};",
            f"static const long long METHOD{k}_VALUE[] = {{{values}}};",
            f"static const long long METHOD{k}_WORDS[] = {{{', '.join(f'{int(w)}LL' for w in words)}}};",
        ]
        places = ", ".join(str(part.start) for part in image.parts)
        lengths = ", ".join(str(part.stop - part.start) for part in image.parts)
        tables = f"{len(filled)}, METHOD{k}_AT, METHOD{k}_VALUE, METHOD{k}_WORDS"
        rows.append(f"{{bc_method{k}, {begins}, {len(image.memory)}, {{{places}}}, {{{lengths}}}, {tables}}}")
        begins += len(image.memory)
    parts += [
        f"static const Method METHODS[] = {{{', '.join(rows)}}};",
        f"static const int NEAR[] = {{{', '.join(str(int(v)) for v in near)}}};",
        f"#define BC_METHODS {len(names)}",
        f"#define BC_MEMORY {begins}",
        f"#define BC_WORDS_OF_A_RUN {len(near)}",
    ]
    return parts


def _run(contents: Contents, method: str, options: Options) -> Run:
    """A run of the start partition, whose kernels are still without an address."""
    m = contents.mechanism
    first = contents.partitions[0]
    scales, sizes = tolerance_scales(m, first.partition)
    events = touch_events(m)
    problem = Problem(
        rhs=1,
        y0=np.concatenate([m.start.q, m.start.u[list(first.partition.independent)]]),
        t0=m.start.t,
        p=np.array(m.parameter_values),
        project=int(first.project is not None),
        tangent=1,
        events=int(bool(events)),
        directions=tuple(e.direction for e in events),
        scales=scales,
        sizes=sizes,
        independence=m.start_independence,
    )
    run = Run(problem, method, np.zeros(0), np.inf, options)
    if contents.integrator == AUTO:
        run.ints[layout.WATCH_STIFFNESS] = 1
    return run


def _events(contents: Contents) -> list[str]:
    """What the events of contacts do; see :mod:`bellcrank.run.touch`."""
    m = contents.mechanism
    forces = {force.name: force for force in continuous(m)}
    events = touch_events(m)
    places = {name: k for k, name in enumerate(m.mechanics.parameters)}
    numbers = {event.name: k for k, event in enumerate(events)}
    rows, touches, slowest, near = [], [], [], []
    for event in events:
        name, _, what = event.name.rpartition(": ")
        kept = names_in(forces[name].approach_speed)
        kind = "BC_BEGINS_ANEW"
        if isinstance(event, ClosingRate):
            kind = "BC_GOES_ON"
        elif what == "middle":
            kind = "BC_ENDS"
        elif what == "touch" and kept:
            kind = "BC_TOUCHES"
        place = places[kept[0]] if kept else -1
        limits = f"{float(forces[name].slowest)!r}, {float(taken_over(m, forces[name]))!r}"
        text = _quoted(f"contact {name!r}: a body is pressed to the middle of another")
        rows.append(f"{{{kind}, {place}, {numbers[f'{name}: rate']}, {limits}, {text}}}")
    for force in forces.values():
        kept = names_in(force.approach_speed)
        touches.append(str(places[kept[0]] if kept else -1))
        slowest.append(repr(float(force.slowest)))
        near.append(repr(float(taken_over(m, force))))
    return [
        f"static const Happening EVENTS[] = {{{', '.join(rows) or '{0, 0, 0, 0.0, 0.0, 0}'}}};",
        f"static const int TOUCH_PLACE[] = {{{', '.join(touches) or '0'}}};",
        f"static const double TOUCH_SLOWEST[] = {{{', '.join(slowest) or '0.0'}}};",
        f"static const double TOUCH_NEAR[] = {{{', '.join(near) or '0.0'}}};",
    ]


def _numbers(contents: Contents) -> list[str]:
    start = ", ".join(repr(float(v)) for v in start_motion(contents.mechanism)) or "0.0"
    values = ", ".join(repr(float(v)) for v in contents.mechanism.parameter_values) or "0.0"
    places = {name: k for k, name in enumerate(contents.mechanism.mechanics.parameters)}
    owner = {name: k for k, signal in enumerate(contents.signals) for name in signal.given}
    owners = ", ".join(str(owner.get(name, -1)) for name in contents.visible)
    signals = [", ".join(str(places[name]) for name in (*s.given, *s.led)) for s in contents.signals]
    return [
        f"static const int SIGNAL_OF[] = {{{owners or '-1'}}};",
        f"static const int SIGNALS[][8] = {{{', '.join(f'{{{row}}}' for row in signals) or '{0}'}}};",
        f"static const double BC_START[] = {{{start}}};",
        f"static const double BC_VALUES[] = {{{values}}};",
    ]


def start_motion(mechanism: Mechanism) -> np.ndarray:
    """Positions, first-order states and all speeds of the start."""
    return np.concatenate([mechanism.start.q, mechanism.start.u])


def motion_names(mechanism: Mechanism) -> list[tuple[str, str]]:
    """Names of positions, first-order states and all speeds, and of their rates."""
    found = [*mechanism.linkage.position_names, *(f"rate of {name}" for name in mechanism.speed_names)]
    return [(name, f"der({name})") for name in found]


def _quoted(text: str) -> str:
    escaped = text.encode("ascii", "replace").decode().replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

"""A mechanism as one C99 file for hardware in the loop: rates, outputs, projection and a step of fixed size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bellcrank.program.c import HEAD, Signature, comment, functions, helpers, identifier
from bellcrank.program.program import Program


@dataclass(frozen=True)
class Touch:
    """A contact: its name, and the place of the parameter that keeps the speed at which it began, if its law asks.

    slowest: What that speed is at least [m/s].
    """

    name: str
    parameter: int | None
    slowest: float


@dataclass(frozen=True)
class Export:
    """What goes into the file: programs of [t, y, p], and what the entries of their arrays are called.

    rates: to the rates of y. full: to all speeds, all speed rates and the constraint residuals. projection: to
    y corrected, residual, margin; None where there is nothing to project. gaps: to the gaps of the `touches`, then the
    rates at which they close; None where there are none.
    """

    name: str
    rates: Program
    full: Program
    projection: Program | None
    states: Sequence[str]
    parameters: Sequence[str]
    speeds: Sequence[str]
    equations: Sequence[str]
    start_time: float
    start: Sequence[float]
    values: Sequence[float]
    touches: Sequence[Touch] = ()
    gaps: Program | None = None


ABOUT = """\
/* {title}: equations of motion, written by Bellcrank.
 *
 * C99, no allocation, no library but libm (link with -lm). All functions are reentrant. SI units.
 *
 *   {name}_initialise(&t, y, p)   start time, start state, parameter values
 *   {name}_rates(t, y, p, dy)     rates of the state
 *   {name}_outputs(t, y, p, out)  all speeds, all speed rates, constraint residuals
 *   {name}_project(t, y, p, &margin)
 *                                 closes the loops and makes quaternions unit; returns the residual left
 *                                 [m, rad]. margin falls towards 0 where the independent speeds below
 *                                 stop describing the motion (a dead centre): stop before that.
 *   {name}_step(&t, y, p, h)      one step of Runge-Kutta 4 of h seconds, then projection; returns 0, or 1
 *                                 where the loops could not be closed, or 2 where the state is not finite
 *                                 (t and y then stay as they were)
{contacts} *
{lists} */
"""

CONTACTS = """\
 *   {name}_gaps(t, y, p, out)     gaps of the contacts [m], then the rates at which they close [m/s]
 *   {name}_touch(t, y, p, gap)    keeps the speeds at which contacts began, which their forces depend on, in
 *                                 p: call it before the first step and after every step, with the same
 *                                 array gap of {NAME}_CONTACTS numbers
"""

TOUCH = """\
void {name}_touch(double t, const double *y, double *p, double *gap) {{
  static const int place[{NAME}_CONTACTS] = {{{places}}};
  static const double slowest[{NAME}_CONTACTS] = {{{slowest}}};
  double out[2 * {NAME}_CONTACTS];
  int i;
  {name}_gaps(t, y, p, out);
  for (i = 0; i < {NAME}_CONTACTS; ++i) {{
    double speed = out[{NAME}_CONTACTS + i];
    if (place[i] >= 0 && gap[i] > 0.0 && out[i] <= 0.0) p[place[i]] = speed > slowest[i] ? speed : slowest[i];
    gap[i] = out[i];
  }}
}}
"""

STEP = """\
int {name}_step(double *t, double *y, const double *p, double h) {{
  static const double node[4] = {{0.0, 0.5, 0.5, 1.0}}, weight[4] = {{1.0, 2.0, 2.0, 1.0}};
  double k[{NAME}_STATES], at[{NAME}_STATES], sum[{NAME}_STATES], margin, finite = 0.0;
  int i, stage;
  for (stage = 0; stage < 4; ++stage) {{
    for (i = 0; i < {NAME}_STATES; ++i) at[i] = stage ? y[i] + node[stage] * h * k[i] : y[i];
    {name}_rates(*t + node[stage] * h, at, p, k);
    for (i = 0; i < {NAME}_STATES; ++i) sum[i] = stage ? sum[i] + weight[stage] * k[i] : k[i];
  }}
  for (i = 0; i < {NAME}_STATES; ++i) {{
    at[i] = y[i] + h / 6.0 * sum[i];
    finite += 0.0 * at[i];
  }}
  if (finite != 0.0) return 2;
  if (!({name}_project(*t + h, at, p, &margin) <= {NAME}_POSITION_TOLERANCE)) return 1;
  for (i = 0; i < {NAME}_STATES; ++i) y[i] = at[i];
  *t += h;
  return 0;
}}
"""

PROJECT = """\
double {name}_project(double t, double *y, const double *p, double *margin) {{
  double out[{NAME}_STATES + 2];
  int i, k;
  out[{NAME}_STATES] = BC_INFINITY;
  for (k = 0; k < {NAME}_CORRECTIONS; ++k) {{
    {name}_correction(t, y, p, out);
    for (i = 0; i < {NAME}_STATES; ++i) y[i] = out[i];
    /* The residual is that before the correction: the last pass confirms the one before it. */
    if (out[{NAME}_STATES] <= {NAME}_POSITION_TOLERANCE) break;
  }}
  *margin = out[{NAME}_STATES + 1];
  return out[{NAME}_STATES];
}}
"""

NO_PROJECT = """\
double {name}_project(double t, double *y, const double *p, double *margin) {{
  (void)t;
  (void)y;
  (void)p;
  *margin = 1.0;
  return 0.0;
}}
"""

INITIALISE = """\
void {name}_initialise(double *t, double *y, double *p) {{
  static const double start[{NAME}_STATES] = {{{start}}};
  static const double values[{NAME}_PARAMETERS + 1] = {{{values}}};
  int i;
  *t = {time};
  for (i = 0; i < {NAME}_STATES; ++i) y[i] = start[i];
  for (i = 0; i < {NAME}_PARAMETERS; ++i) p[i] = values[i];
}}
"""


def c_file(export: Export) -> str:
    """The text of the file."""
    name, n = identifier(export.name), len(export.states)
    fill = {"name": name, "NAME": name.upper(), "title": comment(export.name)}
    programs = [p for p in (export.rates, export.full, export.projection, export.gaps) if p is not None]
    contacts = CONTACTS.format(**fill) if export.gaps else ""
    parts = [
        ABOUT.format(lists=_lists(export), contacts=contacts, **fill),
        HEAD,
        _sizes(export, name.upper()),
        helpers(programs),
    ]
    signature = _signature(n)
    parts += [
        functions(export.rates, f"{name}_rates", signature),
        functions(export.full, f"{name}_outputs", signature),
    ]
    if export.projection:
        parts.append(functions(export.projection, f"{name}_correction", signature, "static "))
        parts.append(PROJECT.format(**fill))
    else:
        parts.append(NO_PROJECT.format(**fill))
    if export.gaps:
        places = ", ".join(
            str(-1 if touch.parameter is None else touch.parameter) for touch in export.touches
        )
        parts.append(functions(export.gaps, f"{name}_gaps", signature))
        slowest = ", ".join(repr(touch.slowest) for touch in export.touches)
        parts.append(TOUCH.format(places=places, slowest=slowest, **fill))
    start = ", ".join(repr(float(v)) for v in export.start)
    values = ", ".join(repr(float(v)) for v in (*export.values, 0.0))
    time = repr(float(export.start_time))
    parts += [INITIALISE.format(start=start, values=values, time=time, **fill), STEP.format(**fill)]
    return "\n".join(part for part in parts if part.strip())


def _signature(n: int) -> Signature:
    def load(k: int) -> str:
        return "t" if k == 0 else f"y[{k - 1}]" if k <= n else f"p[{k - 1 - n}]"

    parameters = "double t, const double *y, const double *p, double *out"
    return Signature(parameters, "t, y, p, out", load, lambda k: f"out[{k}]")


def _sizes(export: Export, prefix: str) -> str:
    u = len(export.speeds)
    sizes = {
        "STATES": len(export.states),
        "PARAMETERS": len(export.parameters),
        "SPEEDS": u,
        "EQUATIONS": len(export.full.outputs) - 2 * u,
        "OUTPUTS": len(export.full.outputs),
        "CORRECTIONS": 8,
    }
    if export.touches:
        sizes["CONTACTS"] = len(export.touches)
    lines = [f"#define {prefix}_{what} {size}" for what, size in sizes.items()]
    lines.append(f"#define {prefix}_POSITION_TOLERANCE 1e-11")
    return "\n".join([*lines, ""])


def _lists(export: Export) -> str:
    u = export.speeds
    rates, changes = (f"rate of {name}" for name in u), (f"acceleration of {name}" for name in u)
    outputs = [*rates, *changes, *(f"residual of {e}" for e in export.equations)]
    contacts = [f"contact {touch.name}" for touch in export.touches]
    blocks = (("y", export.states), ("p", export.parameters), ("out", outputs), ("gap", contacts))
    return "".join(
        f" * {array}[{k}]  {comment(name)}\n" for array, names in blocks for k, name in enumerate(names)
    )


__all__ = ["Export", "c_file"]

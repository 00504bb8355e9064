"""Spells out the steps of a schedule as LLVM IR, for any number of lanes.

NaN is never lost. ``min`` and ``max`` return it. A condition is two bits, surely true and surely false;
comparing a NaN sets neither, ``and``/``or``/``not`` follow Kleene's three-valued logic, and ``select`` on an
undecided condition is NaN. A NaN in the branch not taken does no harm. ``interval`` and ``gather`` of NaN are
NaN; an index outside a table is held at its end. A condition used as a number is 1 or 0, or NaN undecided.
"""

from __future__ import annotations

from collections.abc import Callable

from bellcrank.program.elementary import constant, sincos_name, splat, vector_type
from bellcrank.program.registers import PLAIN, RegisterWriter, lanes_from
from bellcrank.program.step import Step

_C_FUNCTIONS = frozenset(
    {"tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "atan2", "pow"},
)
_INTRINSICS = {"sqrt": "sqrt", "abs": "fabs", "floor": "floor"}
_COMPARE = {"lt": ("olt", "oge"), "le": ("ole", "ogt"), "eq": ("oeq", "one")}
_NAN = constant(float("nan"))
_ZERO = constant(0.0)


class StepWriter(RegisterWriter):
    """Writes the steps."""

    def step(self, step: Step) -> None:
        """Write one step."""
        op = step.op
        plain = PLAIN.get(op)
        if plain is not None:
            a, b = self.ref(step.args[0]), self.ref(step.args[1])
            self.lines.append(f"  %v{step.outs[0]} = {plain} {self.T} {a}, {b}")
        elif op in _C_FUNCTIONS:
            self._c_function(step)
        elif op in _INTRINSICS:
            self._intrinsic(f"%v{step.outs[0]}", _INTRINSICS[op], [self.ref(step.args[0])])
        else:
            _RULES[op](self, step)

    def _intrinsic(self, out: str, name: str, args: list[str]) -> None:
        T, full = self.T, f"@llvm.{name}.{self.suffix}"
        self.declare(f"declare {T} {full}({', '.join([T] * len(args))})")
        self.op(f"call {T} {full}({', '.join(f'{T} {a}' for a in args)})", out)

    def _fused(self, step: Step) -> None:
        a, b, c = (self.ref(s) for s in step.args)
        if step.op == "fnma":
            a = self.op(f"fneg {self.T} {a}")
        elif step.op == "fms":
            c = self.op(f"fneg {self.T} {c}")
        self._intrinsic(f"%v{step.outs[0]}", "fmuladd", [a, b, c])

    def _neg(self, step: Step) -> None:
        self.op(f"fneg {self.T} {self.ref(step.args[0])}", f"%v{step.outs[0]}")

    def _c_function(self, step: Step) -> None:
        args = [self.ref(a) for a in step.args]
        self.declare(f"declare double @{step.op}({', '.join(['double'] * len(args))}) nounwind")
        self._each(
            args,
            f"%v{step.outs[0]}",
            lambda parts, out: self.op(
                f"call double @{step.op}({', '.join('double ' + p for p in parts)})", out
            ),
        )

    def _each(self, args: list[str], out: str, act: Callable[[list[str], str | None], str]) -> None:
        """Apply `act` lane by lane."""
        if self.lanes == 1:
            act(args, out)
            return
        result = "undef"
        for lane in range(self.lanes):
            parts = [self.op(f"extractelement {self.T} {a}, i32 {lane}") for a in args]
            value = act(parts, None)
            result = self.op(
                f"insertelement {self.T} {result}, double {value}, i32 {lane}",
                out if lane == self.lanes - 1 else None,
            )

    def _sincos(self, step: Step) -> None:
        T, lanes, count = self.T, self.lanes, len(step.args)
        group = 1
        while group < count:
            group *= 2
        width = lanes * group
        self.widths.add(width)
        wide = vector_type(width)
        args = [self.ref(a) for a in step.args]
        if group == 1:
            packed = args[0]
        elif lanes == 1:
            packed = splat(_ZERO, width)
            for k, a in enumerate(args):
                packed = self.op(f"insertelement {wide} {packed}, double {a}, i32 {k}")
        else:
            packed = self._concatenated(args, group)
        pair = f"{{ {wide}, {wide} }}"
        both = self.op(f"call {pair} {sincos_name(width)}({wide} {packed})")
        for which in (0, 1):
            values = self.op(f"extractvalue {pair} {both}, {which}")
            for k in range(count):
                o = step.outs[2 * k + which]
                if o < 0:
                    continue
                if group == 1:
                    # A name for the same value; folds away.
                    self.op(f"bitcast {T} {values} to {T}", f"%v{o}")
                elif lanes == 1:
                    self.op(f"extractelement {wide} {values}, i32 {k}", f"%v{o}")
                else:
                    mask = lanes_from(k * lanes, lanes)
                    self.op(f"shufflevector {wide} {values}, {wide} undef, {mask}", f"%v{o}")

    def _concatenated(self, args: list[str], group: int) -> str:
        parts = [*args, *[self.number(0.0)] * (group - len(args))]
        width = self.lanes
        while len(parts) > 1:
            t = vector_type(width)
            parts = [
                self.op(f"shufflevector {t} {a}, {t} {b}, {lanes_from(0, 2 * width)}")
                for a, b in zip(parts[::2], parts[1::2], strict=True)
            ]
            width *= 2
        return parts[0]

    def _extreme(self, step: Step) -> None:
        a, b = step.args
        if type(a) is not int:
            a, b = b, a
        out = f"%v{step.outs[0]}"
        if type(b) is int:
            self._intrinsic(out, "minimum" if step.op == "min" else "maximum", [self.ref(a), self.ref(b)])
            return
        # Against a constant one instruction does: "unordered or less" keeps the NaN of a.
        x, c = self.ref(a), self.number(b)
        better = self.op(f"fcmp {'ult' if step.op == 'min' else 'ugt'} {self.T} {x}, {c}")
        self.op(f"select {self.B} {better}, {self.T} {x}, {self.T} {c}", out)

    def _compare(self, step: Step) -> None:
        a, b = self.ref(step.args[0]), self.ref(step.args[1])
        for name, predicate in zip(("y", "n"), _COMPARE[step.op], strict=True):
            self.op(f"fcmp {predicate} {self.T} {a}, {b}", f"%{name}{step.outs[0]}")

    def _logic(self, step: Step) -> None:
        out = step.outs[0]
        (ya, na), (yb, nb) = self._truth(step.args[0]), self._truth(step.args[1])
        first, second = ("and", "or") if step.op == "and" else ("or", "and")
        self.op(f"{first} {self.B} {ya}, {yb}", f"%y{out}")
        self.op(f"{second} {self.B} {na}, {nb}", f"%n{out}")

    def _not(self, step: Step) -> None:
        yes, no = self._truth(step.args[0])
        self.op(f"or {self.B} {no}, {no}", f"%y{step.outs[0]}")
        self.op(f"or {self.B} {yes}, {yes}", f"%n{step.outs[0]}")

    def _select(self, step: Step) -> None:
        yes, no = self._truth(step.args[0])
        self._decided(yes, no, self.ref(step.args[1]), self.ref(step.args[2]), f"%v{step.outs[0]}")

    def _table(self, values: tuple[float, ...]) -> str:
        # Many operations look into one long table: it is spelled once.
        known = self.spelled.get(id(values))
        if known is None:
            text = tuple(constant(v) for v in values)
            known = values, self.globals.setdefault(text, f"@table{len(self.globals)}")
            self.spelled[id(values)] = known
        return known[1]

    def _interval(self, step: Step) -> None:
        x, points = step.args
        size = 1
        while size < len(points) - 1:
            size *= 2
        table = self._table((*points[:-1], *[float("nan")] * (size - len(points) + 1))) if size > 1 else ""
        self.searches |= size > 1
        wholes: list[str] = []
        self.whole[step.outs[0]] = (len(points) - 1, wholes)

        def act(parts: list[str], out: str | None) -> str:
            k = "0"
            if size > 1:
                k = self.op(f"call i64 @search(double {parts[0]}, ptr {table}, i64 {size // 2})")
            wholes.append(k)
            number = self.op(f"sitofp i64 {k} to double")
            lost = self.op(f"fcmp uno double {parts[0]}, {parts[0]}")
            return self.op(f"select i1 {lost}, double {_NAN}, double {number}", out)

        self._each([self.ref(x)], f"%v{step.outs[0]}", act)

    def _gather(self, step: Step) -> None:
        k, values = step.args
        table = self._table(values)
        reach, wholes = self.whole.get(k, (0, []))
        known = list(wholes) if reach <= len(values) else []

        def act(parts: list[str], out: str | None) -> str:
            whole = known.pop(0) if known else self._held(parts[0], len(values))
            at = self.op(f"getelementptr double, ptr {table}, i64 {whole}")
            value = self.op(f"load double, ptr {at}, align 8")
            lost = self.op(f"fcmp uno double {parts[0]}, {parts[0]}")
            return self.op(f"select i1 {lost}, double {_NAN}, double {value}", out)

        self._each([self.ref(k)], f"%v{step.outs[0]}", act)

    def _held(self, k: str, size: int) -> str:
        """The whole number of `k`, held inside a table of `size`; 0 for NaN."""
        above = self.op(f"fcmp ogt double {k}, {_ZERO}")
        low = self.op(f"select i1 {above}, double {k}, double {_ZERO}")
        top = constant(float(size - 1))
        below = self.op(f"fcmp olt double {low}, {top}")
        held = self.op(f"select i1 {below}, double {low}, double {top}")
        return self.op(f"fptosi double {held} to i64")


_RULES: dict[str, Callable[[StepWriter, Step], None]] = {
    **dict.fromkeys(("fma", "fms", "fnma"), StepWriter._fused),
    **dict.fromkeys(("min", "max"), StepWriter._extreme),
    **dict.fromkeys(("lt", "le", "eq"), StepWriter._compare),
    **dict.fromkeys(("and", "or"), StepWriter._logic),
    "neg": StepWriter._neg,
    "sincos": StepWriter._sincos,
    "not": StepWriter._not,
    "select": StepWriter._select,
    "interval": StepWriter._interval,
    "gather": StepWriter._gather,
}

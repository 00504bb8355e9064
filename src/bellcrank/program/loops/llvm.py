"""The loop language as LLVM IR text."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.program.elementary import constant
from bellcrank.program.loops import ir
from bellcrank.program.loops.ir import Kind, Operand, Ref, Statement, kind_of

TYPES: dict[Kind, str] = {"int": "i64", "real": "double", "bool": "i1", "pointer": "ptr"}
_REAL = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_WHOLE = {
    "iadd": "add nsw", "isub": "sub nsw", "imul": "mul nsw", "iand": "and", "ior": "or", "ixor": "xor", "ishl": "shl",
    "ishr": "ashr",
}  # fmt: skip
_COMPARED = {
    "lt": ("slt", "olt"), "le": ("sle", "ole"), "gt": ("sgt", "ogt"), "ge": ("sge", "oge"), "eq": ("eq", "oeq"),
    "ne": ("ne", "une"),
}  # fmt: skip
_INTRINSICS = {
    "sqrt": "llvm.sqrt.f64",
    "abs": "llvm.fabs.f64",
    "floor": "llvm.floor.f64",
    "pow": "llvm.pow.f64",
}


def emit(functions: Sequence[ir.Function], exported: str) -> str:
    """The module of these functions; the one called `exported` can be seen from outside."""
    declared: dict[str, None] = {}
    by_name = {f.name: f for f in functions}
    bodies = [_Writer(f, by_name, declared).text(f.name == exported) for f in functions]
    return "\n".join([*declared, *bodies]) + "\n"


def result_type(kinds: Sequence[Kind]) -> str:
    """The type of the results of a function."""
    if not kinds:
        return "void"
    return TYPES[kinds[0]] if len(kinds) == 1 else f"{{{', '.join(TYPES[k] for k in kinds)}}}"


def operand(value: Operand) -> str:
    """A scalar as LLVM spells it."""
    if isinstance(value, Ref):
        return f"%v{value.id}"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else constant(value)


def _typed(value: Operand) -> str:
    return f"{TYPES[kind_of(value)]} {operand(value)}"


class _Writer:
    """Writes one function."""

    def __init__(
        self, function: ir.Function, functions: dict[str, ir.Function], declared: dict[str, None]
    ) -> None:
        self.function, self.functions, self.declared = function, functions, declared
        self.lines: list[str] = []
        self.count = 0
        self.loops: list[tuple[str, str]] = []

    def text(self, exported: bool) -> str:
        """The whole function."""
        f = self.function
        parameters = ", ".join(
            f"{TYPES[p.kind]} {'noalias ' if p.id in f.alone else ''}%v{p.id}" for p in f.parameters
        )
        linkage = "" if exported else "internal "
        head = f'define {linkage}{result_type(f.results)} @"{f.name}"({parameters}) nounwind {{\nentry:'
        slots = [f"  %s{k} = alloca {TYPES[kind]}" for k, kind in enumerate(f.variables)]
        slots += [f"  %l{k} = alloca [{max(words, 1)} x i64], align 16" for k, words in enumerate(f.locals)]
        self.statements(f.body)
        # Python falls off the end of a function only where it returns nothing; that Return is in the body.
        return "\n".join([head, *slots, *self.lines, "  unreachable", "}"])

    def new(self) -> str:
        """A name."""
        self.count += 1
        return f"t{self.count}"

    def emit(self, line: str) -> None:
        """One instruction."""
        self.lines.append("  " + line)

    def statements(self, given: Sequence[Statement]) -> None:
        """One after the other."""
        for statement in given:
            match statement:
                case ir.Op():
                    self.op(statement)
                case ir.Set():
                    self.emit(f"store {_typed(statement.value)}, ptr %s{statement.variable}")
                case ir.Store():
                    at = self.address(statement.pointer, statement.index)
                    self.emit(f"store {_typed(statement.value)}, ptr {at}, align 8")
                case ir.Clear():
                    self.declare("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
                    size = 8 * statement.words
                    self.emit(
                        f"call void @llvm.memset.p0.i64(ptr {operand(statement.pointer)}, i8 0, i64 {size}, i1 false)"
                    )
                case ir.Call():
                    self.call(statement)
                case ir.CallAddress():
                    self.call_address(statement)
                case ir.If():
                    self.choice(statement)
                case ir.Loop():
                    self.loop(statement)
                case ir.Jump():
                    self.emit(f"br label %{self.loops[-1][statement.word == 'break']}")
                    self.lines.append(f"{self.new()}:")
                case ir.Return():
                    self.give(statement)

    def declare(self, text: str) -> None:
        """A function of LLVM or of the C library."""
        self.declared[text] = None

    def address(self, pointer: Ref, index: Operand) -> str:
        """Where a word lies."""
        if index == 0 and not isinstance(index, Ref):
            return operand(pointer)
        name = f"%{self.new()}"
        self.emit(f"{name} = getelementptr inbounds i64, ptr {operand(pointer)}, i64 {operand(index)}")
        return name

    def op(self, op: ir.Op) -> None:
        """One operation."""
        out, args, name = operand(op.out), op.args, op.op
        if name == "get":
            self.emit(f"{out} = load {TYPES[op.out.kind]}, ptr %s{args[0]}")
            return
        texts = [operand(a) for a in args]
        if name in _REAL:
            text = f"{_REAL[name]} contract double {texts[0]}, {texts[1]}"
        elif name in _WHOLE:
            text = f"{_WHOLE[name]} i64 {texts[0]}, {texts[1]}"
        elif name == "load":
            at = self.address(args[0], args[1])  # type: ignore[arg-type]
            text = f"load {TYPES[op.out.kind]}, ptr {at}, align 8"
        elif name == "offset":
            text = f"getelementptr inbounds i64, ptr {texts[0]}, i64 {texts[1]}"
        elif name == "local":
            text = f"getelementptr inbounds i64, ptr %l{args[0]}, i64 0"
        elif name in _COMPARED:
            whole, real = _COMPARED[name]
            kind = kind_of(args[0])
            how = f"fcmp {real} double" if kind == "real" else f"icmp {whole} {TYPES[kind]}"
            text = f"{how} {texts[0]}, {texts[1]}"
        elif name == "neg":
            text = f"fneg contract double {texts[0]}"
        elif name == "select":
            text = f"select i1 {texts[0]}, {_typed(args[1])}, {_typed(args[2])}"
        elif name in ("and", "or"):
            text = f"{name} i1 {texts[0]}, {texts[1]}"
        elif name == "not":
            text = f"xor i1 {texts[0]}, true"
        elif name == "real":
            text = f"sitofp i64 {texts[0]} to double"
        elif name == "whole":
            text = f"fptosi double {texts[0]} to i64"
        elif name in ("ifloor", "imod"):
            self._divided(op)
            return
        else:
            symbol = _INTRINSICS.get(name, name)
            self.declare(f"declare double @{symbol}({', '.join(['double'] * len(args))})")
            text = f"call contract double @{symbol}({', '.join('double ' + t for t in texts)})"
        self.emit(f"{out} = {text}")

    def _divided(self, op: ir.Op) -> None:
        """Quotient and rest of integers; the rest has the sign of the divisor, as in Python."""
        a, b = (operand(x) for x in op.args)
        out, rest, moved = operand(op.out), f"%{self.new()}", f"%{self.new()}"
        self.emit(f"{rest} = srem i64 {a}, {b}")
        self.emit(f"{moved} = add nsw i64 {rest}, {b}")
        if op.op == "imod":
            self.emit(f"{out} = srem i64 {moved}, {b}")
            return
        proper, whole = f"%{self.new()}", f"%{self.new()}"
        self.emit(f"{proper} = srem i64 {moved}, {b}")
        self.emit(f"{whole} = sub nsw i64 {a}, {proper}")
        self.emit(f"{out} = sdiv exact i64 {whole}, {b}")

    def call(self, call: ir.Call) -> None:
        """A function of the module."""
        results = self.functions[call.name].results
        kind = result_type(results)
        text = f'call {kind} @"{call.name}"({", ".join(_typed(a) for a in call.args)})'
        if len(results) == 1:
            self.emit(f"{operand(call.outs[0])} = {text}")
        elif not results:
            self.emit(text)
        else:
            whole = f"%{self.new()}"
            self.emit(f"{whole} = {text}")
            for k, out in enumerate(call.outs):
                self.emit(f"{operand(out)} = extractvalue {kind} {whole}, {k}")

    def call_address(self, call: ir.CallAddress) -> None:
        """Machine code at an address."""
        at = f"%{self.new()}"
        self.emit(f"{at} = inttoptr i64 {operand(call.address)} to ptr")
        given = ", ".join(f"ptr {operand(a)}" for a in call.args)
        if call.out is None:
            self.emit(f"call void {at}({given})")
        else:
            self.emit(f"{operand(call.out)} = call i64 {at}({given})")

    def choice(self, statement: ir.If) -> None:
        """One of two blocks."""
        yes, no, end = self.new(), self.new(), self.new()
        self.emit(f"br i1 {operand(statement.condition)}, label %{yes}, label %{no}")
        for label, block in ((yes, statement.then), (no, statement.orelse)):
            self.lines.append(f"{label}:")
            self.statements(block)
            self.emit(f"br label %{end}")
        self.lines.append(f"{end}:")

    def loop(self, statement: ir.Loop) -> None:
        """Test, body, step."""
        head, body, after, end = (self.new() for _ in range(4))
        self.emit(f"br label %{head}")
        self.lines.append(f"{head}:")
        self.statements(statement.test)
        self.emit(f"br i1 {operand(statement.condition)}, label %{body}, label %{end}")
        self.lines.append(f"{body}:")
        self.loops.append((after, end))
        self.statements(statement.body)
        self.loops.pop()
        self.emit(f"br label %{after}")
        self.lines.append(f"{after}:")
        self.statements(statement.step)
        self.emit(f"br label %{head}")
        self.lines.append(f"{end}:")

    def give(self, statement: ir.Return) -> None:
        """The results; what follows is not reached from here."""
        values, kind = statement.values, result_type(self.function.results)
        if not values:
            self.emit("ret void")
        elif len(values) == 1:
            self.emit(f"ret {_typed(values[0])}")
        else:
            whole = "undef"
            for k, value in enumerate(values):
                name = f"%{self.new()}"
                self.emit(f"{name} = insertvalue {kind} {whole}, {_typed(value)}, {k}")
                whole = name
            self.emit(f"ret {kind} {whole}")
        self.lines.append(f"{self.new()}:")

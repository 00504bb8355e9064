"""LLVM IR of the small functions kernels call: sine and cosine in any width, and the table search.

Sine and cosine: the argument is reduced by multiples of pi/2 held in three doubles (Cody and Waite, with
fused multiply-add, so that the first subtraction is exact) to r + t with |r| <= pi/4, and the kernels of
fdlibm (Sun Microsystems, k_sin.c and k_cos.c, 1993) are evaluated with the tail t. The error stays below
one unit in the last place for |x| <= 2**28; beyond, and for infinities and NaN, the C library answers.
"""

from __future__ import annotations

import math
import struct

LARGEST = 2.0**28
"""Arguments of sine and cosine beyond this [rad] go to the C library."""

_PI_HALF = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
_MAGIC = 1.5 * 2.0**52
_SIN = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
_COS = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)


def vector_type(width: int, element: str = "double") -> str:
    """The IR type of `width` elements."""
    return element if width == 1 else f"<{width} x {element}>"


def constant(value: float) -> str:
    """The IR literal of a double, exact to the bit."""
    return f"0x{struct.pack('>d', value).hex().upper()}"


def splat(literal: str, width: int, element: str = "double") -> str:
    """The IR literal of `width` equal elements."""
    return literal if width == 1 else "<" + ", ".join([f"{element} {literal}"] * width) + ">"


def sincos_name(width: int) -> str:
    """The name of the function that :func:`sincos_text` defines."""
    return f"@sincos{width}"


def sincos_text(width: int) -> str:
    """The definition of ``{sines, cosines} @sincosW(arguments)`` on `width` numbers."""
    T, Q, B = vector_type(width), vector_type(width, "i64"), vector_type(width, "i1")
    suffix = "f64" if width == 1 else f"v{width}f64"
    pair = f"{{ {T}, {T} }}"
    lines: list[str] = []

    def c(value: float) -> str:
        return splat(constant(value), width)

    def i(value: int) -> str:
        return splat(str(value), width, "i64")

    def fma(out: str, a: str, b: str, d: str) -> None:
        lines.append(f"  %{out} = call {T} @llvm.fma.{suffix}({T} {a}, {T} {b}, {T} {d})")

    def op(out: str, text: str) -> None:
        lines.append(f"  %{out} = {text}")

    op("size", f"call {T} @llvm.fabs.{suffix}({T} %x)")
    op("fits", f"fcmp ole {T} %size, {c(LARGEST)}")
    if width == 1:
        lines.append("  br i1 %fits, label %fast, label %slow")
    else:
        op("bits", f"bitcast {B} %fits to i{width}")
        op("all", f"icmp eq i{width} %bits, -1")
        lines.append("  br i1 %all, label %fast, label %slow")
    lines.append("fast:")
    # Adding 1.5 * 2**52 rounds to the nearest whole number and leaves it in the low bits.
    fma("shifted", "%x", c(2.0 / math.pi), c(_MAGIC))
    op("n", f"fsub {T} %shifted, {c(_MAGIC)}")
    op("m", f"fneg {T} %n")
    fma("r1", "%m", c(_PI_HALF[0]), "%x")
    # Close to a multiple of pi/2 the next sum cancels to a few bits, so its rounding error is kept (Knuth).
    op("w0", f"fmul {T} %m, {c(_PI_HALF[1])}")
    op("w0neg", f"fneg {T} %w0")
    fma("w0tail", "%m", c(_PI_HALF[1]), "%w0neg")
    op("r", f"fadd {T} %r1, %w0")
    op("part", f"fsub {T} %r, %r1")
    op("rest", f"fsub {T} %r, %part")
    op("lost1", f"fsub {T} %r1, %rest")
    op("lost2", f"fsub {T} %w0, %part")
    op("lost", f"fadd {T} %lost1, %lost2")
    op("t1", f"fadd {T} %lost, %w0tail")
    fma("t", "%m", c(_PI_HALF[2]), "%t1")
    op("z", f"fmul {T} %r, %r")
    op("v", f"fmul {T} %z, %r")
    fma("s5", "%z", c(_SIN[5]), c(_SIN[4]))
    fma("s4", "%z", "%s5", c(_SIN[3]))
    fma("s3", "%z", "%s4", c(_SIN[2]))
    fma("s2", "%z", "%s3", c(_SIN[1]))
    # sin = r - ((z (t/2 - v s2) - t) - v S1)
    op("half", f"fmul {T} %t, {c(0.5)}")
    op("vneg", f"fneg {T} %v")
    fma("s1", "%vneg", "%s2", "%half")
    op("tneg", f"fneg {T} %t")
    fma("s0", "%z", "%s1", "%tneg")
    fma("sn", "%vneg", c(_SIN[0]), "%s0")
    op("sine", f"fsub {T} %r, %sn")
    fma("c5", "%z", c(_COS[5]), c(_COS[4]))
    fma("c4", "%z", "%c5", c(_COS[3]))
    fma("c3", "%z", "%c4", c(_COS[2]))
    fma("c2", "%z", "%c3", c(_COS[1]))
    fma("c1", "%z", "%c2", c(_COS[0]))
    # cos = w + (((1 - w) - z/2) + (z z c1 - r t)), w = 1 - z/2
    op("hz", f"fmul {T} %z, {c(0.5)}")
    op("w", f"fsub {T} {c(1.0)}, %hz")
    op("w1", f"fsub {T} {c(1.0)}, %w")
    op("w2", f"fsub {T} %w1, %hz")
    op("zz", f"fmul {T} %z, %z")
    op("rneg", f"fneg {T} %r")
    fma("cl", "%rneg", "%t", "%w2")
    fma("ch", "%zz", "%c1", "%cl")
    op("cosine", f"fadd {T} %w, %ch")
    # The quarter turn: its lowest bit swaps sine and cosine, the next one gives the signs.
    op("q", f"bitcast {T} %shifted to {Q}")
    op("odd", f"and {Q} %q, {i(1)}")
    op("swap", f"icmp ne {Q} %odd, {i(0)}")
    op("sa", f"select {B} %swap, {T} %cosine, {T} %sine")
    op("ca", f"select {B} %swap, {T} %sine, {T} %cosine")
    op("next", f"add {Q} %q, {i(1)}")
    for out, source, value in (("sb", "%q", "%sa"), ("cb", "%next", "%ca")):
        op(f"{out}m", f"and {Q} {source}, {i(2)}")
        op(f"{out}s", f"shl {Q} %{out}m, {i(62)}")
        op(f"{out}i", f"bitcast {T} {value} to {Q}")
        op(f"{out}x", f"xor {Q} %{out}i, %{out}s")
        op(out, f"bitcast {Q} %{out}x to {T}")
    op("f1", f"insertvalue {pair} undef, {T} %sb, 0")
    op("f2", f"insertvalue {pair} %f1, {T} %cb, 1")
    lines.append(f"  ret {pair} %f2")
    lines.append("slow:")
    if width == 1:
        op("ss", "call double @sin(double %x)")
        op("cs", "call double @cos(double %x)")
        op("g1", f"insertvalue {pair} undef, {T} %ss, 0")
        op("g2", f"insertvalue {pair} %g1, {T} %cs, 1")
    else:
        # Number by number, so that a number has the same bits whatever stands beside it.
        sines, cosines = "undef", "undef"
        for k in range(width):
            op(f"x{k}", f"extractelement {T} %x, i32 {k}")
            op(f"p{k}", f"call {{ double, double }} @sincos1(double %x{k})")
            op(f"a{k}", f"extractvalue {{ double, double }} %p{k}, 0")
            op(f"b{k}", f"extractvalue {{ double, double }} %p{k}, 1")
            op(f"va{k}", f"insertelement {T} {sines}, double %a{k}, i32 {k}")
            op(f"vb{k}", f"insertelement {T} {cosines}, double %b{k}, i32 {k}")
            sines, cosines = f"%va{k}", f"%vb{k}"
        op("g1", f"insertvalue {pair} undef, {T} {sines}, 0")
        op("g2", f"insertvalue {pair} %g1, {T} {cosines}, 1")
    lines.append(f"  ret {pair} %g2")
    head = [
        f"declare {T} @llvm.fma.{suffix}({T}, {T}, {T})",
        f"declare {T} @llvm.fabs.{suffix}({T})",
        f"define internal {pair} {sincos_name(width)}({T} %x) noinline nounwind {{",
    ]
    return "\n".join([*head, *lines, "}"])


SEARCH = """\
define internal i64 @search(double %x, ptr %table, i64 %top) noinline nounwind {
entry:
  br label %loop
loop:
  %step = phi i64 [ %top, %entry ], [ %half, %loop ]
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %try = add i64 %k, %step
  %at = getelementptr double, ptr %table, i64 %try
  %value = load double, ptr %at
  %holds = fcmp ole double %value, %x
  %next = select i1 %holds, i64 %try, i64 %k
  %half = lshr i64 %step, 1
  %more = icmp ne i64 %half, 0
  br i1 %more, label %loop, label %done
done:
  ret i64 %next
}"""
"""Binary search without branches in a table padded to a power of two with NaN, which no number reaches."""

COPY = """\
define internal void @copy(ptr %from, i64 %stride, ptr %to, i64 %stretch, i64 %count) noinline nounwind {
entry:
  br label %head
head:
  %k = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %body, label %done
body:
  %i = mul i64 %k, %stride
  %j = mul i64 %k, %stretch
  %a = getelementptr double, ptr %from, i64 %i
  %b = getelementptr double, ptr %to, i64 %j
  %value = load double, ptr %a
  store double %value, ptr %b
  %next = add i64 %k, 1
  br label %head
done:
  ret void
}"""
"""Copies numbers with a stride on either side: rows to lanes and back."""


def many_text(n_in: int, n_out: int) -> str:
    """The loop over rows of a kernel of one state."""
    return f"""\
define void @kernel_many(ptr noalias %X, ptr noalias %Y, i64 %rows) nounwind {{
entry:
  br label %head
head:
  %row = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %row, %rows
  br i1 %more, label %body, label %done
body:
  %i = mul i64 %row, {n_in}
  %j = mul i64 %row, {n_out}
  %x = getelementptr double, ptr %X, i64 %i
  %y = getelementptr double, ptr %Y, i64 %j
  call void @kernel(ptr %x, ptr %y)
  %next = add i64 %row, 1
  br label %head
done:
  ret void
}}"""


def many_lanes_text(n_in: int, n_out: int, lanes: int) -> str:
    """The loop over rows of a kernel in lanes, between the buffers ``%xs`` and ``%ys``; ends open.

    The last rows fill their lanes with copies of the last one.
    """
    lines = [
        "  %last = sub i64 %rows, 1",
        "  br label %head",
        "head:",
        "  %row = phi i64 [ 0, %entry ], [ %next, %body ]",
        "  %more = icmp slt i64 %row, %rows",
        "  br i1 %more, label %body, label %done",
        "body:",
    ]
    for k in range(lanes):
        lines += [
            f"  %r{k} = add i64 %row, {k}",
            f"  %real{k} = icmp slt i64 %r{k}, %rows",
            f"  %s{k} = select i1 %real{k}, i64 %r{k}, i64 %last",
            f"  %i{k} = mul i64 %s{k}, {n_in}",
            f"  %from{k} = getelementptr double, ptr %X, i64 %i{k}",
            f"  %to{k} = getelementptr double, ptr %xs, i64 {k}",
            f"  call void @copy(ptr %from{k}, i64 1, ptr %to{k}, i64 {lanes}, i64 {n_in})",
        ]
    lines.append("  call void @kernel(ptr %xs, ptr %ys)")
    for k in range(lanes):
        lines += [
            f"  %j{k} = mul i64 %s{k}, {n_out}",
            f"  %out{k} = getelementptr double, ptr %Y, i64 %j{k}",
            f"  %in{k} = getelementptr double, ptr %ys, i64 {k}",
            f"  %count{k} = select i1 %real{k}, i64 {n_out}, i64 0",
            f"  call void @copy(ptr %in{k}, i64 {lanes}, ptr %out{k}, i64 1, i64 %count{k})",
        ]
    lines += [f"  %next = add i64 %row, {lanes}", "  br label %head", "done:"]
    return "\n".join(lines)

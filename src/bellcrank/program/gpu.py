"""Emitted CUDA on a graphics processor: compiled at run time, by CuPy's NVRTC or by nvcc, and kept.

CuPy (``bellcrank[gpu]``) is taken where it is installed; otherwise nvcc compiles and the driver is called directly.
Without a graphics processor, :func:`device` says what is missing.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bellcrank.program import cache as code_cache
from bellcrank.program.cuda import Source

Array = NDArray[np.float64]


class GpuUnavailable(RuntimeError):
    """There is no graphics processor here, or nothing to compile for it."""


class Kernel(Protocol):
    """A compiled kernel: called with the number of threads, threads a block, and arguments."""

    def __call__(self, threads: int, block: int, arguments: Sequence[Any]) -> None:
        """Launch; arguments are device arrays or NumPy scalars of the kernel's own types."""


class Device(Protocol):
    """Where kernels run."""

    name: str

    def compiled(self, source: Source, kernel: str) -> Kernel:
        """The kernel of that name in an emitted source, with its tables on the device."""

    def put(self, values: NDArray[Any]) -> Any:
        """A copy on the device."""

    def get(self, array: Any) -> NDArray[Any]:
        """A copy from the device."""

    def wait(self) -> None:
        """Until everything launched is done."""


@cache
def device() -> Device:
    """The graphics processor of this machine."""
    reasons = []
    for make in (CupyDevice, DriverDevice):
        try:
            return make()
        except GpuUnavailable as error:
            reasons.append(str(error))
    raise GpuUnavailable(
        f"no graphics processor can be used here: {'; '.join(reasons)}. Install CuPy (pip install "
        "'bellcrank[gpu]') on a machine with an NVIDIA card, or run on the processor with simulate_many(...)"
    )


class CupyDevice:
    """Through CuPy; it keeps compiled kernels on disk."""

    def __init__(self) -> None:
        try:
            import cupy
        except ImportError:
            raise GpuUnavailable("CuPy is not installed") from None
        try:
            count = cupy.cuda.runtime.getDeviceCount()
        except Exception as error:
            raise GpuUnavailable(f"CuPy finds no device ({error})") from None
        if not count:
            raise GpuUnavailable("CuPy finds no device")
        self.cupy = cupy
        self.name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode() + " through CuPy"
        self._known: dict[tuple[str, str], Kernel] = {}

    def compiled(self, source: Source, kernel: str) -> Kernel:
        """See :class:`Device`."""
        key = source, kernel
        if key not in self._known:
            module = self.cupy.RawModule(code=str(source), options=("-std=c++14",), backend="nvrtc")
            function = module.get_function(kernel)
            for name, words in source.tables.items():
                room = self.cupy.ndarray(words.shape, np.int64, module.get_global(name))
                room.set(words)

            def launch(threads: int, block: int, arguments: Sequence[Any]) -> None:
                function((-(-threads // block),), (block,), tuple(arguments))

            self._known[key] = launch
        return self._known[key]

    def put(self, values: NDArray[Any]) -> Any:
        """See :class:`Device`."""
        return self.cupy.asarray(np.ascontiguousarray(values))

    def get(self, array: Any) -> NDArray[Any]:
        """See :class:`Device`."""
        return np.asarray(self.cupy.asnumpy(array))

    def wait(self) -> None:
        """See :class:`Device`."""
        self.cupy.cuda.runtime.deviceSynchronize()


class _Memory:
    """Memory on the device, freed with the object."""

    def __init__(self, driver: DriverDevice, values: NDArray[Any]) -> None:
        self.driver, self.shape, self.dtype, self.nbytes = driver, values.shape, values.dtype, values.nbytes
        self.pointer = ctypes.c_uint64()
        driver.call("cuMemAlloc_v2", ctypes.byref(self.pointer), ctypes.c_size_t(max(self.nbytes, 8)))

    def __del__(self) -> None:
        self.driver.library.cuMemFree_v2(self.pointer)


class DriverDevice:
    """Through nvcc and the driver's own interface."""

    def __init__(self) -> None:
        self.nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
        if self.nvcc is None:
            raise GpuUnavailable("nvcc is not on the path")
        name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
        try:
            self.library = ctypes.CDLL(name)
        except OSError:
            raise GpuUnavailable(f"the NVIDIA driver ({name}) is not installed") from None
        try:
            self.call("cuInit", 0)
            number, context = ctypes.c_int(), ctypes.c_void_p()
            self.call("cuDeviceGet", ctypes.byref(number), 0)
            self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), number)
            self.call("cuCtxSetCurrent", context)
        except RuntimeError as error:
            raise GpuUnavailable(f"the NVIDIA driver finds no device ({error})") from None
        words = ctypes.create_string_buffer(100)
        self.call("cuDeviceGetName", words, 100, number)
        self.name = words.value.decode() + " through nvcc"
        digits = []
        for attribute in (75, 76):  # compute capability, major and minor
            value = ctypes.c_int()
            self.call("cuDeviceGetAttribute", ctypes.byref(value), attribute, number)
            digits.append(str(value.value))
        self.architecture = "sm_" + "".join(digits)
        self._known: dict[tuple[str, str], Kernel] = {}

    def call(self, name: str, *arguments: Any) -> None:
        """A function of the driver; raises where it fails."""
        code = getattr(self.library, name)(*arguments)
        if code:
            raise RuntimeError(f"{name} failed with CUDA error {code}")

    def compiled(self, source: Source, kernel: str) -> Kernel:
        """See :class:`Device`."""
        key = source, kernel
        if key not in self._known:
            image = self._image(source)
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            self.call("cuModuleLoadData", ctypes.byref(module), image)
            self.call("cuModuleGetFunction", ctypes.byref(function), module, kernel.encode())
            for name, words in source.tables.items():
                place, size = ctypes.c_uint64(), ctypes.c_size_t()
                self.call(
                    "cuModuleGetGlobal_v2", ctypes.byref(place), ctypes.byref(size), module, name.encode()
                )
                self.call(
                    "cuMemcpyHtoD_v2",
                    place,
                    ctypes.c_void_p(words.ctypes.data),
                    ctypes.c_size_t(words.nbytes),
                )

            def launch(threads: int, block: int, arguments: Sequence[Any]) -> None:
                cells = [a.pointer if isinstance(a, _Memory) else _scalar(a) for a in arguments]
                table = (ctypes.c_void_p * len(cells))(*[ctypes.addressof(c) for c in cells])
                grid = -(-threads // block)
                self.call("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, 0, None, table, None)

            self._known[key] = launch
        return self._known[key]

    def _image(self, source: str) -> bytes:
        version = subprocess.run(
            [self.nvcc or "", "--version"], capture_output=True, text=True, check=True
        ).stdout
        key = code_cache.key(source, self.architecture, version)
        found = code_cache.load(key)
        if found is None:
            with tempfile.TemporaryDirectory() as folder:
                text, image = Path(folder) / "kernel.cu", Path(folder) / "kernel.cubin"
                text.write_text(source)
                command = [
                    self.nvcc or "",
                    "-cubin",
                    "-O3",
                    f"-arch={self.architecture}",
                    "-o",
                    str(image),
                    str(text),
                ]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    raise RuntimeError(f"nvcc could not compile an emitted kernel:\n{done.stderr[:2000]}")
                found = image.read_bytes()
            code_cache.store(key, found)
        return found

    def put(self, values: NDArray[Any]) -> _Memory:
        """See :class:`Device`."""
        values = np.ascontiguousarray(values)
        memory = _Memory(self, values)
        self.call(
            "cuMemcpyHtoD_v2",
            memory.pointer,
            ctypes.c_void_p(values.ctypes.data),
            ctypes.c_size_t(values.nbytes),
        )
        return memory

    def get(self, array: _Memory) -> NDArray[Any]:
        """See :class:`Device`."""
        values = np.empty(array.shape, array.dtype)
        self.call(
            "cuMemcpyDtoH_v2",
            ctypes.c_void_p(values.ctypes.data),
            array.pointer,
            ctypes.c_size_t(values.nbytes),
        )
        return values

    def wait(self) -> None:
        """See :class:`Device`."""
        self.call("cuCtxSynchronize")


def _scalar(value: Any) -> Any:
    kinds = {
        "float64": ctypes.c_double,
        "float32": ctypes.c_float,
        "int32": ctypes.c_int32,
        "int64": ctypes.c_int64,
    }
    return kinds[np.asarray(value).dtype.name](value.item())


def evaluate(
    on: Device, source: Source, block: int, t: Array, y: Array, p: Array, outputs: int, real: Any
) -> Array:
    """Outputs of an emitted evaluation for rows of states: shapes (rows,), (rows, n), (rows, k) -> (rows, outputs)."""
    rows = len(y)
    out = on.put(np.zeros((outputs, rows), real))
    given = [on.put(a) for a in (t.astype(real), _across(y, real), _across(p, real))]
    on.compiled(source, "bc_evaluate")(rows, block, [*given, out, np.int64(rows)])
    on.wait()
    return np.asarray(on.get(out).T)


def integrate_fixed(
    on: Device,
    source: Source,
    block: int,
    t: float,
    y: Array,
    p: Array,
    step: float,
    steps: int,
    every: int,
    real: Any,
    tolerance: float,
    corrections: int = 8,
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Runge-Kutta 4 on the device: states every `every` steps, shape (samples, n, rows), and codes of failure."""
    rows, n = y.shape
    out, status = on.put(np.full((steps // every, n, rows), np.nan, real)), on.put(np.zeros(rows, np.int32))
    state, parameters = on.put(_across(y, real)), on.put(_across(p, real))
    numbers = [
        np.float64(t),
        np.float64(step),
        np.int32(steps),
        np.int32(every),
        real(tolerance),
        np.int32(corrections),
    ]
    arguments = [state, parameters, *numbers, out, status, np.int64(rows)]
    on.compiled(source, "bc_runge_kutta4")(rows, block, arguments)
    on.wait()
    return on.get(out), on.get(status)


def integrate_adaptive(
    on: Device,
    source: Source,
    block: int,
    t: float,
    y: Array,
    p: Array,
    times: Array,
    rtol: float,
    atol: float | Array,
    real: Any,
    tolerance: float,
    first_step: float = 1e-4,
    most_steps: int = 1_000_000,
    corrections: int = 8,
    lengths: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int32]]:
    """An adaptive method on the device: states at `times`, shape (times, n, rows), codes of failure, steps made.

    atol: For all entries, or one each. lengths: Entries whose errors are measured against the distance moved in a step,
    not against their distance from the origin; atol then holds their sizes.
    """
    rows, n = y.shape
    absolute = on.put(np.broadcast_to(np.asarray(atol, real), n))
    from_here = on.put(np.zeros(n, real) if lengths is None else np.asarray(lengths, real))
    out = on.put(np.full((len(times), n, rows), np.nan, real))
    status, counts = on.put(np.zeros(rows, np.int32)), on.put(np.zeros(rows, np.int32))
    state, parameters = on.put(_across(y, real)), on.put(_across(p, real))
    at = on.put(np.asarray(times, np.float64))
    control = [
        np.int32(len(times)),
        np.float64(first_step),
        real(rtol),
        absolute,
        from_here,
        np.int32(most_steps),
    ]
    closing = [real(tolerance), np.int32(corrections)]
    arguments = [
        state,
        parameters,
        np.float64(t),
        at,
        *control,
        *closing,
        out,
        status,
        counts,
        np.int64(rows),
    ]
    on.compiled(source, "bc_embedded")(rows, block, arguments)
    on.wait()
    return on.get(out), on.get(status), on.get(counts)


def _across(rows: Array, real: Any) -> NDArray[Any]:
    """Rows of states as a structure of arrays; never empty, so that it has an address."""
    values = np.ascontiguousarray(rows.T, dtype=real)
    return values if values.size else np.zeros(1, real)


__all__ = [
    "CupyDevice", "Device", "DriverDevice", "GpuUnavailable", "device", "evaluate", "integrate_adaptive",
    "integrate_fixed",
]  # fmt: skip

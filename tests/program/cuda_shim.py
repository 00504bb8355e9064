"""Emitted CUDA on the processor: the keywords defined away, one call a thread."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np

from bellcrank.program.cuda import Source
from program.c_compiler import library

SHIM = """\
#include <cmath>
#include <type_traits>
#define BC_CPU 1
#define __device__
#define __global__
#define __constant__ const
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
using std::fma; using std::sqrt; using std::fabs; using std::pow; using std::floor; using std::tan;
using std::asin; using std::acos; using std::atan; using std::sinh; using std::cosh; using std::tanh;
using std::exp; using std::log; using std::atan2;
static struct Index { int x; } blockIdx, blockDim, threadIdx;
extern "C" void bc_thread(int block, int thread, int size) {
  blockIdx.x = block; threadIdx.x = thread; blockDim.x = size;
}
"""
FLAGS = (
    "-std=c++14",
    "-O1",
    "-Wall",
    "-Werror",
    "-Wno-unused-function",
    "-Wno-unused-variable",
    "-ffp-contract=off",
)


class Processor:
    """A `Device` of the emitted text's own kind, with the memory of this process."""

    name = "this processor"

    def __init__(self, folder: Path) -> None:
        self.folder, self.count = folder, 0

    def compiled(self, source: Source, kernel: str):
        self.count += 1
        path = self.folder / f"kernel{self.count}.cpp"
        path.write_text(SHIM + source)
        built = library(path, "g++", FLAGS)
        function = getattr(built, kernel)
        for name, words in source.tables.items():
            np.ctypeslib.as_array((ctypes.c_int64 * len(words)).in_dll(built, name))[:] = words

        def launch(threads: int, block: int, arguments) -> None:
            given = [_argument(a) for a in arguments]
            # A whole number of blocks, as on a device: the threads too many must do no harm.
            for k in range(-(-threads // block) * block):
                built.bc_thread(k // block, k % block, block)
                function(*given)

        return launch

    def put(self, values: np.ndarray) -> np.ndarray:
        return np.array(values, order="C", copy=True)

    def get(self, array: np.ndarray) -> np.ndarray:
        return array

    def wait(self) -> None:
        pass


def _argument(value):
    if isinstance(value, np.ndarray) and value.ndim:
        return ctypes.c_void_p(value.ctypes.data)
    kinds = {
        "float64": ctypes.c_double,
        "float32": ctypes.c_float,
        "int32": ctypes.c_int32,
        "int64": ctypes.c_int64,
    }
    return kinds[value.dtype.name](value.item())

"""Compiles emitted text with the system's compiler and calls it."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on this machine")
needs_gxx = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ on this machine")

C_FLAGS = ("-Wall", "-Werror", "-std=c99", "-pedantic", "-O1")


def library(source: Path, compiler: str = "gcc", flags=C_FLAGS) -> ctypes.CDLL:
    """The shared library of one source file."""
    target = source.with_suffix(".so")
    command = [compiler, *flags, "-shared", "-fPIC", "-o", str(target), str(source), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]
    return ctypes.CDLL(str(target))


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def relative(got: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference against the largest number."""
    return float(np.abs(got - expected).max(initial=0.0) / np.abs(expected).max(initial=1e-300))

"""Traced programs: operations, derivatives, loops, and translation to machine code, C, CUDA and CasADi."""

"""Traced programs: operations, derivatives, loops, and their way to machine code, C, CUDA and CasADi."""

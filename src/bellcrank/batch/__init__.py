"""Many runs of one mechanism at once: SIMD lanes, threads."""

from bellcrank.batch.equilibria import equilibria
from bellcrank.batch.result import BatchReport, BatchResult, Failure
from bellcrank.batch.run import simulate_many

__all__ = ["BatchReport", "BatchResult", "Failure", "equilibria", "simulate_many"]

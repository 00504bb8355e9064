"""Sparse symmetric equations: elimination order, factorisation, eigenpairs, time and memory foretold."""

"""Measurements against other codes: `make bench`."""

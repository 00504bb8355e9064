"""Slow, plain second routes that the tests hold the package against."""

"""The verification manual: one file a case, with sources and reference values."""

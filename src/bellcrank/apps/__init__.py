"""Applications built on the package."""

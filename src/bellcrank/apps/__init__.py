"""Applications: `drive`, the full car with a driver in the loop."""

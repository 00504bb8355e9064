"""What every other folder may use: bounds of numbers, memory, optional packages, files written whole."""

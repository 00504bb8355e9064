"""The command line as a module: ``python -m bellcrank``."""

from bellcrank.cli import main

if __name__ == "__main__":
    main()

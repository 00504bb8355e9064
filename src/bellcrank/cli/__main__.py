"""``python -m bellcrank.cli``."""

from bellcrank.cli import main

if __name__ == "__main__":
    main()

"""The same mechanisms in other codes, with what one evaluation of accelerations costs there."""

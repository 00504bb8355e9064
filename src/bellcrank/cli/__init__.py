"""The command line: one file a command; what a command needs is imported when it runs.

Exit status: 0 where all went well, 1 for a run or a verification that failed, 2 for a mistake in the input,
130 after Ctrl-C.
"""

from __future__ import annotations

import functools
import os
import sys
import warnings
from typing import Annotated, Any

import typer

from bellcrank.cli.cad import cad
from bellcrank.cli.check import check
from bellcrank.cli.convert import convert
from bellcrank.cli.count import count
from bellcrank.cli.doctor import doctor
from bellcrank.cli.drive import drive
from bellcrank.cli.equilibrium import equilibrium
from bellcrank.cli.examples import examples
from bellcrank.cli.help import Command, Group
from bellcrank.cli.linearize import linearize
from bellcrank.cli.manoeuvre import manoeuvre
from bellcrank.cli.optimise import optimise
from bellcrank.cli.pages import plot, report
from bellcrank.cli.quantities import quantities
from bellcrank.cli.run import run
from bellcrank.cli.schema import schema
from bellcrank.cli.sweep import sweep
from bellcrank.cli.verify import verify
from bellcrank.cli.view import view

FAILED = 1
WRONG_INPUT = 2
INTERRUPTED = 130

app = typer.Typer(
    name="bellcrank",
    cls=Group,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich" if sys.stdout.isatty() else None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    *(run, check, count, equilibrium, linearize, plot, report, view, quantities, convert, verify),
    *(sweep, optimise, drive, schema, cad, doctor),
):
    app.command(cls=Command)(command)
app.add_typer(examples, name="examples")
app.add_typer(manoeuvre, name="manoeuvre")


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"bellcrank {version('bellcrank')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def bellcrank(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """A compiler for mechanisms: describe bodies, joints and forces in a file; run, look, send.

    \b
    Examples:
      bellcrank examples copy slider_crank
      bellcrank run slider_crank.yaml --duration 5 --out run.h5
      bellcrank view run.h5
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@functools.cache
def _command() -> Any:
    """All commands as they are parsed, made once: the types of their arguments are looked up one by one."""
    return typer.main.get_command(app)


def main(arguments: list[str] | None = None) -> None:
    """The entry point. An error is printed as one sentence, not as a traceback."""
    given = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in given
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A name that the terminal cannot show is no reason to stop.
            stream.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            if not debug:
                # NumPy's warnings of overflow name lines of this package; the error that follows is printed below.
                warnings.simplefilter("ignore", RuntimeWarning)
            words = [word for word in given if word != "--debug"]
            status = _command()(words, standalone_mode=False, prog_name="bellcrank")
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read has read enough, as `head` does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("bellcrank: interrupted", err=True)
        sys.exit(INTERRUPTED)
    except Exception as error:
        if debug:
            raise
        message, code = _told(error)
        typer.echo(f"bellcrank: {message}", err=True)
        sys.exit(code)
    sys.exit(status if isinstance(status, int) else 0)


def _told(error: Exception) -> tuple[str, int]:
    """An error in words, and the exit status it leads to."""
    from bellcrank.errors import BellcrankError, ModelError, SingularMechanism

    usage = typer.BadParameter.__mro__[2]
    if isinstance(error, usage):
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "bellcrank"
        text = " ".join(error.format_message().split())  # type: ignore[attr-defined]
        return f"{text.rstrip('.')}; see '{path} --help'", WRONG_INPUT
    if isinstance(error, SingularMechanism):
        return str(error), FAILED
    if isinstance(error, BellcrankError):
        wrong = isinstance(error, ModelError | ValueError)
        return str(error), WRONG_INPUT if wrong else FAILED
    if isinstance(error, OSError):
        what = (error.strerror or str(error)).lower()
        return (f"{error.filename}: {what}" if error.filename else what), WRONG_INPUT
    kind = type(error).__name__
    text = " ".join(str(error).split())
    return f"this should not happen ({kind}: {text}); please report it with the output of --debug", FAILED


__all__ = ["app", "main"]

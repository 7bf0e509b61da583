"""The command `walltime`: puts the commands together and turns every end into an exit code.

0 done, 1 our fault, 2 bad input, 3 some runs failed or a schedule is illegal, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from walltime.cli.audit import audit
from walltime.cli.compare import compare
from walltime.cli.demo import demo
from walltime.cli.policies import policies
from walltime.cli.run import run
from walltime.cli.workload import app as workload_app

INTERRUPTED = 130
REPORT = (
    "This is a fault of Walltime, not of your input. Please report it with the command and the trace of calls, "
    "which WALLTIME_DEBUG=1 shows."
)

app = typer.Typer(
    name="walltime",
    help="Tells you what would happen to a batch cluster before you touch it.\n\n"
    "Replays a workload on a cluster under one or more scheduling policies, and compares the outcomes.",
    epilog="Begin with: walltime demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (run, compare, policies, audit, demo):
    app.command()(command)
app.add_typer(workload_app, name="workload", help="Look at workloads, convert and generate them.")


def _show_version(wanted: bool) -> None:
    if wanted:
        from walltime import __version__

        typer.echo(f"walltime {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Options of the command itself."""


def main() -> None:
    """Run the command line and exit with its code; never returns."""
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # last: a policy beside the person is found, and shadows nothing of ours
    sys.exit(_run())


def _run() -> int:
    from walltime.core.errors import WalltimeError

    try:
        app(prog_name="walltime")
    except SystemExit as end:
        return _flush(end.code if isinstance(end.code, int) else 0 if end.code is None else 1)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return _silence()
    except WalltimeError as error:
        return _tell(error, error.exit_code)
    except MemoryError:
        return _tell("out of memory", 1)
    except Exception as error:
        return _tell_fault(error)
    return _flush(0)


def _tell(error: object, code: int) -> int:
    if os.environ.get("WALLTIME_DEBUG") and isinstance(error, BaseException):
        import traceback

        traceback.print_exception(error)
    try:
        if sys.stderr.isatty():
            from walltime.cli.console import err

            err().print("Error: ", style="bold red", end="")
            err().print(str(error), markup=False, soft_wrap=True)
        else:
            print(f"Error: {error}", file=sys.stderr)
    except BrokenPipeError:
        return _silence(code)
    return code


def _tell_fault(error: Exception) -> int:
    """An exception that nobody meant: short for a person, in full for whoever debugs."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    where = f" ({os.path.basename(last.tb_frame.f_code.co_filename)}:{last.tb_lineno})" if last else ""
    _tell(error if os.environ.get("WALLTIME_DEBUG") else f"{type(error).__name__}: {error}{where}", 1)
    print(REPORT, file=sys.stderr)
    return 1


def _flush(code: int) -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return _silence(code)
    return code


def _silence(code: int = 0) -> int:
    """The reader of a pipe has gone: nothing more to say, not even at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    return code

"""The commands put together. What a command needs is imported when it runs: `walltime --help` is quick."""

from __future__ import annotations

from typing import Annotated

import typer
from typer.models import CommandInfo

from walltime.cli.calibrate import calibrate
from walltime.cli.check_plugin import check_plugin
from walltime.cli.demo import demo
from walltime.cli.experiments.solve import solve
from walltime.cli.experiments.store import app as store_app
from walltime.cli.experiments.sweep import sweep
from walltime.cli.experiments.tune import tune
from walltime.cli.experiments.whatif import whatif
from walltime.cli.explain import explain
from walltime.cli.policies import policies
from walltime.cli.predict import predict
from walltime.cli.results.analyse import analyse
from walltime.cli.results.audit import audit
from walltime.cli.results.compare import compare
from walltime.cli.results.export import export
from walltime.cli.results.plot import plot
from walltime.cli.results.report import report
from walltime.cli.results.steady import steady
from walltime.cli.results.workflows import workflows
from walltime.cli.run.command import run
from walltime.cli.site import app as site_app
from walltime.cli.slurm.commands import app as slurm_app
from walltime.cli.workload.commands import app as workload_app
from walltime.cli.workload.compare import compare as compare_workloads
from walltime.cli.workload.model import anonymise, fit, generate, recipe
from walltime.cli.workload.model import tune as tune_workload
from walltime.cli.workload.users import users

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
for command in (
    run,
    sweep,
    solve,
    tune,
    whatif,
    compare,
    explain,
    predict,
    calibrate,
    report,
    plot,
    export,
    workflows,
    steady,
    policies,
    analyse,
    audit,
    demo,
):
    app.command()(command)
for modelling in (fit, generate, recipe, anonymise, users):
    workload_app.command()(modelling)
workload_app.command("tune")(tune_workload)
app.command("check-plugin")(check_plugin)
workload_app.command("compare")(compare_workloads)
app.add_typer(workload_app, name="workload")
app.add_typer(store_app, name="store")
app.add_typer(site_app, name="site")
app.add_typer(slurm_app, name="slurm")


def narrow(app: typer.Typer, arguments: list[str]) -> None:
    """Leave only the command that the arguments begin with, where they do: to put all of them together takes a tenth of
    a second, and only help and a word that is no command have a use for them."""
    wanted = arguments[0] if arguments else ""
    commands = [one for one in app.registered_commands if _name(one) == wanted]
    groups = [one for one in app.registered_groups if one.name == wanted]
    if commands or groups:
        app.registered_commands, app.registered_groups = commands, groups


def _name(command: CommandInfo) -> str | None:
    return command.name or (command.callback and command.callback.__name__)


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
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Tell on standard error what is done, and in how much time.")
    ] = False,
) -> None:
    """Options of the command itself."""
    if verbose:
        from walltime.cli.terminal.logs import show_logs

        show_logs()

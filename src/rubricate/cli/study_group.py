"""What the commands of ``rubricate study`` share: the group, and how a step tells its result."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from rubricate.cli.output import print_json

if TYPE_CHECKING:
    from rubricate.stats import EstimateJson
    from rubricate.study.record import StepResult, Study

EPILOG = """
Example: rubricate study new asthma --corpus open-notes
"""

S = TypeVar("S")
folder_argument = click.argument("folder", metavar="FOLDER", default=".")


class PhaseGroup(click.Group):
    """A group that lists its commands in the order of the phases, each with an example."""

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command; an example is made for one that has none."""
        if cmd.epilog is None:
            cmd.epilog = f"Example: rubricate study {name or cmd.name} asthma"
        super().add_command(cmd, name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands as they were defined."""
        return list(self.commands)


@click.group("study", cls=PhaseGroup, epilog=EPILOG)
def study_command() -> None:
    """Run a study from a question to a figure that can be trusted.

    A study is a folder with study.toml and one sub-folder per phase. Every step can be run again:
    nothing happens where nothing changed, and what changed is named. In order: new, population,
    plan, sample, assign, collect, curate, evaluate, report; status says which comes next.
    """


def open_study(folder: str) -> Study:
    """Read the study in a folder."""
    from rubricate.study.record import Study

    return Study.open(folder)


def tell(result: StepResult[S], as_json: bool, say: Callable[[S], None]) -> None:
    """Print what a step says, as JSON or in words."""
    if as_json:
        print_json(
            {"step": result.step, "changed": result.changed, "folder": str(result.folder),
             "summary": result.summary}
        )  # fmt: skip
        return
    if not result.changed:
        click.echo(f"{result.step}: nothing changed since the last run")
    say(result.summary)
    _warn_of_stale(result)
    click.echo(f"in {result.folder}")


def _warn_of_stale(result: StepResult[S]) -> None:
    """Say which earlier steps are out of date."""
    from rubricate.study.record import Study
    from rubricate.study.status import stale_warnings

    for warning in stale_warnings(Study.open(str(result.folder.parents[1])), result.step):
        click.echo(f"warning: {warning}", err=True)


def three_numbers(estimate: EstimateJson) -> tuple[float | None, float | None, float | None]:
    """Return a value and its limits."""
    return estimate["value"], estimate["low"], estimate["high"]

"""The command: one file per verb, each thin over the function that does the work."""

from __future__ import annotations

import errno
import gc
import importlib
import io
import os
import sys
from collections.abc import Mapping
from typing import Any, ClassVar

import click
from click.shell_completion import CompletionItem

from rubricate.cli.command import LEVELS, VerbSubgroup
from rubricate.cli.configuration import read_configuration
from rubricate.cli.failures import JSON_ASKED, Failure, WrongUsage, failure_of
from rubricate.errors import RubricateError, did_you_mean, shown

#: What a person wants to do → verb → (one-line help, module). Modules load when they run.
VERBS: dict[str, dict[str, tuple[str, str]]] = {
    "Look at notes and annotations": {
        "annotate": ("make a page to mark evidence on", "rubricate.cli.annotate"),
        "check": ("find and repair faulty annotations", "rubricate.cli.check"),
        "convert": ("convert a corpus to another format", "rubricate.cli.convert"),
        "describe": ("summarize a corpus", "rubricate.cli.describe"),
        "rubric": ("show how a rubric file is read, with warnings", "rubricate.cli.rubric"),
    },
    "Measure": {
        "agree": ("measure agreement between annotators", "rubricate.cli.agree"),
        "evaluate": (
            "measure predictions against a reference, with intervals",
            "rubricate.cli.evaluate",
        ),
        "compare": ("compare matchers on the same splits", "rubricate.cli.compare"),
    },
    "Score": {
        "score": ("score notes against a rubric, with evidence", "rubricate.cli.score"),
        "route": ("choose which items a person must review", "rubricate.cli.route"),
        "trust": ("check the results of a run", "rubricate.cli.trust"),
    },
    "Run a study": {
        "plan": ("calculate how many notes a study needs", "rubricate.cli.plan"),
        "study": ("run a study in five phases, from question to report", "rubricate.cli.study"),
        "serve": ("annotate, curate and review in a browser", "rubricate.cli.serve"),
    },
    "Train and match": {
        "fit": ("train or fine-tune a matcher on annotated notes", "rubricate.cli.fit"),
        "match": ("find the spans that express each feature", "rubricate.cli.match"),
        "lexicon": ("build and show the lexicon of synonyms", "rubricate.cli.lexicon"),
    },
    "Change the reader": {
        "rules": ("check tables of words and rules, and what they decide", "rubricate.cli.rules"),
    },
    "Set up": {
        "completion": (
            "print the script that completes commands in a shell",
            "rubricate.cli.completion",
        ),
    },
}


class VerbGroup(click.Group):
    """A group that knows its verbs' help without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all verbs, section by section."""
        return [verb for verbs in VERBS.values() for verb in verbs]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the verb's module and return its command; the nearest is told for none."""
        for verbs in VERBS.values():
            if cmd_name in verbs:
                module = importlib.import_module(verbs[cmd_name][1])
                command: click.Command = getattr(module, f"{cmd_name}_command")
                return command
        if cmd_name.startswith("-"):  # an option that stands too late, which click explains
            return None
        hint = did_you_mean(cmd_name, self.list_commands(ctx), otherwise=". See: rubricate --help")
        raise click.UsageError(f"no command {cmd_name!r}{hint}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs under what a person wants to do."""
        for section, verbs in VERBS.items():
            with formatter.section(section):
                formatter.write_dl([(verb, text) for verb, (text, _) in verbs.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the verbs that begin so, without importing them."""
        return [
            CompletionItem(verb, help=text)
            for verbs in VERBS.values()
            for verb, (text, _) in verbs.items()
            if verb.startswith(incomplete)
        ] + super(click.Group, self).shell_complete(ctx, incomplete)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Prepare the command: whether errors are printed as JSON, and where there is colour."""
        as_json = "--json" in args
        try:
            ctx = super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            raise failure_of(error, as_json=as_json) from error
        ctx.meta[JSON_ASKED] = as_json
        if os.environ.get("NO_COLOR"):  # no-color.org
            ctx.color = False
        return ctx

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb; errors that are expected become one clear message and an exit code."""
        as_json = bool(ctx.meta.get(JSON_ASKED))
        try:
            return super().invoke(ctx)
        except (click.ClickException, RubricateError) as error:
            if isinstance(error, Failure):
                raise
            if self._shows_traceback(ctx) and not isinstance(error, click.ClickException):
                raise
            raise failure_of(error, as_json=as_json) from error
        except OSError as error:
            # A closed pipe is how `head` says that it has enough; the rest is a disk's or a file's.
            if self._shows_traceback(ctx) or error.errno == errno.EPIPE:
                raise
            if error.errno == errno.ENAMETOOLONG:
                # Nobody's folders are called so: it may be a note that was pasted.
                message = f"{shown(str(error.filename))}: longer than a path can be"
                raise WrongUsage(message, code="argument", as_json=as_json) from error
            raise failure_of(error, as_json=as_json) from error

    @staticmethod
    def _shows_traceback(ctx: click.Context) -> bool:
        return bool(ctx.params.get("traceback") or ctx.meta.get(LEVELS["verbose"]))


class PhaseGroup(VerbSubgroup):
    """A group that lists its commands in the order of the phases, each with an example."""

    formerly: ClassVar[Mapping[str, str]] = {"audit": "check-table", "rehearse": "simulate"}

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command; an example is made for one that has none."""
        if cmd.epilog is None:
            cmd.epilog = f"Example: rubricate study {name or cmd.name} asthma"
        super().add_command(cmd, name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands as they were defined."""
        return list(self.commands)


@click.group(
    cls=VerbGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: rubricate describe open-notes",
)
@click.version_option(package_name="rubricate", message="%(prog)s %(version)s")
@click.option("--traceback", is_flag=True, help="Print the traceback of an error.")
@click.pass_context
def main(ctx: click.Context, traceback: bool) -> None:
    """Score patient notes against a rubric, with the words that express each feature.

    CORPUS is a file or folder in any format, or an embedded corpus: open-notes.
    rubricate.toml, or [tool.rubricate] in pyproject.toml, sets defaults of options.
    """
    # Libraries and tables make some million objects that live to the end; looking through them for
    # garbage as often as usual takes a sixth of the time that scoring one note takes.
    gc.set_threshold(50_000, 10, 10)
    read_configuration(ctx, (verb for verbs in VERBS.values() for verb in verbs))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A letter that the terminal or file has no place for must not end the command.
            stream.reconfigure(errors="backslashreplace")

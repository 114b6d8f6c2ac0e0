"""The command: one file per verb, each thin over the function that does the work."""

from __future__ import annotations

import errno
import importlib
import io
import sys
from typing import Any

import click

from rubricate.errors import RubricateError, did_you_mean, shown

#: What a person wants to do → verb → (one-line help, module). Modules load when they run.
VERBS: dict[str, dict[str, tuple[str, str]]] = {
    "Look at notes and annotations": {
        "annotate": ("make a page to mark evidence on", "rubricate.cli.annotate"),
        "check": ("find, and repair, faulty annotations", "rubricate.cli.check"),
        "convert": ("turn a corpus into another format", "rubricate.cli.convert"),
        "describe": ("say what a corpus holds", "rubricate.cli.describe"),
        "rubric": ("show what a rubric file says, and what is odd", "rubricate.cli.rubric"),
    },
    "Measure": {
        "agree": ("how far annotators agree", "rubricate.cli.agree"),
        "evaluate": ("how good predictions are, with intervals", "rubricate.cli.evaluate"),
        "compare": ("matchers side by side on the same splits", "rubricate.cli.compare"),
    },
    "Score": {
        "score": ("score notes against a rubric, with evidence", "rubricate.cli.score"),
        "route": ("choose which items a person must see", "rubricate.cli.route"),
        "trust": ("how far scores can be trusted", "rubricate.cli.trust"),
    },
    "Run a study": {
        "plan": ("how many notes a study needs", "rubricate.cli.plan"),
        "study": ("five phases from a question to a trusted figure", "rubricate.cli.study"),
        "serve": ("annotate, curate and review in a browser", "rubricate.cli.serve"),
    },
    "Find the words": {
        "fit": ("let a matcher learn from annotated notes", "rubricate.cli.fit"),
        "match": ("find the spans that express each feature", "rubricate.cli.match"),
        "lexicon": ("build and look into the lexicon of synonyms", "rubricate.cli.lexicon"),
    },
}


class _WrongUsage(click.ClickException):
    """An error of ours about what was asked for."""

    exit_code = 2


class VerbGroup(click.Group):
    """A group that knows its verbs' help without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all verbs, section by section."""
        return [verb for verbs in VERBS.values() for verb in verbs]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the verb's module and return its command."""
        for verbs in VERBS.values():
            if cmd_name in verbs:
                module = importlib.import_module(verbs[cmd_name][1])
                command: click.Command = getattr(module, f"{cmd_name}_command")
                return command
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; one that is none is told the nearest."""
        known = self.list_commands(ctx)
        if args and not args[0].startswith("-") and args[0] not in known:
            hint = did_you_mean(args[0], known, otherwise=". See: rubricate --help")
            raise click.UsageError(f"no command {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs under what a person wants to do."""
        for section, verbs in VERBS.items():
            with formatter.section(section):
                formatter.write_dl([(verb, text) for verb, (text, _) in verbs.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb; our own errors become one clear message and their exit code."""
        try:
            return super().invoke(ctx)
        except RubricateError as error:
            if ctx.params.get("traceback"):
                raise
            kind = _WrongUsage if error.exit_code == 2 else click.ClickException
            raise kind(str(error)) from error
        except OSError as error:
            # A closed pipe is how `head` says that it has enough; the rest is a disk's or a file's.
            if ctx.params.get("traceback") or error.errno == errno.EPIPE:
                raise
            if error.errno == errno.ENAMETOOLONG:
                # Nobody's folders are called so: it may be a note that was pasted.
                name = shown(str(error.filename))
                raise _WrongUsage(f"{name}: longer than a path can be") from error
            raise click.ClickException(str(error)) from error


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


@click.group(
    cls=VerbGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: rubricate describe open-notes",
)
@click.version_option(package_name="rubricate", message="%(prog)s %(version)s")
@click.option("--traceback", is_flag=True, help="Show where in the program an error arose.")
def main(traceback: bool) -> None:
    """Score patient notes against a rubric, with the words that express each feature.

    CORPUS is a file or folder in any format, or an embedded corpus: open-notes.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A letter that the terminal or file has no place for must not end the command.
            stream.reconfigure(errors="backslashreplace")

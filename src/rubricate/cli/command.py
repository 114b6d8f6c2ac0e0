"""The commands and groups of commands that all verbs are made of.

They arrange long help by section, know the earlier names of options, take defaults from the
configuration file, and have ``--quiet`` and ``--verbose``.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import click
from click.core import ParameterSource

from rubricate.cli.configuration import check_tables, configuration_path, option_defaults
from rubricate.cli.places import refuse_touching_inputs
from rubricate.cli.sections import OTHER, SECTIONS
from rubricate.errors import did_you_mean

#: From this number of options on, help is arranged in sections.
LONG_HELP = 10
QUIET, VERBOSE = "rubricate.quiet", "rubricate.verbose"


class Option(click.Option):
    """An option with earlier names, which help does not show, or with a section of its own."""

    def __init__(
        self,
        param_decls: Sequence[str],
        *,
        formerly: Sequence[str] = (),
        section: str = "",
        **attributes: Any,
    ) -> None:
        super().__init__(param_decls, **attributes)
        self.formerly = tuple(formerly)
        self.section = section


def _set_level(key: str) -> Callable[[click.Context, click.Parameter, bool], None]:
    def remember(ctx: click.Context, option: click.Parameter, value: bool) -> None:
        if value:
            ctx.meta[key] = True

    return remember


def level_options() -> list[click.Option]:
    """Return the options ``--quiet`` and ``--verbose``."""
    return [
        click.Option(
            ["-q", "--quiet"], is_flag=True, expose_value=False, callback=_set_level(QUIET),
            help="Hide progress and remarks. Results, warnings and errors are still printed.",
        ),
        click.Option(
            ["-v", "--verbose"], is_flag=True, expose_value=False, callback=_set_level(VERBOSE),
            help="Also print the settings used, the time taken and, for an error, the traceback.",
        ),
    ]  # fmt: skip


def is_quiet() -> bool:
    """Tell whether the running command has ``--quiet``."""
    ctx = click.get_current_context(silent=True)
    return bool(ctx and ctx.meta.get(QUIET))


def is_verbose() -> bool:
    """Tell whether the running command has ``--verbose``."""
    ctx = click.get_current_context(silent=True)
    return bool(ctx and ctx.meta.get(VERBOSE))


class VerbCommand(click.Command):
    """A command of the program."""

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.params += level_options()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put new names of options for old ones, and take defaults from the configuration file."""
        ctx.default_map = option_defaults(self, ctx)
        return super().parse_args(ctx, self._new_names(args))

    def _new_names(self, args: list[str]) -> list[str]:
        renamed = {
            old: option.opts[0]
            for option in self.params
            if isinstance(option, Option)
            for old in option.formerly
        }
        found: list[str] = []
        for place, word in enumerate(args):
            if word == "--":
                return found + args[place:]
            name, sign, value = word.partition("=")
            if name in renamed:
                warn_renamed(name, renamed[name])
                word = renamed[name] + sign + value
            found.append(word)
        return found

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; say which options the configuration file set, and with -v the time."""
        from rubricate.cli.output import inform, replaced_told

        path = configuration_path(ctx)
        set_there = [
            f"{option.opts[-1]} {ctx.params.get(option.name or '')}"
            for option in self.params
            if ctx.get_parameter_source(option.name or "") is ParameterSource.DEFAULT_MAP
        ]
        if path and set_there:
            inform(f"{path} sets {', '.join(set_there)}")
        begun = time.perf_counter()
        refuse_touching_inputs(ctx)
        with replaced_told():
            found = super().invoke(ctx)
        if is_verbose():
            inform(f"{ctx.command_path} took {time.perf_counter() - begun:.1f} s")
        return found

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options; many of them by section."""
        records = [
            ((isinstance(option, Option) and option.section) or section_of(option.opts), record)
            for option in self.get_params(ctx)
            if isinstance(option, click.Option)
            and (record := option.get_help_record(ctx)) is not None
        ]
        by_section: dict[str, list[tuple[str, str]]] = {}
        for section, record in records:
            title = section if len(records) > LONG_HELP else "Options"
            by_section.setdefault(title, []).append(record)
        for title in ("Options", *SECTIONS, OTHER):
            if title in by_section:
                with formatter.section(click.style(title, bold=True)):
                    formatter.write_dl(by_section[title])


def section_of(names: Sequence[str]) -> str:
    """Return the section of help that lists an option.

    >>> section_of(["--where"]), section_of(["-q", "--quiet"]), section_of(["--phrase"])
    ('Input', 'Other', 'Options')
    """
    sections = (*SECTIONS.items(), (OTHER, ("--quiet", "--verbose", "--help", "--json")))
    return next((title for title, own in sections if set(names) & set(own)), "Options")


class VerbSubgroup(click.Group):
    """A group of commands, some of which had another name in the last release."""

    command_class = VerbCommand
    #: Old name → new name.
    formerly: ClassVar[Mapping[str, str]] = {}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of this name, or the one that had it."""
        if cmd_name in self.formerly:
            warn_renamed(f"{ctx.command_path} {cmd_name}", self.formerly[cmd_name])
        return super().get_command(ctx, self.formerly.get(cmd_name, cmd_name))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse a configuration file that names commands the group does not have."""
        check_tables(ctx, self.list_commands(ctx))
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown name is answered with the nearest one."""
        known = self.list_commands(ctx)
        if args and not args[0].startswith("-") and args[0] not in {*known, *self.formerly}:
            hint = did_you_mean(args[0], known, otherwise=f". See: {ctx.command_path} --help")
            raise click.UsageError(f"no command {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)


def warn_renamed(old: str, new: str) -> None:
    """Say that a name is an old one."""
    from rubricate.cli.output import warn

    warn(f"{old} is now called {new}. The old name works until version 0.4.")


#: ``@verb("score", epilog=...)`` makes a command of a function.
verb = functools.partial(click.command, cls=VerbCommand)

"""The commands, groups and kinds of paths that all verbs are made of.

Commands arrange long help by section, know the earlier names of options, take defaults from the
configuration file, and have ``--quiet`` and ``--verbose``. They protect what they read from what
they write (see `rubricate.outputs`): so the type of each argument and option says which it names.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import click
from click.core import ParameterSource

from rubricate.cli.configuration import check_tables, configuration_path, option_defaults
from rubricate.cli.sections import OTHER, SECTIONS
from rubricate.errors import did_you_mean
from rubricate.files import near_paths, shown_path
from rubricate.outputs import refuse_inputs

#: From this number of options on, help is arranged in sections.
LONG_HELP = 10
#: Name of a level of output → where the context of a command remembers it.
LEVELS = {"quiet": "rubricate.quiet", "verbose": "rubricate.verbose"}


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


def _need_path(
    kind: Any, value: Any, param: click.Parameter | None, ctx: click.Context | None
) -> None:
    """Fail for an empty path that somebody gave: it would stand for the working folder."""
    if value == "" and (param is None or param.default != ""):
        kind.fail("The path is empty. Is a variable of your shell not set?", param, ctx)


class There(click.Path):
    """An existing file or folder; the error for a missing one suggests the closest name."""

    def __init__(self, *, file_okay: bool = True, dir_okay: bool = True) -> None:
        super().__init__(exists=True, file_okay=file_okay, dir_okay=dir_okay, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; a usage error if nothing is there."""
        _need_path(self, value, param, ctx)
        place = Path(value)
        if not place.exists():
            self.fail(f"{shown_path(place)}: no such file or folder{near_paths(place)}", param, ctx)
        if not (place.is_file() or place.is_dir()):
            # A pipe that nobody writes to would be waited for without end.
            self.fail(f"{place}: neither a plain file nor a folder. Save it first.", param, ctx)
        return super().convert(value, param, ctx)


class Source(click.ParamType):  # type: ignore[type-arg]  # generic in new versions only
    """A file or folder to read by its path, or the name of something that is embedded.

    The value stays as it is: what reads it says what is wrong.
    """

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value; a usage error for an empty one."""
        _need_path(self, value, param, ctx)
        return value


class Output(click.Path):
    """A file or folder to write.

    ``kept``: a folder in which files are written and others stay; then it may lie above an input.
    """

    def __init__(self, *, kept: bool = False, as_text: bool = False, **attributes: Any) -> None:
        super().__init__(path_type=None if as_text else Path, **attributes)
        self.kept = kept

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; a usage error for an empty one."""
        _need_path(self, value, param, ctx)
        return super().convert(value, param, ctx)


def _paths(ctx: click.Context, *kinds: type[There | Source | Output]) -> Iterator[tuple[Any, Path]]:
    """Yield the paths that parameters of these kinds were given, each with its parameter's type."""
    for param in ctx.command.params:
        value = ctx.params.get(param.name or "")
        if isinstance(param.type, kinds) and value not in (None, "", ()):
            for one in value if isinstance(value, tuple | list) else (value,):
                yield param.type, Path(one)


def command_inputs() -> tuple[Path, ...]:
    """Return the files and folders that the running command reads, with its configuration file."""
    ctx = click.get_current_context()
    path = configuration_path(ctx)
    return (*(place for _, place in _paths(ctx, There, Source)), *([path] if path else []))


def _set_level(ctx: click.Context, option: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[LEVELS[option.name or ""]] = True


def level_options() -> list[click.Option]:
    """Return the options ``--quiet`` and ``--verbose``."""
    return [
        click.Option(
            ["-q", "--quiet"], is_flag=True, expose_value=False, callback=_set_level,
            help="Hide progress and remarks. Results, warnings and errors are still printed.",
        ),
        click.Option(
            ["-v", "--verbose"], is_flag=True, expose_value=False, callback=_set_level,
            help="Also print the settings used, the time taken and, for an error, the traceback.",
        ),
    ]  # fmt: skip


def is_quiet() -> bool:
    """Tell whether the running command has ``--quiet``."""
    ctx = click.get_current_context(silent=True)
    return bool(ctx and ctx.meta.get(LEVELS["quiet"]))


def is_verbose() -> bool:
    """Tell whether the running command has ``--verbose``."""
    ctx = click.get_current_context(silent=True)
    return bool(ctx and ctx.meta.get(LEVELS["verbose"]))


class VerbCommand(click.Command):
    """A command of the program."""

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.params += level_options()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put new names of options for old ones, and take defaults from the configuration file."""
        if ctx.default_map:
            ctx.default_map = option_defaults(self, ctx, ctx.default_map)
        renamed = {
            old: option.opts[0]
            for option in self.params
            if isinstance(option, Option)
            for old in option.formerly
        }
        found: list[str] = []
        for place, word in enumerate(args):
            if word == "--":
                found += args[place:]
                break
            name, sign, value = word.partition("=")
            if name in renamed:
                warn_renamed(name, renamed[name])
                word = renamed[name] + sign + value
            found.append(word)
        return super().parse_args(ctx, found)

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
        inputs = command_inputs()
        for kind, place in _paths(ctx, Output):
            refuse_inputs(place, inputs, above=not kind.kept)
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
        """Return the command of this name, or the one that had it; the nearest is told for none."""
        if cmd_name in self.formerly:
            warn_renamed(f"{ctx.command_path} {cmd_name}", self.formerly[cmd_name])
        found = super().get_command(ctx, self.formerly.get(cmd_name, cmd_name))
        if found is None and not cmd_name.startswith("-"):
            known, help_ = self.list_commands(ctx), f". See: {ctx.command_path} --help"
            hint = did_you_mean(cmd_name, known, otherwise=help_)
            raise click.UsageError(f"no command {cmd_name!r}{hint}", ctx)
        return found

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse a configuration file that names commands the group does not have."""
        check_tables(ctx, self.list_commands(ctx))
        return super().parse_args(ctx, args)


def warn_renamed(old: str, new: str) -> None:
    """Say that a name is an old one."""
    from rubricate.cli.output import warn

    warn(f"{old} is now called {new}. The old name works until version 0.4.")


#: ``@verb("score", epilog=...)`` makes a command of a function.
verb = functools.partial(click.command, cls=VerbCommand)

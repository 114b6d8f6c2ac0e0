"""The configuration file: defaults of options, by command.

``rubricate.toml`` in the current folder has one table for each command; ``pyproject.toml`` has the
same tables under ``tool.rubricate``. Only one file is read: rubricate.toml, if there is one.

The current folder may hold notes of others, and a configuration file among them. So a file cannot
set options that replace results, switch off a check, or connect to other machines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from rubricate.errors import ArgumentError, Fault, InputError, did_you_mean

OWN, SHARED = Path("rubricate.toml"), Path("pyproject.toml")
#: What finds our tables in a pyproject.toml without parsing it.
_TABLE = b"tool.rubricate"
#: Options that replace results or switch off a check, and options that connect to other machines.
COMMAND_LINE_ONLY = frozenset({
    "overwrite", "accept-log", "accept-edited", "others-may-read",
    "dask", "host", "database", "oidc", "oidc-client", "behind-proxy",
})  # fmt: skip


def read_configuration(ctx: click.Context, verbs: Iterable[str]) -> None:
    """Give the defaults in the configuration of the current folder to the commands of a context.

    ArgumentError for a file that is no TOML, and for a table that no verb is called by.
    """
    try:
        path = OWN if OWN.is_file() else SHARED
        if not path.is_file() or (path == SHARED and _TABLE not in path.read_bytes()):
            return
    except OSError:  # a current folder that may not be read has no configuration
        return
    from rubricate.formats.reading import read_toml

    try:
        tables: Any = read_toml(path)
    except InputError as error:
        raise ArgumentError(error.faults) from error
    if path == SHARED:
        tool = tables.get("tool")
        tables = tool.get("rubricate", {}) if isinstance(tool, dict) else {}
        if not isinstance(tables, dict):
            raise ArgumentError([Fault("tool.rubricate: must be a table, [tool.rubricate]", path)])
    faults = []
    known = list(verbs)
    for name, table in tables.items():
        if name not in known:
            faults.append(Fault(f"[{name}]: no such command{did_you_mean(name, known)}", path))
        elif not isinstance(table, dict):
            faults.append(Fault(f"{name}: must be a table, [{name}]", path))
    ArgumentError.raise_any(faults)
    ctx.meta[__name__] = path
    ctx.default_map = dict(tables)


def configuration_path(ctx: click.Context) -> Path | None:
    """Return the configuration file that is in force, if there is one."""
    path: Path | None = ctx.meta.get(__name__)
    return path


def _place(ctx: click.Context) -> str:
    return f"{configuration_path(ctx)}, [{'.'.join(ctx.command_path.split()[1:])}]"


def check_tables(ctx: click.Context, commands: Iterable[str]) -> None:
    """Raise UsageError if the table of a group has what is no command of it."""
    known = list(commands)
    for name, table in (ctx.default_map or {}).items():
        if name not in known or not isinstance(table, dict):
            hint = did_you_mean(name, known, otherwise=f". Commands: {', '.join(known)}")
            raise click.UsageError(f"{_place(ctx)}: no command {name!r}{hint}")


def former_names(option: click.Option) -> tuple[str, ...]:
    """Return the earlier names of an option."""
    return tuple(getattr(option, "formerly", ()))


def option_defaults(
    command: click.Command, ctx: click.Context, own: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the defaults of a command's options by parameter; UsageError for unknown options."""
    where = _place(ctx)
    options = {
        name.lstrip("-"): option
        for option in command.params
        if isinstance(option, click.Option) and not option.is_eager
        for name in (*option.opts, *option.secondary_opts, *former_names(option))
        if name.startswith("--")
    }
    found: dict[str, Any] = {}
    for given, value in own.items():
        name = given.replace("_", "-")
        if name not in options:
            raise click.UsageError(f"{where}: no option {given!r}{did_you_mean(name, options)}")
        option = options[name]
        if f"--{name}" in former_names(option):
            from rubricate.cli.output import warn

            new = option.opts[0].lstrip("-")
            warn(f"{where}: {given} is now called {new}. The old name works until version 0.4.")
        if name in COMMAND_LINE_ONLY:
            raise click.UsageError(f"{where}: give --{name} on the command line, not in a file")
        if f"--{name}" in option.secondary_opts:
            value = not value
        found[option.name or ""] = _checked(value, option, f"{where}: {given}")
    return found


def _checked(value: Any, option: click.Option, where: str) -> Any:
    values = value if isinstance(value, list) else [value]
    if any(isinstance(one, dict | list) for one in values):
        raise click.UsageError(f"{where}: need a text, a number, true or false, or a list of them")
    if option.is_flag:
        if not isinstance(value, bool):
            raise click.UsageError(f"{where}: need true or false")
        return value
    if option.multiple:
        return [str(one) for one in values]
    if isinstance(value, bool | list):
        raise click.UsageError(f"{where}: need one text or number")
    return value if isinstance(value, int | float) else str(value)

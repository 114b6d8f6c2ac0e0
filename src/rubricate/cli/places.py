"""Files and folders that commands are given: what they read, and what they write.

`VerbCommand` protects what is read from what is written (see `rubricate.outputs`). So the type of
each argument and option says which of the two it names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from rubricate.cli.configuration import configuration_path
from rubricate.files import near_paths, shown_path
from rubricate.outputs import refuse_inputs


class There(click.Path):
    """An existing file or folder; the error for a missing one suggests the closest name."""

    def __init__(self, *, file_okay: bool = True, dir_okay: bool = True) -> None:
        super().__init__(exists=True, file_okay=file_okay, dir_okay=dir_okay, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; a usage error if nothing is there."""
        place = Path(value)
        if not place.exists():
            self.fail(f"{shown_path(place)}: no such file or folder{near_paths(place)}", param, ctx)
        if not (place.is_file() or place.is_dir()):
            # A pipe that nobody writes to would be waited for without end.
            self.fail(f"{place}: neither a plain file nor a folder. Save it first.", param, ctx)
        return super().convert(value, param, ctx)


class Source(click.ParamType):  # type: ignore[type-arg]  # generic in new versions only
    """A file or folder to read by its path, or the name of something that is embedded."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name as it is: what reads it says what is wrong."""
        return value


class Output(click.Path):
    """A file or folder to write.

    ``kept``: a folder in which files are written and others stay; then it may lie above an input.
    """

    def __init__(self, *, kept: bool = False, as_text: bool = False, **attributes: Any) -> None:
        super().__init__(path_type=None if as_text else Path, **attributes)
        self.kept = kept


def read_by(ctx: click.Context) -> Iterator[Path]:
    """Yield the files and folders that a command was given to read."""
    for param in ctx.command.params:
        if isinstance(param.type, There | Source):
            yield from map(Path, _values(ctx, param))


def command_inputs() -> tuple[Path, ...]:
    """Return the files and folders that the running command reads, with its configuration file."""
    ctx = click.get_current_context()
    path = configuration_path(ctx)
    return (*read_by(ctx), *([path] if path else []))


def refuse_touching_inputs(ctx: click.Context) -> None:
    """Refuse, before any work, outputs of a command that touch what it reads."""
    inputs = command_inputs()
    for param in ctx.command.params:
        if isinstance(param.type, Output):
            for value in _values(ctx, param):
                refuse_inputs(Path(value), inputs, above=not param.type.kept)


def _values(ctx: click.Context, param: click.Parameter) -> Iterable[str | Path]:
    value = ctx.params.get(param.name or "")
    if value is None or value == "":
        return ()
    return value if isinstance(value, tuple | list) else (value,)

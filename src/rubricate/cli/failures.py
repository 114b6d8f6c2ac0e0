"""Errors as the command tells them: one message in words, or JSON with ``--json``.

Exit codes: 0 done, 1 failed or a check found something, 2 wrong usage. `docs/exit-codes.md` lists
what 1 means for each verb.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import IO, Any

import click

from rubricate.errors import OutputExistsError, RubricateError, Setting

JSON_ASKED = "rubricate.json"
#: Options that have another name than the parameter of the functions.
_OPTIONS = {"case": "assign_case", "format": "input_format", "note_seconds": "note_timeout"}


def in_flags(setting: Setting) -> str:
    """Return the option of the command for a setting that an error of the library names.

    >>> in_flags(Setting("case", "NAME")), in_flags(Setting("overwrite", True))
    ('--assign-case NAME', '--overwrite')
    """
    if "." in setting.name:
        return setting.name  # stands in a file, such as study.toml
    flag = "--" + _OPTIONS.get(setting.name, setting.name).replace("_", "-")
    return flag if setting.value in ("", True) else f"{flag} {setting.value}"


class Failure(click.ClickException):
    """An error that ends the command."""

    def __init__(
        self, message: str, *, code: str, usage: str = "",
        faults: Sequence[dict[str, Any]] = (), as_json: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(message)
        self.code, self.usage = code, usage
        self.faults, self.as_json = list(faults), as_json

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the error to standard error."""
        if self.as_json:
            click.echo(json.dumps({"error": self.to_dict()}, ensure_ascii=True), err=True)
            return
        if self.usage:
            click.echo(self.usage, err=True)
        head = click.style("Error:", fg="red", bold=True)
        click.echo(
            f"{head} {self.format_message()}", file=file, err=True,
            color=False if os.environ.get("NO_COLOR") else None,  # no-color.org
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return the error for JSON; ``path`` and ``line`` are those of the first fault."""
        first = self.faults[0] if self.faults else {}
        return {
            "code": self.code,
            "message": self.format_message(),
            "exit_code": self.exit_code,
            "path": first.get("path"),
            "line": first.get("line"),
            "faults": self.faults,
        }


class WrongUsage(Failure):
    """An error about what was asked for."""

    exit_code = 2


def failure_of(error: Exception, *, as_json: bool) -> Failure:
    """Return an error of ours, of the system or of click as the failure that is shown."""
    if isinstance(error, click.ClickException):
        usage = ""
        if isinstance(error, click.UsageError) and error.ctx is not None:
            names = error.ctx.help_option_names
            usage = (
                f"{error.ctx.get_usage()}\nTry '{error.ctx.command_path} {names[-1]}' for help.\n"
            )
        is_usage = isinstance(error, click.UsageError)
        kind = WrongUsage if error.exit_code == 2 else Failure
        return kind(
            error.format_message(), code="usage" if is_usage else "error", usage=usage,
            as_json=as_json,
        )  # fmt: skip
    if isinstance(error, RubricateError):
        kind = WrongUsage if error.exit_code == 2 else Failure
        message = error.worded(in_flags)
        return kind(message, code=error.code, faults=_faults(error), as_json=as_json)
    path = error.filename if isinstance(error, OSError) else None
    faults = [_fault(str(error), path)] if path else []
    return Failure(str(error), code="file-system", faults=faults, as_json=as_json)


def _faults(error: RubricateError) -> list[dict[str, Any]]:
    path = error.path if isinstance(error, OutputExistsError) else None
    return [
        _fault(one.message_worded(in_flags), one.path or path, one.line, one.unit)
        for one in error.faults
    ]


def _fault(
    message: str, path: object = None, line: int | None = None, unit: str = "line"
) -> dict[str, Any]:
    return {
        "message": message,
        "path": None if path is None else str(path),
        "line": line,
        "unit": None if line is None else unit,
    }

"""Options of reading a file: the limits of its size, and the options that every reader takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rubricate.errors import Advice, ArgumentError, Fault, InputError, Setting, UnknownNameError
from rubricate.progress import Progress, silent

if TYPE_CHECKING:
    from rubricate.corpus import Corpus


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Limits for reading.

    ``file_bytes``: bytes of a file that is read whole.
    ``unpacked_bytes``: bytes of a workbook, an archive or a Parquet table when unpacked.
    ``ratio``: how many times larger an archive may become, counted from 10 million bytes on.
    ``cells``: cells of a sheet, from the first to the last one used, and values of a YAML file,
    each counted as often as it is used.
    ``rows``: rows of a Parquet table or an Arrow stream.
    ``depth``: levels of a JSON, YAML or TOML file.

    >>> ReadLimits(cells=10).cells
    10
    """

    file_bytes: int = 2_000_000_000
    unpacked_bytes: int = 1_000_000_000
    ratio: int = 200
    cells: int = 1_000_000
    rows: int = 50_000_000
    depth: int = 100

    def check(self, name: str, found: int, what: str, path: Path | None = None) -> None:
        """Raise InputError if there is more of something than the limit of this name allows.

        >>> ReadLimits().check("cells", 3, "the sheet has {} cells")
        """
        allowed: int = getattr(self, name)
        if found > allowed:
            larger = f"{name}={found}"
            advice = Advice(
                "If you trust the file, raise the limit: {}",
                (Setting("limit", larger, python=f"limits=ReadLimits({larger})"),),
            )
            message = f"{what.format(f'{found:,}')}; at most {allowed:,} are read."
            raise InputError([Fault(message, path, advice=advice)])


#: The limits that hold where nobody asked for others.
USUAL_LIMITS = ReadLimits()


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options that every reader gets beside the path.

    ``format``: the name of the format; found by looking where it is empty.
    ``strict``: wrong offsets are faults. Otherwise they are kept as they stand, so that they can be
    checked and repaired; everything else that is wrong still raises.
    ``limits``: how large an input may be.
    ``columns``: the column of a table of notes for each name, such as ``{"text": "note"}``.
    ``case``: the case of all notes of a table or of a folder of texts.
    ``like``: the corpus that a submission, which has no notes of its own, speaks of.
    ``tell``: is given one line about how a table or a folder of texts was understood.
    ``progress``: is told how far reading has come.

    >>> ReadOptions(case="Case 1").strict
    True
    """

    format: str = ""
    strict: bool = True
    limits: ReadLimits = USUAL_LIMITS
    columns: Mapping[str, str] = field(default_factory=dict)
    case: str = ""
    like: Corpus | None = None
    tell: Callable[[str], None] | None = None
    progress: Progress = silent


#: The options of a reader that is called with none.
USUAL_OPTIONS = ReadOptions()


def parse_limits(given: Sequence[str]) -> ReadLimits:
    """Return the usual limits with those that ``NAME=VALUE`` changes.

    >>> parse_limits(["cells=2_000_000"]).cells
    2000000
    >>> parse_limits(["cell=5"])
    Traceback (most recent call last):
    rubricate.errors.UnknownNameError: no limit 'cell'; did you mean 'cells'? Known: file_bytes, ...
    """
    changed: dict[str, int] = {}
    known = [one.name for one in fields(ReadLimits)]
    for text in given:
        name, _, value = text.partition("=")
        if name not in known:
            raise UnknownNameError("limit", name, known)
        digits = value.replace("_", "")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 16 and int(digits)):
            raise InputError(
                f"need a whole number of 1 or more, e.g. {name}=1000",
                setting=Setting("limit", name),
            )
        changed[name] = int(digits)
    return replace(USUAL_LIMITS, **changed)


def parse_columns(text: str) -> dict[str, str]:
    """Read the text of ``--columns``; other names than id, text and case rename a column.

    >>> parse_columns("id=student_id,text=note")
    {'id': 'student_id', 'text': 'note'}
    """
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(sign and name.strip() and column.strip() for name, sign, column in pairs):
        raise ArgumentError(
            "need NAME=COLUMN, e.g. id=student_id,text=note", setting=Setting("columns", text)
        )
    return {name.strip(): column.strip() for name, _, column in pairs}

"""Every error rubricate raises on purpose.

The tree::

    RubricateError
    ├── InputError (ValueError)          a file or value is wrong; lists every fault
    │   └── ArgumentError                what was asked for is wrong: exit code 2
    ├── UnknownNameError (LookupError)   no such format, matcher, corpus, rule, ...
    ├── LossError (ValueError)           --strict, and the target cannot hold everything
    ├── OutputExistsError (FileExistsError)
    └── MissingExtraError (ImportError)  an optional dependency is not installed

Messages say what is wrong, where (path and 1-based line or row), what is allowed and what to
do. They never hold note text: note ids and offsets identify the place.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

#: How many faults a message prints; ``InputError.faults`` always holds all of them.
SHOWN_FAULTS = 20
#: How many known names it prints: all formats and matchers, not all notes of a run.
SHOWN_NAMES = 40
#: The longest name that a message quotes; a longer one may be a piece of a note.
LONGEST_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Setting:
    """A parameter in Python, an option of the command, or a field of a form, and its value.

    ``python``: how Python says it where it is no parameter of the same name and value. True is the
    value of an option that takes none; an empty one only names the setting.

    >>> print(Setting("case", "NAME"), Setting("overwrite", True), Setting("train_folds"))
    case=NAME overwrite=True train_folds
    """

    name: str
    value: object = ""
    python: str = ""

    def __str__(self) -> str:
        return self.python or (self.name if self.value == "" else f"{self.name}={self.value}")


@dataclass(frozen=True, slots=True)
class Advice:
    """A sentence about settings that would help; each ``{}`` stands for the next of them.

    >>> print(Advice("Use {} to replace it.", (Setting("overwrite", True),)))
    Use overwrite=True to replace it.
    """

    text: str
    settings: tuple[Setting, ...]

    def __str__(self) -> str:
        return self.text.format(*self.settings)


#: Gives the words for a setting; None where those who read the message do not have it.
Wording = Callable[[Setting], str | None]


def shown(name: str) -> str:
    r"""Return a name as messages quote it: by its length alone where it may be note text.

    Files with swapped columns have notes where ids should be.

    >>> shown("case 4"), shown("no fever\nno chills")
    ("'case 4'", '(18 characters)')
    """
    plain = len(name) <= LONGEST_SHOWN and name.isprintable()
    return repr(name) if plain else f"({len(name)} characters)"


def listed(names: Iterable[str], most: int = SHOWN_NAMES) -> str:
    """Return names as messages list them: the first of them where they are many.

    >>> listed("abc"), listed("abcde", most=3)
    ('a, b, c', 'a, b, c, ... and 2 more')
    """
    known = list(names)
    more = f", ... and {len(known) - most:,} more" if len(known) > most else ""
    return ", ".join(known[:most]) + more


class RubricateError(Exception):
    """Root of all errors raised on purpose; the command prints its message and exits.

    The code is 1, and 2 where what was asked for is wrong, not what was found.
    """

    exit_code = 1
    #: What programs know the error by, in the JSON that the command prints.
    code = "error"
    faults: tuple[Fault, ...] = ()

    def worded(self, wording: Wording) -> str:
        """Return the message in the words of the command or of a form."""
        return _message(self.faults, wording) if self.faults else str(self)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with an input, and where.

    ``setting`` is the parameter that is wrong, ``advice`` what would help. Python, the command and
    the pages of the server have their own words for both.

    >>> print(Fault("column 'pn_num' is missing", path=Path("train.csv")))
    train.csv: column 'pn_num' is missing
    >>> print(Fault("offset 90 is past the end (80)", Path("train.csv"), 3, "row"))
    train.csv, row 3: offset 90 is past the end (80)
    """

    message: str
    path: Path | None = None
    line: int | None = None
    unit: str = "line"
    setting: Setting | None = None
    advice: Advice | None = None

    def __str__(self) -> str:
        return self.worded(str)

    def worded(self, wording: Wording) -> str:
        """Return the place of the fault, the fault and, where readers have it, the advice."""
        place = "" if self.path is None else str(self.path)
        if self.line is not None:
            place += f"{', ' if place else ''}{self.unit} {self.line}"
        message = self.message_worded(wording)
        return f"{place}: {message}" if place else message

    def message_worded(self, wording: Wording) -> str:
        """Return the message without its place."""
        message = self.message
        if self.setting is not None and (words := wording(self.setting)):
            message = f"{words}: {message}"
        if self.advice is not None:
            known = [one for one in map(wording, self.advice.settings) if one]
            if len(known) == len(self.advice.settings):
                message = f"{message.rstrip('.')}. {self.advice.text.format(*known)}"
        return message


class InputError(RubricateError, ValueError):
    """An input is wrong. All its faults are reported at once.

    >>> error = InputError([Fault("a"), Fault("b")])
    >>> len(error.faults)
    2
    """

    code = "input"

    def __init__(
        self, faults: Iterable[Fault] | str, *, setting: Setting | None = None,
        advice: Advice | None = None,
    ) -> None:  # fmt: skip
        if isinstance(faults, str):
            faults = [Fault(faults, setting=setting, advice=advice)]
        self.faults = tuple(faults)
        super().__init__(_message(self.faults, str))

    @classmethod
    def raise_any(cls, faults: Sequence[Fault]) -> None:
        """Raise one error with every fault, if there is any."""
        if faults:
            raise cls(faults)


def _message(faults: Sequence[Fault], wording: Wording) -> str:
    shown = [fault.worded(wording) for fault in faults[:SHOWN_FAULTS]]
    if len(faults) > SHOWN_FAULTS:
        shown.append(f"... and {len(faults) - SHOWN_FAULTS} more")
    head = [] if len(faults) == 1 else [f"{len(faults)} faults in the input"]
    return "\n  ".join(head + shown)


class ArgumentError(InputError):
    """A wrong request: a missing file, or a value that is not allowed."""

    code = "argument"
    exit_code = 2


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return the known name that is most like another; empty if none is.

    >>> nearest("Lexcon", ["exact", "lexicon"]), nearest("banana", ["exact"])
    ('lexicon', '')
    """
    own = {one.casefold(): one for one in known}
    found = difflib.get_close_matches(name.casefold()[:LONGEST_SHOWN], own, n=1, cutoff=cutoff)
    return own[found[0]] if found else ""


def did_you_mean(name: str, known: Iterable[str], *, otherwise: str = ".") -> str:
    """Return the end of a message about an unknown name: the nearest known name, if there is any.

    >>> did_you_mean("brta", ["brat", "nbme"]), did_you_mean("x", ["brat"])
    ("; did you mean 'brat'?", '.')
    """
    near = nearest(name, known)
    return f"; did you mean {near!r}?" if near else otherwise


def inside_unit(name: str, value: float) -> list[Fault]:
    """Return a fault unless `value` lies strictly between 0 and 1.

    >>> [str(fault) for fault in inside_unit("precision", 1.0)]
    ['precision is 1.0: it must lie strictly between 0 and 1']
    """
    if math.isfinite(value) and 0.0 < value < 1.0:
        return []
    return [Fault(f"{name} is {value}: it must lie strictly between 0 and 1")]


def shares(**values: float) -> list[Fault]:
    """Return a fault for each value that does not lie strictly between 0 and 1.

    >>> [str(fault) for fault in shares(recall=0.8, half_width=0)]
    ['half-width is 0: it must lie strictly between 0 and 1']
    """
    named = ((name.replace("_", "-"), value) for name, value in values.items())
    return [fault for name, value in named for fault in inside_unit(name, value)]


def at_least(name: str, value: float, least: float) -> list[Fault]:
    """Return a fault unless `value` is finite and at least `least`.

    >>> [str(fault) for fault in at_least("sites", 0, 1)]
    ['sites is 0: it must be at least 1']
    """
    if isinstance(value, int) and value >= 2**63:  # no array holds it
        return [Fault(f"{name} is too large")]
    if math.isfinite(value) and value >= least:
        return []
    return [Fault(f"{name} is {value}: it must be at least {least}")]


def one_of(name: str, value: str, allowed: Sequence[str]) -> list[Fault]:
    """Return a fault unless `value` is one of `allowed`.

    >>> [str(fault) for fault in one_of("interval", "wald", ["wilson"])]
    ["interval is 'wald'. It must be one of wilson"]
    """
    if value in allowed:
        return []
    hint = did_you_mean(value, allowed)
    return [Fault(f"{name} is {value!r}{hint} It must be one of {', '.join(allowed)}")]


def raise_if_any(faults: Sequence[Fault]) -> None:
    """Raise one error with every fault, if there is any: an `ArgumentError` if none is a file's.

    >>> raise_if_any([])
    """
    if faults:
        raise (InputError if any(fault.path for fault in faults) else ArgumentError)(faults)


class UnknownNameError(RubricateError, LookupError):
    """A name that is not known, with the nearest one that is, and the first of all there are.

    >>> print(UnknownNameError("format", "brta", ["brat", "nbme"]))
    no format 'brta'; did you mean 'brat'? Known: brat, nbme
    """

    code = "unknown-name"
    exit_code = 2

    def __init__(self, kind: str, name: str, known: Sequence[str]) -> None:
        hint = did_you_mean(name, known)
        super().__init__(f"no {kind} {name!r}{hint} Known: {listed(known)}")
        self.name = name


def known_names(kind: str, names: Collection[str], known: Iterable[str]) -> set[str]:
    """Return the names; UnknownNameError for one that is not known, or a text for a list of them.

    >>> known_names("case", "30", ["3", "0"])
    Traceback (most recent call last):
    rubricate.errors.ArgumentError: '30': need a list of names, ['30']
    """
    if isinstance(names, str):
        raise ArgumentError(f"{names!r}: need a list of names, [{names!r}]")
    every = dict.fromkeys(known)
    for name in names:
        if name not in every:
            raise UnknownNameError(kind, str(name), list(every))
    return set(names)


class LossError(RubricateError, ValueError):
    """The target format cannot hold everything, and the caller asked for no loss."""

    code = "loss"


class OutputExistsError(RubricateError, FileExistsError):
    """The output is already there and may not be overwritten."""

    code = "output-exists"

    def __init__(self, path: Path) -> None:
        advice = Advice("Use {} to replace it.", (Setting("overwrite", True),))
        self.faults = (Fault(f"{path} already exists.", advice=advice),)
        super().__init__(_message(self.faults, str))
        self.path = path


class MissingExtraError(RubricateError, ImportError):
    """A task needs libraries that are not installed.

    Without ``extra`` the libraries belong to every installation; they are missing where somebody
    installed the package without its dependencies.
    """

    code = "missing-extra"

    def __init__(self, task: str, extra: str = "") -> None:
        package = f"'rubricate[{extra}]'" if extra else "rubricate"
        super().__init__(
            f"{task} needs libraries that are not installed. Run: pip install {package}"
        )
        self.extra = extra

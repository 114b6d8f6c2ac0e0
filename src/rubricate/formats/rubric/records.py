"""Features as any rubric file gives them, their columns, and the rubrics they make."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rubricate.columns import plain_name
from rubricate.display import counted
from rubricate.errors import Fault, InputError, listed, nearest, shown
from rubricate.formats.reading import Faults, has_lone_surrogate
from rubricate.rubric import (
    NO_FLOOR,
    NO_METADATA,
    Feature,
    Metadata,
    Rubric,
    parse_weight,
    weight_fault,
)

#: Every name of each column, in lower case, with single spaces for all that is no letter or digit.
NAMES = {
    "case": ("case", "case id", "case num", "case number", "case name", "station", "scenario",
             "vignette"),
    "id": ("id", "feature id", "feature num", "feature number", "item id", "code", "key"),
    "number": ("no", "nr", "number", "item no", "item number", "feature no"),
    "text": ("text", "feature text", "description", "checklist item", "checklist items",
             "item text", "criterion", "criteria", "wording", "key feature", "key features",
             "rubric item", "rubric items", "statement"),
    "weight": ("weight", "points", "point", "pts", "pt", "max points", "max pts", "points max",
               "maximum points", "points possible", "possible points", "points available",
               "marks", "mark", "max marks", "max mark", "marks available", "available marks",
               "score", "max score", "credit", "credits", "value"),
    "kind": ("kind", "type", "category", "section", "domain"),
    "group": ("group", "any of", "one of", "any of group", "alternatives"),
    "note": ("note", "notes", "comment", "comments", "remark", "remarks", "guidance",
             "instructions", "hint"),
    "title": ("title", "case title", "rubric title"),
    "floor": ("floor",),
}  # fmt: skip

#: Names of the text, unless another column is; then of the id.
_TEXT_OR_ID = ("feature", "features", "item", "items", "element")
_COLUMN = {name: column for column, names in NAMES.items() for name in names}
#: The header of the competition's features.csv, whose texts have hyphens for spaces.
COMPETITION = {"feature num", "case num", "feature text"}


def is_known(name: str) -> bool:
    """Tell whether a column's name is one of those understood.

    >>> is_known("Max points"), is_known("colour")
    (True, False)
    """
    plain = plain_name(name)
    return plain in _COLUMN or plain in _TEXT_OR_ID


def match_columns(
    names: Sequence[str],
    fault: Callable[[str], None],
    *,
    empty: Container[int] = (),
    left_out: Callable[[str], None] | None = None,
) -> dict[int, str]:
    """Return the columns of `NAMES` by their places.

    Columns without a name or whose name begins with ``_`` are left out. A name that is not known
    and two names for one column are faults; but ``left_out`` is told of names that are like none,
    and a column that is ``empty`` gives way to another.

    >>> match_columns(["Item", "Max points", "_seen"], print)
    {0: 'text', 1: 'weight'}
    >>> match_columns(["item", "text", "wieght"], print)
    column 'wieght' is not known; did you mean 'weight'? Columns that begin with _ are left out.
    {0: 'id', 1: 'text'}
    """
    found: dict[int, str] = {}
    first: dict[str, str] = {}
    doubtful: dict[int, str] = {}
    answers = "yes" in map(plain_name, names)
    for place, name in sorted(enumerate(names), key=lambda pair: pair[0] in empty):
        # Beside "Yes", "No" is the other box to tick, and counts nothing.
        plain = "no answer" if answers and name.strip().casefold() == "no" else plain_name(name)
        if not plain or name.strip().startswith("_"):
            continue
        if plain in _TEXT_OR_ID:
            doubtful[place] = name
        elif plain not in _COLUMN:
            near = nearest(plain, [*_COLUMN, *_TEXT_OR_ID], cutoff=0.75)
            if near or left_out is None:
                fault(_unknown(name, near))
            elif place not in empty:
                left_out(name)
        elif place not in empty or _COLUMN[plain] not in first:
            _settle(found, first, (place, name, _COLUMN[plain]), fault)
    for place, name in doubtful.items():
        column = "id" if "text" in first else "text"
        _settle(found, first, (place, name, column), fault)
    return dict(sorted(found.items()))


def _settle(
    found: dict[int, str],
    first: dict[str, str],
    new: tuple[int, str, str],
    fault: Callable[[str], None],
) -> None:
    place, name, column = new
    if column in first:
        both = f"columns {first[column]!r} and {name!r} both mean the feature's {column}"
        fault(f"{both}: begin the name of the other one with _")
        return
    first[column] = name
    found[place] = column


def _unknown(name: str, near: str) -> str:
    hint = f"did you mean {near!r}?" if near else f"known are {', '.join(NAMES)}."
    return f"column {name!r} is not known; {hint} Columns that begin with _ are left out."


@dataclass(frozen=True, slots=True)
class Record:
    """One feature of a file."""

    values: Mapping[str, str]
    case: str
    line: int | None = None
    place: str = ""

    @property
    def own_case(self) -> str:
        """The case the feature belongs to."""
        return self.values.get("case") or self.case


@dataclass(slots=True)
class Records:
    """Everything a rubric file says; features without a case get ``default_case``."""

    default_case: str
    features: list[Record] = field(default_factory=list)
    #: Cases the file names, even if they have no features.
    cases: list[str] = field(default_factory=list)
    titles: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, Metadata] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    without_case: int = 0
    #: Features whose points stand in their wording alone.
    worded: list[str] = field(default_factory=list)
    #: Ids that the file does not give: made from the words or the number of a feature.
    made: set[str] = field(default_factory=set)

    def add(self, values: Mapping[str, str], case: str, line: int | None, place: str = "") -> None:
        """Add one feature."""
        if not (case or values.get("case")):
            self.without_case += 1
            case = self.default_case
        self.features.append(Record(values, case, line, place))


FLOOR_FAULT = "the floor is {}; it must be none (scores may fall below 0) or 0"


def add_floor(records: Records, case: str, said: str) -> Metadata | None:
    """Keep what a file says of the lowest score of a case; None where it is none of the two."""
    if said.strip().casefold() not in (NO_FLOOR, "0"):
        return None
    metadata = dict(records.metadata.get(case, NO_METADATA))
    if said.strip() != "0":
        metadata["floor"] = NO_FLOOR
    records.metadata[case] = Metadata(metadata)
    return records.metadata[case]


def build_rubrics(records: Records, faults: Faults) -> tuple[Rubric, ...]:
    """Return the rubrics in the order of the file; adds notices about ids and cases it made."""
    features: dict[str, list[Feature]] = {case: [] for case in records.cases}
    titles = dict(records.titles)
    ids = _ids(records, faults)
    for record, identifier in zip(records.features, ids, strict=True):
        case = record.own_case
        title = record.values.get("title", "")
        if title and titles.setdefault(case, title) != title:
            message = f"{record.place}case {case!r} has another title above"
            faults.add(message, line=record.line)
        floor = record.values.get("floor", "")
        if floor and add_floor(records, case, floor) is None:
            faults.add(f"{record.place}{FLOOR_FAULT.format(shown(floor))}", line=record.line)
        feature = _feature(record, identifier, faults)
        if feature is not None:
            features.setdefault(case, []).append(feature)
    used = {record.own_case for record in records.features}
    for case in features:
        if case not in used:
            faults.add(f"the rubric of case {case!r} has no features")
    if not features and not records.features:
        faults.add("the file holds no features")
    faults.raise_any()
    if records.worded:
        records.notices.append(
            f"{counted(len(records.worded), 'feature has', 'features have')} points in the wording "
            f"alone, and they count: {listed(map(shown, records.worded), 5)}"
        )
    if records.without_case:
        records.notices.append(
            f"{counted(records.without_case, 'feature has', 'features have')} no case; the file "
            f"name gives the case {records.default_case!r}"
        )
    return tuple(
        Rubric(case, tuple(own), titles.get(case, ""), records.metadata.get(case, NO_METADATA))
        for case, own in features.items()
    )


def _feature(record: Record, identifier: str, faults: Faults) -> Feature | None:
    values = record.values
    sound = True
    if not values.get("text"):
        faults.add(f"{record.place}the feature has no text", line=record.line)
        sound = False
    weight = parse_weight(values.get("weight", ""))
    if isinstance(weight, str):
        faults.add(f"{record.place}{weight}", line=record.line)
        sound = False
    if not sound or isinstance(weight, str):
        return None
    return Feature(
        identifier,
        record.own_case,
        values["text"],
        weight,
        values.get("kind", ""),
        values.get("group", ""),
        values.get("note", ""),
    )


def _ids(records: Records, faults: Faults) -> list[str]:
    """Return an id for each record: its own, its case and number, or its case and words."""
    first: dict[str, int | None] = {}
    given = [_given_id(record) for record in records.features]
    for record, identifier in zip(records.features, given, strict=True):
        if identifier in first:
            above = f" (first in {faults.unit} {first[identifier]})" if first[identifier] else ""
            message = f"{record.place}id {identifier!r} occurs again{above}"
            faults.add(message, line=record.line)
        elif identifier:
            first[identifier] = record.line
    records.made = {one for record, one in zip(records.features, given, strict=True)
                    if not record.values.get("id")} - {""}  # fmt: skip
    made: list[str] = []
    last: dict[str, int] = {}  # where counting goes on, so that equal texts cost no search
    for i, record in enumerate(records.features):
        if not given[i]:
            stem = f"{record.own_case}-{_slug(record.values.get('text', ''))}"
            identifier, n = stem, last.get(stem, 1)
            while identifier in first:
                n += 1
                identifier = f"{stem}-{n}"
            last[stem] = n
            first[identifier] = record.line
            given[i] = identifier
            made.append(identifier)
    records.made |= set(made)
    if made:
        records.notices.append(
            f"{counted(len(made), 'feature has', 'features have')} no id; made from case and "
            f"text: {listed(made, 5)}"
        )
    return given


def _given_id(record: Record) -> str:
    identifier = record.values.get("id", "")
    if not identifier and record.values.get("number"):
        # Sheets number their items from 1, so the number alone would not be unique.
        identifier = f"{record.own_case}-{record.values['number']}"
    return identifier


def _slug(text: str) -> str:
    """Return the words of a text in plain letters, short enough for an id."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    kept = "".join(char for char in plain if not unicodedata.combining(char))
    return re.sub(r"[\W_]+", "-", kept).strip("-")[:40].strip("-") or "feature"


def need_sound(rubrics: Sequence[Rubric]) -> None:
    """Raise InputError with all that no rubric file may hold, as `build_rubrics` does."""
    wrong: list[str] = [] if rubrics else ["there are no rubrics"]
    for case in _repeated(rubric.case for rubric in rubrics):
        wrong.append(f"case {case!r} has several rubrics")
    for feature_id in _repeated(feature.id for rubric in rubrics for feature in rubric):
        wrong.append(f"feature id {feature_id!r} occurs again")
    for rubric in rubrics:
        if not rubric.features:
            wrong.append(f"the rubric of case {rubric.case!r} has no features")
        if not rubric.case.strip():
            wrong.append("a rubric has no case")
        for feature in rubric:
            if not feature.text.strip():
                wrong.append(f"feature {feature.id!r} has no text")
            if not feature.id.strip():
                wrong.append(f"a feature of case {rubric.case!r} has no id")
            if fault := weight_fault(feature.weight):
                wrong.append(f"feature {feature.id!r}: {fault}")
        texts = [rubric.case, rubric.title, *map(str, rubric.metadata.values()), *rubric.metadata]
        texts += [str(cell) for feature in rubric for cell in feature_row(feature)]
        if any(map(has_lone_surrogate, texts)):
            what = "holds half a surrogate pair, which no file can hold"
            wrong.append(f"the rubric of case {shown(rubric.case)} {what}")
    if wrong:
        raise InputError([Fault(message) for message in wrong])


def _repeated(names: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    repeated = []
    for name in names:
        if name in seen:
            repeated.append(name)
        seen.add(name)
    return repeated


#: The columns of the tables we write.
WRITTEN = ("case", "id", "text", "weight", "kind", "group", "note")


def feature_row(feature: Feature) -> tuple[str, str, str, float, str, str, str]:
    """Return a feature in the order of `WRITTEN`."""
    return (feature.case, feature.id, feature.text, feature.weight, feature.kind, feature.group,
            feature.note)  # fmt: skip

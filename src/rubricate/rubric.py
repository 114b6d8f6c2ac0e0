"""What is sought: features, and the rubric that gathers the features of one case."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rubricate.display import table_html

#: What a metadata field may hold: exactly what JSON and Parquet both keep.
Scalar = str | int | float | bool | None


#: What a note says about a feature.
Outcome = Literal["stated", "contradicted", "not mentioned"]
#: Groups of annotators that tell people from machines where one corpus has both.
HUMAN, SYSTEM = "human", "system"
STATED: Outcome = "stated"
CONTRADICTED: Outcome = "contradicted"
NOT_MENTIONED: Outcome = "not mentioned"


def outcome_of(found: bool, contradicted: bool) -> Outcome:
    """Return the outcome of an item; what is both found and contradicted is stated.

    >>> outcome_of(True, True), outcome_of(False, True), outcome_of(False, False)
    ('stated', 'contradicted', 'not mentioned')
    """
    if found:
        return STATED
    return CONTRADICTED if contradicted else NOT_MENTIONED


def plain_scalar(value: Any) -> Scalar:
    """Return a cell of any table as a value that files can hold; what is missing becomes None.

    >>> plain_scalar(float("nan")), plain_scalar(2.0), plain_scalar("A")
    (None, 2.0, 'A')
    """
    value = value.item() if hasattr(value, "item") and callable(value.item) else value
    # Missing values of data frames are not even equal to themselves.
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str | int | float | bool):
        return value
    text = str(value)
    return None if text in ("<NA>", "NaT") else text


class Metadata(Mapping[str, Scalar]):
    """A frozen, hashable mapping from a name to a text, a number, true, false or None.

    Examples
    --------
    >>> Metadata(site="A", age=31)["site"]
    'A'
    >>> Metadata({"a": 1}) == {"a": 1}
    True
    """

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, Scalar] | None = None, /, **more: Scalar) -> None:
        self._items: dict[str, Scalar] = {**(items or {}), **more}

    def __getitem__(self, name: str) -> Scalar:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return f"Metadata({self._items!r})"

    def __getstate__(self) -> Any:
        return self._items

    def __setstate__(self, state: Any) -> None:
        self._items = state


NO_METADATA = Metadata()


@dataclass(frozen=True, slots=True)
class Feature:
    """One thing a rubric looks for in a note.

    Parameters
    ----------
    id : str
        Unique in its corpus.
    case : str
        The case whose rubric it belongs to.
    text : str
        The rubric's words, with spaces (``"Shortness of breath OR dyspnea"``).
    weight : float
        What finding it adds to the score.
    kind : str
        Free label, e.g. ``"age"``, ``"gender"``, ``"history"``; empty when not given.
    group : str
        Features of one case that share a group count once ("any of"); empty: counts alone.
    note : str
        A remark for annotators and scorers.
    """

    id: str
    case: str
    text: str
    weight: float = 1.0
    kind: str = ""
    group: str = ""
    note: str = ""

    @property
    def alternatives(self) -> tuple[str, ...]:
        """The rubric text split at ``OR``.

        Examples
        --------
        >>> Feature("2", "0", "Chest pressure OR chest tightness").alternatives
        ('Chest pressure', 'chest tightness')
        """
        return tuple(part.strip() for part in self.text.split(" OR ") if part.strip())


@dataclass(frozen=True, slots=True)
class Rubric:
    """The features of one case, in order.

    Examples
    --------
    >>> rubric = Rubric("0", (Feature("0", "0", "58 year"), Feature("1", "0", "Male")))
    >>> [feature.text for feature in rubric]
    ['58 year', 'Male']
    """

    case: str
    features: tuple[Feature, ...]
    title: str = ""
    metadata: Metadata = field(default=NO_METADATA)

    def __post_init__(self) -> None:
        strangers = [f.id for f in self.features if f.case != self.case]
        if strangers:
            raise ValueError(f"rubric of case {self.case!r} holds features of others: {strangers}")

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.features)

    def __len__(self) -> int:
        return len(self.features)

    def _repr_html_(self) -> str:
        lines = [(f.id, f.text, f.weight, f.kind, f.group) for f in self.features]
        title = f"case {self.case}" + (f": {self.title}" if self.title else "")
        return table_html(("id", "text", "weight", "kind", "group"), lines, title=title)

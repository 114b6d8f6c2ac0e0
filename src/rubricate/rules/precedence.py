"""The table of precedence: in which order rules are asked, and how each may decide."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

from rubricate.knowledge.rows import check_rows, table_rows
from rubricate.rules.reasons import reason_table

#: Whose proposals are decided: the lexicon as it votes into the networks, the lexicon alone, the
#: lexicon with learned cases, the networks, and phrases and labels.
PROFILES = ("vote", "lexicon", "learned", "network", "phrases")
#: What cells may hold. ``level``: of the note (``item``); of candidates, which count where it is
#: said of ``all``, of ``each``, or of ``some`` but not all of them; or ``noted`` and weighed
#: together. ``when``: the state of the item in which a row counts. ``then``: what becomes of the
#: candidates where a rule states the feature: those that overlap its words are kept, and others
#: replaced; they stand, and the words count only where there are none; all are replaced; the words
#: join them; or the words that contradict are an answer.
_ALLOWED = {
    "level": ("item", "all", "each", "some", "noted"),
    "effect": ("states", "contradicts", "irrelevant", "doubts"),
    "when": ("any", "found", "unfound", "against", "network"),
    "then": ("-", "keeps", "stands", "replaces", "joins", "answers"),
}
#: In the place of a question: the matcher finds out itself.
MATCHER_ASKS = "-"


class Row(NamedTuple):
    """A rule in the table: when it is asked, and the effect and probability of its claims.

    ``question`` is answered by this rule and others; a matcher asks what has none itself. ``next``
    is the stage that follows where the row decides. ``weighed``: the lexicon asks it of each
    stretch, and weighs the answer.
    """

    stage: int
    rule: str
    question: str
    level: str
    effect: str
    when: str
    then: str
    next: int
    profiles: tuple[str, ...]
    weighed: bool
    p: float


class Stage(NamedTuple):
    """The rows of one number that count for a profile, with the questions they answer.

    ``rows`` decide at once, those ``noted`` are weighed later. ``when`` are the states of an item
    in which any of them counts. ``dropping`` are the rules that drop words.
    """

    number: int
    questions: tuple[str, ...]
    when: tuple[str, ...]
    rows: tuple[Row, ...]
    noted: dict[str, Row]
    dropping: frozenset[str]


@cache
def precedence() -> tuple[Row, ...]:
    """Return the rows of the table in their order; InputError with all its faults.

    >>> [row.rule for row in precedence() if row.stage == 30]
    ['plan.return', 'plan.started']
    """
    return read_rows(table_rows("precedence.tsv", folder="rules"))


def read_rows(rows: list[list[str]]) -> tuple[Row, ...]:
    """Return the rows of a table from its cells; InputError with all their faults."""
    check_rows("rules/precedence.tsv", rows, 3, _fault)
    return tuple(_row(cells) for cells in rows)


def _row(cells: list[str]) -> Row:
    stage, rule, question, level, effect, when, then, following, *more = cells
    *profiles, weighed, p, _ = more
    return Row(
        int(stage),
        rule,
        question,
        level,
        effect,
        when,
        then,
        0 if following == "-" else int(following),
        tuple(name for name, cell in zip(PROFILES, profiles, strict=True) if cell == "yes"),
        weighed == "yes",
        float("nan") if p == "-" else float(p),
    )


def _fault(cells: list[str]) -> str | None:
    if len(cells) != 10 + len(PROFILES) + 1:
        return f"need {10 + len(PROFILES) + 1} cells"
    for (name, allowed), cell in zip(_ALLOWED.items(), cells[3:7], strict=True):
        if cell not in allowed:
            return f"{name}: allowed are {', '.join(allowed)}"
    if not cells[0].isdecimal() or not (cells[7] == "-" or cells[7].isdecimal()):
        return "stage and next: need a whole number"
    if any(cell not in ("yes", "-") for cell in cells[8:-2]):
        return "vote to weighed: need yes or -"
    try:
        if cells[-2] != "-" and not 0 <= float(cells[-2]) <= 1:
            return "p: need a number from 0 to 1, or -"
    except ValueError:
        return "p: need a number from 0 to 1, or -"
    if cells[1] not in reason_table():
        return f"{cells[1]} has no words in reasons.tsv"
    return None


@lru_cache(maxsize=256)
def stages(profile: str, questions: frozenset[str] | None = None) -> tuple[Stage, ...]:
    """Return the stages of a profile in their order; only those with some questions, where given.

    >>> [stage.number for stage in stages("phrases")]
    [93, 94, 95]
    """
    own = [
        row
        for row in precedence()
        if profile in row.profiles and (questions is None or row.question in questions)
    ]
    found = []
    for number in sorted({row.stage for row in own}):
        rows = [row for row in own if row.stage == number]
        found.append(
            Stage(
                number,
                tuple(dict.fromkeys(row.question for row in rows)),
                tuple(dict.fromkeys(row.when for row in rows)),
                tuple(row for row in rows if row.level != "noted"),
                {row.rule: row for row in rows if row.level == "noted"},
                frozenset(row.rule for row in rows if row.level == "each"),
            )
        )
    return tuple(found)


@cache
def rule_names() -> tuple[str, ...]:
    """Return the names of all rules.

    >>> "side.other" in rule_names(), "test.ordered" in rule_names()
    (True, True)
    """
    return tuple(sorted({row.rule for row in precedence()}))


@cache
def weighed_questions() -> tuple[str, ...]:
    """Return the questions about stretches that the lexicon weighs, in their order."""
    asked = (row.question for row in precedence() if row.weighed)
    return tuple(dict.fromkeys(one for one in asked if one != MATCHER_ASKS))

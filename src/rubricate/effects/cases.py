"""Cases of rules: a feature, a note, what a rule says of it; one table per rule in ``cases``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rubricate.corpus import Corpus, Note
from rubricate.errors import Fault, InputError
from rubricate.files import PACKAGE
from rubricate.knowledge.checking import LINE_END
from rubricate.matchers.lexicon.matcher import LexiconMatcher, votes_from_rubric
from rubricate.matchers.literal import claim_mentions
from rubricate.rubric import Feature, Rubric
from rubricate.rules.claims import OF_WORDS, Item, every_claim, first_of_words
from rubricate.rules.findings import Against, Candidate, Claim, Spans
from rubricate.rules.precedence import precedence, rule_names
from rubricate.rules.registry import explain_contradiction

CASES = PACKAGE / "rules" / "cases"
COLUMNS = ("feature", "note", "verdict", "said", "known", "why")
#: The table of whole lines, which are decided by the lexicon from the rubric alone.
LINES = "lines"
#: Rules that the lexicon alone asks; their cases are whole lines too.
OF_LEXICON = ("identity.other", "value.any_number", "word.opposite")
#: Decisions about the whole note that every reader makes last; the lexicon's reading shows them.
OF_READERS = ("literal.disputed", "literal.own", "test.not_done")
#: What is said of words that a network takes for a contradiction.
OF_NETWORKS = ("words.quoted", "words.otherwise", "number.same", "asked.answered")
#: The table of words that no rule may touch.
SILENT = "silent"
#: What may be said of a whole line; "not credited" is contradicted or not mentioned.
OUTCOMES = ("stated", "contradicted", "not mentioned", "not credited")
#: What a rule may say.
EFFECTS = ("states", "contradicts", "irrelevant", "doubts", "silent")
_MARKED = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)


class Case(NamedTuple):
    """A feature, a note and what must be decided.

    In ``note`` the words that a matcher found stand in double brackets; where none do, a rule is
    asked about the whole note. ``said`` is what the words say instead. ``known`` is what the
    program says today where that is wrong.
    """

    rule: str
    feature: str
    note: str
    verdict: str
    said: str
    known: str
    why: str
    line: int

    @property
    def path(self) -> Path:
        """The table of the case."""
        return CASES / f"{self.rule}.tsv"


def case_names() -> list[str]:
    """Return the names of the tables of cases: those of the rules, lines and silent words.

    >>> {"side.other", "lines", "silent"} <= set(case_names())
    True
    """
    return sorted(path.stem for path in CASES.glob("*.tsv"))


def read_cases(name: str, folder: Path = CASES) -> list[Case]:
    """Return the cases of a table; InputError with all its faults."""
    path = folder / f"{name}.tsv"
    head, *lines = path.read_text(encoding="utf-8").split("\n")
    if head.split("\t") != list(COLUMNS):
        raise InputError([Fault(f"need the columns {', '.join(COLUMNS)}", path, 1)])
    allowed = OUTCOMES if name in (LINES, *OF_LEXICON, *OF_READERS) else EFFECTS
    faults: list[Fault] = []
    cases: list[Case] = []
    first: dict[tuple[str, str], int] = {}
    if name not in (*rule_names(), LINES, SILENT):
        faults.append(Fault(f"{name} is no rule", path))
    for number, line in enumerate(lines, start=2):
        if not line or line.startswith("#"):
            continue
        cells = line.split("\t")
        if len(cells) > len(COLUMNS) or not all(cells[:3]) or len(cells) < 3:
            faults.append(Fault("need feature, note and verdict", path, number))
            continue
        feature, note, verdict, said, known, why = [*cells, "", "", ""][: len(COLUMNS)]
        if verdict not in allowed or known not in ("", *allowed):
            faults.append(Fault(f"verdicts: allowed are {', '.join(allowed)}", path, number))
        if first.setdefault((feature, note), number) != number:
            faults.append(Fault(f"stands in line {first[feature, note]} already", path, number))
        cases.append(Case(name, feature, note, verdict, said, known, why, number))
    InputError.raise_any(faults)
    return cases


class Judged(NamedTuple):
    """A case, and what the program says of it."""

    case: Case
    rule: str
    verdict: str
    said: str

    @property
    def is_right(self) -> bool:
        """True if the program gives the expected answer, or the one that is known to be wrong."""
        case = self.case
        if case.known:
            return self.verdict == case.known
        if case.verdict == "not credited":
            return self.verdict != "stated"
        fits = self.verdict == case.verdict and (not case.said or self.said == case.said)
        return fits and (self.verdict in ("silent", *OUTCOMES) or self.rule == case.rule)

    @property
    def fault(self) -> Fault:
        """The fault and the place of the case. The note is named by its line only."""
        case = self.case
        wanted = case.known or f"{case.verdict} {case.said}".strip()
        found = f"{self.verdict} {self.said}".strip()
        by = f" by {self.rule}" if self.rule else ""
        return Fault(f"{case.feature!r}: must be {wanted}, is {found}{by}", case.path, case.line)


def judge_cases(cases: Sequence[Case]) -> Iterator[Judged]:
    """Yield what the program says of each case.

    >>> case = Case("side.other", "Right knee", "[[Left knee]].", "contradicts", "", "", "", 1)
    >>> [(one.rule, one.said) for one in judge_cases([case])]
    [('side.other', 'left')]
    """
    by_feature: dict[str, list[Case]] = {}
    for case in cases:
        if case.rule in (LINES, *OF_LEXICON, *OF_READERS):
            by_feature.setdefault(case.feature, []).append(case)
        else:
            yield _judge(case)
    for text, own in by_feature.items():
        rubric = Rubric("c", (Feature("1", "c", text),))
        notes = [case.note.replace(LINE_END, "\n") for case in own]
        if own[0].rule in OF_READERS:
            reader = LexiconMatcher().fit(Corpus((), ()))
            read = reader.read(rubric, [Note(str(i), "c", text) for i, text in enumerate(notes)])
            outcomes = [
                "stated" if x.found else "contradicted" if x.contradictions else "not mentioned"
                for x in read
            ]
        else:
            outcomes = [one["1"].outcome for one in votes_from_rubric(rubric, notes)]
        for case, outcome in zip(own, outcomes, strict=True):
            yield Judged(case, "", outcome, "")


def _judge(case: Case) -> Judged:
    """Ask the rules about the words between brackets, or about the whole note."""
    text, spans = _without_brackets(case.note.replace(LINE_END, "\n"))
    # Crumbs are told from the other words found; elsewhere all words make one candidate.
    parts = [(one,) for one in spans] if case.rule == "words.crumbs" else [tuple(spans)]
    own = [Candidate(part, 0.9, ()) for part in parts if part]
    item = Item.of(case.feature, text, claim_mentions)
    if case.rule in OF_NETWORKS:
        claims = _claims_against(item, own[0].spans)
    elif case.rule == SILENT:
        found = every_claim(item, own, None)
        claims = [one for one in found if not one.rule.startswith("literal.")]
    elif all(row.question in OF_WORDS for row in precedence() if row.rule == case.rule):
        # Of the rules about words the first that says something is the one that counts.
        claims = [claim for one in own for claim in _of_words(item, one)][:1]
    else:
        claims = list(every_claim(item, own, None))
    claim = next((one for one in claims if case.rule in (SILENT, one.rule)), None)
    if claim is None:
        return Judged(case, "", "silent", "")
    return Judged(case, claim.rule, claim.effect, claim.said)


def _of_words(item: Item, own: Candidate) -> Iterator[Claim]:
    for question in OF_WORDS:
        yield from first_of_words(item, own, (question,))
    yield from item.ask(["earlier time"], [own], None)


def _claims_against(item: Item, spans: Spans) -> list[Claim]:
    """Return the claims about words that a network takes for a contradiction."""
    claims = list(every_claim(item, [], Against(spans, 0.9, ())))
    why = explain_contradiction(item.asked, item.reading, spans)
    if why is not None:
        claims.append(Claim(why.code, "contradicts", spans, why.said))
    return claims


def _without_brackets(marked: str) -> tuple[str, list[tuple[int, int]]]:
    text, spans, last = "", list[tuple[int, int]](), 0
    for match in _MARKED.finditer(marked):
        text += marked[last : match.start()]
        spans.append((len(text), len(text) + len(match[1])))
        text += match[1]
        last = match.end()
    return text + marked[last:], spans

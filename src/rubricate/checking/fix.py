"""The rules by name: checking every row by each, and repairing what is safe until none is left."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from rubricate.builder import RowsBuilder
from rubricate.checking.ends import (
    find_cut_word,
    find_end_punctuation,
    find_extra_characters,
    find_leading_article,
    find_leading_reference,
    find_white_space,
)
from rubricate.checking.findings import (
    CheckResult,
    CheckRule,
    Finding,
    JudgedRow,
    LoggedRepair,
    RawSpans,
    judged_rows,
)
from rubricate.checking.placement import (
    find_foreign_feature,
    find_marked_again,
    find_negation_left_out,
    find_no_words,
    find_out_of_range,
    find_overlapping_fragments,
    find_repeated,
    find_text_mismatch,
)
from rubricate.corpus import Corpus
from rubricate.errors import UnknownNameError
from rubricate.progress import Progress, silent, watched
from rubricate.rows import PlainAnnotation, Rows

_ALL = (
    CheckRule("out-of-range", "offsets that are not inside the note", find_out_of_range),
    CheckRule("text-mismatch", "stated text that is not at its location", find_text_mismatch),
    CheckRule("no-words", "no span, or only white space and punctuation", find_no_words),
    CheckRule("foreign-feature", "a feature of another case", find_foreign_feature),
    CheckRule(
        "overlapping-fragments", "fragments that overlap or touch", find_overlapping_fragments
    ),
    CheckRule("white-space", "white space at an end", find_white_space),
    CheckRule("end-punctuation", "punctuation at the end", find_end_punctuation),
    CheckRule("extra-characters", "stray characters at an end", find_extra_characters),
    CheckRule("cut-word", "a word cut off at an end", find_cut_word),
    CheckRule("leading-article", "an article at the beginning", find_leading_article),
    CheckRule("leading-reference", "the patient named at the beginning", find_leading_reference),
    CheckRule(
        "negation-left-out", "an item of a negated list, not its negation", find_negation_left_out
    ),
    CheckRule("repeated", "the same annotation twice", find_repeated),
    CheckRule("marked-again", "age or gender marked more than once", find_marked_again),
)

#: Name → rule. The order matters to `fix_corpus`: first where the words are, then how they end,
#: then which annotations are too many.
RULES: Mapping[str, CheckRule] = MappingProxyType({rule.name: rule for rule in _ALL})


def choose_rules(
    names: Collection[str] | None = None, *, skip: Collection[str] = ()
) -> tuple[CheckRule, ...]:
    """Return the rules with these names (all if None) but those to skip, in order.

    >>> [rule.name for rule in choose_rules(["repeated", "white-space"])]
    ['white-space', 'repeated']
    """
    for name in (*(names or ()), *skip):
        if name not in RULES:
            raise UnknownNameError("rule", name, list(RULES))
    return tuple(
        rule
        for name, rule in RULES.items()
        if (names is None or name in names) and name not in skip
    )


def check_corpus(
    corpus: Corpus, *, rules: Collection[str] | None = None, progress: Progress = silent
) -> CheckResult:
    """Find the faults of a corpus's annotations.

    >>> from rubricate import CorpusBuilder, Feature, Note
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n1", "c", "She has hot flashes."))
    >>> builder.add_feature(Feature("f1", "c", "Hot flashes"))
    >>> builder.annotate("ann", "n1", "f1", [(9, 20)])
    >>> result = check_corpus(builder.build())
    >>> [(finding.rule, finding.repair.spans) for finding in result]
    [('end-punctuation', ((9, 19),)), ('cut-word', ((8, 20),))]
    """
    chosen = choose_rules(rules)
    findings: list[Finding] = []
    for row in watched(judged_rows(corpus), progress, "checking", len(corpus.rows)):
        findings.extend(check_row(row, chosen))
    return CheckResult(
        findings=tuple(findings),
        rules=tuple(rule.name for rule in chosen),
        n_rows=len(corpus.rows),
        n_annotations=corpus.rows.n_annotations,
    )


def check_row(row: JudgedRow, rules: Sequence[CheckRule]) -> Iterator[Finding]:
    """Yield what the rules find in one row."""
    for rule in rules:
        for found in rule.find(row):
            i = found.annotation
            yield Finding(
                rule=rule.name,
                note_id=row.note.id,
                case=row.note.case,
                annotator_id=row.annotator.id,
                feature_id=row.feature.id,
                annotation=i,
                spans=() if i is None else row.annotations[i].spans,
                message=found.message,
                repair=found.repair,
            )


#: No row needs more repairs than this; a rule that finds fault with its own repairs must end, too.
MOST_REPAIRS = 10_000

_Key = tuple[str, str, str]


def fix_corpus(
    corpus: Corpus, findings: CheckResult | Iterable[Finding], *, progress: Progress = silent
) -> tuple[Corpus, tuple[LoggedRepair, ...]]:
    """Apply all safe repairs and return the repaired corpus with a log of every change.

    A repair may bring another fault to light (a stray space goes, and punctuation is at the
    end), so each repaired row is checked again, by the same rules, until nothing is left to
    repair. The corpus given is not touched.

    >>> from rubricate import CorpusBuilder, Feature, Note
    >>> from rubricate.checking import check_corpus
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n1", "c", "She has hot flashes."))
    >>> builder.add_feature(Feature("f1", "c", "Hot flashes"))
    >>> builder.annotate("ann", "n1", "f1", [(9, 20)])
    >>> corpus = builder.build()
    >>> fixed, log = fix_corpus(corpus, check_corpus(corpus))
    >>> [(change.rule, change.new_spans) for change in log]
    [('end-punctuation', ((9, 19),)), ('cut-word', ((8, 19),))]
    >>> len(check_corpus(fixed))
    0
    """
    given = tuple(findings)
    names = findings.rules if isinstance(findings, CheckResult) else {f.rule for f in given}
    sheets = _Sheets(corpus, choose_rules(names))
    sheets.take(given)
    if not sheets.waiting:
        return corpus, ()
    log = sheets.repair(progress)
    return replace(corpus, rows=sheets.rows()), tuple(log)


@dataclass
class _Sheets:
    """The rows under repair, by note, annotator and feature.

    ``waiting`` are the rows still to repair. ``declined`` holds what is to be left as it is:
    rule and spans, by row.
    """

    corpus: Corpus
    rules: tuple[CheckRule, ...]
    under_repair: dict[_Key, JudgedRow] = field(default_factory=dict)
    waiting: list[_Key] = field(default_factory=list)
    declined: dict[_Key, set[tuple[str, RawSpans]]] = field(default_factory=dict)
    emptied: set[_Key] = field(default_factory=set)

    def take(self, given: tuple[Finding, ...]) -> None:
        """Take the rows with a safe repair, and the rows that will be given an annotation."""
        wanted: set[_Key] = set()
        receivers: set[_Key] = set()
        for finding in given:
            if finding.repair is not None and finding.repair.safe:
                wanted.add((finding.note_id, finding.annotator_id, finding.feature_id))
                if finding.repair.action == "move":
                    target = finding.repair.feature_id
                    receivers.add((finding.note_id, finding.annotator_id, target))
        numbers = [self._number(key) for key in wanted | receivers]
        known = set(given)
        for row in judged_rows(self.corpus, sorted(n for n in numbers if n is not None)):
            key = (row.note.id, row.annotator.id, row.feature.id)
            self.under_repair[key] = row
            if key in wanted:
                self.waiting.append(key)
            found = check_row(row, self.rules)
            self.declined[key] = {(f.rule, f.spans) for f in found if f not in known}

    def _number(self, key: _Key) -> int | None:
        return self.corpus.row(key[0], key[2], key[1])

    def repair(self, progress: Progress) -> list[LoggedRepair]:
        """Repair row after row; rows that are given an annotation are repaired again."""
        log: list[LoggedRepair] = []
        # The list grows during the loop.
        for n_done, key in enumerate(self.waiting):
            progress(n_done, len(self.waiting), "repairing")
            for _ in range(MOST_REPAIRS):
                finding = self._next(key)
                if finding is None:
                    break
                changed = self._apply(key, finding)
                log.append(changed)
                if changed.new_feature_id not in (None, key[2]):
                    self.waiting.append((key[0], key[1], str(changed.new_feature_id)))
        progress(len(self.waiting), len(self.waiting), "repairing")
        return log

    def _next(self, key: _Key) -> Finding | None:
        row = self.under_repair.get(key)
        if row is None or key in self.emptied:
            return None
        declined = self.declined.get(key, set())
        for finding in check_row(row, self.rules):
            if finding.is_repairable and (finding.rule, finding.spans) not in declined:
                return finding
        return None

    def _apply(self, key: _Key, finding: Finding) -> LoggedRepair:
        row, repair, i = self.under_repair[key], finding.repair, finding.annotation
        if repair is None or i is None:
            raise ValueError(f"rule {finding.rule}: a safe repair must be about an annotation")
        marked = list(row.annotations)
        old = marked.pop(i)
        new_spans: RawSpans = ()
        new_feature: str | None = None
        if repair.action == "respan":
            new_spans, new_feature = repair.spans, row.feature.id
            left = self.declined.setdefault(key, set())
            left |= {(rule, new_spans) for rule, spans in left if spans == old.spans}
            detail = old.detail._replace(stated_text=None)
            marked.append(PlainAnnotation(new_spans, old.confidence, detail))
        elif repair.action == "move":
            new_spans, new_feature = old.spans, repair.feature_id
            self._receive((key[0], key[1], new_feature), row, old)
            if not marked:
                self.emptied.add(key)
        self.under_repair[key] = replace(row, annotations=_ordered(marked))
        return LoggedRepair(finding.rule, *key, old.spans, new_spans, new_feature)

    def _receive(self, key: _Key, sender: JudgedRow, marked: PlainAnnotation) -> None:
        """Give an annotation to a row, which is made if nobody judged it yet."""
        row = self.under_repair.get(key)
        if row is None:
            row = replace(sender, feature=self.corpus.feature(key[2]), annotations=())
        self.under_repair[key] = replace(row, annotations=_ordered([*row.annotations, marked]))

    def rows(self) -> Rows:
        """Return all rows, the repaired ones among them."""
        corpus = self.corpus
        keep = np.ones(len(corpus.rows), dtype=bool)
        builder = RowsBuilder()
        for key, row in self.under_repair.items():
            number = self._number(key)
            probability = None
            if number is not None:
                keep[number] = False
                if corpus.rows.probability is not None:
                    probability = float(corpus.rows.probability[number])
            if key in self.emptied:
                continue
            place = (
                corpus.note_index[key[0]],
                corpus.annotator_index[key[1]],
                corpus.feature_index[key[2]],
            )
            builder.judge(*place, probability=probability)
            said = None if number is None else corpus.rows.contradictions.get(number)
            if said is not None:
                builder.contradict(*place, said)
            for spans, confidence, detail in row.annotations:
                builder.annotate(*place, spans, confidence=confidence, detail=detail)
        return Rows.concatenate([corpus.rows.take(keep), builder.build()])


def _ordered(marked: Iterable[PlainAnnotation]) -> tuple[PlainAnnotation, ...]:
    """Return annotations in the canonical order of rows."""

    def canonical(one: PlainAnnotation) -> tuple[object, ...]:
        detail = one.detail
        return one.spans, detail[:3], detail.stated_text or ""

    return tuple(
        sorted((one._replace(spans=tuple(sorted(one.spans))) for one in marked), key=canonical)
    )

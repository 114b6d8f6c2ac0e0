"""Repairing a corpus: safe repairs, one after the other, until none is left."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from rubricate.builder import RowsBuilder
from rubricate.checking.check import check_row, choose_rules
from rubricate.checking.findings import (
    CheckResult,
    CheckRule,
    Finding,
    JudgedRow,
    LoggedRepair,
    Marked,
    RawSpans,
    judged_rows,
)
from rubricate.corpus import Corpus
from rubricate.progress import Progress, silent
from rubricate.rows import Rows

#: No row needs more repairs than this; a rule that finds fault with its own repairs must end, too.
MOST_REPAIRS = 10_000

_Key = tuple[str, str, str]


def fix_corpus(
    corpus: Corpus,
    findings: CheckResult | Iterable[Finding],
    *,
    progress: Progress = silent,
) -> tuple[Corpus, tuple[LoggedRepair, ...]]:
    """Apply all safe repairs and return the repaired corpus with a log of every change.

    A repair may bring another fault to light (a stray space goes, and punctuation is at the
    end), so each repaired row is checked again, by the same rules, until nothing is left to
    repair. The corpus given is not touched.

    Examples
    --------
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
            marked.append(Marked(new_spans, old.confidence, old.detail._replace(stated_text=None)))
        elif repair.action == "move":
            new_spans, new_feature = old.spans, repair.feature_id
            self._receive((key[0], key[1], new_feature), row, old)
            if not marked:
                self.emptied.add(key)
        self.under_repair[key] = replace(row, annotations=_ordered(marked))
        return LoggedRepair(finding.rule, *key, old.spans, new_spans, new_feature)

    def _receive(self, key: _Key, sender: JudgedRow, marked: Marked) -> None:
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
                known = None if math.isnan(confidence) else confidence
                builder.annotate(*place, spans, confidence=known, detail=detail)
        return Rows.concatenate([corpus.rows.take(keep), builder.build()])


def _ordered(marked: Iterable[Marked]) -> tuple[Marked, ...]:
    """Return annotations in the canonical order of rows."""

    def canonical(one: Marked) -> tuple[object, ...]:
        detail = one.detail
        return one.spans, detail[:3], detail.stated_text or ""

    return tuple(
        sorted((one._replace(spans=tuple(sorted(one.spans))) for one in marked), key=canonical)
    )

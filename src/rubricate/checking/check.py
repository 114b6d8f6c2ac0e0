"""Checking a corpus: every rule on every row."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from rubricate.checking.findings import CheckResult, Finding
from rubricate.checking.judged import JudgedRow, Rule, judged_rows
from rubricate.checking.rules import choose_rules
from rubricate.corpus import Corpus


def check_corpus(
    corpus: Corpus,
    *,
    rules: Collection[str] | None = None,
    watch: Callable[[Iterable[JudgedRow]], Iterable[JudgedRow]] = iter,
) -> CheckResult:
    """Find the faults of a corpus's annotations.

    Parameters
    ----------
    corpus : Corpus
        Read it with ``strict=False`` to have wrong offsets found here rather than refused.
    rules : collection of str, optional
        Names from `RULES`; all of them when not given.
    watch : callable
        Given the rows, yields them again: for progress bars.

    Returns
    -------
    CheckResult
        Findings with the repairs they propose, and counts by rule and case.

    Raises
    ------
    UnknownNameError
        If there is no rule of such a name.

    Examples
    --------
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
    for row in watch(judged_rows(corpus)):
        findings.extend(check_row(row, chosen))
    return CheckResult(
        findings=tuple(findings),
        rules=tuple(rule.name for rule in chosen),
        n_rows=len(corpus.rows),
        n_annotations=corpus.rows.n_annotations,
    )


def check_row(row: JudgedRow, rules: Sequence[Rule]) -> Iterator[Finding]:
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

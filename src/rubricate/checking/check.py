"""The rules by name, and checking a corpus: every rule on every row."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from rubricate.checking.ends import (
    find_cut_word,
    find_end_punctuation,
    find_extra_characters,
    find_leading_article,
    find_leading_reference,
    find_white_space,
)
from rubricate.checking.findings import CheckResult, CheckRule, Finding, JudgedRow, judged_rows
from rubricate.checking.negation import find_negation_left_out
from rubricate.checking.placement import (
    find_foreign_feature,
    find_marked_again,
    find_no_words,
    find_out_of_range,
    find_overlapping_fragments,
    find_repeated,
    find_text_mismatch,
)
from rubricate.corpus import Corpus
from rubricate.errors import UnknownNameError
from rubricate.progress import Progress, silent, watched

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

    Examples
    --------
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
    corpus: Corpus,
    *,
    rules: Collection[str] | None = None,
    progress: Progress = silent,
) -> CheckResult:
    """Find the faults of a corpus's annotations.

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

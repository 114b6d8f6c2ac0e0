"""All rules by name, in the order in which they are applied."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from rubricate.checking.assignment import (
    find_foreign_feature,
    find_marked_again,
    find_repeated,
)
from rubricate.checking.cuts import find_cut_word, find_extra_characters
from rubricate.checking.judged import Rule
from rubricate.checking.negation import find_negation_left_out
from rubricate.checking.openings import find_leading_article, find_leading_reference
from rubricate.checking.placement import (
    find_no_words,
    find_out_of_range,
    find_overlapping_fragments,
    find_text_mismatch,
)
from rubricate.checking.punctuation import find_end_punctuation, find_white_space
from rubricate.errors import UnknownNameError

_ALL = (
    Rule("out-of-range", "offsets that are not inside the note", find_out_of_range),
    Rule("text-mismatch", "stated text that is not at its location", find_text_mismatch),
    Rule("no-words", "no span, or only white space and punctuation", find_no_words, False),
    Rule("foreign-feature", "a feature of another case", find_foreign_feature),
    Rule("overlapping-fragments", "fragments that overlap or touch", find_overlapping_fragments),
    Rule("white-space", "white space at an end", find_white_space),
    Rule("end-punctuation", "punctuation at the end", find_end_punctuation),
    Rule("extra-characters", "stray characters at an end", find_extra_characters),
    Rule("cut-word", "a word cut off at an end", find_cut_word),
    Rule("leading-article", "an article at the beginning", find_leading_article),
    Rule("leading-reference", "the patient named at the beginning", find_leading_reference),
    Rule(
        "negation-left-out", "an item of a negated list, not its negation", find_negation_left_out
    ),
    Rule("repeated", "the same annotation twice", find_repeated),
    Rule("marked-again", "age or gender marked more than once", find_marked_again),
)

#: Name → rule. The order matters to `fix_corpus`: first where the words are, then how they end,
#: then which annotations are too many.
RULES: Mapping[str, Rule] = MappingProxyType({rule.name: rule for rule in _ALL})


def choose_rules(
    names: Collection[str] | None = None, *, skip: Collection[str] = ()
) -> tuple[Rule, ...]:
    """Return the rules with these names (all if None) but those to skip, in order.

    Raises
    ------
    UnknownNameError
        If there is no rule of such a name.

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

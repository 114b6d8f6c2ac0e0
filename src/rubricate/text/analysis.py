"""All that is read from one text, computed once and passed on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rubricate.spans import Span
from rubricate.text.negation import NegationScope, find_negations
from rubricate.text.quantities import Quantity, find_quantities
from rubricate.text.sections import Section, find_sections
from rubricate.text.subject import Context, find_contexts
from rubricate.text.words import Token, find_tokens


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a text says beside its words.

    Parameters
    ----------
    text : str
        The text.
    tokens : tuple of Token
        Its words, numbers and marks.
    sections : tuple of Section
        Headings and the text under them.
    quantities : tuple of Quantity
        Ages, durations and other numbers.
    negations : tuple of NegationScope
        What it denies.
    contexts : tuple of Context
        What is a relative's, past, possible or feared.
    """

    text: str
    tokens: tuple[Token, ...]
    sections: tuple[Section, ...]
    quantities: tuple[Quantity, ...]
    negations: tuple[NegationScope, ...]
    contexts: tuple[Context, ...]

    def negation_of(self, span: Span) -> NegationScope | None:
        """Return the negation whose scope holds the whole span, if any.

        Examples
        --------
        >>> analysis = analyse("denies fever, chills")
        >>> analysis.negation_of(Span(14, 20)).cue_span
        Span(start=0, end=6)
        """
        return next((n for n in self.negations if _holds(n.scope_span, span)), None)

    def contexts_of(self, span: Span) -> list[Context]:
        """Return the contexts whose scope holds the whole span.

        Examples
        --------
        >>> [context.kind for context in analyse("FHx: MI").contexts_of(Span(5, 7))]
        ['family']
        """
        return [context for context in self.contexts if _holds(context.scope_span, span)]

    def section_of(self, span: Span) -> Section | None:
        """Return the section whose body holds the whole span, if any.

        Examples
        --------
        >>> analyse("PMH: HTN").section_of(Span(5, 8)).name
        'past_medical'
        """
        return next((s for s in self.sections if s.body is not None and _holds(s.body, span)), None)


def _holds(scope: Span, span: Span) -> bool:
    return scope.start <= span.start and span.end <= scope.end


def analyse(text: str, tokens: Sequence[Token] | None = None) -> Analysis:
    """Read tokens, sections, quantities, negations and contexts from a text.

    Examples
    --------
    >>> analysis = analyse("58 yo M, denies CP. FHx: MI")
    >>> len(analysis.quantities), len(analysis.negations), len(analysis.contexts)
    (1, 1, 1)
    """
    if tokens is None:
        tokens = find_tokens(text)
    sections = find_sections(text, tokens)
    return Analysis(
        text,
        tuple(tokens),
        tuple(sections),
        tuple(find_quantities(text, tokens)),
        tuple(find_negations(text, tokens)),
        tuple(find_contexts(text, tokens, sections)),
    )

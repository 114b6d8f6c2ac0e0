"""Tables of cue phrases, and their lookup in tokens by the first word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rubricate.text.words import Token, find_tokens


class CueTable:
    """Phrases with a label each, found as whole words and the longest first.

    Examples
    --------
    >>> table = CueTable({"no": "a", "no evidence of": "b"})
    >>> table.at(find_tokens("No evidence of PE"), 0)
    ('b', 3)
    """

    def __init__(self, phrases: Mapping[str, str]) -> None:
        by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for phrase, label in phrases.items():
            forms = tuple(token.form for token in find_tokens(phrase))
            by_first.setdefault(forms[0], []).append((forms[1:], label))
        for rests in by_first.values():
            rests.sort(key=lambda rest: -len(rest[0]))
        self._by_first = by_first

    def __contains__(self, form: str) -> bool:
        return form in self._by_first

    def at(self, tokens: Sequence[Token], i: int) -> tuple[str, int] | None:
        """Return the label of the longest phrase that begins at token ``i``, and its end."""
        for rest, label in self._by_first.get(tokens[i].form, ()):
            end = i + 1 + len(rest)
            if all(
                k < len(tokens) and tokens[k].form == form
                for k, form in enumerate(rest, start=i + 1)
            ):
                return label, end
        return None


def labelled(**phrases: str) -> dict[str, str]:
    """Return phrase to label from texts of phrases separated by ``|``, one text a label.

    Examples
    --------
    >>> labelled(listing="no|denies")
    {'no': 'listing', 'denies': 'listing'}
    """
    return {phrase.strip(): label for label, text in phrases.items() for phrase in text.split("|")}

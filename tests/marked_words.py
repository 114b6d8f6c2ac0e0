"""Texts of tests in which words are marked with double brackets."""

from __future__ import annotations

from rubricate.rules.reasons import Reason, in_words


def read(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a text without its brackets, and the words between them."""
    text, spans = "", []
    for i, part in enumerate(marked.replace("]]", "[[").split("[[")):
        if i % 2:
            spans.append((len(text), len(text) + len(part)))
        text += part
    return text, spans


def told(reason: Reason | None) -> str | None:
    """Return a reason as people read it."""
    return None if reason is None else in_words(reason)

from __future__ import annotations

import random

import pytest

from rubricate import Annotation, Corpus, Feature, Note, Rubric, load_corpus
from rubricate.lexicon.store import load_default_lexicon
from rubricate.matchers import fit_matcher
from rubricate.matchers.gaming import credit_of, flag_corpus, flag_note, measure_note


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus("open-notes").select(annotators=["reference"])


def flags_with_lexicon(text: str, rubric: Rubric) -> dict[str, tuple[float, float]]:
    """Return kind to (credit, maximum) for what the lexicon matcher finds without any notes."""
    planted = Corpus((Note("x", rubric.case, text),), (rubric,))
    found = fit_matcher("lexicon", Corpus((), (rubric,))).predict(planted)
    flags = flag_corpus(found).get("x", [])
    return {flag.kind: (flag.credit, flag.maximum) for flag in flags}


@pytest.mark.parametrize("case", ["0", "5", "40"])
@pytest.mark.parametrize("joint", ["\n", ". ", ", "])
def test_a_pasted_rubric_gets_its_credit_and_is_flagged(
    corpus: Corpus, case: str, joint: str
) -> None:
    rubric = corpus.rubric(case)
    flags = flags_with_lexicon(joint.join(f.text for f in rubric), rubric)
    credit, maximum = flags["pasted rubric"]
    assert maximum == len(rubric)
    # The words are there, so the rules give most of the credit; the flag is for a person.
    assert credit >= 0.6 * maximum


def test_unrelated_text_gets_next_to_nothing_and_is_flagged(corpus: Corpus) -> None:
    text = (
        "The council met on Tuesday to settle the budget for the new library. Members argued "
        "about the roof, the opening hours and the colour of the chairs, and went home early."
    )
    flags = flags_with_lexicon(text, corpus.rubric("0"))
    credit, maximum = flags["unrelated text"]
    assert credit <= 0.15 * maximum


@pytest.mark.parametrize("n", [60, 150, 1000])
def test_every_symptom_in_the_book_is_flagged(corpus: Corpus, n: int) -> None:
    book = [group.phrases[0].text for group in load_default_lexicon().groups]
    text = ", ".join(random.Random(n).sample(book, n))
    assert "list without a story" in flags_with_lexicon(text, corpus.rubric("0"))


def test_stuffing_with_one_word_is_flagged(corpus: Corpus) -> None:
    text = "Chest tightness. " + "chest tightness " * 20
    assert "repeated words" in flags_with_lexicon(text, corpus.rubric("0"))


def test_few_honest_notes_are_flagged(corpus: Corpus) -> None:
    some = corpus.select(notes=[note.id for note in corpus.notes][::7])
    assert len(flag_corpus(some)) <= 0.01 * len(some.notes)


def test_a_group_counts_once() -> None:
    rubric = Rubric(
        "c",
        (Feature("1", "c", "a", group="g"), Feature("2", "c", "b", weight=2, group="g")),
    )
    assert credit_of(rubric, [Annotation("1", ()), Annotation("2", ())]) == (2.0, 2.0)
    assert credit_of(rubric, [Annotation("1", ())]) == (1.0, 2.0)


def test_messages_hold_no_note_text(corpus: Corpus) -> None:
    rubric = corpus.rubric("0")
    note = Note("x", "0", ". ".join(f.text for f in rubric) + ". Zebrafish")
    for flag in flag_note(note, rubric):
        assert "zebrafish" not in flag.message.lower()


def test_empty_notes_and_rubrics() -> None:
    nothing = Rubric("c", ())
    assert flag_note(Note("x", "c", ""), nothing) == []
    assert measure_note(Note("x", "c", ""), nothing).n_words == 0

"""From what was found in notes to a corpus with one annotator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Note, Rubric, load_corpus
from rubricate.matchers import fit_matcher
from rubricate.matchers.predictions import (
    Found,
    NoteFindings,
    NoteProposals,
    check_rubrics,
    decide,
    in_plain_words,
    in_rows,
    predict_corpus,
    read_notes,
    read_predicted,
    read_with,
)
from rubricate.rows import Contradiction
from rubricate.rules.findings import Against, Candidate, ItemFinding, Proposal
from rubricate.rules.reasons import Reason


@pytest.mark.parametrize(
    ("feature", "asks"),
    [
        ("Last menstrual period (LMP) asked", True),
        ("Asks about alcohol", True),
        ("Candidate enquires about travel", True),
        ("Family history obtained", True),
        ("Allergies documented", True),
        ("Patient asked", False),
        ("Asks for a scan", False),
        ("Attends because family asked", False),
        ("Fever documented", False),
        ("Aspirin taken", False),
    ],
)
def test_a_denial_answers_features_that_want_to_know_who_asked(feature: str, asks: bool) -> None:
    said = answered(feature, "nothing at all", Against(((0, 7),), None, DENIED))
    assert bool(said.evidence) is asks
    assert bool(said.against) is not asks
    assert ((said.probability or 0.0) > 0.5) is asks


DENIED = (Reason("polarity.denied"),)


def answered(
    feature: str, text: str, against: Against | None, found: tuple[Candidate, ...] = ()
) -> ItemFinding:
    """Return the decision on a feature of which words were found or taken for a contradiction."""
    rubric = Rubric("c", (Feature("1", "c", feature),))
    proposal = Proposal(found, 0.9 if found else 0.1, against)
    return decide(rubric, text, NoteProposals({"1": proposal}, "phrases"))["1"]


def test_what_was_not_asked_is_no_answer() -> None:
    against = Against(((0, 17),), 0.9, DENIED)
    said = answered("Smoking history asked", "Smoking not asked.", against)
    assert said == ItemFinding((), 0.1, against)


def test_what_was_found_as_not_asked_is_no_answer() -> None:
    own = (Candidate(((0, 17),), 0.9, ()),)
    said = answered("Smoking history asked", "Smoking not asked.", None, own)
    assert not said.evidence
    assert (said.probability or 0.0) < 0.5


def test_reasons_are_put_in_words_where_rows_are_made() -> None:
    against = Against(((0, 7),), None, (Reason("side.other", "left"),))
    own = Candidate(((0, 3),), 0.9, (Reason("network.words", "90%", "80%"),))
    items = {"1": ItemFinding((own,), 0.8, None), "2": ItemFinding((), None, against)}
    said = in_rows(items)
    assert [one.reason for one in said.found] == ["network: these words 90%, feature 80%"]
    assert said.contradictions == {"2": Contradiction(((0, 7),), None, "says left")}
    assert said.probabilities == {"1": 0.8}


def test_features_are_put_in_plain_words_unless_they_are_known() -> None:
    rubric = Rubric("c", (Feature("1", "c", "1. Fever"), Feature("2", "c", "2. Cough - 1 pt")))
    assert [one.text for one in in_plain_words(rubric, lambda one: False)] == ["Fever", "Cough"]
    assert [one.text for one in in_plain_words(rubric, lambda one: one.id == "2")] == [
        "Fever",
        "2. Cough - 1 pt",
    ]
    assert in_plain_words(rubric, lambda one: True) is rubric


def test_predictions_keep_the_rubrics_own_wording() -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", "Fever."))
    builder.add_feature(Feature("1", "c", "1. Documents fever"))
    corpus = builder.build()
    asked: list[str] = []

    def find(rubric: Rubric, notes: Sequence[Note]) -> list[NoteFindings]:
        asked.extend(feature.text for feature in rubric)
        return [NoteFindings([], {}) for _ in notes]

    predicted = predict_corpus(corpus, "m", find, lambda feature: False)
    assert asked == ["fever"]
    assert [feature.text for feature in predicted.features] == ["1. Documents fever"]
    predict_corpus(corpus, "m", find)
    assert asked[1:] == ["1. Documents fever"]


def test_a_matcher_of_another_package_is_asked_by_its_corpus() -> None:
    asked: list[list[str]] = []

    class OfAnotherPackage:
        name = "other"

        def predict(self, corpus: Corpus) -> Corpus:
            asked.append([note.id for note in corpus.notes])

            def find(rubric: Rubric, notes: Sequence[Note]) -> list[NoteFindings]:
                spans = ((0, 5),)
                return [NoteFindings([Found("1", spans, 0.5, "r")], {"1": 0.5}) for _ in notes]

            return predict_corpus(corpus, self.name, find)

    rubric = Rubric("c", (Feature("1", "c", "Fever"),))
    notes = [Note("same", "c", "Fever."), Note("same", "c", "Fever again.")]
    matcher: Any = OfAnotherPackage()
    check_rubrics(matcher, [rubric])
    found = list(read_with(matcher, rubric, notes))
    assert [[one.spans for one in said.found] for said in found] == [[((0, 5),)]] * 2
    assert [said.probabilities for said in found] == [{"1": 0.5}] * 2
    # It is told the ids that the notes have, where no two have the same.
    list(read_with(matcher, rubric, [Note("b", "c", "Fever."), Note("a", "c", "Fever.")]))
    assert asked[-1] == ["b", "a"]


def test_what_is_read_directly_is_what_a_corpus_gets() -> None:
    corpus = load_corpus("open-notes").select(cases=["30"])
    matcher = fit_matcher("lexicon", Corpus((), corpus.rubrics))
    (rubric,) = corpus.rubrics
    read = list(read_with(matcher, rubric, corpus.notes))
    predicted = list(read_predicted(matcher.predict(corpus)))
    for own, other in zip(read, predicted, strict=True):
        spans = sorted((one.feature, one.spans) for one in own.found)
        assert spans == sorted((one.feature, one.spans) for one in other.found)
        assert own.contradictions == other.contradictions


def test_what_has_no_word_is_not_put_to_a_matcher_that_has_not_learned_it() -> None:
    rubric = Rubric("c", (Feature("a", "c", "Fever"), Feature("b", "c", "-")))
    asked: list[list[str]] = []

    def find(rubric: Rubric, notes: Sequence[Note]) -> list[NoteProposals]:
        asked.append([feature.id for feature in rubric])
        items = {feature.id: Proposal(presence=0.5) for feature in rubric}
        return [NoteProposals(items, "phrases") for _ in notes]

    note = Note("n", "c", "Cough - fever")
    (said,) = read_notes(rubric, [note], find, lambda _: False)
    assert dict(said.probabilities) == {"a": 0.5, "b": 0.0}
    (said,) = read_notes(rubric, [note], find, lambda _: True)
    assert dict(said.probabilities) == {"a": 0.5, "b": 0.5}
    (said,) = read_notes(Rubric("c", rubric.features[1:]), [note], find, lambda _: False)
    assert dict(said.probabilities) == {"b": 0.0}
    assert asked == [["a"], ["a", "b"]]

import pytest

from rubricate import Corpus, CorpusBuilder, Note, load_corpus
from rubricate.summary import describe_corpus


def test_counts_of_the_embedded_corpus_are_those_of_its_datasheet() -> None:
    found = describe_corpus(load_corpus("open-notes"))
    assert (found["notes"], found["features"], len(found["cases"])) == (2040, 2083, 140)
    reference, rater = found["annotators"]
    assert (reference["rows"], reference["present"]) == (30924, 26185)
    assert (rater["notes"], rater["rows"]) == (200, 3100)


def test_an_empty_corpus_can_be_described() -> None:
    assert describe_corpus(Corpus((), ()))["notes"] == 0


def test_notes_of_a_case_without_rubric_are_counted() -> None:
    (case,) = describe_corpus(Corpus((Note("n", "c", "fever"),), ()))["cases"]
    assert (case["case"], case["notes"], case["features"]) == ("c", 1, 0)


def test_lengths_have_a_spread_and_tokens_their_types() -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("a", "c", "No fever, no cough"))
    builder.add_note(Note("b", "c", "Fever"))
    found = describe_corpus(builder.build())
    # no, fever, comma, no, cough; fever
    assert (found["tokens"], found["types"]) == (6, 4)
    assert found["type_token_ratio"] == pytest.approx(4 / 6)
    assert found["tokens_per_note"] == 3
    assert found["tokens_sd"] == pytest.approx(8**0.5)
    assert found["characters_sd"] == pytest.approx(13 / 2**0.5)

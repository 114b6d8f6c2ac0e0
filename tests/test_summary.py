from rubricate import Corpus, Note, load_corpus
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

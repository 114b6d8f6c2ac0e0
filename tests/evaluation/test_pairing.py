import numpy as np
import pytest
from hypothesis import given
from strategies import corpora

from rubricate import Corpus, CorpusBuilder, Feature, Note
from rubricate.errors import InputError, UnknownNameError
from rubricate.evaluation import Coverage, pair_rows


def corpus_of(
    marks: dict[tuple[str, str], list[tuple[int, int]]],
    *,
    annotator: str = "a",
    texts: dict[str, str] | None = None,
    features: tuple[str, ...] = ("f1", "f2"),
) -> Corpus:
    builder = CorpusBuilder()
    for note, text in (texts or {"n1": "0123456789", "n2": "abcdefghij"}).items():
        builder.add_note(Note(note, "c", text))
    for feature in features:
        builder.add_feature(Feature(feature, "c", feature))
    for (note, feature), spans in marks.items():
        builder.judge(annotator, note, feature)
        for span in spans:
            builder.annotate(annotator, note, feature, [span])
    return builder.build()


FULL = {(n, f): [(0, 3)] for n in ("n1", "n2") for f in ("f1", "f2")}


def test_rows_align_by_id_whatever_the_order() -> None:
    reference = corpus_of(FULL)
    texts = {"n2": "abcdefghij", "n1": "0123456789"}
    predicted = corpus_of(
        {("n2", "f1"): [(1, 2)], ("n1", "f2"): [(4, 6)], ("n1", "f1"): []},
        annotator="system",
        texts=texts,
        features=("f2", "f1"),
    )
    pairing = pair_rows(reference, predicted)
    assert (pairing.reference_annotator, pairing.predicted_annotator) == ("a", "system")
    for i in range(len(pairing)):
        row = int(pairing.predicted_row[i])
        mine = (
            pairing.keys.notes[pairing.keys.note[i]],
            pairing.keys.features[pairing.keys.feature[i]],
        )
        if row < 0:
            assert mine == ("n2", "f2")
            continue
        theirs = (
            predicted.notes[predicted.rows.note[row]].id,
            predicted.features[predicted.rows.feature[row]].id,
        )
        assert mine == theirs
    assert pairing.predicted_marks.start.tolist() == [4, 1]
    assert pairing.coverage.to_dict() == {
        "n_notes": 2, "n_rows": 4, "n_missing_notes": 0, "n_missing_rows": 1,
        "n_unjudged_rows": 0, "n_unknown_rows": 0,
    }  # fmt: skip


def test_missing_rows_are_empty_skipped_or_refused() -> None:
    reference, predicted = corpus_of(FULL), corpus_of({("n1", "f1"): [(0, 3)]})
    empty = pair_rows(reference, predicted)
    assert empty.predicted_row.tolist() == [0, -1, -1, -1]
    assert (empty.coverage.n_missing_rows, empty.coverage.n_missing_notes) == (3, 1)
    skipped = pair_rows(reference, predicted, missing="skip")
    assert len(skipped) == 1
    assert (skipped.coverage.n_rows, skipped.coverage.n_notes) == (1, 1)
    assert (skipped.coverage.n_missing_rows, skipped.coverage.n_missing_notes) == (3, 1)
    with pytest.raises(InputError) as caught:
        pair_rows(reference, predicted, missing="error")
    assert ["'n1'" in str(f) or "'n2'" in str(f) for f in caught.value.faults] == [True, True]


def test_predicted_rows_nobody_judged_are_left_out_and_counted() -> None:
    pairing = pair_rows(corpus_of({("n1", "f1"): []}), corpus_of(FULL))
    assert len(pairing) == 1
    assert pairing.coverage.n_unjudged_rows == 3


def test_unknown_notes_and_features_and_other_texts_are_all_reported() -> None:
    reference = corpus_of(FULL)
    predicted = corpus_of(
        {("n1", "f1"): [], ("n3", "f1"): [], ("n1", "f9"): [], ("n2", "f1"): []},
        texts={"n1": "0123456789", "n2": "secret words", "n3": "0"},
        features=("f1", "f9"),
    )
    with pytest.raises(InputError) as caught:
        pair_rows(reference, predicted)
    message = str(caught.value)
    assert len(caught.value.faults) == 3
    assert all(name in message for name in ("'n2'", "'n3'", "'f9'"))
    assert "secret" not in message
    with pytest.raises(InputError) as caught:
        pair_rows(reference, predicted, unknown="skip")
    assert len(caught.value.faults) == 1


def test_unknown_rows_can_be_skipped() -> None:
    texts = {"n1": "0123456789", "n3": "0"}
    predicted = corpus_of({("n1", "f1"): [], ("n3", "f1"): []}, texts=texts)
    pairing = pair_rows(corpus_of(FULL), predicted, unknown="skip")
    assert pairing.coverage.n_unknown_rows == 1
    assert pairing.coverage.n_missing_rows == 3


def test_rows_nobody_judged_are_told_from_rows_nobody_knows() -> None:
    """One row is judged by both, two are known but unjudged, three are unknown."""
    reference = corpus_of({("n1", "f2"): [(0, 3)]})
    predicted = corpus_of(
        {
            ("n1", "f2"): [(1, 2)],
            ("n1", "f1"): [], ("n2", "f2"): [],
            ("n3", "f1"): [], ("n1", "f9"): [], ("n3", "f9"): [],
        },
        texts={"n3": "0", "n1": "0123456789", "n2": "abcdefghij"},
        features=("f9", "f1", "f2"),
    )  # fmt: skip
    pairing = pair_rows(reference, predicted, unknown="skip")
    assert pairing.coverage.to_dict() == {
        "n_notes": 1, "n_rows": 1, "n_missing_notes": 0, "n_missing_rows": 0,
        "n_unjudged_rows": 2, "n_unknown_rows": 3,
    }  # fmt: skip
    assert pairing.predicted_marks.start.tolist() == [1]


def test_an_unknown_row_is_never_taken_for_the_first_known_one() -> None:
    """Note and feature of index 0 are the place an index of -1 could be mistaken for."""
    reference = corpus_of({("n1", "f1"): [(0, 3)], ("n2", "f2"): []})
    predicted = corpus_of(
        {("n3", "f1"): [(0, 1)], ("n1", "f9"): [(0, 1)]},
        texts={"n3": "0", "n1": "0123456789"},
        features=("f9", "f1"),
    )
    pairing = pair_rows(reference, predicted, unknown="skip")
    assert pairing.predicted_row.tolist() == [-1, -1]
    assert (pairing.coverage.n_unjudged_rows, pairing.coverage.n_unknown_rows) == (0, 2)


def test_coverage_adds_field_by_field() -> None:
    both = Coverage(1, 2, 3, 4, 5, 6) + Coverage(10, 20, 30, 40, 50, 60)
    assert both == Coverage(11, 22, 33, 44, 55, 66)


def test_a_span_may_end_where_its_note_ends() -> None:
    marks = {("n1", "f1"): [(9, 10)]}
    pairing = pair_rows(corpus_of(marks), corpus_of(marks))
    assert pairing.reference_marks.end.tolist() == [10]
    assert pairing.length.tolist() == [10]


def test_notes_that_are_missing_whole_are_counted_apart() -> None:
    predicted = corpus_of({("n1", "f1"): []})
    coverage = pair_rows(corpus_of(FULL), predicted).coverage
    assert (coverage.n_notes, coverage.n_missing_notes, coverage.n_missing_rows) == (2, 1, 3)


def test_the_case_of_a_row_is_that_of_its_note() -> None:
    builder = CorpusBuilder()
    builder.add_feature(Feature("f1", "c1", "f1"))
    for note, case in (("n1", "c1"), ("n2", "other")):
        builder.add_note(Note(note, case, "0123456789"))
    builder.judge("a", "n1", "f1")
    corpus = builder.build()
    keys = pair_rows(corpus, corpus).keys
    assert [keys.cases[i] for i in keys.case] == ["c1"]


def test_predicted_notes_may_come_without_text() -> None:
    predicted = corpus_of({("n1", "f1"): [(2, 4)]}, texts={"n1": ""})
    assert pair_rows(corpus_of(FULL), predicted).predicted_marks.start.tolist() == [2]


@pytest.mark.parametrize("span", [(5, 11), (4, 4), (6, 2), (-1, 3)])
def test_spans_outside_the_note_are_refused_on_either_side(span: tuple[int, int]) -> None:
    good, bad = corpus_of(FULL), corpus_of({("n1", "f1"): [(0, 1), span]})
    for pair in ((good, bad), (bad, good)):
        with pytest.raises(InputError) as caught:
            pair_rows(*pair)
        assert len(caught.value.faults) == 1
        assert "'n1'" in str(caught.value)


def test_an_annotator_must_be_named_where_there_are_several() -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n1", "c", "0123456789"))
    builder.add_feature(Feature("f1", "c", "f1"))
    builder.judge("ann", "n1", "f1")
    builder.annotate("bob", "n1", "f1", [(0, 2)])
    both = builder.build()
    with pytest.raises(InputError, match="ann, bob"):
        pair_rows(both, both, reference_annotator="ann")
    with pytest.raises(UnknownNameError):
        pair_rows(both, both, reference_annotator="ann", predicted_annotator="bod")
    with pytest.raises(InputError):
        pair_rows(both, corpus_of({}), reference_annotator="ann")
    pairing = pair_rows(both, both, reference_annotator="ann", predicted_annotator="bob")
    assert len(pairing.predicted_marks) == 1


def test_unknown_policies_are_refused() -> None:
    corpus = corpus_of(FULL)
    with pytest.raises(UnknownNameError):
        pair_rows(corpus, corpus, missing="drop")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError):
        pair_rows(corpus, corpus, unknown="drop")  # type: ignore[arg-type]


def test_a_reference_without_rows_pairs_nothing() -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n1", "c", "0123456789"))
    builder.add_feature(Feature("f1", "c", "f1"))
    builder.add_feature(Feature("f2", "c", "f2"))
    builder.judge("a", "n1", "f1")
    corpus = builder.build()
    silent = corpus.with_rows(corpus.rows.take(np.zeros(1, dtype=bool)))
    assert len(pair_rows(silent, corpus)) == 0
    assert pair_rows(silent, corpus).coverage.n_unjudged_rows == 1
    assert pair_rows(corpus, silent).coverage.n_missing_rows == 1


@given(corpora(max_annotators=2, metadata=False, details=False))
def test_skipping_keeps_exactly_the_rows_both_judged(corpus: Corpus) -> None:
    if len(corpus.annotators) < 2:
        return
    one, two = (a.id for a in corpus.annotators)
    pairing = pair_rows(
        corpus, corpus, reference_annotator=one, predicted_annotator=two, missing="skip"
    )
    found = {
        (corpus.notes[n].id, corpus.features[f].id)
        for n, f in zip(pairing.keys.note, pairing.keys.feature, strict=True)
    }
    judged = {a.id: set[tuple[str, str]]() for a in corpus.annotators}
    for note, annotator, feature, _ in corpus.values():
        judged[annotator.id].add((note.id, feature.id))
    assert found == judged[one] & judged[two]
    assert pairing.coverage.n_missing_rows == len(judged[one] - judged[two])
    assert pairing.coverage.n_unjudged_rows == len(judged[two] - judged[one])


def test_sides_without_a_row_in_common_have_no_notes_left() -> None:
    reference = corpus_of({("n1", "f1"): [(0, 3)]})
    predicted = corpus_of({("n2", "f2"): [(0, 3)]}, annotator="system")
    skipped = pair_rows(reference, predicted, missing="skip")
    assert len(skipped) == 0
    assert skipped.coverage.to_dict() == {
        "n_notes": 0, "n_rows": 0, "n_missing_notes": 1, "n_missing_rows": 1,
        "n_unjudged_rows": 1, "n_unknown_rows": 0,
    }  # fmt: skip
    assert pair_rows(reference, predicted).coverage.n_notes == 1

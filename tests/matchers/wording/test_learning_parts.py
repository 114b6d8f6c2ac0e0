from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate import load_corpus
from rubricate.matchers.wording.case_model import (
    choose_columns,
    describe_key,
    keys_of,
    number_words,
    pack_key,
    place_columns,
)
from rubricate.matchers.wording.learn_shared import learn_shared
from rubricate.matchers.wording.logistic import (
    PULL,
    calibrate,
    choose_thresholds,
    fit_many,
    fit_one,
)
from rubricate.matchers.wording.reading import read_columns
from rubricate.matchers.wording.shared import SharedModel, default_shared
from rubricate.matchers.wording.synonyms import learn_translation
from rubricate.reading.tokens import Speller, root


@given(st.text(max_size=12))
def test_stems_never_grow(form: str) -> None:
    assert len(root(form.lower())) <= len(form.lower()) + 2


def test_spelling_leaves_known_and_short_words_alone() -> None:
    speller = Speller(["pain", "fever"], known=["gain"])
    assert [speller.correct(w) for w in ("gain", "pian", "fvr", "never")] == [
        "gain", "pain", "fvr", "never",
    ]  # fmt: skip


def test_every_column_can_be_named_and_found_again() -> None:
    reading = read_columns("PMH: denies chest pain, father MI")
    stems = [root(token.form) for token in reading.tokens]
    words = ("?", "|", *sorted(set(stems)))
    numbers = {word: i for i, word in enumerate(words)}
    keys = keys_of(reading, number_words(stems, numbers))
    for key in np.unique(keys[keys >= 0]).tolist():
        assert pack_key(*describe_key(key, words), numbers) == key
    assert pack_key("word", "unheard", numbers) is None
    assert pack_key("nowhere", "pain", numbers) is None


def test_unknown_keys_have_no_column() -> None:
    columns = choose_columns(np.array([[5, 5, 9, -1]]))
    assert columns.tolist() == [5]
    placed = place_columns(np.array([[5, 7, -1]]), columns)
    assert placed.tolist() == [[0, len(columns), len(columns)]]
    assert place_columns(np.array([[5]]), np.zeros(0, dtype=np.int64)).tolist() == [[0]]


def test_logistic_regression_reaches_the_known_solution() -> None:
    # One column that is 1 in 30 of 40 successes: the logit of .75 is ln 3 = 1.0986.
    outcome = np.array([1] * 30 + [0] * 10)
    weights = fit_one(np.ones((40, 1)), outcome, np.ones(40), penalty=0.0)
    assert weights[0] == pytest.approx(np.log(3), abs=1e-3)


def test_rows_not_judged_teach_nothing() -> None:
    from scipy.sparse import csr_matrix

    columns = csr_matrix(np.ones((4, 1)))
    outcome = np.array([[1], [1], [0], [0]])
    judged = np.array([[True], [True], [False], [False]])
    offset = np.zeros((4, 1))
    assert fit_many(columns, outcome, offset, penalty=0.1, judged=judged)[0, 0] > 1
    assert abs(fit_many(columns, outcome, offset, penalty=0.1)[0, 0]) < 1e-3


def test_few_notes_draw_a_cut_to_the_common_one() -> None:
    logits = np.array([[1.0, 3.0], [0.0, 2.0], [-1.0, 1.0]] * 4)
    marked = np.array([[True, True], [True, False], [False, False]] * 4)
    common, own = choose_thresholds(logits, marked, np.ones(12), [1, 100])
    assert abs(own[0] - common) <= 6 / (1 + PULL) + 1e-9
    assert own[1] > common
    _, none = choose_thresholds(logits, marked, np.ones(12), [0, 0])
    assert none == [common, common]


def test_too_few_values_are_not_calibrated() -> None:
    assert calibrate([1.0, -1.0], [True, False])(0.0) == 0.5
    assert calibrate([1.0] * 50, [True] * 50)(0.0) == 0.5


def test_translation_explains_each_word_by_the_best_source() -> None:
    pairs = [(["a", "b"], ["x", "y"]), (["a"], ["x"]), (["b", "c"], ["y", "z"]), (["c"], ["z"])]
    given_ = learn_translation(pairs * 5).given
    assert [max(given_[s], key=given_[s].__getitem__) for s in "abc"] == ["x", "y", "z"]
    assert learn_translation([]).given == {}


def test_the_default_survives_writing_and_reading() -> None:
    shared = default_shared()
    again = SharedModel.from_json(shared.to_json())
    assert again.weights == pytest.approx(dict(shared.weights))
    assert again.decision == shared.decision
    assert "104 cases" in shared.learned_from


def test_common_words_are_less_rare() -> None:
    shared = default_shared()
    assert shared.rarity(root("pain")) < shared.rarity(root("chlamydia"))
    assert shared.rarity("unheard-of") >= shared.rarity(root("chlamydia"))


@pytest.mark.slow
def test_the_shared_model_can_be_learned_from_a_corpus() -> None:
    corpus = load_corpus("open-notes").select(annotators=["reference"])
    cases = [rubric.case for rubric in corpus.rubrics][30:42]
    learned = learn_shared(corpus.select(cases=cases))
    assert learned.weights["evidence"] + learned.weights["named"] > 0
    assert learned.note_count == 96


def test_the_second_look_is_kept_and_checked() -> None:
    model = default_shared()
    again = SharedModel.from_json(model.to_json())
    reading = read_columns("Denies fever, chills.")
    stems = [root(token.form) for token in reading.tokens]
    rubric = load_corpus("open-notes").rubrics[0]
    logits = [one.prepare(rubric).logits(reading, stems) for one in (model, again)]
    assert np.allclose(*logits, atol=0.05)
    value = model.to_json()
    value["second"] = value["second"] | {"words": value["second"]["words"][1:]}
    with pytest.raises(ValueError, match="second look"):
        SharedModel.from_json(value)

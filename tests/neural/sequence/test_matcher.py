"""Both matchers keep the protocol: learn, find, save, load, and say what is wrong."""

import json
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Note
from rubricate.errors import InputError, MissingExtraError, UnknownNameError
from rubricate.evaluation import evaluate
from rubricate.matchers import Matcher
from rubricate.neural.sequence.bilstm_crf import BiLstmCrfMatcher
from rubricate.neural.sequence.linear_crf import LinearCrfMatcher
from rubricate.neural.sequence.matcher import (
    SequenceFinder,
    choose_bonus,
    favoured,
    labelled_sequences,
    shared_labels,
)
from rubricate.neural.sequence.states import Chain, Scheme, Tokens
from rubricate.rubric import Rubric

SMALL = {
    "epochs": 8,
    "batch": 8,
    "word": 16,
    "hidden": 16,
    "spelled": 4,
    "character": 8,
    "rate": 0.02,
    "average": 0.5,
}


def make(name: str, **parameters: Any) -> Any:
    if name == "crf":
        return LinearCrfMatcher(iterations=30, c2=0.1, **parameters)
    pytest.importorskip("torch")
    return BiLstmCrfMatcher(recipe=SMALL, **parameters)


@pytest.fixture(scope="module", params=["crf", "bilstm-crf"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def fitted(name: str, trials: Corpus) -> Any:
    return make(name).fit(trials)


def test_it_learns_what_can_be_learned(name: str, fitted: Any, more_trials: Corpus) -> None:
    assert isinstance(fitted, Matcher)
    found = fitted.predict(more_trials)
    assert [one.id for one in found.annotators] == [name]
    assert len(found.rows) == 2 * len(more_trials.notes)
    measured = evaluate(more_trials, found)
    assert measured.spans["exact"].total().f1 > 0.9
    assert measured.characters.total().f1 > 0.9
    assert found.rows.probability is not None
    assert found.rows.confidence is not None
    assert (found.rows.probability > 0.5).all()
    assert ((found.rows.confidence > 0) & (found.rows.confidence <= 1)).all()
    reason = found.annotations(found.notes[0].id, "drug", name)[0].detail.reason  # type: ignore[index]
    assert reason.startswith(f"{name}: tagged drug")


def test_a_saved_model_finds_the_same(
    name: str, fitted: Any, more_trials: Corpus, tmp_path: Path
) -> None:
    fitted.save(tmp_path / "model")
    again = type(fitted).load(tmp_path / "model")
    assert again.get_params() == fitted.get_params()
    assert again.predict(more_trials) == fitted.predict(more_trials)
    suffixes = {part.suffix for part in (tmp_path / "model").iterdir()}
    assert suffixes == {".json", ".safetensors"}


def test_the_bonus_is_saved(fitted: Any, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model")
    eager = type(fitted).load(tmp_path / "model")
    eager.model_ = replace(eager.model_, bonus=1.5)
    eager.save(tmp_path / "model", overwrite=True)
    again = type(fitted).load(tmp_path / "model").model_
    assert again.bonus == 1.5
    assert again.scheme == fitted.model_.scheme
    assert again.origin == fitted.model_.origin


def test_the_same_seed_gives_the_same_model(
    name: str, fitted: Any, trials: Corpus, more_trials: Corpus
) -> None:
    again = make(name).fit(trials)
    assert again.predict(more_trials) == fitted.predict(more_trials)


@pytest.mark.parametrize("damage", ["missing", "altered", "version", "name"])
def test_a_damaged_model_is_refused(fitted: Any, tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "model"
    fitted.save(folder)
    header = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    if damage == "missing":
        (folder / "weights.safetensors").unlink()
    elif damage == "altered":
        (folder / "weights.safetensors").write_bytes(b"12345678")
    else:
        header["format" if damage == "version" else "matcher"] = 99
        (folder / "model.json").write_text(json.dumps(header), encoding="utf-8")
    with pytest.raises(InputError):
        type(fitted).load(folder)


@pytest.mark.parametrize("change", [{"labels": ["who"]}, {"labels": None}, {"bonus": None}])
def test_values_that_do_not_fit_the_weights_are_refused(
    fitted: Any, tmp_path: Path, change: dict[str, Any]
) -> None:
    folder = tmp_path / "model"
    fitted.save(folder)
    part = folder / fitted.values_file
    value = json.loads(part.read_text(encoding="utf-8")) | change
    part.write_text(json.dumps(value), encoding="utf-8")
    header = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    header["files"][part.name] = ""
    (folder / "model.json").write_text(json.dumps(header), encoding="utf-8")
    with pytest.raises(InputError):
        type(fitted).load(folder)


def test_what_cannot_be_learned_is_told(name: str, trials: Corpus) -> None:
    with pytest.raises(InputError):
        make(name).predict(trials)
    with pytest.raises(UnknownNameError):
        make(name, tokens="letters").fit(trials)
    with pytest.raises(UnknownNameError):
        make(name, scheme="BILOU").fit(trials)
    with pytest.raises(UnknownNameError):
        make(name).fit(trials, annotator="nobody")
    builder = CorpusBuilder()
    builder.add_feature(Feature("who", "trial", "Participants"))
    builder.add_note(Note("n", "trial", "text"))
    with pytest.raises(InputError):
        make(name).fit(builder.build())


def test_another_rubric_is_refused(fitted: Any) -> None:
    builder = CorpusBuilder()
    builder.add_feature(Feature("who", "trial", "Who came"))
    builder.add_note(Note("n", "trial", "text"))
    with pytest.raises(InputError):
        fitted.predict(builder.build())


@pytest.mark.parametrize("context", ["line", "note"])
def test_whole_notes_and_lines(
    name: str, context: str, trials: Corpus, more_trials: Corpus
) -> None:
    found = make(name, context=context, tokens="spaces", scheme="IO").fit(trials)
    measured = evaluate(more_trials, found.predict(more_trials))
    assert measured.spans["exact"].total().f1 > 0.8


def test_texts_without_tokens_are_left_empty(name: str, fitted: Any, trials: Corpus) -> None:
    builder = CorpusBuilder()
    builder.add_rubric(trials.rubrics[0])
    builder.add_note(Note("n", "trial", " \n"))
    found = fitted.predict(builder.build())
    assert found.annotations("n", "who", name) == ()
    np.testing.assert_array_equal(found.rows.probability, [0, 0])


def emit_capitals(sequences: list[Tokens]) -> list[np.ndarray]:
    """Score capitalised words as label 0 with probability 3/4, others as outside for sure."""
    return [
        np.array([[0.0, np.log(3)] if w[0].isupper() else [0.0, -50.0] for w in s.words])
        for s in sequences
    ]


def test_places_confidence_and_presence() -> None:
    scheme = Scheme(("x",), "IO")
    chain = Chain(np.zeros(2), np.zeros((2, 2)), np.zeros(2))
    finder = SequenceFinder(scheme, chain, emit_capitals, "words", "line", "m")
    rubric = Rubric("c", (Feature("x", "c", "X"),))
    notes = [Note("1", "c", "a Bc De f\nG\n"), Note("2", "c", "none"), Note("3", "c", "")]
    first, second, third = finder.find(rubric, notes)
    assert [one.spans for one in first.found] == [((2, 7),), ((10, 11),)]
    assert [one.confidence for one in first.found] == pytest.approx([0.75, 0.75])
    # Three independent tokens, each the label with probability 3/4.
    assert first.probabilities["x"] == pytest.approx(1 - 0.25**3)
    assert second.found == []
    assert second.probabilities["x"] == pytest.approx(0, abs=1e-9)
    assert third.found == []
    assert third.probabilities["x"] == 0


def test_features_that_are_no_labels_are_left_alone() -> None:
    chain = Chain(np.zeros(2), np.zeros((2, 2)), np.zeros(2))
    finder = SequenceFinder(Scheme(("x",), "IO"), chain, emit_capitals, "words", "line", "m")
    rubric = Rubric("c", (Feature("y", "c", "Y"),))
    (findings,) = finder.find(rubric, [Note("1", "c", "Bc")])
    assert findings.found == []
    assert findings.probabilities == {}


def test_one_rubric_only(trials: Corpus) -> None:
    assert shared_labels(trials) == ("who", "drug")
    builder = CorpusBuilder()
    for case in "ab":
        builder.add_feature(Feature(f"f{case}", case, "F"))
        builder.add_note(Note(f"n{case}", case, "text"))
    with pytest.raises(InputError, match="2 cases"):
        shared_labels(builder.build())


def test_notes_not_judged_for_every_feature_are_not_learned_from() -> None:
    builder = CorpusBuilder()
    for feature in "xy":
        builder.add_feature(Feature(feature, "c", feature))
    for note in "12":
        builder.add_note(Note(note, "c", "a b"))
        builder.annotate("r", note, "x", [(0, 1)])
    builder.annotate("r", "2", "y", [(0, 3)])
    scheme = Scheme(("x", "y"), "IO")
    found, dropped = labelled_sequences(
        builder.build(), "r", scheme, tokens="words", context="line"
    )
    assert [(one.note, one.states.tolist()) for one in found] == [("2", [1, 2])]
    assert dropped == 1


def test_nothing_to_learn_from_is_an_error(trials: Corpus) -> None:
    scheme = Scheme(("who", "drug"), "IO")
    with pytest.raises(InputError):
        labelled_sequences(trials, None, scheme, tokens="words", context="line")


def test_a_bonus_makes_more_annotations_and_leaves_probabilities_alone() -> None:
    scheme = Scheme(("x",), "BIO")
    chain = Chain(scheme.first_scores(), scheme.step_scores(), np.zeros(3))

    def emit(sequences: list[Tokens]) -> list[np.ndarray]:
        # Begins where a capital is, with odds of 2 to 1 against; inside is as unlikely.
        return [
            np.array([[0.0, -np.log(2) if w[0].isupper() else -50.0, -50.0] for w in s.words])
            for s in sequences
        ]

    rubric = Rubric("c", (Feature("x", "c", "X"),))
    notes = [Note("1", "c", "a Bc d Ef")]
    plain, more = (
        next(
            iter(
                SequenceFinder(scheme, chain, emit, "words", "line", "m", bonus).find(rubric, notes)
            )
        )
        for bonus in (0.0, 1.0)
    )
    assert plain.found == []
    assert [one.spans for one in more.found] == [((2, 4),), ((7, 9),)]
    assert [one.confidence for one in more.found] == pytest.approx([1 / 3, 1 / 3])
    assert plain.probabilities == more.probabilities


@pytest.mark.parametrize("kind", ["IO", "BIO"])
def test_the_bonus_counts_annotations(kind: str) -> None:
    scheme = Scheme(("x", "y"), kind)  # type: ignore[arg-type]
    k = len(scheme.states)
    chain = favoured(Chain(np.zeros(k), np.zeros((k, k)), np.zeros(k)), scheme, 1.0)
    rng = np.random.default_rng(0)
    for _ in range(50):
        states = [0]
        for _ in range(7):
            states.append(int(rng.choice(np.flatnonzero(scheme.step_scores()[states[-1]] == 0))))
        states = states[1:]
        total = chain.first[states[0]] + sum(chain.step[a, b] for a, b in pairwise(states))
        assert total == len(scheme.decode(np.array(states), [0] * 7))


def test_the_smallest_of_equally_good_bonuses_is_chosen() -> None:
    assert choose_bonus(lambda bonus: min(bonus, 1.0)) == 1.0
    assert choose_bonus(lambda bonus: 0.3) == 0.0


@pytest.fixture
def no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)


@pytest.mark.usefixtures("no_torch")
def test_a_missing_torch_is_told(trials: Corpus) -> None:
    with pytest.raises(MissingExtraError):
        BiLstmCrfMatcher().fit(trials)
    with pytest.raises(MissingExtraError):
        BiLstmCrfMatcher.load("nowhere")


@pytest.mark.usefixtures("no_torch")
def test_the_linear_crf_needs_none(trials: Corpus) -> None:
    found = LinearCrfMatcher(iterations=5).fit(trials).predict(trials)
    assert len(found.rows) == 2 * len(trials.notes)

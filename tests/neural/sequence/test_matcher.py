"""Both matchers keep the protocol: learn, find, save, load, and say what is wrong."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Note
from rubricate.errors import InputError, UnknownNameError
from rubricate.matchers import Matcher
from rubricate.measures import evaluate
from rubricate.neural.sequence.bilstm_crf import BiLstmCrfMatcher
from rubricate.neural.sequence.linear_crf import LinearCrfMatcher

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

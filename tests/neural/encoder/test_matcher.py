from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Note, Rubric
from rubricate.arrays import F64
from rubricate.errors import InputError
from rubricate.evaluation import evaluate
from rubricate.matchers.matcher import Matcher
from rubricate.neural.encoder.decoding import Again, lexicon_votes
from rubricate.neural.encoder.matcher import EncoderMatcher, average_models
from rubricate.neural.encoder.model_folder import SETTINGS_FILE
from rubricate.stats.calibration import logit

WITHOUT_TORCH = """
import sys
sys.modules["torch"] = sys.modules["transformers"] = sys.modules["onnx"] = None
from rubricate import load_corpus
from rubricate.neural.encoder.matcher import EncoderMatcher
corpus = load_corpus("open-notes").select(cases=["14"], annotators=["reference"])
some = corpus.select(notes=[n.id for n in corpus.notes[:1]])
print(EncoderMatcher(threads=1).predict(some).rows.n_annotations > 5)
"""


def tiny(folder: Path, **parameters: object) -> EncoderMatcher:
    matcher = EncoderMatcher(**parameters)  # type: ignore[arg-type]
    matcher._open(folder)
    return matcher


def test_it_is_a_matcher() -> None:
    assert isinstance(EncoderMatcher(), Matcher)


@pytest.mark.parametrize("per_pass", ["all", 5])
def test_the_shipped_network_knows_rubrics_it_never_saw(unseen: Corpus, per_pass: object) -> None:
    found = EncoderMatcher(features_per_pass=per_pass, threads=1).predict(unseen)  # type: ignore[arg-type]
    values = evaluate(unseen, found).to_dict()
    assert values["characters"]["f1"] > 0.6
    assert values["presence"]["f1"] > 0.85
    assert found.rows.probability is not None
    assert len(found.rows) == len(unseen.rows)
    for note, _, _, marked in found.values():
        for annotation in marked:
            text = annotation.text(note.text)
            assert text == text.strip() != ""
            assert re.fullmatch(
                r"network: these words (over )?\d\d?%, feature (over )?\d\d?%|measured: .+",
                annotation.detail.reason,
            )


def test_it_runs_without_torch() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", WITHOUT_TORCH], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "True"


def test_fitting_learns_saves_and_loads(model_folder: Path, corpus: Corpus, tmp_path: Path) -> None:
    steps: list[int] = []
    matcher = tiny(model_folder, steps=25, threads=1, seed=1)
    before = matcher.predict(corpus)
    matcher.fit(corpus, progress=lambda step, of, label: steps.append(step))
    found = matcher.predict(corpus)
    assert found != before
    # Every step, then the files.
    assert steps == [*range(1, 26), 25, 0, 1]
    matcher.save(tmp_path / "m")
    again = EncoderMatcher.load(tmp_path / "m")
    assert again.predict(corpus) == found
    assert again.n_notes_ == 6
    with pytest.raises(FileExistsError):
        matcher.save(tmp_path / "m")
    assert sorted(p.name for p in (tmp_path / "m").iterdir()) == [
        "model.json", "network.onnx", "settings.json", "tokenizer.json",
    ]  # fmt: skip


def test_one_seed_one_model(model_folder: Path, corpus: Corpus) -> None:
    first, second = (
        tiny(model_folder, steps=5, threads=1).fit(corpus).predict(corpus) for _ in range(2)
    )
    assert first == second


def test_without_annotated_notes_nothing_changes(model_folder: Path, corpus: Corpus) -> None:
    matcher = tiny(model_folder)
    before = matcher.predict(corpus)
    bare = corpus.select(annotators=[])
    assert matcher.fit(bare).predict(corpus) == before


def test_a_network_gets_plain_words_unless_it_was_fitted_to_others(
    model_folder: Path, corpus: Corpus
) -> None:
    feature = corpus.features[0]
    matcher = tiny(model_folder)
    assert not matcher.knows(feature)
    assert not matcher.fit(corpus.select(notes=[])).knows(feature)
    assert matcher.fit(corpus).knows(feature)
    assert not matcher.knows(Feature(feature.id, feature.case, "1. Something else"))


def test_checklists_and_plain_rubrics_find_the_same() -> None:
    text = "54 yo man with chest pain since noon. No fever."
    plain, listed = ["Chest pain", "No fever"], ["1) Chest pain - 2 pts", "Documents No fever"]

    def found(features: Sequence[str]) -> list[list[str]]:
        builder = CorpusBuilder()
        builder.add_note(Note("n", "c", text))
        for k, wording in enumerate(features):
            builder.add_feature(Feature(str(k), "c", wording))
        corpus = EncoderMatcher(threads=1).predict(builder.build())
        return [
            [one.text(text) for one in corpus.annotations("n", str(k), "encoder")] for k in (0, 1)
        ]

    assert found(plain) == found(listed)
    assert all(found(plain))


def test_an_empty_note_and_an_empty_rubric(model_folder: Path) -> None:
    from rubricate import Feature, Note

    builder = CorpusBuilder()
    builder.add_note(Note("1", "c", ""))
    builder.add_note(Note("2", "c", " \n "))
    builder.add_note(Note("3", "no rubric", "cough"))
    builder.add_feature(Feature("f", "c", "Cough"))
    found = tiny(model_folder).predict(builder.build())
    assert len(found.rows) == 2
    assert found.rows.n_annotations == 0


@pytest.mark.parametrize("wrong", [0, -1, "some", 1.5, True])
def test_features_per_pass_is_checked(wrong: object, corpus: Corpus) -> None:
    with pytest.raises(InputError):
        EncoderMatcher(features_per_pass=wrong).predict(corpus)  # type: ignore[arg-type]


def test_altered_models_are_refused(model_folder: Path, tmp_path: Path) -> None:
    tiny(model_folder).save(tmp_path / "m")
    (tmp_path / "m" / "network.onnx").write_bytes(b"other")
    with pytest.raises(InputError):
        EncoderMatcher.load(tmp_path / "m")


def test_folds_are_fitted_saved_and_loaded(
    model_folder: Path, corpus: Corpus, tmp_path: Path
) -> None:
    matcher = tiny(model_folder, steps=4, threads=1, recipe={"folds": 2, "every": 2})
    found = matcher.fit(corpus).predict(corpus)
    matcher.save(tmp_path / "m")
    assert sorted(p.name for p in (tmp_path / "m").iterdir()) == [
        "member1", "member2", "members.json", "model.json", "settings.json",
    ]  # fmt: skip
    again = EncoderMatcher.load(tmp_path / "m")
    assert again.recipe == {"folds": 2, "every": 2}
    assert again.predict(corpus) == found
    assert again.n_notes_ == 6
    assert found.annotators[0].id == "encoder"


def test_a_wrong_recipe_is_told_before_anything_is_learned(
    model_folder: Path, corpus: Corpus
) -> None:
    matcher = tiny(model_folder, recipe={"folds": -1, "foldz": 2})
    with pytest.raises(InputError) as caught:
        matcher.fit(corpus)
    assert len(caught.value.faults) == 2


def votes_on_presence(rubric: Rubric, texts: Sequence[str]) -> F64:
    return np.array([one.presence for one in lexicon_votes(rubric, texts)])


def probabilities(matcher: EncoderMatcher, rubric: Rubric, notes: Sequence[Note]) -> F64:
    proposed = matcher._propose(rubric, notes)
    return np.array([[one.presence for one in said.items.values()] for said in proposed])


def with_vote(folder: Path, target: Path, vote: float | None) -> EncoderMatcher:
    """Return the model with such a vote; of None, as it was saved before there was one."""
    shutil.copytree(folder, target)
    settings = json.loads((target / SETTINGS_FILE).read_text())
    settings["calibration"] = {"slope": 1.0, "shift": 0.0}
    settings.pop("vote")
    settings |= {} if vote is None else {"vote": vote}
    (target / SETTINGS_FILE).write_text(json.dumps(settings))
    return tiny(target, threads=1)


@pytest.mark.parametrize("per_pass", ["all", 1])
def test_the_lexicon_raises_presence_by_its_vote(
    model_folder: Path, corpus: Corpus, tmp_path: Path, per_pass: object
) -> None:
    rubric, notes = corpus.rubrics[0], corpus.notes
    before = with_vote(model_folder, tmp_path / "before", None)
    silent = with_vote(model_folder, tmp_path / "silent", 0.0)
    heard = with_vote(model_folder, tmp_path / "heard", 0.5)
    for matcher in (before, silent, heard):
        matcher.features_per_pass = per_pass  # type: ignore[assignment]
    votes = votes_on_presence(rubric, [note.text for note in notes])
    assert votes.min() < 0 < votes.max()
    alone = probabilities(before, rubric, notes)
    np.testing.assert_array_equal(alone, probabilities(silent, rubric, notes))
    raised = logit(probabilities(heard, rubric, notes)) - logit(alone)
    np.testing.assert_allclose(raised, 0.5 * votes, atol=1e-6)


def test_each_member_of_a_mean_hears_its_own_vote(
    model_folder: Path, corpus: Corpus, tmp_path: Path
) -> None:
    rubric, notes = corpus.rubrics[0], corpus.notes
    folders = []
    for vote in (0.0, 0.5):
        with_vote(model_folder, tmp_path / f"of {vote}", vote).save(tmp_path / f"saved {vote}")
        folders.append(tmp_path / f"saved {vote}")
    average_models(folders, tmp_path / "both")
    each = [probabilities(EncoderMatcher.load(one), rubric, notes) for one in folders]
    both = probabilities(EncoderMatcher.load(tmp_path / "both"), rubric, notes)
    np.testing.assert_allclose(both, np.mean(each, axis=0), atol=1e-9)


def test_a_note_is_judged_alike_alone_and_among_others(unseen: Corpus) -> None:
    matcher = EncoderMatcher(threads=1)
    rubric, notes = unseen.rubrics[0], unseen.notes
    together = probabilities(matcher, rubric, notes)
    alone = [probabilities(matcher, rubric, [note])[0] for note in notes]
    np.testing.assert_array_equal(together, alone)


def test_some_features_get_the_votes_they_get_among_all(unseen: Corpus) -> None:
    matcher = EncoderMatcher(threads=1, features_per_pass=1)
    rubric, notes = unseen.rubrics[0], unseen.notes[:1]
    whole = next(matcher._propose(rubric, notes)).items
    everywhere = [(0, len(notes[0].text))]
    for k, feature in enumerate(rubric):
        again = Again([k], [], everywhere)
        own = matcher.read_again(rubric, notes[0].text, again, None).items
        assert own == {feature.id: whole[feature.id]}


def test_the_lexicon_abstains_where_a_feature_has_no_word() -> None:
    texts = ["He has a fever.", "", "No cough"]
    fever = Feature("2", "c", "Fever")
    votes = votes_on_presence(Rubric("c", (Feature("1", "c", "*?[]"), fever)), texts)
    np.testing.assert_array_equal(votes[:, 0], 0)
    np.testing.assert_array_equal(votes[:, 1:], votes_on_presence(Rubric("c", (fever,)), texts))
    assert votes[0, 1] > 0 > votes[2, 1]
    mute = Rubric("c", (Feature("1", "c", "\N{THERMOMETER}"),))
    assert not votes_on_presence(mute, texts).any()

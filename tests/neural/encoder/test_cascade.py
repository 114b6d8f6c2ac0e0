from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rubricate import Corpus, Note
from rubricate.errors import InputError
from rubricate.matchers import load_matcher
from rubricate.neural.encoder.cascade import CascadeMatcher
from rubricate.neural.encoder.matcher import EncoderMatcher


def test_it_is_saved_loaded_and_guarded(model_folder: Path, corpus: Corpus, tmp_path: Path) -> None:
    matcher = CascadeMatcher(threads=1)
    matcher.networks_ = (EncoderMatcher(threads=1), EncoderMatcher(threads=1))
    for network in matcher.networks_:
        network._open(model_folder)
    matcher.save(tmp_path / "m")
    assert CascadeMatcher.load(tmp_path / "m").predict(corpus) == matcher.predict(corpus)
    shutil.rmtree(tmp_path / "m" / "second")
    EncoderMatcher(network="fast").save(tmp_path / "m" / "second")
    with pytest.raises(InputError, match="networks"):
        CascadeMatcher.load(tmp_path / "m")


def reads_again(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets the number of characters whenever something is read again."""
    read = EncoderMatcher.read_again
    characters: list[int] = []

    def watched(self, rubric, text, features, around, votes):  # type: ignore[no-untyped-def]
        characters.append(len({i for own in around for a, z in own for i in range(a, z)}))
        return read(self, rubric, text, features, around, votes)

    monkeypatch.setattr(EncoderMatcher, "read_again", watched)
    return characters


def test_only_what_is_in_doubt_is_read_again_and_only_around_it(
    unseen: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    characters = reads_again(monkeypatch)
    corpus = replace_notes(unseen, [" ".join(note.text for note in unseen.notes[:3])])
    rubric, notes = corpus.rubrics[0], corpus.notes
    first = next(EncoderMatcher(threads=1).findings(rubric, notes)).probabilities
    CascadeMatcher(low=0.5, high=0.5, threads=1).predict(corpus)
    assert characters == []
    chance = sorted(first.values())[len(first) // 2]
    cascade = CascadeMatcher(low=chance - 1e-9, high=chance + 1e-9, threads=1)
    both = next(cascade._find(rubric, notes)).probabilities
    (read,) = characters
    assert 0 < read < len(notes[0].text)
    assert {f for f in first if both[f] != first[f]} == {f for f in first if first[f] == chance}


def test_an_empty_note_is_read(unseen: Corpus) -> None:
    corpus = replace_notes(unseen, ["", "?"])
    found = CascadeMatcher(low=0.0, high=1.0, threads=1).predict(corpus)
    assert not any(found.annotations(note.id, f.id, "cascade") for note in corpus.notes
                   for f in corpus.features)  # fmt: skip


def replace_notes(corpus: Corpus, texts: list[str]) -> Corpus:
    case = corpus.rubrics[0].case
    notes = tuple(Note(str(i), case, text) for i, text in enumerate(texts))
    return Corpus(notes, corpus.rubrics[:1])


def test_the_dial_is_part_of_the_models_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dial = load_matcher("cascade=0.2,.8").get_params()
    assert (dial["low"], dial["high"]) == (0.2, 0.8)
    for other in ("cascade=", "cascade=0.2", "cascade=2,3", "cascade=0.2,0.8,1", "fast=0.2,0.8"):
        with pytest.raises(InputError):
            load_matcher(other)
    # A folder of that name is what was meant.
    monkeypatch.chdir(tmp_path)
    Path("cascade=0.2,0.8").mkdir()
    with pytest.raises(InputError):
        load_matcher("cascade=0.2,0.8")

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rubricate import Corpus, Feature, Note, Rubric
from rubricate.errors import InputError
from rubricate.matchers import load_matcher
from rubricate.matchers.predictions import decide
from rubricate.neural.encoder.cascade import AROUND, CascadeMatcher, _Doubts, _merge, _parts, _weigh
from rubricate.neural.encoder.decoding import Again
from rubricate.neural.encoder.matcher import EncoderMatcher
from rubricate.neural.encoder.model_folder import shipped_folder
from rubricate.neural.encoder.pieces import Pieces
from rubricate.rules.adjudicate import FINAL
from rubricate.rules.findings import Against, Candidate, ItemFinding, Proposal, Spans

#: More characters than any mark has.
NEVER = 1e6


def decisions(
    matcher: CascadeMatcher | EncoderMatcher, rubric: Rubric, notes: Sequence[Note]
) -> list[dict[str, ItemFinding]]:
    """Return the decisions about notes, without literal mentions."""
    proposed = matcher._propose(rubric, notes)
    return [
        decide(rubric, x.text, own, before=FINAL) for x, own in zip(notes, proposed, strict=True)
    ]


def chances(items: dict[str, ItemFinding]) -> dict[str, float]:
    return {k: one.probability or 0.0 for k, one in items.items()}


def marks(items: dict[str, ItemFinding]) -> set[tuple[str, Spans]]:
    return {(k, one.spans) for k, item in items.items() for one in item.evidence}


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

    def watched(self, rubric, text, again, votes, least):  # type: ignore[no-untyped-def]
        characters.append(sum(z - a for a, z in again.parts))
        return read(self, rubric, text, again, votes, least)

    monkeypatch.setattr(EncoderMatcher, "read_again", watched)
    return characters


def test_only_what_is_in_doubt_is_read_again_and_only_around_it(
    unseen: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    characters = reads_again(monkeypatch)
    corpus = replace_notes(unseen, [" ".join(note.text for note in unseen.notes[:3])])
    rubric, notes = corpus.rubrics[0], corpus.notes
    first = chances(decisions(EncoderMatcher(threads=1), rubric, notes)[0])
    CascadeMatcher(low=0.5, high=0.5, wrong=NEVER, threads=1).predict(corpus)
    assert characters == []
    chance = sorted(first.values())[len(first) // 2]
    cascade = CascadeMatcher(low=chance - 1e-9, high=chance + 1e-9, wrong=NEVER, threads=1)
    both = chances(decisions(cascade, rubric, notes)[0])
    (read,) = characters
    assert 0 < read < len(notes[0].text)
    assert {f for f in first if both[f] != first[f]} == {f for f in first if first[f] == chance}


def test_what_is_found_is_more_probable_than_not(unseen: Corpus) -> None:
    rubric, notes = unseen.rubrics[0], unseen.notes[:12]
    for said in decisions(CascadeMatcher(threads=1), rubric, notes):
        assert all((one.probability or 0.0) >= 0.5 for one in said.values() if one.evidence)
    fast = next(EncoderMatcher(threads=1).readings(rubric, notes))
    strict = EncoderMatcher(threads=1)
    strict._open(shipped_folder("fast"))
    proposed = strict.proposed(rubric, notes[0].text, fast, least=1.1)
    assert not any(one.candidates for one in proposed.items.values())


def test_marks_whose_ends_are_in_doubt_are_read_again_and_others_stand(unseen: Corpus) -> None:
    rubric, notes = unseen.rubrics[0], unseen.notes[:8]
    fast, accurate = (EncoderMatcher(network=name, threads=1) for name in ("fast", "accurate"))
    ends = CascadeMatcher(low=0.5, high=0.5, wrong=2.0, threads=1)
    all_ = CascadeMatcher(low=0.0, high=1.0, wrong=0.0, threads=1)
    found = {
        name: [marks(note) for note in decisions(one, rubric, notes)]
        for name, one in (("fast", fast), ("accurate", accurate), ("ends", ends), ("all", all_))
    }
    changed = [new - old for old, new in zip(found["fast"], found["ends"], strict=True)]
    kept = [new & old for old, new in zip(found["fast"], found["ends"], strict=True)]
    assert any(changed)
    assert sum(map(len, kept)) > sum(map(len, changed))
    far, near = (
        sum(len(a ^ b) for a, b in zip(found["accurate"], found[name], strict=True))
        for name in ("fast", "all")
    )
    assert near < far


def test_features_that_are_seen_where_it_is_read_again_are_read_beside(unseen: Corpus) -> None:
    rubric, note = unseen.rubrics[0], unseen.notes[0]
    fast = EncoderMatcher(threads=1)
    heard = next(fast.readings(rubric, [note]))
    found = decide(rubric, note.text, fast.proposed(rubric, note.text, heard), before=FINAL)
    chance = sorted(chances(found).values())[-1]
    cascade = CascadeMatcher(low=chance - 1e-9, high=1.0, wrong=NEVER, threads=1)
    cascade.networks_ = (fast, fast)
    (doubts,) = cascade._doubts(rubric, found, heard)
    again = doubts.again
    ids = [feature.id for feature in rubric]
    near = {
        ids.index(feature)
        for feature, spans in marks(found)
        if any(a < end and start < z for a, z in spans for start, end in again.parts)
    }
    assert again.beside
    assert near - set(again.features) <= set(again.beside)
    assert not set(again.features) & set(again.beside)
    alone = again._replace(beside=[])
    apart, together = (
        fast.read_again(rubric, note.text, one, heard.votes) for one in (alone, again)
    )
    assert together.items.keys() == apart.items.keys()
    assert together.items != apart.items


def test_with_one_feature_per_pass_each_is_read_again_alone_and_around_its_own_places(
    unseen: Corpus,
) -> None:
    rubric, note = unseen.rubrics[0], unseen.notes[0]
    fast = EncoderMatcher(threads=1)
    heard = next(fast.readings(rubric, [note]))
    found = decide(rubric, note.text, fast.proposed(rubric, note.text, heard), before=FINAL)
    cascade = CascadeMatcher(low=0.0, high=1.0, wrong=NEVER, features_per_pass=1, threads=1)
    cascade.networks_ = (fast, fast)
    doubts = cascade._doubts(rubric, found, heard)
    assert [one.presence for one in doubts] == [{k: True} for k in range(len(rubric))]
    ((pieces, rows),) = heard.said
    for one in doubts:
        ((k,), beside, parts) = one.again
        assert not beside
        assert pieces.touched(parts)[rows[k].either.argmax()]


def test_an_item_is_decided_by_its_own_words_where_each_is_read_alone(unseen: Corpus) -> None:
    matcher = CascadeMatcher(features_per_pass=1, threads=1)
    rubric = unseen.rubrics[0]
    notes = [note for note in unseen.notes if note.case == rubric.case]
    other = replace(rubric.features[3], text=f"The note says {rubric.features[3].text}")
    reworded = replace(rubric, features=(*rubric.features[:3], other, *rubric.features[4:]))
    before, after = (decisions(matcher, one, notes) for one in (rubric, reworded))
    for one, two in zip(before, after, strict=True):
        for feature, chance in chances(one).items():
            if feature != other.id:
                assert chances(two)[feature] == pytest.approx(chance, abs=0.02)


def mark(*spans: tuple[int, int]) -> Candidate:
    return Candidate(spans, 0.5, ())


def merged(
    first: dict[str, Proposal], again: dict[str, Proposal], presence: dict[int, bool]
) -> dict[str, Proposal]:
    items = dict(first)
    rubric = Rubric("x", tuple(Feature(name, "x", name) for name in first))
    _merge(items, again, rubric, _Doubts(presence, Again(list(presence), [], [(0, 20)])))
    return items


def test_marks_outside_of_what_was_read_again_stand() -> None:
    denied, other = Against(((7, 9),), 0.8, ()), Against(((0, 5),), 0.7, ())
    first = {
        "a": Proposal((mark((0, 5)), mark((50, 60))), 0.9),
        "b": Proposal((mark((0, 5)),), 0.5),
        "c": Proposal((mark((0, 4), (90, 95)),), 0.9),
        "d": Proposal((), 0.1, denied),
    }
    again = {
        "a": Proposal((mark((2, 7)),), 0.8),
        "b": Proposal((), 0.1, other),
        "c": Proposal((), 0.2, other),
    }
    assert merged(first, again, {0: False, 1: True, 2: False}) == {
        "a": Proposal((mark((50, 60)), mark((2, 7))), 0.9),
        "b": again["b"],
        "c": again["c"],
        "d": first["d"],
    }


def test_a_feature_that_the_second_network_does_not_find_keeps_no_mark() -> None:
    first = {"a": Proposal((mark((0, 5)), mark((50, 60))), 0.5)}
    again = {"a": Proposal((), 0.1)}
    assert merged(first, again, {0: True}) == again
    assert merged(first, again, {0: False}) == {"a": Proposal((mark((50, 60)),), 0.5)}


def one_each(n: int) -> Pieces:
    return Pieces(*(np.arange(k, n + k, dtype=np.int32) for k in (0, 0, 1)))


def test_what_lies_around_doubts_is_read_with_whole_marks() -> None:
    pieces, seen = one_each(200), np.zeros(200, bool)
    assert _parts(pieces, seen, []) == []
    seen[[0, 100]] = True
    near = [(0, AROUND + 1), (100 - AROUND, 101 + AROUND)]
    assert _parts(pieces, seen, []) == near
    # A mark that begins there is read to its end; others are not.
    long = mark((105, 120), (150, 155))
    apart = mark((180, 190))
    assert _parts(pieces, seen, [long, apart]) == [near[0], (100 - AROUND, 120), (150, 155)]
    few = one_each(2 * AROUND)
    assert _parts(few, np.arange(2 * AROUND) == AROUND, []) == [(0, 2 * AROUND)]


def test_limits_that_are_no_numbers_of_characters_are_refused(unseen: Corpus) -> None:
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="wrong"):
            CascadeMatcher(wrong=wrong).predict(unseen)


def test_an_empty_note_is_read(unseen: Corpus) -> None:
    corpus = replace_notes(unseen, ["", "?"])
    found = CascadeMatcher(low=0.0, high=1.0, wrong=0.0, threads=1).predict(corpus)
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
    assert load_matcher("cascade=0,1,12.5").get_params()["wrong"] == 12.5
    for other in ("cascade=", "cascade=0.2", "cascade=2,3", "cascade=0.2,0.8,", "fast=0.2,0.8"):
        with pytest.raises(InputError):
            load_matcher(other)
    # A folder of that name is what was meant.
    monkeypatch.chdir(tmp_path)
    Path("cascade=0.2,0.8").mkdir()
    with pytest.raises(InputError):
        load_matcher("cascade=0.2,0.8")


@pytest.mark.parametrize(
    ("first", "second", "chance", "found"),
    [(0.9, 0.2, 0.6, True), (0.8, 0.1, 0.4, False), (0.3, 0.9, 0.6628, True)],
)
def test_in_stories_the_mean_of_both_networks_decides(
    first: float, second: float, chance: float, found: bool
) -> None:
    own, again = Proposal((mark((0, 4)),), first), Proposal((mark((0, 9)),), second)
    items = {"1": Proposal((), first)}
    rubric = Rubric("x", (Feature("1", "x", "1"),))
    doubts = _Doubts({0: True}, Again([0], [], [(0, 20)]))
    _weigh(items, {"1": own}, {"1": again}, rubric, doubts)
    assert items["1"].presence == pytest.approx(chance, abs=0.001)
    assert items["1"].candidates == (again.candidates if found else ())


def test_in_stories_both_networks_are_heard(unseen: Corpus) -> None:
    text = "I had chest pain and my head ached. I could not sleep, and I felt sick all day."
    wordings = ["Chest pain", "Headache", "Insomnia", "Nausea", "Fever", "Rash"]
    rubric = Rubric("x", tuple(Feature(str(k), "x", one) for k, one in enumerate(wordings)))
    every = CascadeMatcher(low=0.0, high=1.0, wrong=NEVER, threads=1)
    said = [
        chances(decisions(one, rubric, [Note("n", "x", text)])[0])
        for one in (every, EncoderMatcher(threads=1))
    ]
    assert said[0] != said[1]

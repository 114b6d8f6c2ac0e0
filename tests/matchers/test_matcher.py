from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Note
from rubricate.errors import InputError, OutputExistsError, UnknownNameError
from rubricate.matchers import (
    MATCHERS,
    Matcher,
    fit_matcher,
    load_matcher,
    make_matcher,
    predict_in_parts,
)

PHRASE_MATCHERS = ["exact", "fuzzy"]
ALL = ["exact", "fuzzy", "lexicon", "synonyms"]


def spans(corpus: Corpus, note: str, feature: str) -> list[tuple[tuple[int, int], ...]]:
    found = corpus.annotations(note, feature, corpus.annotators[0].id)
    assert found is not None
    return [tuple((s.start, s.end) for s in one.spans) for one in found]


def other_notes(corpus: Corpus, *texts: str) -> Corpus:
    builder = CorpusBuilder()
    for rubric in corpus.rubrics:
        builder.add_rubric(rubric)
    for i, text in enumerate(texts):
        builder.add_note(Note(f"new{i}", corpus.rubrics[0].case, text))
    return builder.build()


@pytest.mark.parametrize("name", ALL)
def test_predictions_have_a_row_for_every_note_and_feature(name: str, small: Corpus) -> None:
    found = fit_matcher(name, small).predict(small)
    assert found.notes == small.notes and found.rubrics == small.rubrics
    assert [(a.id, a.group) for a in found.annotators] == [(name, "system")]
    assert len(found.rows) == len(small.notes) * len(small.features)
    for _, _, _, made in found.values():
        for one in made:
            assert one.confidence is not None and 0 <= one.confidence <= 1
            assert ":" in one.detail.reason


@pytest.mark.parametrize("name", ALL)
def test_every_matcher_keeps_the_protocol(name: str, small: Corpus) -> None:
    matcher = make_matcher(name)
    assert isinstance(matcher, Matcher) and matcher.name == name
    with pytest.raises(InputError, match="fit or load"):
        matcher.predict(small)


@pytest.mark.parametrize("name", list(MATCHERS))
def test_every_fit_takes_what_the_protocol_says(name: str) -> None:
    wanted = inspect.signature(Matcher.fit).parameters
    taken = inspect.signature(MATCHERS[name].fit).parameters
    assert list(wanted) == ["self", "corpus", "annotator", "progress"] == list(taken)[:4]
    for parameter in list(taken)[2:]:
        assert taken[parameter].kind == inspect.Parameter.KEYWORD_ONLY
        assert taken[parameter].default is not inspect.Parameter.empty
    for parameter in list(wanted)[2:]:
        assert taken[parameter].default is wanted[parameter].default


Seen = list[tuple[int, int | None, str]]


def is_a_way_to_the_end(seen: Seen) -> bool:
    """Tell whether each part of the work begins at 0, never goes back and comes to its end."""
    for label in {label for _, _, label in seen}:
        own = [(done, total) for done, total, one in seen if one == label]
        done = [step for step, _ in own]
        if not (label and done[0] == 0 and done == sorted(done) and own[-1][0] == own[-1][1]):
            return False
    return bool(seen)


@pytest.mark.parametrize("name", ALL)
def test_every_fit_shows_its_progress(name: str, small: Corpus) -> None:
    seen: Seen = []
    quiet = fit_matcher(name, small)
    shown = fit_matcher(name, small, progress=lambda *now: seen.append(now))
    assert is_a_way_to_the_end(seen)
    assert shown.predict(small) == quiet.predict(small)


def test_predicting_in_parts_shows_the_notes_done(one_case: Corpus) -> None:
    seen: Seen = []
    matcher = fit_matcher("exact", one_case)
    found = predict_in_parts(matcher, one_case, size=3, progress=lambda *now: seen.append(now))
    assert found.corpus == matcher.predict(one_case) and not found.failed
    assert is_a_way_to_the_end(seen) and seen[-1] == (8, 8, "matching")
    assert [done for done, _, _ in seen] == [0, 3, 6, 8]
    seen.clear()
    predict_in_parts(matcher, one_case, progress=lambda *now: seen.append(now))
    assert seen == [(0, 8, "matching"), (8, 8, "matching")]


@pytest.mark.parametrize("name", ALL)
def test_saved_models_predict_the_same(name: str, one_case: Corpus, tmp_path: Path) -> None:
    ids = [note.id for note in one_case.notes]
    matcher = fit_matcher(name, one_case.select(notes=ids[:5]))
    rest = one_case.select(notes=ids[5:])
    matcher.save(tmp_path / "model")
    loaded = load_matcher(tmp_path / "model")
    assert loaded.get_params() == matcher.get_params()
    mine, theirs = matcher.predict(rest), loaded.predict(rest)
    assert np.array_equal(mine.rows.start, theirs.rows.start)
    assert np.array_equal(mine.rows.end, theirs.rows.end)
    assert np.allclose(mine.rows.confidence, theirs.rows.confidence, atol=1e-3)  # type: ignore[arg-type]
    with pytest.raises(OutputExistsError):
        matcher.save(tmp_path / "model")
    matcher.save(tmp_path / "model", overwrite=True)


@pytest.mark.parametrize("name", ALL)
def test_no_annotated_notes_at_all(name: str, small: Corpus) -> None:
    rubric_only = other_notes(small)
    found = fit_matcher(name, rubric_only).predict(other_notes(small, "no chills", ""))
    assert len(found.rows) == 6


@pytest.mark.parametrize("name", ALL)
def test_notes_of_a_case_without_a_rubric_have_no_rows(name: str, small: Corpus) -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("x", "unknown", "chest pain"))
    assert len(fit_matcher(name, small).predict(builder.build()).rows) == 0


@pytest.mark.parametrize("name", PHRASE_MATCHERS)
def test_phrases_mark_only_their_own_feature(name: str, small: Corpus) -> None:
    found = fit_matcher(name, small).predict(other_notes(small, "CHEST PAIN, no chills; 58"))
    assert spans(found, "new0", "cp") == [((0, 10),)]
    assert spans(found, "new0", "nc") == [((12, 21),)]
    assert spans(found, "new0", "age") == [((23, 25),)]


@pytest.mark.parametrize("name", PHRASE_MATCHERS)
def test_fragments_are_found_with_other_words_between(name: str, small: Corpus) -> None:
    found = fit_matcher(name, small).predict(other_notes(small, "Denies cough or chills."))
    assert spans(found, "new0", "nc") == [((0, 6), (16, 22))]


def test_fuzzy_finds_misspelt_phrases_and_says_so(small: Corpus) -> None:
    found = fit_matcher("fuzzy", small).predict(other_notes(small, "chset pain"))
    [one] = found.annotations("new0", "cp", "fuzzy") or ()
    assert one.detail.reason == 'fuzzy: "chest pain"; 2 edits'
    assert spans(fit_matcher("exact", small).predict(other_notes(small, "chset pain")),
                 "new0", "cp") == []  # fmt: skip


def test_confidence_falls_where_a_phrase_was_wrong(build: Callable[..., Corpus]) -> None:
    corpus = build(
        [
            ("1", "pain; pain; pain", {"p": [[(0, 4)]]}),
            ("2", "ache; ache", {"p": [[(0, 4)], [(6, 10)]]}),
        ],
        {"p": "Pain"},
    )
    precision = {p.text: p.precision for p in fit_matcher("exact", corpus).model_.phrases}  # type: ignore[attr-defined]
    assert precision == {"pain": 0.25, "ache": pytest.approx(2 / 3)}


def test_edited_phrases_are_used(small: Corpus, tmp_path: Path) -> None:
    fit_matcher("exact", small).save(tmp_path / "m")
    lines = [{"feature": "cp", "fragments": ["Precordial ache"]}]
    (tmp_path / "m" / "phrases.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    found = load_matcher(tmp_path / "m").predict(other_notes(small, "precordial ache, chest pain"))
    assert spans(found, "new0", "cp") == [((0, 15),)]


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("phrases.jsonl", '{"feature": "cp"}', "line 1"),
        ("phrases.jsonl", "secret words", "line 1"),
        ("phrases.jsonl", '\n{"feature": "cp", "fragments": [""]}', "line 2"),
        ("model.json", "[]", "object"),
        ("model.json", '{"format": 99}', "99"),
        ("model.json", '{"format": 1, "colour": 3}', "fields"),
    ],
)
def test_a_wrong_model_is_refused(
    small: Corpus, tmp_path: Path, file: str, text: str, message: str
) -> None:
    fit_matcher("exact", small).save(tmp_path / "m")
    (tmp_path / "m" / file).write_text(text, "utf-8")
    with pytest.raises(InputError, match=message) as caught:
        load_matcher(tmp_path / "m")
    assert "secret" not in str(caught.value)


def test_a_missing_file_and_a_missing_model_are_refused(small: Corpus, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"model\.json"):
        load_matcher(tmp_path)
    fit_matcher("exact", small).save(tmp_path / "m")
    (tmp_path / "m" / "phrases.jsonl").unlink()
    with pytest.raises(InputError, match="missing"):
        load_matcher(tmp_path / "m")
    with pytest.raises(InputError, match="made by matcher"):
        MATCHERS["fuzzy"].load(tmp_path / "m")


def test_another_rubric_under_the_same_ids_is_refused(small: Corpus) -> None:
    builder = CorpusBuilder()
    builder.add_feature(Feature("cp", "c", "Capillary refill"))
    builder.add_note(Note("x", "c", "chest pain"))
    with pytest.raises(InputError, match="a different wording of 1 feature"):
        fit_matcher("exact", small).predict(builder.build())


def test_unknown_names_are_refused(small: Corpus) -> None:
    with pytest.raises(UnknownNameError, match="fuzzy"):
        make_matcher("fuzy")
    with pytest.raises(UnknownNameError, match="window"):
        make_matcher("exact", windw=3)
    with pytest.raises(UnknownNameError, match="annotator"):
        fit_matcher("exact", small, annotator="nobody")


def test_a_model_that_is_not_there_is_told_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match="'fast'"):
        load_matcher("fastt")
    with pytest.raises(InputError, match="accurate, cascade"):
        load_matcher("nothing-like-it")


@pytest.mark.parametrize("name", ["exact", "fuzzy", "lexicon"])
@pytest.mark.parametrize("odd", ["-", "?", "\U0001f600", " OR "])
def test_a_feature_without_a_word_is_never_found_and_takes_nothing_from_others(
    name: str, odd: str, build: Callable[..., Corpus]
) -> None:
    text = "58M - chest pain? fever \U0001f600 or so"
    plain = {"a": "Chest pain", "b": "Fever"}
    alone = fit_matcher(name, build([], plain)).predict(build([("1", text, {})], plain))
    for features in (
        {"x": odd, **plain},
        {"a": plain["a"], "x": odd, "b": plain["b"]},
        {**plain, "x": odd},
    ):
        found = fit_matcher(name, build([], features)).predict(build([("1", text, {})], features))
        assert found.annotations("1", "x", name) == ()
        for feature in plain:
            assert spans(found, "1", feature) == spans(alone, "1", feature)

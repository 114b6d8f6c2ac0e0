"""The effect of a change by set of notes, with the items that became right or wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from rubricate import load_corpus, write_corpus
from rubricate.effects.decisions import (
    LabelledNote,
    NamedSet,
    decide,
    keep_decisions,
    kept_decisions,
    load_set,
)
from rubricate.effects.effect import ablate, compare
from rubricate.errors import InputError, UnknownNameError
from rubricate.rubric import Feature, Rubric
from rubricate.rules.reasons import listening, switched_off

RUBRIC = Rubric("c", (Feature("1", "c", "Right knee pain"), Feature("2", "c", "Tachycardia")))
NOTES = NamedSet(
    "two",
    [
        LabelledNote(
            "a", "Pain in the left knee. HR 124", RUBRIC, {"1": "contradicted", "2": "stated"}
        ),
        LabelledNote("b", "Pain in the right knee.", RUBRIC, {"1": "stated"}),
    ],
)


def test_decisions_are_made_for_features_with_an_answer() -> None:
    said = [(one.note, one.feature, one.outcome, one.is_right) for one in decide(NOTES)]
    assert said == [
        ("a", "Right knee pain", "contradicted", True),
        ("a", "Tachycardia", "stated", True),
        ("b", "Right knee pain", "stated", True),
    ]


def test_a_rule_that_is_off_changes_what_it_decides_and_nothing_else() -> None:
    before = list(decide(NOTES))
    with switched_off("side.other"):
        after = list(decide(NOTES))
    (effect,), changes = compare(before, after)
    assert [(one.after.note, one.after.feature, one.kind) for one in changes] == [
        ("a", "Right knee pain", "worse")
    ]
    assert (effect.items, effect.outcomes, effect.worse, effect.better) == (3, 1, 1, 0)
    assert list(decide(NOTES)) == before


def test_rules_that_have_something_to_say_are_heard() -> None:
    with listening() as spoke:
        list(decide(NOTES))
    assert {"side.other", "measured.states"} <= spoke


def test_without_names_each_rule_each_family_and_all_are_switched_off() -> None:
    found = {one.rules: one.effects[0] for one in ablate([NOTES])}
    assert {"side.other", "measured.states", "all"} <= set(found)
    assert found["side.other"].worse == 1
    assert found["all"].worse >= 1
    (only,) = ablate([NOTES], rules=[("side.other", "measured.states")])
    assert only.rules == "side.other + measured.states"


def test_kept_decisions_come_back(tmp_path: Path) -> None:
    said = list(decide(NOTES))
    assert keep_decisions(tmp_path / "kept.gz", said) == 3
    assert kept_decisions(tmp_path / "kept.gz") == said
    assert compare(said, said) == compare(said, kept_decisions(tmp_path / "kept.gz"))
    (tmp_path / "other").write_text("no decisions")
    with pytest.raises(InputError, match="no decisions"):
        kept_decisions(tmp_path / "other")


def test_a_corpus_of_a_file_is_a_set(tmp_path: Path) -> None:
    corpus = load_corpus("open-notes").select(cases=["0"])
    write_corpus(corpus, tmp_path / "own.jsonl", format="jsonl")
    found = load_set(str(tmp_path / "own.jsonl"), step=10)
    assert found.name == "own.jsonl"
    assert len(found.notes) == -(-len(corpus.notes) // 10)


def test_a_corpus_gives_the_marks_of_its_first_annotator() -> None:
    found = load_set("open-notes", step=500)
    labels = {label for note in found.notes for label in note.labels.values()}
    assert labels == {"stated", "not credited"}
    with pytest.raises(UnknownNameError, match="lexicon"):
        next(decide(found, matcher="lexicom"))

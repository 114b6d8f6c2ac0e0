"""From a matcher that says what contradicts to the tables of a run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from rubricate import Corpus, Feature, Note, Rubric
from rubricate.matchers.predictions import Found, NoteFindings, predict_corpus
from rubricate.rows import Contradiction
from rubricate.run import ITEM_COLUMNS, read_results, read_rows
from rubricate.scoring import ScoreSettings, UnsureRange, score_notes

RUBRIC = Rubric(
    "c",
    (
        Feature("right", "c", "Pain on the right"),
        Feature("father", "c", "Father had a heart attack"),
        Feature("fever", "c", "Fever"),
        Feature("cough", "c", "Cough"),
    ),
)
TEXT = "Pt with pain on the left for 2 days. Mother had heart attack. Fever, no fever at night."


class Reader:
    """A matcher that reads one note as it should be read."""

    name = "reader"

    def get_params(self) -> dict[str, Any]:
        return {}

    def save(self, folder: Path, *, overwrite: bool = False) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "reader.json").write_text("{}")

    def predict(self, corpus: Corpus) -> Corpus:
        return predict_corpus(corpus, self.name, self._find)

    def _find(self, rubric: Rubric, notes: Sequence[Note]) -> Iterator[NoteFindings]:
        for note in notes:

            def at(words: str, text: str = note.text) -> tuple[tuple[int, int], ...]:
                return ((text.index(words), text.index(words) + len(words)),)

            yield NoteFindings(
                [Found("fever", at("Fever"), 0.9, "exact")],
                {"right": 0.3, "father": 0.05, "fever": 0.9},
                {
                    "right": Contradiction(at("left"), 0.97123, "says left"),
                    "father": Contradiction((*at("Mother"), *at("heart attack")), None, "mother's"),
                    "fever": Contradiction(at("no fever"), 0.6, "denied"),
                },
            )


@pytest.fixture
def corpus(monkeypatch: pytest.MonkeyPatch) -> Corpus:
    monkeypatch.setattr("rubricate.scoring.job.fit_matcher", lambda *_: Reader())
    monkeypatch.setattr("rubricate.scoring.evidence_search.load_matcher", lambda _: Reader())
    return Corpus((Note("n", "c", TEXT),), (RUBRIC,))


def test_a_matcher_s_contradictions_reach_the_corpus() -> None:
    predicted = Reader().predict(Corpus((Note("n", "c", TEXT),), (RUBRIC,)))
    said = predicted.contradiction("n", "right", "reader")
    assert said is not None and said.reason == "says left"
    assert predicted.contradiction("n", "cough", "reader") is None


def test_every_item_has_one_of_three_outcomes(corpus: Corpus, tmp_path: Path) -> None:
    run = score_notes(corpus, tmp_path / "out")
    rows = {row["feature"]: row for row in read_rows(tmp_path / "out" / "items.csv", ITEM_COLUMNS)}
    assert [rows[f.id]["outcome"] for f in RUBRIC] == [
        "contradicted", "contradicted", "stated", "not mentioned",
    ]  # fmt: skip
    assert [rows[f.id]["found"] for f in RUBRIC] == [False, False, True, False]
    assert (rows["right"]["contradicted_by"], rows["right"]["contradicted_reason"]) == (
        "left", "says left",
    )  # fmt: skip
    assert rows["right"]["contradicted_probability"] == 0.9712
    assert rows["father"]["contradicted_by"] == "Mother heart attack"
    assert rows["father"]["contradicted_probability"] is None
    counts = run.run["counts"]
    assert (counts["stated"], counts["contradicted"], counts["not_mentioned"]) == (1, 2, 1)
    (result,) = read_results(tmp_path / "out")
    assert result.total is not None and result.total.score == 1


def test_doubt_is_the_default_and_can_be_changed(corpus: Corpus, tmp_path: Path) -> None:
    def sent(name: str, unsure: UnsureRange | None) -> tuple[list[str], dict[str, Any]]:
        score_notes(corpus, tmp_path / name, settings=ScoreSettings(unsure=unsure))
        (result,) = read_results(tmp_path / name)
        run = json.loads((tmp_path / name / "run.json").read_text())
        return [item.feature.id for item in result.items if item.review_reason], run

    asked, run = sent("default", ScoreSettings().unsure)
    assert asked == ["right"]
    assert (run["unsure"], run["counts"]["unsure"]) == ({"low": 0.2, "high": 0.8}, 1)
    asked, run = sent("wide", UnsureRange(0.01, 0.95))
    assert asked == ["right", "father", "fever"]
    asked, run = sent("off", None)
    assert asked == [] and "unsure" not in run

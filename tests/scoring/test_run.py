from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rubricate import Corpus, Feature, Note, Rubric, read_corpus, write_corpus
from rubricate.errors import InputError, OutputExistsError
from rubricate.formats.notes import open_notes
from rubricate.matchers import fit_matcher
from rubricate.reports.scoring import ScoringReport
from rubricate.run import ITEM_COLUMNS, SCORE_COLUMNS, parse_spans, read_rows, total_score
from rubricate.scoring import ScoreSettings, score_notes
from rubricate.scoring.evidence_search import EvidenceFinder

#: What must be the same, byte for byte, when the same is scored again.
SAME = ("scores.csv", "items.csv", "scores.xlsx", "run.json")


def scores(folder: Path) -> dict[str, dict[str, Any]]:
    return {str(row["note"]): row for row in read_rows(folder / "scores.csv", SCORE_COLUMNS)}


def items(folder: Path) -> list[dict[str, Any]]:
    return list(read_rows(folder / "items.csv", ITEM_COLUMNS))


def contents(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in SAME]


def test_scores_rest_on_the_evidence_that_is_written(
    depth: Corpus, model: Path, tmp_path: Path
) -> None:
    run = score_notes(depth, tmp_path / "out", model=model)
    found: dict[str, set[str]] = {}
    texts = {note.id: note.text for note in depth.notes}
    for item in items(tmp_path / "out"):
        if item["found"]:
            found.setdefault(item["note"], set()).add(item["feature"])
            marked = " | ".join(
                " ".join(texts[item["note"]][s:e] for s, e in one)
                for one in parse_spans(item["spans"])
            )
            assert item["text"] == marked
            assert item["reason"]
    for note_id, row in scores(tmp_path / "out").items():
        total = total_score(depth.rubric(row["case"]), found.get(note_id, set()))
        assert (row["score"], row["maximum"]) == (total.score, total.maximum)
        assert row["found"] == len(found.get(note_id, ()))
    assert run.run["counts"]["notes"] == 200


def test_the_same_inputs_give_the_same_bytes_however_they_come(
    depth: Corpus, model: Path, tmp_path: Path
) -> None:
    path = tmp_path / "notes.jsonl"
    write_corpus(depth.select(annotators=[]), path, format="jsonl")
    for name in ("a", "b"):
        score_notes(path, tmp_path / name, model=model)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    # Another batch size changes how the work is cut, not what comes out.
    score_notes(path, tmp_path / "c", model=model, settings=ScoreSettings(batch_size=7))
    assert contents(tmp_path / "a")[:3] == contents(tmp_path / "c")[:3]


def test_a_bar_moves_while_a_batch_is_searched_by_a_slow_matcher(
    depth: Corpus, tmp_path: Path
) -> None:
    twelve = depth.select(notes=[note.id for note in depth.notes[:12]])
    matcher = fit_matcher("exact", depth)
    score_notes(twelve, tmp_path / "whole", model=matcher)
    matcher.notes_at_once = 5  # type: ignore[attr-defined]
    seen = []
    progress = lambda done, total, label: seen.append((done, total, label))  # noqa: E731
    score_notes(twelve, tmp_path / "pieces", model=matcher, progress=progress)
    steps = [now[:2] for now in seen if now[2] == "finding evidence"]
    assert steps == [(0, 12), (5, 12), (10, 12), (12, 12)]
    assert contents(tmp_path / "pieces") == contents(tmp_path / "whole")


def test_notes_that_cannot_be_scored_are_rows_with_a_reason(
    depth: Corpus, model: Path, tmp_path: Path
) -> None:
    good = depth.notes[0]
    notes = [
        good,
        Note("empty", good.case, " \n"),
        Note("long", good.case, "x" * 9_000),
        Note("binary", good.case, "\x00\x01\x02"),
        Note("stranger", "no such case", "no fever"),
        Note("half", good.case, "a\ud800"),
        Note("copy", good.case, good.text),
    ]
    corpus = Corpus(tuple(notes), depth.rubrics)
    settings = ScoreSettings(longest=5_000, batch_size=3)
    run = score_notes(corpus, tmp_path / "out", model=model, settings=settings)
    rows = list(read_rows(tmp_path / "out" / "scores.csv", SCORE_COLUMNS))
    assert [row["note"] for row in rows] == [note.id for note in notes]
    assert [row["status"] == "scored" for row in rows] == [True, *[False] * 5, True]
    assert all(row["reason"] for row in rows if row["status"] != "scored")
    assert rows[6]["same_as"] == good.id and rows[6]["score"] == rows[0]["score"]
    assert run.run["counts"]["identical"] == 1
    assert sum(run.run["counts"]["not_scored"].values()) == 5


class Fragile:
    """A matcher that cannot bear one word."""

    name = "fragile"

    def predict(self, corpus: Corpus) -> Corpus:
        if any("bomb" in note.text for note in corpus.notes):
            raise RuntimeError(corpus.notes[0].text)
        return corpus.with_rows(corpus.rows, [])


def test_a_note_the_matcher_fails_at_does_not_harm_the_others(depth: Corpus) -> None:
    case = depth.notes[0].case
    notes = [Note(str(i), case, "bomb" if i == 2 else "fine") for i in range(4)]
    found: Sequence[dict[str, Any]] = EvidenceFinder(Fragile(), depth.rubrics)(notes)  # type: ignore[arg-type]
    assert ["failed" in line for line in found] == [False, False, True, False]
    assert "bomb" not in found[2]["failed"]


def test_corrections_and_policies_do_not_search_again(
    depth: Corpus, model: Path, tmp_path: Path
) -> None:
    out, settings = tmp_path / "out", ScoreSettings(overwrite=True)
    score_notes(depth, out, model=model)
    before = scores(out)
    item = next(item for item in items(out) if item["found"] and item["points"])
    path = tmp_path / "corrections.csv"
    path.write_text(
        f"note,feature,found,by,at\n{item['note']},{item['feature']},no,Dr Ann,2025-01-31T09:30\n"
    )
    run = score_notes(depth, out, model=model, corrections=path, settings=settings)
    assert run.times["batches_kept"] == run.times["batches"]
    after = scores(out)
    changed = [note for note in after if after[note] != before[note]]
    assert changed == [item["note"]]
    assert after[changed[0]]["score"] == before[changed[0]]["score"] - item["points"]
    signed = [i for i in items(out) if i["corrected_by"]]
    assert [(i["corrected_by"], i["corrected_at"]) for i in signed] == [
        ("Dr Ann", "2025-01-31T09:30")
    ]
    kept = json.loads((out / "run.json").read_text())["corrections"]["items"]
    assert [(one["note"], one["by"]) for one in kept] == [(item["note"], "Dr Ann")]


def test_corrections_of_what_is_not_there_are_refused(
    depth: Corpus, model: Path, tmp_path: Path
) -> None:
    path = tmp_path / "corrections.csv"
    path.write_text(
        "note,feature,found,by,at,spans\n"
        f"nobody,{depth.features[0].id},no,Ann,2025-01-31,\n"
        f"{depth.notes[0].id},nothing,no,Ann,2025-01-31,\n"
        f"{depth.notes[1].id},{depth.rubric(depth.notes[1].case).features[0].id},yes,Ann,2025-01-31,"
        "0 999999\n"
    )
    with pytest.raises(InputError) as raised:
        score_notes(depth, tmp_path / "out", model=model, corrections=path)
    assert len(raised.value.faults) == 3


def test_nothing_is_overwritten_and_other_evidence_is_not_mixed_in(
    depth: Corpus, model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    score_notes(depth, out, model=model)
    with pytest.raises(OutputExistsError):
        score_notes(depth, out, model=model)
    half = depth.select(notes=[note.id for note in depth.notes[:50]])
    score_notes(half, out, model=model, settings=ScoreSettings(overwrite=True))
    assert len(scores(out)) == 50
    (out / "run.json").unlink()
    with pytest.raises(InputError):
        score_notes(half, out, model=model)
    with pytest.raises(InputError):
        score_notes(half, out, model=model, settings=ScoreSettings(overwrite=True))


def test_a_rubric_file_scores_texts_without_a_case(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "ann.txt").write_text("Pt has fever and cough.")
    rubric = tmp_path / "flu.csv"
    rubric.write_text("Item,Points\nFever,2\nCough,1\n")
    run = score_notes(tmp_path / "notes", tmp_path / "out", rubric=rubric)
    assert run.run["counts"]["scored"] == 1
    assert scores(tmp_path / "out")["ann"]["maximum"] == 3


def test_what_cannot_be_scored_at_all_is_said(depth: Corpus, tmp_path: Path) -> None:
    strangers = Corpus((Note("n", "x", "text"),), depth.rubrics)
    with pytest.raises(InputError, match="'x'"):
        score_notes(strangers, tmp_path / "a", settings=ScoreSettings(matcher="exact"))
    with pytest.raises(InputError, match="rubric"):
        score_notes(Corpus((Note("n", "x", "text"),), ()), tmp_path / "b")
    with pytest.raises(InputError, match="no note"):
        score_notes(replace(strangers, notes=()), tmp_path / "c",
                    settings=ScoreSettings(matcher="exact"))  # fmt: skip
    with pytest.raises(InputError):
        ScoreSettings(batch_size=0, seed=-1)


@pytest.mark.parametrize("where", [(), ("site=A",)])
def test_notes_with_one_id_are_refused_with_all_their_rows(
    where: tuple[str, ...], tmp_path: Path
) -> None:
    """Whoever corrects or reads a score by its id could mean either note."""
    table, rubric = tmp_path / "notes.csv", tmp_path / "rubric.csv"
    table.write_text("note,text,site\n1,chest pain,A\n2,cough,B\n\n1,fever,A\n2,rash,A\n1,x,A\n")
    rubric.write_text("case,feature,text\nc,f,Chest pain\n")
    settings = ScoreSettings(matcher="exact", batch_size=2)
    source = open_notes(table, where=where)
    with pytest.raises(InputError) as caught:
        score_notes(source, tmp_path / "out", rubric=rubric, settings=settings)
    said = [fault.message for fault in caught.value.faults]
    pairs = [("row 5", "row 2"), ("row 6", "row 3"), ("row 7", "row 2")]
    wanted = [pair for pair in pairs if not where or pair[0] != "row 6"]
    assert [tuple(re.findall(r"row \d+", one)) for one in said] == wanted
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="row 5 has the same id as row 2"):
        read_corpus(table)


def test_what_is_wrong_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "notes.csv").write_text("note,text\n")
    (tmp_path / "rubric.csv").write_text("case,feature,text\nc,f,Chest pain\n")
    with pytest.raises(InputError):
        score_notes(
            tmp_path / "notes.csv", tmp_path / "out", rubric=tmp_path / "rubric.csv",
            settings=ScoreSettings(matcher="exact"),
        )  # fmt: skip
    assert not (tmp_path / "out").exists()


def test_names_that_are_no_utf8_can_be_written(tmp_path: Path) -> None:
    notes = tmp_path / os.fsdecode(b"notes\xff.csv")
    try:
        notes.write_text("note,text\n1,chest pain\n")
    except OSError:
        pytest.skip("the file system has no such names")
    (tmp_path / "rubric.csv").write_text("case,feature,text\nc,f,Chest pain\n")
    settings = ScoreSettings(matcher="exact")
    run = score_notes(
        notes, tmp_path / "out", rubric=tmp_path / "rubric.csv", settings=settings,
        report=ScoringReport(),
    )  # fmt: skip
    assert run.run["input"]["name"] == "notes?.csv"
    assert "notes?.csv" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_a_rubric_that_is_no_text_is_refused(tmp_path: Path) -> None:
    rubric = Rubric("c", (Feature("f", "c", "chest\ud800 pain"),))
    corpus = Corpus((Note("n", "c", "chest pain"),), (rubric,))
    with pytest.raises(InputError, match="surrogate"):
        score_notes(corpus, tmp_path / "out", settings=ScoreSettings(matcher="exact"))
    assert not (tmp_path / "out").exists()

import pickle
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate import Corpus, Feature, Note, Rubric, load_corpus
from rubricate.errors import InputError
from rubricate.run import (
    ITEM_COLUMNS,
    Correction,
    Evidence,
    NoteResult,
    RunItems,
    ScoredRun,
    read_evidence,
    read_results,
    read_rows,
    read_run,
)
from rubricate.run.reading import Spill, collect_run, paired_items, shared_notes
from rubricate.run.results import CounterEvidence
from rubricate.run.writing import RunTables
from rubricate.scoring import ScoreSettings, judge_note, score_notes


def write_tables(written: Iterable[NoteResult], folder: Path) -> None:
    with RunTables(folder) as tables:
        for result in written:
            tables.add(result)


SCORES = "note,case,status,score,maximum\n'=a,c,scored,1.5,2\nb,c,not scored,,\n"
ITEMS = (
    "note,feature,found,probability,confidence,spans,review\n"
    "'=a,f,yes,0.8,0.9,0 5;8 12|20 25,no\n'=a,g,no,0.3,,,yes\nb,f,,,,,no\n"
)


def write(folder: Path, scores: str = SCORES, items: str = ITEMS) -> Path:
    (folder / "scores.csv").write_text(scores, encoding="utf-8")
    (folder / "items.csv").write_text(items, encoding="utf-8")
    return folder


def test_a_run_is_read_with_guards_taken_away(tmp_path: Path) -> None:
    run = read_run(write(tmp_path))
    assert run.notes == ("=a", "b")
    assert run.percentage[0] == 75.0
    assert np.isnan(run.percentage[1])
    assert run.items.found.tolist() == [True, False]
    assert run.items.needs_review.tolist() == [False, True]
    assert run.items.certainty.tolist() == pytest.approx([0.8, 0.7])
    evidence = read_evidence(tmp_path)["=a"]["f"]
    assert evidence.spans == (((0, 5), (8, 12)), ((20, 25),))


def test_what_the_scorer_writes_is_read(tmp_path: Path) -> None:
    corpus = load_corpus("open-notes").select(cases=["0"])
    settings = ScoreSettings(matcher="exact")
    score_notes(corpus.select(annotators=()), tmp_path / "run", settings=settings)
    run = read_run(tmp_path / "run")
    assert run.notes == tuple(note.id for note in corpus.notes)
    totals = np.bincount(run.items.note[run.items.found], minlength=len(run))
    assert run.score.tolist() == totals.tolist()
    assert len(run.items) == 16 * len(run)


@pytest.mark.parametrize(
    ("scores", "items", "message"),
    [
        (SCORES.replace("1.5", "high"), ITEMS, "row 2: score"),
        (SCORES.replace("score,", "points,"), ITEMS, "'score' is missing"),
        (SCORES, ITEMS.replace("yes,0.8", "maybe,0.8"), "row 2: found"),
        (SCORES, ITEMS.replace("'=a,g", "z,g"), "row 3: the note has no row"),
        (SCORES + SCORES.splitlines()[1], ITEMS, "has the same id as row 2"),
    ],
)
def test_faults_name_their_row(tmp_path: Path, scores: str, items: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_run(write(tmp_path, scores, items))


def test_wrong_spans_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="row 2: spans"):
        read_evidence(write(tmp_path, items=ITEMS.replace("8 12", "12 8")))


RUBRIC = Rubric("c", (Feature("f", "c", "=Fever", 2.0), Feature("g", "c", "Cough", group="any")))
LINE = {
    "note": "-n",
    "case": "c",
    "items": [
        Evidence((((0, 5), (7, 9)), ((20, 21),)), 0.9, 0.8, ("fe ver", "x"), "exact").to_json(),
        Evidence((), 0.25).to_json(),
    ],
}
AGAINST = CounterEvidence(((4, 8), (10, 12)), "=left =arm", 0.875, "-says left")


def results() -> list[NoteResult]:
    signed = Correction("m", "g", True, "Ann", "2025-01-31", comment="+seen")
    failed = {"note": "e", "case": "c", "failed": "the note is empty"}
    return [
        judge_note(LINE, RUBRIC),
        judge_note({**LINE, "note": "m"}, RUBRIC, corrections={"g": signed}, same_as="-n"),
        judge_note(
            {**LINE, "note": "l", "items": [Evidence((), 0.1, against=AGAINST).to_json()] * 2},
            RUBRIC,
        ),
        judge_note({**LINE, "note": "o", "no_note": "does not read like a note"}, RUBRIC),
        judge_note(failed, RUBRIC),
        judge_note({**failed, "case": "d", "note": "s"}, Rubric("d", ())),
    ]


def test_what_was_written_comes_back_as_it_was(tmp_path: Path) -> None:
    written = results()
    write_tables(written, tmp_path)
    read = list(read_results(tmp_path))
    for one, other in zip(written, read, strict=True):
        assert other.items == one.items
        assert (other.note, other.case, other.status, other.reason, other.same_as) == (
            one.note, one.case, one.status, one.reason, one.same_as,
        )  # fmt: skip
        assert (other.total is None) == (one.total is None)
        if one.total is not None and other.total is not None:
            assert (other.total.score, other.total.maximum) == (one.total.score, one.total.maximum)
    assert read[1].items[1].certainty is None  # a person decided
    assert [result.why_not_scored for result in read] == [
        "", "", "", "does not read like a note", *["the note is empty"] * 2,
    ]  # fmt: skip
    assert [item.outcome for item in read[2].items] == ["contradicted"] * 2
    assert [item.outcome for item in read[3].items] == [None] * 2


def test_the_table_says_what_contradicts_and_why(tmp_path: Path) -> None:
    write_tables(results(), tmp_path)
    rows = list(read_rows(tmp_path / "items.csv", ITEM_COLUMNS))
    row = next(row for row in rows if row["note"] == "l")
    assert (row["outcome"], row["found"], row["points"]) == ("contradicted", False, 0.0)
    assert row["contradicted_by"] == "=left =arm"
    assert row["contradicted_spans"] == "4 8;10 12"
    assert (row["contradicted_reason"], row["contradicted_probability"]) == ("-says left", 0.875)
    assert [row["outcome"] for row in rows][:2] == ["stated", "not mentioned"]


def test_wrong_spans_of_a_contradiction_are_refused(tmp_path: Path) -> None:
    items = "note,feature,found,contradicted_spans\n'=a,f,no,5 2\n"
    with pytest.raises(InputError, match="row 2: contradicted_spans"):
        read_run(write(tmp_path, items=items))


def test_items_may_come_in_any_order(tmp_path: Path) -> None:
    write_tables(results(), tmp_path)
    before = list(read_results(tmp_path))
    path = tmp_path / "items.csv"
    head, *rows = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text(
        head + "".join(sorted(rows, key=lambda row: row.split(",")[2])), encoding="utf-8"
    )
    assert list(read_results(tmp_path)) == before


def test_each_table_is_opened_once_and_never_read_while_scoring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, str]] = []
    plain = Path.open

    def watched(self: Path, mode: str = "r", *more: object, **options: object) -> object:
        if "scores.csv" in self.name or "items.csv" in self.name:
            opened.append((self.name.strip(".").removesuffix(".part"), mode))
        return plain(self, mode, *more, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", watched)
    from rubricate.reports.scoring import ScoringReport

    report = ScoringReport()
    corpus = Corpus((Note("n", "c", "Fever, cough"),), (RUBRIC,))
    score_notes(corpus, tmp_path / "out", settings=ScoreSettings(matcher="exact"), report=report)
    assert (tmp_path / "out" / "report.html").exists()
    assert sorted(one for one in opened if one[1] == "w") == [
        ("items.csv", "w"),
        ("scores.csv", "w"),
    ]
    # Once more for the hash in run.json.
    assert sorted(one for one in opened if one[1] != "w") == [
        ("items.csv", "rb"),
        ("scores.csv", "rb"),
    ]


@given(st.lists(st.text() | st.none() | st.lists(st.text())))
def test_values_come_back_by_place(added: list[object]) -> None:
    spill = Spill[object]()
    assert [spill.add(value) for value in added] == list(range(len(added)))
    assert list(spill) == added
    assert [spill[place] for place in reversed(range(len(spill)))] == added[::-1]


def test_values_may_be_added_after_some_were_read() -> None:
    spill = Spill[str]()
    spill.add("a" * 10_000)
    assert len(spill[0]) == 10_000
    spill.add("b")
    assert (spill[1], len(spill)) == ("b", 2)


def test_texts_may_hold_half_surrogate_pairs() -> None:
    spill = Spill[str]()
    spill.add("\ud800")
    assert spill[0] == "\ud800" and pickle.dumps(spill[0])


TWO_ITEMS = Rubric("c", (Feature("f", "c", "Fever"), Feature("g", "c", "Cough")))


def test_columns_hold_what_was_decided() -> None:
    found = Evidence((((0, 5),),), 0.9, 0.8)
    line = {"note": "a", "case": "c", "items": [found.to_json(), Evidence((), 0.3).to_json()]}
    run = collect_run(
        [
            judge_note(line, TWO_ITEMS),
            judge_note({"note": "b", "case": "c", "failed": "the note is empty"}, TWO_ITEMS),
        ]
    )
    assert run.percentage.tolist()[0] == 50.0 and np.isnan(run.percentage[1])
    assert run.items.found.tolist() == [True, False]
    assert run.items.certainty.tolist() == [0.9, 0.7]
    assert run.items.note.tolist() == [0, 0]
    assert not run.items.needs_review.any()


def run_of(notes: str, found: list[bool]) -> ScoredRun:
    n = len(notes)
    places, features = np.arange(n), np.zeros(n, dtype=np.int64)
    no = np.zeros(n, dtype=np.bool_)
    items = RunItems(places, features, ("f",), np.array(found), np.full(n, 0.9), no)
    score = np.array(found, dtype=float)
    return ScoredRun(tuple(notes), ("c",) * n, score, np.ones(n), items)


def test_runs_are_paired_by_note_whatever_their_order() -> None:
    first, second = run_of("abc", [True, False, True]), run_of("cbd", [True, True, True])
    one, two = shared_notes(first, second)
    assert [first.notes[i] for i in one] == [second.notes[i] for i in two] == ["b", "c"]
    one, two = paired_items(first, second)
    changed = first.items.found[one] != second.items.found[two]
    assert changed.tolist() == [True, False]
    turned = run_of("cab", [True, True, False]).with_notes_like(first)
    assert turned.notes == first.notes and turned.score.tolist() == first.score.tolist()
    assert turned.items.note.tolist() == [2, 0, 1]


#: What is still in memory at the end is more than a file may have.
FULL = """
from rubricate.run.reading import Spill
spill = Spill()
spill.add("b" * 2000)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are set by the shell")
def test_what_is_left_of_a_list_on_a_full_disk_is_thrown_away_in_silence() -> None:
    shell = 'ulimit -f 1; exec "$0" -P -c "$1"'
    done = subprocess.run(["sh", "-c", shell, sys.executable, FULL], text=True,
                          capture_output=True, check=False)  # fmt: skip
    assert done.returncode == 0 and done.stderr == ""

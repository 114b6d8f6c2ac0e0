"""A report made while notes are scored is the one made from the run's files afterwards."""

from pathlib import Path

import pytest

from rubricate import Corpus, Feature, Note, Rubric, load_corpus
from rubricate.errors import InputError
from rubricate.reports.scoring import ScoringReport, write_scoring_report
from rubricate.reports.scoring.checks import CHECKS, Seen
from rubricate.reports.scoring.viewer import Cohort, without_numbers
from rubricate.run import Evidence
from rubricate.run.results import CounterEvidence, EvidenceLine
from rubricate.scoring import ScoreSettings, UnsureRange, judge_note, score_notes

RUBRIC = Rubric("c", (Feature("f", "c", "Fever", 2.0), Feature("g", "c", "Cough")))


@pytest.fixture(scope="module")
def notes() -> Corpus:
    corpus = load_corpus("open-notes").select(cases=["30", "31"], annotators=[])
    first = corpus.notes[0]
    more = [
        Note("copy", first.case, first.text + " !"),
        Note("empty", first.case, " "),
        Note("hard", first.case, "</script> \U0001f600 <b>58 yo</b> & more"),
    ]
    return Corpus((*corpus.notes, *more), corpus.rubrics)


def files(folder: Path) -> dict[str, bytes]:
    paths = [folder / "report.html", *(folder / "report").rglob("*.*")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_results_from_memory_and_from_disk_make_the_same_report(
    notes: Corpus, tmp_path: Path
) -> None:
    settings = ScoreSettings(matcher="lexicon", batch_size=5)
    score_notes(notes, tmp_path / "before", settings=ScoreSettings(matcher="exact"))
    report = ScoringReport(tmp_path / "before")
    score_notes(notes, tmp_path / "out", settings=settings, report=report)
    made = files(tmp_path / "out")
    assert len(made) == 4
    write_scoring_report(
        tmp_path / "out", notes.notes, previous=tmp_path / "before", overwrite=True
    )
    assert files(tmp_path / "out") == made


def test_long_work_shows_how_far_it_has_come(notes: Corpus, tmp_path: Path) -> None:
    seen: dict[str, list[tuple[int, int | None]]] = {}

    def progress(done: int, total: int | None, label: str) -> None:
        seen.setdefault(label, []).append((done, total))

    report = ScoringReport()
    settings = ScoreSettings(matcher="exact", batch_size=5)
    score_notes(notes, tmp_path, settings=settings, report=report, progress=progress)
    # How many notes there are is known when they were read.
    assert seen.pop("reading notes") == [(n, None) for n in range(len(notes.notes) + 1)]
    assert list(seen) == [
        "finding evidence", "writing results", "looking for copies", "writing the report",
    ]  # fmt: skip
    for steps in seen.values():
        assert steps == sorted(steps)
        assert steps[0][0] == 0
        assert steps[-1][0] == steps[-1][1]
    assert seen["finding evidence"][0] == (0, len(notes.notes))
    write_scoring_report(tmp_path, notes.notes, overwrite=True, progress=progress)
    assert {"reading items", "reading results"} < set(seen)


def test_every_check_has_its_own_section_and_filter() -> None:
    made = [check for make in CHECKS if (check := make(None)) is not None]
    assert len(made) == len(CHECKS) - 1
    assert len({check.anchor for check in made}) == len({check.flag for check in made}) == len(made)
    # 1, 16 and 32 are what the viewer itself filters by.
    assert not {check.flag for check in made} & {1, 16, 32}


def test_notes_without_score_or_text_are_not_looked_at() -> None:
    result = judge_note({"note": "n", "case": "c", "failed": "the note is empty"}, RUBRIC)
    assert not Seen(0, result, (), RUBRIC, "text").readable
    line = [Evidence((((0, 5),),), 0.9).to_json(), Evidence().to_json()]
    scored = judge_note({"note": "n", "case": "c", "items": line}, RUBRIC)
    assert Seen(0, scored, scored.items, RUBRIC, "fever").readable
    assert not Seen(0, scored, scored.items, RUBRIC, None).readable


def test_sums_are_those_of_the_items() -> None:
    cohort = Cohort()
    line = [Evidence((((0, 5),),), 0.9).to_json(), Evidence().to_json()]
    for name in "ab":
        result = judge_note({"note": name, "case": "c", "items": line}, RUBRIC)
        assert cohort.add(result) == 0
    failed = judge_note(
        {"note": "d", "case": "e", "failed": "the note has 9 signs"}, Rubric("e", ())
    )
    assert cohort.add(failed) == 1
    assert [(t.judged, t.found, t.review) for t in cohort.all_tallies()] == [(2, 2, 0), (2, 0, 0)]
    assert cohort.percentage.tolist()[:2] == pytest.approx([200 / 3] * 2)
    assert dict(cohort.not_scored) == {without_numbers("the note has 9 signs"): 1}
    assert cohort.rubrics == {"c": RUBRIC}


AGAINST = CounterEvidence(((6, 14),), "no cough", 0.97, "says <no>")


def report_of(lines: list[dict[str, object]], folder: Path, text: str) -> str:
    report = ScoringReport()
    for line in lines:
        whole: EvidenceLine = {"case": "c", **line}  # type: ignore[typeddict-item]
        report.add(judge_note(whole, RUBRIC, policy=UnsureRange()), text)
    return report.write(folder).read_text(encoding="utf-8")


def test_the_page_opens_with_what_is_least_sure(tmp_path: Path) -> None:
    def items(first: float, second: float) -> list[object]:
        return [Evidence((((0, 5),),), first).to_json(), Evidence((), second).to_json()]

    page = report_of(
        [
            {"note": "sure", "items": items(0.99, 0.01)},
            {"note": "nearly", "items": items(0.75, 0.01)},
            {"note": "least", "items": items(0.99, 0.6)},
            {"note": "unlikely", "items": items(0.3, 0.01)},
        ],
        tmp_path,
        "fever",
    )
    first = page.index('id="first"')
    assert first < page.index('id="overview"')
    table = page[first : page.index('id="overview"')]
    # What was found with less than one half is the least sure of all, and told so.
    assert table.index(">unlikely<") < table.index(">least<") < table.index(">nearly<")
    assert "30 % sure" in table and "70 % sure" not in table
    assert ">sure<" not in table


def test_features_of_one_case_are_drawn_without_its_name(tmp_path: Path) -> None:
    items = [Evidence((((0, 5),),), 0.6).to_json(), Evidence((), 0.4).to_json()]
    page = report_of([{"note": "n", "items": items}], tmp_path, "fever")
    drawing = page[page.index('id="review"') :]
    assert "Fever" in drawing and "Case c: Fever" not in drawing


def test_unsure_items_show_the_words_that_say_otherwise(tmp_path: Path) -> None:
    items = [Evidence((((0, 5),),), 0.99).to_json(), Evidence((), 0.4, against=AGAINST).to_json()]
    page = report_of([{"note": "n", "items": items}], tmp_path, "fever no cough")
    assert "no cough" in page[page.index('id="first"') : page.index('id="overview"')]


def test_the_page_does_not_open_with_nothing(tmp_path: Path) -> None:
    items = [Evidence((((0, 5),),), 0.99).to_json(), Evidence((), 0.01).to_json()]
    page = report_of([{"note": "n", "items": items}], tmp_path, "fever")
    assert 'id="first"' not in page and 'id="contradicted"' not in page


def test_contradicted_items_are_listed_and_marked_with_their_reason(tmp_path: Path) -> None:
    found, against = Evidence((((0, 5),),), 0.99), Evidence((), 0.01, against=AGAINST)
    items = [found.to_json(), against.to_json()]
    page = report_of([{"note": "n", "items": items}], tmp_path, "fever no cough")
    section = page[page.index('id="contradicted"') :]
    assert "no cough" in section and "says &lt;no&gt;" in section
    assert '<a href="report/notes.html#show=contradicted">' in section
    index = (tmp_path / "report" / "notes.html").read_text(encoding="utf-8")
    assert '["n",0,2,3,"12",0,0]' in index
    script = (tmp_path / "report" / "notes" / "0000.js").read_text(encoding="ascii")
    assert '"6 14","says \\u003cno>"]' in script


def test_spans_of_a_contradiction_must_fit_the_note(tmp_path: Path) -> None:
    items = [Evidence().to_json(), Evidence(against=AGAINST).to_json()]
    with pytest.raises(InputError, match="spans do not fit"):
        report_of([{"note": "n", "items": items}], tmp_path, "fever")


def test_notes_for_review_as_a_whole_are_named_first(tmp_path: Path) -> None:
    items = [Evidence((((0, 5),),), 0.99).to_json(), Evidence().to_json()]
    line = {"note": "cake", "items": items, "no_note": "does not read like a note: 3 % known"}
    page = report_of([{"note": "n", "items": items}, line], tmp_path, "fever")
    opening = page[page.index('id="first"') : page.index('id="overview"')]
    assert ">cake<" in opening and "3 % known" in opening
    index = (tmp_path / "report" / "notes.html").read_text(encoding="utf-8")
    assert '["cake",0,null,null,"--",2,32]' in index

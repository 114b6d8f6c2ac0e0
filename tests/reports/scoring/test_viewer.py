import csv
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browsing import open_browser, press, wait_for

from rubricate import Corpus, load_corpus
from rubricate.corpus import Note
from rubricate.errors import InputError, OutputExistsError
from rubricate.reports.scoring import CHUNK, write_scoring_report
from rubricate.spans import merge_spans

HOSTILE = "</script><img src=x onerror=alert(1)> 58 yo \U0001f600 M &amp; chest pain\rnew line"
ITEM_COLUMNS = [
    "note", "case", "feature", "feature_text", "group", "weight", "found", "probability",
    "confidence", "spans", "reason", "review", "review_reason", "corrected_by", "corrected_at",
    "comment",
]  # fmt: skip


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus("open-notes").select(cases=["0", "1"])


def write_run(folder: Path, corpus: Corpus, notes: list[Note], *, lose: str = "") -> None:
    """Write a run's tables from the reference annotations; ``lose`` is a feature never found."""
    folder.mkdir(parents=True, exist_ok=True)
    own = {note.id: note for note in corpus.notes}
    with (
        (folder / "scores.csv").open("w", encoding="utf-8", newline="") as scores,
        (folder / "items.csv").open("w", encoding="utf-8", newline="") as items,
    ):
        score_rows, item_rows = csv.writer(scores), csv.writer(items)
        score_rows.writerow(["note", "case", "status", "reason", "score", "maximum"])
        item_rows.writerow(ITEM_COLUMNS)
        for note in notes:
            if not note.text:
                score_rows.writerow([note.id, note.case, "not scored", "the note is empty", "", ""])
                continue
            rubric, total = corpus.rubric(note.case), 0
            for feature in rubric:
                found = ()
                if own[note.id].text == note.text and feature.id != lose:
                    found = corpus.annotations(note.id, feature.id, "reference") or ()
                total += bool(found)
                spans = "|".join(";".join(f"{s.start} {s.end}" for s in a.spans) for a in found)
                asked = feature.id == "3"
                item_rows.writerow(
                    [note.id, note.case, feature.id, feature.text, "", "1", "yes" if found else "no",
                     "0.9" if found else "0.2", "0.9", spans, "rubric: <b>words</b>",
                     "yes" if asked else "no", "found with certainty 0.90" if asked else "",
                     "Ann" if feature.id == "5" else "", "", ""]
                )  # fmt: skip
            score_rows.writerow([note.id, note.case, "scored", "", total, len(rubric)])


@pytest.fixture(scope="module")
def planted(corpus: Corpus) -> list[Note]:
    notes = list(corpus.notes)
    rubric = corpus.rubric("0")
    notes[2] = replace(notes[2], text="\n".join(feature.text for feature in rubric))
    notes[4] = replace(notes[4], text=notes[3].text + " !")
    notes[5] = replace(notes[5], text="")
    notes[6] = replace(notes[6], text=HOSTILE)
    return notes


@pytest.fixture(scope="module")
def folder(corpus: Corpus, planted: list[Note], tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("run")
    write_run(place / "before", corpus, list(corpus.notes), lose="4")
    write_run(place / "now", corpus, planted)
    curve = [
        {"threshold": t, "review_share": 1 - t, "error_rate": t / 10 or None, "upper": t / 8}
        for t in (0.0, 0.5, 1.0)
    ]
    policy = {"max_error": 0.05, "confidence": 0.95, "curve": curve}
    (place / "policy.json").write_text(json.dumps(policy), encoding="utf-8")
    write_scoring_report(
        place / "now", planted, previous=place / "before", policy=place / "policy.json"
    )
    return place / "now"


def index_of(folder: Path) -> dict[str, Any]:
    page = (folder / "report" / "notes.html").read_text(encoding="utf-8")
    found = re.search(r'id="index">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    value: dict[str, Any] = json.loads(found[1])
    return value


def chunk_of(folder: Path, number: int) -> list[Any]:
    script = (folder / "report" / "notes" / f"{number:04d}.js").read_text(encoding="ascii")
    found = re.fullmatch(r"rubricateChunk\((\d+),(.*)\);\n", script, re.DOTALL)
    assert found is not None
    assert int(found[1]) == number
    value: list[Any] = json.loads(found[2])
    return value


def test_every_note_is_in_the_viewer_with_its_text_and_spans(
    folder: Path, planted: list[Note], corpus: Corpus
) -> None:
    index = index_of(folder)
    assert [note[0] for note in index["notes"]] == [note.id for note in planted]
    notes = [note for k in range(2) for note in chunk_of(folder, k)]
    assert len(notes) == len(planted) == 2 * CHUNK
    assert [text for text, _, _ in notes] == [note.text for note in planted]
    first = notes[0][1]
    assert len(first) == len(corpus.rubric("0"))
    found = corpus.annotations(planted[0].id, "3", "reference") or ()
    assert first[3][2] == "|".join(";".join(f"{s.start} {s.end}" for s in a.spans) for a in found)
    assert index["notes"][0][5] == 1


def test_flags_say_what_the_filters_look_for(folder: Path) -> None:
    corrected, changed, copied, gaming, failed = 1, 2, 4, 8, 16
    flags = [note[6] for note in index_of(folder)["notes"]]
    assert flags[2] & gaming
    assert flags[3] & copied and flags[4] & copied
    assert flags[5] == failed | changed
    assert flags[0] & corrected and flags[0] & changed
    assert not flags[50] & (copied | gaming | failed)
    assert chunk_of(folder, 0)[5][2][0] == "the note is empty"


def test_no_text_of_a_note_becomes_markup(folder: Path) -> None:
    for path in folder.rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        assert "<img" not in page
        assert "onerror" not in page
    script = (folder / "report" / "notes" / "0000.js").read_text(encoding="ascii")
    assert "</script" not in script


def test_the_cohort_page_tells_everything(folder: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    for anchor in ("scores", "features", "review", "changes", "copies", "gaming"):
        assert f'id="{anchor}"' in page
    assert "pasted rubric" in page
    assert "the note is empty" in page
    assert "Review against error" in page
    assert page.count("drifted") >= 1
    assert "found with certainty …" in page
    assert "http://" not in page.replace("http://www.w3.org/", "")


def test_a_report_is_not_overwritten_by_chance(
    folder: Path, planted: list[Note], tmp_path: Path
) -> None:
    # A copy: the others look at the report with its changes.
    folder = Path(shutil.copytree(folder, tmp_path / "now"))
    with pytest.raises(OutputExistsError):
        write_scoring_report(folder, planted)
    again = write_scoring_report(folder, planted, overwrite=True)
    assert "Since the last run" not in again.read_text(encoding="utf-8")


def test_other_notes_are_refused_without_their_text(
    corpus: Corpus, planted: list[Note], tmp_path: Path
) -> None:
    write_run(tmp_path, corpus, planted)
    with pytest.raises(InputError) as raised:
        write_scoring_report(tmp_path, [replace(note, text="short") for note in planted])
    assert "spans do not fit" in str(raised.value)
    assert "chest" not in str(raised.value)
    with pytest.raises(InputError, match="not among the notes"):
        write_scoring_report(tmp_path, planted[:10])
    assert not (tmp_path / "report.html").exists()


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"scores\.csv"):
        write_scoring_report(tmp_path, [])


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as started:
        yield started


@pytest.fixture
def viewer(browser: Any, folder: Path) -> Any:
    browser.get("about:blank")
    browser.get((folder / "report" / "notes.html").as_uri())
    wait_for(browser, "document.body.dataset.note", "10000")
    browser.get_log("browser")
    return browser


def count(browser: Any) -> str:
    return str(browser.execute_script("return document.getElementById('count').textContent"))


def choose(browser: Any, name: str, value: str) -> None:
    browser.execute_script(
        "const f = document.getElementById(arguments[0]); f.value = arguments[1];"
        "f.dispatchEvent(new Event('input', {bubbles: true}));", name, value,
    )  # fmt: skip


@pytest.mark.browser
def test_pages_open_without_an_error_in_the_console(browser: Any, folder: Path) -> None:
    for name in ("report.html", "report/notes.html"):
        browser.get((folder / name).as_uri())
        assert browser.execute_script("return document.title")
    wait_for(browser, "document.body.dataset.note", "10000")
    assert browser.get_log("browser") == []


@pytest.mark.browser
def test_filters_narrow_the_list(viewer: Any, planted: list[Note]) -> None:
    assert count(viewer) == "200 of 200 notes"
    choose(viewer, "show", "failed")
    assert count(viewer) == "1 of 200 notes"
    choose(viewer, "show", "gaming")
    listed = viewer.execute_script("return document.querySelector('#list .id').textContent")
    assert (listed, int(count(viewer).split()[0]) < 5) == (planted[2].id, True)
    choose(viewer, "show", "")
    choose(viewer, "case", "1")
    assert count(viewer) == "100 of 200 notes"
    choose(viewer, "case", "0")
    choose(viewer, "feature", "0 0")
    few = int(count(viewer).split()[0])
    assert 0 < few < 100
    choose(viewer, "feature", "")
    choose(viewer, "low", "95")
    assert 0 < int(count(viewer).split()[0]) < 100
    choose(viewer, "low", "")
    choose(viewer, "search", "10007")
    assert count(viewer) == "1 of 200 notes"
    assert viewer.get_log("browser") == []


@pytest.mark.browser
def test_evidence_is_highlighted_and_the_text_is_unchanged(
    viewer: Any, corpus: Corpus, folder: Path
) -> None:
    note = corpus.notes[0]
    shown = viewer.execute_script("return document.getElementById('text').textContent")
    assert shown == note.text
    for k, feature in enumerate(corpus.rubric("0")):
        parts = viewer.execute_script(
            "return [...document.querySelectorAll('#text mark')]"
            ".filter(m => m.dataset.f.split(' ').includes(arguments[0])).map(m => m.textContent)",
            str(k),
        )
        found = corpus.annotations(note.id, feature.id, "reference") or ()
        spans = merge_spans(span for one in found for span in one.spans)
        expected = "".join(span.text(note.text) for span in spans)
        assert "".join(parts) == expected
    assert viewer.get_log("browser") == []


@pytest.mark.browser
def test_hostile_text_is_shown_as_it_is(viewer: Any, planted: list[Note]) -> None:
    viewer.execute_script(f"location.hash = '#n={planted[6].id}'")
    wait_for(viewer, "document.body.dataset.note", planted[6].id)
    shown = viewer.execute_script("return document.getElementById('text').textContent")
    assert shown == HOSTILE
    assert viewer.execute_script("return document.querySelectorAll('#text img').length") == 0
    assert viewer.get_log("browser") == []


@pytest.mark.browser
def test_keys_walk_through_features_and_notes(viewer: Any, corpus: Corpus) -> None:
    current = "document.querySelector('#features [aria-current]')?.dataset.f ?? null"
    press(viewer, "j", "j")
    wait_for(viewer, current, "1")
    on = viewer.execute_script("return document.querySelectorAll('#text mark.on').length")
    assert on > 0
    press(viewer, "k")
    wait_for(viewer, current, "0")
    press(viewer, "n")
    wait_for(viewer, "document.body.dataset.note", corpus.notes[1].id)
    press(viewer, "p")
    wait_for(viewer, "document.body.dataset.note", corpus.notes[0].id)
    press(viewer, "/")
    press(viewer, "n")
    wait_for(viewer, "document.activeElement.value", "n")
    assert viewer.get_log("browser") == []


@pytest.mark.browser
def test_notes_of_other_files_are_loaded_on_demand(viewer: Any, corpus: Corpus) -> None:
    assert viewer.execute_script("return document.querySelectorAll('head script').length") == 1
    viewer.execute_script(f"location.hash = '#n={corpus.notes[150].id}'")
    wait_for(viewer, "document.body.dataset.note", corpus.notes[150].id)
    assert viewer.execute_script("return document.querySelectorAll('head script').length") == 2
    assert viewer.get_log("browser") == []


@pytest.mark.browser
def test_what_contradicts_is_marked_in_another_style_with_its_reason(
    browser: Any, tmp_path: Path
) -> None:
    (tmp_path / "scores.csv").write_text(
        "note,case,status,reason,score,maximum\na,c,scored,,1,2\nb,c,scored,,1,2\n"
        "d,c,for review,does not read like a clinical note: x,,\n"
    )
    (tmp_path / "items.csv").write_text(
        "note,feature,feature_text,found,probability,spans,contradicted_by,contradicted_spans,"
        "contradicted_reason\na,f,Fever,yes,0.9,0 5,,,\na,g,Pain on the right,no,0.03,,left,14 18,"
        "says left\nb,f,Fever,yes,0.9,0 5,,,\nb,g,Pain on the right,no,0.03,,,,\n"
        "d,f,Fever,,,,,,\nd,g,Pain on the right,,,,,,\n"
    )
    notes = [Note(name, "c", "fever, pain:  left side") for name in "abd"]
    write_scoring_report(tmp_path, notes)
    browser.get("about:blank")
    browser.get((tmp_path / "report" / "notes.html").as_uri())
    wait_for(browser, "document.body.dataset.note", "a")
    browser.get_log("browser")
    marked = "[...document.querySelectorAll('#text mark.against')].map(m => m.textContent)"
    assert browser.execute_script(f"return {marked}") == ["left"]
    line = browser.execute_script("return document.getElementById('f1').textContent")
    assert "contradicted" in line and "says left" in line and "97 % sure" in line
    choose(browser, "show", "contradicted")
    assert count(browser) == "1 of 3 notes"
    choose(browser, "show", "unlike")
    assert count(browser) == "1 of 3 notes"
    choose(browser, "show", "")
    choose(browser, "case", "0")
    choose(browser, "feature", "1 2")
    assert count(browser) == "1 of 3 notes"
    choose(browser, "feature", "1 0")
    assert count(browser) == "2 of 3 notes"
    assert browser.get_log("browser") == []

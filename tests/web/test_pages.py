"""Plain pages without a browser: what managers and administrators do by forms."""

import html
import io
import re
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path

import openpyxl
from httpx import Response
from sqlalchemy import select
from starlette.testclient import TestClient
from workbench import Browsers, judge_all, small_project

from rubricate.formats.rubric import write_rubrics
from rubricate.rubric import Feature, Rubric
from rubricate.store import tables as t
from rubricate.store.database import Database
from rubricate.web.calls import Bench


def wait_for(name: str) -> None:
    """Wait until work in the background has ended."""
    for thread in threading.enumerate():
        if thread.name == name:
            thread.join()


def field(name: str, page: str) -> str:
    """Return the value of a field of a page's form."""
    return html.unescape(re.search(rf'name="{name}" value="([^"]*)"', page)[1])


def save(boss: TestClient, page: str, compared: str, **more: str) -> Response:
    """Save the version that a page compared, as its form does."""
    given = {"draft": field("draft", compared), "what": "save", **more}
    return boss.post(f"{page}/save", data=given)


def test_a_rubric_file_becomes_a_new_version(
    bench: Bench, browsers: Browsers, tmp_path: Path
) -> None:
    small = small_project(bench.database)
    judge_all(bench.database, small)
    boss, page = browsers.of(small.who["manager"]), f"/p/{small.project}/rubric"
    other = Rubric("c", (Feature("f1", "c", "High fever"), Feature("f2", "c", "Chest pain")))
    write_rubrics([other], tmp_path / "new.yaml")
    compared = boss.post(page, files={"rubric": ("new.yaml", (tmp_path / "new.yaml").read_bytes())})
    assert "Nothing has changed yet" in compared.text
    assert "Version 2" not in boss.get(page).text
    shown = save(boss, page, compared.text)
    assert "Version 2" in shown.text
    assert "small bob" in shown.text  # whose judgements to look at again
    ann = browsers.of(small.who["ann"]).get(page).text
    assert "3 of your notes" in ann
    assert "small bob" not in ann
    wrong = boss.post(page, files={"rubric": ("new.yaml", b"{[")})
    assert "new.yaml" in wrong.text
    assert str(tmp_path) not in wrong.text


def test_sheets_that_say_more_than_the_case_are_its_rubric(
    bench: Bench, browsers: Browsers
) -> None:
    boss = browsers.of(small_project(bench.database).who["manager"])
    rubric = b"Case,Item\nStation 3 - Abdomen,%s\nStation 7,Headache\n"
    files = {"notes": ("notes.csv", b"id,case,text\na,Station 3,fever\nb,Station 7,no fever\n"),
             "rubric": ("rubric.csv", rubric % b"Fever")}  # fmt: skip
    made = boss.post("/projects/new", data={"name": "exam"}, files=files)
    assert made.url.path.endswith("/people"), made.text
    page = made.url.path.replace("/people", "/rubric")
    compared = boss.post(page, files={"rubric": ("r.csv", rubric % b"High fever")}).text
    assert "Version 2" in save(boss, page, compared).text
    other = {"notes": ("notes.csv", b"id,case,text\nc,Station 9,fever\n")}
    refused = boss.post(page.replace("/rubric", "/notes"), files=other)
    assert "Station 9" in refused.text and "Station 7" in refused.text


def test_a_rubric_whose_sheet_names_no_case_is_that_of_the_notes(
    bench: Bench, browsers: Browsers
) -> None:
    boss = browsers.of(small_project(bench.database).who["manager"])
    for sheet, said in (("Rubric", "taken as 1 feature of case &#39;7&#39;"),
                        ("Headache", "the rubric is of case &#39;Headache&#39;")):  # fmt: skip
        book, content = openpyxl.Workbook(), io.BytesIO()
        book.worksheets[0].title = sheet
        book.worksheets[0].append(["Item", "Points"])
        book.worksheets[0].append(["Fever", 1])
        book.save(content)
        files = {"notes": ("notes.csv", b"id,case,text\na,7,fever\n"),
                 "rubric": ("rubric.xlsx", content.getvalue())}  # fmt: skip
        assert said in boss.post("/projects/new", data={"name": sheet}, files=files).text


def test_an_upload_is_told_as_it_was_understood(
    bench: Bench, browsers: Browsers, tmp_path: Path
) -> None:
    boss = browsers.of(small_project(bench.database).who["manager"])
    notes = b"Matrikel;Anamnese;Campus\n7;fever;A\n8; ;B\n"
    files = {"notes": ("kurs.csv", notes), "rubric": ("items.csv", b"Item,Points\nFever,2\n")}
    refused = boss.post("/projects/new", data={"name": "exam"}, files=files).text
    assert "&#39;Matrikel&#39;, &#39;Anamnese&#39;" in refused
    assert "“Columns” id=COLUMN,text=COLUMN" in refused
    given = {"name": "exam", "columns": "id=Matrikel, text=Anamnese", "case": "Case 9"}
    page = boss.post("/projects/new", data=given, files=files)
    assert page.url.path.endswith("/people")
    for said in ("kurs.csv: read as table; 2 notes of case &#39;Case 9&#39;", "id=Matrikel",
                 "also kept: &#39;Campus&#39;", "items.csv: taken as 1 feature of case &#39;Case 9&#39;",
                 "1 note without any text"):  # fmt: skip
        assert said in page.text, said
    project = page.url.path.removesuffix("/people")
    more = {"notes": ("more.csv", b"id,case,text\n1,Case 9,fever\n2,Case 9,x\n1,Case 9,pain\n")}
    twice = boss.post(f"{project}/notes", files=more).text
    assert "more.csv: row 4 has the same id as row 2, &#39;1&#39;" in twice
    odd = boss.post(f"{project}/notes", files={"notes": ("odd.bin", b"\0\1")}).text
    assert "odd.bin: cannot detect the file format." in odd
    rubric = b"Item,Points\nFever,2\nCough or cold,\n"
    compared = boss.post(f"{project}/rubric", files={"rubric": ("later.csv", rubric)}).text
    told = save(boss, f"{project}/rubric", compared).text
    assert "later.csv: taken as 2 features of case" in told
    assert "odd in later.csv: " in told and "has a small &#39;or&#39;" in told
    assert "Case 9" in told and "Case Case 9" not in told
    bare = {"notes": ("bare.csv", b"id,text\n1,fever\n")}
    assert "without a rubric" in boss.post("/projects/new", data={"name": "b"}, files=bare).text
    for shown in (refused, twice, odd, told):
        assert "--" not in shown.replace("<!--", "") and "/tmp" not in shown


def test_a_page_shows_how_far_an_upload_is(bench: Bench) -> None:
    small = small_project(bench.database)
    hasty = Browsers(replace(bench, patience=0.0))
    boss, other = hasty.of(small.who["manager"]), hasty.of(small.who["ann"])
    held, done = threading.Event(), threading.Event()

    def hold(_connection: object) -> None:
        held.set()
        assert done.wait(600)

    writing = threading.Thread(target=bench.database.write, args=(hold,))
    writing.start()
    held.wait()
    notes = {"notes": ("notes.csv", b"id,case,text\nn8,c,fever\nn9,c,pain\n")}
    own = f"/p/{small.project}/notes"
    started = boss.post(own, files=notes, follow_redirects=False)
    place = started.headers["location"]
    assert (started.status_code, place.startswith("/working/")) == (303, True)
    page = boss.get(place).text
    assert "<progress" in page and 'http-equiv="refresh"' in page
    assert other.get(place).status_code == 404
    done.set()
    writing.join()
    wait_for("upload")
    ended = boss.get(place)
    assert ended.url.path.endswith("/people")
    assert "5 notes" in ended.text
    again = boss.post(own, files=notes, follow_redirects=False).headers["location"]
    wait_for("upload")
    refused = boss.get(again).text
    assert "note &#39;n8&#39; is there already" in refused
    assert 'http-equiv="refresh"' not in refused


def test_very_large_rubrics_and_notes_are_told(bench: Bench, browsers: Browsers) -> None:
    boss = browsers.of(small_project(bench.database).who["manager"])
    rubric = "Item\n" + "".join(f"Pain of the finger {k}\n" for k in range(600))
    files = {"notes": ("n.csv", b"id,case,text\nn,1,%s\n" % (b"fever " * 40_000)),
             "rubric": ("r.csv", rubric.encode())}  # fmt: skip
    page = boss.post("/projects/new", data={"name": "large"}, files=files).text
    assert "has 600 features" in page
    assert "1 note of more than 200,000 characters" in page


def test_suggestions_are_computed_when_they_are_switched_on(
    bench: Bench, browsers: Browsers
) -> None:
    small = small_project(bench.database)
    boss, ann = browsers.of(small.who["manager"]), browsers.of(small.who["ann"])
    boss.post(f"/p/{small.project}/settings", data={"suggestions": "1"})
    wait_for("suggestions")
    queue = ann.get(f"/api/v1/projects/{small.project}/queue").json()["assignments"]
    works = [ann.get(f"/api/v1/assignments/{one['id']}").json() for one in queue]
    assert any(work["suggestions"] for work in works)


def test_the_record_is_checked_and_the_database_copied_by_a_button(
    bench: Bench, browsers: Browsers, tmp_path: Path
) -> None:
    small = small_project(bench.database)
    boss = browsers.of(small.who["manager"])
    checked = boss.get(f"/p/{small.project}/audit?check=1").text
    head = boss.get(f"/api/v1/projects/{small.project}/verify").json()["head"]
    assert head in checked
    assert head not in browsers.of(small.who["observer"]).get(
        f"/p/{small.project}/audit?check=1"
    ).text.replace(f"<code>{head[:12]}", "")
    assert "backups" in boss.post("/users/backup", data={}).text
    [copy] = (tmp_path / "workbench" / "backups").iterdir()
    store = Database(f"sqlite:///{copy}")
    assert store.read(partial(_count_people)) > 0
    store.close()


def _count_people(connection) -> int:
    return len(connection.exec_driver_sql("SELECT id FROM person").all())


def test_a_study_comes_and_goes_by_forms(bench: Bench, browsers: Browsers, study) -> None:
    small = small_project(bench.database)
    boss = browsers.of(small.who["manager"])
    wrong = boss.post("/projects/new", data={"name": "Asthma", "study": "../elsewhere"})
    assert "elsewhere" in wrong.text
    page = boss.post("/projects/new", data={"name": "Asthma", "study": "asthma"})
    assert "bob" in page.text
    rubric = boss.get(str(page.url.path).replace("people", "rubric"))
    assert "Mark words." in rubric.text
    early = boss.post(str(page.url.path).replace("people", "export"), data={})
    assert "nobody has finished a note yet" in early.text
    study.folder.rename(study.folder.with_name("moved"))
    for place in ("people", "rubric"):
        assert boss.get(str(page.url.path).replace("people", place)).status_code == 200


def test_notes_are_added_later_under_other_ids(bench: Bench, browsers: Browsers) -> None:
    small = small_project(bench.database)
    boss = browsers.of(small.who["manager"])
    notes = b"id,case,text\nlate1,c,fever again\nlate2,c,no pain\n"
    given = {"files": {"notes": ("more.csv", notes)}, "data": {"rename": "1"}}
    page = boss.post(f"/p/{small.project}/notes", **given)
    assert "5 notes" in page.text
    boss.post(f"/p/{small.project}/assign", data={"per_note": "2"})
    ann = browsers.of(small.who["ann"])
    queue = ann.get(f"/api/v1/projects/{small.project}/queue").json()["assignments"]
    assert {one["note"] for one in queue[3:]} == {"N0004", "N0005"}
    [rubric] = ann.get(f"/api/v1/projects/{small.project}/rubrics").json()["rubrics"]
    assert rubric["version"] == 1
    again = boss.post(f"/p/{small.project}/notes", **given)
    assert "late1" in again.text


def test_a_token_is_ended_by_its_button(bench: Bench, browsers: Browsers) -> None:
    small = small_project(bench.database)
    ann, bob = browsers.of(small.who["ann"]), browsers.of(small.who["bob"])
    ann.post("/account/tokens", data={"name": "mine", "read": "1", "project": small.project})
    [token] = ann.get("/api/v1/me/tokens").json()["tokens"]
    assert bob.post(f"/account/tokens/{token['id']}", data={}).status_code == 404
    assert ann.post(f"/account/tokens/{token['id']}", data={}).status_code == 200
    assert ann.get("/api/v1/me/tokens").json()["tokens"] == []


def test_disabling_nobody_is_an_error_that_says_who_there_is(
    bench: Bench, browsers: Browsers
) -> None:
    small = small_project(bench.database)
    boss, names = browsers.of(small.who["manager"]), [one.name for one in small.who.values()]
    for what in ("disable", "enable"):
        said = boss.post("/users", data={"name": "nobody", "what": what}).text
        assert "no account" in said
        assert all(name in said for name in names)
    named = small.who["observer"].name
    assert "no account" not in boss.post("/users", data={"name": named, "what": "disable"}).text
    assert person_disabled(bench.database, named)


def person_disabled(database: Database, name: str) -> bool:
    """Tell whether somebody is let in no longer."""
    found = select(t.person.c.disabled).where(t.person.c.name == name)
    return bool(database.read(lambda c: c.scalar(found)))

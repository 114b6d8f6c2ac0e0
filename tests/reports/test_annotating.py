"""The page that marks evidence, worked on in a real browser at two widths."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browsing import (
    drag,
    faults_of_access,
    open_browser,
    press,
    served_folder,
    set_width,
    tap,
    wait_for,
)

from rubricate import Annotator, Corpus, CorpusBuilder, Feature, Note, Rubric, read_corpus
from rubricate.errors import InputError, OutputExistsError
from rubricate.reports.annotating import annotation_page, write_annotation_pages
from rubricate.rubric import Metadata

TEXT = (
    "58 yo M 😀 w/ chest pain,\r\ndenies fever, chills or SOB </script><img src=x onerror=alert(1)>"
)
FEATURES = ("Chest pain", "No fever", "No shortness of breath", "Male")
CONTROL, SHIFT, ALT, ENTER, RIGHT, DELETE = (
    "\ue009",
    "\ue008",
    "\ue00a",
    "\ue007",
    "\ue014",
    "\ue017",
)
JUDGED = "[...document.querySelectorAll('.features .state')].map(e => e.textContent).join(' ')"
MARKED = "[...document.querySelectorAll('.features .words')].map(e => e.textContent).join(' ')"


def make_corpus() -> Corpus:
    builder = CorpusBuilder()
    features = tuple(Feature(f"f{k}", "c", text) for k, text in enumerate(FEATURES, 1))
    builder.add_rubric(Rubric("c", features, title="Case <b>"))
    builder.add_annotator(Annotator("lexicon", "system"))
    for name in ("n1", "n2"):
        builder.add_note(Note(name, "c", TEXT))
        builder.annotate("lexicon", name, "f1", [at("chest pain")])
    return builder.build()


def at(words: str) -> tuple[int, int]:
    start = TEXT.index(words)
    return start, start + len(words)


def test_text_cannot_leave_its_place_and_nothing_is_asked_of_a_network() -> None:
    page = annotation_page(make_corpus())
    assert page.count("</script>") == 2
    assert "<img" not in page
    assert not re.search(r"https?://", page)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy
    assert "unsafe" not in policy[1]


def test_each_annotator_has_a_page_without_what_others_marked(tmp_path: Path) -> None:
    corpus = make_corpus()
    paths = write_annotation_pages(corpus, tmp_path / "m.html", annotators=["ann", "b/ob", "ann"])
    assert [path.name for path in paths] == ["m-ann.html", "m-b%2Fob.html"]
    for path in paths:
        assert "lexicon" not in path.read_text("utf-8")
    with pytest.raises(OutputExistsError):
        write_annotation_pages(corpus, tmp_path / "m.html", annotators=["new", "ann"])
    assert not (tmp_path / "m-new.html").exists()


def test_notes_without_features_are_refused_by_case() -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "lonely", "text"))
    with pytest.raises(InputError, match="lonely"):
        annotation_page(builder.build())


@pytest.fixture(scope="module")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="module")
def browser(downloads: Path) -> Iterator[Any]:
    with open_browser(downloads) as started:
        yield started


@pytest.fixture(params=[1280, 390])
def page(browser: Any, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    # Each page keeps its own judgements: to clear those of others while a page loads is a race.
    corpus = replace(make_corpus(), metadata=Metadata({"page": str(tmp_path)}))
    (path,) = write_annotation_pages(
        corpus, tmp_path / "marks.html", annotators=["ann"], suggested=corpus
    )
    set_width(browser, request.param)
    with served_folder(tmp_path) as url:  # with a port of its own, and so with a storage of its own
        browser.get(f"{url}/{path.name}")
        yield browser
        assert browser.get_log("browser") == []
        browser.get("about:blank")


def saved(page: Any, downloads: Path) -> Corpus:
    (downloads / "ann.jsonl").unlink(missing_ok=True)
    page.find_element("id", "save").click()
    wait_for(page, "document.getElementById('status').textContent.includes('ann.jsonl')")
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(page, 30).until(lambda _: (downloads / "ann.jsonl").exists())
    return read_corpus(downloads / "ann.jsonl")


def spans(corpus: Corpus, feature: str, note: str = "n1") -> list[list[tuple[int, int]]] | None:
    found = corpus.annotations(note, feature, "ann")
    return None if found is None else [[(s.start, s.end) for s in a.spans] for a in found]


@pytest.mark.browser
def test_marks_by_drag_clicks_and_keys_are_saved_to_the_character(
    page: Any, downloads: Path
) -> None:
    start, end = at("chest pain")
    drag(page, start + 2, end - 1)  # grows to whole words
    wait_for(page, JUDGED, "present open open open")
    drag(page, *at("denies"), holding=CONTROL)
    drag(page, *at("fever"), holding=SHIFT)  # a fragment of the same mark
    wait_for(page, JUDGED, "present present open open")
    drag(page, *at("denies fever, chills or SOB"), clicks=True)
    wait_for(page, JUDGED, "present present present open")
    press(page, "\ue00c")
    wait_for(page, "document.activeElement.className", "text")
    start, end = at("M")
    drag(page, start, start + 1, holding=ALT)
    wait_for(page, "document.body.dataset.note", "n2")
    press(page, RIGHT, RIGHT, RIGHT)  # the word cursor: 58, yo, M
    press(page, RIGHT, holding=SHIFT)
    press(page, ENTER)
    wait_for(page, MARKED, "“M 😀”")
    press(page, "x", "u", "x")
    corpus = saved(page, downloads)
    assert [a.id for a in corpus.annotators] == ["ann"]
    assert corpus.metadata["suggested_by"] == "lexicon"
    assert spans(corpus, "f1") == [[at("chest pain")]]
    assert spans(corpus, "f2") == [[at("denies"), at("fever")]]
    assert spans(corpus, "f3") == [[at("denies fever, chills or SOB")]]
    assert spans(corpus, "f4") == [[at("M")]]
    assert spans(corpus, "f1", "n2") == [[at("M 😀")]]
    assert spans(corpus, "f2", "n2") == []
    assert spans(corpus, "f3", "n2") is None  # unsure is no row
    assert json.loads(str(corpus.metadata["unsure"])) == [["n2", "f3", ""]]
    assert corpus.note("n1").text == TEXT


@pytest.mark.browser
def test_overlapping_marks_and_fragments_stay_apart(page: Any) -> None:
    drag(page, *at("chest pain"))
    drag(page, *at("pain"))
    drag(page, *at("denies"), holding=CONTROL)
    drag(page, *at("SOB"), holding=SHIFT)
    boxes = page.execute_script(
        "return [...document.querySelectorAll('.mark')].map(e => { const r = e.getBoundingClientRect();"
        "return [e.className.split(' ')[1] + e.className.split(' ')[2], r.left, r.top, r.right, r.bottom]; })"
    )
    assert any("link" in name for name, *_ in boxes)
    for i, (one, left, top, right, bottom) in enumerate(boxes):
        assert right - left > 0
        for other, left2, top2, right2, bottom2 in boxes[i + 1 :]:
            apart = right <= left2 + 1 or right2 <= left + 1 or bottom <= top2 or bottom2 <= top
            assert apart or one[:2] == other[:2]


@pytest.mark.browser
def test_two_taps_of_a_finger_mark_what_lies_between(page: Any, downloads: Path) -> None:
    tap(page, *at("chest pain"))
    wait_for(page, JUDGED, "present open open open")
    tap(page, *at("fever, chills or SOB"))
    wait_for(page, JUDGED, "present present open open")
    assert spans(saved(page, downloads), "f2") == [[at("fever, chills or SOB")]]


@pytest.mark.browser
def test_a_fragment_joins_the_mark_that_was_made_last(page: Any, downloads: Path) -> None:
    drag(page, *at("denies fever"), holding=CONTROL)
    drag(page, *at("denies"), holding=CONTROL)  # before the other in the order of marks
    drag(page, *at("chills"), holding=CONTROL + SHIFT)
    drag(page, *at("SOB"), holding=SHIFT)
    found = spans(saved(page, downloads), "f1")
    assert found == [[at("denies"), at("chills"), at("SOB")], [at("denies fever")]]


@pytest.mark.browser
def test_undo_reaches_back_over_notes_and_a_reload_keeps_everything(page: Any) -> None:
    press(page, "a", "x", "x", "x")
    wait_for(page, "document.body.dataset.note", "n2")
    wait_for(page, JUDGED, "suggested open open open")
    press(page, "u")
    wait_for(page, JUDGED, "unsure open open open")
    page.refresh()
    wait_for(page, JUDGED, "unsure open open open")
    press(page, "p")
    wait_for(page, JUDGED, "present absent absent absent")
    press(page, "4", DELETE)
    wait_for(page, JUDGED, "present absent absent open")
    press(page, "n")
    press(page, "z", holding=CONTROL)
    wait_for(page, "document.body.dataset.note", "n1")
    wait_for(page, JUDGED, "present absent absent absent")
    press(page, "y", holding=CONTROL)
    wait_for(page, JUDGED, "present absent absent open")


@pytest.mark.browser
def test_ends_move_by_words_and_by_characters(page: Any) -> None:
    drag(page, *at("fever"), holding=CONTROL)
    press(page, "[", "]")
    wait_for(page, MARKED, "“denies fever,”")
    press(page, "{", "}")
    wait_for(page, MARKED, "“fever”")
    press(page, "]", holding=ALT)
    wait_for(page, MARKED, "“fever,”")


@pytest.mark.browser
def test_a_saved_file_goes_on_elsewhere_and_others_are_refused(
    page: Any, downloads: Path, tmp_path: Path
) -> None:
    press(page, "a", "x", "u")
    saved(page, downloads)
    page.execute_script("localStorage.clear()")
    page.refresh()
    wait_for(page, JUDGED, "suggested open open open")
    page.find_element("id", "file").send_keys(str(downloads / "ann.jsonl"))
    wait_for(page, JUDGED, "present absent unsure open")
    other = tmp_path / "bob.jsonl"
    other.write_text(
        (downloads / "ann.jsonl").read_text("utf-8").replace('"ann"', '"bob"'), "utf-8"
    )
    page.find_element("id", "file").send_keys(str(other))
    wait_for(page, "document.querySelector('dialog')?.textContent.includes('work of bob') ?? false")
    press(page, ENTER)
    wait_for(page, "document.querySelector('dialog') === null")


@pytest.mark.browser
def test_keys_can_be_changed_and_switched_off(page: Any) -> None:
    press(page, "?")
    change = "return document.querySelector('dialog [aria-label=\"Change the key: absent\"]')"
    page.execute_script(change).click()
    press(page, "q")
    wait_for(page, "[...document.querySelectorAll('dialog kbd')].some(e => e.textContent === 'q')")
    press(page, "\ue00c")
    press(page, "x", "q")
    wait_for(page, JUDGED, "absent open open open")
    page.refresh()
    wait_for(page, JUDGED, "absent open open open")
    press(page, "q")
    wait_for(page, JUDGED, "absent absent open open")
    press(page, "?")
    page.find_element("css selector", "dialog input").click()
    press(page, "\ue00c")
    press(page, "q")
    press(page, "z", holding=CONTROL)  # a chord still works
    wait_for(page, JUDGED, "absent open open open")


@pytest.mark.browser
def test_everybody_can_use_the_page(page: Any, frontend: Path) -> None:
    press(page, "a")
    drag(page, *at("fever"), holding=CONTROL)
    assert faults_of_access(page, frontend) == []
    said = page.execute_script("return document.querySelector('[aria-live]').textContent")
    assert "fever" in said
    wide = page.execute_script(
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    assert wide, "the page is wider than the screen"
    press(page, "?")
    assert faults_of_access(page, frontend) == []
    press(page, "\ue00c")
    press(page, ENTER, holding=CONTROL)
    wait_for(page, "document.querySelectorAll('dialog li').length", 2)
    assert faults_of_access(page, frontend) == []
    press(page, "\ue00c")


@pytest.mark.browser
def test_who_begins_a_note_is_told_how_to_mark(page: Any) -> None:
    told = "document.querySelectorAll('.hint').length"
    wait_for(page, JUDGED, "suggested open open open")
    before = page.execute_script(f"return {told}")
    press(page, "j", "x")
    wait_for(page, JUDGED, "suggested absent open open")
    press(page, "k", "k")
    wait_for(page, told, before - 1)

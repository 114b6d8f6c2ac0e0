"""Reviewing in the report, in a real browser: decisions are kept, saved, and change the scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browsing import open_browser, press, served_folder, wait_for

from rubricate import Corpus, Feature, Note, Rubric, load_corpus
from rubricate.matchers import Matcher, fit_matcher
from rubricate.reports.scoring import ScoringReport
from rubricate.run import read_results
from rubricate.scoring import ScoreSettings, score_notes
from rubricate.scoring.corrections import read_corrections

pytestmark = pytest.mark.browser
WIDE, NARROW = (1280, 900), (390, 844)
SMILE = "\U0001f600 58 yo man with chest pain and nausea, sweaty. no fever. pmh htn, on lisinopril."


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    rubric = Rubric(
        "Case 1",
        (
            Feature("a", "Case 1", "Chest pain", weight=2.0),
            Feature("b", "Case 1", "Sweating", group="either"),
            Feature("c", "Case 1", "Nausea", weight=0.5, group="either"),
            Feature("d", "Case 1", "Fever"),
            Feature("e", "Case 1", "Smoking", weight=-1.0),
        ),
    )
    real = load_corpus("open-notes").select(cases=["0"]).notes[:2]
    return Corpus(
        (
            Note("=n 1", "Case 1", SMILE),
            *(replace(note, case="Case 1") for note in real),
            Note("lorem", "Case 1", "lorem ipsum dolor sit amet " * 12),
            Note("empty", "Case 1", " "),
        ),
        (rubric,),
    )


@pytest.fixture(scope="module")
def matcher(corpus: Corpus) -> Matcher:
    return fit_matcher("lexicon", Corpus((), corpus.rubrics))


def score(corpus: Corpus, matcher: Matcher, out: Path, corrections: Path | None = None) -> None:
    score_notes(
        corpus, out, model=matcher, corrections=corrections,
        settings=ScoreSettings(overwrite=True), report=ScoringReport(),
    )  # fmt: skip


@pytest.fixture
def run(corpus: Corpus, matcher: Matcher, tmp_path: Path) -> Path:
    score(corpus, matcher, tmp_path / "out")
    return tmp_path / "out"


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Any]:
    with open_browser(downloads=tmp_path) as started:
        yield started
        assert started.get_log("browser") == []


@pytest.fixture
def url(run: Path) -> Iterator[str]:
    with served_folder(run) as address:
        yield address


def opened(browser: Any, url: str, size: tuple[int, int] = WIDE, note: str = "=n 1") -> None:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == NARROW},
    )
    browser.get("about:blank")
    browser.get(f"{url}/report/notes.html#n={note.replace(' ', '%20')}")
    wait_for(browser, "document.body.dataset.note", note)


def click(browser: Any, selector: str) -> None:
    browser.find_element("css selector", selector).click()


def text(browser: Any, selector: str) -> str:
    script = "return document.querySelector(arguments[0]).textContent"
    return str(browser.execute_script(script, selector))


def sign(browser: Any, name: str = "Zoë, =Dr") -> None:
    browser.find_element("id", "by").send_keys(name)
    browser.execute_script("document.activeElement.blur()")


def saved(browser: Any, folder: Path) -> Path:
    path = folder / "corrections.csv"
    path.unlink(missing_ok=True)
    click(browser, "#save")
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 60).until(lambda _: path.exists() and path.stat().st_size > 0)
    return path


def test_a_score_can_be_added_up_by_hand(browser: Any, run: Path, url: str) -> None:
    opened(browser, url)
    assert "Case 1 ·" in text(browser, "#summary") and "Case Case" not in text(browser, "body")
    worth = [text(browser, f"#f{i} .worth") for i in range(5)]
    assert worth[0] == "2 of 2 points"
    assert worth[1] == "1 of 1 point; group “either” counts once"
    assert worth[2] == "0 of 0.5 points; group “either” counts once: by feature 2"
    assert worth[4] == "no penalty (−1 point)"
    result = next(read_results(run))
    assert result.total
    assert text(browser, "#sum").endswith(f"= {result.total.score:g} of 4 points")
    item = next(i for i in result.items if i.found is False and i.evidence.against is None)
    number = [i.feature.id for i in result.items].index(item.feature.id)
    assert f"– not mentioned · {100 * (item.certainty or 0):.0f} % sure" in text(
        browser, f"#f{number}"
    )


def test_keys_decide_and_the_run_follows(
    browser: Any, run: Path, url: str, corpus: Corpus, matcher: Matcher, tmp_path: Path
) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    opened(browser, url)
    press(browser, "j", "x")
    assert "name" in text(browser, "#review-state")  # nobody signed: nothing is decided
    sign(browser)
    press(browser, "x")  # 1 Chest pain: rejected
    press(browser, "j", "j", "j")  # 4 Fever: mark "chest pain and" word by word
    browser.execute_script("getSelection().removeAllRanges()")
    press(browser, *[Keys.ARROW_RIGHT] * 6)
    ActionChains(browser).key_down(Keys.SHIFT).send_keys(Keys.ARROW_RIGHT).key_up(
        Keys.SHIFT
    ).perform()
    chosen = str(browser.execute_script("return getSelection().toString()"))
    assert len(chosen.split()) == 2
    press(browser, "m")
    press(browser, "k", "a")  # 3 Nausea: accepted
    shown = text(browser, "#sum")
    path = saved(browser, tmp_path)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    decided = {one.feature: one for one in read_corrections(path).all()}
    assert {f: one.found for f, one in decided.items()} == {"a": False, "c": True, "d": True}
    assert {one.by for one in decided.values()} == {"Zoë, =Dr"}
    start = SMILE.index(chosen)
    assert decided["d"].spans == (((start, start + len(chosen)),),)
    score(corpus, matcher, run, path)
    result = next(read_results(run))
    assert result.total and f"{result.total.score:g} of 4 points" in shown
    # In the run now, and so no longer waiting in the browser; who and when are shown.
    opened(browser, url)
    line = text(browser, "#f0")
    assert "by hand" in line and "Decided by Zoë, =Dr, 20" in line and "sure" not in line
    assert not browser.execute_script("return document.querySelector('#features .own')")


def test_decisions_are_kept_and_undone(browser: Any, url: str) -> None:
    opened(browser, url)
    sign(browser)
    click(browser, "#f0")
    browser.find_element("id", "why").send_keys("not of the chest")
    click(browser, "#reject")
    opened(browser, url)
    assert "not of the chest" in text(browser, "#f0 .own")
    assert browser.execute_script("return document.getElementById('by').value") == "Zoë, =Dr"
    click(browser, "#f0")
    click(browser, "#undo")
    assert "sure" in text(browser, "#f0 .state")


def test_every_item_of_an_unreadable_note_can_be_judged(
    browser: Any, run: Path, url: str, corpus: Corpus, matcher: Matcher, tmp_path: Path
) -> None:
    opened(browser, url, note="lorem")
    assert "There is no sum" in text(browser, "#sum")
    sign(browser)
    for _ in range(5):
        press(browser, "j", "x")
    assert "0 of 4 points" in text(browser, "#sum")
    score(corpus, matcher, run, saved(browser, tmp_path))
    assert {r.note: r.status for r in read_results(run)}["lorem"] == "scored by hand"


def test_a_penalty_alone_leaves_0_points(
    browser: Any, run: Path, url: str, corpus: Corpus, matcher: Matcher, tmp_path: Path
) -> None:
    opened(browser, url, note="empty")
    sign(browser)
    press(browser, *["j", "x"] * 4, "j", "a")
    assert text(browser, "#sum").startswith("\u22121; no score is below 0: 0 of 4 points")
    score(corpus, matcher, run, saved(browser, tmp_path))
    totals = {result.note: result.total for result in read_results(run)}
    assert totals["empty"] is not None and totals["empty"].score == 0.0


def test_a_phone_is_enough(browser: Any, url: str, tmp_path: Path) -> None:
    opened(browser, url, NARROW)
    sign(browser)
    click(browser, "#f3")
    browser.execute_script(
        "const node = document.getElementById('text').firstChild;"
        "getSelection().setBaseAndExtent(node, 3, node, 8);"
    )
    wait_for(browser, "getSelection().toString()", "58 yo")
    click(browser, "#mark")
    [one] = read_corrections(saved(browser, tmp_path)).all()
    assert (one.feature, one.spans) == ("d", (((2, 7),),))
    for name in ("report/notes.html", "report.html"):
        browser.get(f"{url}/{name}")
        width = "document.documentElement.scrollWidth"
        assert browser.execute_script(f"return {width}") <= NARROW[0]
    clipped = """return [...document.querySelectorAll('#review button, #review input')].filter(
        e => { const r = e.getBoundingClientRect(); return r.right > document.documentElement.clientWidth || r.left < 0; }).length"""
    opened(browser, url, NARROW)
    assert browser.execute_script(clipped) == 0


def test_the_report_names_what_to_read_first(browser: Any, run: Path) -> None:
    browser.get((run / "report.html").as_uri())
    said = text(browser, ".warnings")
    for words in ("There is no review policy", "lorem", "empty"):
        assert words in said

"""The workbench in a real browser: every page, every role, two widths."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from browsing import drag, faults_of_access, open_browser, press, set_width, wait_for
from workbench import Browsers, judge_all, small_project

from rubricate.web.rendering import pages_of
from rubricate.web.serving import Address, listen, open_bench, serve

pytestmark = [pytest.mark.browser, pytest.mark.slow]
CONTROL, SHIFT, ENTER, ESCAPE, RIGHT = "\ue009", "\ue008", "\ue007", "\ue00c", "\ue014"
STATES = "[...document.querySelectorAll('.features .state')].map(e => e.textContent)"
STATUS = "document.getElementById('status').textContent"
SAID = "document.querySelector('.said').textContent"
READY = "(({work, open, ready}) => !document.getElementById('app') || !!(work || open || ready))(document.body.dataset)"
PLACE = "document.getElementById('place').textContent"


class Demo:
    """A server with the demonstration, and links that sign in."""

    def __init__(self) -> None:
        command = [
            sys.executable,
            "-P",
            "-m",
            "rubricate",
            "serve",
            "--demo",
            "--port",
            "0",
            "--json",
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        told = json.loads(self.process.stdout.readline())
        self.url, self.links = told["url"], told["links"]

    def api(self, role: str) -> Any:
        """Return a function that calls the API as somebody of this role."""
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        opener.open(self.links[role]).close()

        def call(method: str, path: str, body: object = None) -> Any:
            request = urllib.request.Request(
                f"{self.url}/api/v1{path}", method=method,
                data=None if body is None else json.dumps(body).encode(),
                headers={"Content-Type": "application/json", "Origin": self.url},
            )  # fmt: skip
            with opener.open(request) as answer:
                return json.loads(answer.read())

        return call


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    pytest.importorskip("starlette")
    started = Demo()
    with started.process as process:
        yield started
        process.send_signal(signal.SIGTERM)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as started:
        yield started


@pytest.fixture
def enter(browser: Any, demo: Demo) -> Iterator[Any]:
    def go_in(role: str, width: int = 1280) -> Any:
        browser.get("about:blank")  # no page is left at work without its session
        browser.execute_cdp_cmd("Network.clearBrowserCookies", {})
        set_width(browser, width)
        browser.get(demo.links[role] if role else demo.url + "/signin")
        wait_for(browser, READY)
        return browser

    yield go_in
    errors = [one for one in browser.get_log("browser") if one["level"] == "SEVERE"]
    # an answer 409 and a cut network are logged by the browser itself
    assert [one for one in errors if one["source"] != "network"] == []


def text_of(page: Any) -> str:
    text: str = page.execute_script("return document.querySelector('.text').textContent")
    return text


def open_work(page: Any) -> str:
    wait_for(page, "!!document.body.dataset.work")
    work: str = page.execute_script("return document.body.dataset.work")
    return work


def states(page: Any) -> list[str]:
    found: list[str] = page.execute_script(f"return {STATES}")
    return found


@pytest.mark.parametrize("width", [1280, 390])
def test_an_annotator_marks_and_everything_is_saved_at_once(
    enter: Any, demo: Demo, width: int
) -> None:
    page = enter("annotator", width)
    work, text, call = open_work(page), text_of(page), demo.api("annotator")
    words = text.split(" ", 3)
    start, end = len(words[0]) + 1, len(words[0]) + 1 + len(words[1].rstrip(",;"))
    drag(page, start, end)
    wait_for(page, f"{STATES}[0]", "present")
    wait_for(page, STATUS, "saved")
    first = call("GET", f"/assignments/{work}")
    feature = first["rubric"]["features"][0]["id"]
    assert first["judgements"][feature]["marks"] == [[[start, end]]]
    press(page, "x", "u")
    press(page, RIGHT)
    press(page, RIGHT, holding=SHIFT)
    press(page, ENTER)
    wait_for(page, f"{STATES}.slice(1, 4).join()", "absent,unsure,present")
    wait_for(page, STATUS, "saved")
    page.refresh()
    open_work(page)
    wait_for(page, f"{STATES}.slice(0, 4).join()", "present,absent,unsure,present")
    press(page, "z", holding=CONTROL)  # the server keeps the history over a reload
    wait_for(page, f"{STATES}[3]", "open")
    press(page, "y", holding=CONTROL)
    wait_for(page, f"{STATES}[3]", "present")
    press(page, "j", *"x" * (len(states(page)) - 4))
    wait_for(page, f"document.body.dataset.work !== '{work}'")
    assert call("GET", f"/assignments/{work}")["state"] == "done"
    wait_for(page, f"{STATES}[0]", "open")


def open_ones(page: Any) -> list[int]:
    """Return the places of the features that nobody judged."""
    return [k for k, state in enumerate(states(page)) if state == "open"]


def version_of(seen: Any, feature: str) -> int:
    version: int = seen["judgements"].get(feature, {"version": 0})["version"]
    return version


def test_a_key_draws_only_the_features_that_differ(enter: Any, demo: Demo) -> None:
    page = enter("annotator")
    open_work(page)
    page.execute_script("""
      window.drawn = 0;
      const count = records => { for (const one of records) window.drawn += one.addedNodes.length; };
      new MutationObserver(count).observe(document.querySelector('.features'), {childList: true, subtree: true});
    """)
    press(page, "j")
    wait_for(page, "drawn > 0")
    assert page.execute_script("return drawn") == 2 < len(states(page))


def test_two_windows_ask_which_state_to_keep(enter: Any, demo: Demo) -> None:
    page, call = enter("annotator"), demo.api("annotator")
    work = open_work(page)
    seen = call("GET", f"/assignments/{work}")
    features = [one["id"] for one in seen["rubric"]["features"]]
    cases = (("mine", "absent"), ("saved", "unsure"))
    for number, (choice, kept) in zip(open_ones(page), cases, strict=False):
        call("PUT", f"/assignments/{work}/features/{features[number]}", {"answer": "unsure", "marks": [],
             "version": version_of(seen, features[number]), "sha256": seen["note"]["sha256"]})  # fmt: skip
        press(page, "x")
        wait_for(page, "!!document.querySelector('dialog')")
        page.find_element("css selector", f"dialog [value={choice}]").click()
        wait_for(page, STATUS, "saved")
        wait_for(page, f"{STATES}[{number}]", kept)
        saved = call("GET", f"/assignments/{work}")["judgements"][features[number]]
        assert saved["answer"] == kept


def test_a_cut_network_loses_nothing_and_keeps_no_words(enter: Any, demo: Demo) -> None:
    page, call = enter("annotator"), demo.api("annotator")
    work, text = open_work(page), text_of(page)
    number = states(page).index("open")
    page.execute_cdp_cmd("Network.enable", {})
    cut = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    page.execute_cdp_cmd("Network.emulateNetworkConditions", cut)
    drag(page, 0, 8)
    wait_for(page, f"{STATUS}.startsWith('not saved yet')")
    waiting = page.execute_script("return localStorage.getItem('rubricate-unsent annotator')")
    assert json.loads(waiting)[0]["marks"]
    kept = page.execute_script("return JSON.stringify(localStorage)")
    assert not any(word in kept for word in text.split() if len(word) > 6)
    page.execute_cdp_cmd("Network.emulateNetworkConditions", {**cut, "offline": False,
                         "downloadThroughput": -1, "uploadThroughput": -1})  # fmt: skip
    wait_for(page, STATUS, "saved")
    wait_for(page, f"{STATES}[{number}]", "present")
    assert page.execute_script("return localStorage.getItem('rubricate-unsent annotator')") == "[]"
    feature = call("GET", f"/assignments/{work}")["rubric"]["features"][number]["id"]
    assert call("GET", f"/assignments/{work}")["judgements"][feature]["answer"] == "present"


def test_a_session_that_ends_or_a_pause_loses_nothing(enter: Any, demo: Demo) -> None:
    page, call = enter("annotator"), demo.api("annotator")
    project = page.execute_script("return document.body.dataset.project")
    work, pause = open_work(page), f"/projects/{project}"
    first, second = open_ones(page)[:2]
    demo.api("manager")("PATCH", pause, {"state": "paused"})
    press(page, "x")
    wait_for(page, f"{STATUS}.includes('paused')")
    demo.api("manager")("PATCH", pause, {"state": "open"})
    wait_for(page, STATUS, "saved")
    page.execute_cdp_cmd("Network.clearBrowserCookies", {})
    press(page, "u")
    wait_for(page, "location.pathname", "/signin")
    page = enter("annotator")
    wait_for(page, "localStorage.getItem('rubricate-unsent annotator')", "[]")
    page.execute_script("location.hash = arguments[0]; location.reload()", work)
    wait_for(page, "document.body.dataset.work", work)
    wait_for(page, f"[{STATES}[{first}], {STATES}[{second}]].join()", "absent,unsure")
    seen = call("GET", f"/assignments/{work}")
    ids = [seen["rubric"]["features"][k]["id"] for k in (first, second)]
    assert [seen["judgements"][one]["answer"] for one in ids] == ["absent", "unsure"]


@pytest.mark.parametrize("width", [1280, 390])
def test_a_curator_decides_by_keys_and_by_own_marks(enter: Any, demo: Demo, width: int) -> None:
    page, call = enter("curator", width), demo.api("curator")
    wait_for(page, "!!document.body.dataset.open")
    shown = page.execute_script("return document.body.textContent")
    assert "second_rater" not in shown and "reference" not in shown
    project = page.execute_script("return document.body.dataset.project")
    listed = call("GET", f"/projects/{project}/disagreements?state=open")["items"]
    opened = next(one["id"] for one in listed if one["reason"] == "differ")
    page.execute_script("document.querySelector(`[data-id='${arguments[0]}']`).click()", opened)
    wait_for(page, "document.body.dataset.open", opened)
    before = int(page.execute_script(f"return {PLACE}").split()[0])
    press(page, "c", "near enough", ESCAPE)
    press(page, "1")
    wait_for(page, f"{PLACE}.split(' ')[0]", str(before - 1))
    decision = call("GET", f"/disagreements/{opened}")["decision"]
    assert (decision["choice"], decision["comment"]) == ("A", "near enough")
    wait_for(page, f"document.body.dataset.open !== '{opened}'")
    opened = page.execute_script("return document.body.dataset.open")
    drag(page, 0, 6)
    wait_for(page, "document.querySelectorAll('.marks li').length", 1)
    press(page, ENTER, holding=CONTROL)
    wait_for(page, f"{PLACE}.split(' ')[0]", str(before - 2))
    assert call("GET", f"/disagreements/{opened}")["decision"]["choice"] == "own"


@pytest.mark.parametrize("width", [1280, 390])
def test_a_reviewer_sees_the_score_change(enter: Any, demo: Demo, width: int) -> None:
    page, call = enter("reviewer", width), demo.api("reviewer")
    wait_for(page, "!!document.body.dataset.open")
    for key in "ax":
        opened = page.execute_script("return document.body.dataset.open")
        item = call("GET", f"/items/{opened}")
        press(page, key)
        wait_for(page, f"document.body.dataset.open !== '{opened}'")
        wait_for(page, f"{SAID}.includes('score of')")
        saved = call("GET", f"/items/{opened}")
        assert saved["correction"]["found"] is (item["found"] if key == "a" else False)
    opened = page.execute_script("return document.body.dataset.open")
    press(page, "e")
    drag(page, 0, 6)
    wait_for(page, "document.querySelectorAll('.marks li').length", 1)
    press(page, ENTER, holding=CONTROL)
    wait_for(page, f"document.body.dataset.open !== '{opened}'")
    assert call("GET", f"/items/{opened}")["correction"]["found"] is True


def test_the_dashboard_is_live(enter: Any, demo: Demo) -> None:
    page, call = enter("manager"), demo.api("annotator")
    wait_for(page, "document.getElementById('live')?.textContent.startsWith('live') ?? false")
    count = "Number(document.querySelectorAll('.tile .big')[1].textContent)"
    before = page.execute_script(f"return {count}")
    project = page.execute_script("return document.body.dataset.project")
    work = call("GET", f"/projects/{project}/next")["assignment"]
    seen = call("GET", f"/assignments/{work}")
    open_ones = [f["id"] for f in seen["rubric"]["features"] if f["id"] not in seen["judgements"]]
    call("PUT", f"/assignments/{work}/features/{open_ones[-1]}",
         {"answer": "absent", "marks": [], "version": 0, "sha256": seen["note"]["sha256"]})  # fmt: skip
    wait_for(page, count, before + 1)
    page.find_element("id", "pause").click()
    wait_for(page, "document.getElementById('pause').textContent", "Go on")
    assert call("GET", f"/projects/{project}/next")["state"] == "paused"
    page.find_element("id", "pause").click()
    wait_for(page, "document.getElementById('pause').textContent", "Pause the project")


#: What everybody has beside the pages of a project.
EVERYWHERE = ("/", "/account")


def faults_of(page: Any, name: str, url: str, frontend: Path) -> list[str]:
    """Return the faults of a page: access, width, requests to other places."""
    faults = [f"{name}: {one}" for one in faults_of_access(page, frontend)]
    if not page.execute_script(
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    ):
        faults.append(f"{name}: wider than the screen")
    asked = page.execute_script("return performance.getEntriesByType('resource').map(e => e.name)")
    return faults + [f"{name}: asks {one}" for one in asked if not one.startswith(url)]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@pytest.mark.parametrize("role", ["annotator", "curator", "reviewer", "manager", ""])
def test_everybody_can_use_every_page(
    enter: Any, demo: Demo, frontend: Path, role: str, width: int, scheme: str
) -> None:
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    page = enter(role, width)
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    project = page.execute_script("return document.body.dataset.project")
    places = [*(f"/p/{project}/{one}" for one in pages_of([role])), *EVERYWHERE] if role else []
    faults = faults_of(page, f"{role} {page.current_url}", demo.url, frontend)
    for place in places:
        page.get(demo.url + place)
        wait_for(page, READY)
        faults += faults_of(page, f"{role} {place} {scheme}", demo.url, frontend)
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert faults == []


def test_a_changed_rubric_asks_for_another_look(enter: Any, demo: Demo) -> None:
    """The manager changes words, who annotates keeps what they said."""
    from selenium.webdriver.support.ui import WebDriverWait

    page, call = enter("annotator"), demo.api("annotator")
    project = page.execute_script("return document.body.dataset.project")
    work = call("GET", f"/projects/{project}/next")["assignment"]
    seen = call("GET", f"/assignments/{work}")
    for one in seen["rubric"]["features"]:
        call("PUT", f"/assignments/{work}/features/{one['id']}", {"answer": "absent", "marks": [],
             "version": version_of(seen, one["id"]), "sha256": seen["note"]["sha256"]})  # fmt: skip
    call("POST", f"/assignments/{work}/done", {})
    rubric = {"case": seen["rubric"]["case"], "title": seen["rubric"]["title"], "features": [
        {"id": one["id"], "text": one["text"] + " on the day of the visit" * (k == 1)}
        for k, one in enumerate(seen["rubric"]["features"])]}  # fmt: skip
    demo.api("manager")("POST", f"/projects/{project}/rubrics", {"rubrics": [rubric]})
    page.get(f"{demo.url}/p/{project}/rubric")
    page.find_element("link text", "look at them again").click()
    wait_for(page, "document.querySelectorAll('#again:not([hidden])').length", 1)
    page.execute_script("location.hash = arguments[0]; location.reload()", work)
    wait_for(page, "document.body.dataset.work", work)
    wait_for(page, f"{STATES}[1]", "look again")
    press(page, "a")
    # The page goes on to the next note, which other tests may have judged as well: ask the server.
    kept = WebDriverWait(page, 60, 0.1)
    kept.until(lambda _: call("GET", f"/assignments/{work}")["again"] == {})
    page = enter("curator")
    page.get(f"{demo.url}/p/{project}/curate?reason=rubric")
    wait_for(page, READY)
    wait_for(page, "document.querySelector('#filters [name=reason]').value", "rubric")


def test_lists_go_on_to_their_end_and_can_be_narrowed(enter: Any, demo: Demo) -> None:
    page, call = enter("reviewer"), demo.api("reviewer")
    run = page.execute_script("return document.body.dataset.run")
    total = call("GET", f"/runs/{run}/items?state=all&limit=1")
    listed = "document.querySelectorAll('.queue [data-id]').length"
    wait_for(page, listed, 50)
    page.execute_script("document.getElementById('more').click()")
    wait_for(page, listed, min(100, total["open"]))
    page.execute_script(
        "const s = document.querySelector('#filters [name=found]'); s.value = 'no';"
        "s.dispatchEvent(new Event('change', {bubbles: true}))"
    )
    part = call("GET", f"/runs/{run}/items?found=no&limit=200")["items"]
    wait_for(page, listed, min(50, len(part)))
    wait_for(page, "document.body.dataset.open", part[0]["id"])
    press(page, *"j" * 3)
    wait_for(page, "document.body.dataset.open", part[3]["id"])


def test_the_dashboard_opens_where_agreement_has_no_interval(tmp_path: Path, browser: Any) -> None:
    """Two annotators who differ alike in every note leave nothing to resample."""
    with open_bench(tmp_path) as bench:
        small = small_project(bench.database)
        judge_all(bench.database, small)
        manager = Browsers(bench).of(small.who["manager"])
        found = manager.get(f"/api/v1/projects/{small.project}/agreement").json()
        assert found["characters_f1"]["low"] is None
        address = Address(port=0)
        taken, ready = listen(address), Event()
        Thread(target=serve, args=(bench, address, taken, ready.set), daemon=True).start()
        assert ready.wait(60)
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        browser.get(f"{url}/signin")
        secret = manager.cookies["rubricate"]
        browser.add_cookie({"name": "rubricate", "value": secret})
        browser.get(f"{url}/p/{small.project}/dashboard")
        wait_for(browser, "document.body.dataset.ready", "yes")
        assert f"{found['characters_f1']['value']:.3f}" in browser.page_source
        browser.get("about:blank")

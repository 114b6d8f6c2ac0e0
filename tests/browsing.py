"""A headless Chromium for tests: opening pages, pressing keys, dragging, and axe-core."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

#: Where a span of the note stands: the middle of its first and of its last character.
ENDS = """
const [start, end] = arguments, node = document.querySelector('.text').firstChild;
const units = n => [...node.data].slice(0, n).join('').length;
const box = at => {
  const range = document.createRange();
  range.setStart(node, units(at)); range.setEnd(node, units(at + 1));
  return [...range.getClientRects()].at(-1);
};
const off = () => box(start).top - innerHeight / 2;
if (Math.abs(off()) > innerHeight / 2 - 170) {
  document.querySelector('.paper').scrollTop += off();
  window.scrollBy(0, off());
}
return [start, end - 1].map(box).map(r => [(r.left + r.right) / 2, (r.top + r.bottom) / 2]);
"""


@contextmanager
def open_browser(downloads: Path | None = None) -> Iterator[Any]:
    """Start Chromium; where it is not installed the test is skipped."""
    webdriver = pytest.importorskip("selenium.webdriver")
    driver, program = shutil.which("chromedriver"), shutil.which("chromium")
    if driver is None or program is None:
        pytest.skip("chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
                     "--no-first-run", "--disable-background-networking",
                     "--disable-component-update", "--disable-sync",
                     "--window-size=1280,900"):  # fmt: skip
        options.add_argument(argument)
    if downloads:
        options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield started
    finally:
        started.quit()


class _Quiet(SimpleHTTPRequestHandler):
    """Sends files as they are now, and logs nothing."""

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def served_folder(folder: Path) -> Iterator[str]:
    """Serve the files of a folder from an origin of their own; the value is its address.

    A test that opens a page again and expects what the page had stored needs it: on a busy machine
    Chromium 156 now and then connects a page of a file to no storage. It shows such a page an empty
    storage and loses what the page writes (3 of 100 reloads).
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def set_width(browser: Any, width: int, height: int = 860) -> None:
    """Show pages as a window, or a telephone, of this width does."""
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500},
    )


def wait_for(browser: Any, script: str, value: object = True) -> None:
    """Wait until a script's value is this one."""
    from selenium.common.exceptions import TimeoutException
    from selenium.webdriver.support.ui import WebDriverWait

    with suppress(TimeoutException):
        WebDriverWait(browser, 60, 0.1).until(
            lambda b: b.execute_script(f"return {script}") == value
        )
    found = browser.execute_script(f"return {script}")
    said = browser.execute_script("return document.querySelector('.said')?.textContent")
    where = f"{browser.current_url}, which says {said!r}"
    assert found == value, f"{found!r} instead of {value!r} at {where}"


def press(browser: Any, *keys: str, holding: str = "") -> None:
    """Press keys one after the other, perhaps while another is held."""
    from selenium.webdriver.common.action_chains import ActionChains

    chain = ActionChains(browser)
    if holding:
        chain.key_down(holding)
    chain.send_keys(*keys)
    if holding:
        chain.key_up(holding)
    chain.perform()


def tap(browser: Any, start: int, end: int) -> None:
    """Tap, with a finger, the first and the last of these characters of the note."""
    from selenium.webdriver.common.actions.action_builder import ActionBuilder
    from selenium.webdriver.common.actions.pointer_input import PointerInput

    finger = ActionBuilder(browser, mouse=PointerInput("touch", "finger"))
    for x, y in browser.execute_script(ENDS, start, end):
        finger.pointer_action.move_to_location(x, y).pointer_down().pointer_up()
    finger.perform()


def drag(browser: Any, start: int, end: int, *, holding: str = "", clicks: bool = False) -> None:
    """Drag over the characters of the note, or click the first and the last."""
    from selenium.webdriver.common.action_chains import ActionChains

    (x, y), (x2, y2) = browser.execute_script(ENDS, start, end)
    for key in holding:
        ActionChains(browser).key_down(key).perform()
    chain = ActionChains(browser, duration=0)
    pointer = chain.w3c_actions.pointer_action
    pointer.move_to_location(x, y).pointer_down()
    if clicks:
        pointer.pointer_up().move_to_location(x2, y2).pointer_down()
    elif abs(x2 - x) + abs(y2 - y) < 8:
        pointer.move_to_location(x + 9, y).move_to_location(x2, y2)  # one letter: there and back
    else:
        pointer.move_to_location(x2, y2)
    pointer.pointer_up()
    chain.perform()
    for key in holding:
        ActionChains(browser).key_up(key).perform()


def faults_of_access(browser: Any, tools: Path) -> list[str]:
    """Return axe-core's findings on the page against WCAG 2.2 AA and its best practices."""
    script = (tools / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")
    browser.execute_cdp_cmd("Runtime.evaluate", {"expression": script})
    done = browser.execute_cdp_cmd(
        "Runtime.evaluate",
        {"expression": "axe.run({resultTypes: ['violations']}).then(r => JSON.stringify(r.violations))",
         "awaitPromise": True},
    )  # fmt: skip
    found = json.loads(done["result"]["value"])
    return [
        f"{v['id']}: {n['target']} {n.get('failureSummary')}" for v in found for n in v["nodes"]
    ]

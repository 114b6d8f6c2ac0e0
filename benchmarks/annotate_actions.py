"""Number of actions per judgement, and time until a mark is painted, in a real browser.

The reference of the first notes of the test split is marked again on the page of `rubricate
annotate`, as a person would with mouse and keys: one drag for each fragment, one key for an absence
or for a suggestion that is right to the character. The browser counts what it was given: trusted
key presses (a chord is one) and pointer presses (a drag or a click is one). What was marked is
then compared with the reference.

Run: python benchmarks/annotate_actions.py [--notes 20] [--paint]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browsing import drag, open_browser, press, wait_for

from rubricate import Corpus, CorpusBuilder, Feature, Note, Rubric, load_corpus
from rubricate.matchers import fit_matcher
from rubricate.reports.annotating import write_annotation_pages

CONTROL, SHIFT, ALT = "\ue009", "\ue008", "\ue00a"
COUNTING = """
window.actions = {keys: 0, pointers: 0};
const counted = e => e.isTrusted && !['Control', 'Shift', 'Alt', 'Meta'].includes(e.key);
addEventListener('keydown', e => { if (counted(e)) actions.keys++; }, true);
addEventListener('pointerdown', e => { if (e.isTrusted) actions.pointers++; }, true);
"""
PAINTING = """
window.painted = [];
addEventListener('pointerup', () => {
  const begun = performance.now(), channel = new MessageChannel();
  // the first task after the frame in which the mark was drawn
  channel.port1.onmessage = () => painted.push(performance.now() - begun);
  requestAnimationFrame(() => channel.port2.postMessage(0));
}, true);
"""

Marks = list[list[list[int]]]


def marks_of(corpus: Corpus, note: str, feature: str, annotator: str) -> Marks:
    """Return an annotator's marks as lists, sorted."""
    found = corpus.annotations(note, feature, annotator) or ()
    return sorted([[s.start, s.end] for s in one.spans] for one in found)


def replay(browser: Any, page: Path, corpus: Corpus, suggested: Corpus | None) -> dict[str, int]:
    """Mark the reference on the page, and return what it took."""
    browser.get(page.as_uri())
    browser.execute_script("localStorage.clear()")
    browser.refresh()
    browser.execute_script(COUNTING)
    accepted = 0
    for note in corpus.notes:
        wait_for(browser, "document.body.dataset.note", note.id)
        for feature in corpus.rubric(note.case):
            wanted = marks_of(corpus, note.id, feature.id, "reference")
            offered = suggested and marks_of(suggested, note.id, feature.id, "lexicon")
            if not wanted:
                press(browser, "x")
            elif wanted == offered:
                press(browser, "a")
                accepted += 1
            else:
                mark_by_drags(browser, note.text, wanted)
    return {**browser.execute_script("return actions"), "accepted": accepted}


def mark_by_drags(browser: Any, text: str, wanted: Marks) -> None:
    """Drag over every fragment: Ctrl stays, Shift joins, Alt takes characters."""
    last = wanted[-1][-1]
    for mark in wanted:
        for k, (start, end) in enumerate(mark):
            inside = (start and text[start - 1].isalnum() and text[start].isalnum()) or (
                end < len(text) and text[end - 1].isalnum() and text[end].isalnum()
            )
            held = [SHIFT] * (k > 0) + [ALT] * bool(inside)
            held += [CONTROL] * ([start, end] != last)
            drag(browser, start, end, holding="".join(held))


def kept(browser: Any, note: str) -> dict[str, str]:
    """Return the page's saved state of a note: feature and marks."""
    rows = browser.execute_script(
        "const key = Object.keys(localStorage).find(k => k.endsWith(' ' + arguments[0]));"
        "return JSON.parse(localStorage.getItem(key) ?? '[]')",
        note,
    )
    return {feature: marks for feature, _, marks in rows}


def differing(browser: Any, corpus: Corpus) -> int:
    """Return in how many rows the page's marks are not those of the reference."""
    wrong = 0
    for note in corpus.notes:
        own = kept(browser, note.id)
        for feature in corpus.rubric(note.case):
            found = sorted(
                [[int(n) for n in span.split()] for span in mark.split(";")]
                for mark in own[feature.id].split("|") if mark
            )  # fmt: skip
            wrong += found != marks_of(corpus, note.id, feature.id, "reference")
    return wrong


def count_actions(n_notes: int) -> None:
    """Print what judging costs, with and without suggestions."""
    whole = load_corpus("open-notes").select(annotators=["reference"])
    test = [note for note in whole.notes if note.metadata["split"] == "test"][:n_notes]
    corpus = whole.select(notes=[note.id for note in test], cases={note.case for note in test})
    rest = whole.select(
        notes=lambda note: note.metadata["split"] != "test", cases={note.case for note in test}
    )
    bare = corpus.select(annotators=())
    rows = sum(len(corpus.rubric(note.case)) for note in corpus.notes)
    absent = rows - sum(bool(corpus.row_annotations(row)) for row in range(len(corpus.rows)))
    said = corpus.rows.n_annotations + absent
    print(f"{len(corpus.notes)} notes, {rows} judgements, {corpus.rows.n_annotations} marks of "
          f"{len(corpus.rows.start)} fragments, {absent} absences")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, open_browser() as browser:
        for name, learned in (
            ("by hand", None),
            ("suggestions from the rubric", rest.select(notes=(), annotators=())),
            (f"suggestions learned from {len(rest.notes)} other notes", rest),
        ):
            offered = learned and fit_matcher("lexicon", learned).predict(bare)
            (page,) = write_annotation_pages(
                bare, Path(folder) / "page.html", suggested=offered, overwrite=True
            )
            took = replay(browser, page, corpus, offered)
            total = took["keys"] + took["pointers"]
            print(f"{name}: {total} actions, {total / rows:.3f} for one feature of one note, "
                  f"{total / said:.3f} for one mark or absence; {json.dumps(took)}; "
                  f"{differing(browser, corpus)} rows differ", flush=True)  # fmt: skip


def time_painting(n_marks: int = 120, n_timed: int = 20) -> None:
    """Print how long it takes from the end of a drag to the painted mark, at so many marks."""
    words = [f"word{k}" for k in range(4 * n_marks)]
    text = " ".join(words)
    builder = CorpusBuilder()
    builder.add_rubric(Rubric("c", tuple(Feature(f"f{k}", "c", f"Feature {k}") for k in range(30))))
    builder.add_note(Note("n", "c", text))
    corpus = builder.build()
    # every fourth word is marked, by one of thirty features
    starts = [text.index(word + " ") for word in words[:-1]]
    marks = [f"{starts[4 * i]} {starts[4 * i] + 5}" for i in range(n_marks)]
    with tempfile.TemporaryDirectory() as folder, open_browser() as browser:
        (page,) = write_annotation_pages(corpus, Path(folder) / "page.html")
        browser.get(page.as_uri())
        kept_now = [[f"f{k}", "present", "|".join(marks[k::30])] for k in range(30)]
        identity = browser.execute_script(
            "return JSON.parse(document.getElementById('data').textContent).id"
        )
        browser.execute_script(
            "localStorage.setItem(`rubricate ${arguments[0]} n`, JSON.stringify(arguments[1]))",
            identity, kept_now,
        )  # fmt: skip
        browser.refresh()
        browser.execute_script(PAINTING)
        shown = browser.execute_script("return document.querySelectorAll('.mark').length")
        for k in range(n_timed):
            drag(browser, starts[4 * k + 1], starts[4 * k + 1] + 5, holding=CONTROL)
        wait_for(browser, "painted.length", n_timed)
        times = sorted(browser.execute_script("return painted"))
    middle, most = statistics.median(times), times[-1]
    print(f"{shown} marks drawn; from the end of a drag to its paint: median {middle:.0f} ms, "
          f"largest of {n_timed} {most:.0f} ms")  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=20)
    parser.add_argument("--paint", action="store_true", help="Time painting instead.")
    given = parser.parse_args()
    if given.paint:
        time_painting()
    else:
        count_actions(given.notes)

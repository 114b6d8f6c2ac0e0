"""A project's reference, and each annotator's work, in every format that can be written."""

import json
import zipfile
from functools import partial
from pathlib import Path

import pytest
from workbench import Small, decide_first, judge_all, small_project

from rubricate import Corpus, read_corpus
from rubricate.errors import InputError, LossError, UnknownNameError
from rubricate.formats import detect_format
from rubricate.store import annotating
from rubricate.store.database import Database
from rubricate.store.downloading import RULES, Wanted, write_archive, written_formats

ANN, BOB, BOTH = [[(0, 4)]], [[(0, 5)]], [[(0, 5)]]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Database, Small]:
    store = Database(f"sqlite:///{tmp_path_factory.mktemp('bench') / 'bench.sqlite'}")
    store.migrate()
    small = small_project(store)
    judge_all(store, small)
    decide_first(store, small)
    return store, small


def download(store: Database, small: Small, folder: Path, wanted: Wanted | None = None) -> Path:
    """Return the folder with what was in the archive."""
    target = folder / "archive.zip"
    store.read_at_once(lambda c: write_archive(c, small.project, target, wanted))
    with zipfile.ZipFile(target) as archive:
        archive.extractall(folder / "out")
    return folder / "out"


def marks_of(corpus: Corpus, annotator: str) -> dict[tuple[str, str], list[list[tuple[int, int]]]]:
    """Return an annotator's marks, by note and feature."""
    found = {}
    for note in corpus.notes:
        for feature in corpus.features:
            marks = corpus.annotations(note.id, feature.id, annotator)
            if marks is not None:
                found[note.id, feature.id] = [[(s.start, s.end) for s in m.spans] for m in marks]
    return found


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("curated", None), ("union", BOTH), ("intersection", ANN), ("senior", BOB)],
)
def test_the_reference_has_what_was_decided_then_agreed_then_by_the_rule(
    finished: tuple[Database, Small], tmp_path: Path, rule: str, expected: object
) -> None:
    store, small = finished
    seniors = ("small bob",) if rule == "senior" else ()
    out = download(store, small, tmp_path, Wanted(rule=rule, seniors=seniors))
    corpus = read_corpus(out / "reference.jsonl")
    assert [one.id for one in corpus.annotators] == ["reference"]
    wanted = {(note, "f2"): [] for note in ("n0", "n1", "n2")} | {("n0", "f1"): BOTH}
    wanted |= {} if expected is None else {("n1", "f1"): expected, ("n2", "f1"): expected}
    assert marks_of(corpus, "reference") == wanted
    lines = (out / "provenance.csv").read_text("utf-8-sig").splitlines()[1:]
    by = {tuple(line.split(",")[:2]): line.split(",")[3] for line in lines}
    assert by["n0", "f1"] == "small curator"
    assert by["n0", "f2"] == "rule identical"
    assert (by["n1", "f1"] == "undecided") == (expected is None)
    about = json.loads((out / "about.json").read_text("utf-8"))
    assert (about["rule"], about["undecided"]) == (rule, 2 if expected is None else 0)


@pytest.mark.parametrize("what", ["reference", "both"])
@pytest.mark.parametrize("name", written_formats())
def test_every_format_is_written_and_found_again(
    finished: tuple[Database, Small], tmp_path: Path, what: str, name: str
) -> None:
    wanted = Wanted(what, name, "union", may_lose=True)  # type: ignore[arg-type]
    out = download(*finished, tmp_path, wanted)
    [place] = [one for one in out.iterdir() if one.stem == what]
    assert detect_format(place) == name


def test_both_holds_the_reference_beside_the_annotators(
    finished: tuple[Database, Small], tmp_path: Path
) -> None:
    out = download(*finished, tmp_path, Wanted("both", rule="union"))
    corpus = read_corpus(out / "both.jsonl")
    assert {one.id for one in corpus.annotators} == {"small ann", "small bob", "reference"}
    assert marks_of(corpus, "small ann")["n1", "f1"] == ANN
    assert marks_of(corpus, "reference")["n1", "f1"] == BOTH


def test_everything_has_the_reference_as_well(
    finished: tuple[Database, Small], tmp_path: Path
) -> None:
    out = download(*finished, tmp_path)
    assert marks_of(read_corpus(out / "reference.jsonl"), "reference")["n0", "f1"] == BOTH
    assert "n0,f1,union,0 5,small curator" in (out / "decisions.csv").read_text("utf-8-sig")


def test_what_cannot_be_written_is_said(finished: tuple[Database, Small], tmp_path: Path) -> None:
    for wanted, error in (
        (Wanted(format="submission"), LossError), (Wanted(rule="senior"), InputError),
        (Wanted(rule="senior", seniors=("x",)), UnknownNameError),
    ):  # fmt: skip
        with pytest.raises(error):
            download(*finished, tmp_path, wanted)


@pytest.mark.parametrize(
    "unknown", [{"format": "texts"}, {"rule": "chance"}, {"what": "../../all"}], ids=str
)
def test_nothing_unknown_can_be_wanted(unknown: dict[str, str]) -> None:
    with pytest.raises(UnknownNameError):
        Wanted(**unknown)


def test_notes_and_features_that_wait_for_somebody_are_in_no_reference(
    database: Database, small: Small, tmp_path: Path
) -> None:
    with pytest.raises(InputError):
        download(database, small, tmp_path, Wanted())
    judge_all(database, small)
    ann = small.who["ann"]
    queue = database.read(lambda c: annotating.own_queue(c, ann, small.project))["assignments"]
    for one, answer in zip(queue, ("unsure", None, "absent"), strict=True):
        work = database.read(partial(annotating.open_work, me=ann, assignment=one["id"]))
        version = work["judgements"]["f2"]["version"]
        database.write(partial(
            annotating.judge, me=ann, assignment=one["id"], feature="f2", answer=answer, marks=(),
            version=version, sha256=work["note"]["sha256"]))  # fmt: skip
    out = download(database, small, tmp_path, Wanted(rule="union"))
    found = marks_of(read_corpus(out / "reference.jsonl"), "reference")
    unsure, opened = queue[0]["note"], queue[1]["note"]
    assert (unsure, "f1") in found
    assert (unsure, "f2") not in found
    assert not {key for key in found if key[0] == opened}  # one of its annotators is not done


def test_every_rule_settles_what_annotators_agree_on() -> None:
    assert {rules[0] for rules in RULES.values()} == {"identical"}

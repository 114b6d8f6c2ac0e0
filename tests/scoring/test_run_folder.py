"""One run holds its folder; input that changes, evidence that lies and slow notes are noticed."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rubricate import Corpus, Note, load_corpus, write_corpus
from rubricate.errors import InputError, OutputExistsError
from rubricate.reports.scoring import ScoringReport
from rubricate.run import SCORE_COLUMNS, read_rows
from rubricate.scoring import FinishedRun, ScoreSettings, score_notes
from rubricate.scoring.evidence_search import EvidenceFinder
from rubricate.trust import verify_run

SAME = ("scores.csv", "items.csv", "scores.xlsx", "run.json")
HARNESS = Path(__file__).with_name("harness.py")
FOREIGN = "from pathlib import Path\nPath({mark!r}).touch()\nraise SystemExit('foreign code')\n"


@pytest.fixture(scope="module")
def few(depth: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty notes, as our JSON Lines."""
    path = tmp_path_factory.mktemp("few") / "notes.jsonl"
    chosen = [note.id for note in depth.notes[::7]]
    write_corpus(depth.select(annotators=[]).select(notes=chosen), path, format="jsonl")
    return path


@pytest.fixture
def notes(few: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(few, tmp_path / "notes.jsonl"))


def score(notes: Path, out: Path, model: Path, **more: object) -> FinishedRun:
    overwrite = bool(more.pop("overwrite", False))
    settings = ScoreSettings(batch_size=5, overwrite=overwrite)
    return score_notes(notes, out, model=model, settings=settings, **more)  # type: ignore[arg-type]


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in SAME}


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-P", "-m", "rubricate", *map(str, arguments)]


@pytest.mark.engine
def test_no_file_of_the_working_folder_is_executed(
    notes: Path, model: Path, tmp_path: Path
) -> None:
    here, mark = tmp_path / "here", tmp_path / "executed"
    here.mkdir()
    for name in ("signal", "json", "pickle", "queue", "faulthandler", "numpy", "rubricate"):
        (here / f"{name}.py").write_text(FOREIGN.format(mark=str(mark)))
    done = subprocess.run(
        command("score", notes, "--model", model, "--workers", "1", "--out", "out"),
        cwd=here, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not mark.exists()
    assert (here / "out" / "report.html").exists()


def test_evidence_of_another_state_of_the_program_is_found_again(
    notes: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Versions are made seldom: what decides may change between two runs of one version."""
    for number, (said, kept) in enumerate([("statin", 0), ("statin", 6), ("opioid", 0)]):
        table = tmp_path / f"program-{number}" / "knowledge" / "drug_classes.tsv"
        table.parent.mkdir(parents=True)
        table.write_text(said, encoding="utf-8")
        monkeypatch.setattr("rubricate.files.PACKAGE", table.parents[1])
        run = score(notes, tmp_path / "out", model, overwrite=True)
        assert (run.times["batches_kept"], run.times["batches"]) == (kept, 6), said
    assert not verify_run(tmp_path / "out").differing


class Rewriting:
    """Rewrites the notes while they are scored, when so many of them are done."""

    def __init__(self, notes: Path, body: str, at: int) -> None:
        self.notes, self.body, self.at = notes, body, at

    def __call__(self, done: int, total: int | None, label: str) -> None:
        if label == "finding evidence" and done == self.at:
            self.notes.write_text(self.body, encoding="utf-8")


def rewritten(text: str, way: str) -> str:
    lines = text.splitlines(keepends=True)
    kinds = [i for i, line in enumerate(lines) if '"text"' in line and '"note"' in line]
    if way == "another word":
        lines[kinds[-1]] = lines[kinds[-1]].replace("pain", "joy").replace(" a ", " one ")
    elif way == "fewer notes":
        del lines[kinds[-1]]
    elif way == "more notes":
        lines.append(json.dumps({**json.loads(lines[kinds[-1]]), "note": "one more"}) + "\n")
    elif way == "another order":
        lines[kinds[-2]], lines[kinds[-1]] = lines[kinds[-1]], lines[kinds[-2]]
    return "".join(lines)


@pytest.mark.parametrize("way", ["another word", "fewer notes", "more notes", "another order"])
def test_notes_that_change_stop_the_run_and_nothing_is_lost(
    notes: Path, model: Path, tmp_path: Path, way: str
) -> None:
    out, before = tmp_path / "out", notes.read_text(encoding="utf-8")
    changed = rewritten(before, way)
    assert changed != before
    score(notes, tmp_path / "undisturbed", model)
    with pytest.raises(InputError, match="changed"):
        score(notes, out, model, progress=Rewriting(notes, changed, 10))
    assert not (out / "run.json").exists()
    kept = len(list((out / "evidence").glob("*.gz")))
    assert kept >= 2
    with pytest.raises(InputError, match="different notes"):
        score(notes, out, model)
    notes.write_text(before, encoding="utf-8")
    run = score(notes, out, model)
    assert run.times["batches_kept"] == kept
    assert contents(out) == contents(tmp_path / "undisturbed")
    # The other notes, scored over them, share nothing with them but what is the same.
    notes.write_text(changed, encoding="utf-8")
    again = score(notes, out, model, overwrite=True)
    assert again.times["batches_kept"] == 0
    score(notes, tmp_path / "afresh", model)
    # What was decided on the notes before is in the log, which the run and its workbook know.
    for name in ("scores.csv", "items.csv"):
        assert contents(out)[name] == contents(tmp_path / "afresh")[name]


def test_notes_that_change_under_the_report_stop_it(
    notes: Path, model: Path, tmp_path: Path
) -> None:
    out, before = tmp_path / "out", notes.read_text(encoding="utf-8")
    last = Rewriting(notes, rewritten(before, "another word"), len(before.splitlines()) - 1)
    with pytest.raises(InputError, match="changed"):
        score(notes, out, model, progress=last, report=ScoringReport())
    assert not (out / "run.json").exists() and not (out / "report.html").exists()
    notes.write_text(before, encoding="utf-8")
    assert score(notes, out, model, report=ScoringReport()).times["batches_kept"] == 6


def replace_with_neighbour(evidence: Path) -> None:
    shutil.copy(evidence / "000001.jsonl.gz", evidence / "000002.jsonl.gz")


def cut_in_half(evidence: Path) -> None:
    path = evidence / "000002.jsonl.gz"
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join(lines[:3])))


def empty_archive(evidence: Path) -> None:
    (evidence / "000002.jsonl.gz").write_bytes(gzip.compress(b""))


def add_a_batch(evidence: Path) -> None:
    shutil.copy(evidence / "000001.jsonl.gz", evidence / "000099.jsonl.gz")


@pytest.mark.parametrize("spoil", [replace_with_neighbour, cut_in_half, empty_archive, add_a_batch])
def test_spoilt_evidence_is_searched_again(
    notes: Path, model: Path, tmp_path: Path, spoil: object
) -> None:
    out = tmp_path / "out"
    score(notes, out, model)
    before = contents(out)
    spoil(out / "evidence")  # type: ignore[operator]
    run = score(notes, out, model, overwrite=True)
    assert run.times["batches_refused"] == 1
    assert contents(out) == before
    assert not verify_run(out).differing


def test_evidence_of_other_notes_under_the_same_plan_is_not_used(
    notes: Path, model: Path, tmp_path: Path
) -> None:
    out, before = tmp_path / "out", notes.read_text(encoding="utf-8")
    score(notes, out, model)
    notes.write_text(rewritten(before, "another word"), encoding="utf-8")
    score(notes, tmp_path / "other", model)
    for path in (tmp_path / "other" / "evidence").glob("*.gz"):
        shutil.copy(path, out / "evidence")
    notes.write_text(before, encoding="utf-8")
    wanted = contents(out)
    assert score(notes, out, model, overwrite=True).times["batches_refused"] == 1
    assert contents(out) == wanted


def test_evidence_of_another_rule_for_unreadable_notes_is_not_used(
    notes: Path, model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    score(notes, out, model)
    plan = out / "evidence" / "plan.json"
    value = json.loads(plan.read_bytes())
    plan.write_text(json.dumps({**value, "readable": "of an earlier version"}), encoding="utf-8")
    assert score(notes, out, model, overwrite=True).times["batches_kept"] == 0
    assert json.loads(plan.read_bytes()) == value


class Failing:
    """A report that cannot be written."""

    def add(self, result: object, text: str | None) -> None:
        pass

    def write(self, folder: Path, *, overwrite: bool, progress: object) -> Path:
        raise RuntimeError("no space left")


def test_a_finished_run_survives_one_that_fails(notes: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    score(notes, out, model, report=ScoringReport())
    files = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    half = tmp_path / "half.jsonl"
    half.write_text(rewritten(notes.read_text(encoding="utf-8"), "fewer notes"), encoding="utf-8")
    with pytest.raises(RuntimeError):
        score(half, out, model, overwrite=True, report=Failing())
    assert not verify_run(out).differing
    assert {path: path.read_bytes() for path in files} == files
    # What it found was not lost, and the same command ends it.
    assert score(half, out, model, overwrite=True).times["batches_kept"] == 6
    assert not (out / "report.html").exists() and not (out / "report").exists()
    assert {path.name for path in out.iterdir()} == {
        *SAME,
        "times.json",
        "evidence",
        "decisions.jsonl",
    }


def test_what_a_killed_run_left_half_done_is_removed(
    notes: Path, model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    (out / ".making-abc12345" / "report").mkdir(parents=True)
    (out / ".scores.csv.part").write_text("x")
    (out / ".lock").write_text("process 1 on elsewhere, since 2020-01-01T00:00:00+00:00\n")
    score(notes, out, model)
    assert {path.name for path in out.iterdir()} == {
        *SAME,
        "times.json",
        "evidence",
        "decisions.jsonl",
    }


STOPPING = """
import os, signal, sys
from rubricate.scoring import ScoreSettings, score_notes

def stop(done, total, label):
    if label == "finding evidence" and done == 10:
        os.kill(os.getpid(), signal.SIGSTOP)

notes, model, out = sys.argv[1:]
score_notes(notes, out, model=model, settings=ScoreSettings(batch_size=5), progress=stop)
"""


@pytest.fixture
def stopped(notes: Path, model: Path, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A run that holds its folder and does not go on."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", STOPPING, str(notes), str(model), str(tmp_path / "out")]
    )
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    yield process
    process.kill()
    process.wait()


@pytest.mark.engine
def test_a_second_run_is_told_who_holds_the_folder(
    stopped: subprocess.Popen[bytes], notes: Path, model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    again = command("score", notes, "--model", model, "--out", out, "--batch-size", "5")
    for more in ([], ["--overwrite"]):
        done = subprocess.run([*again, *more], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert f"process {stopped.pid} " in done.stderr and "since" in done.stderr
        assert len(done.stderr.splitlines()) == 1
    stopped.kill()
    stopped.wait()
    done = subprocess.run(again, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads((out / "times.json").read_text())["batches_kept"] == 2
    assert not (out / ".lock").exists()


def test_a_folder_can_be_used_again_after_a_refusal(
    notes: Path, model: Path, tmp_path: Path
) -> None:
    score(notes, tmp_path / "out", model)
    for _ in range(2):
        with pytest.raises(OutputExistsError):
            score(notes, tmp_path / "out", model)
    score(notes, tmp_path / "out", model, overwrite=True)


@pytest.mark.engine
def test_killed_in_the_report_the_same_command_goes_on(
    notes: Path, model: Path, tmp_path: Path
) -> None:
    again = command("score", notes, "--model", model, "--out", tmp_path / "out")
    for phase in (".making-*/.report.html.making-*", ".making-*/items.csv"):
        run = subprocess.Popen(again, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while run.poll() is None and not any((tmp_path / "out").glob(phase)):
            time.sleep(0.001)
        run.send_signal(signal.SIGKILL)
        if run.wait() == 0:
            shutil.rmtree(tmp_path / "out")  # it was too quick to be killed there
    done = subprocess.run(again, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "report.html").exists()
    assert not verify_run(tmp_path / "out").differing


def run_harness(what: str, few: Path, model: Path, folder: Path, times: int) -> dict[str, int]:
    done = subprocess.run(
        [sys.executable, "-P", str(HARNESS), what, str(few), str(model), str(folder), str(times)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    counts: dict[str, int] = json.loads(done.stdout)
    return counts


@pytest.mark.engine
def test_runs_killed_at_any_moment_lose_nothing(few: Path, model: Path, tmp_path: Path) -> None:
    assert run_harness("kill", few, model, tmp_path, 6)["kills"] >= 6


@pytest.mark.engine
def test_of_two_runs_at_once_one_ends(few: Path, model: Path, tmp_path: Path) -> None:
    assert run_harness("two", few, model, tmp_path, 3)["pairs"] == 3


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.skipif("RUBRICATE_KILLS" not in os.environ, reason="RUBRICATE_KILLS: how many")
@pytest.mark.parametrize("what", ["kill", "two"])
def test_very_many_kills_and_pairs(what: str, few: Path, model: Path, tmp_path: Path) -> None:
    run_harness(what, few, model, tmp_path, int(os.environ["RUBRICATE_KILLS"]))


class Slow:
    """A matcher that never ends on one word."""

    name = "slow"

    def predict(self, corpus: Corpus) -> Corpus:
        while any("forever" in note.text for note in corpus.notes):
            pass
        return corpus.with_rows(corpus.rows, [])


def test_a_note_that_takes_too_long_is_a_row_with_its_reason(depth: Corpus) -> None:
    case = depth.notes[0].case
    texts = ["fine", "forever", "fine"]
    found = EvidenceFinder(Slow(), depth.rubrics, note_seconds=0.2)(  # type: ignore[arg-type]
        [Note(str(i), case, text) for i, text in enumerate(texts)]
    )
    assert ["failed" in line for line in found] == [False, True, False]
    assert "longer than 0.2 seconds" in found[1]["failed"]
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_slow_note_of_a_run_is_not_scored(tmp_path: Path) -> None:
    corpus = load_corpus("open-notes").select(cases=["30"])
    settings = ScoreSettings(matcher="exact", note_seconds=1e-4)
    run = score_notes(corpus, tmp_path / "out", settings=settings)
    rows = list(read_rows(tmp_path / "out" / "scores.csv", SCORE_COLUMNS))
    assert len(rows) == 8
    assert all("longer than" in str(row["reason"]) for row in rows if row["status"] != "scored")
    assert run.run["counts"]["not_scored"]
    assert run.run["settings"]["note_seconds"] == 1e-4

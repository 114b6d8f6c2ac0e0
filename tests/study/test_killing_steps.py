"""A step of a study that gets SIGKILL goes on to the same files when it is given again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rubricate.study.record import Study

pytestmark = [
    pytest.mark.slow,
    pytest.mark.engine,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="steps run in copies of a process"),
]
#: So many things that a step does to files lie between two kills; 1 kills at each of them.
APART = int(os.environ.get("RUBRICATE_APART", "9"))

# Each copy counts what it does to files of the study, and ends itself at one of them; the next
# copy takes the step again. The first that comes through ends the step.
RUN = """
import os, signal, sys, traceback
from pathlib import Path
from rubricate import read_corpus
from rubricate.study.assignment import assign_study
from rubricate.study.collection import collect_study
from rubricate.study.population import define_population
from rubricate.study.record import Study
from rubricate.study.rehearsal import rehearse_study
from rubricate.study.sampling import plan_study, sample_study

folder, apart = sys.argv[1], int(sys.argv[2])
reference = read_corpus(Path(folder, "notes.jsonl"))

def rehearse(study):
    rehearse_study(study, reference, annotator="reference", overwrite=True)

def ends_at(last):
    done = 0
    def count(event, arguments):
        nonlocal done
        writes = event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree")
        if event == "open" and str(arguments[0]).startswith(folder):
            writes = arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        done += bool(writes)
        # Ending itself is told here, too.
        if writes and done == last:
            os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(count)

kills = 0
for step in (define_population, plan_study, sample_study, assign_study, rehearse, collect_study):
    last = apart
    while True:
        child = os.fork()
        if not child:
            ends_at(last)
            try:
                step(Study.open(folder))
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0, step.__name__
            break
        assert os.WTERMSIG(status) == signal.SIGKILL
        kills, last = kills + 1, last + apart if last else 0
print(kills)
"""


def run(study: Study, apart: int) -> int:
    done = subprocess.run(
        [sys.executable, "-P", "-c", RUN, str(study.folder), str(apart)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_killed_steps_end_with_the_files_of_undisturbed_ones(
    make_study: Callable[..., Study], tmp_path: Path
) -> None:
    study = make_study("brat")
    kept = tmp_path / "kept"
    study.folder.rename(kept)
    found = []
    for apart in (0, APART):
        shutil.copytree(kept, study.folder)
        kills = run(study, apart)
        print(kills, "kills")  # noqa: T201
        assert (kills > 10) is bool(apart)
        found.append(contents(study.folder))
        study.folder.rename(tmp_path / f"done{apart}")
    undisturbed, killed = found
    assert killed.keys() == undisturbed.keys()
    # A record says when its step was done.
    differing = {name for name in killed if killed[name] != undisturbed[name]}
    assert {Path(name).name for name in differing} <= {"record.json"}

"""A copy of a process that has used polars, spaCy or a matcher goes on, or says why it cannot."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork"),
]
#: Seconds after which a process waits for ever; the longest of these tests takes a few.
PATIENCE = 240

POOL = """
import multiprocessing, sys
import rubricate.notebook as r

def score(_):
    run = r.score(["Chest pain, no fever"], ["Chest pain", "No fever"], matcher=sys.argv[1])
    return [float(result.total.score) for result in run.results]

before = score(0)
with multiprocessing.get_context("fork").Pool(2) as pool:
    again = pool.map_async(score, range(3)).get(timeout=200)
print(all(one == before for one in again), before)
"""
SPACY = """
import multiprocessing
multiprocessing.set_start_method("fork")
import spacy
nlp = spacy.blank("en")
nlp.add_pipe("rubricate", config={"rubric": ["No fever", "Cough"]})
texts = ["Pt denies fever.", "Has a cough."] * 3

def found(docs):
    return [[span.text for span in doc.spans["rubricate"]] for doc in docs]

before = found(map(nlp, texts))
print(found(nlp.pipe(texts, n_process=2, batch_size=2)) == before, before[0])
"""
REFUSED = """
import os, sys
from rubricate import load_corpus
from rubricate.errors import RubricateError
corpus = load_corpus("open-notes")
corpus.to_frame().drop_nulls()
child = os.fork()
if child == 0:
    try:
        corpus.to_frame()
    except RubricateError as error:
        print("spawn" in str(error), flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""


def run(folder: Path, script: str, *arguments: str) -> list[str]:
    """Run a script in a process of its own, with as many threads as the libraries like."""
    path = folder / "script.py"
    path.write_text(script, encoding="utf-8")
    free = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, str(path), *arguments],
        env=free,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("matcher", ["lexicon", "cascade"])
def test_a_pool_of_copies_scores_after_the_first_process_has(tmp_path: Path, matcher: str) -> None:
    assert run(tmp_path, POOL, matcher)[0] == "True"


def test_spacy_reads_in_copies_after_the_first_process_has(tmp_path: Path) -> None:
    pytest.importorskip("spacy")
    found = run(tmp_path, SPACY)
    assert found[:2] == ["True", "['denies"]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs the names of threads")
def test_a_copy_that_would_wait_for_threads_of_polars_says_so(tmp_path: Path) -> None:
    assert run(tmp_path, REFUSED) == ["True"]

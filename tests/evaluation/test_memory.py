"""Evaluating a large corpus takes little memory."""

import subprocess
import sys

import pytest

CODE = """
import re
from pathlib import Path

import rubricate as r

corpus = r.load_corpus("open-notes")
own = corpus.select(annotators=["reference"])
r.evaluate(corpus, own, reference_annotator="reference")
# Not ru_maxrss: a child inherits the peak of the process that starts it.
print(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the unit of memory differs elsewhere")
def test_thousands_of_notes_are_evaluated_in_400_megabytes() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", CODE], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 400 * 1024

"""Lists are found by name, read when they are asked for, and read once."""

import subprocess
import sys

import pytest

from rubricate.errors import UnknownNameError
from rubricate.knowledge.tables import pattern, words

#: Counts how often each file is opened while a program reads a note and uses its lists again.
READS = """
import collections, pathlib
often = collections.Counter()
real = pathlib.Path.read_text
def counted(path, *args, **kwargs):
    if "knowledge" in path.parts: often[str(path)] += 1
    return real(path, *args, **kwargs)
pathlib.Path.read_text = counted
import rubricate.knowledge.tables
assert not often, "importing reads no table"
from rubricate.reading.clauses import clause_ranges
from rubricate.reading.tokens import find_tokens
for text in ("No fever but cough.", "Dr. Who has no rash."):
    clause_ranges(text, find_tokens(text))
print(max(often.values()), len(often))
"""


def test_a_name_that_is_not_there_is_told_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"'sentences\.titles'"):
        words("sentences.title")
    with pytest.raises(UnknownNameError, match="sentences"):
        words("sentence.titles")


def test_lists_are_shared() -> None:
    assert words("sentences.titles") is words("sentences.titles")
    assert pattern("clean.copy") is pattern("clean.copy")


def test_tables_are_read_when_first_asked_for_and_once() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", READS], capture_output=True, text=True, check=True
    )
    most, files = map(int, done.stdout.split())
    assert most == 1
    assert files >= 1

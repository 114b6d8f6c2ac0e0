"""Sentences that state, deny or only speak of a feature; benchmarks/sentences.py reads them all."""

from __future__ import annotations

import importlib
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
#: Every so many sentences are read here.
STEP = 12


@pytest.fixture
def sentences(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("sentences")


def test_each_sentence_stands_once_and_asks_for_something(sentences: Any) -> None:
    rows = sentences.read_table()
    assert len(rows) == len(set(rows))
    assert all("{x}" in row.sentence or "{d}" in row.sentence for row in rows)
    assert all(row.feature for row in rows)


def test_what_is_stated_is_found_and_what_is_only_spoken_of_is_not(sentences: Any) -> None:
    by_kind: dict[str, list[bool]] = defaultdict(list)
    for row, credited in sentences.credited("cascade", sentences.read_table()[::STEP]).items():
        by_kind[row.kind] += credited
    shares = {kind: sum(own) / len(own) for kind, own in by_kind.items()}
    assert shares.pop("stated") >= 0.95
    assert shares["denied"] <= 0.05
    assert shares["only spoken of"] <= 0.15
    # The networks still credit many that are another's or over; all kinds together stay few.
    assert sum(shares.values()) / len(shares) <= 0.2

from pathlib import Path

import pytest

from rubricate import load_corpus, read_corpus, write_corpus
from rubricate.errors import InputError


def test_a_submission_keeps_every_character_marked(tmp_path: Path) -> None:
    corpus = load_corpus("open-notes").select(cases=["0"], annotators=["reference"])
    place = tmp_path / "submission.csv"
    lost = write_corpus(corpus, place, format="submission")
    assert set(lost) == {"fragments", "rubrics", "metadata", "groups"}
    assert place.read_text(encoding="utf-8").startswith("id,location\n")
    read = read_corpus(place, like=corpus)
    assert len(read.rows) == len(corpus.rows)
    spans = [
        sorted({*zip(c.rows.span_row, c.rows.start, c.rows.end, strict=True)})
        for c in (read, corpus)
    ]
    assert spans[0] == spans[1]


def test_a_submission_cannot_be_read_alone(tmp_path: Path) -> None:
    place = tmp_path / "submission.csv"
    place.write_text("id,location\n10000_000,0 5\n", encoding="utf-8")
    with pytest.raises(InputError, match="beside"):
        read_corpus(place)


def test_every_broken_row_is_named(tmp_path: Path) -> None:
    corpus = load_corpus("open-notes").select(cases=["0"])
    place = tmp_path / "submission.csv"
    place.write_text(
        "id,location\n10000_000,0 5\n10000_000,0 5\n99999_000,0 1\n10000_001,0;5\n10000_002,0 99999\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError) as caught:
        read_corpus(place, like=corpus)
    assert [f.line for f in caught.value.faults] == [2, 3, 4, 5]

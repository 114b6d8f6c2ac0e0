from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from strategies import corpora

from rubricate import Corpus
from rubricate.errors import InputError
from rubricate.formats import FORMATS
from rubricate.formats.losses import count_losses


@pytest.mark.parametrize("name", ["jsonl", "parquet"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(corpus=corpora())
def test_round_trip_is_lossless(
    name: str, corpus: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("round") / f"c.{name}"
    FORMATS[name].write(corpus, place)
    assert FORMATS[name].looks_like(place)
    assert FORMATS[name].read(place, strict=True) == corpus
    assert count_losses(corpus, FORMATS[name].holds) == {}


def test_every_broken_line_is_reported_with_its_number(tmp_path: Path) -> None:
    place = tmp_path / "c.jsonl"
    place.write_text(
        '{"rubricate": 1, "rubrics": [{"case": "c", "features": [{"id": "f", "text": "F"}]}],'
        ' "annotators": [{"id": "a"}]}\n'
        '{"note": "n1", "case": "c", "text": "secret", "annotations": {"a": {"f": [[[0, 99]]]}}}\n'
        '{"note": "n2", "case": "c", "te\n'
        '{"note": "n1", "case": "c", "text": "secret"}\n'
        '{"note": "n3", "case": "c", "text": "secret", "annotations": {"a": {"g": []}}}\n',
        encoding="utf-8",
    )
    with pytest.raises(InputError) as caught:
        FORMATS["jsonl"].read(place, strict=True)
    assert sorted(f.line or 0 for f in caught.value.faults) == [2, 3, 4, 5]
    assert "secret" not in str(caught.value)


def test_lenient_reading_keeps_wrong_offsets(tmp_path: Path) -> None:
    place = tmp_path / "c.jsonl"
    place.write_text(
        '{"rubricate": 1, "rubrics": [{"case": "c", "features": [{"id": "f", "text": "F"}]}],'
        ' "annotators": [{"id": "a"}]}\n'
        '{"note": "n1", "case": "c", "text": "short", "annotations": {"a": {"f": [[[0, 99]]]}}}\n',
        encoding="utf-8",
    )
    corpus = FORMATS["jsonl"].read(place, strict=False)
    assert corpus.rows.end.tolist() == [99]

"""The limits of readers: what they count, and what the documents say."""

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from rubricate import read_corpus
from rubricate.errors import InputError
from rubricate.formats import ReadLimits
from rubricate.formats.encoding import MOST_DIGITS, parse_json
from rubricate.formats.jsonl import LONGEST_LINE
from rubricate.formats.reading import RATIO_FROM
from rubricate.formats.tables import LONGEST_ID
from rubricate.scoring import ScoreSettings


def test_levels_of_json_are_limited(tmp_path: Path) -> None:
    place = tmp_path / "c.jsonl"
    place.write_text('{"text": "x", "spans": [], "meta": ' + "[" * 60 + "]" * 60 + "}\n")
    assert len(read_corpus(place).notes) == 1
    with pytest.raises(InputError, match="more than 50 levels"):
        read_corpus(place, limits=ReadLimits(depth=50))
    # Brackets in texts and beside each other are no levels.
    flat = json.dumps([["[" * 200, '\\"[[']] * 200)
    assert parse_json(flat) == json.loads(flat)
    assert parse_json("[" * 100 + "]" * 100)
    for deep in ("[" * 101 + "]" * 101, '{"a":' * 101 + "1" + "}" * 101, "[" * 100_000):
        with pytest.raises(json.JSONDecodeError, match="levels"):
            parse_json(deep)


def test_the_limits_are_those_of_the_documents() -> None:
    page = (Path(__file__).parents[2] / "docs" / "security.md").read_text(encoding="utf-8")
    said = re.findall(r"^\| `(\w+)` \| ([\d,]+) \|", page, re.MULTILINE)
    assert {name: int(most.replace(",", "")) for name, most in said} == asdict(ReadLimits())
    assert f"{LONGEST_LINE:,} bytes" in page and f"{LONGEST_ID} characters, one line" in page
    assert f"{MOST_DIGITS} digits" in page
    assert f"{RATIO_FROM / 10**6} MB on".replace(".0 ", " ") in page
    usual = ScoreSettings()
    for option, default in (
        ("--max-chars", usual.longest),
        ("--note-timeout", usual.note_seconds),
    ):
        lines = [line for line in page.splitlines() if f"| `{option}`" in line]
        assert any(line.startswith(f"| {default:,.0f} ") for line in lines)

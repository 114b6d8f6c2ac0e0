from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate import load_corpus
from rubricate.errors import InputError, RubricateError
from rubricate.matchers import fit_matcher, load_matcher

VALUE = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just([1]) | st.just({})


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    fit_matcher("exact", load_corpus("open-notes").select(cases=["30"])).save(folder)
    return folder


def header(folder: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    return value


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("files", {}),
        ("files", []),
        ("files", {"phrases.jsonl": 5}),
        ("files", {"../model/phrases.jsonl": ""}),
        ("files", {"..": ""}),
        ("files", {"": ""}),
        ("matcher", None),
        ("parameters", "all"),
        ("parameters", {"colour": 3}),
        ("features", ["cp"]),
        ("features", {"cp": 5}),
        ("n_notes", "ten"),
        ("n_notes", True),
        ("n_notes", -1),
        ("learned_from", 5),
        ("rubricate", None),
        ("format", True),
    ],
)
def test_an_ill_typed_header_is_refused(saved: Path, field: str, value: object) -> None:
    text = json.dumps({**header(saved), field: value})
    (saved / "model.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        load_matcher(saved)


@pytest.mark.parametrize("text", ["9" * 5_000, "[" * 100_000, '{"format": ' + "9" * 5_000 + "}"])
def test_what_json_cannot_hold_is_refused(saved: Path, text: str) -> None:
    (saved / "phrases.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="line 1"):
        load_matcher(saved)
    (saved / "model.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="model"):
        load_matcher(saved)


def test_every_fault_is_said_at_once(saved: Path) -> None:
    value = {**header(saved), "n_notes": "ten", "features": 5, "colour": 3}
    (saved / "model.json").write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_matcher(saved)
    assert len(caught.value.faults) == 4


def test_files_that_the_header_does_not_list_are_refused(saved: Path) -> None:
    (saved / "README.txt").write_text("mine", encoding="utf-8")
    load_matcher(saved)
    (saved / "more.jsonl").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match=r"more\.jsonl"):
        load_matcher(saved)


@given(data=st.data())
def test_no_header_makes_another_error_than_ours(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("model") / "m"
    fit_matcher("exact", load_corpus("open-notes").select(cases=["30"])).save(folder)
    value = header(folder)
    for field in data.draw(st.lists(st.sampled_from(sorted(value)), max_size=3)):
        value[field] = data.draw(VALUE)
    (folder / "model.json").write_text(json.dumps(value), encoding="utf-8")
    with contextlib.suppress(RubricateError):
        load_matcher(folder)

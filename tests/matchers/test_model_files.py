from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate import load_corpus
from rubricate.errors import InputError, RubricateError
from rubricate.files import PACKAGE, file_hash
from rubricate.matchers import fit_matcher, load_matcher
from rubricate.matchers.model_files import DECIDING, LEARNING

VALUE = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just([1]) | st.just({})


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "model"
    fit_matcher("exact", load_corpus("open-notes").select(cases=["30"])).save(folder)
    return folder


@pytest.fixture
def saved(model: Path, tmp_path: Path) -> Path:
    """Return a copy of a model that a test may damage."""
    return Path(shutil.copytree(model, tmp_path / "model"))


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
        ("parameters", {"window": "60"}),
        ("parameters", {"window": True}),
        ("parameters", {"window": 10**400}),
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
    data: st.DataObject, model: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = shutil.copytree(model, tmp_path_factory.mktemp("model") / "m")
    value = header(folder)
    for field in data.draw(st.lists(st.sampled_from(sorted(value)), max_size=3)):
        value[field] = data.draw(VALUE)
    (folder / "model.json").write_text(json.dumps(value), encoding="utf-8")
    with contextlib.suppress(RubricateError):
        load_matcher(folder)


LEXICON = {
    "shared.json": [
        ("note_count", -1), ("note_count", "x"), ("forms", {"a": "x"}), ("forms", []),
        ("weights", {"coverage": float("nan")}), ("weights", {"coverage": {}}),
        ("translation", {"a": 1}), ("overall", {"a": 10**400}), ("decision", {}),
        ("hidden", {"into": [[1.0]], "shift": [1.0], "out": [1.0]}),
    ],
    "cases.json": [
        ("decision", {"threshold": float("inf"), "presence": [1, 0], "span": [1, 0]}),
        ("cases", {"30": {}}), ("cases", 5),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [(name, field, value) for name, rows in LEXICON.items() for field, value in rows],
)
def test_a_lexicon_model_with_something_else_inside_is_refused(
    lexicon: Path, name: str, field: str, value: object
) -> None:
    change(lexicon, name, {**json.loads((lexicon / name).read_bytes()), field: value})
    with pytest.raises(InputError):
        load_matcher(lexicon)


@pytest.mark.parametrize(
    "parameters",
    [{"trust": "0.7"}, {"trust": {}}, {"trust": 10**400}, {"lexicon": ["a"]}, {"near": None}],
)
def test_parameters_are_of_their_kind(lexicon: Path, parameters: dict[str, object]) -> None:
    value = {**header(lexicon), "parameters": parameters}
    (lexicon / "model.json").write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(InputError, match="parameter"):
        load_matcher(lexicon)


@pytest.mark.parametrize("place", ["nowhere", "é" * 300, "a\0b", "file/below"])
def test_a_lexicon_that_cannot_be_opened_is_our_error(
    lexicon: Path, place: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("x")
    where = str(tmp_path / place) if "/" in place else place
    value = {**header(lexicon), "parameters": {"lexicon": where}}
    (lexicon / "model.json").write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(InputError):
        load_matcher(lexicon).predict(load_corpus("open-notes").select(cases=["30"]))


def test_a_table_of_words_with_other_columns_is_refused(lexicon: Path) -> None:
    table = pl.read_parquet(lexicon / "words.parquet")
    for changed in (
        table.drop("place"),
        table.with_columns(weight=pl.lit("x")),
        table.with_columns(feature=pl.lit(-1)),
        table.with_columns(feature=pl.lit(10**6)),
        table.with_columns(weight=pl.lit(float("nan"))),
        table.with_columns(words=pl.lit("unknown")),
    ):
        changed.write_parquet(lexicon / "words.parquet")
        seal(lexicon, "words.parquet")
        with pytest.raises(InputError):
            load_matcher(lexicon)


@pytest.fixture
def lexicon(tmp_path: Path) -> Path:
    folder = tmp_path / "lexicon"
    fit_matcher("lexicon", load_corpus("open-notes").select(cases=["30"])).save(folder)
    return folder


def change(folder: Path, name: str, value: object) -> None:
    (folder / name).write_text(json.dumps(value), encoding="utf-8")
    seal(folder, name)


def seal(folder: Path, name: str) -> None:
    """Write the hash of a changed file into model.json."""
    value = header(folder)
    value["files"][name] = file_hash(folder / name)
    (folder / "model.json").write_text(json.dumps(value), encoding="utf-8")


def test_what_decides_is_there_and_is_no_training() -> None:
    assert all((PACKAGE / part).exists() for part in (*DECIDING, *LEARNING))
    training = PACKAGE / "neural" / "training"
    assert not any((PACKAGE / part) in (training, *training.parents) for part in DECIDING)

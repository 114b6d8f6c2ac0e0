import gzip
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.batch import BatchStore
from rubricate.errors import InputError, RubricateError

VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab\u2028"), inner, max_size=2)
    ),
    max_leaves=6,
)


@given(values=st.lists(VALUE, max_size=6))
def test_what_is_put_is_got(values: list[object], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("store")
    store = BatchStore(folder)
    store.open({})
    store.put(7, values)
    assert BatchStore(folder).get(7) == values
    assert store.done() == {7}


def test_a_second_start_goes_on_and_another_plan_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "batches"
    BatchStore(folder).open({"notes": "a"})
    BatchStore(folder).put(0, [1])
    BatchStore(folder).open({"notes": "a"})
    assert BatchStore(folder).done() == {0}
    with pytest.raises(InputError):
        BatchStore(folder).open({"notes": "b"})
    BatchStore(folder).open({"notes": "b"}, overwrite=True)
    assert BatchStore(folder).done() == set()


def test_half_written_batches_do_not_count(tmp_path: Path) -> None:
    store = BatchStore(tmp_path)
    store.open({})
    (tmp_path / ".000000.jsonl.gz.1.part").write_bytes(b"x")
    assert store.done() == set()
    store.open({})
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"], "the next one removes them"


def changed(body: bytes, old: bytes, new: bytes) -> bytes:
    return gzip.compress(gzip.decompress(body).replace(old, new), mtime=0)


#: What may lie where a batch was, made of its file.
BROKEN: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda whole: b"",
    "an empty archive": lambda whole: gzip.compress(b""),
    "no archive": lambda whole: b"text",
    "no JSON": lambda whole: gzip.compress(b'{"a'),
    "nested": lambda whole: gzip.compress(b"[" * 100_000),
    "a long number": lambda whole: gzip.compress(b"9" * 5_000),
    "head alone": lambda whole: whole[:12],
    "end missing": lambda whole: whole[:-4],
    "half the results": lambda whole: changed(whole, b'\n{"text":"b"}', b""),
    "other results": lambda whole: changed(whole, b'"b"', b'"c"'),
    "another batch": lambda whole: changed(whole, b'"batch":0', b'"batch":1'),
    "other items": lambda whole: changed(whole, b'"items":"ab"', b'"items":"ba"'),
    "without a head": lambda whole: gzip.compress(b'{"text":"a"}\n{"text":"b"}\n'),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_file_that_is_not_the_batch_is_refused(
    tmp_path: Path, broken: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "000000.jsonl.gz"
    store = BatchStore(tmp_path, ["ab"])
    store.open({})
    store.put(0, [{"text": "a"}, {"text": "b"}])
    path.write_bytes(broken(path.read_bytes()))
    again = BatchStore(tmp_path, ["ab"])
    assert again.done() == set()
    assert list(again.faults()) == [path]
    with pytest.raises(RubricateError, match="000000"):
        again.get(0)
    assert again.drop_others(again.done()) == 1
    assert not path.exists()


def test_a_file_that_becomes_huge_is_no_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = BatchStore(tmp_path)
    store.open({})
    store.put(0, ["a" * 10_000])
    assert store.done() == {0}
    monkeypatch.setattr("rubricate.batch.running.MOST_BYTES", 1_000)
    assert list(store.faults().values()) == ["larger than any batch"]


def test_a_batch_under_another_number_is_refused(tmp_path: Path) -> None:
    store = BatchStore(tmp_path, ["same", "same"])
    store.open({})
    store.put(0, [1])
    shutil.copy(tmp_path / "000000.jsonl.gz", tmp_path / "000001.jsonl.gz")
    shutil.copy(tmp_path / "000000.jsonl.gz", tmp_path / "0.jsonl.gz")
    assert store.done() == {0}
    assert len(store.faults()) == 2


def test_results_the_caller_refuses_are_not_done(tmp_path: Path) -> None:
    store = BatchStore(tmp_path, check=lambda key, values: "odd" if values[0] % 2 else "")
    store.open({})
    store.put(0, [1])
    store.put(1, [2])
    assert store.done() == {1}


def test_same_results_are_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        store = BatchStore(tmp_path / name)
        store.open({})
        store.put(0, [{"x": 1.5}])
    assert (tmp_path / "a/000000.jsonl.gz").read_bytes() == (
        tmp_path / "b/000000.jsonl.gz"
    ).read_bytes()

import gzip
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
    assert BatchStore(folder).open({"notes": "a"}) == 1
    with pytest.raises(InputError):
        BatchStore(folder).open({"notes": "b"})
    assert BatchStore(folder).open({"notes": "b"}, overwrite=True) == 0


def test_half_written_batches_do_not_count(tmp_path: Path) -> None:
    store = BatchStore(tmp_path)
    store.open({})
    (tmp_path / ".000000.jsonl.gz.1.part").write_bytes(b"x")
    assert store.done() == set()


WHOLE = gzip.compress(b"[1, 2, 3]\n")
BROKEN = {
    "empty": b"",
    "no archive": b"text",
    "no list": gzip.compress(b'{"a'),
    "head alone": WHOLE[:12],
    "end missing": WHOLE[:-4],
    "altered": WHOLE[:10] + b"\xff\xff" + WHOLE[12:],
}


# By name: an archive holds its time, so workers that collect at other times would differ.
@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
def test_a_broken_batch_is_named(tmp_path: Path, body: bytes) -> None:
    store = BatchStore(tmp_path)
    store.open({})
    store.put(0, [{"text": "abc"}])
    (tmp_path / "000000.jsonl.gz").write_bytes(body)
    with pytest.raises(RubricateError, match="000000"):
        BatchStore(tmp_path).get(0)


def test_same_results_are_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        store = BatchStore(tmp_path / name)
        store.open({})
        store.put(0, [{"x": 1.5}])
    assert (tmp_path / "a/000000.jsonl.gz").read_bytes() == (
        tmp_path / "b/000000.jsonl.gz"
    ).read_bytes()

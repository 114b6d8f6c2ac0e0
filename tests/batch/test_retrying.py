from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from killing import DyingAtOnce, Raising, Squaring, Unsendable

from rubricate.batch import Lost, Retries, open_pool, run_batches, running
from rubricate.batch.pools import InlinePool
from rubricate.errors import InputError, RubricateError

BATCHES = [(key, list(range(10 * key, 10 * key + 10))) for key in range(6)]
EXPECTED = {key: [i * i for i in items] for key, items in BATCHES}


@given(st.lists(st.lists(st.integers(0, 99), max_size=5), max_size=8))
def test_every_batch_comes_back_once_in_order_of_its_items(batches: list[list[int]]) -> None:
    pool = InlinePool(Squaring(Path()))
    found = list(run_batches(pool, enumerate(batches)))
    assert dict(found) == {k: [i * i for i in items] for k, items in enumerate(batches)}
    assert len(found) == len(batches)


def test_batches_are_drawn_no_faster_than_they_are_done() -> None:
    drawn = 0

    def batches() -> Iterator[tuple[int, list[int]]]:
        nonlocal drawn
        for key in range(100):
            drawn += 1
            yield key, [key]

    running = run_batches(InlinePool(Squaring(Path())), batches())
    next(running)
    assert drawn <= 2


@pytest.mark.engine
def test_killed_workers_change_nothing(tmp_path: Path) -> None:
    pool = open_pool(Squaring(tmp_path, shaky=(3, 27, 55)), workers=2)
    retries = Retries()
    try:
        assert dict(run_batches(pool, BATCHES, retries=retries)) == EXPECTED
    finally:
        pool.close()
    assert retries == Retries(deaths=3, lost=0)


@pytest.mark.engine
def test_what_cannot_be_sent_is_an_error_and_no_death(tmp_path: Path) -> None:
    pool = open_pool(Unsendable(), workers=1)
    retries = Retries()
    try:
        with pytest.raises(RubricateError, match="results"):
            list(run_batches(pool, BATCHES[:1], retries=retries))
    finally:
        pool.close()
    assert retries.deaths == 0


@pytest.mark.engine
def test_an_item_no_worker_survives_is_lost_and_nothing_else(tmp_path: Path) -> None:
    pool = open_pool(Squaring(tmp_path, fatal=(24,)), workers=2)
    retries = Retries()
    try:
        found = dict(run_batches(pool, BATCHES[:4], retries=retries))
    finally:
        pool.close()
    lost = found[2][4]
    assert isinstance(lost, Lost) and lost.reason
    found[2][4] = 24 * 24
    assert found == {key: EXPECTED[key] for key in range(4)}
    assert retries.lost == 1


@pytest.mark.engine
def test_many_fatal_items_in_one_batch_do_not_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "MOST_BARREN_DEATHS", 15)
    pool = open_pool(Squaring(tmp_path, fatal=(1, 11, 21)), workers=2)
    retries = Retries()
    try:
        found = dict(run_batches(pool, [(0, list(range(32)))], retries=retries))
    finally:
        pool.close()
    assert sum(isinstance(one, Lost) for one in found[0]) == retries.lost == 3
    assert retries.deaths > running.MOST_BARREN_DEATHS


@pytest.mark.engine
def test_errors_of_the_function_come_back_without_their_text(tmp_path: Path) -> None:
    pool = open_pool(Raising(), workers=1)
    try:
        with pytest.raises(RubricateError) as raised:
            list(run_batches(pool, BATCHES[:1]))
    finally:
        pool.close()
    assert "KeyError" in str(raised.value)
    assert "words of a note" not in str(raised.value)


@pytest.mark.engine
@pytest.mark.parametrize("size", [1, 64])
def test_workers_that_keep_dying_end_the_run(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(running, "MOST_BARREN_DEATHS", 5)
    pool = open_pool(DyingAtOnce(), workers=1)
    try:
        with pytest.raises(RubricateError, match="died"):
            list(run_batches(pool, ((key, [0] * size) for key in range(64))))
    finally:
        pool.close()


def test_a_pool_is_local_or_a_cluster(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        open_pool(Squaring(tmp_path), workers=-1)
    with pytest.raises(InputError):
        open_pool(Squaring(tmp_path), workers=1, dask="tcp://127.0.0.1:1")

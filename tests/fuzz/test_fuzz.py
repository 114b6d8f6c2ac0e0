"""Damaged files: every reader reads them, or refuses them with an error of ours without note text.

``python scripts/fuzz.py`` gives readers as many as one likes.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from fuzz.readers import FuzzedReader, fuzzed_readers
from fuzz.running import Bench, Finding, Tally, judge
from fuzz.worker import run_apart
from rubricate.errors import InputError
from rubricate.formats import FORMATS

SEED = 1
FULL = 2_000
READERS = {reader.name: reader for reader in fuzzed_readers()}
#: Readers that get fewer inputs in the quick run, and why.
FEWER = {
    "parquet": (150, "a damaged table may end the process, so that another one must start"),
    "cas": (600, "cassis builds every type and index anew"),
    "cas-json": (150, "cassis builds every type and index anew"),
    "nbme": (600, "three tables for each input"),
    "rubric-xlsx": (600, "openpyxl opens an archive of ten files"),
    "model-lexicon": (150, "a model of many arrays is loaded and used"),
    "model-crf": (600, "a model is loaded and used"),
}


def findings(tally: Tally) -> list[str]:
    """Return the faults, with the command that shows each."""
    return [
        f"{one.error} in {one.where} ({tally.count[one]} of {tally.n_inputs}): "
        f"python scripts/fuzz.py --reader {one.reader} --seed {SEED} --first {first} --number 1"
        for one, first in tally.first.items()
    ]


def fuzz(reader: FuzzedReader, folder: Path, numbers: range) -> Tally:
    if reader.name == "parquet":
        return run_apart(reader.name, SEED, numbers)
    return Bench(reader, folder, SEED).run(numbers)


@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_read_or_refused(name: str, tmp_path: Path) -> None:
    number, _ = FEWER.get(name, (FULL, ""))
    tally = fuzz(READERS[name], tmp_path, range(number))
    assert tally.n_inputs == number
    assert not findings(tally)


@pytest.mark.slow
@pytest.mark.parametrize("name", FEWER)
def test_the_slow_readers_get_twice_as_many(name: str, tmp_path: Path) -> None:
    number = FEWER[name][0]
    tally = fuzz(READERS[name], tmp_path, range(number, 2 * number))
    assert not findings(tally)


@pytest.mark.parametrize("name", READERS)
def test_what_the_damage_starts_from_is_read(name: str, tmp_path: Path) -> None:
    bench = Bench(READERS[name], tmp_path, SEED)
    assert {bench.judge(tree) for tree in bench.valid()} == {"read"}


def test_every_format_is_fuzzed() -> None:
    assert set(FORMATS) <= READERS.keys()


def reading(raised: BaseException | None) -> FuzzedReader:
    def read(*_: object) -> None:
        if raised is not None:
            raise raised

    return FuzzedReader("any", "", lambda _: [], read)


@pytest.mark.parametrize(
    ("raised", "outcome"),
    [
        (None, "read"),
        (InputError("row 3: no such note"), "refused"),
        (InputError("row 3: no label 'Wombatyak'"), "refused"),
        (InputError("row 3: Wombatyak cough"), Finding("any", "note text in the message", "?")),
        (KeyError("x"), Finding("any", "KeyError", "?")),
        (RecursionError(), Finding("any", "RecursionError", "?")),
    ],
)
def test_outcomes_are_told_apart(raised: BaseException | None, outcome: object) -> None:
    assert judge(reading(raised), Path(), Random(0)) == outcome


def test_the_same_seed_damages_in_the_same_way(tmp_path: Path) -> None:
    first, again, other = (
        [Bench(READERS["brat"], tmp_path / str(i), seed).tree(n) for n in range(50)]
        for i, seed in enumerate((1, 1, 2))
    )
    assert first == again != other

from pathlib import Path

import numpy as np
import pytest

from rubricate.errors import InputError
from rubricate.neural.sequence.vectors import read_vectors, vector_table


def test_both_text_forms_are_read(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    for head in ("", "2 3\n"):
        path.write_text(head + "Pain 1 2 3\npain 7 7 7\n12 0.5 0 -1e-2\n", encoding="utf-8")
        found = read_vectors(path)
        assert list(found) == ["pain", "00"]
        assert found["pain"].tolist() == [1, 2, 3]


def test_all_faults_are_told_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("a 1 2\nb 1\nc x y\nd nan 1\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_vectors(path)
    assert [fault.line for fault in caught.value.faults] == [2, 3, 4]


def test_no_file_and_no_vectors_are_faults(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read_vectors(tmp_path / "none.txt")
    (tmp_path / "empty.txt").write_text("\n", encoding="utf-8")
    with pytest.raises(InputError):
        read_vectors(tmp_path / "empty.txt")


def test_a_table_of_equal_numbers_stays_finite() -> None:
    table = vector_table({"a": np.ones(2, np.float32), "b": np.ones(2, np.float32)})
    assert table.tolist() == [[0, 0], [0, 0], [1, 1], [1, 1]]

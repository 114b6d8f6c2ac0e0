import json
from pathlib import Path

import numpy as np
import pytest

from rubricate.errors import InputError
from rubricate.neural.sequence.states import Tokens, cut_text
from rubricate.neural.sequence.vocabulary import (
    LONGEST_WORD,
    UNSEEN,
    Vocabulary,
    make_batch,
    read_vectors,
    vector_table,
)

LINES = cut_text("No chest pain\nchest pain 120/80\nSOB")


def test_numbers_and_case_fold_to_one_word() -> None:
    seen = Vocabulary.learn(LINES)
    (line,) = cut_text("no CHEST 999/11 zzz")
    words = seen.encode(line).columns[:, 0]
    assert UNSEEN not in words[:5]
    assert words[-1] == UNSEEN


def test_given_words_are_numbered_apart() -> None:
    seen = Vocabulary.learn(LINES, ["cough", "pain"])
    (line,) = cut_text("pain cough sob")
    assert seen.encode(line).columns[:, 0].tolist() == [
        seen.words["pain"],
        UNSEEN,
        seen.words["sob"],
    ]
    assert seen.encode(line).columns[:, -1].tolist() == [3, 2, UNSEEN]
    assert seen.sizes["words"] == max(seen.words.values()) + 1
    assert seen.sizes["given"] == 4


def test_a_vocabulary_survives_json() -> None:
    seen = Vocabulary.learn(LINES, ["cough"])
    assert Vocabulary.from_json(json.loads(json.dumps(seen.to_json()))) == seen


def test_long_words_are_cut_in_the_middle() -> None:
    word = "a" * 100 + "b"
    encoded = Vocabulary.learn(cut_text("ab")).encode(Tokens((word,), ((0, 101),), (0,)))
    assert encoded.characters.shape == (1, LONGEST_WORD)
    assert encoded.characters[0, -1] != encoded.characters[0, 0]


def test_a_batch_spells_each_word_once_and_gives_back_its_letters() -> None:
    seen = Vocabulary.learn(LINES)
    encoded = [seen.encode(line) for line in LINES]
    batch = make_batch(encoded)
    assert batch.mask.sum(axis=1).tolist() == [3, 5, 1]
    for i, one in enumerate(encoded):
        spelled = batch.characters[batch.spelling[i, : len(one)]]
        width = one.characters.shape[1]
        np.testing.assert_array_equal(spelled[:, :width], one.characters)
        np.testing.assert_array_equal(batch.columns[i, : len(one)], one.columns)
    assert len(np.unique(batch.characters, axis=0)) == len(batch.characters)


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

import json

import numpy as np

from rubricate.neural.sequence.tagging import Tokens, cut_text
from rubricate.neural.sequence.vocabulary import LONGEST_WORD, UNSEEN, Vocabulary, make_batch

LINES = cut_text("No chest pain\nchest pain 120/80\nSOB")


def test_numbers_and_case_fold_to_one_word() -> None:
    seen = Vocabulary.learn(LINES)
    (line,) = cut_text("no CHEST 999/11 zzz")
    assert UNSEEN not in seen.encode(line).words[:5]
    assert seen.encode(line).words[-1] == UNSEEN


def test_words_seen_once_are_rare_and_given_ones_are_not() -> None:
    seen = Vocabulary.learn(LINES, ["cough"])
    names = {number: word for word, number in seen.words.items()}
    assert {names[i] for i in seen.rare} == {"no", "000", "/", "00", "sob"}
    assert seen.words["cough"] == max(seen.words.values())
    assert seen.sizes[0] == max(seen.words.values()) + 1


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
        spelled = batch.characters[batch.spelling[i, : len(one.words)]]
        width = one.characters.shape[1]
        np.testing.assert_array_equal(spelled[:, :width], one.characters)
        np.testing.assert_array_equal(batch.words[i, : len(one.words)], one.words)
    assert len(np.unique(batch.characters, axis=0)) == len(batch.characters)

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import (
    Regex,
    Tokenizer,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from rubricate.errors import InputError
from rubricate.neural.encoder.pieces import (
    NOBODY,
    Pass,
    PieceMaker,
    SpecialPieces,
    by_length,
    divide,
    make_batch,
)


def test_places_are_those_of_the_characters(maker: PieceMaker) -> None:
    text = "  58 year\n\told man.🙂 Cough"
    (pieces,) = maker.cut([text])
    words = [text[a:b] for a, b in zip(pieces.start, pieces.end, strict=True)]
    assert words == ["58", "year", "old", "man", ".", "🙂", "Cough"]


SENTENCES = ["58 year old man has chest pain for 3 weeks.", "café, naïve: no fever"] * 9
BRACKETS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ANGLES = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def word_piece() -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=120, special_tokens=BRACKETS, show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return tokenizer


def byte_level(*, spaced: bool) -> Tokenizer:
    """As RoBERTa has it; a space may be put before the first word."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=spaced)
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=ANGLES, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    tokenizer.train_from_iterator(SENTENCES, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return tokenizer


def unigram(*, split: bool) -> Tokenizer:
    """As XLM-RoBERTa (split) and DeBERTa-v3 have it: white space is turned into spaces."""
    tokenizer = Tokenizer(models.Unigram())
    metaspace = pre_tokenizers.Metaspace()
    if split:
        tokenizer.normalizer = normalizers.NFKC()
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), metaspace]
        )
    else:
        blank = normalizers.Replace(Regex(r"\s{2,}|[\n\r\t]"), " ")
        tokenizer.normalizer = normalizers.Sequence(
            [blank, normalizers.NFC(), normalizers.Strip(left=False, right=True)]
        )
        tokenizer.pre_tokenizer = metaspace
    trainer = trainers.UnigramTrainer(
        vocab_size=90, special_tokens=BRACKETS, unk_token="[UNK]", show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return tokenizer


@pytest.fixture(scope="module")
def makers() -> dict[str, PieceMaker]:
    made = {
        "word pieces": word_piece(),
        "bytes": byte_level(spaced=False),
        "bytes, spaced": byte_level(spaced=True),
        "unigram": unigram(split=False),
        "unigram, split": unigram(split=True),
    }
    return {name: PieceMaker(tokenizer) for name, tokenizer in made.items()}


PARTS = ["a", "b", "chest", " pain", "58", ".", "x/y", " ", "  ", "\n", "\t", "\r\n", "\u00a0",
         "é", "e\u0301", "ñ", "½", "ﬁ", "…", "🙂", "👩‍⚕️", "中", "Ġ", "▁"]  # fmt: skip


@given(st.lists(st.sampled_from(PARTS), max_size=14).map("".join))
@example("▁58")
@example(" 🙂")
def test_pieces_cover_exactly_what_is_no_white_space(
    makers: dict[str, PieceMaker], text: str
) -> None:
    wanted = {i for i, c in enumerate(text) if not c.isspace()}
    for name, maker in makers.items():
        (pieces,) = maker.cut([text])
        start, end = pieces.start.tolist(), pieces.end.tolist()
        covered = {i for a, b in zip(start, end, strict=True) for i in range(a, b)}
        assert covered == wanted, name
        assert all(a < b for a, b in zip(start, end, strict=True)), name
        assert start == sorted(start), name


def test_a_space_before_the_first_word_is_no_piece_of_it(makers: dict[str, PieceMaker]) -> None:
    for name in ("bytes, spaced", "unigram"):
        (pieces,) = makers[name].cut(["xy"])
        assert pieces.start.tolist() == sorted(set(pieces.start.tolist())), name


def test_special_pieces_are_those_the_tokenizer_uses(
    makers: dict[str, PieceMaker], tmp_path: Path
) -> None:
    def special(maker: PieceMaker) -> tuple[int, ...]:
        return maker.start_id, maker.stop_id, maker.fill_id, maker.mask_id

    assert special(makers["bytes"]) == (0, 2, 1, 4)
    assert special(makers["unigram"]) == (2, 3, 0, 4)
    for name, maker in makers.items():
        maker.save(tmp_path / "tokenizer.json")
        assert special(PieceMaker.from_file(tmp_path / "tokenizer.json")) == special(maker), name
    named = {"start": "[MASK]", "stop": "[PAD]", "fill": "[SEP]"}
    other = PieceMaker(word_piece(), named)
    assert special(other) == (4, 0, 3, 4)
    other.save(tmp_path / "tokenizer.json")
    assert special(PieceMaker.from_file(tmp_path / "tokenizer.json")) == (4, 0, 3, 4)


def test_the_mask_is_the_special_piece_of_that_name(tmp_path: Path) -> None:
    """MPNet's vocabulary has BERT's ``[MASK]`` as a word, and ``<mask>``."""
    words = ["[MASK]", "[CLS]", "[SEP]", "[PAD]", "<mask>"]
    vocabulary = {word: i for i, word in enumerate(words)}
    maker = PieceMaker(Tokenizer(models.WordLevel(vocabulary, unk_token="[PAD]")))
    assert maker.mask_id == 0
    named = PieceMaker(
        Tokenizer(models.WordLevel(vocabulary, unk_token="[PAD]")), {"mask": "<mask>"}
    )
    named.save(tmp_path / "tokenizer.json")
    assert PieceMaker.from_file(tmp_path / "tokenizer.json").mask_id == 4


def test_a_tokenizer_without_special_pieces_is_an_input_error() -> None:
    with pytest.raises(InputError):
        PieceMaker(Tokenizer(models.WordLevel({"a": 0}, unk_token="a")))


def test_a_missing_or_wrong_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        PieceMaker.from_file(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError):
        PieceMaker.from_file(tmp_path / "bad.json")


@given(st.lists(st.integers(1, 50), max_size=30), st.integers(1, 100))
def test_by_length_holds_each_pass_once_within_the_budget(lengths: list[int], budget: int) -> None:
    groups = list(by_length(lengths, budget))
    assert sorted(i for group in groups for i in group) == list(range(len(lengths)))
    for group in groups:
        assert len(group) == 1 or max(lengths[i] for i in group) * len(group) <= budget


@given(st.integers(0, 60), st.one_of(st.none(), st.integers(1, 20)))
def test_divide_covers_all_in_order(n: int, size: int | None) -> None:
    parts = divide(n, size)
    assert [k for part in parts for k in part] == list(range(n))
    assert all(0 < len(part) <= (size or n) for part in parts)


def test_padding_belongs_to_nobody() -> None:
    one = np.array([7], np.int32)
    passes = [Pass(one, (one,)), Pass(np.array([7, 8, 9], np.int32), (one, one))]
    batch = make_batch(passes, SpecialPieces(1, 2, 0))
    assert batch.note_length.tolist() == [3, 5]
    assert batch.owner.tolist() == [[0, 0, NOBODY, NOBODY], [0, 0, 1, 1]]
    assert batch.position.tolist()[1] == [0, 1, 0, 1]
    assert batch.n_features == 2

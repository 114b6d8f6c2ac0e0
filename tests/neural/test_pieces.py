from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.errors import InputError
from rubricate.neural.pieces import PieceMaker


def test_places_are_those_of_the_characters(maker: PieceMaker) -> None:
    text = "  58 year\n\told man.🙂 Cough"
    (pieces,) = maker.cut([text])
    words = [text[a:b] for a, b in zip(pieces.start, pieces.end, strict=True)]
    assert words == ["58", "year", "old", "man", ".", "🙂", "Cough"]


@given(st.text(alphabet="ab 58\n\t.,é🙂", max_size=40))
def test_pieces_never_begin_or_end_with_white_space(text: str) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.BPE({"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "[MASK]": 3}, []))
    tokenizer = Tokenizer(
        models.BPE(
            {
                piece: i
                for i, piece in enumerate(
                    [
                        "[PAD]",
                        "[CLS]",
                        "[SEP]",
                        "[MASK]",
                        *sorted(pre_tokenizers.ByteLevel.alphabet()),
                    ]
                )
            },
            [],
        )
    )
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    (pieces,) = PieceMaker(tokenizer).cut([text])
    covered = set()
    for a, b in zip(pieces.start.tolist(), pieces.end.tolist(), strict=True):
        assert text[a:b] == text[a:b].strip() != ""
        covered |= set(range(a, b))
    assert covered == {i for i, c in enumerate(text) if not c.isspace()}


def test_a_missing_or_wrong_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        PieceMaker.from_file(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError):
        PieceMaker.from_file(tmp_path / "bad.json")

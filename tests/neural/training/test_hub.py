from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from rubricate.errors import InputError, MissingExtraError
from rubricate.neural.encoder.pieces import PieceMaker
from rubricate.neural.training import hub
from rubricate.neural.training.backbone import network_from
from rubricate.neural.training.hub import (
    ModelSource,
    empty_model,
    find_source,
    load_model,
    load_tokenizer,
    read_config,
)

transformers = pytest.importorskip("transformers")

SIZES = {
    "vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
    "intermediate_size": 16, "max_position_embeddings": 66,
}  # fmt: skip
SENTENCES = ["58 year old man has chest pain for 3 weeks.", "denies cough and fever"] * 20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save("roberta", tmp_path)


def save(kind: str, folder: Path) -> Path:
    config = transformers.AutoConfig.for_model(kind, **SIZES)
    transformers.AutoModel.from_config(config).half().save_pretrained(folder)
    return folder


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def test_a_folder_is_read_from_disk(folder: Path, no_hub: None) -> None:
    source = find_source(str(folder))
    assert source == ModelSource(folder)
    assert read_config(source)["model_type"] == "roberta"
    model = load_model(source)
    assert {str(p.dtype) for p in model.parameters()} == {"torch.float32"}


def test_a_name_the_hub_does_not_give_is_one_message(no_hub: None) -> None:
    with pytest.raises(InputError, match="give the folder"):
        find_source("nobody/nothing-of-the-kind")
    with pytest.raises(InputError):
        find_source("no name at all")


@pytest.mark.parametrize(("kind", "architecture"), [("roberta", "roberta"), ("bert", None)])
def test_a_name_is_read_as_the_hub_gives_it(
    kind: str,
    architecture: str | None,
    tmp_path: Path,
    no_hub: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Files in the hub's own cache need no connection."""
    stored = tmp_path / "models--some--model"
    snapshot = save(kind, stored / "snapshots" / ("a" * 40))
    (stored / "refs").mkdir()
    (stored / "refs" / "main").write_text("a" * 40, encoding="utf-8")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    source = find_source("some/model")
    assert source == ModelSource(snapshot, "some/model")
    assert network_from(source).shape.architecture == architecture
    (snapshot / "model.safetensors").rename(snapshot / "pytorch_model.bin")
    with pytest.raises(InputError, match="safetensors"):
        load_model(source)


@pytest.mark.parametrize("path", ["./none", "/none/at/all", "a/b/c", "~/none-at-all"])
def test_a_path_is_no_name(path: str) -> None:
    with pytest.raises(InputError, match="no such folder"):
        find_source(path)


def test_without_transformers_an_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r"rubricate\[train\]"):
        find_source("some/model")


def test_pickles_are_not_read(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(InputError, match="safetensors"):
        load_model(ModelSource(folder))


def test_weights_of_another_model_are_refused(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    path = folder / "model.safetensors"
    stored = load_file(path)
    some = {n: w for n, w in stored.items() if "attention" not in n}
    save_file(some, path, metadata={"format": "pt"})
    with pytest.raises(InputError, match="lack"):
        load_model(ModelSource(folder))
    path.write_bytes(b"nothing")
    with pytest.raises(InputError):
        load_model(ModelSource(folder))


def test_what_is_no_model_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read_config(ModelSource(tmp_path))
    with pytest.raises(InputError):
        empty_model(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "roberta"}', encoding="utf-8")
    with pytest.raises(InputError, match=r"tokenizer\.json"):
        load_tokenizer(ModelSource(tmp_path))


def write(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def test_special_pieces_have_the_names_their_files_give(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    names = ["[CLS]", "[SEP]", "[PAD]", "[MASK]", "<go>", "<end>", "<none>", "<what>", "a"]
    tokenizer = Tokenizer(models.WordLevel({n: i for i, n in enumerate(names)}, unk_token="<what>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    write(tmp_path / "tokenizer_config.json", {"cls_token": "[CLS]", "mask_token": "<what>"})
    write(
        tmp_path / "special_tokens_map.json",
        {"cls_token": {"content": "<go>"}, "sep_token": "<end>", "pad_token": "<none>"},
    )
    maker = load_tokenizer(ModelSource(tmp_path))
    found = (maker.start_id, maker.stop_id, maker.fill_id, maker.mask_id)
    assert found == (4, 5, 6, 7)
    maker.save(tmp_path / "saved.json")
    again = PieceMaker.from_file(tmp_path / "saved.json")
    assert (again.start_id, again.stop_id, again.fill_id) == found[:3]


def test_a_sentence_piece_vocabulary_is_converted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DeBERTa-v3 comes with ``spm.model`` and no ``tokenizer.json``."""
    trainer = pytest.importorskip("sentencepiece").SentencePieceTrainer
    trainer.train(
        sentence_iterator=iter(SENTENCES), model_prefix=str(tmp_path / "spm"), vocab_size=50,
        hard_vocab_limit=False, pad_id=0, bos_id=1, eos_id=2, unk_id=3, pad_piece="[PAD]",
        bos_piece="[CLS]", eos_piece="[SEP]", unk_piece="[UNK]",
        user_defined_symbols=["[MASK]"], minloglevel=3,
    )  # fmt: skip
    write(tmp_path / "config.json", {"model_type": "deberta-v2"})
    maker = load_tokenizer(ModelSource(tmp_path))
    assert (maker.start_id, maker.stop_id, maker.fill_id, maker.mask_id) == (1, 2, 0, 4)
    text = "  58 year\n\told man.🙂 Cough"
    (pieces,) = maker.cut([text])
    places = {i for a, b in zip(pieces.start, pieces.end, strict=True) for i in range(a, b)}
    assert places == {i for i, c in enumerate(text) if not c.isspace()}
    monkeypatch.setattr(hub, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError):
        load_tokenizer(ModelSource(tmp_path))

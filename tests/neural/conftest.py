"""A vocabulary, a corpus and a network small enough to train in a test."""

from __future__ import annotations

from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Note, load_corpus

if TYPE_CHECKING:
    from rubricate.neural.encoder.pieces import PieceMaker, SpecialPieces
    from rubricate.neural.training.learning_set import LearningSet
    from rubricate.neural.training.network import Network

NEEDED = ("torch", "tokenizers", "onnxruntime", "onnx", "safetensors")
collect_ignore_glob = ["test_*.py"] if any(find_spec(name) is None for name in NEEDED) else []

WORDS = [
    "no",
    "fever",
    "cough",
    "chest",
    "pain",
    "58",
    "year",
    "old",
    "man",
    "woman",
    "denies",
    "has",
    "mild",
    "for",
    "3",
    "weeks",
    "and",
]
NOTES = {
    "n1": "58 year old man has chest pain for 3 weeks. No fever.",
    "n2": "58 woman\n  denies cough and fever, mild chest pain",
    "n3": "man 58. cough for 3 weeks",
    "n4": "58 year old man denies fever. has cough",
    "n5": "old woman no cough no fever",
    "n6": "chest pain and cough 58 year man",
}
SOUGHT = {"f1": ("58 year", "58"), "f2": ("Chest pain", "chest pain"), "f3": ("Cough", "cough")}


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Networks as small as these only wait for their own threads on a busy machine."""
    if find_spec("torch") is not None:
        import torch

        torch.set_num_threads(1)


@pytest.fixture(scope="session")
def maker() -> PieceMaker:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    from rubricate.neural.encoder.pieces import PieceMaker

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *"abcdefghijklmnopqrstuvwxyz"]
    pieces += [f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz0123456789"] + [".", ","]
    vocabulary = {piece: i for i, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return PieceMaker(tokenizer)


@pytest.fixture(scope="session")
def special(maker: PieceMaker) -> SpecialPieces:

    return maker.special


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    builder = CorpusBuilder()
    for feature_id, (text, _) in SOUGHT.items():
        builder.add_feature(Feature(feature_id, "c", text))
    for note_id, text in NOTES.items():
        builder.add_note(Note(note_id, "c", text))
        builder.judge_all("ann", note_id)
        for feature_id, (_, words) in SOUGHT.items():
            at = text.find(words)
            if at >= 0:
                builder.annotate("ann", note_id, feature_id, [(at, at + len(words))])
    return builder.build()


@pytest.fixture(scope="session")
def data(corpus: Corpus, maker: PieceMaker) -> LearningSet:
    from rubricate.neural.training.learning_set import learning_set

    return learning_set(corpus, "ann", maker)


@pytest.fixture
def network(maker: PieceMaker) -> Network:
    return tiny_network(maker)


@pytest.fixture(scope="session")
def model_folder(maker: PieceMaker, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from rubricate.neural.encoder.model_folder import EncoderSettings
    from rubricate.neural.training.export import export_int8

    folder = tmp_path_factory.mktemp("tiny")
    network = tiny_network(maker)
    export_int8(network, folder / "network.onnx")
    maker.save(folder / "tokenizer.json")
    EncoderSettings(shape=asdict(network.shape)).write(folder / "settings.json")
    return folder


def tiny_network(maker: PieceMaker) -> Network:
    import torch

    from rubricate.neural.training.network import Network, Shape

    torch.manual_seed(0)
    shape = Shape(
        n_pieces=maker.n_pieces, dim=32, layers=2, heads=4, inner=64, scorer_dim=16, dropout=0.1
    )
    return Network(shape)


@pytest.fixture(scope="module")
def unseen() -> Corpus:
    """Four notes of two cases that were kept out of the shipped network's training."""
    corpus = load_corpus("open-notes").select(cases=["14", "99"], annotators=["reference"])
    chosen = [
        n.id for case in ("14", "99") for n in [n for n in corpus.notes if n.case == case][:2]
    ]
    return corpus.select(notes=chosen)

"""The network of ``bilstm-crf``: words, letters, endings and shapes, read in both directions.

After Lample et al. (2016): each word is a learned vector beside what an LSTM makes of its letters
from both ends; an LSTM over the words in both directions gives every tag a score; a CRF scores
the chain of tags. Endings and shapes are ours, and so are fixed word vectors where there are some.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rubricate.errors import InputError, MissingExtraError
from rubricate.neural.sequence.chain import Chain
from rubricate.neural.sequence.crf import Scores, log_likelihood
from rubricate.neural.sequence.tagging import Scheme
from rubricate.neural.sequence.vocabulary import COLUMNS, UNSEEN, Batch

if TYPE_CHECKING:
    from torch import Tensor

F32 = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a network; those of Lample et al. (2016) unless given.

    Parameters
    ----------
    word, character, ending, shape, standing : int
        Lengths of the learned vectors of words, letters, endings, word shapes and standings in
        the note; a part of length 0 is left out (words excepted).
    spelled : int
        Units of the letters' LSTM in each direction; 0 reads no letters.
    hidden, layers : int
        Units in each direction, and layers, of the words' LSTM.
    fixed : int
        Length to which fixed word vectors are brought; unused without any.
    dropout : float
        Share of the LSTM's inputs and outputs that is left out in training.
    """

    word: int = 100
    character: int = 25
    ending: int = 20
    shape: int = 5
    standing: int = 10
    spelled: int = 25
    hidden: int = 100
    layers: int = 1
    fixed: int = 100
    dropout: float = 0.5


def import_torch() -> Any:
    """Return torch, or say how to install it and what models are saved with."""
    try:
        import safetensors  # noqa: F401
        import torch
    except ImportError as error:
        raise MissingExtraError("the matcher bilstm-crf", "train") from error
    return torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread: for networks this small, more only wait for each other.

    It also makes results independent of the number of cores.
    """
    torch = import_torch()
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Recogniser:
    """A BiLSTM-CRF: parts with weights, and what is computed from them.

    Parameters
    ----------
    shape : Shape
        Sizes.
    sizes : mapping from name to int
        How many words, endings, shapes, standings and characters are numbered.
    scheme : Scheme
        The tags and what may follow what.
    vectors : array (words, length), optional
        Fixed vectors of the given words, by number; they are not trained.
    """

    def __init__(
        self,
        shape: Shape,
        sizes: Mapping[str, int],
        scheme: Scheme,
        vectors: F32 | None = None,
    ) -> None:
        torch = import_torch()
        nn = torch.nn
        self.shape, self.scheme = shape, scheme
        lengths = {
            "words": shape.word,
            "endings": shape.ending,
            "shapes": shape.shape,
            "standings": shape.standing,
        }
        self.embedded = [name for name, length in lengths.items() if length]
        parts = {n: nn.Embedding(sizes[n], lengths[n], padding_idx=0) for n in self.embedded}
        width = sum(lengths.values())
        if shape.spelled:
            parts["characters"] = nn.Embedding(sizes["characters"], shape.character, padding_idx=0)
            parts["speller"] = nn.LSTM(
                shape.character, shape.spelled, batch_first=True, bidirectional=True
            )
            width += 2 * shape.spelled
        self.vectors = None if vectors is None else torch.from_numpy(vectors)
        if vectors is not None:
            parts["fixed"] = nn.Linear(vectors.shape[1], shape.fixed)
            width += shape.fixed
        parts["reader"] = nn.LSTM(
            width,
            shape.hidden,
            num_layers=shape.layers,
            batch_first=True,
            bidirectional=True,
            dropout=shape.dropout if shape.layers > 1 else 0.0,
        )
        parts["tags"] = nn.Linear(2 * shape.hidden, len(scheme.tags))
        self.parts = nn.ModuleDict(parts)
        self.chain = nn.ParameterDict(
            {
                "first": torch.zeros(len(scheme.tags)),
                "step": torch.zeros(len(scheme.tags), len(scheme.tags)),
                "last": torch.zeros(len(scheme.tags)),
            }
        )
        for name in (*self.embedded, "characters"):
            if name in parts:
                nn.init.normal_(self.parts[name].weight, std=0.1)
                with torch.no_grad():
                    self.parts[name].weight[0] = 0
        self._first = torch.from_numpy(scheme.first_scores()).float()
        self._step = torch.from_numpy(scheme.step_scores()).float()

    def emissions(self, batch: Batch, *, train: bool = False) -> Tensor:
        """Return the score of every tag at every token (n, T, K)."""
        torch = import_torch()
        rnn = torch.nn.utils.rnn
        drop = torch.nn.functional.dropout
        self.parts.train(train)
        column = dict(zip(COLUMNS, torch.from_numpy(batch.columns).unbind(2), strict=True))
        inputs = [self.parts[name](column[name]) for name in self.embedded]
        if self.shape.spelled:
            inputs.append(self._spelled(batch)[torch.from_numpy(batch.spelling)])
        if self.vectors is not None:
            inputs.append(self.parts["fixed"](self.vectors[column["given"]]))
        joined = drop(torch.cat(inputs, dim=2), self.shape.dropout, train)
        lengths = torch.from_numpy(batch.mask.sum(axis=1))
        packed = rnn.pack_padded_sequence(joined, lengths, batch_first=True, enforce_sorted=False)
        read, _ = rnn.pad_packed_sequence(
            self.parts["reader"](packed)[0], batch_first=True, total_length=batch.mask.shape[1]
        )
        emissions: Tensor = self.parts["tags"](drop(read, self.shape.dropout, train))
        return emissions

    def _spelled(self, batch: Batch) -> Tensor:
        """Return what the letters' LSTM ends with, from both sides, for each spelling."""
        torch = import_torch()
        letters = torch.from_numpy(batch.characters)
        # Padding is spelled too; a length of 0 is not allowed.
        lengths = (letters > 0).sum(1).clamp(min=1)
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            self.parts["characters"](letters), lengths, batch_first=True, enforce_sorted=False
        )
        _, (ends, _) = self.parts["speller"](packed)
        joined: Tensor = torch.cat((ends[0], ends[1]), dim=1)
        return joined

    def scores(self) -> Scores:
        """Return the chain's scores, with what is not allowed forbidden."""
        chain = self.chain
        return Scores(chain["first"] + self._first, chain["step"] + self._step, chain["last"])

    def loss(self, batch: Batch, tags: npt.NDArray[np.int64]) -> Tensor:
        """Return the mean negative log-likelihood of a training batch's tags, per sequence."""
        torch = import_torch()
        emissions = self.emissions(batch, train=True)
        mask = torch.from_numpy(batch.mask)
        return -log_likelihood(emissions, torch.from_numpy(tags), mask, self.scores()).mean()

    def numpy_chain(self) -> Chain:
        """Return the chain for finding best tags and marginals."""
        first, step, last = (part.detach().double().numpy() for part in self.scores())
        return Chain(first, step, last)

    def parameters(self) -> list[Tensor]:
        """Return everything that is trained."""
        return [*self.parts.parameters(), *self.chain.parameters()]

    def weights(self) -> dict[str, Tensor]:
        """Return all weights by name, without the fixed vectors."""
        found = {f"parts.{name}": value for name, value in self.parts.state_dict().items()}
        found.update({f"chain.{name}": value for name, value in self.chain.state_dict().items()})
        return found

    def load_weights(self, weights: Mapping[str, Tensor]) -> None:
        """Take over weights of `weights`; InputError when they do not fit."""
        torch = import_torch()
        own = self.weights()
        if set(own) != set(weights) or any(own[n].shape != weights[n].shape for n in own):
            raise InputError("the weights do not fit the network that model.json describes")
        with torch.no_grad():
            for name, value in own.items():
                value.copy_(weights[name])


def hide_words(batch: Batch, chances: npt.NDArray[np.float64], rng: np.random.Generator) -> Batch:
    """Return the batch with some words made unseen, each by its chance, so that unseen is learned.

    Letters, endings and given vectors stay, as they do for a word that really was never seen.
    """
    columns = batch.columns.copy()
    words = columns[:, :, 0]
    words[rng.random(words.shape) < chances[words]] = UNSEEN
    return batch._replace(columns=columns)

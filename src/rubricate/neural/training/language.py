"""Masked-language-model training: the encoder reads notes nobody annotated, before it learns."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from rubricate.arrays import I32
from rubricate.neural.encoder.inference import WINDOW
from rubricate.neural.encoder.pieces import Pass, SpecialPieces, make_batch
from rubricate.neural.recipe import EncoderRecipe
from rubricate.neural.training.learning_set import LearningSet
from rubricate.neural.training.network import Network, sees_block
from rubricate.progress import Progress, silent

#: Share of the pieces that are hidden and must be guessed (Devlin et al. 2019).
HIDDEN = 0.15
#: What `cross_entropy` passes over.
NOT_ASKED = -100


def read_notes(
    network: Network,
    data: LearningSet,
    notes: Sequence[int],
    special: SpecialPieces,
    mask_id: int,
    recipe: EncoderRecipe,
    *,
    seed: int,
    progress: Progress = silent,
) -> list[float]:
    """Let the encoder guess hidden pieces of the notes; return the loss of each step.

    Of a note longer than a window, any part of that length is read.

    Of the pieces asked for, eight in ten are hidden, one is another piece, one is left, as
    Devlin et al. (2019) do. The weights that guess are thrown away.
    """
    device = next(network.parameters()).device
    guess = _Guess(network.shape.dim, network.encoder.word_weights.shape[1]).to(device)
    parameters = [*network.encoder.parameters(), *guess.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=recipe.language_rate, weight_decay=0.01)
    losses = []
    network.train()
    for step in range(recipe.language_steps):
        rng = np.random.default_rng([seed, step])
        torch.manual_seed(seed * 1_000_003 + step)
        chosen = rng.choice(np.asarray(notes), size=recipe.language_notes)
        batch = make_batch([Pass(_part(data.note(int(i)), rng), ()) for i in chosen], special)
        pieces, asked = _hide(batch.note, batch.note_length, rng, mask_id, network.shape.n_pieces)
        done = step / recipe.language_steps
        for group in optimizer.param_groups:
            warm = recipe.language_rate * min(1.0, 10 * done + 0.01)
            group["lr"] = warm * (1 + math.cos(math.pi * done)) / 2
        half = device.type == "cuda"
        with torch.autocast(device.type, torch.bfloat16, enabled=half):
            length = torch.from_numpy(batch.note_length).to(device)
            loss = _loss(network, guess, pieces.to(device), length, asked.to(device))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        losses.append(float(loss.detach()))
        progress(step + 1, recipe.language_steps, "guessing hidden words")
    return losses


def _part(note: I32, rng: np.random.Generator) -> I32:
    """Return any part of a note that fits a window; a short note is whole."""
    if len(note) <= WINDOW:
        return note
    first = int(rng.integers(0, len(note) - WINDOW + 1))
    return note[first : first + WINDOW]


class _Guess(nn.Module):
    """From a state to a guess at its piece; the words' own weights do the last step."""

    def __init__(self, dim: int, word_dim: int) -> None:
        super().__init__()
        self.dense = nn.Linear(dim, word_dim)
        self.norm = nn.LayerNorm(word_dim)

    def forward(self, states: Tensor, words: Tensor) -> Tensor:
        return functional.linear(self.norm(functional.gelu(self.dense(states))), words)


def _hide(
    note: np.ndarray[tuple[int, int], np.dtype[np.int64]],
    length: np.ndarray[tuple[int], np.dtype[np.int64]],
    rng: np.random.Generator,
    mask_id: int,
    n_pieces: int,
) -> tuple[Tensor, Tensor]:
    place = np.arange(note.shape[1])[None, :]
    inner = (place > 0) & (place < length[:, None] - 1)
    asked = inner & (rng.random(note.shape) < HIDDEN)
    how = rng.random(note.shape)
    pieces = np.where(asked & (how < 0.8), mask_id, note)
    pieces = np.where(asked & (how >= 0.9), rng.integers(0, n_pieces, note.shape), pieces)
    return torch.from_numpy(pieces), torch.from_numpy(np.where(asked, note, NOT_ASKED))


def _loss(network: Network, guess: _Guess, pieces: Tensor, length: Tensor, asked: Tensor) -> Tensor:
    place = torch.arange(pieces.shape[1], device=pieces.device)
    position, block = network.note_places(place)
    valid = place.unsqueeze(0) < length.unsqueeze(1)
    seen = valid.unsqueeze(1).expand(-1, pieces.shape[1], -1).unsqueeze(1)
    if block is not None:
        seen = seen & sees_block(block)
    states = network.encoder(
        pieces, position.unsqueeze(0).expand_as(pieces), torch.ones_like(pieces), seen
    )
    where = asked != NOT_ASKED
    logits = guess(states[where], network.encoder.word_weights)
    return functional.cross_entropy(logits.float(), asked[where])

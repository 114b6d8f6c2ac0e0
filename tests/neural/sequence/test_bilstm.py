from itertools import pairwise, product

import numpy as np
import pytest

from rubricate.neural.recipe import BiLstmShape
from rubricate.neural.sequence.bilstm import (
    ChainScores,
    Recogniser,
    SequenceLesson,
    hide_words,
    hiding_chances,
    log_likelihood,
    log_partition,
    path_scores,
)
from rubricate.neural.sequence.states import FORBIDDEN, Chain, Scheme, cut_text, expect
from rubricate.neural.sequence.vocabulary import UNSEEN, Vocabulary, make_batch

torch = pytest.importorskip("torch")

LINES = cut_text("no chest pain\nfever\nno pain at all today")
SEEN = Vocabulary.learn(LINES)
SCHEME = Scheme(("x",), "BIO")


def network(**changes: int) -> Recogniser:
    torch.manual_seed(0)
    return Recogniser(BiLstmShape(word=6, hidden=5, spelled=3, **changes), SEEN.sizes, SCHEME)


def test_a_sequence_scores_the_same_in_any_batch() -> None:
    one = network()
    encoded = [SEEN.encode(line) for line in LINES]
    with torch.no_grad():
        together = one.emissions(make_batch(encoded))
        for i, own in enumerate(encoded):
            alone = one.emissions(make_batch([own]))
            np.testing.assert_allclose(together[i, : len(own)], alone[0], atol=1e-6)


def test_what_is_not_allowed_stays_forbidden_however_weights_move() -> None:
    one = network()
    with torch.no_grad():
        one.chain["step"] += 5
    assert one.numpy_chain().step[0, 2] == pytest.approx(FORBIDDEN + 5)


@pytest.mark.parametrize("changes", [{}, {"spelled": 0}, {"layers": 2}])
def test_every_weight_gets_a_gradient(changes: dict[str, int]) -> None:
    torch.manual_seed(0)
    one = Recogniser(
        BiLstmShape(**{"word": 6, "hidden": 5, "spelled": 3, **changes}), SEEN.sizes, SCHEME
    )
    batch = make_batch([SEEN.encode(line) for line in LINES])
    states = np.zeros(batch.mask.shape, dtype=np.int64)
    states[0, 1] = 1
    one.loss(batch, states).backward()
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in one.parameters())


def test_rare_words_are_hidden_more_often() -> None:
    encoded = SEEN.encode(LINES[2])
    lessons = [
        SequenceLesson(SEEN.encode(line), np.zeros(len(line.words), np.int64)) for line in LINES
    ]
    chances = hiding_chances(lessons, 1.0)
    batch = make_batch([encoded] * 2000)
    hidden = hide_words(batch, chances, np.random.default_rng(0)).columns
    share = (hidden[:, :, 0] == UNSEEN).mean(axis=0)
    # "no" and "pain" occur twice in training, the others once.
    np.testing.assert_allclose(share, [1 / 3, 1 / 3, 1 / 2, 1 / 2, 1 / 2], atol=0.05)
    np.testing.assert_array_equal(hidden[:, :, 1:], batch.columns[:, :, 1:])


torch = pytest.importorskip("torch")

LENGTHS = np.array([1, 4, 3])


def draw(scheme: Scheme, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, Chain]:
    rng = np.random.default_rng(seed)
    k = len(scheme.states)
    emissions = rng.normal(size=(3, 4, k))
    mask = np.arange(4) < LENGTHS[:, None]
    states = np.array([[0, 0, 0, 0], [1, 1, 0, 1], [0, 1, 0, 0]])
    first = rng.normal(size=k) + scheme.first_scores()
    step = rng.normal(size=(k, k)) + scheme.step_scores()
    return emissions, states, mask, Chain(first, step, rng.normal(size=k))


def in_torch(chain: Chain, *, gradient: bool = False) -> ChainScores:
    parts = (torch.tensor(p, requires_grad=gradient) for p in (chain.first, chain.step, chain.last))
    return ChainScores(*parts)


@pytest.mark.parametrize("kind", ["IO", "BIO"])
def test_likelihoods_of_all_sequences_sum_to_one(kind: str) -> None:
    scheme = Scheme(("x",), kind)  # type: ignore[arg-type]
    emissions, _, mask, chain = draw(scheme)
    for row, length in enumerate(LENGTHS):
        paths = list(product(range(len(scheme.states)), repeat=int(length)))
        states = torch.zeros(len(paths), 4, dtype=torch.int64)
        states[:, :length] = torch.tensor(paths)
        many = [torch.tensor(x[row]).expand(len(paths), *x[row].shape) for x in (emissions, mask)]
        found = log_likelihood(many[0], states, many[1], in_torch(chain)).exp()
        assert float(found.sum()) == pytest.approx(1.0, abs=1e-9)
        by_hand = [
            chain.first[p[0]]
            + chain.last[p[-1]]
            + sum(emissions[row, t, state] for t, state in enumerate(p))
            + sum(chain.step[a, b] for a, b in pairwise(p))
            for p in paths
        ]
        scored = path_scores(many[0], states, many[1], in_torch(chain))
        np.testing.assert_allclose(scored.numpy(), by_hand)


@pytest.mark.parametrize("kind", ["IO", "BIO"])
def test_both_chains_sum_alike_and_gradients_are_expectations(kind: str) -> None:
    scheme = Scheme(("x",), kind)  # type: ignore[arg-type]
    emissions, _, mask, chain = draw(scheme, 1)
    given = torch.tensor(emissions, requires_grad=True)
    scores = in_torch(chain, gradient=True)
    log_z = log_partition(given, torch.tensor(mask), scores)
    made = expect(chain, emissions, LENGTHS)
    np.testing.assert_allclose(log_z.detach().numpy(), made.log_z)
    log_z.sum().backward()
    np.testing.assert_allclose(given.grad.numpy(), made.marginal, atol=1e-9)
    np.testing.assert_allclose(scores.step.grad.numpy(), made.steps, atol=1e-9)


def test_the_gradient_is_right_in_small_steps() -> None:
    emissions, states, mask, chain = draw(Scheme(("x",), "IO"), 2)
    given = torch.tensor(emissions, requires_grad=True)
    scores = in_torch(chain, gradient=True)

    def likelihood(*parts: "torch.Tensor") -> "torch.Tensor":
        return log_likelihood(
            parts[0], torch.tensor(states), torch.tensor(mask), ChainScores(*parts[1:])
        )

    assert torch.autograd.gradcheck(likelihood, (given, *scores))


def test_what_is_padded_does_not_count() -> None:
    emissions, states, mask, chain = draw(Scheme(("x",), "IO"), 3)
    other = np.where(mask[..., None], emissions, 99.0)
    values = [
        log_likelihood(torch.tensor(e), torch.tensor(states), torch.tensor(mask), in_torch(chain))
        for e in (emissions, other)
    ]
    assert torch.equal(values[0], values[1])

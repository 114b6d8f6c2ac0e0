"""The torch likelihood against enumeration, against numpy's chain, and its gradient by steps."""

from itertools import pairwise, product

import numpy as np
import pytest

from rubricate.neural.sequence.chain import Chain, expect
from rubricate.neural.sequence.crf import Scores, log_likelihood, log_partition, path_scores
from rubricate.neural.sequence.tagging import Scheme

torch = pytest.importorskip("torch")

LENGTHS = np.array([1, 4, 3])


def draw(scheme: Scheme, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, Chain]:
    rng = np.random.default_rng(seed)
    k = len(scheme.tags)
    emissions = rng.normal(size=(3, 4, k))
    mask = np.arange(4) < LENGTHS[:, None]
    tags = np.array([[0, 0, 0, 0], [1, 1, 0, 1], [0, 1, 0, 0]])
    first = rng.normal(size=k) + scheme.first_scores()
    step = rng.normal(size=(k, k)) + scheme.step_scores()
    return emissions, tags, mask, Chain(first, step, rng.normal(size=k))


def in_torch(chain: Chain, *, gradient: bool = False) -> Scores:
    parts = (torch.tensor(p, requires_grad=gradient) for p in (chain.first, chain.step, chain.last))
    return Scores(*parts)


@pytest.mark.parametrize("kind", ["IO", "BIO"])
def test_likelihoods_of_all_sequences_sum_to_one(kind: str) -> None:
    scheme = Scheme(("x",), kind)  # type: ignore[arg-type]
    emissions, _, mask, chain = draw(scheme)
    for row, length in enumerate(LENGTHS):
        paths = list(product(range(len(scheme.tags)), repeat=int(length)))
        tags = torch.zeros(len(paths), 4, dtype=torch.int64)
        tags[:, :length] = torch.tensor(paths)
        many = [torch.tensor(x[row]).expand(len(paths), *x[row].shape) for x in (emissions, mask)]
        found = log_likelihood(many[0], tags, many[1], in_torch(chain)).exp()
        assert float(found.sum()) == pytest.approx(1.0, abs=1e-9)
        by_hand = [
            chain.first[p[0]]
            + chain.last[p[-1]]
            + sum(emissions[row, t, tag] for t, tag in enumerate(p))
            + sum(chain.step[a, b] for a, b in pairwise(p))
            for p in paths
        ]
        scored = path_scores(many[0], tags, many[1], in_torch(chain))
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
    emissions, tags, mask, chain = draw(Scheme(("x",), "IO"), 2)
    given = torch.tensor(emissions, requires_grad=True)
    scores = in_torch(chain, gradient=True)

    def likelihood(*parts: "torch.Tensor") -> "torch.Tensor":
        return log_likelihood(parts[0], torch.tensor(tags), torch.tensor(mask), Scores(*parts[1:]))

    assert torch.autograd.gradcheck(likelihood, (given, *scores))


def test_what_is_padded_does_not_count() -> None:
    emissions, tags, mask, chain = draw(Scheme(("x",), "IO"), 3)
    other = np.where(mask[..., None], emissions, 99.0)
    values = [
        log_likelihood(torch.tensor(e), torch.tensor(tags), torch.tensor(mask), in_torch(chain))
        for e in (emissions, other)
    ]
    assert torch.equal(values[0], values[1])

"""A linear-chain conditional random field for torch: the likelihood that training raises.

A chain of T tokens and K tags has the score (Lafferty et al. 2001; Lample et al. 2016, eq. 1)

    s(x, y) = first[y_1] + sum_t emission[t, y_t] + sum_t step[y_(t-1), y_t] + last[y_T]

and p(y | x) = exp(s(x, y)) / Z(x), with Z(x) summed over all K^T tag sequences by the forward
algorithm. Best tags and marginals, which need no gradient, are in ``chain``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor


class Scores(NamedTuple):
    """What the chain itself scores: its first tag (K), each step (K, K), its last tag (K)."""

    first: Tensor
    step: Tensor
    last: Tensor


def path_scores(emissions: Tensor, tags: Tensor, mask: Tensor, scores: Scores) -> Tensor:
    """Return s(x, y) of the given tags, one a sequence.

    Parameters
    ----------
    emissions : Tensor (n, T, K)
        The score of each tag at each token.
    tags : Tensor (n, T) of int64
        The tags; what is beyond a sequence's end is not read, but must be a tag.
    mask : Tensor (n, T) of bool
        Which tokens there are: a prefix of at least one token in every sequence.
    scores : Scores
        Of the chain.
    """
    own = emissions.gather(2, tags.unsqueeze(2)).squeeze(2).masked_fill(~mask, 0.0).sum(1)
    steps = scores.step[tags[:, :-1], tags[:, 1:]].masked_fill(~mask[:, 1:], 0.0).sum(1)
    end = tags.gather(1, (mask.sum(1) - 1).unsqueeze(1)).squeeze(1)
    return own + steps + scores.first[tags[:, 0]] + scores.last[end]


def log_partition(emissions: Tensor, mask: Tensor, scores: Scores) -> Tensor:
    """Return log Z(x) of each sequence by the forward algorithm; arguments as `path_scores`."""
    alpha = scores.first + emissions[:, 0]
    for t in range(1, emissions.shape[1]):
        through = (alpha.unsqueeze(2) + scores.step).logsumexp(1) + emissions[:, t]
        alpha = through.where(mask[:, t].unsqueeze(1), alpha)
    return (alpha + scores.last).logsumexp(1)


def log_likelihood(emissions: Tensor, tags: Tensor, mask: Tensor, scores: Scores) -> Tensor:
    """Return log p(y | x) of each sequence; arguments as for `path_scores`.

    References
    ----------
    J. Lafferty, A. McCallum and F. Pereira (2001). Conditional random fields. ICML.
    G. Lample et al. (2016). Neural architectures for named entity recognition. NAACL.

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> scores = Scores(torch.zeros(2), torch.zeros(2, 2), torch.zeros(2))
    >>> tags, mask = torch.tensor([[0, 1, 1]]), torch.ones(1, 3, dtype=torch.bool)
    >>> round(float(log_likelihood(torch.zeros(1, 3, 2), tags, mask, scores).exp()), 6)
    0.125
    """
    return path_scores(emissions, tags, mask, scores) - log_partition(emissions, mask, scores)

import numpy as np
import pytest

from rubricate.neural.sequence.bilstm import Recogniser, Shape, hide_words
from rubricate.neural.sequence.tagging import FORBIDDEN, Scheme, cut_text
from rubricate.neural.sequence.training import Lesson, hiding_chances
from rubricate.neural.sequence.vocabulary import UNSEEN, Vocabulary, make_batch

torch = pytest.importorskip("torch")

LINES = cut_text("no chest pain\nfever\nno pain at all today")
SEEN = Vocabulary.learn(LINES)
SCHEME = Scheme(("x",), "BIO")


def network(**changes: int) -> Recogniser:
    torch.manual_seed(0)
    return Recogniser(Shape(word=6, hidden=5, spelled=3, **changes), SEEN.sizes, SCHEME)


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
    one = Recogniser(Shape(**{"word": 6, "hidden": 5, "spelled": 3, **changes}), SEEN.sizes, SCHEME)
    batch = make_batch([SEEN.encode(line) for line in LINES])
    tags = np.zeros(batch.mask.shape, dtype=np.int64)
    tags[0, 1] = 1
    one.loss(batch, tags).backward()
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in one.parameters())


def test_rare_words_are_hidden_more_often() -> None:
    encoded = SEEN.encode(LINES[2])
    lessons = [Lesson(SEEN.encode(line), np.zeros(len(line.words), np.int64)) for line in LINES]
    chances = hiding_chances(lessons, 1.0)
    batch = make_batch([encoded] * 2000)
    hidden = hide_words(batch, chances, np.random.default_rng(0)).columns
    share = (hidden[:, :, 0] == UNSEEN).mean(axis=0)
    # "no" and "pain" occur twice in training, the others once.
    np.testing.assert_allclose(share, [1 / 3, 1 / 3, 1 / 2, 1 / 2, 1 / 2], atol=0.05)
    np.testing.assert_array_equal(hidden[:, :, 1:], batch.columns[:, :, 1:])

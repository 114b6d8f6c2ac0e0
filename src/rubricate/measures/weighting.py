"""Design weights from the notes' own metadata, and the refusal to do without them."""

from __future__ import annotations

from rubricate.corpus import Corpus
from rubricate.errors import Fault, InputError

#: Where a sample keeps each note's probability of having been drawn.
INCLUSION = "inclusion_probability"


def note_weights(corpus: Corpus, column: str = INCLUSION) -> dict[str, float]:
    """Return each note's design weight, 1 / its inclusion probability (Horvitz & Thompson 1952).

    Parameters
    ----------
    corpus : Corpus
        Its notes carry the probability in their metadata.
    column : str
        The metadata field.

    Raises
    ------
    InputError
        Naming every note whose probability is missing or not in (0, 1].

    Examples
    --------
    >>> from rubricate import CorpusBuilder, Metadata, Note
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n", "c", "", Metadata(inclusion_probability=0.25)))
    >>> note_weights(builder.build())
    {'n': 4.0}
    """
    if corpus.notes and not any(column in note.metadata for note in corpus.notes):
        known = sorted({name for note in corpus.notes for name in note.metadata})
        listed = ", ".join(known) if known else "none"
        raise InputError(f"no note has {column!r} in its metadata; there are: {listed}")
    weights, faults = {}, []
    for note in corpus.notes:
        value = note.metadata.get(column)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and 0 < float(value) <= 1:  # type: ignore[arg-type]
            weights[note.id] = 1.0 / float(value)  # type: ignore[arg-type]
        else:
            faults.append(Fault(f"note {note.id}: {column!r} must be a number above 0, up to 1"))
    if faults:
        raise InputError(faults)
    return weights


def refuse_unweighted(corpus: Corpus) -> None:
    """Raise if the notes were drawn with unequal probabilities and no weights are in use.

    A sample that oversampled positives makes plain recall far too high: with 250 + 250 notes at a
    frequency of .10 it says .97 for a true .80.
    """
    found = {note.metadata.get(INCLUSION) for note in corpus.notes} - {None}
    if len(found) > 1:
        raise InputError(
            f"the notes were sampled with {len(found)} different inclusion probabilities, so plain "
            f"recall would be wrong. Use the weights: --weights {INCLUSION}"
        )

"""Notes that play the rules: pasted rubrics, lists without a story, stuffing, unrelated text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rubricate.corpus import Annotation, Corpus, Note
from rubricate.lexicon.groups import Lexicon
from rubricate.lexicon.store import load_default_lexicon
from rubricate.matchers.wording.profile import STOP_WORDS, read_feature
from rubricate.matchers.wording.stems import stem
from rubricate.rubric import Rubric
from rubricate.text.words import Token, find_tokens

#: Fewer words than this say too little to judge how they are written.
LEAST_WORDS = 25
#: A finding less sure than this does not make a text related to the rubric.
LEAST_CONFIDENCE = 0.6


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a measure of a note becomes suspicious.

    The limits lie beyond what is met in the embedded corpus (see `NoteMeasures` for what is
    measured): at most about one honest note in two hundred is flagged there.

    Parameters
    ----------
    pasted : float
        Share of the rubric's features of two words or more that stand in the note word for word.
    pasted_words : float
        Share of the note's words that are the rubric's own, word for word; with ``in_order``.
    in_order : float
        Share of neighbouring features that come in the rubric's order.
    story : float
        Least share of words that tell: function words and numbers; with ``conditions``.
    conditions : float
        Most different phrases the lexicon knows, for each word of the note.
    unasked : int
        Most different phrases the lexicon knows outside what was found for a feature.
    repeated : float
        Most times that one word may stand, as a share of the note's words.
    related : float
        Least share of the rubric's features (age and gender aside) that must be found with a
        confidence of at least `LEAST_CONFIDENCE`.
    """

    pasted: float = 0.6
    pasted_words: float = 0.5
    in_order: float = 0.6
    story: float = 0.12
    conditions: float = 0.45
    unasked: int = 70
    repeated: float = 0.2
    related: float = 0.12


@dataclass(frozen=True, slots=True)
class NoteMeasures:
    """What is measured of a note; the names are those of `Limits`."""

    n_words: int
    pasted: float
    pasted_words: float
    in_order: float
    story: float
    conditions: float
    unasked: int
    repeated: float
    related: float


@dataclass(frozen=True, slots=True)
class Flag:
    """One suspicion about a note.

    Parameters
    ----------
    kind : str
        ``"pasted rubric"``, ``"list without a story"``, ``"repeated words"`` or
        ``"unrelated text"``.
    message : str
        What was measured, without any note text.
    credit, maximum : float
        What the rules give the note for the features found, and the most they can give.
    """

    kind: str
    message: str
    credit: float
    maximum: float


def flag_note(
    note: Note,
    rubric: Rubric,
    found: Sequence[Annotation] = (),
    *,
    limits: Limits = Limits(),  # noqa: B008
    lexicon: Lexicon | None = None,
) -> list[Flag]:
    """Return what is suspicious about a note, and the credit the rules give it all the same.

    A flag asks a person to look; it takes no credit away.

    Parameters
    ----------
    note : Note
    rubric : Rubric
    found : sequence of Annotation
        What a matcher found in the note.
    limits : Limits
    lexicon : Lexicon, optional
        Knows conditions; by default the embedded one.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes")
    >>> rubric = corpus.rubric("0")
    >>> pasted = Note("x", "0", ". ".join(feature.text for feature in rubric))
    >>> flag_note(pasted, rubric)[0].kind
    'pasted rubric'
    >>> note = corpus.notes[0]
    >>> found = [a for row in corpus.note_rows(note.id) for a in corpus.row_annotations(row)]
    >>> flag_note(note, rubric, found)
    []
    """
    measured = measure_note(note, rubric, found, lexicon=lexicon)
    credit, maximum = credit_of(rubric, found)
    said = []
    if measured.pasted >= limits.pasted or (
        measured.pasted_words >= limits.pasted_words and measured.in_order >= limits.in_order
    ):
        said.append(
            (
                "pasted rubric",
                f"{measured.pasted:.0%} of the rubric's phrases stand word for word, and make up "
                f"{measured.pasted_words:.0%} of the words",
            )
        )
    if measured.n_words >= LEAST_WORDS:
        bare = measured.story < limits.story and measured.conditions > limits.conditions
        if bare or measured.unasked > limits.unasked:
            said.append(
                (
                    "list without a story",
                    f"{measured.unasked} conditions that nothing asks for; {measured.story:.0%} of "
                    "the words tell anything about them",
                )
            )
        if measured.repeated > limits.repeated:
            said.append(("repeated words", f"one word is {measured.repeated:.0%} of all the words"))
    if len(rubric) and measured.related < limits.related:
        said.append(("unrelated text", f"{measured.related:.0%} of the features were found"))
    return [Flag(kind, message, credit, maximum) for kind, message in said]


def credit_of(rubric: Rubric, found: Sequence[Annotation]) -> tuple[float, float]:
    """Return the credit for the features found, and the most there is; a group counts once.

    Examples
    --------
    >>> from rubricate.rubric import Feature
    >>> rubric = Rubric("c", (Feature("1", "c", "a"), Feature("2", "c", "b", weight=2)))
    >>> credit_of(rubric, [Annotation("2", ())])
    (2.0, 3.0)
    """
    marked = {one.feature for one in found}
    best: dict[str, float] = {}
    most: dict[str, float] = {}
    for feature in rubric:
        key = f"group {feature.group}" if feature.group else f"feature {feature.id}"
        most[key] = max(most.get(key, 0.0), feature.weight)
        if feature.id in marked:
            best[key] = max(best.get(key, 0.0), feature.weight)
    return float(sum(best.values())), float(sum(most.values()))


def measure_note(
    note: Note,
    rubric: Rubric,
    found: Sequence[Annotation] = (),
    *,
    lexicon: Lexicon | None = None,
) -> NoteMeasures:
    """Measure how a note is written."""
    known = load_default_lexicon() if lexicon is None else lexicon
    words = [t for t in find_tokens(note.text) if t.kind in ("word", "number")]
    n = max(len(words), 1)
    pasted, pasted_words, in_order = _pasted(words, rubric)
    content = [t.form for t in words if t.form not in STOP_WORDS and t.kind == "word"]
    counts = Counter(stem(form) for form in content)
    conditions = known.phrases_in(note.text)
    used = [span for one in found for span in one.spans]
    unasked = {key for span, key in conditions if not any(span.overlaps(own) for own in used)}
    features = [f for f in rubric if not read_feature(f, 0).kind]
    marked = {
        one.feature for one in found if one.confidence is None or one.confidence >= LEAST_CONFIDENCE
    }
    return NoteMeasures(
        n_words=len(words),
        pasted=pasted,
        pasted_words=pasted_words / n,
        in_order=in_order,
        story=sum(t.form in STOP_WORDS or t.kind == "number" for t in words) / n,
        conditions=len({key for _, key in conditions}) / n,
        unasked=len(unasked),
        repeated=max(counts.values(), default=0) / n,
        related=sum(f.id in marked for f in features) / max(len(features), 1),
    )


def _pasted(words: Sequence[Token], rubric: Rubric) -> tuple[float, int, float]:
    """Return the share of features pasted, how many words they make up, and their order."""
    text = " " + " ".join(token.form for token in words) + " "
    longer = 0
    covered: set[int] = set()
    places: list[int] = []
    for feature in rubric:
        first = -1
        for alternative in feature.alternatives:
            forms = [t.form for t in find_tokens(alternative) if t.kind in ("word", "number")]
            at = text.find(" " + " ".join(forms) + " ") if len(forms) > 1 else -1
            if at >= 0:
                begin = text.count(" ", 0, at + 1) - 1
                covered.update(range(begin, begin + len(forms)))
                first = at if first < 0 else min(first, at)
        longer += any(" " in alternative for alternative in feature.alternatives)
        if first >= 0:
            places.append(first)
    ordered = sum(a < b for a, b in pairwise(places))
    share = len(places) / longer if longer else 0.0
    return share, len(covered), ordered / max(len(places) - 1, 1)


def flag_corpus(
    predicted: Corpus,
    *,
    annotator: str | None = None,
    limits: Limits = Limits(),  # noqa: B008
) -> dict[str, list[Flag]]:
    """Return the flags of every note that has any, for what an annotator (a matcher) found.

    Parameters
    ----------
    predicted : Corpus
        What `Matcher.predict` returned.
    annotator : str, optional
        Whose findings give the credit; by default the first annotator.
    limits : Limits
    """
    flagged: dict[str, list[Flag]] = {}
    who = annotator or (predicted.annotators[0].id if predicted.annotators else None)
    lexicon = load_default_lexicon()
    for note in predicted.notes:
        found: list[Annotation] = []
        if who is not None:
            for row in predicted.note_rows(note.id):
                if predicted.annotators[int(predicted.rows.annotator[row])].id == who:
                    found += predicted.row_annotations(row)
        flags = flag_note(note, predicted.rubric(note.case), found, limits=limits, lexicon=lexicon)
        if flags:
            flagged[note.id] = flags
    return flagged

"""Writing CoNLL files: one tag a token, and the white space kept where taggers do not look."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rubricate.corpus import Corpus, Note
from rubricate.formats.annotations import first_annotator
from rubricate.formats.encoded_names import id_to_name
from rubricate.formats.frame import feature_labels, write_frame
from rubricate.formats.pico import PRIORITY, TAGS
from rubricate.formats.token_labels import (
    Place,
    count_cut_tokens,
    need_whole_characters,
    note_tokens,
    row_fragments,
    tokens_of,
)

_ESCAPES = {" ": r"\s", "\t": r"\t", "\n": r"\n", "\r": r"\r"}


def escape_space(space: str) -> str:
    r"""Return white space as CoNLL-U writes it; what it has no letter for by its number.

    Examples
    --------
    >>> escape_space(" \r\n\u2028")
    '\\s\\r\\n\\u2028'
    """
    return "".join(_ESCAPES.get(char, f"\\u{ord(char):04x}") for char in space)


def write_conll(corpus: Corpus, path: Path) -> None:
    """Write what the first annotator with rows marked, one tag a token.

    An annotation begins with ``B-`` and goes on with ``I-``. A token with several features keeps
    one: interventions, participants, outcomes, then the order of the rubric. A token that an
    annotation touches is tagged whole. The tags of a note that nobody judged are ``_``, since
    ``O`` would say that there is nothing. Sentences end at line breaks outside annotations.
    """
    need_whole_characters(corpus)
    chosen = first_annotator(corpus)
    tags = feature_tags(chosen)
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for note in chosen.notes:
            places = note_tokens(note.text)
            judged = len(chosen.note_rows(note.id)) > 0
            marks = _mark(chosen, note, places, tags) if judged else ["_"] * len(places)
            stream.writelines(_note_lines(note, places, marks, judged=judged))
    write_frame(chosen, path, is_folder=False)


def feature_tags(corpus: Corpus) -> dict[str, str]:
    """Return the tag of each feature: the corpus's own for participants and so on.

    Examples
    --------
    >>> from rubricate.formats.pico import PICO
    >>> feature_tags(Corpus((), (PICO,)))["outcomes"]
    'OUT'
    """
    labels = feature_labels(corpus)
    taken = set(labels.values())
    return {i: TAGS[i] if i in TAGS and TAGS[i] not in taken else labels[i] for i in labels}


def _mark(corpus: Corpus, note: Note, places: Sequence[Place], tags: dict[str, str]) -> list[str]:
    marks = ["O"] * len(places)
    rows = corpus.note_rows(note.id)
    ids = {row: corpus.features[int(corpus.rows.feature[row])].id for row in rows}
    first = {feature_id: rank for rank, feature_id in enumerate(PRIORITY)}
    for row in sorted(rows, key=lambda row: (first.get(ids[row], len(first)), row)):
        for fragments in row_fragments(corpus, row):
            for span in fragments:
                _mark_span(marks, tokens_of(span, places), tags[ids[row]])
    return marks


def _mark_span(marks: list[str], tokens: range, tag: str) -> None:
    """Tag the tokens that are free; each stretch of them begins anew."""
    prefix = "B"
    for i in tokens:
        if marks[i] == "O":
            marks[i] = f"{prefix}-{tag}"
            prefix = "I"
        else:
            prefix = "B"


def _note_lines(
    note: Note, places: Sequence[Place], marks: Sequence[str], *, judged: bool
) -> list[str]:
    before = note.text[: places[0][0]] if places else note.text
    options = [f"SpacesBefore={escape_space(before)}"] if before else []
    options += [] if judged else ["Judged=No"]
    lines = [" ".join(["-DOCSTART-", f"({id_to_name(note.id)})", *options]) + "\n\n"]
    for i, (start, end) in enumerate(places):
        is_last = i + 1 == len(places)
        space = note.text[end:] if is_last else note.text[end : places[i + 1][0]]
        breaks = not is_last and "\n" in space and not marks[i + 1].startswith("I-")
        usual = "" if is_last else "\n" if breaks else " "
        spacing = "_"
        if space != usual:
            spacing = f"SpacesAfter={escape_space(space)}" if space else "SpaceAfter=No"
        lines.append(f"{note.text[start:end]} _ {spacing} {marks[i]}\n" + "\n" * breaks)
    return [*lines, "\n"] if places else lines


def count_conll_losses(corpus: Corpus) -> dict[str, int]:
    """Return what is lost because tags lie on tokens: annotations that are cut.

    Examples
    --------
    >>> count_conll_losses(Corpus((), ()))
    {}
    """
    cut = count_cut_tokens(first_annotator(corpus))
    return {"boundaries": cut} if cut else {}

"""Writing EBM-NLP folders in the layout of release 2.0, and counting what labels cannot say."""

from __future__ import annotations

from pathlib import Path

from rubricate.corpus import Corpus
from rubricate.formats.ebmnlp_layout import ann_folder, file_name
from rubricate.formats.frame import feature_labels, write_frame
from rubricate.formats.pico import PICO
from rubricate.formats.token_labels import (
    count_cut_and_merged,
    mark_tokens,
    need_whole_characters,
    note_tokens,
    row_fragments,
)


def write_ebmnlp(corpus: Corpus, path: Path) -> None:
    """Write the layout of release 2.0: documents, tokens, and one file a judged row.

    Tokens are those of `rubricate.text.words`. A token that an annotation touches is labelled,
    whole; fragments become several runs; annotations of one row with no token between them become
    one (`count_losses` counts both). Notes whose metadata do not say ``split: test`` are in
    ``train``. Ids are percent-encoded where a file name could not hold them.
    """
    need_whole_characters(corpus)
    folder = path / "documents"
    folder.mkdir(parents=True)
    (path / "annotations").mkdir()
    folders = feature_folders(corpus)
    made: set[Path] = set()
    for note in corpus.notes:
        places = note_tokens(note.text)
        name = file_name(note.id)
        split = "test" if note.metadata.get("split") == "test" else "train"
        (folder / f"{name}.txt").write_bytes(_encode(note.text))
        tokens = [note.text[start:end] for start, end in places]
        (folder / f"{name}.tokens").write_bytes(_encode(_lines(tokens)))
        for row in corpus.note_rows(note.id):
            annotator = corpus.annotators[int(corpus.rows.annotator[row])]
            feature_id = corpus.features[int(corpus.rows.feature[row])].id
            before, after, aggregated = ann_folder(annotator, split)
            place = path / "annotations" / before / folders[feature_id] / after
            if place not in made:
                place.mkdir(parents=True, exist_ok=True)
                made.add(place)
            worker = "AGGREGATED" if aggregated else file_name(annotator.id)
            spans = (span for own in row_fragments(corpus, row) for span in own)
            labels = [str(label) for label in mark_tokens(spans, places)]
            (place / f"{name}.{worker}.ann").write_text(_lines(labels), encoding="ascii")
    write_frame(corpus, path, is_folder=True)


def _lines(items: list[str]) -> str:
    return "".join(f"{item}\n" for item in items)


def _encode(text: str) -> bytes:
    # A reader takes a leading U+FEFF for a byte order mark, so one that is text needs another.
    return ("\ufeff" + text if text.startswith("\ufeff") else text).encode()


def feature_folders(corpus: Corpus) -> dict[str, str]:
    """Return the folder of each feature: the corpus's own names for its own three.

    Examples
    --------
    >>> from rubricate.corpus import Corpus
    >>> feature_folders(Corpus((), (PICO,)))["outcomes"]
    'outcomes'
    """
    labels = feature_labels(corpus)
    taken = set(labels.values())
    own = {f.id for f in PICO if f.id in labels and f.id not in taken}
    return {feature_id: feature_id if feature_id in own else labels[feature_id]
            for feature_id in labels}  # fmt: skip


def count_ebmnlp_losses(corpus: Corpus) -> dict[str, int]:
    """Return what is lost because labels lie on tokens: cut annotations and merged ones.

    Examples
    --------
    >>> from rubricate.corpus import Corpus
    >>> count_ebmnlp_losses(Corpus((), (PICO,)))
    {}
    """
    cut, merged = count_cut_and_merged(corpus)
    counts = {"boundaries": cut, "touching": merged}
    return {kind: count for kind, count in counts.items() if count}

"""Writing a corpus as a folder of WebAnno TSV files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rubricate.corpus import Corpus, Note
from rubricate.errors import Fault, InputError
from rubricate.formats.annotations import has_lone_surrogate, plain_annotations, rows_by_annotator
from rubricate.formats.encoded_names import id_to_name
from rubricate.formats.frame import feature_labels, write_frame
from rubricate.formats.webanno_layer import (
    FEATURE,
    GROUP,
    LAYER,
    annotation_values,
    columns_in_use,
)
from rubricate.formats.webanno_tokens import Mark, note_to_tsv

#: The state of a document before anybody worked on it, as INCEpTION exports it.
NOBODY = "INITIAL_CAS"


def write_webanno(corpus: Corpus, path: Path) -> None:
    r"""Write a folder of .tsv files: one a note, or one a note and annotator if there are several.

    All annotations are of the layer ``webanno.custom.Feature``, which must allow stacking and
    crossing sentences and have the string features named in the files. INCEpTION has no
    discontinuous spans: each fragment is a span of its own, and fragments of one annotation
    share the value of ``group``. Offsets are UTF-16 units.

    Raises
    ------
    InputError
        If an annotation is not inside its note (the format has no place outside the text), a
        text cannot be stored as UTF-8, or an id is too long for a file name.

    Examples
    --------
    >>> import tempfile
    >>> from rubricate import CorpusBuilder, Feature
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n", "c", "no fever, chills"))
    >>> builder.add_feature(Feature("7", "c", "No chills"))
    >>> builder.annotate("a", "n", "7", [(0, 2), (10, 16)])
    >>> folder = Path(tempfile.mkdtemp()) / "tsv"
    >>> write_webanno(builder.build(), folder)
    >>> for line in (folder / "n.tsv").read_text(encoding="utf-8").splitlines()[4:7]:
    ...     print(line)
    #Text=no fever, chills
    1-1	0-2	no	7\_No-chills	1
    1-2	3-8	fever	_	_
    """
    _refuse_unwritable(corpus)
    path.mkdir()
    labels = feature_labels(corpus)
    columns = columns_in_use(corpus)
    alone = len(corpus.annotators) < 2
    reserved = frozenset({NOBODY})
    for note in corpus.notes:
        name = id_to_name(note.id)
        rows_of = rows_by_annotator(corpus, note.id)
        for annotator, rows in rows_of.items():
            marks = list(_marks(corpus, rows, labels, columns))
            whose = id_to_name(corpus.annotators[annotator].id, reserved=reserved)
            _write(path / (f"{name}.tsv" if alone else f"{name}/{whose}.tsv"), note, marks, columns)
        if not rows_of:
            _write(path / name / f"{NOBODY}.tsv", note, [], columns)
    write_frame(corpus, path, is_folder=True)


def _refuse_unwritable(corpus: Corpus) -> None:
    faults = [
        Fault(f"the text of note {n.id} holds half a surrogate pair, which no file can")
        for n in corpus.notes
        if has_lone_surrogate(n.text)
    ]
    rows = corpus.rows
    notes = rows.note[rows.span_row].tolist()
    for i, start, end in zip(notes, rows.start.tolist(), rows.end.tolist(), strict=True):
        note = corpus.notes[i]
        if not 0 <= start < end <= len(note.text):
            message = f"span {start} {end} is outside the text of note {note.id}, which WebAnno"
            faults.append(Fault(f"{message} cannot hold. Repair it first: rubricate check --fix"))
    if faults:
        raise InputError(faults)


def _marks(
    corpus: Corpus, rows: list[int], labels: dict[str, str], columns: list[str]
) -> Iterator[Mark]:
    n_groups = 0
    for row in rows:
        label = labels[corpus.features[int(corpus.rows.feature[row])].id]
        for annotation in plain_annotations(corpus, row):
            values = {FEATURE: label} | annotation_values(annotation)
            if len(annotation.spans) > 1:
                n_groups += 1
                values[GROUP] = str(n_groups)
            for start, end in annotation.spans:
                yield Mark(start, end, tuple(values.get(name) for name in columns))
                # What is said of the whole annotation is said once, at its first fragment.
                values = {name: values[name] for name in (FEATURE, GROUP) if name in values}


def _write(place: Path, note: Note, marks: list[Mark], columns: list[str]) -> None:
    place.parent.mkdir(exist_ok=True)
    try:
        place.write_bytes(note_to_tsv(note.text, marks, LAYER, columns).encode("utf-8"))
    except UnicodeEncodeError:
        # The encoder's own message would quote the text.
        message = f"an annotation of note {note.id} holds half a surrogate pair, which no file can"
        raise InputError(message) from None

"""Writing a corpus as a BRAT folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from rubricate.corpus import Corpus
from rubricate.errors import InputError
from rubricate.formats.annotations import (
    labelled_annotations,
    refuse_lone_surrogates,
    rows_by_annotator,
)
from rubricate.formats.brat.ann import CONFIDENCE, NOTES, REASON, STATED_TEXT, WHOLE_SPANS
from rubricate.formats.brat.lines import (
    Pair,
    cut_at_breaks,
    flat,
    line_text,
    spans_to_field,
    stated_text,
    to_line,
)
from rubricate.formats.encoded_names import id_to_name
from rubricate.formats.frame import feature_labels, write_frame
from rubricate.progress import Progress, silent, watched
from rubricate.rows import PlainAnnotation

ANNOTATION_CONF = "annotation.conf"
VISUAL_CONF = "visual.conf"

#: Values of attributes that annotation.conf can list.
_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")


def write_brat(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write the corpus as a folder BRAT serves as it is.

    One annotator's files lie in the folder itself, several annotators' in one sub-folder each,
    every one with all texts. Spans that cross a line break are cut there, as BRAT does; a note
    of type ``WholeSpans`` keeps the spans as they were. Ids become file names by
    percent-encoding.

    >>> import tempfile
    >>> from rubricate import CorpusBuilder, Feature, Note
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n", "c", "no fever, chills"))
    >>> builder.add_feature(Feature("7", "c", "No chills"))
    >>> builder.annotate("a", "n", "7", [(0, 2), (10, 16)])
    >>> folder = Path(tempfile.mkdtemp()) / "brat"
    >>> write_brat(builder.build(), folder)
    >>> print((folder / "n.ann").read_text(encoding="utf-8"))
    T1 7_No-chills 0 2;10 16 no chills
    """
    refuse_lone_surrogates(corpus)
    labels = feature_labels(corpus)
    path.mkdir()
    _write(path / ANNOTATION_CONF, _annotation_conf(corpus, labels))
    _write(path / VISUAL_CONF, _visual_conf(corpus, labels))
    write_frame(corpus, path, is_folder=True)
    alone = len(corpus.annotators) < 2
    folders = [path] if alone else [path / id_to_name(a.id) for a in corpus.annotators]
    for folder in folders:
        folder.mkdir(exist_ok=alone)
    for note in watched(corpus.notes, progress, "writing notes", len(corpus.notes)):
        name = id_to_name(note.id)
        for folder in folders:
            _write(folder / f"{name}.txt", note.text)
        for annotator, rows in rows_by_annotator(corpus, note.id).items():
            lines = _ann_lines(corpus, note.text, rows, labels)
            _write(folders[annotator] / f"{name}.ann", "".join(f"{line}\n" for line in lines))


def _write(path: Path, text: str) -> None:
    try:
        path.write_bytes(text.encode("utf-8"))
    except UnicodeEncodeError:
        # The encoder's own message would quote the text.
        raise InputError(
            f"{path.name} would hold half a surrogate pair, which no file can"
        ) from None


def _ann_lines(corpus: Corpus, text: str, rows: list[int], labels: dict[str, str]) -> Iterator[str]:
    """Yield the lines of one annotator's judgements (rows) of one note."""
    n_attributes = n_notes = 0
    found = labelled_annotations(corpus, rows, labels)
    for number, (label, annotation) in enumerate(found, start=1):
        spans = cut_at_breaks(annotation.spans, text)
        stated = annotation.detail.stated_text
        written = line_text(spans, text) if stated is None else flat(stated)
        place = f"T{number}"
        yield f"{place}\t{label} {spans_to_field(spans)}\t{written}"
        for name, value in annotation.detail.attributes:
            n_attributes += 1
            shown = "" if value == "true" else f" {to_line(value)}"
            yield f"A{n_attributes}\t{_attribute_name(name)} {place}{shown}"
        for kind, remark in _remarks(annotation, spans, text):
            n_notes += 1
            yield f"#{n_notes}\t{kind} {place}\t{to_line(remark)}"


def _attribute_name(name: str) -> str:
    """Return the name without blanks; `rubricate.formats.encoded_names.name_to_id` undoes it."""
    return quote(name, safe="", errors="surrogatepass") or "%"


def _remarks(annotation: PlainAnnotation, spans: list[Pair], text: str) -> list[tuple[str, str]]:
    """Return the notes of one annotation, as type and text."""
    detail, stated = annotation.detail, annotation.detail.stated_text
    remarks = [(NOTES, detail.comment), (REASON, detail.reason)]
    remarks = [(kind, remark) for kind, remark in remarks if remark]
    if list(annotation.spans) != spans:
        remarks.append((WHOLE_SPANS, spans_to_field(annotation.spans)))
    if stated is not None and stated_text(flat(stated), spans, text) != stated:
        remarks.append((STATED_TEXT, stated))
    if annotation.confidence is not None:
        remarks.append((CONFIDENCE, repr(annotation.confidence)))
    return remarks


def _annotation_conf(corpus: Corpus, labels: dict[str, str]) -> str:
    """Return the labels and attributes the annotators may use; overlaps are allowed."""
    values: dict[str, set[str]] = {}
    for detail in corpus.rows.details.values():
        for name, value in detail.attributes:
            values.setdefault(name, set()).add(value)
    attributes = []
    for name in sorted(values):
        plain = sorted(v for v in values[name] - {"true"} if _PLAIN.fullmatch(v))
        if plain:
            attributes.append(f"{_attribute_name(name)}\tArg:<ENTITY>, Value:{'|'.join(plain)}")
        elif values[name] == {"true"}:
            attributes.append(f"{_attribute_name(name)}\tArg:<ENTITY>")
    overlap = "<OVERLAP>\tArg1:<ENTITY>, Arg2:<ENTITY>, <OVL-TYPE>:<ANY>"
    sections = {
        "entities": list(labels.values()),
        "relations": [overlap],
        "events": [],
        "attributes": attributes,
    }
    return "\n".join(f"[{name}]\n" + "".join(f"{x}\n" for x in v) for name, v in sections.items())


def _visual_conf(corpus: Corpus, labels: dict[str, str]) -> str:
    """Return the rubric's words for each label."""
    shown = [
        f"{labels[f.id]} | {' '.join(flat(f.text).replace('|', '/').split()) or labels[f.id]}"
        for f in corpus.features
    ]
    drawing = [
        "SPAN_DEFAULT\tfgColor:black, bgColor:lightgreen, borderColor:darken",
        "ARC_DEFAULT\tcolor:black, arrowHead:triangle-5",
        "ATTRIBUTE_DEFAULT\tglyph:*",
    ]
    return "\n".join(["[labels]", *shown, "", "[drawing]", *drawing]) + "\n"

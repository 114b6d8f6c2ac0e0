"""WebAnno TSV 3.3, of WebAnno and INCEpTION: one file per note and annotator."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from rubricate.corpus import Annotator, Corpus
from rubricate.formats.encoded_names import name_to_id
from rubricate.formats.faults import Faults
from rubricate.formats.format import HELD_BY_TOOLS, Format
from rubricate.formats.frame import Frame, read_frame
from rubricate.formats.limits import first_bytes
from rubricate.formats.webanno.read import LayerSpan, parse_tsv, spans_to_annotations
from rubricate.formats.webanno.write import NOBODY, write_webanno
from rubricate.progress import Progress, silent, watched


def looks_like_webanno(path: Path) -> bool:
    """Tell whether the file, or the first .tsv file of the folder, is WebAnno TSV 3."""
    place = next((p for p, _, _ in _files(path, Frame())), None) if path.is_dir() else path
    if place is None or place.suffix != ".tsv" or not place.is_file():
        return False
    return first_bytes(place).startswith(b"#FORMAT=WebAnno TSV")


def read_webanno(path: Path, *, strict: bool = True, progress: Progress = silent) -> Corpus:
    """Read one .tsv file, or a folder of them as we write it or as INCEpTION exports it.

    ``NOTE.tsv`` is judged by the only annotator, ``NOTE/ANNOTATOR.tsv`` by the one it is named
    after, and ``NOTE/INITIAL_CAS.tsv`` by nobody. Of an exported project the folders
    ``annotation`` and ``curation`` are read. The label of an annotation is its value of
    ``feature`` (our own layer), ``value`` or ``label``, else its first value, else the name of
    its layer; the other values become attributes, ``comment`` the comment. A link of a chain is
    an annotation, too; its chain and place in it, and each filled slot of an annotation, become
    attributes. Layers about words (part of speech, lemma, ...) are passed over. See
    `rubricate.formats.webanno.read.parse_tsv` for how the text is put together.
    """
    faults = Faults(path)
    frame = read_frame(path, is_folder=path.is_dir())
    texts: dict[str, str] = {}
    judged: dict[tuple[str, str], tuple[Path, list[LayerSpan]]] = {}
    for place, note_id, annotator_id in watched(_files(path, frame), progress, "reading files"):
        text, spans = _parse_file(place, faults, strict=strict)
        if text is None:
            continue
        if texts.setdefault(note_id, text) != text:
            faults.add(f"its text differs from that of another file of note {note_id}", path=place)
        elif annotator_id is not None:
            if (annotator_id, note_id) in judged:
                faults.add(f"a second file of {annotator_id!r} for note {note_id!r}", path=place)
            judged[annotator_id, note_id] = (place, spans)
    frame.check_notes(len(texts), faults, need=".tsv files of WebAnno TSV 3")
    builder = frame.builder()
    frame.add_notes(builder, texts)
    for (annotator_id, note_id), (place, spans) in judged.items():
        if annotator_id not in builder.annotators:
            builder.add_annotator(Annotator(annotator_id))
        own = Faults(place)
        note = builder.notes[note_id]
        for label, found in spans_to_annotations(spans, note, frame, own, strict=strict):
            frame.annotate(builder, annotator_id, note_id, label, found)
        faults.found.extend(own.found)
    faults.raise_any()
    return frame.finish(builder, judged)


def _files(path: Path, frame: Frame) -> Iterator[tuple[Path, str, str | None]]:
    """Yield each file with its note and annotator (None: nobody)."""
    exported = chain(path.glob("annotation/*/*.tsv"), path.glob("curation/*/*.tsv"))
    nested = sorted(exported) or sorted(path.glob("*/*.tsv"))
    direct = [path] if path.is_file() else sorted(path.glob("*.tsv"))
    for place in direct:
        if not place.name.startswith("."):
            yield place, name_to_id(place.stem), frame.only_annotator
    for place in nested:
        if not place.name.startswith("."):
            annotator_id = None if place.stem == NOBODY else name_to_id(place.stem)
            yield place, name_to_id(place.parent.name), annotator_id


def _parse_file(place: Path, faults: Faults, *, strict: bool) -> tuple[str | None, list[LayerSpan]]:
    """Return the text and the spans of a file, no text if there is something wrong with it."""
    own = Faults(place)
    content = faults.text_of(place)
    if content is None:
        return None, []
    text, spans = parse_tsv(content, own, strict=strict)
    faults.found.extend(own.found)
    return (None, []) if own.found else (text, spans)


FORMAT = Format(
    name="webanno",
    summary="WebAnno TSV 3.3, a folder of .tsv files for WebAnno and INCEpTION",
    looks_like=looks_like_webanno,
    read=read_webanno,
    write=write_webanno,
    holds=HELD_BY_TOOLS,
)

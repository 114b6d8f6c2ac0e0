"""EBM-NLP releases 1.0 and 2.0: texts, tokens, and one label per token for each annotator.

Each element (participants, interventions, outcomes) is a feature of the case ``pico``; a span is a
maximal run of tokens with a label. A file of zeros says that the annotator judged the feature and
found nothing, a missing file that nobody asked. Workers of ``test/gold`` are in the group
``expert``, others in ``crowd``. Aggregated labels are those of the annotator ``aggregated`` (the
crowd's for test notes: ``aggregated-crowd``). In ``hierarchical_labels`` the numbers are
sub-labels, kept as an attribute; another number begins another annotation, and the annotator's id
and group end in ``-hierarchical``. The note's split is in its metadata.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from rubricate.builder import CorpusBuilder
from rubricate.corpus import Corpus
from rubricate.formats.ebmnlp.layout import (
    AnnFile,
    Folders,
    ann_folder,
    file_name,
    find_folders,
    list_ann_files,
    need_folders,
)
from rubricate.formats.format import HELD_BY_FRAME, Format
from rubricate.formats.frame import Frame, name_to_id, read_frame, write_frame
from rubricate.formats.options import USUAL_OPTIONS, ReadOptions
from rubricate.formats.reading import Faults
from rubricate.formats.token_labels import (
    CASE,
    PICO,
    Place,
    align_tokens,
    corpus_labels,
    count_cut_and_merged,
    label_runs,
    mark_tokens,
    note_tokens,
    sublabel_attributes,
)
from rubricate.progress import Progress, silent, watched
from rubricate.rows import Detail
from rubricate.rubric import Metadata

_GROUPS = ("expert", "crowd", "aggregated")


@dataclass(frozen=True, slots=True)
class _StoredNote:
    """A text and its tokens; ``tokens`` is None where there is no ``.tokens`` file."""

    text: str
    tokens: list[str] | None
    path: Path
    text_from_tokens: bool = False


def looks_like_ebmnlp(path: Path) -> bool:
    """Tell whether this is an EBM-NLP folder, or one inside its annotations."""
    return find_folders(path) is not None


def read_ebmnlp(path: Path, how: ReadOptions = USUAL_OPTIONS) -> Corpus:
    """Read a release's folder, or only the annotations below a folder inside it.

    With ``strict`` false, a note whose tokens disagree with its text gets its tokens joined by one
    space as text, and says so in its metadata (``text: tokens``).
    """
    folders = need_folders(path)
    faults = Faults(folders.root, how)
    frame = read_frame(folders.root, is_folder=True, limits=how.limits)
    stored = _read_stored_notes(folders, faults)
    frame.check_notes(len(stored), faults, need="documents/PMID.tokens")
    files = list(list_ann_files(folders, stored.keys(), faults))
    known = {name_to_id(name): note for name, note in stored.items()}
    places = {}
    for note_id in dict.fromkeys(file.note_id for file in files):
        known[note_id], places[note_id] = _place_tokens(known[note_id], note_id, faults)
    builder = frame.builder()
    _add_notes(builder, frame, known, _splits(files, faults))
    _add_features(builder, frame, files, faults)
    for annotator in sorted(
        {file.annotator for file in files},
        key=lambda a: (_GROUPS.index(a.group.removesuffix("-hierarchical")), _in_order(a.id)),
    ):
        if annotator.id not in builder.annotators:
            builder.add_annotator(annotator)
    for file in watched(files, how.progress, "reading annotations", len(files)):
        _read_ann_file(builder, frame, file, places[file.note_id], faults)
    faults.raise_any()
    return builder.build()


def ebmnlp_tokens(path: Path) -> dict[str, list[Place]]:
    """Return the token spans of each note that a release stores, by note id.

    They are the release's own, which `rubricate.evaluation.words` would cut otherwise. A note whose
    tokens are not in its text is left out.
    """
    found = {}
    folders = need_folders(path)
    for name, stored in _read_stored_notes(folders, Faults(folders.root)).items():
        places = align_tokens(stored.tokens or (), stored.text)
        if stored.tokens is not None and len(places) == len(stored.tokens):
            found[name_to_id(name)] = [place for place in places if place[0] < place[1]]
    return found


def _in_order(identifier: str) -> tuple[int, str]:
    """Sort numbers by value, before everything else."""
    return (int(identifier), "") if identifier.isdecimal() else (10**18, identifier)


def _read_stored_notes(folders: Folders, faults: Faults) -> dict[str, _StoredNote]:
    names: dict[str, dict[str, Path]] = {}
    for entry in os.scandir(folders.texts):
        stem, _, suffix = entry.name.rpartition(".")
        if stem and suffix in {"txt", "text", "tokens"}:
            names.setdefault(stem, {})[suffix] = Path(entry.path)
    notes: dict[str, _StoredNote] = {}
    for name in sorted(names, key=_in_order):
        found = names[name]
        tokens, place = None, found.get("txt") or found.get("text")
        if "tokens" in found:
            tokens = _split_tokens(faults.text_of(found["tokens"]) or "")
        text = " ".join(tokens or ()) if place is None else faults.text_of(place) or ""
        notes[name] = _StoredNote(text, tokens, folders.texts / f"{name}.tokens")
    return notes


def _split_tokens(body: str) -> list[str]:
    """Return the tokens of a file that has one per line (2.0) or between spaces (1.0)."""
    lines = body.removesuffix("\n").split("\n")
    if len(lines) == 1:
        return [token for token in re.split(r"[ \t\r]+", lines[0]) if token]
    return [line.removesuffix("\r") for line in lines]


def _splits(files: Iterable[AnnFile], faults: Faults) -> dict[str, str]:
    splits: dict[str, str] = {}
    for file in files:
        if splits.setdefault(file.note_id, file.split) != file.split:
            faults.add(f"note {file.note_id} is both in train and in test", path=file.path)
    return splits


def _add_notes(
    builder: CorpusBuilder, frame: Frame, known: dict[str, _StoredNote], splits: dict[str, str]
) -> None:
    for note_id in frame.in_order(known):
        stored = known[note_id]
        note = frame.note(note_id, stored.text)
        if note_id not in frame.notes:
            case = note.case if frame.exists else CASE
            split = {"split": splits[note_id]} if note_id in splits else {}
            note = replace(note, case=case, metadata=Metadata(split))
        if stored.text_from_tokens:
            note = replace(note, metadata=Metadata({**note.metadata, "text": "tokens"}))
        builder.add_note(note)


def _add_features(
    builder: CorpusBuilder, frame: Frame, files: Iterable[AnnFile], faults: Faults
) -> None:
    if not frame.exists:
        builder.add_rubric(PICO)
    case = frame.default_case if frame.exists else CASE
    folders = {file.label: file.path.parent for file in files}
    for label in sorted(folders):
        frame.check_label(label, faults.of(folders[label]))
        frame.feature_id(label, case, builder)


def _place_tokens(
    stored: _StoredNote, note_id: str, faults: Faults
) -> tuple[_StoredNote, list[Place]]:
    """Return a note's token spans, and the note with the text they are in."""
    tokens = stored.tokens
    if tokens is None:
        faults.add(f"note {note_id} has annotations but no tokens", path=stored.path)
        return stored, []
    places = align_tokens(tokens, stored.text)
    if len(places) == len(tokens):
        return stored, places
    if not faults.how.strict:
        text = " ".join(tokens)
        return replace(stored, text=text, text_from_tokens=True), align_tokens(tokens, text)
    faults.add(
        f"this token of note {note_id} is not in its text after offset "
        f"{places[-1][1] if places else 0}; text and tokens must hold the same words "
        "(reading that is not strict, as for a check, takes the tokens for the text)",
        line=len(places) + 1,
        path=stored.path,
    )
    return stored, places + [(0, 0)] * (len(tokens) - len(places))


def _read_ann_file(
    builder: CorpusBuilder, frame: Frame, file: AnnFile, places: list[Place], faults: Faults
) -> None:
    content = faults.text_of(file.path)
    if content is None:
        return
    body = content.strip()
    items = [item.strip() for item in body.split(",")] if "," in body else body.split()
    allowed = re.compile(r"\d{1,3}" if file.sublabels else "[01]", re.ASCII)
    wrong = {item for item in set(items) if not allowed.fullmatch(item)}
    if wrong:
        need = "a number" if file.sublabels else "0 or 1"
        for i, item in enumerate(items, start=1):
            if item in wrong:
                faults.add(f"label {i} is not {need}", line=None if "," in body else i,
                           path=file.path)  # fmt: skip
        return
    if len(items) != len(places):
        message = f"{len(items)} labels, but note {file.note_id} has {len(places)} tokens"
        faults.add(message, path=file.path)
        return
    feature_id = frame.labels.get(file.label, file.label)
    row = (file.annotator.id, file.note_id, feature_id)
    if builder.is_judged(*row):
        faults.add("these labels were already given by another file", path=file.path)
        return
    builder.judge(*row)
    for label, span in label_runs([int(item) for item in items], places):
        attributes = sublabel_attributes(feature_id, label) if file.sublabels else ()
        builder.annotate(*row, [span], detail=Detail(attributes=attributes))


def write_ebmnlp(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write the layout of release 2.0: documents, tokens, and one file per judged row.

    Tokens are those of `rubricate.reading.tokens`. A token that an annotation touches is labelled,
    whole; fragments become several runs; annotations of one row with no token between them become
    one (`count_losses` counts both). Notes whose metadata do not say ``split: test`` are in
    ``train``. Ids are percent-encoded where a file name could not hold them.
    """
    folder = path / "documents"
    folder.mkdir(parents=True)
    (path / "annotations").mkdir()
    folders = corpus_labels(corpus, {feature.id: feature.id for feature in PICO})
    made: set[Path] = set()
    for note in watched(corpus.notes, progress, "writing notes", len(corpus.notes)):
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
            spans = (span for own in corpus.rows.annotations(row) for span in own.spans)
            labels = [str(label) for label in mark_tokens(spans, places)]
            (place / f"{name}.{worker}.ann").write_text(_lines(labels), encoding="ascii")
    write_frame(corpus, path, is_folder=True)


def _lines(items: list[str]) -> str:
    return "".join(f"{item}\n" for item in items)


def _encode(text: str) -> bytes:
    # A reader takes a leading U+FEFF for a byte order mark, so one that is text needs another.
    return ("\ufeff" + text if text.startswith("\ufeff") else text).encode()


def count_ebmnlp_losses(corpus: Corpus) -> dict[str, int]:
    """Return the losses because labels lie on tokens: cut annotations and merged ones.

    >>> count_ebmnlp_losses(Corpus((), (PICO,)))
    {}
    """
    cut, merged = count_cut_and_merged(corpus)
    counts = {"boundaries": cut, "touching": merged}
    return {kind: count for kind, count in counts.items() if count}


FORMAT = Format(
    name="ebmnlp",
    summary="EBM-NLP release folder (1.0 and 2.0): texts, tokens, one label per token",
    looks_like=looks_like_ebmnlp,
    read=read_ebmnlp,
    write=write_ebmnlp,
    made=frozenset({"documents/*.txt", "documents/*.tokens", "annotations/*.ann"}),
    holds=HELD_BY_FRAME
    | {"overlaps", "annotators", "unannotated", "empty notes", "newlines", "ids"},
    count_more=count_ebmnlp_losses,
)

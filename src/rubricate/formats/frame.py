"""The frame file: what annotation tools have no room for, kept beside their files.

Tools keep texts, labels and spans; rubrics, cases, metadata, groups and scores have no place in
their files. Writers of such formats put them into ``rubricate.json`` (in a folder) or
``NAME.rubricate.json`` (beside a file); readers use it when it is there and do without when not.
It holds no annotation and no note text, so what a person changes in the tool is what is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from rubricate.builder import CorpusBuilder
from rubricate.corpus import Corpus, Note
from rubricate.errors import Fault, InputError, did_you_mean, shown
from rubricate.formats.encoding import (
    Head,
    given,
    head_from_json,
    head_to_json,
    json_reason,
    metadata_from_json,
    parse_json,
)
from rubricate.formats.format import FRAME_NAME, foreign_rows
from rubricate.formats.options import USUAL_LIMITS, ReadLimits
from rubricate.formats.reading import Faults, no_json, read_text, refuse_link
from rubricate.progress import Progress, watched
from rubricate.rows import PlainAnnotation
from rubricate.rubric import NO_METADATA, Feature, Metadata, Rubric
from rubricate.values import write_json

#: File systems take 255 bytes; the suffix needs a few.
LONGEST_NAME = 240

#: Names as `id_to_name` writes them; other names are nobody's encoding and stand for themselves.
_ENCODED = re.compile(r"(?:[A-Za-z0-9_.~-]|%[0-9A-F]{2})+")
#: Dots that would hide a file, that Windows drops, or that look like the suffix of another file.
_MISREAD_DOT = re.compile(r"^\.|\.$|\.(?=(?:ann|conf|json|tsv|txt|xmi)$)", re.IGNORECASE)


def id_to_name(identifier: str, *, reserved: frozenset[str] = frozenset()) -> str:
    """Return a file or folder name (without suffix) for an id.

    >>> id_to_name("Ward 3/17.a"), id_to_name("..")
    ('Ward%203%2F17.a', '%2E%2E')
    """
    # "%" alone is no encoding of anything else, so it can stand for the empty id.
    quoted = quote(identifier, safe="", errors="surrogatepass")
    name = _MISREAD_DOT.sub("%2E", quoted) or "%"
    if name in reserved:
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if len(name) > LONGEST_NAME:
        raise InputError(
            f"id {identifier!r} makes a file name of {len(name)} characters; "
            f"at most {LONGEST_NAME} are allowed. Give it a shorter id."
        )
    return name


def name_to_id(name: str) -> str:
    """Inverse of `id_to_name`; a name it would not have written is the id as it stands.

    >>> name_to_id("Ward%203%2F17.a"), name_to_id("100% sure")
    ('Ward 3/17.a', '100% sure')
    """
    if name == "%":
        return ""
    if not _ENCODED.fullmatch(name):
        return name
    try:
        return unquote(name, errors="surrogatepass")
    except UnicodeDecodeError:
        return name


FRAME_VERSION = 1
#: What tools that want a color for each label are given, in turn.
LABEL_COLORS = (
    "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#17becf",
)  # fmt: skip
#: The case of notes when nothing says which it is.
NO_CASE = "case"
#: Who judged when nothing says who it was.
DEFAULT_ANNOTATOR = "annotator"


#: An annotation with the label of its feature, and what each annotator marked in a note.
Labelled = tuple[str, PlainAnnotation]
Judged = dict[str, list[Labelled]]


@dataclass(frozen=True)
class Frame(Head):
    """Content of a frame file: the head of a corpus, and more about notes, labels and rows."""

    notes: Mapping[str, tuple[str, Metadata]] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    judged: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    exists: bool = False

    def note(self, note_id: str, text: str) -> Note:
        """Return the note with the case and metadata the frame knows."""
        case, metadata = self.notes.get(note_id, (self.default_case, NO_METADATA))
        return Note(note_id, case, text, metadata)

    @property
    def default_case(self) -> str:
        """The case of a note the frame does not know: the only one there is, or `NO_CASE`."""
        return self.rubrics[0].case if len(self.rubrics) == 1 else NO_CASE

    def feature_id(self, label: str, case: str, builder: CorpusBuilder) -> str:
        """Return the feature a label stands for; an unknown label becomes a feature of the case."""
        feature_id = self.labels.get(label, label)
        if not builder.has_feature(feature_id):
            feature = Feature(feature_id, case, label.replace("_", " "))
            builder.add_feature(feature, by_use=True)
        return feature_id

    def check_label(self, label: str, faults: Faults, *, line: int | None = None) -> None:
        """Note a fault if there are rubrics and the label stands for no feature of theirs.

        Without rubrics every label is a feature; with them a slip of the pen would become one.
        """
        if not self.rubrics or label in self.labels or label in self.feature_ids:
            return
        known = [*self.labels, *self.feature_ids]
        hint = did_you_mean(label, known)
        faults.add(
            f"label {shown(label)} stands for no feature of the rubrics{hint} Correct it, or add "
            f"the feature to {FRAME_NAME} with this id",
            line=line,
        )

    def check_notes(self, n_found: int, faults: Faults, *, need: str) -> None:
        """Note a fault if there is nothing to read, unless the frame says that there are no notes.

        ``need`` says what files, or lines, are sought.
        """
        if n_found or faults.found:
            return
        if self.notes:
            message = f"there are no notes, and {FRAME_NAME} speaks of {len(self.notes)}"
            faults.add(f"{message}: need {need}")
        elif not self.exists:
            faults.add(f"there are no notes: need {need}")

    def in_order(self, note_ids: Collection[str]) -> list[str]:
        """Return the ids of notes, those the frame knows first and in its order."""
        return list(dict.fromkeys([*(n for n in self.notes if n in note_ids), *note_ids]))

    @property
    def only_annotator(self) -> str:
        """Annotator of the files that name nobody."""
        return self.annotators[0].id if len(self.annotators) == 1 else DEFAULT_ANNOTATOR

    @cached_property
    def feature_ids(self) -> frozenset[str]:
        """The features of the rubrics."""
        return frozenset(f.id for rubric in self.rubrics for f in rubric.features)

    def annotate(
        self,
        builder: CorpusBuilder,
        annotator_id: str,
        note_id: str,
        label: str,
        annotation: PlainAnnotation,
    ) -> None:
        """Add what a tool's file says under a label."""
        builder.annotate(
            annotator_id,
            note_id,
            self.feature_id(label, builder.notes[note_id].case, builder),
            annotation.spans,
            confidence=annotation.confidence,
            detail=annotation.detail,
        )

    def finish(self, builder: CorpusBuilder, judged: Iterable[tuple[str, str]]) -> Corpus:
        """Return the corpus, with the rows of each (annotator, note) whose annotations were read.

        Rows come last, so that features met on the way count as part of the rubric.
        """
        for annotator_id, note_id in judged:
            case = builder.notes[note_id].case
            if not self.exists and not builder.features_of(case):
                builder.add_rubric(Rubric(case, (), by_use=True))
            partial = self.judged.get((annotator_id, note_id))
            if partial is None:
                builder.judge_all(annotator_id, note_id)
            else:
                for feature_id in partial:
                    builder.judge(annotator_id, note_id, feature_id)
        return builder.build()


def frame_path(path: Path, *, is_folder: bool) -> Path:
    """Return the path of this output's frame."""
    return path / FRAME_NAME if is_folder else path.with_name(f"{path.name}.{FRAME_NAME}")


def feature_labels(corpus: Corpus) -> dict[str, str]:
    """Return a label for each feature id that every tool takes: letters, digits, ``-`` and ``_``.

    >>> from rubricate.builder import CorpusBuilder
    >>> builder = CorpusBuilder()
    >>> builder.add_feature(Feature("7", "0", "Pain (left) jaw"))
    >>> builder.add_feature(Feature("Fever", "0", "Fever"))  # a tool's own label stays as it is
    >>> feature_labels(builder.build())
    {'7': '7_Pain-left-jaw', 'Fever': 'Fever'}
    """
    labels: dict[str, str] = {}
    taken: set[str] = set()
    last: dict[str, int] = {}  # where counting goes on, so that equal stems cost no search
    for feature in corpus.features:
        named = feature.id if feature.id == feature.text else f"{feature.id}_{feature.text}"
        words = re.sub(r"[^A-Za-z0-9_]+", "-", named)
        stem = words.strip("-")[:80].rstrip("-_") or "feature"
        label, n = stem, last.get(stem, 1)
        while label in taken:
            n += 1
            label = f"{stem}-{n}"
        last[stem] = n
        taken.add(label)
        labels[feature.id] = label
    return labels


def judged_notes(corpus: Corpus, progress: Progress) -> Iterator[tuple[Note, Judged]]:
    """Yield each note with the labels and annotations of everybody who judged it."""
    labels, rows = feature_labels(corpus), corpus.rows
    for note in watched(corpus.notes, progress, "writing notes", len(corpus.notes)):
        judged: Judged = {}
        for row in corpus.note_rows(note.id):
            own = judged.setdefault(corpus.annotators[int(rows.annotator[row])].id, [])
            label = labels[corpus.features[int(rows.feature[row])].id]
            own += [(label, annotation) for annotation in rows.annotations(row)]
        yield note, judged


def write_frame(corpus: Corpus, path: Path, *, is_folder: bool) -> None:
    """Write the frame of a corpus that was written to ``path``."""
    # The rows of each (annotator, note) that judged other than its whole rubric.
    rubric_ids = {r.case: [f.id for f in r.features] for r in corpus.rubrics}
    rows = corpus.rows
    foreign = foreign_rows(corpus)
    found: dict[tuple[int, int], list[int]] = {}
    odd: set[tuple[int, int]] = set()
    for i in range(len(rows)):
        key = (int(rows.annotator[i]), int(rows.note[i]))
        found.setdefault(key, []).append(int(rows.feature[i]))
        if foreign[i]:
            odd.add(key)
    partial: dict[str, dict[str, list[str]]] = {}
    for (annotator, note), features in found.items():
        whole = rubric_ids.get(corpus.notes[note].case, [])
        if (annotator, note) in odd or len(features) != len(whole):
            ids = [corpus.features[f].id for f in features]
            partial.setdefault(corpus.annotators[annotator].id, {})[corpus.notes[note].id] = ids
    labels = feature_labels(corpus)
    value = {
        "rubricate_frame": FRAME_VERSION,
        **head_to_json(corpus),
        "labels": {label: feature_id for feature_id, label in labels.items()},
        "notes": {n.id: {"case": n.case, **given(metadata=dict(n.metadata))} for n in corpus.notes},
        "judged": partial,
    }
    write_json(frame_path(path, is_folder=is_folder), value)


def read_frame(path: Path, *, is_folder: bool, limits: ReadLimits = USUAL_LIMITS) -> Frame:
    """Read the frame beside ``path``; an absent one is an empty frame."""
    place = frame_path(path, is_folder=is_folder)
    if not place.exists():
        return Frame()
    if is_folder:
        refuse_link(place, path)
    hint = "Correct it, delete it to read the files without it, or convert again from the source."
    try:
        return _frame(parse_json(read_text(place, limits), limits))
    except InputError:
        raise
    except json.JSONDecodeError as error:
        raise InputError([Fault(f"{no_json(error)}. {hint}", place, error.lineno)]) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"not a valid frame file ({json_reason(error)}). {hint}"
        raise InputError([Fault(message, place)]) from error


def _frame(value: Any) -> Frame:
    if not isinstance(value, dict) or value.get("rubricate_frame") != FRAME_VERSION:
        raise ValueError(f'need a JSON object with "rubricate_frame": {FRAME_VERSION}')
    frame = Frame(
        **vars(head_from_json(value)),
        notes={
            note_id: (str(n["case"]), metadata_from_json(n.get("metadata")))
            for note_id, n in value["notes"].items()
        },
        labels={label: str(feature_id) for label, feature_id in value["labels"].items()},
        judged={
            (annotator, note): tuple(map(str, features))
            for annotator, notes in value["judged"].items()
            for note, features in notes.items()
        },
        exists=True,
    )
    _need_known(frame, "labels", frame.labels.values())
    for (annotator, note), feature_ids in frame.judged.items():
        _need_known(frame, f"judged by {shown(annotator)} in note {shown(note)}", feature_ids)
    return frame


def _need_known(frame: Frame, where: str, feature_ids: Iterable[str]) -> None:
    for feature_id in feature_ids:
        if feature_id not in frame.feature_ids:
            raise ValueError(f"{where}: feature {shown(feature_id)} is in no rubric")

"""Layout of the EBM-NLP releases: folders, file names, and their meaning."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from rubricate.corpus import Annotator
from rubricate.errors import Fault, InputError
from rubricate.formats.frame import frame_path, id_to_name, name_to_id
from rubricate.formats.reading import Faults

#: How far below the corpus's root a folder may lie that is named for reading.
_DEPTH = 7
_ANN = re.compile(
    r"(?P<kind>aggregated|individual)"
    r"/(?P<layers>(?:(?:phase_\d|starting_spans|hierarchical_labels)/)+?)"
    r"(?P<label>[^/]+)/(?P<split>train|test)(?:/(?P<judges>gold|crowd))?/(?P<stem>[^/]+)\.ann"
)
_EXPECTED = (
    "expected {aggregated,individual}/{starting_spans,hierarchical_labels}/ELEMENT/"
    "{train,test/gold,test/crowd}/PMID.WORKER.ann"
)
AGGREGATED = "aggregated"
#: Crowd labels of the test notes, beside the experts' that bear the plain name.
AGGREGATED_CROWD = "aggregated-crowd"


@dataclass(frozen=True, slots=True)
class Folders:
    """The root of a corpus, its texts, and the annotations that are to be read."""

    root: Path
    texts: Path
    annotations: Path
    wanted: Path


@dataclass(frozen=True, slots=True)
class AnnFile:
    """One ``.ann`` file: one annotator's labels of one feature in one note."""

    path: Path
    note_id: str
    annotator: Annotator
    label: str
    split: str
    sublabels: bool


def find_folders(path: Path) -> Folders | None:
    """Return the folders of a corpus whose root or annotations (or part of them) this is."""
    if not path.is_dir():
        return None
    if _holds_tokens(path / "documents"):
        return Folders(path, path / "documents", path / "annotations", path / "annotations")
    place = path.absolute()
    for root in place.parents[:_DEPTH]:
        annotations = root / "annotations"
        if annotations in (place, *place.parents) and _holds_tokens(root / "documents"):
            return Folders(root, root / "documents", annotations, place)
    return None


def _holds_tokens(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            if any(entry.name.endswith(".tokens") for entry in entries):
                return True
    except OSError:
        return False
    # A corpus without notes, as it is written.
    return (
        frame_path(folder.parent, is_folder=True).exists()
        and (folder.parent / "annotations").is_dir()
    )


def need_folders(path: Path) -> Folders:
    """Return the folders, or raise InputError saying what they should look like."""
    folders = find_folders(path)
    if folders is None:
        message = (
            "not an EBM-NLP folder: expected documents/PMID.tokens and annotations/, "
            "or a folder inside such a corpus's annotations"
        )
        raise InputError([Fault(message, path)])
    return folders


def file_name(identifier: str) -> str:
    """Return a file name that says an id and holds no dot: dots part the note from the annotator.

    >>> file_name("10.1/x y")
    '10%2E1%2Fx%20y'
    """
    return id_to_name(identifier).replace(".", "%2E")


def list_ann_files(folders: Folders, names: Collection[str], faults: Faults) -> Iterator[AnnFile]:
    """Yield the annotation files in order; one that fits nowhere is a fault.

    ``names`` are the file names of the notes, without suffix.
    """
    for folder, below, files in os.walk(folders.wanted):
        below.sort()
        for name in sorted(file for file in files if file.endswith(".ann")):
            if name.startswith("."):
                continue
            path = Path(folder, name)
            match = _ANN.fullmatch(path.relative_to(folders.annotations).as_posix())
            if match is None:
                faults.add(f"not where an annotation file is expected: {_EXPECTED}", path=path)
                continue
            stem = match["stem"]
            note = _note_name(stem, names)
            if note is None:
                faults.add("the name begins with no note of the folder 'documents'", path=path)
                continue
            sublabels = "hierarchical" in match["layers"] or "phase_2" in match["layers"]
            worker = name_to_id(stem[len(note) + 1 :])
            annotator = _annotator(match, worker, sublabels=sublabels)
            yield AnnFile(
                path, name_to_id(note), annotator, match["label"], match["split"], sublabels
            )


def _note_name(stem: str, names: Collection[str]) -> str | None:
    """Return the note's part of ``PMID.WORKER`` (release 2.0), ``PMID_WORKER`` (1.0), ``PMID``."""
    for candidate in (stem.split(".", 1)[0], stem.split("_", 1)[0], stem):
        if candidate in names:
            return candidate
    return None


def _annotator(match: re.Match[str], worker: str, *, sublabels: bool) -> Annotator:
    """Return the annotator of a file's labels.

    The second phase asked other questions of other spans, so its answers belong to another
    annotator and group: pairs within one group stay comparable.
    """
    if match["kind"] == AGGREGATED:
        identifier = AGGREGATED_CROWD if match["judges"] == "crowd" else AGGREGATED
        group = AGGREGATED
    else:
        identifier = worker or "annotator"
        is_crowd = match["split"] == "train" or match["judges"] == "crowd"
        group = "crowd" if is_crowd else "expert"
    suffix = "-hierarchical" if sublabels else ""
    return Annotator(identifier + suffix, group + suffix)


def ann_folder(annotator: Annotator, split: str) -> tuple[str, str, bool]:
    """Return the two folders around the feature's, and whether the labels are aggregated.

    >>> ann_folder(Annotator("E1", "expert"), "test")
    ('individual/starting_spans', 'test/gold', False)
    """
    known = {("train", AGGREGATED), ("test", AGGREGATED), ("test", AGGREGATED_CROWD)}
    aggregated = annotator.group == AGGREGATED and (split, annotator.id) in known
    by_crowd = annotator.group == "crowd" or (aggregated and annotator.id == AGGREGATED_CROWD)
    kind = "aggregated" if aggregated else "individual"
    after = "train" if split == "train" else f"test/{'crowd' if by_crowd else 'gold'}"
    return f"{kind}/starting_spans", after, aggregated

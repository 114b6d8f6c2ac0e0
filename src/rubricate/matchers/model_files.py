"""Saved models: a folder of readable files, headed by ``model.json``, checked when loaded."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from rubricate.corpus import Corpus
from rubricate.display import counted
from rubricate.errors import Fault, InputError, RubricateError, shown
from rubricate.formats.encoding import Json, read_json
from rubricate.formats.reading import read_text
from rubricate.outputs import Kind, foreign_files
from rubricate.rubric import Feature
from rubricate.values import is_of, write_json

#: Increased when the files change so that older versions cannot read them.
FORMAT_VERSION = 1
HEADER_FILE = "model.json"
#: How the files of networks that a model keeps in folders of their own end.
_IN_FOLDERS = frozenset({".json", ".jsonl", ".npz", ".onnx", ".safetensors"})
#: The parts of the program that decide what a model finds in a note.
DECIDING = (
    "spans.py", "rubric.py", "rows.py", "corpus.py", "knowledge", "reading",
    "requirement", "rules", "lexicon", "matchers", "neural/encoder", "neural/sequence",
)  # fmt: skip
#: The parts that decide what a model learns; of a model that is there its own hash tells.
LEARNING = ("neural/recipe.py", "neural/training")


@dataclass(frozen=True, slots=True)
class Header:
    """Content of ``model.json``."""

    matcher: str
    parameters: Mapping[str, Any]
    learned_from: str
    n_notes: int
    features: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)
    rubricate: str = ""
    format: int = FORMAT_VERSION


def corpus_hash(corpus: Corpus, annotator: str | None) -> str:
    """Return a hash of what a model learns from: texts, rubrics and one annotator's spans."""
    digest = hashlib.sha256()
    for rubric in corpus.rubrics:
        for feature in rubric:
            digest.update(f"{rubric.case}\0{feature.id}\0{feature.text}\0".encode())
    for note in corpus.notes:
        digest.update(f"{note.id}\0{note.case}\0{note.text}\0".encode())
    if annotator is not None:
        own = corpus.rows.take(corpus.rows.annotator == corpus.annotator_index[annotator])
        for column in (own.note, own.feature, own.first_annotation, own.first_span):
            digest.update(column.tobytes())
        digest.update(own.start.tobytes() + own.end.tobytes())
    return digest.hexdigest()


def write_header(folder: Path, header: Header, *, editable: Iterable[str] = ()) -> None:
    """Write ``model.json`` for the files already in the folder."""
    from rubricate import __version__
    from rubricate.files import file_hash

    free = set(editable)
    files = {
        part.name: "" if part.name in free else file_hash(part)
        for part in sorted(folder.iterdir())
        if part.is_file()
    }
    value = {**asdict(header), "files": files, "rubricate": __version__}
    write_json(folder / HEADER_FILE, value)


def read_header(folder: Path, *, matcher: str | None = None) -> Header:
    """Read and check ``model.json`` and the hashes of the files it names."""
    path = folder / HEADER_FILE
    if not path.is_file():
        raise InputError([Fault(f"not a saved model: there is no {HEADER_FILE}", folder)])
    value = read_json(path)
    if value.get("format") != FORMAT_VERSION:
        raise InputError(
            [Fault(f"format {value.get('format')!r}; this version reads {FORMAT_VERSION}", path)]
        )
    wrong = [Fault(f"{name!r}: need {need}", path) for name, need in _wrong_fields(value)]
    if wrong:
        raise InputError([Fault("its fields are not those of a model", path), *wrong])
    header = Header(**value)
    if matcher is not None and header.matcher != matcher:
        raise InputError([Fault(f"made by matcher {header.matcher!r}, not {matcher!r}", path)])
    _check_files(folder, header.files)
    return header


def _model_fault(path: Path) -> str:
    value = read_json(path / HEADER_FILE) if (path / HEADER_FILE).is_file() else {}
    if not isinstance(value, dict) or _wrong_fields(value):
        return f"there is no {HEADER_FILE} of a model in it"
    return foreign_files(
        path,
        lambda name: (
            name in {HEADER_FILE, *value["files"]}
            or ("/" in name and Path(name).suffix in _IN_FOLDERS)
        ),
    )


MODEL = Kind("a model", _model_fault)


#: What a field holds: what it is called, and how it is told.
_Kind = tuple[str, Callable[[Any], bool]]
_TEXT: _Kind = ("text", lambda value: isinstance(value, str))
_COUNT: _Kind = ("a number", lambda value: type(value) is int and value >= 0)
_OPTIONS: _Kind = ("an object", lambda value: isinstance(value, dict))
_TEXTS: _Kind = (
    "an object of texts",
    lambda value: isinstance(value, dict) and all(isinstance(one, str) for one in value.values()),
)
_FIELDS = {
    "matcher": _TEXT, "parameters": _OPTIONS, "learned_from": _TEXT, "n_notes": _COUNT,
    "features": _TEXTS, "files": _TEXTS, "rubricate": _TEXT, "format": _COUNT,
}  # fmt: skip


def _wrong_fields(value: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the fields that are missing, unknown or of another kind, each with what it needs."""
    needs = [
        (name, need)
        for name, (need, fits) in _FIELDS.items()
        if name not in value or not fits(value[name])
    ]
    return needs + [(name, "to be taken out") for name in value if name not in _FIELDS]


M = TypeVar("M")


def with_parameters(matcher: type[M], header: Header, folder: Path) -> M:
    """Return a matcher with the parameters of a header; InputError where it cannot have them."""
    kinds = get_type_hints(matcher.__init__)
    faults = [
        Fault(f"parameter {shown(name)}: need {kinds.get(name, 'to be taken out')}", place)
        for place in [folder / HEADER_FILE]
        for name, value in header.parameters.items()
        if name not in kinds or not is_of(value, kinds[name])
    ]
    InputError.raise_any(faults)
    return matcher(**header.parameters)


@contextmanager
def reading_model(name: str, folder: Path) -> Iterator[None]:
    """Turn whatever the readers of a model's files raise into an InputError."""
    try:
        yield
    except RubricateError:
        raise
    except Exception as error:
        message = f"its files are not those of a model of {name}"
        raise InputError([Fault(message, folder)]) from error


def finite(value: Any) -> float:
    """Return a number of a model; ValueError where it is none or not finite."""
    if not math.isfinite(number := float(value)):
        raise ValueError("need a finite number")
    return number


#: What the names of files end with that matchers read.
_DATA = {".json", ".jsonl", ".npz", ".onnx", ".parquet", ".safetensors"}


def _check_files(folder: Path, files: Mapping[str, str]) -> None:
    from rubricate.files import file_hash, is_plain_name

    header = folder / HEADER_FILE
    faults = [
        Fault(f"is not listed in {HEADER_FILE}, so nothing is known of it", part)
        for part in sorted(folder.iterdir())
        if part.suffix in _DATA and part.name not in {HEADER_FILE, *files}
    ]
    if not files:
        faults.append(Fault("'files' is empty: a model has files", header))
    for name, wanted in files.items():
        part = folder / name
        if not is_plain_name(name):
            faults.append(Fault("'files' may name files of the model's folder alone", header))
        elif not part.is_file():
            faults.append(Fault("is missing from the model", part))
        elif wanted and file_hash(part) != wanted:
            faults.append(Fault("was altered after the model was saved", part))
    InputError.raise_any(faults)


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Write one JSON object per line."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for line in lines:
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")


def read_lines(path: Path) -> Iterator[tuple[int, Json]]:
    """Yield (1-based line, object) for each line that is not empty.

    InputError when one holds no object; its message names the line and never its text.
    """
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            raise InputError([Fault("not JSON", path, number)]) from None
        if not isinstance(value, dict):
            raise InputError([Fault("need a JSON object", path, number)])
        yield number, value


def check_features(features: Mapping[str, str], asked: Iterable[Feature]) -> None:
    """Raise InputError when a feature that is asked for has another text than the one learned.

    Learned phrases are kept by feature id; under another rubric the same id would silently stand
    for something else.
    """
    strangers = [f.id for f in asked if features.get(f.id, f.text) != f.text]
    if strangers:
        shown = ", ".join(strangers[:10]) + (", ..." if len(strangers) > 10 else "")
        raise InputError(
            f"the model was trained on a different wording of {counted(len(strangers), 'feature')} "
            f"({shown}). Fit the matcher to this rubric, or give the features new ids."
        )

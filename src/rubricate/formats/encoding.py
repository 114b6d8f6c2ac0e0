"""JSON read, where all that is wrong is one error, and made, with the values formats share."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rubricate.builder import CorpusBuilder
from rubricate.corpus import Annotator, Corpus, Score
from rubricate.errors import Fault, InputError, shown
from rubricate.formats.options import USUAL_LIMITS, ReadLimits
from rubricate.formats.reading import Faults, no_json, read_text
from rubricate.rows import Contradiction, Detail
from rubricate.rubric import NO_METADATA, Feature, Metadata, Rubric

#: A JSON object whose fields a file decides.
Json = dict[str, Any]
#: How much of a file is looked at first to find its format; the rest only if a value goes on.
_LOOK = 1 << 20
#: A whole number of more digits is too large to become a fraction.
MOST_DIGITS = 300
_LONG_NUMBER = re.compile(rf"[0-9]{{{MOST_DIGITS + 1}}}")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: str, limits: ReadLimits = USUAL_LIMITS, *, halves: bool = False) -> Any:
    r"""Return the value of a JSON text; `json.JSONDecodeError` for all that is wrong with it.

    That is also what the parser takes and nobody could use: more levels than the limit ``depth``,
    whole numbers of more than 300 digits, and half a surrogate pair, which no UTF-8 file can hold.
    With ``halves`` those are kept, for who can name their place better (see `has_half`).

    >>> parse_json('{"text": "\\ud83d\\ude00"}')
    {'text': '😀'}
    >>> parse_json('["\\ud83d"]')
    Traceback (most recent call last):
    json.decoder.JSONDecodeError: half a surrogate pair: line 1 column 3 (char 2)
    """
    depth = limits.depth
    if text.count("[") + text.count("{") > depth and _is_deeper(text, depth):
        raise json.JSONDecodeError(f"more than {depth} levels (raise the limit: depth)", text, 0)
    try:
        if _LONG_NUMBER.search(text):
            value = json.loads(text, parse_int=_whole_number)
        else:
            value = json.loads(text)
    except RecursionError:
        raise json.JSONDecodeError("nested too deeply", text, 0) from None
    except json.JSONDecodeError:
        raise
    except ValueError:
        raise json.JSONDecodeError("a number that is too long", text, 0) from None
    place = _half_pair(text) if not halves and _HALF.search(text) else None
    if place is not None:
        raise json.JSONDecodeError("half a surrogate pair", text, place)
    return value


def read_json(path: Path, limits: ReadLimits = USUAL_LIMITS) -> Json:
    """Return the JSON object in a file; InputError, with its line, if there is none."""
    try:
        value = parse_json(read_text(path, limits), limits)
    except json.JSONDecodeError as error:
        raise InputError([Fault(no_json(error), path, error.lineno)]) from None
    if not isinstance(value, dict):
        raise InputError([Fault("need a JSON object", path)])
    return value


_TEXT = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_NO_BRACKET = re.compile(r"[^\[\]]+")


def _is_deeper(text: str, depth: int) -> bool:
    """Tell whether a sound JSON text has more levels than this."""
    brackets = _TEXT.sub("", text).translate({ord("{"): "[", ord("}"): "]"})
    brackets = _NO_BRACKET.sub("", brackets)
    for _ in range(depth):
        outer = brackets.replace("[]", "")
        if len(outer) == len(brackets):
            break
        brackets = outer
    return bool(brackets) and (brackets.count("[") > depth or "[]" in brackets)


def _whole_number(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError("too long")
    return int(digits)


def _half_pair(text: str) -> int | None:
    """Return the place in a sound JSON text where an escape makes half a surrogate pair."""
    high, end = None, -1
    for match in _ESCAPE.finditer(text):
        code = int(match[1] or "0", 16)
        is_low = 0xDC00 <= code < 0xE000
        if high is not None and not (is_low and match.start() == end):
            return high
        if high is None and is_low:
            return match.start()
        high, end = (match.start() if 0xD800 <= code < 0xDC00 else None), match.end()
    return high


def has_half(value: Any, source: str) -> bool:
    r"""Tell whether a part of the JSON text ``source`` holds half a surrogate pair.

    >>> source = '["\\ud83d", "a"]'
    >>> [has_half(part, source) for part in parse_json(source, halves=True)]
    [True, False]
    """
    if not _HALF.search(source):
        return False
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return True
    return False


def first_value(path: Path, endings: Container[str], *, in_list: bool = False) -> Any:
    r"""Return the first object of a JSON file (if need be, of its list); None if there is none.

    A file of several values (one per line) has a first one, too. Only as much is read as needed,
    and nothing of what is no file with one of these endings.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "tasks.json"
    >>> _ = place.write_text('[{"id": 1}, {"id"', encoding="utf-8")
    >>> first_value(place, {".json"}, in_list=True)
    {'id': 1}
    """
    if not path.is_file() or path.suffix.lower() not in endings:
        return None
    for head in _heads(path):
        start = head.lstrip()
        if in_list and start.startswith("["):
            start = start[1:].lstrip()
        if not start.startswith("{"):
            return None
        try:
            return json.JSONDecoder().raw_decode(start)[0]
        except (ValueError, RecursionError):
            continue
    return None


def _heads(path: Path) -> Iterator[str]:
    """Yield the beginning of a file, each time more of it, and at last all."""
    try:
        size, look = path.stat().st_size, _LOOK
        with path.open("rb") as stream:
            while True:
                stream.seek(0)
                yield stream.read(look).decode("utf-8-sig", "replace")
                if look >= size:
                    return
                look *= 16
    except OSError:
        return


def parse_lines(source: str, faults: Faults, *, halves: bool = False) -> Iterator[tuple[int, Any]]:
    """Yield the JSON value of each line that is not blank, with its number; others are faults."""
    for number, line in enumerate(source.split("\n"), start=1):
        if line.strip():
            try:
                yield number, parse_json(line, faults.how.limits, halves=halves)
            except ValueError as error:
                faults.add(no_json(error), line=number)


def read_values(path: Path, faults: Faults) -> Iterator[tuple[int, Any]]:
    """Yield the values of a JSON file with their numbers: of a list, one alone, or one per line.

    What is wrong goes into ``faults``: values by their number, lines by theirs.
    """
    limits = faults.how.limits
    source = read_text(path, limits)
    try:
        whole = parse_json(source, limits, halves=True)
        # A list that begins with a text is one value: spaCy's pair of a text and its spans.
        several = isinstance(whole, list) and not (whole and isinstance(whole[0], str))
        values = list(enumerate(whole if several else [whole], start=1))
    except ValueError as error:
        if not _by_line(source.strip()):
            faults.add(no_json(error), line=getattr(error, "lineno", None), path=path)
            return
        values = list(parse_lines(source, faults.of(path), halves=True))
    for number, value in values:
        if has_half(value, source):
            faults.add("it holds half a surrogate pair", line=number, path=path)
        else:
            yield number, value


def _by_line(source: str) -> bool:
    """Tell whether a text that is no JSON may be lines of it: objects, or spaCy's pairs."""
    first, _, rest = source.partition("\n")
    if not rest or first[:1] != "[":
        return bool(rest) and first.startswith("{")
    try:
        return isinstance(parse_json(first, halves=True), list)
    except ValueError:
        return False


def contradiction_to_json(said: Contradiction) -> Json:
    """Return a contradiction of a feature as JSON, without its unknown values."""
    more = {"probability": said.probability, "reason": said.reason}
    spans = [list(span) for span in said.spans]
    return {"spans": spans, **{k: v for k, v in more.items() if v not in (None, "")}}


def contradiction_from_json(value: Mapping[str, Any]) -> Contradiction:
    """Inverse of `contradiction_to_json`."""
    spans = tuple((int(start), int(end)) for start, end in value["spans"])
    return Contradiction(spans, value.get("probability"), str(value.get("reason", "")))


def is_real(value: Any) -> bool:
    """Tell whether a JSON value is a number that is finite.

    >>> is_real(2), is_real(True), is_real("2"), is_real(float("inf"))
    (True, False, False, False)
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value)


def detail_from_json(value: Mapping[str, Any]) -> Detail:
    """Return the details of an annotation; ValueError, in words that quote nothing, if not sound.

    >>> detail_from_json({"stated_text": 5})
    Traceback (most recent call last):
    ValueError: 'stated_text' must be a text
    """
    for name in ("reason", "comment", "stated_text"):
        text = value.get(name, "")
        if not isinstance(text, str) and (text is not None or name != "stated_text"):
            raise ValueError(f"{name!r} must be a text")
    pairs = value.get("attributes", ())
    sound = isinstance(pairs, list | tuple) and all(
        isinstance(pair, list | tuple) and [type(part) for part in pair] == [str, str]
        for pair in pairs
    )
    if not sound:
        raise ValueError("'attributes' must be a list of [name, value], both texts")
    return Detail(
        reason=value.get("reason", ""),
        comment=value.get("comment", ""),
        attributes=tuple((name, text) for name, text in pairs),
        stated_text=value.get("stated_text"),
    )


def given(**values: Any) -> Json:
    """Return the values that say something."""
    return {name: value for name, value in values.items() if value}


_FEATURE_DEFAULTS = {"weight": 1.0, "kind": "", "group": "", "note": ""}


def rubric_to_json(rubric: Rubric) -> Json:
    """Return the rubric as JSON, with what its features have beside the defaults."""
    features = [
        {"id": one.id, "text": one.text}
        | {k: getattr(one, k) for k, v in _FEATURE_DEFAULTS.items() if getattr(one, k) != v}
        for one in rubric.features
    ]
    more = given(title=rubric.title, metadata=dict(rubric.metadata), by_use=rubric.by_use)
    return {"case": rubric.case, "features": features, **more}


def rubric_from_json(value: Mapping[str, Any]) -> Rubric:
    """Inverse of `rubric_to_json`; a weight that is no finite number is a ValueError."""
    case = str(value["case"])
    features = []
    for one in value["features"]:
        weight = one.get("weight", 1.0)
        if not is_real(weight):
            name = shown(str(one["id"]))
            raise ValueError(f"the weight of feature {name} must be a finite number")
        more = {name: str(one.get(name, "")) for name in ("kind", "group", "note")}
        features.append(
            Feature(str(one["id"]), case, str(one["text"]), weight=float(weight), **more)
        )
    return Rubric(
        case,
        tuple(features),
        title=str(value.get("title", "")),
        metadata=metadata_from_json(value.get("metadata")),
        by_use=value.get("by_use") is True,
    )


def metadata_from_json(value: Mapping[str, Any] | None) -> Metadata:
    """Return metadata from a JSON object; anything that is not a scalar is a TypeError."""
    for name, item in (value or {}).items():
        if not isinstance(item, str | int | float | bool | None):
            raise TypeError(
                f"metadata field {shown(name)} must be a text, a number, true, false or null"
            )
    return Metadata(value)


@dataclass(frozen=True)
class Head:
    """Everything of a corpus but its notes and rows."""

    rubrics: tuple[Rubric, ...] = ()
    annotators: tuple[Annotator, ...] = ()
    scores: tuple[Score, ...] = ()
    metadata: Metadata = NO_METADATA

    def builder(self) -> CorpusBuilder:
        """Return a builder that holds all of it already."""
        builder = CorpusBuilder(self.metadata)
        for rubric in self.rubrics:
            builder.add_rubric(rubric)
        for annotator in self.annotators:
            builder.add_annotator(annotator)
        for score in self.scores:
            builder.add_score(score)
        return builder


def head_to_json(corpus: Corpus) -> Json:
    """Return everything of a corpus but its notes and rows."""
    return {
        "rubrics": [rubric_to_json(r) for r in corpus.rubrics],
        "annotators": [
            {"id": a.id, **given(group=a.group, metadata=dict(a.metadata))}
            for a in corpus.annotators
        ],
        **given(scores=[asdict(s) for s in corpus.scores], metadata=dict(corpus.metadata)),
    }


def head_from_json(value: Mapping[str, Any]) -> Head:
    """Inverse of `head_to_json`.

    >>> head_from_json({"rubrics": [], "annotators": [{"id": "a"}, {"id": "a"}]})
    Traceback (most recent call last):
    ValueError: annotator 'a' occurs twice
    """
    try:
        head = Head(
            rubrics=tuple(rubric_from_json(r) for r in value["rubrics"]),
            annotators=tuple(
                Annotator(
                    str(a["id"]), str(a.get("group", "")), metadata_from_json(a.get("metadata"))
                )
                for a in value["annotators"]
            ),
            scores=tuple(_score_from_json(s) for s in value.get("scores", ())),
            metadata=metadata_from_json(value.get("metadata")),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(json_reason(error)) from error
    for kind, ids in (
        ("case", [rubric.case for rubric in head.rubrics]),
        ("feature", [f.id for rubric in head.rubrics for f in rubric.features]),
        ("annotator", [annotator.id for annotator in head.annotators]),
    ):
        seen: set[str] = set()
        for id_ in ids:
            if id_ in seen:
                raise ValueError(f"{kind} {shown(id_)} occurs twice")
            seen.add(id_)
    return head


def json_reason(error: Exception) -> str:
    """Return the fault of a JSON value whose reading raised this error."""
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)


def _score_from_json(value: Mapping[str, Any]) -> Score:
    for name in ("value", "maximum"):
        if not is_real(value[name] if name == "value" else value.get(name) or 0):
            raise ValueError(f"the {name} of a score must be a finite number")
    return Score(
        str(value["note"]),
        str(value["annotator"]),
        float(value["value"]),
        None if value.get("maximum") is None else float(value["maximum"]),
    )

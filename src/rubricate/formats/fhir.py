"""Notes in FHIR: the plain texts of DocumentReference resources; read only.

One resource, a Bundle of them, or NDJSON as bulk exports have it. A note is an attachment of type
``text/plain`` with its ``data`` (Base64, UTF-8); one that only has an address is not fetched but
named as a fault. Metadata are ``status``, ``type``, ``category``, ``date`` and ``subject`` where
there are any; other resources are passed over. Nobody judged the notes, and they have no case.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rubricate.corpus import Corpus
from rubricate.errors import shown
from rubricate.formats.encoding import first_value, read_values
from rubricate.formats.format import Format
from rubricate.formats.frame import Frame
from rubricate.formats.options import USUAL_OPTIONS, ReadOptions
from rubricate.formats.reading import Faults
from rubricate.formats.tool_documents import ToolDocument, build_corpus
from rubricate.progress import watched
from rubricate.rubric import Scalar

_NOTE = "DocumentReference"
_NEED = f"resources of type {_NOTE} with an attachment of type text/plain"


def looks_like_fhir(path: Path) -> bool:
    """Tell whether the file holds a DocumentReference first, or a Bundle with one."""
    value = first_value(path, {".json", ".ndjson", ".jsonl"}, in_list=True)
    return isinstance(value, dict) and any(_is_note(one) for one in _resources(value))


def _is_note(resource: Any) -> bool:
    return isinstance(resource, dict) and resource.get("resourceType") == _NOTE


def _resources(value: Any) -> Iterator[Any]:
    """Yield a resource, or those of a Bundle."""
    if not isinstance(value, dict) or value.get("resourceType") != "Bundle":
        yield value
        return
    entries = value.get("entry")
    for entry in entries if isinstance(entries, list) else ():
        yield entry.get("resource") if isinstance(entry, dict) else None


def read_fhir(path: Path, how: ReadOptions = USUAL_OPTIONS) -> Corpus:
    """Read all notes of a file; nobody judged them, so ``strict`` changes nothing."""
    faults = Faults(path, how, unit="value")
    found = watched(_notes(path, faults), how.progress, "reading notes")
    return build_corpus(found, Frame(), faults, need=_NEED)


def _notes(path: Path, faults: Faults) -> Iterator[ToolDocument]:
    for number, value in read_values(path, faults):
        for place, resource in enumerate(_resources(value), start=1):
            if _is_note(resource):
                given = resource.get("id")
                note_id = given if isinstance(given, str) else f"{number}-{place}"
                yield from _texts(resource, note_id, number, faults)


def _texts(
    resource: Mapping[str, Any], note_id: str, line: int, faults: Faults
) -> Iterator[ToolDocument]:
    contents = resource.get("content")
    attachments = [
        content["attachment"]
        for content in (contents if isinstance(contents, list) else ())
        if isinstance(content, dict) and isinstance(content.get("attachment"), dict)
    ]
    plain = [a for a in attachments if str(a.get("contentType", "")).startswith("text/plain")]
    if not plain:
        faults.add(f"note {shown(note_id)} has no attachment of type text/plain", line=line)
    for n, attachment in enumerate(plain, start=1):
        own_id = note_id if len(plain) == 1 else f"{note_id}-{n}"
        data = attachment.get("data")
        if not isinstance(data, str):
            what = "has an address and no data; nothing is fetched" if "url" in attachment else (
                "has no data"
            )  # fmt: skip
            faults.add(f"note {own_id!r} {what}", line=line)
            continue
        try:
            text = base64.b64decode("".join(data.split()), validate=True).decode("utf-8")
        except (binascii.Error, ValueError):
            faults.add(f"note {own_id!r}: its data are not Base64 of UTF-8", line=line)
            continue
        yield ToolDocument(own_id, text, None, (), line, case="", metadata=_metadata(resource))


def _metadata(resource: Mapping[str, Any]) -> dict[str, Scalar]:
    category = resource.get("category")
    subject = resource.get("subject")
    found = {
        "status": resource.get("status"),
        "type": _words(resource.get("type")),
        "category": _words(category[0] if isinstance(category, list) and category else category),
        "date": resource.get("date"),
        "subject": subject.get("reference") if isinstance(subject, dict) else None,
    }
    return {name: value for name, value in found.items() if isinstance(value, str)}


def _words(value: Any) -> str | None:
    """Return the words of a CodeableConcept: its text, or its first coding."""
    if not isinstance(value, dict):
        return None
    coding = value.get("coding")
    first = coding[0] if isinstance(coding, list) and coding else {}
    first = first if isinstance(first, dict) else {}
    said = (value.get("text"), first.get("display"), first.get("code"))
    return next((one for one in said if isinstance(one, str)), None)


FORMAT = Format(
    name="fhir",
    summary="FHIR DocumentReference resources with plain texts; read only",
    looks_like=looks_like_fhir,
    read=read_fhir,
)

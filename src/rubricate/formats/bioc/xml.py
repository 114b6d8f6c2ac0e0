"""BioC collections in XML, as the values that their JSON form has."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from rubricate.errors import Fault, InputError
from rubricate.formats.limits import read_whole
from rubricate.formats.xml_text import unsafe_xml

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_KEPT = {"\r": "&#13;"}
_IN_ATTRIBUTES = {"\r": "&#13;", "\n": "&#10;", "\t": "&#9;"}
#: The lists of each part, by the element that holds one of their items.
_PARTS = {
    "document": "documents", "passage": "passages", "sentence": "sentences",
    "annotation": "annotations", "location": "locations",
}  # fmt: skip


def collection_from_xml(path: Path) -> dict[str, Any]:
    """Read a collection; InputError if the file is no sound XML, or has more than a DOCTYPE."""
    content = read_whole(path)
    unsafe = unsafe_xml(content, doctype=True)
    if unsafe is not None:
        raise InputError([Fault(unsafe, path)])
    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        line = error.position[0] if isinstance(error, ElementTree.ParseError) else None
        # The parser's own words may quote the text.
        raise InputError([Fault("not well-formed XML", path, line)]) from None
    if root.tag != "collection":
        raise InputError([Fault("need a <collection> of BioC", path)])
    try:
        return _value(root)
    except RecursionError:
        raise InputError([Fault("nested too deeply", path)]) from None


def _value(element: ElementTree.Element) -> dict[str, Any]:
    value: dict[str, Any] = {"infons": {}, "id": element.get("id")}
    for child in element:
        if child.tag == "infon":
            value["infons"][child.get("key", "")] = child.text or ""
        elif child.tag == "location":
            numbers = {name: _number(child.get(name)) for name in ("offset", "length")}
            value.setdefault("locations", []).append(numbers)
        elif child.tag in _PARTS:
            value.setdefault(_PARTS[child.tag], []).append(_value(child))
        elif child.tag == "offset":
            value["offset"] = _number(child.text)
        elif child.tag in {"id", "text"}:
            value[child.tag] = child.text or ""
    return value


def _number(text: str | None) -> int | None:
    plain = (text or "").strip()
    return int(plain) if re.fullmatch(r"-?[0-9]{1,12}", plain) else None


def collection_to_xml(value: dict[str, Any]) -> str:
    """Return the XML of a collection; ValueError if it holds a character that XML cannot."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<!DOCTYPE collection SYSTEM "BioC.dtd">',
        "<collection>",
        *(f"<{name}>{_text(value[name])}</{name}>" for name in ("source", "date", "key")),
    ]
    for note in value["documents"]:
        lines += ["<document>", f"<id>{_text(note['id'])}</id>", *_infons(note)]
        for passage in note["passages"]:
            lines += ["<passage>", f"<offset>{passage['offset']}</offset>"]
            lines.append(f"<text>{_text(passage['text'])}</text>")
            for item in passage["annotations"]:
                lines += [f"<annotation id={_attribute(item['id'])}>", *_infons(item)]
                lines += [
                    f'<location offset="{place["offset"]}" length="{place["length"]}"/>'
                    for place in item["locations"]
                ]
                lines += [f"<text>{_text(item['text'])}</text>", "</annotation>"]
            lines.append("</passage>")
        lines.append("</document>")
    return "\n".join([*lines, "</collection>", ""])


def _infons(part: dict[str, Any]) -> Iterator[str]:
    for key, text in part["infons"].items():
        yield f"<infon key={_attribute(key)}>{_text(text)}</infon>"


def _text(text: str) -> str:
    return escape(_sound(text), _KEPT)


def _attribute(text: str) -> str:
    return quoteattr(_sound(text), _IN_ATTRIBUTES)


def _sound(text: str) -> str:
    found = _NOT_XML.search(text)
    if found:
        raise ValueError(f"XML cannot hold the character U+{ord(found.group()):04X}")
    return text

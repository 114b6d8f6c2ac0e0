"""The regions of one Label Studio annotation, put together to annotations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rubricate.formats.annotations import Utf16Map, linked_groups, located_text
from rubricate.formats.encoding import is_real
from rubricate.formats.reading import Faults
from rubricate.formats.tool_documents import span_pair
from rubricate.rows import Detail, PlainAnnotation

#: The label of the relation between two fragments of one annotation.
FRAGMENT = "fragment"


@dataclass(frozen=True)
class _Region:
    id: str | None
    start: int
    end: int
    labels: tuple[str, ...]
    text: str | None
    item: Mapping[str, Any]

    @property
    def meta(self) -> Mapping[str, Any]:
        meta = self.item.get("meta")
        return meta if isinstance(meta, dict) else {}


def read_regions(
    result: list[Any], note_id: str, text: str, task: int, faults: Faults
) -> Iterator[tuple[str, PlainAnnotation]]:
    """Yield the annotations of a ``result`` with their labels; faults name the task.

    >>> from pathlib import Path
    >>> value = {"start": 3, "end": 8, "labels": ["Fever"]}
    >>> result = [{"id": "a", "type": "labels", "value": value}]
    >>> list(read_regions(result, "n", "no fever", 1, Faults(Path("x.json"))))
    [('Fever', PlainAnnotation(spans=((3, 8),), confidence=None, detail=Detail(...)))]
    """
    regions = []
    for i, item in enumerate(result, start=1):
        try:
            region = _region(item)
        except ValueError as error:
            faults.add(f"result {i} of note {note_id}: {error}", line=task)
            continue
        if region is not None and (region.labels or faults.how.strict):
            if not region.labels:
                faults.add(f"result {i} of note {note_id} has no label", line=task)
            regions.append(region)
    regions = list(_in_code_points(regions, note_id, text, task, faults))
    attributes = _attributes(result)
    links = list(_links(result, regions))
    for label in dict.fromkeys(label for region in regions for label in region.labels):
        own = [i for i, region in enumerate(regions) if label in region.labels]
        place = {i: k for k, i in enumerate(own)}
        joined = [(place[a], place[b]) for a, b in links if a in place and b in place]
        for group in linked_groups(len(own), joined):
            yield label, _annotation([regions[own[k]] for k in group], text, attributes)


def answers_on_task(result: list[Any]) -> dict[str, str]:
    """Return the answers about the whole text, by the name of the tag: choices, ratings, words.

    >>> answers_on_task([{"from_name": "q", "type": "choices", "value": {"choices": ["poor"]}}])
    {'q': 'poor'}
    """
    found: dict[str, str] = {}
    for item in result:
        value = item.get("value") if isinstance(item, dict) else None
        if isinstance(value, dict) and "start" not in value and isinstance(item.get("type"), str):
            said = value.get(item["type"], value.get("text"))
            parts = [one for one in (said if isinstance(said, list) else [said])
                     if isinstance(one, str | int | float)]  # fmt: skip
            name = item.get("from_name")
            if parts and isinstance(name, str):
                found[name] = "; ".join(map(str, parts))
    return found


def _region(item: Any) -> _Region | None:
    """Return the region, or None for what is none (a relation, a choice, a text field)."""
    value = item.get("value") if isinstance(item, dict) else None
    if not isinstance(value, dict) or not str(item.get("type", "labels")).endswith("labels"):
        return None
    if {"x", "y"} <= value.keys():
        raise ValueError("it marks a place in an image; only spans of texts are read")
    offsets = value.get("globalOffsets")
    start, end = value.get("start"), value.get("end")
    if isinstance(offsets, dict):
        # Regions of HTML give places in the page here, and the offsets in its text apart.
        start, end = offsets.get("start"), offsets.get("end")
    start, end = span_pair(start, end)
    labels = value.get(str(item.get("type", "labels")), value.get("labels"))
    given = labels if isinstance(labels, list) else []
    if not all(isinstance(label, str) and label for label in given):
        raise ValueError("labels must be texts")
    text, id_ = value.get("text"), item.get("id")
    return _Region(
        None if id_ is None else str(id_),
        start,
        end,
        tuple(given),
        text if isinstance(text, str) else None,
        item,
    )


def _in_code_points(
    regions: list[_Region], note_id: str, text: str, task: int, faults: Faults
) -> Iterator[_Region]:
    """Yield the regions with offsets in code points, whichever unit the file counts in."""
    offsets = Utf16Map(text)
    if not _counts_utf16(regions, text, offsets):
        yield from regions
        return
    for region in regions:
        try:
            start, end = offsets.from_utf16(region.start), offsets.from_utf16(region.end)
        except ValueError as error:
            faults.add(f"note {note_id}: {error}", line=task)
            continue
        yield replace(region, start=start, end=end)


def _counts_utf16(regions: list[_Region], text: str, offsets: Utf16Map) -> bool:
    """Tell whether some stated text fits in UTF-16 units only, and none in code points only."""
    if offsets.n_units == len(text):
        return False
    only_utf16 = False
    for region in regions:
        if region.text:
            as_points = _same(region.text, located_text(text, [(region.start, region.end)]))
            try:
                span = offsets.from_utf16(region.start), offsets.from_utf16(region.end)
                as_units = _same(region.text, located_text(text, [span]))
            except ValueError:
                as_units = False
            if as_points and not as_units:
                return False
            only_utf16 |= as_units and not as_points
    return only_utf16


def _same(stated: str, located: str) -> bool:
    # Label Studio shows CR and LF alike as a line break and states both as LF.
    return stated.replace("\r", "\n") == located.replace("\r", "\n")


def _attributes(result: list[Any]) -> dict[str, list[tuple[str, str]]]:
    """Return the choices made for each region."""
    found: dict[str, list[tuple[str, str]]] = {}
    for item in result:
        if isinstance(item, dict) and item.get("type") == "choices":
            value = item.get("value")
            choices = value.get("choices") if isinstance(value, dict) else None
            for choice in choices if isinstance(choices, list) else ():
                own = found.setdefault(str(item.get("id")), [])
                own.append((str(item.get("from_name", "choice")), str(choice)))
    return found


def _links(result: list[Any], regions: list[_Region]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of regions that are fragments of one annotation."""
    place = {region.id: i for i, region in enumerate(regions) if region.id is not None}
    for item in result:
        if isinstance(item, dict) and item.get("type") == "relation":
            given = item.get("labels")
            labels = given if isinstance(given, list) and given else [FRAGMENT]
            a, b = place.get(str(item.get("from_id"))), place.get(str(item.get("to_id")))
            if a is not None and b is not None and FRAGMENT in labels:
                yield a, b


def _annotation(
    group: list[_Region], text: str, attributes: Mapping[str, list[tuple[str, str]]]
) -> PlainAnnotation:
    fragments = sorted(group, key=lambda region: (region.start, region.end))
    spans = tuple((region.start, region.end) for region in fragments)
    located = located_text(text, spans)
    stated = next((str(r.meta["stated_text"]) for r in group if "stated_text" in r.meta), None)
    if stated is None and all(region.text is not None for region in fragments):
        stated = " ".join(region.text or "" for region in fragments)
    scores = [r.item["score"] for r in group if is_real(r.item.get("score"))]
    comments = dict.fromkeys(comment for r in group if (comment := _comment(r.meta.get("text"))))
    return PlainAnnotation(
        spans,
        float(scores[0]) if scores else None,
        Detail(
            reason=next((str(r.meta["reason"]) for r in group if r.meta.get("reason")), ""),
            comment="\n".join(comments),
            attributes=tuple(pair for r in group for pair in attributes.get(str(r.id), ())),
            stated_text=None if stated is None or _same(stated, located) else stated,
        ),
    )


def _comment(text: Any) -> str:
    return "\n".join(str(part) for part in text) if isinstance(text, list) else str(text or "")

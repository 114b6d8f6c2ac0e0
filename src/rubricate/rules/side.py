"""Words of a note that give another side or place of the body."""

from __future__ import annotations

from rubricate.knowledge.tables import words
from rubricate.reading import opposites
from rubricate.reading.note import NEAR, Place
from rubricate.reading.opposites import sides_in, values_named
from rubricate.requirement.alternative import Alternative
from rubricate.rules.reasons import Reason

_MIDDLE_PARTS = words("drugs.middle_parts")
_MIDDLE = words("drugs.middle")


def another_side(asked: Alternative, place: Place) -> Reason | None:
    """Return the side said where the feature asks for another."""
    if asked.forms & _MIDDLE and asked.forms & _MIDDLE_PARTS and not asked.negated:
        return _not_midline(place)
    if len(asked.sides) != 1:
        return None
    reading = place.reading
    around = sides_in(reading.text, reading.tokens, range(place.first, place.end))
    if asked.sides & around or (asked.sides == {"both"} and {"left", "right"} <= around):
        return None
    said = sides_in(reading.text, reading.tokens, place.around(NEAR))
    if {"left", "right"} <= said:
        return None if asked.sides == {"both"} else Reason("side.other", "both")
    return Reason("side.other", min(said)) if said else None


def _not_midline(place: Place) -> Reason | None:
    """Return the side to which something is said to be that should be in the middle."""
    reading = place.reading
    said = sides_in(reading.text, reading.tokens, place.inside)
    around = place.forms(range(place.first, place.end))
    beside = len(said) == 1 and _MIDDLE.isdisjoint(around)
    return Reason("side.midline", min(said)) if beside else None


def another_site(asked: Alternative, place: Place) -> Reason | None:
    """Return the place of the body said where the feature asks for another."""
    inside = place.forms(place.inside)
    around = place.forms(range(place.first, place.end))
    if len(asked.heights) == 1:
        said = values_named(opposites.HEIGHTS, inside)
        if said and asked.heights.isdisjoint(values_named(opposites.HEIGHTS, around)):
            return Reason("side.site", min(said))
    if not asked.sites:
        return None
    said = opposites.sites_named(inside)
    if not said or opposites.places_fit(asked.sites, opposites.sites_named(around)):
        return None
    return Reason("side.site", min(said))

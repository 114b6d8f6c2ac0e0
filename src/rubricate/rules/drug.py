"""Words of a note that name another drug, or one that is not taken."""

from __future__ import annotations

from bisect import bisect_left

from rubricate.knowledge.tables import cues, groups, pattern, words
from rubricate.reading.drugs import drugs_among, other_class
from rubricate.reading.note import Place
from rubricate.reading.tokens import CueTable
from rubricate.requirement.alternative import Alternative
from rubricate.rules.reasons import Reason

_NOT_TAKEN = words("drugs.not_taken")
_SAME_DRUG = tuple(groups("drugs.same").values())
_GENERIC = pattern("drugs.generic")
_BRANDS = words("drugs.brands")
_LEFT = CueTable(cues("modality.not_taken"))
_OF_ALLERGY = words("modality.of_allergy")
_TAKEN = words("drugs.taken")
_REASONS = {
    "replaced": Reason("drug.replaced", "another"),
    "stopped": Reason("drug.stopped"),
    "allergic": Reason("drug.allergic"),
}


def not_taken(asked: Alternative, place: Place) -> Reason | None:
    """Return the reason if a drug is named that is not taken: "apixaban instead of warfarin"."""
    if not asked.drugs or asked.forms & _OF_ALLERGY:
        return None
    tokens, first = place.reading.tokens, place.first_named(asked.stems)
    for i in range(max(place.first, first - 3), first):
        hit = _LEFT.at(tokens, i) if tokens[i].form in _LEFT else None
        if hit is not None and first - 1 <= hit[1] <= first:
            return _REASONS[hit[0]]
    return _REASONS["allergic"] if _in_allergies(asked, place, first) else None


def _in_allergies(asked: Alternative, place: Place, first: int) -> bool:
    """Tell whether a drug stands among the allergies, or is called one: "aspirin allergy"."""
    reading, behind = place.reading, max(place.named(asked.stems), default=place.inside[-1]) + 1
    tokens = reading.tokens
    if behind < place.end and tokens[behind].form in _OF_ALLERGY:
        return True
    if reading.section_at(tokens[first].start) != "allergies":
        return False
    begin = bisect_left(reading.starts, reading.statement(tokens[first].start)[0])
    return not any(token.form in _TAKEN for token in tokens[begin:first])


def another_drug(asked: Alternative, place: Place) -> Reason | None:
    """Return the class of the drugs said where the feature asks for another."""
    if not asked.drugs or asked.negated or asked.forms & _NOT_TAKEN:
        return None
    words = [t for t in (place.reading.tokens[i] for i in place.inside) if t.kind != "mark"]
    said = drugs_among(words)
    if not said or any(name in asked.drug_names for name, _ in said):
        return None
    other = other_class(asked.drugs, said)
    if other:
        return Reason("drug.class", other)
    # Of one class, but two drugs: brand names are left out, for they may be the one asked for.
    names = [name for name, _ in said]
    drugs = (*asked.drugs, *(drug for _, drug in said))
    both = {*asked.drug_names, *names}
    same = any(one & asked.drug_names and not one.isdisjoint(names) for one in _SAME_DRUG)
    two = not same and all(_GENERIC.search(name) for name in both) and not _BRANDS & both
    two = two and not any(drug.is_class for drug in drugs)
    return Reason("drug.other", names[0]) if two else None

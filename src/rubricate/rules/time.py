"""Words of a note about what is no more, still is, or was before, where a feature asks otherwise.

"Orders BNP" asks for a decision of this visit; "BNP 40 in Jan" tells of an earlier one: it does not
contradict the feature, but states nothing of it either (`says_nothing_of_now`).
"""

from __future__ import annotations

from collections.abc import Sequence

from rubricate.knowledge.tables import cues, pattern, phrases, words
from rubricate.reading.drugs import drugs_among, other_class
from rubricate.reading.note import NEAR, NoteReading, Place
from rubricate.reading.numbers import figure
from rubricate.reading.times import tells_of_before
from rubricate.reading.tokens import CueTable
from rubricate.requirement.alternative import Alternative
from rubricate.requirement.requirement import Requirement
from rubricate.rules.reasons import Reason

_DENYING = words("polarity.denying")
_HAVING = words("modality.having")
_LASTING = words("modality.lasting")
_OVER = words("modality.over")
_GOES_ON = words("modality.goes_on")
_SAID_OVER = _OVER | words("modality.said_over")
_NOT_YET = words("modality.not_yet")


def still_or_over(asked: Alternative, place: Place) -> Reason | None:
    """Return the reason if what should last is over, or what should be over lasts."""
    lasting, over = asked.forms & _LASTING, asked.forms & _OVER
    if bool(lasting) == bool(over):
        return None
    tokens = place.reading.tokens
    said = set()
    for i in place.around(NEAR):
        if tokens[i].form in _SAID_OVER:
            near = {token.form for token in tokens[max(place.first, i - 3) : i]}
            said.add("time.not_over" if near & _NOT_YET else "time.resolved")
    if over and not said and _GOES_ON & set(place.forms(place.around(NEAR))):
        return Reason("time.not_over")
    other = "time.resolved" if lasting else "time.not_over"
    return Reason(other) if said == {other} else None


_PAST = words("modality.past")
NO_MORE = CueTable(cues("modality.no_more"))
GONE = CueTable(cues("modality.gone"))
REASONS = {kind: Reason(f"time.{kind}") for kind in ("stopped", "past", "resolved")}

_ABOUT_STOPPING = _PAST | words("modality.about_stopping")
_EASED = words("modality.eased")
_DONE = phrases("modality.done")
_STILL = words("modality.still")
_LEFT_OFF = words("modality.left_off")


def not_now(asked: Alternative, place: Place) -> Reason | None:
    """Return the reason if the words speak of what is no more."""
    tokens = place.reading.tokens
    if not asked.negated and (said := still_or_over(asked, place)):
        return said
    if not _LEFT_OFF.isdisjoint(asked.forms):
        around = set(place.forms(place.around(2 * NEAR)))
        if "never" in around and not around & _LEFT_OFF:
            return Reason("time.never", "never")
        if "smok" in {form[:4] for form in asked.forms} and around & _STILL:
            left = around & (_LEFT_OFF | _DENYING)
            return None if left else Reason("time.current", "current")
        return None
    if asked.negated or not _ABOUT_STOPPING.isdisjoint(asked.forms):
        return None
    if any(form.endswith(_DONE) for form in asked.forms):
        return None
    taken = asked.can_be_left_off
    if not taken and not _EASED.isdisjoint(asked.forms):
        return None
    table, own = NO_MORE if taken else GONE, place.named(asked.stems)
    last = own[-1] if own else place.inside[-1] + 1
    for i in place.around(NEAR * 2 if taken else NEAR):
        hit = table.at(tokens, i) if tokens[i].form in table else None
        if hit is None or (not taken and i in range(place.inside[0], last)):
            continue
        if _goes_on(place, i) or _of_another_drug(asked, place, i, hit[1]):
            continue
        if not place.has_comma_before(i) or tokens[i].form in _SINCE:
            return REASONS[hit[0]]
    return None


_NOT_STOPPED = words("modality.not_stopped")
_UP_TO_NOW = words("modality.up_to_now")
_FIRST_YEAR = 1900


def _goes_on(place: Place, i: int) -> bool:
    """Tell whether a word for stopping says that nothing stopped: "until now", "has not quit"."""
    tokens = place.reading.tokens
    if tokens[i].form in ("until", "till"):
        after = [token.form for token in tokens[i + 1 : i + 4]]
        if not after or after[0] in _UP_TO_NOW:
            return True
        value = figure(after[0])
        number = value is not None and value < _FIRST_YEAR
        return number and not {"ago", "back"} & set(after)
    if tokens[i].form in _HAVING and _SOMEWHERE & {token.form for token in tokens[i + 1 : i + 3]}:
        return True
    for k in range(i - 1, max(-1, i - 5), -1):
        if tokens[k].kind == "mark":
            return False
        if tokens[k].form in _NOT_STOPPED:
            return tokens[i].form not in _NOT_STOPPED
    return False


def _of_another_drug(asked: Alternative, place: Place, cue: int, end: int) -> bool:
    """Tell whether what was stopped is another drug: "Senokot nightly and Laxido was stopped"."""
    if not asked.drugs:
        return False
    tokens, first, last = place.reading.tokens, place.inside[0], place.inside[-1]
    if cue > last:
        words = tokens[last + 1 : cue]
    elif first - end > 1:  # Right before the words it is theirs: "stopped the Senokot".
        words = [*tokens[max(place.first, cue - 4) : cue], *tokens[end:first]]
    else:
        return False
    named = drugs_among([token for token in words if token.kind != "mark"])
    return bool(other_class(asked.drugs, named))


_SOMEWHERE = words("modality.somewhere")
_SINCE = words("modality.since")


_DECIDED = pattern("beside.decided")
_IF_AFTER = pattern("beside.if_after")
_IF_WITHIN = pattern("beside.if_within")
_IF_FIRST = pattern("beside.if_first")


def says_nothing_of_now(
    asked: Requirement, reading: NoteReading, spans: Sequence[tuple[int, int]]
) -> bool:
    """Tell whether words tell of an earlier time or of a condition, where a feature asks for now.

    Every place of the words must stand in a sentence that names an earlier time and has no word
    of a decision; or, of what is to be ordered, beside a condition.

    >>> from rubricate.reading.note import read_note
    >>> from rubricate.requirement.requirement import read_requirement
    >>> text = "BNP 40 in Jan, echo 2 yrs ago. CXR 2019 clear, will repeat today. MRI if worse."
    >>> note = read_note(text)
    >>> says_nothing_of_now(read_requirement("BNP ordered"), note, [(0, 13)])
    True
    >>> says_nothing_of_now(read_requirement("BNP"), note, [(0, 13)])
    False
    >>> says_nothing_of_now(read_requirement("Orders chest X-ray"), note, [(31, 34)])
    False
    >>> says_nothing_of_now(read_requirement("Orders MRI"), note, [(66, 69)])
    True
    """
    text = reading.text
    if asked.wants_now:
        said = [text[slice(*reading.statement(start, end))] for start, end in spans]
        if all(tells_of_before(one) and not _DECIDED.search(one) for one in said):
            return True
    # Right before a condition, around one, or behind one: "MRI if worse".
    return asked.wants_order and all(
        _IF_AFTER.match(text, end)
        or _IF_WITHIN.search(text, start, end)
        or _IF_FIRST.match(text[reading.statement(start, end)[0] : start])
        for start, end in spans
    )

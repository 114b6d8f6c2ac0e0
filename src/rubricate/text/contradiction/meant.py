"""Whether words of a note ask, order, advise or fear, name a drug not taken, or are past."""

from __future__ import annotations

import re

from rubricate.text.clauses import begins_item
from rubricate.text.contradiction.asked import EMPTY_WORDS, AskedFor
from rubricate.text.contradiction.place import NEAR, SpokenPlace, forms_at
from rubricate.text.contradiction.polarity import DENYING
from rubricate.text.drugs import drugs_among, other_class
from rubricate.text.words import CueTable, cue_kinds, stem, word_set

#: Verbs that begin an order ("Start aspirin"), and times that follow none ("start 10:10").
_ORDERS = word_set("start begin add order schedule refer obtain consider prescribe commence trial")
_BEGINNING = word_set("start begin add prescribe commence")  # states "Aspirin started"
_WHEN = re.compile(
    r"(?: ?(?:time|date|at))?\s?[:=-]?\s?(?:\d{1,2}[:.h]\d\d\b|\d+ ?\w+ ago\b)", re.I
)
_BEGUN = word_set("started commenced begun initiated added start starts")
_TESTS = word_set("test screen screening swab serology titer titre panel workup")
_AWAITED = word_set("ordered sent pending requested offered booked due arranged awaited planned")
_IN_ADVANCE = word_set("precautions precaution prophylaxis prevention counseling counselling")


def not_settled(asked: AskedFor, place: SpokenPlace) -> str | None:
    """Return why words ask, order or prevent rather than say: "?PE", "start aspirin"."""
    reading, tokens = place.reading, place.reading.tokens
    first, last = place.inside[0], place.inside[-1]
    start = tokens[first].start
    if (tokens[first].form == "?" and last > first) or (
        reading.text[start - 1 : start] == "?" and not reading.text[start - 2 : start - 1].strip()
    ):
        return "only feared"
    opening = first if tokens[first].form in _ORDERS else first - 1
    shorthand = opening >= 0 and reading.text[slice(*tokens[opening][:2])].isupper()  # "ADD"
    ordered = opening >= 0 and tokens[opening].form in _ORDERS and not shorthand
    begun = ordered and tokens[opening].form in _BEGINNING and not asked.forms.isdisjoint(_BEGUN)
    ordered = ordered and not begun and not _WHEN.match(reading.text, tokens[opening].end)
    if ordered and begins_item(reading.text, tokens, opening):
        return "only advised"
    for i in range(first + 1, min(last + 2, place.end)):
        if tokens[i].form in _IN_ADVANCE - asked.forms and tokens[i - 1].form in asked.forms:
            return "only in case"
        if tokens[i].form in _TESTS - asked.forms:
            said = {token.form for token in tokens[i + 1 : i + 2 + NEAR]}
            return "only tested" if said & _AWAITED else None
    return None


def first_named(asked: AskedFor, place: SpokenPlace) -> int:
    """Return the first of the words that is the feature's own; else the first that means much."""
    tokens = place.reading.tokens
    worded = (i for i in place.inside if tokens[i].form not in EMPTY_WORDS)
    return next(iter(_named(asked, place)), next(worded, place.inside[0]))


def last_named(asked: AskedFor, place: SpokenPlace) -> int:
    """Return the last of the words that is the feature's own; where none is, the one after all."""
    own = _named(asked, place)
    return own[-1] if own else place.inside[-1] + 1


def _named(asked: AskedFor, place: SpokenPlace) -> list[int]:
    tokens = place.reading.tokens
    return [i for i in place.inside if stem(tokens[i].form) in asked.words]


#: Right before a drug these say that it is not taken.
_NOT_TAKEN = CueTable(
    cue_kinds(
        replaced="instead of|rather than|in place of|switched from|changed from|swapped from",
        stopped="off|off of|not on|no longer on|came off|weaned off",
        allergic="allergic to|allergy to|allergies to|intolerant of|intolerant to|intolerance to"
        "|intolerance of|reaction to|allergies|allergy",
    )
)
_OF_ALLERGY = word_set(
    "allergy allergic allergies intolerance reaction anaphylaxis hypersensitivity intolerant"
)
_NOT_TAKEN_REASONS = {
    "replaced": "says another", "stopped": "stopped", "allergic": "only an allergy",
}  # fmt: skip


def not_taken(asked: AskedFor, place: SpokenPlace) -> str | None:
    """Return why a drug is named that is not taken: "apixaban instead of warfarin"."""
    if not asked.drugs or asked.forms & _OF_ALLERGY:
        return None
    tokens, first = place.reading.tokens, first_named(asked, place)
    for i in range(max(place.first, first - 3), first):
        hit = _NOT_TAKEN.at(tokens, i) if tokens[i].form in _NOT_TAKEN else None
        if hit is not None and first - 1 <= hit[1] <= first:
            return _NOT_TAKEN_REASONS[hit[0]]
    return None


#: Features that something lasts, that it is over, and words that say the latter.
_LASTING = word_set(
    "persists persisting persistent ongoing continues continuing unresolved unhealed still remains"
)
_OVER = word_set(
    "resolved gone cleared settled stopped ceased healed subsided ended abated discontinued"
)
_GOES_ON = word_set("still continues ongoing persists remains")
_SAID_OVER = _OVER | word_set("eased lifted broke vanished disappeared")
_NOT_YET = word_set("not hasnt havent hadnt never yet wont cannot cant")


def still_or_over(asked: AskedFor, place: SpokenPlace) -> str | None:
    """Return "resolved" where a feature says that something lasts, "not over" where it is over."""
    lasting, over = asked.forms & _LASTING, asked.forms & _OVER
    if bool(lasting) == bool(over):
        return None
    tokens = place.reading.tokens
    said = set()
    for i in place.around(NEAR):
        if tokens[i].form in _SAID_OVER:
            near = {token.form for token in tokens[max(place.first, i - 3) : i]}
            said.add("not over" if near & _NOT_YET else "resolved")
    if over and not said and _GOES_ON & set(forms_at(place, place.around(NEAR))):
        return "not over"
    return min(said) if said == {"resolved" if lasting else "not over"} else None


_NOT_MEANT = CueTable(
    cue_kinds(
        advised="advised to|advised that|advised|advise|recommended|recommend|was told to"
        "|counselled to|counseled to|suggested|should start|should stop|should avoid|plan to"
        "|plan for|plans to|will start|will begin|going to start|offered|discussed starting"
        "|may need|might need|will need|you should|we could|we may|we might|talked about|booked for"
        "|awaiting|waiting for|waiting list for|listed for|referred for|scheduled for|due for"
        "|wants to start|would like to try|considering|consider|thinking about|to start|may add"
        "|discussed|discuss|would start|would give|will give|would consider|might"
        "|hopes to|intends to|may start|could start|would like|wants to lose|wants to get"
        "|wants to have|wants to become|hoping to|planning for|planning a|planning pregnancy"
        "|refer for|refer to|refer back for|needs a referral for",
        declined="declined|refused|refuses",
        hypothetical="return if|come back if|call if|if you get|if you have|if you develop"
        "|if you start|if you notice|if you feel|if symptoms|should you|in case of|come back with"
        "|if he develops|if she develops|watch for|look out for|if your|seek help if"
        "|if she ever|if he ever|if it ever|should a|should any|should the"
        "|if any|return for|999 if|911 if|ring if|if he gets|if she gets|call for|ring for"
        "|call 911 for|call 999 for|dial 999 for|dial 911 for|911 for|999 for|ring with|call with"
        "|come in for|come in with|return with|report any|seek care for|seek help for"
        "|red flags|safety net|safety netting|precautions for|return precautions|warned of"
        "|warned about|warned that|warnings about|told to expect"
        "|taught about|leaflet on|leaflets on|leaflet about|leaflets about|booklet on|brochure on"
        "|handout on|handout about|fact sheet on|educated on|educated about|education on"
        "|counselled on|counseled on|counselled about|counseled about|side effects of"
        "|side effects include|risks include|including the risk|may cause|can cause|may bring on"
        "|can bring on|spoke of|was told of|were told of",
        feared="worried about|worries about|afraid of|scared of|fearful of|concerned about|risk of"
        "|at risk for|wonders if|wonders whether|wondered if|wondered whether|asks about"
        "|asked about|screening for|to prevent|prevention of|worried it could|worried that|fears"
        "|scan for|tested for|screened for|checked for|rule out|ruling out|r/o|to exclude|exclude"
        "|look for|looking for|evaluate for|assess for|work up for|workup for|screen for|check for"
        "|suspicion for|suspicion of|suspicious for|concern for|concern about|swabbed for|suspected"
        "|query",
    )
)
#: The same, behind the words: "Lipitor was recommended", "flu jab offered, never had it".
_NOT_DONE = CueTable(
    cue_kinds(
        advised="advised|was advised|recommended|was recommended|were recommended|suggested"
        "|was suggested|offered|was offered|considered|under consideration|mooted|proposed"
        "|being considered|was discussed|is planned|planned|not started|not yet started|pending"
        "|awaited|booked|to be booked|to be started|never picked up|never started|never tried"
        "|never taken|never given|never done|never used|never filled|never rebooked|never had it"
        "|was outlined|were outlined|outlined|was mooted|was raised|brought up|was brought up"
        "|on the handout|is on the leaflet|on order|not filled|unfilled|not collected|to begin"
        "|awaits|to be discussed|not wanted|next visit|were discussed|were offered|were advised"
        "|not had it|not had one|did not attend|was cancelled|postponed|not taken up|to start"
        "|to commence|set for|slated for|was exchanged|exchanged for|not begun|never begun|is due"
        "|awaiting treatment|under discussion|undecided|tomorrow|is set|penciled in|pencilled in",
        declined="declined|was declined|refused|turned down|turned it down|turned this down",
        hypothetical="if scan|if the|if needed|if required|if it|should it|were to",
        feared="suspected|queried|was suspected|was queried|looked for|was looked for|ruled out"
        "|was ruled out|excluded|was excluded|not confirmed|never confirmed|not found",
    )
)
_NOT_MEANT_REASONS = {
    "advised": "only advised", "declined": "declined",
    "hypothetical": "only in case", "feared": "only feared",
}  # fmt: skip


def not_meant(asked: AskedFor, place: SpokenPlace) -> str | None:
    """Return "only advised" and the like when the words say nothing of what is."""
    if asked.negated or asked.about_advice:
        return None
    tokens = place.reading.tokens
    heading = [token.form for token in tokens[max(0, place.first - 2) : place.first]]
    if heading[1:] == [":"] and heading[0] in _WARNINGS:
        return _NOT_MEANT_REASONS["hypothetical"]
    if said := not_settled(asked, place) or not_taken(asked, place):
        return said
    for i in range(place.first, first_named(asked, place) + 1):
        hit = _NOT_MEANT.at(tokens, i) if tokens[i].form in _NOT_MEANT else None
        before = tokens[i - 1].form if i else ""
        if hit is None or hit[1] > place.inside[-1] or before == "as":
            continue
        if tokens[hit[1]].form in _STOPPING:  # Who wants to quit has not.
            continue
        # What is refused ends with the comma: "refuses the bottle, seven wet nappies".
        if tokens[i].form not in _REFUSING or not _comma_between(place, i):
            return _NOT_MEANT_REASONS[hit[0]]
    first, last = place.inside[0], place.inside[-1]
    for i in range(first + 1, min(place.end, last + 1 + 2 * NEAR)):
        hit = _NOT_DONE.at(tokens, i) if tokens[i].form in _NOT_DONE else None
        if hit is None or (tokens[i].form in _REFUSING and _has_object(place, hit[1])):
            continue
        if not _other_verb(place, i) and tokens[i - 1].form != "it":
            return _NOT_MEANT_REASONS[hit[0]]
    return None


_STOPPING = word_set("quit stop cut reduce give come get taper wean")
#: Before a colon these open a list of what to look out for.
_WARNINGS = word_set("warned warnings return ret rtc precautions watch flags netting")
_REFUSING = word_set("declined refused refuses")


def _has_object(place: SpokenPlace, i: int) -> bool:
    """Tell whether what is refused follows: "off his food, refused supper"."""
    tokens = place.reading.tokens
    return i < place.end and tokens[i].kind == "word" and tokens[i].form not in _NO_OBJECT


_NO_OBJECT = word_set("by at when because due as this it in so on for again today and but twice")


def _other_verb(place: SpokenPlace, i: int) -> bool:
    """Tell whether a new statement begins between the words and a cue behind them."""
    between = place.reading.tokens[place.inside[-1] + 1 : i]
    return any(token.form in _NEW_STATEMENT for token in between)


_NEW_STATEMENT = word_set("and who has had but with takes for since as because when after ; : +")
_PAST = word_set(
    "history hx h/o previous previously prior past former formerly ex stopped quit resolved ago"
    " used had was were been since until recent recently last underwent s/p status childhood"
    " completed finished discontinued gave started began discontinuation cessation remote"
    " recurrent recurrence episode episodes postoperative"
)
#: Drugs and habits: what was stopped or is past is not what a feature asks for.
_NO_MORE = CueTable(
    cue_kinds(
        stopped="stopped|quit|discontinued|d/c|d/cd|d/c d|dcd|came off|taken off|gave up|given up"
        "|no longer|weaned off|ceased|stopped taking|none since|nil since|not since|none now"
        "|nil now|not any more|anymore|until|till|has not since|gave it up|clean since|on hold|held"
        "|withheld|off it|off them|now off|been off|off since|is off|taken off it|is held|abstinent"
        "|abstains|sober since|sober for|in recovery",
        past="used to|former|formerly|ex smoker|ex - smoker|years ago|in the past|previously"
        "|exsmoker|in college|as a student|as a teenager|in his youth|in her youth|in his twenties"
        "|in her twenties|as a young man|as a young woman|years back|at one time|long ago",
    )
)
#: Symptoms: what has gone is not what a feature asks for.
_GONE = CueTable(
    cue_kinds(
        resolved="resolved|has gone away|went away|gone away|cleared up|disappeared|now gone"
        "|has since resolved|since resolved|now resolved|has resolved|have resolved|fully resolved"
        "|gone since|gone now|all gone|is gone|are gone|completely gone|gone completely|has gone"
        "|have gone|has ceased|have ceased|let up|has let up|died down|cleared since"
        "|gone on|gone with|gone after"
    )
)
_NOT_NOW_REASONS = {"stopped": "stopped", "past": "in the past", "resolved": "resolved"}

#: Features of drugs, habits and what else can be left off.
_TAKEN = word_set(
    "current currently now active ongoing presently therapy use uses takes taking on drug"
    " medication tablets smoker smokes smoking tobacco alcohol"
    " drives driving drinks drinking drinker cigarettes cannabis marijuana vapes vaping user"
    " cocaine heroin"
)
#: Features that are themselves about the past or about stopping.
_ABOUT_STOPPING = _PAST | word_set(
    "missed poor adherence nonadherence allergy allergic intolerance reaction due caused cause stop"
    " wants cessation wearing took treated effect effects effective out work ready side stopping"
    " contemplating overuse administered given received tried trial prescribed dose course held"
    " hold withheld paused suspended"
)
_EASED = word_set(
    "relieved relief relieves resolved resolves resolution eases eased improved improves better"
    " transient intermittent episodic duration lasting lasted lasts minutes brief self recovery"
    " temporary spontaneous"
)
#: Endings of words for operations: they are past wherever they are told.
_DONE = ("ectomy", "otomy", "ostomy", "plasty", "scopy", "surgery", "graft", "replacement")
_STILL = word_set("still currently current continues smokes actively ongoing")
_LEFT_OFF = word_set("former ex quit stopped formerly gave")


def is_taken(asked: AskedFor) -> bool:
    """Tell whether a feature asks for a drug, a habit or something else that can be left off."""
    return bool(asked.drugs) or not _TAKEN.isdisjoint(asked.forms)


def not_now(asked: AskedFor, place: SpokenPlace) -> str | None:
    """Return "stopped" and the like when the words speak of what is no more."""
    tokens = place.reading.tokens
    if not asked.negated and (said := still_or_over(asked, place)):
        return said
    if not _LEFT_OFF.isdisjoint(asked.forms):
        around = set(forms_at(place, place.around(2 * NEAR)))
        if "never" in around and not around & _LEFT_OFF:
            return "says never"
        if "smok" in {form[:4] for form in asked.forms} and around & _STILL:
            return None if around & (_LEFT_OFF | DENYING) else "says current"
        return None
    if asked.negated or not _ABOUT_STOPPING.isdisjoint(asked.forms):
        return None
    if any(form.endswith(_DONE) for form in asked.forms):
        return None
    taken = is_taken(asked)
    if not taken and not _EASED.isdisjoint(asked.forms):
        return None
    table = _NO_MORE if taken else _GONE
    for i in place.around(NEAR * 2 if taken else NEAR):
        hit = table.at(tokens, i) if tokens[i].form in table else None
        if hit is None or (not taken and i in range(place.inside[0], last_named(asked, place))):
            continue
        if _goes_on(place, i) or _of_another_drug(asked, place, i, hit[1]):
            continue
        if not _comma_between(place, i) or tokens[i].form in _SINCE:
            return _NOT_NOW_REASONS[hit[0]]
    return None


#: Before a word for stopping these say that it has not come to that: "unable to quit".
_NOT_STOPPED = word_set(
    "not hasnt havent hadnt didnt doesnt dont wont never unable cannot cant couldnt trying tried"
    " tries try wants want ready failed fails failing yet hopes plans needs refuses struggling"
    " attempting attempted attempts advised urged encouraged asked told keen like difficulty hard"
    " counselled counseled help should"
)
#: After "until" these give no time when something ended.
_UP_TO_NOW = word_set("now today present date this then late midnight noon next tomorrow")
_FIRST_YEAR = 1900


def _goes_on(place: SpokenPlace, i: int) -> bool:
    """Tell whether a word for stopping says that nothing stopped: "until now", "has not quit"."""
    tokens = place.reading.tokens
    if tokens[i].form in ("until", "till"):
        after = [token.form for token in tokens[i + 1 : i + 4]]
        if not after or after[0] in _UP_TO_NOW:
            return True
        number = after[0].isdigit() and int(after[0]) < _FIRST_YEAR
        return number and not {"ago", "back"} & set(after)
    if tokens[i].form in ("gone", "has", "have") and _SOMEWHERE & {
        token.form for token in tokens[i + 1 : i + 3]
    }:
        return True
    for k in range(i - 1, max(-1, i - 5), -1):
        if tokens[k].kind == "mark":
            return False
        if tokens[k].form in _NOT_STOPPED:
            return tokens[i].form not in _NOT_STOPPED
    return False


def _of_another_drug(asked: AskedFor, place: SpokenPlace, cue: int, end: int) -> bool:
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


#: After "gone" these make it a movement: "has gone to 94 percent".
_SOMEWHERE = word_set("missing to from up down into on through home back well beyond over")
#: What may follow a comma and still speaks of the words before: "20 a day, none since 2004".
_SINCE = word_set("none nil until till not quit stopped clean")


def _comma_between(place: SpokenPlace, i: int) -> bool:
    first, last = place.inside[0], place.inside[-1]
    between = range(last + 1, i) if i > last else range(i + 1, first)
    return any(place.reading.tokens[k].form in (",", "+", "/") for k in between)


def cue_within(place: SpokenPlace) -> str | None:
    """Return "stopped", "only advised" and the like where the words themselves say so."""
    tokens, reasons = place.reading.tokens, _NOT_NOW_REASONS | _NOT_MEANT_REASONS
    for table in (_NO_MORE, _GONE, _NOT_MEANT, _NOT_DONE):
        for i in place.inside:
            hit = table.at(tokens, i) if tokens[i].form in table else None
            if hit is not None and tokens[i].form not in ("never", "not"):  # that is a denial
                return reasons[hit[0]]
    return None

"""Words that exclude each other: sides, places of the body, courses, onsets, relatives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rubricate.text.numbers import time_unit
from rubricate.text.words import word_set


def _values(**words: str) -> dict[str, str]:
    return {form: value for value, text in words.items() for form in text.split()}


#: Side by word. Single letters count only as capitals (see `rubricate.text.contradiction`).
SIDES = _values(
    left="left lt l leftsided lhs luq llq lif lle lue os",
    right="right rt r rightsided rhs ruq rlq rif rle rue od",
    both="both bilateral bilaterally bilat ou",
)
#: Shorthand for eyes, in capitals only.
EYES = word_set("od os ou")
#: Words after "right" or "left" with which it is no side ("right away", "left the house").
NO_SIDE_AFTER = word_set(
    "away now after before handed dominant handedness over off work home school him her his"
    " the job out in when by hospital to with behind it"
)
#: Words before "right" or "left" with which it is no side ("all right", "has left").
NO_SIDE_BEFORE = word_set("all that thats has had have she he they nothing pills tablets days")
#: Upper and lower, front and back.
HEIGHTS = _values(
    upper="upper ruq luq epigastric epigastrium hypochondrium",
    lower="lower rlq llq rif lif suprapubic",
)
#: Words that name a place of the body, to one name for each place.
SITES: dict[str, str] = _values(
    knee="knee knees gonalgia",
    hip="hip hips",
    shoulder="shoulder shoulders",
    elbow="elbow elbows",
    wrist="wrist wrists",
    ankle="ankle ankles",
    neck="neck cervical",
    back="back lumbar lumbago backache lbp spine spinal",
    chest="chest sternum substernal retrosternal cp precordial thoracic",
    abdomen="abdomen abdominal abd abdo belly tummy stomach ruq luq rlq llq rif lif epigastric"
    " epigastrium periumbilical umbilicus suprapubic gastric flank loin",
    head="head headache headaches ha migraine temple temples cephalgia forehead",
    calf="calf calves",
    thigh="thigh thighs",
    foot="foot feet heel heels toe toes podagra",
    leg="leg legs shin shins",
    arm="arm arms forearm biceps",
    hand="hand hands finger fingers thumb thumbs",
    throat="throat pharynx",
    ear="ear ears otalgia earache",
    eye="eye eyes vision visual",
    jaw="jaw jaws",
    groin="groin groins inguinal",
    breast="breast breasts nipple nipples",
    tooth="tooth teeth dental",
)
#: Places that are part of others, or overlap with them.
_PARTS = {
    "leg": word_set("knee ankle calf thigh foot hip"),
    "arm": word_set("elbow wrist hand shoulder"),
    "chest": word_set("breast back"),
    "abdomen": word_set("groin back"),
    "head": word_set("eye ear jaw neck throat tooth"),
    "hip": word_set("groin thigh"),
    "neck": word_set("throat back shoulder"),
    "back": word_set("hip shoulder"),
    "jaw": word_set("tooth ear"),
    "foot": word_set("ankle"),
    "hand": word_set("wrist"),
}
#: Other words that exclude each other, one table for each matter.
MATTERS: Mapping[str, Mapping[str, str]] = {
    "course": _values(
        worse="worse worsening worsens worsened worst aggravated aggravates exacerbated"
        " exacerbates deteriorating progressive aggravating exacerbating intensifying triggers"
        " triggered provoked provokes precipitated precipitates",
        better="better improving improved improves improvement relieved relieves alleviated"
        " alleviates eased eases easing resolved settling settles milder lessening quietens"
        " calms soothes soothed relieving alleviating relief",
    ),
    "onset": _values(
        sudden="sudden suddenly abrupt abruptly instant instantly",
        gradual="gradual gradually insidious insidiously slowly creeping crept",
    ),
    "pattern": _values(
        constant="constant constantly continuous continuously nonstop unremitting unrelenting",
        intermittent="intermittent intermittently episodic sporadic",
    ),
    "cough": _values(
        productive="productive phlegmy chesty", dry="dry nonproductive unproductive"
    ),
    "weight": _values(
        gain="gain gained gaining heavier",
        loss="loss lost losing lighter dropped shed reduction",
        stable="stable steady",
    ),
    "marriage": _values(
        married="married", divorced="divorced separated", widowed="widowed widow widower",
        single="unmarried",
    ),
    "work": _values(
        retired="retired", unemployed="unemployed jobless", employed="employed works"
    ),
    "how long": _values(acute="acute", chronic="chronic longstanding chronically"),
    "rhythm": _values(regular="regular clockwork", irregular="irregular irregularly erratic"),
    "level": _values(high="high", low="low"),
    "time of day": _values(morning="morning mornings", evening="evening evenings"),
    "warmth": _values(heat="heat hot", cold="cold"),
    "pain": _values(
        painless="painless painlessly",
        painful="painful sore tender tenderness hurts hurting aching achy ache pain",
    ),
    "stiffness": _values(stiff="stiff stiffness rigid rigidity", supple="supple"),
    "amount": _values(
        more="increased increase increasing more greater",
        less="decreased decrease decreasing less reduced diminished fewer",
    ),
    "kind of attack": _values(
        paroxysmal="paroxysmal", persistent="persistent permanent"
    ),
    "effect": _values(
        helped="helps helped helpful effective",
        failed="failed unhelpful ineffective useless refractory unresponsive",
    ),
    "hope": _values(hopeful="hopeful", hopeless="hopeless hopelessness"),
    "antibody": _values(igg="igg", iga="iga", igm="igm", ige="ige"),
    "infarction": _values(stemi="stemi", nstemi="nstemi"),
    "occurrence": _values(first="first 1st initial", recurrent="recurrent recurring relapsing"),
    "feeding": _values(breast="breastfed breastfeeding breastfeeds", formula="formula"),
    "nearness": _values(proximal="proximal", distal="distal"),
    "front and back": _values(front="anterior", back="posterior"),
    "middle": _values(medial="medial", lateral="lateral"),
    "state of matter": _values(solid="solid solids", liquid="liquid liquids"),
    "part of head": _values(
        front="frontal forehead front", back="occipital occiput", side="temporal temple temples"
    ),
    "gender": _values(
        male="male man gentleman boy m", female="female woman lady girl f"
    ),
    "severity": _values(
        mild="mild mildly slight slightly", moderate="moderate moderately",
        severe="severe severely excruciating",
    ),
    "beat of the heart": _values(systolic="systolic sem esm psm", diastolic="diastolic edm"),
    "stroke": _values(
        ischaemic="ischemic ischaemic", haemorrhagic="hemorrhagic haemorrhagic"
    ),
    "effusion": _values(
        exudate="exudate exudative", transudate="transudate transudative"
    ),
    "stoma": _values(ileostomy="ileostomy", colostomy="colostomy", urostomy="urostomy"),
    "catheter": _values(suprapubic="suprapubic", urethral="urethral"),
    "vessels": _values(venous="venous", arterial="arterial"),
    "ear": _values(middle="media", outer="externa"),
    "growth": _values(benign="benign", malignant="malignant malignancy"),
    "bowel disease": _values(crohns="crohn crohns", colitis="ulcerative"),
    "delivery": _values(
        vaginal="vaginal vaginally svd nvd", section="cesarean caesarean lscs section"
    ),
    "thyroid": _values(
        over="hyperthyroidism hyperthyroid thyrotoxicosis thyrotoxic graves",
        under="hypothyroidism hypothyroid myxedema myxoedema",
    ),
    "pressure": _values(
        high="hypertension hypertensive htn", low="hypotension hypotensive"
    ),
    "potassium": _values(
        high="hyperkalemia hyperkalaemia hyperkalemic", low="hypokalemia hypokalaemia hypokalemic"
    ),
    "sugar": _values(
        high="hyperglycemia hyperglycaemia hyperglycemic hyperglycaemic",
        low="hypoglycemia hypoglycaemia hypoglycemic hypoglycaemic hypos",
    ),
    "way in": _values(
        oral="oral orally", iv="iv intravenous intravenously", im="im intramuscular",
        sc="subcut subcutaneous subcutaneously", spinal="intrathecal", inhaled="inhaled",
        topical="topical", rectal="rectal rectally", nasal="intranasal",
    ),
    "origin": _values(primary="primary", secondary="secondary"),
    "urgency": _values(elective="elective", emergency="emergency emergent"),
    "openness": _values(open="open", closed="closed"),
    "extent": _values(partial="partial", full="full complete"),
    "symmetry": _values(
        symmetrical="symmetric symmetrical symmetrically", asymmetrical="asymmetric asymmetrical"
    ),
    "number of sides": _values(one="unilateral unilaterally", both="bilateral bilaterally bilat"),
    "births": _values(
        none="nulliparous primigravida primiparous primipara", several="multiparous multigravida"
    ),
    "sputum": _values(
        purulent="purulent green greenish yellow yellowish pus",
        clear="clear white whitish mucoid frothy watery",
    ),
    "ulcer": _values(duodenal="duodenal duodenum", gastric="gastric"),
    "hernia": _values(
        sliding="sliding", beside="paraesophageal paraoesophageal", inguinal="inguinal",
        umbilical="umbilical paraumbilical", femoral="femoral", incisional="incisional",
    ),
    "arthritis": _values(
        rheumatoid="rheumatoid", psoriatic="psoriatic", septic="septic", reactive="reactive",
        gouty="gouty", idiopathic="idiopathic jia",
    ),
    "squint": _values(inwards="esotropia", outwards="exotropia"),
    "vasculitis": _values(granulomatous="granulomatosis gpa", microscopic="microscopic mpa"),
    "sickle cell": _values(ss="ss hbss", sc="sc hbsc", trait="trait hbas"),
    "salt": _values(succinate="succinate", tartrate="tartrate"),
    "cause": _values(provoked="provoked", unprovoked="unprovoked"),
    "stool": _values(black="black tarry", brown="brown", pale="pale clay"),
    "life": _values(
        dead="died dead deceased", alive="alive living survived survives"
    ),
}  # fmt: skip
#: Who is who among relatives and others.
PERSONS = _values(
    mother="mother mothers mom moms mum mums mommy mama ma mam",
    father="father fathers dad dads daddy papa",
    brother="brother brothers bro bros",
    sister="sister sisters sis",
    sibling="sibling siblings sibs twin",
    son="son sons",
    daughter="daughter daughters dtr",
    child="child children kid kids",
    aunt="aunt aunts auntie",
    uncle="uncle uncles",
    cousin="cousin cousins",
    niece="niece nieces",
    nephew="nephew nephews",
    grandmother="grandmother grandmothers grandma gran granny nan nana mgm pgm",
    grandfather="grandfather grandfathers grandpa granddad grandad mgf pgf",
    grandparent="grandparent grandparents",
    parent="parent parents",
    wife="wife wifes",
    husband="husband husbands",
    partner="partner partners spouse boyfriend girlfriend fiance fiancee",
    friend="friend friends",
    colleague="coworker coworkers colleague colleagues boss",
    neighbour="neighbor neighbors neighbour neighbours",
    roommate="roommate roommates flatmate flatmates housemate classmate classmates teammate",
)
#: Matters of which another value settles that a feature is not stated, with the words of which a
#: feature must have one where the matter's own may be about something else.
SURE_MATTERS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(
        (
            "onset", "pattern", "cough", "marriage", "work", "how long", "stiffness", "effect",
            "kind of attack", "antibody", "infarction", "nearness", "front and back", "middle",
            "part of head", "severity", "beat of the heart", "stroke",
            "effusion", "stoma", "catheter", "ear", "growth", "bowel disease", "thyroid",
            "pressure", "potassium", "sugar", "way in", "origin", "urgency", "openness", "extent",
            "symmetry", "number of sides", "births", "squint", "vasculitis", "salt",
        ),
        frozenset[str](),
    ),
    "vessels": word_set("ulcer ulcers"),
    "ulcer": word_set("ulcer ulcers"),
    "hernia": word_set("hernia hernias"),
    "arthritis": word_set("arthritis"),
    "sickle cell": word_set("sickle hbss hbsc"),
    "cause": word_set("dvt pe thrombosis embolism clot vte"),
    "delivery": word_set("delivery deliveries delivered birth births born"),
    "sputum": word_set("sputum phlegm discharge rhinorrhea rhinorrhoea mucus"),
    "stool": word_set("stool stools"),
    "life": frozenset(PERSONS),
}  # fmt: skip
_PERSON_PARTS = {
    "parent": word_set("mother father"),
    "sibling": word_set("brother sister"),
    "child": word_set("son daughter"),
    "grandparent": word_set("grandmother grandfather"),
    "partner": word_set("wife husband"),
}
#: Words for whose history is asked for: "Paternal history of gout".
WHOSE_HISTORY = {"maternal": "mother", "paternal": "father", "fraternal": "brother"}
_REFLEXES_ARE = word_set(
    "+ - = ↓ ↑ absent brisk diminished equal hyperactive intact nl normal present preserved reduced"
    " sluggish symmetric symmetrical trace wnl"
)
_UNCLE_OR_AUNT = {"brother": "uncle", "sister": "aunt", "mother": "grandmother",
                  "father": "grandfather"}  # fmt: skip

#: Words between a relative and the relative's relative.
AGES_OF_KIN = word_set("little younger older elder eldest oldest youngest big baby half late")
_YOUNG = {"boy": "son", "girl": "daughter"}
_BLOOD = word_set("mother father brother sister aunt uncle cousin niece nephew")


def names_person(form: str) -> bool:
    """Tell whether a word may name a person, of whom `kin_of_kin` may make another.

    >>> names_person("dad"), names_person("knee")
    (True, False)
    """
    return form in PERSONS or form in _YOUNG


def kin_of_kin(whose: str, who: str) -> str:
    """Return the relative that a relative's relative is, or an empty text.

    >>> kin_of_kin("dads", "brother"), kin_of_kin("dad", "brother")
    ('uncle', '')
    >>> kin_of_kin("brothers", "boy"), kin_of_kin("husbands", "sister")
    ('nephew', 'sister-in-law')
    """
    owner = PERSONS.get(whose.removesuffix("s"), "") if whose.endswith("s") else ""
    person = PERSONS.get(who, "") or _YOUNG.get(who, "")
    if owner in ("mother", "father"):
        return _UNCLE_OR_AUNT.get(person, "")
    if owner in ("brother", "sister", "sibling"):
        return {"son": "nephew", "daughter": "niece"}.get(person, "")
    if owner in ("aunt", "uncle"):
        return "cousin" if person in ("son", "daughter", "child") else ""
    in_law = owner in ("wife", "husband", "partner") and person in _BLOOD
    return f"{person}-in-law" if in_law else ""


def names_reflexes(form: str, *after: str) -> bool:
    """Tell whether "DTR" stands for the tendon reflexes rather than for a daughter.

    >>> names_reflexes("dtr", "3", "+"), names_reflexes("dtr", "has", "asthma")
    (True, False)
    """
    if form != "dtr" or not after:
        return False
    graded = after[0][:1] in tuple("01234") and (len(after[0]) == 1 or "/" in after[0])
    aged = len(after) > 1 and time_unit(after[1]) is not None
    return after[0] in _REFLEXES_ARE or (graded and not aged)


#: Words before "back" and after it with which it is no place of the body ("comes back").
_RETURNING = word_set(
    "come comes came coming go goes went going gone get gets got getting put puts bring brings"
    " brought is was are were been be right straight call calls called cut held hold holds take"
    " takes took feels fell fall falls flew way years months weeks days put then fully all not"
)
_BACK_AT = word_set("to home again work school when then from")


def sites_named(forms: Sequence[str]) -> frozenset[str]:
    """Return the places of the body that word forms name.

    >>> sorted(sites_named("pain in lower back comes back at the femoral neck".split()))
    ['back', 'hip']
    """
    found = set()
    for i, form in enumerate(forms):
        site = SITES.get(form)
        if site is None:
            continue
        before = forms[i - 1] if i else ""
        after = forms[i + 1] if i + 1 < len(forms) else ""
        if form == "head" and {"above", "over"} & set(forms[max(0, i - 2) : i]):
            continue
        if form == "back" and (before in _RETURNING or after in _BACK_AT):
            continue
        found.add("hip" if form == "neck" and before.startswith("femor") else site)
    return frozenset(found)


#: Words of a rubric that ask for any relative.
ANY_RELATIVE = word_set(
    "family familial hereditary relative relatives fh fhx kin household contact"
)
#: People who share no genes with the patient.
NOT_KIN = word_set("wife husband partner friend colleague neighbour roommate") | {
    f"{person}-in-law" for person in ("mother", "father", "brother", "sister", "son", "daughter")
}
#: Relatives beyond parents, siblings and children.
NOT_FIRST_DEGREE = NOT_KIN | word_set(
    "aunt uncle cousin niece nephew grandmother grandfather grandparent"
)


def fits(asked: Iterable[str], said: Iterable[str], parts: Mapping[str, frozenset[str]]) -> bool:
    """Tell whether something said is, has or is part of something asked for.

    >>> places_fit(["leg"], ["calf"]), places_fit(["knee"], ["hip"])
    (True, False)
    """
    own = list(said)
    return any(a == b or b in parts.get(a, ()) or a in parts.get(b, ()) for a in asked for b in own)


def places_fit(asked: Iterable[str], said: Iterable[str]) -> bool:
    """Tell whether places of the body overlap."""
    return fits(asked, said, _PARTS)


def persons_fit(asked: Iterable[str], said: Iterable[str]) -> bool:
    """Tell whether one of the people said is one of those asked for."""
    return fits(asked, said, _PERSON_PARTS)

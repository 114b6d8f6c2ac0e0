"""A feature's requirement, read once: each part of it when it is first asked for."""

from __future__ import annotations

from functools import cached_property, lru_cache

from rubricate.knowledge.tables import parts, pattern, words
from rubricate.reading.quantities import Quantity
from rubricate.reading.times import names_earlier_time
from rubricate.requirement.alternative import Alternative, read_alternative, read_wording
from rubricate.requirement.checklist import asked_topic, assessed_wording
from rubricate.requirement.diagnoses import WantedDiagnosis, asked_diagnoses, wanted_diagnoses
from rubricate.requirement.examinations import asked_examination
from rubricate.requirement.tests import AskedTests, read_tests
from rubricate.requirement.values import AskedValues, asked_values
from rubricate.rubric import Feature

_NAMING_GENDER = words("profile.of_gender") | {""}
_NAMING_AGE = words("profile.of_age")
MALE = words("profile.male")
FEMALE = words("profile.female")
_GENDERS = {"male": MALE, "female": FEMALE, "man": MALE, "woman": FEMALE, "boy": MALE,
            "girl": FEMALE}  # fmt: skip
#: An age has at most so many words: "58 year old".
_LONGEST_AGE = 4
_STARTS = pattern("planned.asks")
_BESIDE_DRUGS = words("planned.beside")
_WHEN_TO_RETURN = pattern("planned.when_to_return")
_NOW = pattern("beside.asks_for_now")
_ORDER = pattern("beside.asks_for_order")
_CONDITION = pattern("beside.condition")
_NEGATIVE = pattern("beside.negative")
_UNDER = pattern("beside.under")
_TOO_MUCH = pattern("beside.too_much")
_RECENT = pattern("beside.recent")
_BEFORE_AGE = pattern("beside.before_age")
#: Times of life that features name, and the ages that contradict them.
_TIMES_OF_LIFE = tuple(
    (pattern(f"beside.{time}"), int(low), int(high))
    for time, (low, high) in parts("beside.other_ages").items()
)


class Requirement:
    """A feature's requirement, by its wording; every part is read once.

    >>> asked = Requirement("No palpitations OR no syncope")
    >>> [(one.roots, one.negated) for one in asked.alternatives]
    [(('palpit',), True), (('syncop',), True)]
    >>> Requirement("58 year").kind, Requirement("Male").kind, asked.kind
    ('age', 'gender', '')
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._values: dict[float | None, tuple[tuple[AskedValues, ...], ...]] = {}

    @cached_property
    def wordings(self) -> tuple[str, ...]:
        """The wordings that ``OR`` separates."""
        return tuple(Feature("", "", self.text).wordings)

    @cached_property
    def alternatives(self) -> tuple[Alternative, ...]:
        """The requirement of each wording."""
        return tuple(read_alternative(one) for one in self.wordings)

    @cached_property
    def roots(self) -> frozenset[str]:
        """The roots of the words of all wordings."""
        return frozenset(root for one in self.alternatives for root in one.roots)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The numbers of all wordings, as they stand there."""
        return tuple(q for one in self.alternatives for q in one.wording.quantities)

    @cached_property
    def negated(self) -> bool:
        """True if one of the wordings asks for a denial."""
        return any(one.negated for one in self.alternatives)

    @cached_property
    def about_advice(self) -> bool:
        """True if one of the wordings is itself about advice, fears and the like."""
        return any(one.about_advice for one in self.alternatives)

    @cached_property
    def genders(self) -> frozenset[str]:
        """The words for the gender that it asks for and nothing else; empty if it does not."""
        named, _, rest = self.text.strip().lower().partition(" ")
        return _GENDERS.get(named, frozenset()) if rest in _NAMING_GENDER else frozenset()

    @cached_property
    def kind(self) -> str:
        """``"age"`` or ``"gender"`` where it asks for nothing else, else empty."""
        if self.genders:
            return "gender"
        wording = read_wording(self.text)
        found = wording.quantities
        whole = [token for token in wording.tokens if token.form not in _NAMING_AGE]
        if len(found) != 1 or found[0].kind != "age" or len(whole) > _LONGEST_AGE:
            return ""
        covered = [t for t in whole if found[0].span.start <= t.start < found[0].span.end]
        return "age" if len(covered) == len(whole) else ""

    @cached_property
    def topic(self) -> str | None:
        """The topic that is to have been asked about; None where an answer is wanted."""
        return asked_topic(self.text)

    @cached_property
    def examination(self) -> str | None:
        """The examination that is to have been done."""
        return asked_examination(self.text)

    @cached_property
    def tests(self) -> AskedTests:
        """The tests that it asks for, and for nothing else."""
        return read_tests(self.text, self.wordings)

    @cached_property
    def started_drugs(self) -> tuple[Alternative, ...]:
        """Its wordings where each wants a drug to be begun, and nothing else."""
        wanted = self.alternatives if _STARTS.search(self.text) else ()
        for one in wanted:
            names = {word for name in one.drug_names for word in name.split()}
            beside = (form for form in one.forms if form.isalpha() and form not in _BESIDE_DRUGS)
            plain = all(form in names or form.removesuffix("s") in names for form in beside)
            if one.negated or len(one.drugs) != 1 or not plain:
                return ()
        return wanted

    @cached_property
    def wants_return_advice(self) -> bool:
        """True if it wants the patient to have been told when to come back.

        >>> Requirement("Return precautions given").wants_return_advice
        True
        >>> Requirement("Returned to work").wants_return_advice
        False
        """
        return _WHEN_TO_RETURN.fullmatch(self.text) is not None

    @cached_property
    def diagnoses(self) -> tuple[frozenset[str], ...]:
        """The diagnoses that it asks for, and for nothing else."""
        return asked_diagnoses(self.text)

    @cached_property
    def assessed(self) -> tuple[str, str]:
        """The thought it wants of the writer, and the diagnoses it wants there."""
        return assessed_wording(self.text)

    @cached_property
    def wanted_diagnoses(self) -> tuple[WantedDiagnosis, ...]:
        """The diagnoses that it wants in the assessment.

        >>> Requirement("Pneumonia").wanted_diagnoses
        ()
        """
        return wanted_diagnoses(self.assessed[1])

    def values(self, years: float | None = None) -> tuple[tuple[AskedValues, ...], ...]:
        """Return the measured values that each wording asks for, at a child's age."""
        if years not in self._values:
            self._values[years] = tuple(asked_values(one, years) for one in self.wordings)
        return self._values[years]

    @cached_property
    def wants_now(self) -> bool:
        """True if it asks for what is ordered, begun, advised or thought at this visit.

        >>> Requirement("Orders chest X-ray").wants_now, Requirement("Old chest X-ray").wants_now
        (True, False)
        """
        return _NOW.search(self.text) is not None and not names_earlier_time(self.text)

    @cached_property
    def wants_order(self) -> bool:
        """True if it asks for what is ordered without a condition."""
        return _ORDER.search(self.text) is not None and _CONDITION.search(self.text) is None

    @cached_property
    def says_negative(self) -> bool:
        """True if its wording has a word for what is not there."""
        return _NEGATIVE.search(self.text) is not None

    @cached_property
    def says_condition(self) -> bool:
        """True if its wording has a word for a condition."""
        return _UNDER.search(self.text) is not None

    @cached_property
    def says_too_much(self) -> bool:
        """True if its wording has a word for too much, as of alcohol."""
        return _TOO_MUCH.search(self.text) is not None

    @cached_property
    def says_recent(self) -> bool:
        """True if its wording has a word for a short time ago."""
        return _RECENT.search(self.text) is not None

    @cached_property
    def other_ages(self) -> tuple[tuple[int, int], ...]:
        """The ages that contradict the time of life or the limit it names."""
        times = [(low, high) for time, low, high in _TIMES_OF_LIFE if time.search(self.text)]
        limits = [int(age) for age in _BEFORE_AGE.findall(self.text)]
        return (*times, (limits[0] + 1, 99)) if len(limits) == 1 else tuple(times)


@lru_cache(maxsize=4096)
def read_requirement(feature: str) -> Requirement:
    """Read what a feature asks for; one reading for all who ask for the same wording.

    >>> read_requirement("Fever") is read_requirement("Fever")
    True
    """
    return Requirement(feature)

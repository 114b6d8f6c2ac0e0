"""From logits to stretches of text: runs of tokens, trimmed as the guidelines say."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rubricate.matchers.wording.profile import NEGATING, STOP_WORDS, FeatureProfile
from rubricate.matchers.wording.reading import MARK, NoteReading
from rubricate.text.quantities import same_quantity
from rubricate.text.subject import Context, find_contexts
from rubricate.text.words import word_set

#: Up to so many tokens between two runs are taken in when their logits are not far below the cut.
GAP = 2
SLACK = 0.7
_NOT_FIRST = word_set("a an the his her their my pt patient he she they and or , . ; : / ) - nor")
_NOT_LAST = word_set(", . ; : / ( - and or & the a an his her")
#: Marks that may begin an annotation: signs for "has" and "has not".
_SIGNS = word_set("+ (")
#: Words that deny without being a cue by themselves.
DENYING = NEGATING | word_set(
    "neg clear normal ok okay fine unremarkable intact good well free stopped quit except unable"
    " cannot cant isnt arent wasnt didnt doesnt dont hasnt havent hadnt wont unaffected nothing"
)
#: Most tokens between two fragments of one annotation.
FRAGMENT_GAP = 6


class Run(NamedTuple):
    """Tokens ``first`` to ``end`` (half-open) that express a feature."""

    first: int
    end: int


def find_runs(
    logits: npt.NDArray[Any], cuts: npt.NDArray[Any], reading: NoteReading
) -> list[list[Run]]:
    """Return for each feature the runs of tokens above its cut, gaps closed and ends trimmed."""
    over = logits > cuts
    runs: list[list[Run]] = [[] for _ in range(logits.shape[1])]
    for j in np.flatnonzero(over.any(axis=0)).tolist():
        tokens = np.flatnonzero(over[:, j]).tolist()
        first = last = tokens[0]
        raw: list[Run] = []
        for t in [*tokens[1:], None]:
            if t is not None and (
                t == last + 1 or _closes(logits[:, j], cuts[j], last, t, reading)
            ):
                last = t
                continue
            raw.append(Run(first, last + 1))
            if t is not None:
                first = last = t
        for run in raw:
            trimmed = trim_run(run, reading)
            if trimmed is not None:
                runs[j].append(trimmed)
    return runs


def _closes(
    logits: npt.NDArray[Any], cut: float, last: int, following: int, reading: NoteReading
) -> bool:
    between = following - last - 1
    if between > GAP or reading.clause[last] != reading.clause[following]:
        return False
    return bool(logits[last + 1 : following].min() > cut - SLACK)


def trim_run(run: Run, reading: NoteReading) -> Run | None:
    """Cut articles, references to the patient and punctuation off; None when nothing is left.

    Examples
    --------
    >>> from rubricate.matchers.wording.reading import read_note
    >>> reading = read_note("The chest pain, and")
    >>> trim_run(Run(0, 5), reading)
    Run(first=1, end=3)
    """
    first, end = run
    tokens = reading.tokens
    while first < end and tokens[first].form in _NOT_FIRST and reading.cue[first] < 0:
        first += 1
    while end > first and tokens[end - 1].form in _NOT_LAST and reading.cue[end - 1] < 0:
        end -= 1
    return Run(first, end) if first < end else None


def says_something(run: Run, reading: NoteReading) -> bool:
    """Tell whether a run has a word that carries meaning."""
    return any(
        token.kind != "mark" and token.form not in STOP_WORDS
        for token in reading.tokens[run.first : run.end]
    )


def is_cue(run: Run, reading: NoteReading) -> bool:
    """Tell whether a run is nothing but a negation cue."""
    return bool((reading.cue[run.first : run.end] >= 0).all())


def breaks_a_rule(
    run: Run, profile: FeatureProfile, reading: NoteReading, stems: Sequence[str]
) -> str:
    """Return the rule a run breaks, or an empty text.

    ``"denied"``: it is denied and the feature does not ask for a denial; ``"not denied"``: it
    names what the feature says is absent, and no denial is near; ``"wrong number"``: it holds a
    number of the kind asked for with another value; ``"of a relative"``: it names what the feature
    says of the patient, in a clause about a relative.
    """
    inside = slice(run.first, run.end)
    asked = [q for one in profile.alternatives for q in one.quantities]
    if asked:
        held = {int(i) for i in reading.quantity[inside] if i >= 0}
        kinds = {q.kind for q in asked}
        same_kind = [reading.quantities[i] for i in held if reading.quantities[i].kind in kinds]
        if same_kind and not any(same_quantity(q, own) for q in asked for own in same_kind):
            return "wrong number"
    if profile.kind:
        return ""
    named = {word for one in profile.alternatives for word in one.words} & set(stems[inside])
    negated = [one.negated for one in profile.alternatives]
    # "No period in 7 weeks" is how the last one 7 weeks ago is told.
    if not any(negated) and not right_numbers(run, profile, reading):
        if _denied(run, reading, named):
            return "denied"
    elif named and all(negated) and _affirmed(run, reading):
        return "not denied"
    about_family = any(one.family for one in profile.alternatives)
    if named and not about_family and _of_relative(run, reading):
        return "of a relative"
    return ""


@lru_cache(maxsize=16)
def scopes_of(text: str, kind: str) -> list[tuple[int, int, str]]:
    """Return where a note speaks of the ``"past"`` or the ``"family"``, with the words that say so.

    Examples
    --------
    >>> scopes_of("Father had MI; h/o asthma", "family")
    [(7, 13, 'father')]
    """
    return [
        (one.scope_span.start, one.scope_span.end, one.cue_span.text(text).lower())
        for one in _contexts(text)
        if one.kind == kind
    ]


@lru_cache(maxsize=16)
def _contexts(text: str) -> list[Context]:
    return find_contexts(text)


def _denied(run: Run, reading: NoteReading, named: Collection[str]) -> bool:
    """Tell whether a run is denied: all of it, or what it names beside the words that deny it.

    With the cue in it, a run that does not name the rubric's own words may be what a feature asks
    for without saying so: "no fever" for "Afebrile".
    """
    own = [
        t
        for t in range(run.first, run.end)
        if reading.cue[t] < 0
        and reading.tokens[t].form not in STOP_WORDS
        and reading.kind[t] != MARK
    ]
    if not own or (len(own) < run.end - run.first and not named):
        own = list(range(run.first, run.end))
    scopes = [int(reading.scope[t]) for t in own]
    return min(scopes) >= 0 and reading.negations[scopes[0]].kind == "negation"


def _affirmed(run: Run, reading: NoteReading) -> bool:
    """Tell whether no negation, cue or word that denies is in the run or its clause."""
    clause = reading.clause == reading.clause[run.first]
    clause[run.first : run.end] |= reading.scope[run.first : run.end] >= 0
    if (reading.cue[clause] >= 0).any() or (reading.scope[clause] >= 0).any():
        return False
    return not any(reading.tokens[t].form in DENYING for t in np.flatnonzero(clause).tolist())


def _of_relative(run: Run, reading: NoteReading) -> bool:
    """Tell whether a run begins where the note speaks of what a relative has."""
    # Most notes name no relative near it, and finding the scopes takes time.
    if not reading.family[run.first : run.end].any():
        return False
    first = reading.tokens[run.first].start
    return any(start <= first < end for start, end, _ in scopes_of(reading.text, "family"))


def right_numbers(run: Run, profile: FeatureProfile, reading: NoteReading) -> list[int]:
    """Return the quantities in a run that agree with one the feature asks for."""
    asked = [q for one in profile.alternatives for q in one.quantities]
    if not asked:
        return []
    held = sorted({int(i) for i in reading.quantity[run.first : run.end] if i >= 0})
    return [i for i in held if any(same_quantity(q, reading.quantities[i]) for q in asked)]


def whole_numbers(run: Run, profile: FeatureProfile, reading: NoteReading) -> Run:
    """Stretch a run over the whole of the numbers it was found by: not "21" but "21 days"."""
    first, end = run
    if not profile.kind:
        for i in right_numbers(run, profile, reading):
            own = np.flatnonzero(reading.quantity == i)
            first, end = min(first, int(own[0])), max(end, int(own[-1]) + 1)
    return Run(first, end)


def group_runs(
    runs: list[Run], profile: FeatureProfile, reading: NoteReading
) -> list[tuple[Run, ...]]:
    """Return the runs of one feature as annotations: fragments that belong together.

    A shared negation belongs to each item it denies. Age and gender are marked once.
    """
    if profile.kind:
        return [(runs[0],)] if runs else []
    cues = [run for run in runs if is_cue(run, reading)]
    items = [run for run in runs if not is_cue(run, reading) and says_something(run, reading)]
    grouped: list[tuple[Run, ...]] = []
    single = len(profile.alternatives) == 1
    for run in items:
        before = grouped[-1][-1] if grouped else None
        if (
            single
            and before is not None
            and run.first - before.end <= FRAGMENT_GAP
            and reading.clause[before.first] == reading.clause[run.first]
        ):
            grouped[-1] = (*grouped[-1], run)
        else:
            grouped.append((run,))
    return [tuple(sorted({*_own_cues(group, cues, reading), *group})) for group in grouped]


def _own_cues(group: tuple[Run, ...], cues: list[Run], reading: NoteReading) -> list[Run]:
    scopes = {int(reading.scope[t]) for run in group for t in range(run.first, run.end)}
    return [
        cue for cue in cues if {int(i) for i in reading.cue[cue.first : cue.end]} & (scopes - {-1})
    ]

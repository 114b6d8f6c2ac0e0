"""From logits to stretches of text: runs of tokens, trimmed as the guidelines say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rubricate.matchers.wording.profile import NEGATING, STOP_WORDS, FeatureProfile
from rubricate.matchers.wording.reading import NoteReading
from rubricate.text.quantities import same_quantity
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
    number of the kind asked for with another value.
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
    scope = reading.scope[inside]
    if not any(one.negated for one in profile.alternatives):
        if (scope >= 0).all() and reading.negations[int(scope[0])].kind == "negation":
            return "denied"
    elif all(one.negated for one in profile.alternatives) and (scope < 0).all():
        named = {word for one in profile.alternatives for word in one.words}
        if named & set(stems[inside]) and not _denial_near(run, reading):
            return "not denied"
    return ""


def _denial_near(run: Run, reading: NoteReading) -> bool:
    """Tell whether the run's clause holds a negation cue or a word that denies."""
    clause = reading.clause == reading.clause[run.first]
    if (reading.cue[clause] >= 0).any() or (reading.scope[clause] >= 0).any():
        return True
    return any(reading.tokens[t].form in DENYING for t in np.flatnonzero(clause).tolist())


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

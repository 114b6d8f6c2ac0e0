"""From logits to stretches of text: runs of tokens, trimmed as the guidelines say."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rubricate.knowledge.tables import words
from rubricate.matchers.wording.reading import NoteColumns
from rubricate.reading.note import NoteReading, read_note
from rubricate.reading.quantities import compare_quantities
from rubricate.requirement.alternative import NEGATING, STOP_WORDS
from rubricate.requirement.requirement import Requirement

#: Two runs are joined if at most `GAP` tokens lie between them, with logits at most `SLACK` below
#: the cut.
GAP = 2
SLACK = 0.7
_NOT_FIRST = words("runs.not_first")
_NOT_LAST = words("runs.not_last")
DENYING = NEGATING | words("runs.denying")
RAISED = words("runs.raised")
#: So many tokens around a run are looked at for words that deny it.
FAR = 100
#: At most this many tokens lie between two fragments of one annotation.
FRAGMENT_GAP = 6


class TokenRun(NamedTuple):
    """Tokens ``first`` to ``end`` (half-open) that express a feature."""

    first: int
    end: int


def find_runs(
    logits: npt.NDArray[Any], cuts: npt.NDArray[Any], reading: NoteColumns
) -> list[list[TokenRun]]:
    """Return for each feature the runs of tokens above its cut, gaps closed and ends trimmed."""
    # Feature by feature, each with its tokens in order.
    features, places = np.nonzero((logits > cuts).T)
    above: dict[int, list[int]] = {}
    for j, place in zip(features.tolist(), places.tolist(), strict=True):
        above.setdefault(j, []).append(place)
    runs: list[list[TokenRun]] = [[] for _ in range(logits.shape[1])]
    for j, tokens in above.items():
        first = last = tokens[0]
        raw: list[TokenRun] = []
        for t in [*tokens[1:], None]:
            if t is not None and (
                t == last + 1 or _closes(logits[:, j], cuts[j], last, t, reading)
            ):
                last = t
                continue
            raw.append(TokenRun(first, last + 1))
            if t is not None:
                first = last = t
        for run in raw:
            trimmed = trim_run(run, reading)
            if trimmed is not None:
                runs[j].append(trimmed)
    return runs


def _closes(
    logits: npt.NDArray[Any], cut: float, last: int, following: int, reading: NoteColumns
) -> bool:
    between = following - last - 1
    if between > GAP or reading.clause[last] != reading.clause[following]:
        return False
    return bool(logits[last + 1 : following].min() > cut - SLACK)


def trim_run(run: TokenRun, reading: NoteColumns) -> TokenRun | None:
    """Cut articles, references to the patient and punctuation off; None when nothing is left.

    >>> from rubricate.matchers.wording.reading import read_columns
    >>> reading = read_columns("The chest pain, and")
    >>> trim_run(TokenRun(0, 5), reading)
    TokenRun(first=1, end=3)
    """
    first, end = run
    tokens = reading.tokens
    while first < end:
        form = tokens[first].form
        # A sign belongs to the words before it: the plus of "guarding +, rigidity -".
        after = tokens[first + 1].form if first + 1 < len(tokens) else ""
        of_before = form in ("+", "-") and after in (",", ";", "/", ".")
        if not of_before and not (form in _NOT_FIRST and reading.cue[first] < 0):
            break
        first += 1
    while end > first and tokens[end - 1].form in _NOT_LAST and reading.cue[end - 1] < 0:
        end -= 1
    return TokenRun(first, end) if first < end else None


def is_cue(run: TokenRun, reading: NoteColumns) -> bool:
    """Tell whether a run is a negation cue and nothing else."""
    return min(reading.cue[run.first : run.end].tolist(), default=0) >= 0


def breaks_a_rule(
    run: TokenRun, profile: Requirement, reading: NoteColumns, stems: Sequence[str]
) -> str:
    """Return the rule a run breaks, or an empty text.

    ``"denied"``: it is denied and the feature does not ask for a denial; ``"not denied"``: it
    names what the feature says is absent, or stands beside it, or says that something is raised
    ("high temp" of "No fever"), and no denial is near; ``"wrong number"``: it holds a
    number of the kind asked for with another value; ``"of a relative"``: it names what the feature
    says of the patient, in a clause about a relative.
    """
    inside = slice(run.first, run.end)
    asked = profile.quantities
    if asked:
        held = {i for i in reading.quantity[inside].tolist() if i >= 0}
        right, wrong = compare_quantities(asked, ((i, reading.quantities[i]) for i in held))
        if wrong and not right:
            return "wrong number"
    if profile.kind:
        return ""
    named = profile.roots.intersection(stems[inside])
    negated = [one.asks_denial for one in profile.alternatives]
    # "No period in 7 weeks" says that the last one was 7 weeks ago.
    if not any(negated) and not right_numbers(run, profile, reading):
        if _denied(run, reading, named):
            return "denied"
    elif all(negated) and _affirmed(run, reading):
        if named or _named_beside(run, profile, reading, stems):
            return "not denied"
        if any(token.form in RAISED for token in reading.tokens[inside]):
            return "not denied"
    about_family = any(one.family for one in profile.alternatives)
    # Most notes name no relative near it, and finding the scopes takes time.
    near = named and not about_family and any(reading.family[inside].tolist())
    if near and scopes_at(read_note(reading.text), "family", reading.tokens[run.first].start):
        return "of a relative"
    return ""


def _scopes_of(note: NoteReading, kind: str) -> tuple[list[tuple[int, int, str]], list[int], int]:
    """Return the scopes of a kind with the words that say so, their starts, and the longest."""
    scopes = sorted(
        (one.scope_span.start, one.scope_span.end, one.cue_span.text(note.text).lower())
        for one in note.contexts
        if one.kind == kind
    )
    return scopes, [start for start, _, _ in scopes], max((e - s for s, e, _ in scopes), default=0)


def scopes_at(note: NoteReading, kind: str, offset: int) -> list[str]:
    """Return the words that open a scope around an offset: of the ``"past"``, the ``"family"``.

    >>> scopes_at(read_note("Father had MI; h/o asthma"), "past", 20)
    ['h/o']
    """
    scopes, starts, longest = note.once(_scopes_of, kind)
    first = bisect_left(starts, offset - longest)
    return [
        cue for start, end, cue in scopes[first : bisect_right(starts, offset)]
        if start <= offset < end
    ]  # fmt: skip


def _denied(run: TokenRun, reading: NoteColumns, named: Collection[str]) -> bool:
    """Tell whether a run is denied: all of it, or all but the words that deny it.

    With the cue in it, a run that does not name the rubric's own words may be what a feature asks
    for without saying so: "no fever" for "Afebrile".
    """
    scopes = reading.scope[run.first : run.end].tolist()
    if max(scopes) < 0:
        return False
    cues = reading.cue[run.first : run.end].tolist()
    tokens = reading.tokens[run.first : run.end]
    own = [
        scope
        for scope, cue, token in zip(scopes, cues, tokens, strict=True)
        if cue < 0 and token.form not in STOP_WORDS and token.kind != "mark"
    ]
    if not own or (len(own) < len(scopes) and not named):
        own = scopes
    return bool(min(own) >= 0 and reading.negations[own[0]].kind == "negation")


def _affirmed(run: TokenRun, reading: NoteColumns) -> bool:
    """Tell whether no negation, cue or word that denies is in the run or its clause."""
    if (reading.scope[run.first : run.end] >= 0).any():
        return False
    clause = reading.clause
    first = int(np.searchsorted(clause, clause[run.first], "left"))
    end = int(np.searchsorted(clause, clause[run.first], "right"))
    # In a text without any punctuation the clause is the text.
    first, end = max(first, run.first - FAR), min(end, run.end + FAR)
    if (reading.cue[first:end] >= 0).any() or (reading.scope[first:end] >= 0).any():
        return False
    return not any(reading.tokens[t].form in DENYING for t in range(first, end))


def _named_beside(
    run: TokenRun, profile: Requirement, reading: NoteColumns, stems: Sequence[str]
) -> bool:
    """Tell whether a word of the feature stands next to the run in its clause: "High" fever."""
    return any(
        0 <= t < len(reading)
        and reading.clause[t] == reading.clause[run.first]
        and stems[t] in profile.roots
        for t in (run.first - 1, run.end)
    )


def right_numbers(run: TokenRun, profile: Requirement, reading: NoteColumns) -> list[int]:
    """Return the quantities in a run that agree with one the feature asks for."""
    asked = profile.quantities
    if not asked:
        return []
    held = sorted(i for i in set(reading.quantity[run.first : run.end].tolist()) if i >= 0)
    return compare_quantities(asked, ((i, reading.quantities[i]) for i in held))[0]


def whole_numbers(run: TokenRun, profile: Requirement, reading: NoteColumns) -> TokenRun:
    """Extend a run to the whole of the numbers that agree: not "21" but "21 days"."""
    first, end = run
    if not profile.kind:
        for i in right_numbers(run, profile, reading):
            while first > 0 and reading.quantity[first - 1] == i:
                first -= 1
            while end < len(reading) and reading.quantity[end] == i:
                end += 1
    return TokenRun(first, end)


def group_runs(
    runs: list[TokenRun], profile: Requirement, reading: NoteColumns
) -> list[tuple[TokenRun, ...]]:
    """Return the runs of one feature as annotations: fragments that belong together.

    A shared negation belongs to each item it denies. Age and gender are marked once.
    """
    if profile.kind:
        return [(runs[0],)] if runs else []
    # Cues by the number of their negation, and runs that have a word that carries meaning.
    cues, items = dict[int, list[TokenRun]](), list[TokenRun]()
    for run in runs:
        own = slice(run.first, run.end)
        if is_cue(run, reading):
            for number in set(reading.cue[own].tolist()):
                cues.setdefault(number, []).append(run)
        elif any(t.kind != "mark" and t.form not in STOP_WORDS for t in reading.tokens[own]):
            items.append(run)
    grouped: list[list[TokenRun]] = []
    single = len(profile.alternatives) == 1
    for run in items:
        before = grouped[-1][-1] if grouped else None
        if (
            single
            and before is not None
            and run.first - before.end <= FRAGMENT_GAP
            and reading.clause[before.first] == reading.clause[run.first]
        ):
            grouped[-1].append(run)
        else:
            grouped.append([run])
    found = []
    for group in grouped:
        scopes = {i for run in group for i in reading.scope[run.first : run.end].tolist()}
        denying = (cue for number in scopes & cues.keys() for cue in cues[number])
        found.append(tuple(sorted({*group, *denying})))
    return found

"""Choose the thresholds and the calibration of a network on notes that were in no training.

python choose.py MODEL --corpus FOLDER --pairs FOLDER --clinicians FOLDER [--outside FOLDER ...]
        [--write] [--only SETS] [--keep-votes]

It prints, for the best settings, both F1s of each set and the shares of stated and contradicted
items that are credited; ``--write`` keeps the settings in the model's folder. ``--only`` measures
other sets with the settings the model has. ``--outside`` adds the notes with even
numbers of others' folders, so that thresholds and calibration hold for a mixture of styles.
``--keep-votes`` leaves how much the lexicon's word
counts as it is: that can only be chosen with a lexicon that did not learn from these notes.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from note_sets import CONTRA, Note, Sources, load_all, mixed_only, read_outside

from rubricate.neural.encoder.decoding import (
    Opinion,
    Thresholds,
    Votes,
    decode_pieces,
    lexicon_votes,
    whole_words,
)
from rubricate.neural.encoder.model_folder import (
    SETTINGS_FILE,
    EncoderSettings,
    MemberReader,
    read_members,
)
from rubricate.rubric import Feature, Rubric
from rubricate.stats.calibration import Calibration, fit_calibration, raised

#: Sets that count alike in calibration, beside those of others.
CALIBRATED_ON = ("C_dev", "broad_dev", "N_dev", "P_dev", "S_dev", "M_dev")
#: Sets that settings are chosen on: by their F1s (those of others too), and by what is credited of
#: the stated and of the contradicted.
BY_F1 = ("C_dev", "broad_dev", "N_dev", "S_dev", "M_dev")
BY_CREDIT = ("N_dev", "L_dev", "P_dev", "W_dev", "S_dev", "M_dev")
INSIDE, EDGES, COST = (0.3, 0.4, 0.5, 0.6), (0.25, 0.5), (-1.0, 0.0, 1.0, 2.0)
VOTES, WORD_VOTES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5), (0.0, 1.0, 2.0, 3.0)
PRESENCE = (0.02, 0.03, 0.05, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6)


class Settled(NamedTuple):
    """The chosen values: thresholds, and the weight of the lexicon."""

    thresholds: Thresholds
    vote: float
    word_vote: float


class Row(NamedTuple):
    """A row's label and a network's outputs for it."""

    outcome: int
    spans: list[tuple[int, int]]
    presence: float
    contra: float
    vote: float


class Heard(NamedTuple):
    """A network's outputs for a note."""

    note: Note
    opinion: Opinion
    rows: list[Row]
    votes: Votes


def hear(reader: MemberReader, notes: list[Note]) -> list[Heard]:
    """Return the outputs of the network in a folder for notes, each with its own rubric."""
    out = []
    for note in notes:
        pieces, (said,) = reader.read([note["text"]], [r[0] for r in note["rows"]], None, None)
        inside, edges = (np.stack([getattr(s, k) for s in said]) for k in ("inside", "edges"))
        rubric = Rubric("", tuple(Feature(str(k), "", r[0]) for k, r in enumerate(note["rows"])))
        (votes,) = lexicon_votes(rubric, [note["text"]])
        rows = [
            Row(r[1], r[2], s.presence, s.contradiction, float(vote))
            for r, s, vote in zip(note["rows"], said, votes.presence, strict=True)
        ]
        out.append(Heard(note, Opinion(pieces[0], inside, 1.0, edges), rows, votes))
    return out


def covered(heard: list[Heard], at: Thresholds, word_vote: float) -> np.ndarray[Any, Any]:
    """Return for each row its shared, found and marked characters, were it present."""
    out = []
    for note, opinion, rows, votes in heard:
        inside = raised(opinion.inside, word_vote * votes.on_pieces(opinion.pieces))
        said = opinion._replace(inside=inside)
        for row, runs in zip(
            rows, decode_pieces(said, [1.0] * len(rows), [at] * len(rows)), strict=True
        ):
            found, marked = (np.zeros(len(note["text"]), bool) for _ in range(2))
            for run in whole_words(note["text"], runs):
                found[run.start : run.end] = True
            for start, end in row.spans:
                marked[start:end] = True
            out.append(((found & marked).sum(), found.sum(), marked.sum()))
    return np.array(out)


class Table(NamedTuple):
    """The rows of a set as columns."""

    presence: np.ndarray[Any, Any]
    vote: np.ndarray[Any, Any]
    there: np.ndarray[Any, Any]
    against: np.ndarray[Any, Any]
    told: np.ndarray[Any, Any]

    @classmethod
    def of(cls, heard: list[Heard]) -> Table:
        """Return the table of what was heard."""
        rows = [row for one in heard for row in one.rows]
        return cls(
            np.array([row.presence for row in rows]),
            np.array([row.vote for row in rows]),
            np.array([bool(row.spans) for row in rows]),
            np.array([row.outcome == CONTRA for row in rows]),
            np.array([row.contra for row in rows]) >= 0.5,
        )

    def voted(self, vote: float) -> np.ndarray[Any, Any]:
        """Return the probability of each row for this weight of the lexicon."""
        return raised(self.presence, vote * self.vote)


def figures(
    table: Table, counts: np.ndarray[Any, Any], presence: float, vote: float
) -> dict[str, float]:
    """Return both F1s and the shares of stated and of contradicted items that are credited."""
    hit, there, against = table.voted(vote) >= presence, table.there, table.against
    shared, found = (counts[:, k] * hit for k in (0, 1))
    out = {
        "characters": 2 * shared.sum() / (found.sum() + counts[:, 2].sum()),
        "presence": 2 * (hit & there).sum() / (hit.sum() + there.sum()),
        "stated": hit[there].mean(),
        "absent": hit[~there].mean(),
    }
    if against.any():
        out |= {"contradicted": hit[against].mean(), "told": (table.told & ~hit)[against].mean()}
    return {name: round(float(value), 3) for name, value in out.items()}


def candidates(
    heard: dict[str, list[Heard]], votes: tuple[Sequence[float], Sequence[float]]
) -> Iterator[tuple[float, Settled]]:
    """Yield thresholds with what they are worth on the sets to choose on."""
    tables = {name: Table.of(own) for name, own in heard.items()}
    for inside, edges, cost, words in itertools.product(INSIDE, EDGES, COST, votes[1]):
        at = Thresholds(inside=inside, edges=edges, cost=cost)
        counts = {name: covered(own, at, words) for name, own in heard.items()}
        for presence, vote in itertools.product(PRESENCE, votes[0]):
            worth = 0.0
            for name, table in tables.items():
                got = figures(table, counts[name], presence, vote)
                if name not in BY_CREDIT or name in BY_F1:
                    worth += got["characters"] + got["presence"]
                if name in BY_CREDIT:
                    worth += got["stated"] - got["contradicted"]
            yield worth, Settled(replace(at, presence=presence), vote, words)


def calibrated(tables: Sequence[Table], now: Settled) -> Calibration:
    """Return the calibration that fits sets of notes, each of which counts alike."""
    most = max(len(table.there) for table in tables)
    said = [np.resize(table.voted(now.vote), most) for table in tables]
    return fit_calibration(
        np.concatenate(said), np.concatenate([np.resize(table.there, most) for table in tables])
    )


def main() -> None:
    """Choose, print, and write where asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", type=Path)
    for name in ("corpus", "pairs", "clinicians"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--outside", type=Path, nargs="+", default=[])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--keep-votes", action="store_true")
    given = parser.parse_args()
    sets = mixed_only(load_all(Sources(given.corpus, given.pairs, given.clinicians)))
    outside = {path.name: read_outside(path, choosing=True) for path in given.outside}
    reader = MemberReader(read_members(given.model)[0])
    names = given.only or [*sorted({*BY_F1, *BY_CREDIT}), *outside]
    heard = {name: hear(reader, (sets | outside)[name]) for name in names}
    settings = EncoderSettings.read(given.model / SETTINGS_FILE)
    now = Settled(settings.thresholds, settings.vote, settings.word_vote)
    votes = ([now.vote], [now.word_vote]) if given.keep_votes else (VOTES, WORD_VOTES)
    for choose in (False,) if given.only else (False, True):
        if choose:
            worth, now = max(candidates(heard, votes), key=lambda one: one[0])
            print(round(worth, 4), end=" ")
        print(now)
        for name, own in heard.items():
            counts = covered(own, now.thresholds, now.word_vote)
            print(name, figures(Table.of(own), counts, now.thresholds.presence, now.vote))
    fitted = given.only or (*CALIBRATED_ON, *outside)
    calibration = calibrated([Table.of(heard[name]) for name in fitted], now)
    print(calibration)
    if given.write:
        new = replace(settings, **now._asdict(), calibration=calibration, contradiction=0.5)
        new.write(given.model / SETTINGS_FILE)


if __name__ == "__main__":
    main()

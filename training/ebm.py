"""Notes of EBM-NLP for the plan ``ebm``, and the figures of what it predicted.

python ebm.py write DATA NOTES.json
python ebm.py measure DATA NOTES.json TOKENIZER OUT/ebm0_mpnet OUT/ebm1_mpnet ...

Several networks count as one: the mean of their logits. Decoding is chosen for each kind of span
on every twelfth training note, which is not learned from.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from note_sets import ABSENT, STATED

from rubricate import Annotator, Corpus, CorpusBuilder, read_corpus
from rubricate.evaluation import Matching, evaluate
from rubricate.neural.encoder.decoding import Opinion, Thresholds, decode_pieces, whole_words
from rubricate.neural.encoder.pieces import PieceMaker
from rubricate.stats.calibration import logit, sigmoid

#: Of each note what was predicted: its id, chances of pieces, and of presence.
Heard = list[tuple[str, Opinion, list[float]]]
KINDS = ("exact", "one_side_boundary", "token_overlap")
INSIDE, PRESENCE = (0.2, 0.3, 0.4, 0.5), (0.05, 0.2, 0.5)
EDGES, COST = (0.25, 0.5, 0.75, 1.0), (-2.0, -1.0, 0.0, 1.0, 2.0, 3.0)


def spaces(text: str) -> list[tuple[int, int]]:
    """Return the tokens of the corpus, which its texts separate by white space."""
    return [match.span() for match in re.finditer(r"\S+", text)]


def plain(corpus: Corpus) -> list[dict[str, Any]]:
    """Return the notes as the training reads them."""
    who = corpus.annotators[0].id
    out = []
    for note in corpus.notes:
        rows = []
        for feature in corpus.rubric(note.case):
            found = corpus.annotations(note.id, feature.id, who) or ()
            spans = [(s.start, s.end) for one in found for s in one.spans]
            rows.append((feature.text, STATED if spans else ABSENT, spans, None))
        out.append({"id": note.id, "case": note.case, "text": note.text, "rows": rows})
    return out


def parts(data: Path) -> dict[str, Corpus]:
    """Return the three sets."""
    train, test = read_corpus(data / "train_960.txt"), read_corpus(data / "test.txt")
    ids = [note.id for note in train.notes]
    return {
        "ebm": train.select(notes=[i for k, i in enumerate(ids) if k % 12]),
        "ebm_dev": train.select(notes=ids[::12]),
        "ebm_test": test,
    }


def joined(stems: list[Path], name: str) -> dict[str, Any]:
    """Return the predictions of several networks as one: the mean of their logits."""
    said = [np.load(f"{stem}_{name}.npz") for stem in stems]
    chances = {
        part: sigmoid(np.mean([logit(own[part].astype(np.float64)) for own in said], axis=0))
        for part in ("inside", "presence", "edges")
    }
    return {"ids": said[0]["ids"], "sizes": said[0]["sizes"], **chances}


def heard(corpus: Corpus, said: dict[str, Any], maker: PieceMaker) -> Heard:
    """Return for each note what was predicted."""
    out = []
    at = row = edge = 0
    for i, (rows, pieces) in zip(said["ids"], said["sizes"], strict=True):
        size = rows * pieces
        inside = said["inside"][at : at + size].reshape(rows, pieces).astype(np.float32)
        edges = said["edges"][edge : edge + 2 * size].reshape(rows, pieces, 2).astype(np.float32)
        (cut,) = maker.cut([corpus.note(str(i)).text])
        out.append(
            (str(i), Opinion(cut, inside, 1.0, edges), said["presence"][row : row + rows].tolist())
        )
        at, row, edge = at + size, row + rows, edge + 2 * size
    return out


def decoded(corpus: Corpus, said: Heard, k: int, at: Thresholds) -> list[list[tuple[int, int]]]:
    """Return the spans of one kind in each note."""
    out = []
    for i, opinion, presence in said:
        own = Opinion(opinion.pieces, opinion.inside[[k]], 1.0, _rows(opinion.edges, k))
        (runs,) = decode_pieces(own, presence[k : k + 1], [at])
        out.append([(run.start, run.end) for run in whole_words(corpus.note(i).text, runs)])
    return out


def _rows(edges: Any, k: int) -> Any:
    return None if edges is None else edges[[k]]


def predicted(corpus: Corpus, said: Heard, spans: Sequence[list[list[tuple[int, int]]]]) -> Corpus:
    """Return the corpus with the spans of each kind that were found instead of those marked."""
    builder = CorpusBuilder()
    for rubric in corpus.rubrics:
        builder.add_rubric(rubric)
    builder.add_annotator(Annotator("network"))
    for n, (i, _, _) in enumerate(said):
        note = corpus.note(i)
        builder.add_note(note)
        builder.judge_all("network", i)
        for feature, own in zip(corpus.rubric(note.case), spans, strict=True):
            for span in own[n]:
                builder.annotate("network", i, feature.id, [span])
    return builder.build()


def figures(corpus: Corpus, found: Corpus) -> list[float]:
    """Return exact, one-side and overlap F1, the paper's protocol."""
    spans = evaluate(corpus, found, matching=Matching("paper", "token", spaces)).spans
    return [round(float(spans[kind].total().f1), 3) for kind in KINDS]


def main() -> None:
    """Write the notes, or choose and measure."""
    what, data, notes = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    sets = parts(data)
    if what == "write":
        texts = {name: plain(corpus) for name, corpus in sets.items()}
        notes.write_text(json.dumps(texts), encoding="utf-8")
        return
    maker = PieceMaker.from_file(Path(sys.argv[4]))
    stems = [Path(stem) for stem in sys.argv[5:]]
    said = {name: heard(sets[name], joined(stems, name), maker) for name in ("ebm_dev", "ebm_test")}
    best = choose(sets["ebm_dev"], said["ebm_dev"])
    print(*best, sep="\n")
    for name, own in said.items():
        spans = [decoded(sets[name], own, k, at) for k, at in enumerate(best)]
        print(name, figures(sets[name], predicted(sets[name], own, spans)))


def choose(corpus: Corpus, said: Heard) -> list[Thresholds]:
    """Return the best decoding for each kind of span: one kind after the other, twice."""
    tried = [
        Thresholds(inside=i, presence=p, edges=e, cost=c)
        for i, p, e, c in itertools.product(INSIDE, PRESENCE, EDGES, COST)
    ]
    kinds = range(len(said[0][2]))
    spans = [{at: decoded(corpus, said, k, at) for at in tried} for k in kinds]
    best = [tried[0] for _ in kinds]
    for k in (*kinds, *kinds):
        worth = {}
        for at in tried:
            now = [*best[:k], at, *best[k + 1 :]]
            found = predicted(corpus, said, [own[one] for own, one in zip(spans, now, strict=True)])
            worth[at] = sum(figures(corpus, found))
        best[k] = max(tried, key=worth.__getitem__)
    return best


if __name__ == "__main__":
    main()

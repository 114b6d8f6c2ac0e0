"""Notes of EBM-NLP for the plan ``ebm``, and the figures of what it predicted.

python ebm.py write DATA NOTES.json
python ebm.py measure DATA NOTES.json TOKENIZER ebm_mpnet_ebm_dev.npz ebm_mpnet_ebm_test.npz

Decoding is chosen on every twelfth training note, which is not learned from.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
from choose import COST, EDGES
from reading import ABSENT, STATED

from rubricate import Annotator, Corpus, CorpusBuilder, read_corpus
from rubricate.measures import Matching, evaluate
from rubricate.neural.encoder.annotations import whole_words
from rubricate.neural.encoder.decoding import Opinion, Thresholds, decode_pieces
from rubricate.neural.encoder.pieces import PieceMaker

#: Of each note what was predicted: its id, chances of pieces, and of presence.
Heard = list[tuple[str, Opinion, list[float]]]
KINDS = ("exact", "one_side_boundary", "token_overlap")
INSIDE, PRESENCE = (0.2, 0.3, 0.4, 0.5), (0.05, 0.2, 0.5)


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


def heard(corpus: Corpus, said: Any, maker: PieceMaker) -> Heard:
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


def predicted(
    corpus: Corpus, said: list[tuple[str, Opinion, list[float]]], at: Thresholds
) -> Corpus:
    """Return the corpus with what was found instead of what was marked."""
    builder = CorpusBuilder()
    for rubric in corpus.rubrics:
        builder.add_rubric(rubric)
    builder.add_annotator(Annotator("network"))
    for i, opinion, presence in said:
        note = corpus.note(i)
        builder.add_note(note)
        builder.judge_all("network", i)
        found = decode_pieces(opinion, presence, [at] * len(presence))
        for feature, runs in zip(corpus.rubric(note.case), found, strict=True):
            for run in whole_words(note.text, runs):
                builder.annotate("network", i, feature.id, [(run.start, run.end)])
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
    dev, test = (
        heard(sets[name], np.load(path), maker)
        for name, path in zip(("ebm_dev", "ebm_test"), sys.argv[5:7], strict=True)
    )
    tried = [
        Thresholds(inside=i, presence=p, edges=e, cost=c)
        for i, p, e, c in itertools.product(INSIDE, PRESENCE, EDGES, COST)
    ]
    best = max(
        tried, key=lambda at: sum(figures(sets["ebm_dev"], predicted(sets["ebm_dev"], dev, at)))
    )
    print(best)
    for name, said in (("ebm_dev", dev), ("ebm_test", test)):
        print(name, figures(sets[name], predicted(sets[name], said, best)))


if __name__ == "__main__":
    main()

"""A tiny made-up corpus whose two labels can be learned from a few notes."""

import numpy as np
import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Note, Rubric

DRUGS = ["aspirin", "ibuprofen", "warfarin", "metformin", "heparin"]
PEOPLE = ["adults", "children", "women", "patients with asthma"]


def trial_corpus(n_notes: int, seed: int) -> Corpus:
    rng = np.random.default_rng(seed)
    builder = CorpusBuilder()
    rubric = Rubric(
        "trial", (Feature("who", "trial", "Participants"), Feature("drug", "trial", "Drug"))
    )
    builder.add_rubric(rubric)
    for i in range(n_notes):
        text, marks = "", []
        for _ in range(int(rng.integers(1, 4))):
            who, drug = rng.choice(PEOPLE), rng.choice(DRUGS)
            form = rng.choice(["We gave {d} to {w} .", "In {w} , {d} was safe ."])
            line = str(form).format(d=drug, w=who)
            base = len(text)
            for label, words in (("drug", drug), ("who", who)):
                start = base + line.index(str(words))
                marks.append((label, (start, start + len(str(words)))))
            text += line + "\n"
        builder.add_note(Note(f"n{i}", "trial", text))
        for feature in ("who", "drug"):
            builder.judge("r", f"n{i}", feature)
        for label, span in marks:
            builder.annotate("r", f"n{i}", label, [span])
    return builder.build()


@pytest.fixture(scope="session")
def trials() -> Corpus:
    return trial_corpus(40, seed=1)


@pytest.fixture(scope="session")
def more_trials() -> Corpus:
    return trial_corpus(15, seed=2)

"""An encoder on cases kept out of its training: figures and notes per second.

By default the shipped one, on the 26 small cases that `training/earlier/train_matcher.py` holds out
(all with case number 5k + 4). Time is processor time of one thread, so that a busy machine does not
count. With ``--model`` and ``--cases`` any folder that `training/earlier/ship_matcher.py`
wrote, on the test notes of other cases.

Run: python benchmarks/encoder_unseen.py [--every 1] [--model FOLDER --cases 5 6 7 8 9]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from rubricate import Corpus, load_corpus
from rubricate.evaluation import evaluate
from rubricate.neural.encoder.matcher import EncoderMatcher
from rubricate.neural.encoder.model_folder import EncoderSettings, shipped_folder


def held_out_notes(every: int, cases: list[str] | None) -> Corpus:
    """Return every so many-th note of the held-out cases; of deep cases their test notes."""
    held = EncoderSettings.read(shipped_folder() / "settings.json").report["held_out_cases"]
    corpus = load_corpus("open-notes").select(cases=cases or held, annotators=["reference"])
    notes = [note for note in corpus.notes if not cases or note.metadata["split"] == "test"]
    return corpus.select(notes=[note.id for note in notes[::every]])


def main() -> None:
    """Print one line for each number of features per pass."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="take each so many-th note")
    parser.add_argument("--modes", nargs="*", default=["all", "4", "1"])
    parser.add_argument("--model", type=Path, default=shipped_folder(), help="another network")
    parser.add_argument("--cases", nargs="*", help="other cases than the 26")
    given = parser.parse_args()
    corpus = held_out_notes(given.every, given.cases)
    print(f"{len(corpus.notes)} notes, {len(corpus.rubrics)} cases never seen")
    for mode in given.modes:
        per_pass = "all" if mode == "all" else int(mode)
        matcher = EncoderMatcher(features_per_pass=per_pass, threads=1)
        # A folder as it is shipped, without the header of a saved model.
        matcher._open(given.model)
        matcher.predict(corpus.select(notes=[corpus.notes[0].id]))
        begun = time.process_time()
        found = matcher.predict(corpus)
        spent = time.process_time() - begun
        values = evaluate(corpus, found).to_dict()
        print(
            f"features per pass {mode:>3}: characters F1 {values['characters']['f1']:.4f}, "
            f"presence F1 {values['presence']['f1']:.4f}, exact spans F1 "
            f"{values['spans']['exact']['f1']:.4f}, {len(corpus.notes) / spent:.2f} notes/s"
        )


if __name__ == "__main__":
    main()

"""Fitting the encoder to ten notes of a case its network never saw: time and figures.

The network must not know the case: the run ``new`` of `scripts/train_matcher.py` leaves the deep
cases 5 to 9 out. One thread; wall and processor time are both printed.

Run: python benchmarks/encoder_fit.py --weights .neural/out/new.safetensors \
         --tokenizer .neural/prepared/tokenizer.json --case 5
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from rubricate import Corpus, load_corpus
from rubricate.matchers.model_files import Header, write_header
from rubricate.measures import evaluate
from rubricate.neural.encoder.backbone import read_weights
from rubricate.neural.encoder.export import export_int8
from rubricate.neural.encoder.matcher import EncoderMatcher
from rubricate.neural.encoder.model_folder import (
    NETWORK_FILE,
    SETTINGS_FILE,
    TOKENIZER_FILE,
    EncoderSettings,
)
from rubricate.neural.encoder.network import Network, Shape


def make_folder(weights: Path, tokenizer: Path, folder: Path, steps: int | None) -> None:
    """Write trained weights as a model that `EncoderMatcher.load` reads."""
    network = Network(Shape())
    network.load_state_dict({name: w.float() for name, w in read_weights(weights).items()})
    export_int8(network, folder / NETWORK_FILE)
    shutil.copyfile(tokenizer, folder / TOKENIZER_FILE)
    EncoderSettings(shape=asdict(Shape())).write(folder / SETTINGS_FILE)
    write_header(folder, Header("encoder", {"threads": 1, "steps": steps}, "", 0, {}))


def show(what: str, matcher: EncoderMatcher, test: Corpus) -> None:
    """Print both figures on the test notes."""
    values = evaluate(test, matcher.predict(test)).to_dict()
    print(
        f"{what}: characters F1 {values['characters']['f1']:.4f}, "
        f"presence F1 {values['presence']['f1']:.4f}"
    )


def main() -> None:
    """Measure before and after."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--case", default="5")
    parser.add_argument("--notes", type=int, default=10)
    parser.add_argument("--steps", type=int)
    given = parser.parse_args()
    own = load_corpus("open-notes").select(cases=[given.case], annotators=["reference"])
    learn = [n.id for n in own.notes if n.metadata["split"] == "train"][: given.notes]
    test = own.select(notes=lambda note: note.metadata["split"] == "test")
    with tempfile.TemporaryDirectory() as folder:
        make_folder(given.weights, given.tokenizer, Path(folder), given.steps)
        matcher = EncoderMatcher.load(folder)
        show("no notes, one pass", matcher, test)
        wall, processor = time.monotonic(), time.process_time()
        matcher.fit(own.select(notes=learn))
        print(
            f"fitted to {len(learn)} notes in {time.monotonic() - wall:.0f} s "
            f"({time.process_time() - processor:.0f} s of processor time, one thread)"
        )
        show(f"{len(learn)} notes, one pass", matcher, test)
        matcher.features_per_pass = 1
        show(f"{len(learn)} notes, one feature per pass", matcher, test)


if __name__ == "__main__":
    main()

"""Recognition of PICO elements on EBM-NLP, beside Table 5 of Lee and Sun (2019).

Run ``python benchmarks/pico_recognition.py DATA --matcher encoder`` (or ``bilstm-crf``, ``crf``);
DATA is the folder of ``train_960.txt`` and ``test.txt``. It prints Markdown: precision, recall and
F1 of each label and of all (micro), by the paper's protocol and one-to-one. The paper learned
from four times as many notes, with word vectors of biomedical texts.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from rubricate import Corpus, read_corpus
from rubricate.evaluation import Matching, evaluate
from rubricate.neural.encoder.matcher import EncoderMatcher
from rubricate.neural.sequence.bilstm_crf import BiLstmCrfMatcher
from rubricate.neural.sequence.linear_crf import LinearCrfMatcher
from rubricate.neural.sequence.vocabulary import normal_form
from rubricate.progress import shown_progress

#: Table 5: precision, recall, F1 for exact, one-side boundary, token overlap.
PAPER = {
    "participants": (0.227, 0.205, 0.216, 0.766, 0.692, 0.727, 0.840, 0.758, 0.797),
    "interventions": (0.465, 0.283, 0.352, 0.792, 0.481, 0.599, 0.835, 0.508, 0.632),
    "outcomes": (0.406, 0.276, 0.329, 0.790, 0.538, 0.640, 0.838, 0.571, 0.679),
    "all (micro)": (0.387, 0.267, 0.316, 0.785, 0.541, 0.640, 0.837, 0.577, 0.683),
}
KINDS = ("exact", "one_side_boundary", "token_overlap")
MATCHERS = {
    "encoder": EncoderMatcher,
    "bilstm-crf": BiLstmCrfMatcher,
    "crf": LinearCrfMatcher,
}
#: What suits three labels: all in every pass, a tenth of the notes to choose by.
ENCODER = {
    "steps": 900,
    "recipe": {"features": {"all": 1.0}, "held_out": 0.1, "every": 60, "average": 0.99},
}
VECTOR_LENGTH = 150


def spaces(text: str) -> list[tuple[int, int]]:
    """Return the tokens of the corpus, which its texts separate by white space."""
    return [match.span() for match in re.finditer(r"\S+", text)]


def write_vectors(backbone: Path, words: list[str], path: Path) -> None:
    """Write vectors of words from the word pieces of a BERT-like encoder.

    A word's vector is the mean of its pieces' input embeddings, on their first principal axes.
    It depends on the word's letters only, so words of the test notes may have one: nothing is
    learned from those notes.
    """
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    weights = load_file(backbone / "model.safetensors")
    pieces = next(v for n, v in weights.items() if n.endswith("word_embeddings.weight"))
    pieces = pieces.astype(np.float64) - pieces.mean(axis=0)
    _, axes = np.linalg.eigh(pieces.T @ pieces)
    short = pieces @ axes[:, ::-1][:, :VECTOR_LENGTH]
    cutter = Tokenizer.from_file(str(backbone / "tokenizer.json"))
    cutter.no_padding()
    cutter.no_truncation()
    with path.open("w", encoding="utf-8") as stream:
        cut = cutter.encode_batch(words, add_special_tokens=False)
        for word, found in zip(words, cut, strict=True):
            if found.ids:
                numbers = " ".join(f"{x:.5f}" for x in short[found.ids].mean(axis=0))
                stream.write(f"{word} {numbers}\n")


def table(reference: Corpus, predicted: Corpus, protocol: str) -> list[str]:
    """Return Markdown rows, one a label and one for all."""
    matching = Matching(protocol, "token", spaces)  # type: ignore[arg-type]
    measured = evaluate(reference, predicted, matching=matching)
    lines = ["| | exact P/R/F1 | one-side boundary | token overlap |", "|---|---|---|---|"]
    for label, figures in PAPER.items():
        cells = []
        for kind in KINDS:
            counts = measured.spans[kind]
            own = counts.by("feature").measured().get(label) or counts.total()
            cells.append(f"{own.precision:.3f}/{own.recall:.3f}/{own.f1:.3f}")
        lines.append(f"| {label} | {' | '.join(cells)} |")
        if protocol == "paper":
            shown = [f"{a:.3f}/{b:.3f}/{c:.3f}" for a, b, c in np.reshape(figures, (3, 3))]
            lines.append(f"| – the paper | {' | '.join(shown)} |")
    return lines


def fit(arguments: argparse.Namespace, train: Corpus, words: list[str]) -> Any:
    """Return the matcher, fitted; what it reports on the way is printed."""
    settings = json.loads(arguments.set)
    matcher_class: Any = MATCHERS[arguments.matcher]
    if arguments.matcher == "encoder":
        given = {**ENCODER, "checkpoint": arguments.checkpoint, **settings}
        encoder = matcher_class(**given)
        with shown_progress() as progress:
            return encoder.fit(train, progress=progress)
    base = {"tokens": "spaces", "scheme": "IO", **settings}
    more: dict[str, Any] = {}
    if arguments.matcher == "bilstm-crf":
        more["checkpoint"] = arguments.checkpoint
    with tempfile.TemporaryDirectory() as folder:
        if arguments.backbone is not None:
            base["vectors"] = str(Path(folder) / "vectors.txt")
            write_vectors(arguments.backbone, words, Path(base["vectors"]))
        with shown_progress() as progress:
            return matcher_class(**base).fit(train, progress=progress, **more)


def main() -> None:
    """Fit, predict, and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--matcher", choices=list(MATCHERS), default="bilstm-crf")
    parser.add_argument("--set", default="{}", help="parameters of the matcher, as JSON")
    parser.add_argument("--backbone", type=Path, help="folder of an encoder, for word vectors")
    parser.add_argument("--checkpoint", type=Path, help="go on from here after a kill")
    parser.add_argument("--out", type=Path, help="save the model in this folder")
    arguments = parser.parse_args()
    train = read_corpus(arguments.data / "train_960.txt")
    test = read_corpus(arguments.data / "test.txt")
    notes = (*train.notes, *test.notes)
    words = sorted({normal_form(w) for note in notes for w in note.text.split()})
    begin, used = time.perf_counter(), time.process_time()
    matcher = fit(arguments, train, words)
    print(f"fit: {time.perf_counter() - begin:.0f} s, {time.process_time() - used:.0f} s of CPU")
    begin = time.perf_counter()
    predicted = matcher.predict(test)
    print(f"predict {len(test.notes)} notes: {time.perf_counter() - begin:.1f} s\n")
    for protocol in ("paper", "one-to-one"):
        print(f"Protocol `{protocol}`\n")
        print("\n".join(table(test, predicted, protocol)), end="\n\n")
    if arguments.out is not None:
        matcher.save(arguments.out, overwrite=True)


if __name__ == "__main__":
    main()

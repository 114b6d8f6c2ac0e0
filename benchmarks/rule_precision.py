"""Count what each rule decides in mixed notes, and how often the feature is stated there.

    python benchmarks/rule_precision.py [--every 60] > rule_precision.md

The lexicon proposes from the rubric alone. The share of stated features is what the column ``p`` of
``src/rubricate/rules/precedence.tsv`` stands for, with Wilson's interval (Wilson 1927).
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

TRAINING = Path(__file__).parent.parent / "training"
sys.path.insert(0, str(TRAINING))

from note_sets import CONTRA, STATED, UNSAID, read_mixed  # noqa: E402

from rubricate import Feature  # noqa: E402
from rubricate.matchers.lexicon.matcher import propose_from_rubric  # noqa: E402
from rubricate.matchers.literal import claim_mentions  # noqa: E402
from rubricate.matchers.predictions import decide, in_plain_words  # noqa: E402
from rubricate.reading.clean import clean_text  # noqa: E402
from rubricate.rubric import Rubric  # noqa: E402

LABELS = {STATED: "stated", CONTRA: "contradicted", UNSAID: "not mentioned"}
#: The normal quantile of a 95 % interval.
Z = 1.96


def wilson(k: int, n: int) -> tuple[float, float]:
    """Return the ends of Wilson's interval of a share."""
    share, spread = k / n, Z * ((k / n * (1 - k / n) + Z**2 / (4 * n)) / n) ** 0.5
    centre, scale = share + Z**2 / (2 * n), 1 + Z**2 / n
    return (centre - spread) / scale, (centre + spread) / scale


def main() -> None:
    """Print one line for each rule and outcome."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=60)
    args = parser.parse_args()
    decided, stated, right = Counter[str](), Counter[str](), Counter[str]()
    for note in read_mixed(TRAINING / "data" / "mixed")[:: args.every]:
        features = tuple(Feature(str(k), "c", row[0]) for k, row in enumerate(note["rows"]))
        rubric, text = Rubric("c", features), note["text"]
        asked, clean = in_plain_words(rubric, lambda feature: False), clean_text(text)
        (proposed,) = propose_from_rubric(asked, [clean])
        items = decide(asked, clean, proposed, wordings=rubric, text=text, mentions=claim_mentions)
        for k, row in enumerate(note["rows"]):
            one, label = items[str(k)], LABELS[row[1]]
            key = f"| `{one.decided_by}` | {one.outcome} |"
            decided[key] += 1
            stated[key] += label == "stated"
            right[key] += label == one.outcome
    print("| decided by | outcome | decisions | stated | right |\n|---|---|---:|---|---:|")
    for key, n in sorted(decided.items()):
        low, high = wilson(stated[key], n)
        share = f"{stated[key] / n:.3f} ({low:.3f} to {high:.3f})"
        print(f"{key} {n} | {share} | {right[key] / n:.3f} |")


if __name__ == "__main__":
    main()

"""Switch rules off, one by one, by family and all, and print what each earns.

    python benchmarks/ablation.py [--every 20] [--matcher lexicon] [--set PATH]... > ablation.md

The sets are the single lines of the cases, the embedded notes, and the mixed notes, in which each
feature is stated, contradicted or not mentioned; `--set` adds corpora. A cell has the outcomes that
became right and wrong, and how many more items earn credit that state their feature, and that do
not; or 0 and the items with another probability or other words alone.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).parent
TRAINING = HERE.parent / "training"
sys.path.insert(0, str(TRAINING))

from note_sets import CONTRA, STATED, UNSAID, read_mixed  # noqa: E402

from rubricate import Feature  # noqa: E402
from rubricate.effects.decisions import LabelledNote, NamedSet, load_set  # noqa: E402
from rubricate.effects.effect import Effect, ablate  # noqa: E402
from rubricate.rubric import Rubric  # noqa: E402

LABELS = {STATED: "stated", CONTRA: "contradicted", UNSAID: "not mentioned"}


def mixed(step: int) -> NamedSet:
    """Return every so many of the mixed notes."""
    notes = []
    for note in read_mixed(TRAINING / "data" / "mixed")[::step]:
        rubric = Rubric("c", tuple(Feature(str(k), "c", r[0]) for k, r in enumerate(note["rows"])))
        labels = {str(k): LABELS[row[1]] for k, row in enumerate(note["rows"])}
        notes.append(LabelledNote(note["id"], note["text"], rubric, labels))
    return NamedSet("mixed", notes)


def _cell(effect: Effect) -> str:
    if not effect.outcomes:
        return f"0 ({effect.details})"
    return f"{effect.better} / {effect.worse} ({effect.stated:+d} / {effect.others:+d})"


def main() -> None:
    """Print one line for each rule, family and all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=20)
    parser.add_argument("--matcher", default="lexicon")
    parser.add_argument("--set", action="append", dest="sets", default=[])
    args = parser.parse_args()
    sets = [load_set("lines"), load_set("open-notes", step=args.every), mixed(args.every)]
    sets += [load_set(path, step=args.every) for path in args.sets]
    found = ablate(sets, matcher=args.matcher)
    names = [one.name for one in sets]
    for effect in found[0].effects:
        print(f"- {effect.set}: {effect.items:,} items")
    print("\n| off | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for one in found:
        by_set = {effect.set: effect for effect in one.effects}
        cells = [_cell(by_set[name]) for name in names]
        print(f"| `{one.rules}` | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()

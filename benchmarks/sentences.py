"""Count the features credited in sentences that state, deny or only speak of them.

    python benchmarks/sentences.py [--matcher cascade] [--table FILE] [--every N]

Each row of ``sentences.tsv`` has a kind, a feature and a sentence, where {x} stands for a symptom
and {d} for a drug. Each sentence stands alone, in a note and in a patient's post. The script prints
which share of each kind is credited, then each sentence that is read wrongly more than once.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rubricate import Corpus, Feature, Note
from rubricate.builder import CorpusBuilder
from rubricate.matchers import fit_matcher

TABLE = Path(__file__).with_name("sentences.tsv")
STATED = "stated"
SYMPTOMS = ("chest pain", "headache", "nausea", "leg swelling", "palpitations", "insomnia")
DRUGS = ("metformin", "aspirin", "sertraline", "lisinopril", "warfarin", "prednisone")
TEXTS = (
    "{}",
    "45 yo F seen in clinic. {}\nLives with partner. BP 128/76.",
    "Hi all, week two on this. {} Anyone else? Thanks.",
)
#: Features that stand beside the one in question, as in a rubric.
OTHERS = ("Smoker", "Diabetes")


class Sentence(NamedTuple):
    """A row of the table."""

    kind: str
    feature: str
    sentence: str


def read_table(path: Path = TABLE) -> list[Sentence]:
    """Return the rows of a table of sentences; without features each asks for {x}."""
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    columns = head.split("\t")
    cells = [dict(zip(columns, line.split("\t"), strict=True)) for line in lines]
    return [Sentence(one["kind"], one.get("feature", "{x}"), one["sentence"]) for one in cells]


def as_notes(rows: Sequence[Sentence]) -> Iterator[tuple[Sentence, str, str]]:
    """Yield each row with the feature and the texts that it makes."""
    for row in rows:
        for k, (symptom, drug) in enumerate(zip(SYMPTOMS, DRUGS, strict=True)):
            feature, sentence = (
                text.replace("{x}", symptom).replace("{d}", drug)
                for text in (row.feature, row.sentence)
            )
            text = TEXTS[k % len(TEXTS)].format(sentence)
            yield row, feature[0].upper() + feature[1:], text[0].upper() + text[1:]


def credited(matcher_name: str, rows: Sequence[Sentence]) -> dict[Sentence, list[bool]]:
    """Return for each row whether a matcher credits the feature in each of its texts."""
    builder, made = CorpusBuilder(), list(as_notes(rows))
    for i, (_, feature, text) in enumerate(made):
        builder.add_note(Note(str(i), str(i), text))
        for k, wording in enumerate((feature, *OTHERS)):
            builder.add_feature(Feature(f"{i}.{k}", str(i), wording))
    corpus = builder.build()
    matcher = fit_matcher(matcher_name, Corpus((), corpus.rubrics))
    predicted = matcher.predict(corpus)
    found: dict[Sentence, list[bool]] = defaultdict(list)
    for row, place in enumerate(predicted.rows.feature):
        number, k = predicted.features[place].id.split(".")
        if k == "0":
            found[made[int(number)][0]].append(bool(predicted.row_annotations(row)))
    return found


def main() -> None:
    """Print the shares, and the sentences that are read wrongly."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--matcher", default="cascade")
    parser.add_argument("--table", type=Path, default=TABLE)
    parser.add_argument("--every", type=int, default=1)
    given = parser.parse_args()
    rows = read_table(given.table)[:: given.every]
    found = credited(given.matcher, rows)
    by_kind: dict[str, list[bool]] = defaultdict(list)
    for row, own in found.items():
        by_kind[row.kind] += own
    print("| kind | texts | credited |\n|---|---|---|")
    for kind, own in by_kind.items():
        print(f"| {kind} | {len(own)} | {sum(own)} ({sum(own) / len(own):.1%}) |")
    for row, own in found.items():
        wrong = sum(one != (row.kind == STATED) for one in own)
        if wrong > 1:
            print(f"{wrong} of {len(own)}: {row.kind}; {row.feature}; {row.sentence}")


if __name__ == "__main__":
    main()

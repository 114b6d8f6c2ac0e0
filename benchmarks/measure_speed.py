"""Speed of the measures beside the usual ways, in one run on the same spans.

Run ``python benchmarks/measure_speed.py``; it prints Markdown. Times are the best of several
repeats after the inputs are in each library's own form; trust the ratios, not the seconds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from rubricate import Annotator, Corpus, Feature, Note, Rubric
from rubricate.evaluation import pair_rows, span_counts
from rubricate.evaluation.matching import character_counts
from rubricate.rows import Rows

N_FEATURES = 14
NOTE_LENGTH = 950


def best_of(repeats: int, work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the shortest wall time of several runs, and the last result."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - begin)
    return min(times), result


def feature_of(row: npt.NDArray[np.int64], n_cases: int) -> npt.NDArray[np.int64]:
    """Return each row's feature: notes take turns among the cases, which share no feature."""
    return row // N_FEATURES % n_cases * N_FEATURES + row % N_FEATURES


def make_rows(
    n_rows: int, n_cases: int, rng: np.random.Generator, near: Rows | None = None
) -> Rows:
    """Draw rows with 0 to 3 one-fragment annotations of 5 to 40 characters.

    With ``near``, the spans of another annotator are taken over, some shifted and some dropped,
    so that there is something to agree on.
    """
    row = np.arange(n_rows)
    if near is None:
        owner = np.repeat(row, rng.choice(4, size=n_rows, p=[0.3, 0.5, 0.15, 0.05]))
        start = rng.integers(0, NOTE_LENGTH - 50, size=len(owner))
        end = start + rng.integers(5, 41, size=len(owner))
    else:
        kept = rng.random(len(near.start)) < 0.9
        owner = near.span_row[kept]
        start = near.start[kept] + rng.choice([0, 0, 0, 1, 4], size=len(owner))
        end = near.end[kept] + rng.choice([0, 0, 0, 2, 5], size=len(owner))
    return Rows.build(
        note=row // N_FEATURES,
        annotator=np.zeros(n_rows, dtype=np.int32),
        feature=feature_of(row, n_cases),
        row_of_annotation=owner,
        annotation_of_span=np.arange(len(owner)),
        start=start,
        end=end,
    )


def make_corpora(n_rows: int, n_cases: int, seed: int) -> tuple[Corpus, Corpus]:
    """Return a reference and a prediction over the same made-up notes."""
    rng = np.random.default_rng(seed)
    rubrics = tuple(
        Rubric(str(c), tuple(Feature(f"{c}-{i}", str(c), "made up") for i in range(N_FEATURES)))
        for c in range(n_cases)
    )
    # two copies of every text, as two files give, so that comparing them costs what it costs
    n_notes = -(-n_rows // N_FEATURES)
    notes, copies = (
        tuple(Note(str(i), str(i % n_cases), letter * NOTE_LENGTH) for i in range(n_notes))
        for letter in "xx"
    )
    rows = make_rows(n_rows, n_cases, rng)
    reference = Corpus(notes, rubrics, (Annotator("reference"),), rows)
    answer = make_rows(n_rows, n_cases, rng, near=rows)
    return reference, Corpus(copies, rubrics, (Annotator("predicted"),), answer)


def spans_by_row(corpus: Corpus) -> list[list[tuple[int, int]]]:
    """Return each row's spans as plain pairs."""
    rows = corpus.rows
    pairs = list(zip(rows.start.tolist(), rows.end.tolist(), strict=True))
    ends = rows.first_span[rows.first_annotation].tolist()
    return [pairs[low:high] for low, high in pairwise(ends)]


def bitmaps_f1(
    reference: list[list[tuple[int, int]]], predicted: list[list[tuple[int, int]]]
) -> float:
    """Compute characters F1 as competition notebooks do: 0/1 vectors a row, then scikit-learn."""
    from sklearn.metrics import f1_score

    sides: tuple[list[Any], list[Any]] = ([], [])
    for spans in zip(reference, predicted, strict=True):
        length = max((end for side in spans for _, end in side), default=0)
        for side, vectors in zip(spans, sides, strict=True):
            vector = np.zeros(length)
            for start, end in side:
                vector[start:end] = 1
            vectors.append(vector)
    return float(f1_score(np.concatenate(sides[0]), np.concatenate(sides[1])))


def time_characters(n_rows: int, n_sample: int) -> list[str]:
    """Compare characters F1 over many rows with bitmaps and scikit-learn over a sample."""
    reference, predicted = make_corpora(n_rows, 10, seed=1)
    whole, total = best_of(5, lambda: character_counts(pair_rows(reference, predicted)).total())
    pairing = pair_rows(reference, predicted)
    counting, _ = best_of(5, lambda: character_counts(pairing).total())
    sample = make_corpora(n_sample, 10, seed=2)
    lists = [spans_by_row(corpus) for corpus in sample]
    bitmaps, expected = best_of(3, lambda: bitmaps_f1(*lists))
    ours = character_counts(pair_rows(*sample)).total().f1
    if abs(ours - expected) > 1e-12:
        raise SystemExit(f"characters F1 differ: {ours} and {expected}")
    scaled = bitmaps * n_rows / n_sample
    return [
        f"Characters F1, {n_rows:,} rows (bitmaps timed on {n_sample:,} rows and scaled; "
        f"same F1 on the sample). Example F1 {total.f1:.3f}.",
        "",
        "| way | seconds | rows/s | ratio |",
        "|---|---|---|---|",
        f"| bitmaps + scikit-learn | {scaled:.2f} | {n_rows / scaled:,.0f} | 1 |",
        f"| rubricate, pairing and checks included | {whole:.3f} | {n_rows / whole:,.0f} "
        f"| {scaled / whole:.0f} |",
        f"| rubricate, counting alone | {counting:.3f} | {n_rows / counting:,.0f} "
        f"| {scaled / counting:.0f} |",
    ]


def time_spans(n_rows: int, n_cases: int) -> list[str]:
    """Compare span matching with nervaluate on the same spans."""
    from nervaluate import Evaluator

    reference, predicted = make_corpora(n_rows, n_cases, seed=3)
    n_spans = len(reference.rows.start) + len(predicted.rows.start)
    labels = [feature.id for feature in reference.features]
    label_of = [labels[i] for i in feature_of(np.arange(n_rows), n_cases)]

    def as_dicts(corpus: Corpus) -> list[list[dict[str, Any]]]:
        # nervaluate's ends are inclusive
        lists: list[list[dict[str, Any]]] = [[] for _ in corpus.notes]
        for i, spans in enumerate(spans_by_row(corpus)):
            for start, end in sorted(set(spans)):
                lists[i // N_FEATURES].append(
                    {"label": label_of[i], "start": start, "end": end - 1}
                )
        return lists

    dicts = as_dicts(reference), as_dicts(predicted)
    theirs, result = best_of(2, lambda: Evaluator(*dicts, tags=labels, loader="dict").evaluate())
    ours, tables = best_of(10, lambda: span_counts(pair_rows(reference, predicted)))
    strict, exact = result["overall"]["strict"].correct, tables["exact"].total()
    if strict != exact.counts["predicted_hits"]:
        raise SystemExit(f"exact matches differ: {exact.counts} and {strict}")
    return [
        f"Span matching, {n_spans:,} spans in {n_rows:,} rows, {len(labels)} features in "
        f"{n_cases} case{'s' if n_cases > 1 else ''} (same number of exact matches: {strict:,}).",
        "",
        "| way | seconds | spans/s | ratio |",
        "|---|---|---|---|",
        f"| nervaluate | {theirs:.3f} | {n_spans / theirs:,.0f} | 1 |",
        f"| rubricate, one-to-one, all three kinds, pairing included | {ours:.4f} "
        f"| {n_spans / ours:,.0f} | {theirs / ours:.0f} |",
    ]


def main() -> None:
    """Print both comparisons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--sample", type=int, default=20_000)
    parser.add_argument("--span-rows", type=int, default=5_600)
    options = parser.parse_args()
    print("\n".join(time_characters(options.rows, options.sample)))
    # nervaluate's time grows with the number of labels, so the smallest rubric is shown too
    for n_cases in (10, 1):
        print()
        print("\n".join(time_spans(options.span_rows, n_cases)))


if __name__ == "__main__":
    main()

"""Notes a second of each matcher, with one worker and two, and memory against the number of notes.

Run: python benchmarks/score_throughput.py [--notes 2000] [--matchers exact,fuzzy,lexicon] [--dask]

Prints Markdown, and writes score_throughput.json with the points of a plot of cost against notes.
Notes are those of the embedded corpus, each copy with a number at its end, so that no two are
identical. Every run is a process of its own, so that its memory is its own. Notes a second are of
the search alone, with the start of the workers; the CPU time is of the whole run, and does not
depend on what else the machine does. With --dask the two workers are also those of a local Dask
cluster, which are started beforehand and whose CPU time is not the run's.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rubricate import Corpus, load_corpus
from rubricate.formats.jsonl import corpus_to_lines
from rubricate.matchers import MATCHERS, fit_matcher
from rubricate.reports.plots import Labels, Line, Point, curve_plot
from rubricate.rubric import Rubric

MANY = 330_000
RUN = """
import json, sys
from rubricate.scoring import ScoreSettings, score_notes
notes, model, out, settings = sys.argv[1:]
run = score_notes(notes, out, model=model, settings=ScoreSettings(**json.loads(settings)))
print(json.dumps(run.times["seconds"]))
"""


def write_notes(corpus: Corpus, n_notes: int, path: Path) -> None:
    """Write as many notes as wanted, in our JSON Lines, without holding them."""
    head, *lines = corpus_to_lines(corpus)
    with path.open("w", encoding="utf-8") as stream:
        stream.write(json.dumps(head) + "\n")
        for i in range(n_notes):
            line = lines[i % len(lines)]
            value = {**line, "note": str(i), "text": f"{line['text']}\n{i}"}
            stream.write(json.dumps(value, ensure_ascii=False) + "\n")


def run_once(notes: Path, model: Path, **settings: int | str) -> dict[str, float]:
    """Return the seconds of one run and the largest memory of its process, in MB."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", RUN, notes, model, f"{folder}/out", json.dumps(settings)],
            stdout=subprocess.PIPE,
        )
        output = process.stdout.read() if process.stdout else b""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        whole = time.perf_counter() - started
    if process.returncode:
        raise SystemExit(f"a run failed with {process.returncode}")
    seconds = json.loads(output)
    # Linux counts kilobytes; macOS counts bytes.
    unit = 1e6 if sys.platform == "darwin" else 1e3
    cpu = usage.ru_utime + usage.ru_stime
    return {"whole": whole, "cpu": cpu, "memory": usage.ru_maxrss / unit, **seconds}


def shown_time(seconds: float) -> str:
    """Return a duration as a person says it."""
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def measure_matchers(
    args: argparse.Namespace, corpus: Corpus, folder: Path
) -> list[dict[str, object]]:
    """Measure each matcher with one worker and two."""
    notes = folder / "speed.jsonl"
    write_notes(corpus, args.notes, notes)
    rubric_only = Corpus((), corpus.rubrics)
    train = load_corpus("open-notes").select(
        cases=[r.case for r in corpus.rubrics], annotators=["reference"]
    )
    found: list[dict[str, object]] = []
    for name in args.matchers.split(","):
        model = folder / name
        # Phrase matchers know nothing without notes; the others work from the rubric.
        learned = train if name in {"exact", "fuzzy"} else rubric_only
        fit_matcher(name, learned).save(model)
        ways = {"1": run_once(notes, model, workers=1), "2": run_once(notes, model, workers=2)}
        if args.dask:
            ways["2, Dask"] = run_on_cluster(notes, model)
        for workers, result in ways.items():
            rate = args.notes / result["matching"]
            found.append({"matcher": name, "workers": workers, "notes_per_second": rate, **result})
            cpu = "–" if "Dask" in workers else f"{1000 * result['cpu'] / args.notes:.1f}"
            print(
                f"| {name} | {workers} | {rate:.0f} | {shown_time(MANY / rate)} | {cpu} |",
                flush=True,
            )
    return found


def run_on_cluster(notes: Path, model: Path) -> dict[str, float]:
    """Return the seconds of one run on a scheduler of this machine with two workers."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        return run_once(notes, model, dask=cluster.scheduler_address)


def measure_growth(
    args: argparse.Namespace, corpus: Corpus, folder: Path
) -> list[dict[str, object]]:
    """Measure one matcher on ever more notes, in one process."""
    found: list[dict[str, object]] = []
    for n_notes in map(int, args.sizes.split(",")):
        notes = folder / f"{n_notes}.jsonl"
        write_notes(corpus, n_notes, notes)
        result = run_once(notes, folder / args.growth_matcher)
        notes.unlink()
        per_note = 1000 * result["all"] / n_notes
        found.append({"notes": n_notes, "matcher": args.growth_matcher, **result})
        print(
            f"| {n_notes:,} | {result['all']:.1f} | {per_note:.2f} | {result['memory']:.0f} |",
            flush=True,
        )
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=2000)
    parser.add_argument("--dask", action="store_true", help="measure two workers of Dask, too")
    parser.add_argument("--matchers", default=",".join(MATCHERS))
    parser.add_argument("--growth-matcher", default="exact")
    parser.add_argument("--sizes", default="1000,2000,4000,8000")
    parser.add_argument("--plot", type=Path, help="an SVG of cost against notes")
    parser.add_argument("--out", type=Path, default=Path("score_throughput.json"))
    args = parser.parse_args()
    corpus = load_corpus("open-notes").select(annotators=[])
    corpus = corpus.select(notes=lambda note: note.metadata["part"] == "depth")
    used = {note.case for note in corpus.notes}
    rubrics: tuple[Rubric, ...] = tuple(r for r in corpus.rubrics if r.case in used)
    corpus = Corpus(corpus.notes, rubrics)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {args.notes} notes\n")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        print(f"| matcher | workers | notes/s | time for {MANY:,} notes | CPU ms/note, all in |")
        print("|---|---|---|---|---|")
        speed = measure_matchers(args, corpus, folder)
        print("\n| notes | seconds | ms/note | memory, MB |\n|---|---|---|---|")
        growth = measure_growth(args, corpus, folder)
    value = {"speed": speed, "growth": growth}
    args.out.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    if args.plot is not None:
        args.plot.write_text(draw(growth), encoding="utf-8")


def draw(growth: list[dict[str, Any]]) -> str:
    """Return a drawing of seconds against notes, with the straight line through the last point."""
    sizes = [float(one["notes"]) for one in growth]
    last = growth[-1]["all"] / sizes[-1]
    lines = [
        Line("measured", sizes, [Point(float(one["all"])) for one in growth]),
        Line("in proportion", sizes, [Point(last * size) for size in sizes]),
    ]
    return curve_plot(lines, Labels("Cost of scoring against notes", "notes", "seconds"))


if __name__ == "__main__":
    main()

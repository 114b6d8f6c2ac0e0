"""Train MPNet, and MiniLM taught by it, on notes that are drawn as they are needed.

python train.py PLAN.json --corpus FOLDER --bank FOLDER --pairs FOLDER --clinicians FOLDER \
        [--junk FOLDER] --backbones FOLDER --keep FOLDER --out FOLDER
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import multiprocessing
import queue
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import packing
import torch
from backbones import start
from compose import Composer
from judging import figures, judge
from learner import Learner, fetch, tensors
from lessons import Cutter, stream
from literal import SENTENCES
from losses import Tensors
from net import SHAPES, Network, few_bits
from note_sets import Note, Sets, Sources, load_all, read_bank
from texts import MORE_BANK, OTHER_TEXTS, read_texts
from torch import Tensor

Plan = dict[str, Any]
#: What is drawn of no set of notes.
DRAWN_KINDS = ("bank", "junk", "list", *SENTENCES)
#: In how many bits each network ships.
BITS = {"mpnet": 5, "mini": 8}
#: From these steps on what a learning network says is used: to drop rows, to teach.
DROPS_FROM, TEACHES_FROM = 1500, 1000
#: What a network that teaches must reach on notes for choosing.
LEAST_PRESENCE = 0.8


def factor(done: float, warm: float, low: float) -> float:
    """Return the part of the learning rate when so much of the run is done."""
    if done < warm:
        return max(done / warm, 1e-3)
    return low + (1 - low) * 0.5 * (1 + math.cos(math.pi * (done - warm) / (1 - warm)))


def chosen(note: Note, rule: Plan) -> bool:
    """Return True if a note is in a set: by its case number, its fold, the first ten of a case."""
    facts = note["facts"]
    return (
        int(note["case"]) >= rule.get("case_from", 0)
        and ("fold" not in rule or facts["fold"] == rule["fold"])
        and ("not_fold" not in rule or facts["fold"] != rule["not_fold"])
        and (not rule.get("first_ten") or bool(facts.get("tenth")))
    )


def read_sets(given: argparse.Namespace) -> Sets:
    """Return all sets of notes that a plan can name."""
    sets = load_all(Sources(given.corpus, given.pairs, given.clinicians))
    sets["deepall"] = sets["deep"] + sets["deep_test"]
    if given.ebm:
        for name, notes in json.loads(given.ebm.read_text(encoding="utf-8")).items():
            sets[name] = [{**n, "rows": [tuple(r) for r in n["rows"]]} for n in notes]
    return sets


def start_learners(given: argparse.Namespace, plan: Plan) -> dict[str, Learner]:
    """Return the networks of the plan, from their backbone or an earlier run."""
    learners = {}
    for name, o in plan["networks"].items():
        shape = SHAPES[o.get("shape", name)]
        shape = replace(shape, dropout=plan.get("dropout", shape.dropout))
        if o["from"] == "backbone":
            net = start(shape, packing.load_parts(given.backbones / name))
        else:
            net = Network(shape)
            net.load_state_dict(packing.mean([given.keep / stem for stem in o["from"].split("+")]))
        for layer in net.encoder.layers[plan["few_layers"] :] if "few_layers" in plan else ():
            for module in layer.modules():
                if hasattr(module, "bits"):
                    module.bits = BITS[name]
        learners[name] = Learner(
            net,
            o["rate"],
            o["scorer_rate"],
            average=o.get("average", 0.9985),
            compiled=plan.get("compiled", False) and o["rate"] > 0,
            frozen=o.get("frozen", 0),
        )
    return learners


def check_teacher(teacher: Learner, notes: list[Note], cutter: Cutter) -> None:
    """Stop where what is to teach cannot read."""
    found = figures(teacher.mean, notes, cutter)
    print("teacher", found, flush=True)
    if found["presence"] < LEAST_PRESENCE:
        raise SystemExit(f"the teacher has presence F1 {found['presence']}: it would teach nothing")


def start_workers(
    make: Callable[[int], Composer], tokenizer: Path, plan: Plan
) -> tuple[Any, list[Any]]:
    """Return the queue of batches and the processes that fill it."""
    context = multiprocessing.get_context("fork")
    drawn = context.Queue(48)
    first = (plan.get("seed", 0) + 1) * 1000
    workers = []
    for i in range(plan["workers"]):
        args = (make, tokenizer, first + i, plan["budget"], drawn)
        workers.append(context.Process(target=stream, args=args, daemon=True))
        workers[-1].start()
    ready: queue.Queue[Any] = queue.Queue(8)
    threading.Thread(target=fetch, args=(drawn, ready), daemon=True).start()
    return ready, workers


def accidental(judge: Learner, t: Tensors, n: int, which: Tensor) -> Tensor:
    """Return the rows that were drawn as absent and are stated all the same, of these notes."""
    rows = which.nonzero()[:, 0].to(t["soft"].device, non_blocking=True)
    said = judge.judge({k: v[rows] for k, v in t.items()}, n)[1].float().sigmoid()[..., 0]
    out = torch.zeros_like(t["soft"])
    out[rows] = t["soft"][rows] & (said > 0.8)
    return out


def anchored(anchor: Learner, t: Tensors, n: int) -> tuple[Tensor, Tensor]:
    """Return the former network's outputs for notes in their usual style, 0 elsewhere."""
    (rows,) = t["usual"].nonzero(as_tuple=True)
    count, long = t["note"].shape
    pieces = torch.zeros(count, n, long, 4, device=t["note"].device)
    verdict = torch.zeros(count, n, 2, device=t["note"].device)
    if len(rows):
        own = {k: v[rows] for k, v in t.items()}
        said = anchor.judge(own, n)
        pieces[rows], verdict[rows] = said[0].float(), said[1].float()
    return pieces, verdict


def take_step(learners: dict[str, Learner], b: Plan, plan: Plan, step: int, part: float) -> None:
    """Let every network learn from a batch: MPNet from the notes, MiniLM from it too."""
    t, n, weights = tensors(b), b["F"], plan.get("weights")
    large, small = learners.get("mpnet"), learners.get("mini")
    teacher = None
    if large:
        drops = plan.get("filter") or step > DROPS_FROM
        if drops and plan.get("soft_filter", True) and b["soft"].any():
            t["drop"] = accidental(large, t, n, b["soft"].any(1))
        if not plan.get("fixed"):
            teacher = large.learn(t, n, part, None, weights)
    if small and "anchor" in learners:
        t["by_anchor"] = t["usual"]
        small.learn(t, n, part, anchored(learners["anchor"], t, n), weights)
    elif small:
        use = teacher if step > TEACHES_FROM or plan.get("teach_at_once") else None
        by_mean = use is not None and plan.get("teach_by_mean")
        if large and (plan.get("fixed") or by_mean):
            use = large.judge(t, n)
        small.learn(t, n, part, None if use is None else (use[0].float(), use[1].float()), weights)


def learn(
    learners: dict[str, Learner],
    batches: Any,
    plan: Plan,
    keep: Path,
    watch: Callable[[Learner], object],
) -> None:
    """Learn until the time or the steps of the plan are over; keep weights of in between."""
    step, errors, begun, few = 0, 0, time.time(), plan.get("few_from")
    while True:
        done = max((time.time() - begun) / plan["seconds"], step / plan.get("steps", 10**9))
        if done >= 1:
            break
        kind, b = batches.get()
        if kind == "error":
            errors += 1
            if errors < 4:
                print("error in a draw", b, flush=True)
            continue
        if few is not None and done >= few:
            few = None
            for name, own in learners.items():
                # What only teaches stays whole.
                if plan["networks"][name]["rate"]:
                    few_bits(own.net, BITS[name])
                    few_bits(own.mean, BITS[name])
            print("few bits from step", step, flush=True)
        part = factor(done, plan.get("warm", 0.04), plan.get("low", 0.0))
        take_step(learners, b, plan, step, part)
        step += 1
        if step % plan["every"] == 0:
            losses = {name: round(own.loss, 3) for name, own in learners.items()}
            print(step, f"{time.time() - begun:.0f}s", losses, b["note"].shape, flush=True)
        if plan.get("save_every") and step % plan["save_every"] == 0:
            for name, own in learners.items():
                if name == "anchor":
                    continue
                weights = {n: p.detach() for n, p in own.mean.named_parameters()}
                stem = keep / f"{plan['name']}_{name}_mid"
                packing.save_parts(packing.rows8(weights), stem, packing.PART)
        if step % plan.get("measure_every", 2000) == 0 and done < 0.93:
            for name, own in learners.items():
                print("   ", name, watch(own), flush=True)
    print("steps", step, f"{time.time() - begun:.0f}s, errors {errors}", flush=True)


def keep_all(
    given: argparse.Namespace, plan: Plan, learners: dict[str, Learner], sets: Sets, cutter: Cutter
) -> None:
    """Write the networks, their figures and what the plan wants predicted or packed."""
    result = {}
    for k, own in learners.items():
        if k == "anchor":
            continue
        name = f"{plan['name']}_{k}"
        result[k] = {s: figures(own.mean, sets[s], cutter) for s in plan["measure"]}
        for s, found in result[k].items():
            print(k, s, found, flush=True)
        weights = {n: p.detach() for n, p in own.mean.named_parameters()}
        whole = {n: p.half().cpu().contiguous() for n, p in weights.items()}
        packing.save_parts(whole, given.keep / name, 10**10)
        for s in plan.get("predict", []):
            predict(own, sets[s], cutter, given.out / f"{name}_{s}.npz")
        if k in plan.get("send", {}):
            pack = packing.levels5 if plan["send"][k] == "5" else packing.rows8
            print(
                packing.save_parts(pack(weights), given.out / name, packing.PART),
                "parts",
                flush=True,
            )
    (given.out / f"{plan['name']}.json").write_text(json.dumps(result), encoding="utf-8")


def predict(own: Learner, notes: list[Note], cutter: Cutter, path: Path) -> None:
    """Write what a network says of notes."""
    said = judge(own.mean, notes, cutter)
    parts = {
        part: np.concatenate([np.asarray(getattr(o, part), np.float16).ravel() for o in said])
        for part in ("inside", "presence", "contra", "edges")
    }
    sizes = np.array([o.inside.shape for o in said])
    np.savez_compressed(path, ids=np.array([str(n["id"]) for n in notes]), sizes=sizes, **parts)


def do(given: argparse.Namespace, plan: Plan) -> None:
    """Do one run."""
    torch.backends.cuda.enable_cudnn_sdp(False)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.manual_seed(plan.get("seed", 0))
    sets, bank = read_sets(given), read_bank(given.bank) + read_bank(MORE_BANK)
    junk = list(read_texts(given.junk).values())
    if not junk:
        raise SystemExit(
            f"no texts in {given.junk}: give a folder of plain texts that are no notes"
        )
    for name, rule in plan.get("sets", {}).items():
        sets[name] = [note for note in sets[rule["of"]] if chosen(note, rule)]
    shares = {k: v for k, v in plan["shares"].items() if k in DRAWN_KINDS or sets.get(k)}
    tokenizer = given.backbones / "tokenizer.json"
    cutter = Cutter(tokenizer)
    learners = start_learners(given, plan)
    if plan.get("fixed"):
        check_teacher(learners["mpnet"], sets[plan["measure"][0]][:60], cutter)
    batches, workers = start_workers(
        lambda seed: Composer(sets, bank, junk, shares, seed), tokenizer, plan
    )
    print("ready", {k: len(v) for k, v in sets.items()}, flush=True)
    learn(
        learners,
        batches,
        plan,
        given.keep,
        lambda own: {s: figures(own.mean, sets[s][:60], cutter) for s in plan["watch"]},
    )
    for worker in workers:
        worker.kill()
    keep_all(given, plan, learners, sets, cutter)


def main() -> None:
    """Do the runs of a file of plans; one that fails does not stop the others."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("plans", type=Path)
    for name in ("corpus", "bank", "pairs", "clinicians", "backbones", "keep", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument(
        "--junk", type=Path, default=OTHER_TEXTS, help="texts that are no notes: folder or table"
    )
    parser.add_argument("--ebm", type=Path, help="notes of EBM-NLP as JSON, by set")
    given = parser.parse_args()
    for folder in (given.keep, given.out):
        folder.mkdir(parents=True, exist_ok=True)
    for plan in json.loads(given.plans.read_text(encoding="utf-8")):
        print("=====", plan["name"], flush=True)
        try:
            do(given, plan)
        except Exception:
            traceback.print_exc()
        gc.collect()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()

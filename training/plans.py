"""Write the plans of all runs: ``python plans.py FOLDER``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

Plan = dict[str, Any]

COMMON = {"workers": 13, "budget": 16000, "every": 500, "watch": []}
NEVER = 10**9
#: How often a note is drawn from the bank and from each set of notes.
OPEN_SHARES = {"bank": 0.42, "broad": 0.12, "C": 0.17, "P": 0.12, "W": 0.14, "junk": 0.03}
FINAL_SHARES = {
    "bank": 0.38,
    "broad": 0.10,
    "deep": 0.10,
    "C": 0.15,
    "P": 0.11,
    "W": 0.13,
    "junk": 0.03,
}
#: With more notes as clinicians dictate them (`L`), which the first two runs had few of.
MORE_SHARES = {
    "bank": 0.28,
    "broad": 0.08,
    "deep": 0.06,
    "C": 0.19,
    "L": 0.2,
    "P": 0.09,
    "W": 0.08,
    "junk": 0.02,
}
#: With notes whose marks are tight (`N`); of loose ones (`L`) extents are not learned.
TIGHT_SHARES = {
    "bank": 0.24,
    "broad": 0.08,
    "deep": 0.06,
    "C": 0.14,
    "L": 0.08,
    "N": 0.26,
    "P": 0.07,
    "W": 0.05,
    "junk": 0.02,
}
#: With twice as many such notes.
FURTHER_SHARES = {**TIGHT_SHARES, "bank": 0.2, "L": 0.05, "N": 0.34, "deep": 0.05, "W": 0.04}
#: With notes about what networks were found to fail at (`S`).
FAILING_SHARES = {
    "bank": 0.16,
    "broad": 0.08,
    "deep": 0.05,
    "C": 0.13,
    "L": 0.03,
    "N": 0.24,
    "S": 0.16,
    "J": 0.02,
    "P": 0.07,
    "W": 0.03,
    "junk": 0.03,
}
#: A small network needs more of the notes that are like an examination's.
STUDENT_SHARES = {**FAILING_SHARES, "bank": 0.12, "broad": 0.12}
#: Without the deep cases, for networks that are then tuned to some of their notes.
WITHOUT_DEEP_SHARES = {k: v for k, v in FURTHER_SHARES.items() if k != "deep"}
TUNING_SHARES = {"bank": 0.08, "broad": 0.06, "C": 0.04, "P": 0.04, "N": 0.08, "learn": 0.7}
MEASURED = ["C_dev", "P_dev", "W_dev", "L_dev", "N_dev", "S_dev", "broad_dev"]


def network(source: str, rate: float, scorer_rate: float, average: float = 0.9985) -> Plan:
    """Return a network's starting weights and its learning rate."""
    return {"from": source, "rate": rate, "scorer_rate": scorer_rate, "average": average}


SMOKE = {
    **COMMON,
    "name": "smoke",
    "seconds": 15,
    "shares": OPEN_SHARES,
    "networks": {"mini": network("backbone", 2e-4, 8e-4)},
    "measure": ["W_dev"],
    "every": 20,
}
BASE = {
    **COMMON,
    "name": "base",
    "seconds": 500,
    "low": 0.25,
    "warm": 0.03,
    "shares": OPEN_SHARES,
    "measure_every": 2500,
    "networks": {
        "mpnet": network("backbone", 6e-5, 5e-4),
        "mini": network("backbone", 2e-4, 8e-4),
    },
    "watch": ["C_dev", "P_dev"],
    "measure": MEASURED,
}
FINAL = {
    **COMMON,
    "name": "final",
    "seed": 7,
    "seconds": 325,
    "warm": 0.02,
    "few_from": 0.4,
    "filter": True,
    "shares": FINAL_SHARES,
    "measure_every": NEVER,
    "networks": {"mpnet": network("base_mpnet", 3.5e-5, 2e-4)},
    "measure": MEASURED,
    "send": {"mpnet": "5"},
}
MORE = {
    **COMMON,
    "name": "more",
    "seed": 31,
    "seconds": 520,
    "warm": 0.03,
    "low": 0.2,
    "filter": True,
    "shares": MORE_SHARES,
    "measure_every": 2000,
    "watch": ["C_dev", "L_dev"],
    "networks": {"mpnet": network("accurate", 5e-5, 3e-4)},
    "measure": MEASURED,
}
ONE = {
    **MORE,
    "name": "one",
    "seed": 61,
    "seconds": 260,
    "low": 0.0,
    "few_from": 0.7,
    "shares": TIGHT_SHARES,
    "measure_every": 1500,
    "watch": ["C_dev", "N_dev"],
}
OTHER = {
    **ONE,
    "name": "other",
    "seed": 71,
    "networks": {"mpnet": network("accurate", 7e-5, 3e-4)},
}
#: Learns nothing: the mean of both, measured and packed as it ships.
MEAN = {
    **ONE,
    "name": "mean",
    "seconds": 0.001,
    "few_from": 0,
    "networks": {"mpnet": network("one_mpnet+other_mpnet", 1e-12, 1e-12)},
    "send": {"mpnet": "5"},
}
FURTHER = {
    **ONE,
    "name": "further",
    "compiled": True,
    "seed": 91,
    "seconds": 250,
    "shares": FURTHER_SHARES,
    "networks": {"mpnet": network("mean_mpnet", 6e-5, 3e-4)},
    "send": {"mpnet": "5"},
}
LATEST = {
    **FURTHER,
    "name": "latest",
    "seed": 111,
    "seconds": 240,
    "shares": FAILING_SHARES,
    "measure_every": NEVER,
    "measure": ["C_dev", "P_dev", "N_dev", "S_dev"],
    "networks": {"mpnet": network("accurate", 6e-5, 3e-4)},
}
STUDENT = {
    **COMMON,
    "name": "student",
    "compiled": True,
    "budget": 32000,
    "seed": 21,
    "seconds": 540,
    "warm": 0.05,
    "few_from": 0,
    "fixed": True,
    "soft_filter": False,
    "shares": STUDENT_SHARES,
    "measure_every": NEVER,
    "networks": {
        "mpnet": network("latest_mpnet", 0.0, 0.0),
        "mini": network("fast", 3e-4, 9e-4),
    },
    "measure": ["C_dev", "P_dev", "N_dev", "S_dev"],
    "send": {"mini": "8"},
}
#: MPNet goes on from `accurate` with all notes, of which the hardest came late.
REACH_SHARES = {
    "bank": 0.1,
    "broad": 0.08,
    "deep": 0.04,
    "C": 0.13,
    "L": 0.03,
    "N": 0.2,
    "S": 0.29,
    "J": 0.02,
    "P": 0.06,
    "W": 0.02,
    "junk": 0.03,
}
REACH = {
    **LATEST,
    "name": "reach",
    "seed": 171,
    "seconds": 515,
    "every": 500,
    "shares": REACH_SHARES,
    "networks": {"mpnet": network("accurate", 7e-5, 3e-4)},
}
#: MiniLM goes on from `fast`, taught by that network.
FOLLOW = {
    **STUDENT,
    "name": "follow",
    "seed": 181,
    "seconds": 505,
    "shares": {**REACH_SHARES, "bank": 0.09, "broad": 0.12, "S": 0.27},
    "networks": {
        "mpnet": network("reach_mpnet", 0.0, 0.0),
        "mini": network("fast", 2.5e-4, 8e-4),
    },
}
#: MiniLM's last layers and scorer, from the mean of two networks: no teacher, few steps.
RETUNE = {
    **COMMON,
    "name": "retune",
    "workers": 1,
    "budget": 8000,
    "every": 5,
    "seed": 77,
    "seconds": 1020,
    "warm": 0.05,
    "shares": STUDENT_SHARES,
    "measure_every": NEVER,
    "networks": {"mini": {**network("fast+student_mini", 8e-5, 3e-4, 0.98), "frozen": 4}},
    "measure": ["C_dev", "P_dev", "S_dev"],
    "send": {"mini": "8"},
}
#: With twice as many notes about what networks fail at, which come late and are the hardest.
ONWARD_SHARES = {
    "bank": 0.08,
    "broad": 0.12,
    "deep": 0.04,
    "C": 0.13,
    "L": 0.02,
    "N": 0.19,
    "S": 0.3,
    "J": 0.02,
    "P": 0.06,
    "W": 0.02,
    "junk": 0.02,
}
#: MiniLM's last four layers go on from `fast`, on a processor, where dropout takes as long as the
#: rest of a step: no dropout, no teacher.
ONWARD = {
    **COMMON,
    "name": "onward",
    "dropout": 0.0,
    "workers": 1,
    "budget": 8000,
    "every": 25,
    "seed": 131,
    "seconds": 2400,
    "warm": 0.04,
    "low": 0.4,
    "shares": ONWARD_SHARES,
    "measure_every": NEVER,
    "networks": {"mini": {**network("fast", 1.2e-4, 4e-4, 0.99), "frozen": 2}},
    "measure": ["C_dev", "P_dev", "S_dev"],
}
#: The same with the notes that were written meanwhile, to the end.
ARRIVE = {
    **ONWARD,
    "name": "arrive",
    "seed": 141,
    "seconds": 2880,
    "shares": {**ONWARD_SHARES, "bank": 0.06, "deep": 0.03, "broad": 0.11, "S": 0.31, "P": 0.09},
    "low": 0.0,
    "networks": {"mini": {**network("onward_mini", 1.2e-4, 4e-4, 0.99), "frozen": 2}},
    "send": {"mini": "8"},
}
#: Notes in other styles, and wordings that stand in the text: MiniLM goes on from `fast`.
STYLED_SHARES = {
    "bank": 0.07,
    "broad": 0.11,
    "deep": 0.03,
    "C": 0.11,
    "L": 0.02,
    "N": 0.14,
    "S": 0.22,
    "J": 0.02,
    "P": 0.06,
    "W": 0.02,
    "junk": 0.02,
    "post": 0.11,
    "list": 0.03,
    "report": 0.07,
}
STYLED = {
    **ONWARD,
    "name": "styled",
    "seed": 191,
    "budget": 5000,
    "seconds": 2400,
    "low": 0.0,
    "save_every": 150,
    "shares": STYLED_SHARES,
    "networks": {"mini": {**network("fast", 1.5e-4, 5e-4, 0.99), "frozen": 2}},
    "measure": ["C_dev", "P_dev", "S_dev", "broad_dev"],
    "send": {"mini": "8"},
}
#: With sentences of what is only spoken of (`sheet`: forms and leaflets), and more of the
#: clinicians' notes: MiniLM goes on from `styled`.
MENDED_SHARES = {
    "bank": 0.05,
    "broad": 0.1,
    "deep": 0.03,
    "C": 0.17,
    "L": 0.02,
    "N": 0.14,
    "S": 0.2,
    "J": 0.02,
    "P": 0.07,
    "junk": 0.02,
    "post": 0.07,
    "list": 0.02,
    "report": 0.09,
    "sheet": 0.03,
    "M": 0.08,
}
MENDED = {
    **STYLED,
    "name": "mended",
    "seed": 211,
    "seconds": 2400,
    "shares": MENDED_SHARES,
    "networks": {"mini": {**network("styled_mini", 1.3e-4, 4e-4, 0.99), "frozen": 2}},
    "measure": ["C_dev"],
}
#: From networks of `styled` and before; in notes of the usual style it also learns what the
#: `fast` of before says of them (`anchor`), so that extents there stay as they are.
ANCHORED = {
    **MENDED,
    "name": "anchored",
    "seed": 231,
    "seconds": 3600,
    "weights": {"taught": 0.5},
    "shares": {**MENDED_SHARES, "C": 0.2, "M": 0.09, "N": 0.15, "J": 0.01, "L": 0.01},
    "networks": {
        "mini": {
            **network("styled_mini+styled_mini+styled_mini+fast", 1.2e-4, 4e-4, 0.992),
            "frozen": 2,
        },
        "anchor": {**network("fast", 0.0, 0.0), "shape": "mini", "frozen": 6},
    },
    "measure": ["C_dev"],
}
#: The same for MPNet, whose last layers go on from `accurate` in the few bits that ship.
LARGE = {
    **MENDED,
    "name": "large",
    "seed": 221,
    "every": 10,
    "budget": 3500,
    "seconds": 2100,
    "save_every": 60,
    "few_layers": 9,
    "filter": False,
    "soft_filter": False,
    "shares": {**MENDED_SHARES, "M": 0.1},
    "networks": {"mpnet": {**network("accurate", 8e-5, 3e-4, 0.98), "frozen": 9}},
    "send": {"mpnet": "5"},
}
#: Both networks from their backbones, all notes but the deep cases; then come `ten` and `folds`.
OPEN = {
    **BASE,
    "name": "open",
    "compiled": True,
    "seed": 41,
    "seconds": 400,
    "low": 0.1,
    "shares": WITHOUT_DEEP_SHARES,
    "measure_every": NEVER,
    "watch": [],
    "measure": ["C_dev", "N_dev", "broad_dev"],
}
#: Several short runs that start differently; their mean is what is measured.
EBM = [
    {
        **COMMON,
        "name": f"ebm{k}",
        "compiled": True,
        "seed": 3 + k,
        "seconds": seconds,
        "warm": 0.1,
        "soft_filter": False,
        "shares": {"ebm": 1.0},
        "measure_every": NEVER,
        "networks": {"mpnet": network(source, rate, 3e-4, 0.995)},
        "measure": ["ebm_dev"],
        "predict": ["ebm_dev", "ebm_test"],
    }
    for k, (source, rate, seconds) in enumerate(
        (
            ("reach_mpnet", 4e-5, 40),
            ("accurate", 4e-5, 40),
            ("reach_mpnet", 8e-5, 50),
            ("accurate", 6e-5, 50),
        )
    )
]


def tune(name: str, seconds: int, learn: Plan, held: Plan) -> Plan:
    """Return a short run that learns from some notes of the deep cases and measures on others."""
    return {
        **COMMON,
        "name": name,
        "seed": 11,
        "seconds": seconds,
        "warm": 0.1,
        "teach_at_once": True,
        "soft_filter": False,
        "shares": TUNING_SHARES,
        "measure_every": NEVER,
        "networks": {
            "mpnet": network("open_mpnet", 4e-5, 3e-4, 0.99),
            "mini": network("open_mini", 2e-4, 6e-4, 0.99),
        },
        "sets": {"learn": learn, "held": held},
        "measure": ["held"],
        "predict": ["held"],
    }


TEN = tune(
    "ten",
    24,
    {"of": "deep", "case_from": 5, "first_ten": True},
    {"of": "deep_test", "case_from": 5},
)
FOLDS = [
    tune(
        f"fold{f}",
        40,
        {"of": "deepall", "not_fold": str(f)},
        {"of": "deepall", "fold": str(f)},
    )
    for f in range(5)
]
PLANS = {
    "smoke": [SMOKE],
    "base": [BASE],
    "final": [FINAL],
    "more": [MORE],
    "one": [ONE],
    "other": [OTHER],
    "mean": [MEAN],
    "further": [FURTHER],
    "latest": [LATEST],
    "student": [STUDENT],
    "reach": [REACH],
    "follow": [FOLLOW],
    "retune": [RETUNE],
    "onward": [ONWARD],
    "arrive": [ARRIVE],
    "styled": [STYLED],
    "mended": [MENDED],
    "anchored": [ANCHORED],
    "large": [LARGE],
    "open": [OPEN],
    "ten": [TEN],
    "folds": FOLDS,
    "ebm": EBM,
}


def main() -> None:
    """Write one file for each kind of run."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, plans in PLANS.items():
        (folder / f"{name}.json").write_text(json.dumps(plans, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

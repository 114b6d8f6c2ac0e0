"""Write the descriptions of the first training runs of docs/neural-figures.md to ``runs.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

#: The recipe of the shipped matcher.
FINAL: dict[str, Any] = {
    "workers": 3,
    "recipe": {
        "steps": 6000,
        "every": 1000,
        "rate": 2e-4,
        "scorer_rate": 8e-4,
        "twice": 1.0,
        "average": 0.999,
        "overlap": 0.25,
        "phrase": 0.25,
        "masked": 0.1,
        "features": {"1": 0.25, "4": 0.2, "all": 0.55},
    },
}
#: A third of the steps, each passed through once: enough for the folds.
SHORT: dict[str, Any] = {
    "workers": 1,
    "recipe": {"steps": 1800, "every": 2000, "rate": 2e-4, "scorer_rate": 8e-4, "phrase": 0.25},
}


def fit(name: str, scheme: str, steps: int) -> dict[str, Any]:
    """Return a run that goes on from the network that never saw the deep cases 5 to 9."""
    return {
        "name": name,
        "scheme": scheme,
        "start": ".neural/out/new.safetensors",
        "workers": 1,
        "modes": [1, 0],
        "recipe": {
            "steps": steps,
            "every": 2000,
            "rate": 1e-4,
            "scorer_rate": 3e-4,
            "average": 0.99,
            "sequences": {"1": 24, "4": 12, "all": 8},
            "phrase": 0.2,
        },
    }


def main() -> None:
    """Write the file."""
    runs = [
        {"name": "final", "scheme": "final", **FINAL},
        {"name": "new", "scheme": "new", **SHORT},
    ]
    runs += [{"name": f"fold{k}", "scheme": f"fold{k}", **SHORT} for k in range(5)]
    runs += [fit("new10", "new10", 300), fit("new20", "new20", 400)]
    runs += [fit("new10-case5", "new10:5", 120), fit("new10-case8", "new10:8", 120)]
    text = json.dumps(runs, indent=1) + "\n"
    Path(__file__).with_name("runs.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

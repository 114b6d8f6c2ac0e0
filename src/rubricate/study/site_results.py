"""A variable's precision and recall site by site, and how far the sites differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rubricate.stats import Resampling, heterogeneity
from rubricate.study.summaries import BySite, SiteResult
from rubricate.study.weighting import DesignNotes, design_posterior

#: Where the notes that precision and recall are shares of stand among TP, FP, FN, TN.
_OF = {"precision": [0, 1], "recall": [0, 2]}


def measure_sites(
    notes: DesignNotes, sites: Sequence[str], settings: Resampling, *, finite: bool
) -> BySite:
    """Measure each site as if it were the study, and compare the sites with Cochran's Q.

    A site enters the comparison with Kish's effective number of notes, (Σ w)² / Σ w² (1965), of
    which its weighted share are successes; `rubricate.stats.heterogeneity` has the formulas.

    Examples
    --------
    >>> cells = np.repeat(np.eye(4, dtype=np.int64), [40, 10, 10, 40], axis=0)
    >>> notes = DesignNotes(cells, np.ones(100), cells[:, :2].any(axis=1), True)
    >>> found = measure_sites(notes, list("AB") * 50, Resampling(), finite=False)
    >>> [(line["site"], line["tp"]) for line in found["sites"]]
    [('A', 20), ('B', 20)]
    >>> found["heterogeneity"]["recall"]["i_squared"]
    0.0
    """
    of = np.asarray(sites)
    lines: list[SiteResult] = []
    effective: dict[str, list[tuple[float, float]]] = {name: [] for name in _OF}
    for site in sorted(set(sites)):
        own = of == site
        part = replace(
            notes, cells=notes.cells[own], weights=notes.weights[own], sides=notes.sides[own]
        )
        measured = design_posterior(part, settings, finite=finite)
        tp, fp, fn, tn = part.cells.sum(axis=0).tolist()
        lines.append(
            {
                "site": site, "notes": int(own.sum()), "tp": tp, "fp": fp, "fn": fn, "tn": tn,
                "precision": measured.precision.to_dict(), "recall": measured.recall.to_dict(),
            }
        )  # fmt: skip
        for name, columns in _OF.items():
            counted = part.cells[:, columns].any(axis=1)
            weights, right = part.weights[counted], part.cells[counted, 0] > 0
            size = weights.sum() ** 2 / (weights**2).sum() if len(weights) else 0.0
            share = weights[right].sum() / weights.sum() if len(weights) else 0.0
            effective[name].append((size * share, size))
    return {
        "sites": lines,
        "heterogeneity": {
            name: heterogeneity(*np.array(found).T).to_dict() for name, found in effective.items()
        },
    }

"""The sections that long help is arranged in.

An option whose meaning differs from command to command names its section where it is made
(`rubricate.cli.command.Option`).
"""

from __future__ import annotations

#: Title → options. An option that stands nowhere here is listed first, under "Options".
SECTIONS: dict[str, tuple[str, ...]] = {
    "Input": (
        "--rubric", "--where", "--assign-case", "--columns", "--input-format", "--predicted-format",
        "--limit", "--like", "--notes", "--groups", "--annotator", "--reference-annotator",
        "--predicted-annotator", "--prefer-annotator", "--reference-group", "--weights",
        "--accept-edited",
    ),
    "Model": ("--model", "--matcher", "--matchers", "--set", "--features-per-pass", "--suggest"),
    "Review": ("--policy", "--unsure", "--any-text", "--corrections"),
    "Expected values": (
        "--precision", "--recall", "--frequency", "--frequency-kind", "--frequency-from",
        "--variable", "--variables",
    ),
    "Target": ("--half-width", "--assurance", "--total", "--drawing", "--pool"),
    "Clusters and sites": (
        "--sites", "--design-effect", "--design-effect-from",
        "--cluster-size", "--cluster-correlation",
    ),
    "Other methods: agreement and scores": ("--kappa", "--icc", "--least", "--raters", "--auc"),
    "Other methods: review policy": ("--error-rate", "--items"),
    "Other methods: comparisons": (
        "--discordant", "--difference", "--power", "--goal", "--rate", "--reference-rate",
        "--looks",
    ),
    "Other methods: pilot": ("--pilot", "--measure"),
    "Matching of spans": ("--protocol", "--unit", "--empty", "--missing"),
    "Statistics": ("--confidence", "--resamples", "--interval", "--population", "--seed"),
    "Output": (
        "--out", "--output-format", "--report", "--no-report", "--plot", "--fix", "--log",
        "--strict",
        "--previous", "--fail", "--overwrite", "--accept-log", "--json",
    ),
    "Speed and limits": (
        "--workers", "--dask", "--batch-size", "--max-chars", "--note-timeout",
        "--checkpoint-dir",
    ),
}  # fmt: skip
#: The last section: what every command has.
OTHER = "Other"

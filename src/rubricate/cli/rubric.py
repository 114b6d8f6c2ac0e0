"""``rubricate rubric``: show what was read of a rubric file, and write it in another form."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rubricate.cli.command import Output, Source, verb, warn_renamed
from rubricate.cli.options import open_corpus, open_rubric, overwrite_option, split_option
from rubricate.cli.output import Answer, answering, print_table
from rubricate.display import counted
from rubricate.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from rubricate.rubric import Rubric


@verb("rubric", epilog="Example: rubricate rubric checklist.xlsx --out checklist.yaml")
@click.argument("path", metavar="FILE", type=Source())
@split_option("Show only this case, e.g. case=4.")
@click.option("--case", "cases", multiple=True, hidden=True)
@click.option("--out", type=Output(),
              help="Also write the rubric to this file: .csv, .tsv, .xlsx, .yaml or "
              ".toml.")  # fmt: skip
@overwrite_option
@answering
def rubric_command(
    path: str, where: tuple[str, ...], cases: tuple[str, ...], out: Path | None, overwrite: bool
) -> Answer:
    """Show how rubricate reads a rubric FILE, case by case, with warnings.

    FILE is .csv, .tsv, .xlsx (one sheet per case), .yaml or .toml, or a corpus with rubrics.
    Warnings are not errors. Check whether each one is intended.
    """
    from rubricate.formats.rubric import KINDS, RubricFile, write_rubrics
    from rubricate.rubric import odd_features
    from rubricate.run.results import total_score

    is_rubric = Path(path).suffix.lower() in KINDS or _is_other_file(Path(path))
    found = open_rubric(Path(path)) if is_rubric else RubricFile(open_corpus(path).rubrics)
    if not found.rubrics:
        raise InputError(f"{path}: holds no rubric")
    cases = _cases(where, cases)
    known = [rubric.case for rubric in found.rubrics]
    for case in cases:
        if case not in known:
            raise UnknownNameError("case", case, known)
    rubrics = [rubric for rubric in found.rubrics if rubric.case in cases or not cases]
    lost = {} if out is None else write_rubrics(rubrics, out, overwrite=overwrite)
    shown = [(r, total_score(r, ()).maximum, list(odd_features(r))) for r in rubrics]
    listed = [
        {"case": r.case, "title": r.title, "maximum": maximum, "features": _features(r),
         "odd": odd}
        for r, maximum, odd in shown
    ]  # fmt: skip

    def say() -> None:
        for one in shown:
            _print(*one)
        if out is not None:
            click.echo(f"wrote {out}")
        for kind, count in lost.items():
            click.echo(f"lost: {kind} of {count} rubrics")

    made = {"notices": found.notices, "out": None if out is None else str(out), "lost": lost}
    return Answer({"file": path, "cases": listed, **made}, say)


def _cases(where: Sequence[str], cases: tuple[str, ...]) -> tuple[str, ...]:
    """Return the cases to show; UsageError for a condition on anything else."""
    if cases:
        warn_renamed("--case", "--where case=NAME")
    for condition in where:
        name, _, values = condition.partition("=")
        if name != "case":
            raise click.UsageError(f"--where {condition}: a rubric has cases only. Use case=NAME.")
        cases += tuple(values.split(","))
    return cases


def _is_other_file(path: Path) -> bool:
    """Tell whether a file is no corpus, so that the kinds of rubric files are told."""
    from rubricate.formats import detect_format

    try:
        detect_format(path)
    except InputError:
        return path.is_file()
    return False


def _features(rubric: Rubric) -> list[dict[str, str | float]]:
    return [
        {"id": f.id, "text": f.text, "points": f.weight, "group": f.group, "kind": f.kind}
        for f in rubric
    ]


def _print(rubric: Rubric, maximum: float, odd: Sequence[str]) -> None:
    title = f" ({rubric.title})" if rubric.title else ""
    lines = _features(rubric)
    points = f"{maximum:g} point" + ("" if maximum == 1 else "s")
    click.echo(f"case {rubric.case!r}{title}: {counted(len(lines), 'feature')}, at most {points}\n")
    names = ["id", "text", "points", *(n for n in ("group", "kind") if any(f[n] for f in lines))]
    print_table(names, [[_short(one[name]) for name in names] for one in lines])
    click.echo()
    for one in odd:
        click.echo(f"check: {one}")
    if odd:
        click.echo()


def _short(value: str | float) -> str | float:
    if isinstance(value, float):
        return f"{value:g}".rjust(len("points"))
    return value if len(value) <= 60 else f"{value[:57]}..."

"""``rubricate rubric``: show what was read of a rubric file, and write it in another form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rubricate.cli.options import json_option, open_rubric, overwrite_option
from rubricate.cli.output import print_json, print_table

EPILOG = """
Example: rubricate rubric checklist.xlsx --out checklist.yaml
"""


@click.command("rubric", epilog=EPILOG)
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path, exists=True))
@click.option("--out", type=click.Path(path_type=Path),
              help="Write it, too: .csv, .tsv, .xlsx, .yaml or .toml.")  # fmt: skip
@overwrite_option
@json_option
def rubric_command(path: Path, out: Path | None, overwrite: bool, as_json: bool) -> None:
    """Show what was read of a rubric FILE, case by case, and what looks odd in it.

    FILE is .csv, .tsv, .xlsx (one sheet per case), .yaml or .toml. Nothing that is odd is wrong:
    you decide what was meant.
    """
    from rubricate.formats.rubric.files import write_rubrics
    from rubricate.formats.rubric.oddities import odd_features
    from rubricate.run.totals import total_score

    found = open_rubric(path)
    lost = {} if out is None else write_rubrics(found.rubrics, out, overwrite=overwrite)
    cases: list[dict[str, Any]] = [
        {
            "case": rubric.case,
            "title": rubric.title,
            "maximum": total_score(rubric, ()).maximum,
            "features": [
                {"id": f.id, "text": f.text, "points": f.weight, "group": f.group, "kind": f.kind}
                for f in rubric
            ],
            "odd": list(odd_features(rubric)),
        }
        for rubric in found.rubrics
    ]
    if as_json:
        print_json({"file": str(path), "cases": cases, "notices": found.notices,
                    "out": None if out is None else str(out), "lost": lost})  # fmt: skip
        return
    for case in cases:
        title = f" ({case['title']})" if case["title"] else ""
        click.echo(f"case {case['case']!r}{title}: {len(case['features'])} features, "
                   f"at most {case['maximum']:g} points\n")  # fmt: skip
        given = [n for n in ("group", "kind") if any(one[n] for one in case["features"])]
        shown = ["id", "text", "points", *given]
        lines = [[_short(one[name]) for name in shown] for one in case["features"]]
        print_table(shown, lines)
        click.echo()
        for odd in case["odd"]:
            click.echo(f"odd: {odd}")
        if case["odd"]:
            click.echo()
    if out is not None:
        click.echo(f"wrote {out}")
    for kind, count in lost.items():
        click.echo(f"lost: {kind} of {count} rubrics")


def _short(value: str | float) -> str | float:
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    return value if len(value) <= 60 else f"{value[:57]}..."

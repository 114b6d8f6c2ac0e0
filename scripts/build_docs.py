"""Build the documentation site: `make docs` writes it to site/.

The pages under docs/, the changelog, CONTRIBUTING and the results are copied to build/docs. Three
kinds of pages are made there from the code: one page for each command, with every option, one page
for each public Python name, and the JSON schema. Warnings, such as a broken link, end the build.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click

import rubricate
from rubricate.cli import VERBS, main

ROOT = Path(__file__).parents[1]
#: Pages that stand outside docs/, with their names on the site.
OTHERS = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
    "SECURITY.md": "security-policy.md",
    "benchmarks/RESULTS.md": "results.md",
}


def copy_pages(folder: Path) -> None:
    """Copy all pages into one folder and point their links at each other there."""
    shutil.copytree(ROOT / "docs", folder)
    for source, name in OTHERS.items():
        (folder / name).write_text((ROOT / source).read_text(encoding="utf-8"), encoding="utf-8")
    for picture in (ROOT / "benchmarks").glob("*.svg"):
        shutil.copy(picture, folder)
    for page in folder.rglob("*.md"):
        up = "../" * (len(page.relative_to(folder).parts) - 1)
        text = page.read_text(encoding="utf-8")
        for source, name in OTHERS.items():
            text = re.sub(rf"\]\((?:\.\./)*{re.escape(source)}(#[\w-]+)?\)",
                          rf"]({up}{name}\1)", text)  # fmt: skip
        if page.name in OTHERS.values():
            text = re.sub(r"\]\((?:\.\./)?docs/", "](", text)
        page.write_text(text, encoding="utf-8")


def option_table(verb: click.Command, ctx: click.Context) -> str:
    """Return the arguments and options of a command as a Markdown table."""
    rows = []
    for parameter in verb.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if isinstance(parameter, click.Argument):
            record = (parameter.make_metavar(ctx), "Argument.")
        if record is not None:
            name, text = (part.replace("|", r"\|") for part in record)
            rows.append(f"| `{name}` | {text} |")
    return "\n".join(["| Option | Meaning |", "|---|---|", *rows])


def command_page(name: str, verb: click.Command, parent: click.Context | None = None) -> str:
    """Return the Markdown reference of a command and of its subcommands."""
    ctx = click.Context(verb, info_name=name, parent=parent)
    level = "#" * (1 if parent is None or parent.parent is None else 2)
    parts = [f"{level} {ctx.command_path}", re.sub(r"\s*\n\s*", " ", verb.help or "")]
    parts.append(f"```text\n{verb.get_usage(ctx)}\n```")
    parts.append(option_table(verb, ctx))
    if verb.epilog:
        example = re.sub(r"\s*[\b]\s*", "\n", verb.epilog).strip()
        parts.append(f"```text\n{example}\n```")
    if isinstance(verb, click.Group):
        for sub in verb.list_commands(ctx):
            inner = verb.get_command(ctx, sub)
            if inner is not None and not inner.hidden:
                parts.append(command_page(sub, inner, ctx))
    return "\n\n".join(part for part in parts if part)


def write_commands(folder: Path) -> None:
    """Write one page for each command, and a page that lists them by task."""
    folder.mkdir(parents=True)
    ctx = click.Context(main, info_name="rubricate")
    lines = ["# Commands", "", "Every command has `--help` with an example, and `--json`."]
    for section, verbs in VERBS.items():
        lines += ["", f"## {section}", "", "| Command | Task |", "|---|---|"]
        for name, (text, _) in verbs.items():
            verb = main.get_command(ctx, name)
            assert verb is not None
            page = command_page(name, verb, ctx) + "\n"
            (folder / f"{name}.md").write_text(page, encoding="utf-8")
            lines.append(f"| [`rubricate {name}`]({name}.md) | {text} |")
    (folder / "index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_python(folder: Path) -> None:
    """Write one page for each public Python name, and a page that lists them."""
    folder.mkdir(parents=True)
    names = [name for name in rubricate.__all__ if not name.startswith("_")]
    lines = ["# Python reference", "", "`import rubricate as r` offers these names.", ""]
    for name in names:
        home = getattr(rubricate, name).__module__
        (folder / f"{name}.md").write_text(f"# {name}\n\n::: {home}.{name}\n", encoding="utf-8")
        lines.append(f"- [`{name}`]({name}.md)")
    (folder / "index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_schema(path: Path) -> None:
    """Write the page with the JSON schema of the JSON Lines format."""
    schema = (ROOT / "docs" / "jsonl.schema.json").read_text(encoding="utf-8")
    path.write_text(
        "# JSON Lines schema\n\nEvery line of a corpus in rubricate's JSON Lines format keeps to "
        "this [JSON schema](https://json-schema.org). The first line is the head, and every other "
        "line is a note. [File formats](formats.md) describes all formats.\n\n"
        f"```json\n{schema}```\n",
        encoding="utf-8",
    )


def build(place: Path, site: Path) -> int:
    """Build the site; return the exit status of the site generator."""
    shutil.rmtree(place, ignore_errors=True)
    copy_pages(place / "docs")
    write_schema(place / "docs" / "schema.md")
    write_commands(place / "docs" / "reference" / "commands")
    write_python(place / "docs" / "reference" / "python")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    settings = settings.replace("SOURCE", str(ROOT / "src"))
    for folder in ("reference/commands", "reference/python"):
        pages = sorted((place / "docs" / folder).glob("*.md"), key=lambda p: (p.stem != "index", p))
        lines = [f"          - {folder}/{page.name}" for page in pages]
        settings = settings.replace(f" {folder}/index.md", "\n" + "\n".join(lines))
    (place / "mkdocs.yml").write_text(settings, encoding="utf-8")
    command = [sys.executable, "-P", "-m", "zensical", "build", "--strict", "--clean"]
    done = subprocess.run(command, cwd=place)
    if done.returncode == 0:
        shutil.rmtree(site, ignore_errors=True)
        shutil.move(place / "site", site)
    return done.returncode


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "site", help="folder of the site")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "docs", help="working folder")
    given = parser.parse_args()
    sys.exit(build(given.work.resolve(), given.out.resolve()))

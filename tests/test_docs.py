"""README and docs say what is true: their code is run and their output compared."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from rubricate.cli import VERBS, main
from rubricate.formats import FORMATS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return [body for name, body in BLOCK.findall(text) if name == language]


def commands(block: str) -> list[tuple[str, str]]:
    """Return each ``$ command`` of a transcript with the output printed below it."""
    found: list[tuple[str, str]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        elif found:
            found[-1] = (found[-1][0], found[-1][1] + line + "\n")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_transcripts_are_true(page: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for block in blocks(page, "console"):
        for command, expected in commands(block):
            done = subprocess.run(
                command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True
            )
            assert done.returncode == 0, f"{page.name}: {command}\n{done.stderr}"
            if not expected.strip():
                continue  # shown without its output
            assert_alike(done.stdout, expected, f"{page.name}: {command}")


def assert_alike(found: str, expected: str, where: str) -> None:
    """Compare word by word; numbers may differ a little, as sums do between processors."""
    pieces = expected.split("...")
    if len(pieces) > 1:
        pattern = ".*".join(re.escape(part.strip()) for part in pieces)
        assert re.fullmatch(pattern, found.strip(), re.DOTALL), f"{where}\n{found}"
        return
    ours, theirs = ([w for w in text.split() if set(w) != {"-"}] for text in (found, expected))
    assert len(ours) == len(theirs), f"{where}\n{found}"
    for one, two in zip(ours, theirs, strict=True):
        numbers = [re.fullmatch(r"[(+-]?[\d,.]+[),;%]*", word) for word in (one, two)]
        if all(numbers) and one != two:
            a, b = (float(re.sub(r"[^\d.]", "", word).strip(".")) for word in (one, two))
            assert a == pytest.approx(b, rel=0.03, abs=0.03), f"{where}: {one} is not {two}"
        else:
            assert one == two, f"{where}: {one} is not {two}\n{found}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_python_is_true(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    parser, runner = (
        doctest.DocTestParser(),
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE),
    )
    names: dict[str, object] = {}
    for block in blocks(page, "python"):
        test = parser.get_doctest(block, names, page.name, str(page), 0)
        runner.run(test, clear_globs=False)
        names = test.globs
    assert runner.failures == 0


def test_every_verb_and_format_is_documented() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for verb in (verb for verbs in VERBS.values() for verb in verbs):
        assert f"rubricate {verb}" in text, verb
    for name in FORMATS:
        assert f"`{name}`" in text, name


def test_commands_shown_in_docs_exist() -> None:
    context = click.Context(main)
    for page in PAGES:
        for verb in re.findall(r"`rubricate ([a-z]+)", page.read_text(encoding="utf-8")):
            assert main.get_command(context, verb) is not None, f"{page.name}: {verb}"


def test_commands_about_the_source_documents_can_be_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command of the page of seeds parses: its verb, its arguments and its options."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    text = (ROOT / "docs" / "seeds.md").read_text(encoding="utf-8")
    found = re.findall(r"`(rubricate [^`]+)`", text)
    assert len(found) > 40
    for line in found:
        command: click.Command = main
        context, words = click.Context(main), shlex.split(line)[1:]
        while isinstance(command, click.Group):
            name = words.pop(0)
            known = command.get_command(context, name)
            assert known is not None, line
            command, context = known, click.Context(known, parent=context, info_name=name)
        command.make_context(context.info_name, words)  # a usage error names what is wrong


def test_links_between_pages_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_changelog_has_one_line_per_change_in_known_sections() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    releases = lines[next(n for n, line in enumerate(lines) if line.startswith("## ")) :]
    known = {"Breaking", "Security", "Added", "Changed", "Fixed", "Removed"}
    for line in filter(None, releases):
        if line.startswith("### "):
            assert line[4:] in known, line
        else:
            assert line.startswith(("## ", "- ")), f"a change is one line: {line}"
            assert len(line.split()) <= 60, f"measurements belong to the results: {line}"

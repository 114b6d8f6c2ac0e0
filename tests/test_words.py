"""Names, options and pages keep to the glossary: they use none of the words that it leaves out."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click

from rubricate.cli import main

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "rubricate"

# Tools' own words, in the modules that read and write their files.
OWN_WORDS = {
    "formats/conll.py": {"tag"},
    "formats/doccano.py": {"entity"},
    "formats/labelstudio": {"tag"},
    "formats/tool_documents.py": {"document"},
    "matchers/matcher.py": {"tag"},
    "web/compat.py": {"document"},
}
# What is not yet so; an entry that is no longer needed fails the test.
STILL: dict[str, set[str]] = {}


def unused_words() -> set[str]:
    """Return the words the glossary does not use."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    listed = re.search(r"^Not used: ([^.]+)\.", text, flags=re.MULTILINE)
    assert listed
    return set(re.findall(r"[a-z]+", listed.group(1)))


def words_of(name: str) -> set[str]:
    """Return the words a name is made of, in the singular.

    >>> sorted(words_of("bestTags_of"))
    ['best', 'of', 'tag']
    """
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_")
    return {re.sub(r"ies$", "y", part) if part.endswith("ies") else part.removesuffix("s")
            for part in parts}  # fmt: skip


def names_in(path: Path) -> set[str]:
    """Return every name a module gives: its own, classes, functions, parameters, variables."""
    found = {path.stem}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
    return found


def test_names_keep_to_the_glossary() -> None:
    unused = unused_words()
    assert {"gold", "truth", "tag"} <= unused
    used: dict[str, set[str]] = {place: set() for place in (*OWN_WORDS, *STILL)}
    faults = []
    for path in sorted(SOURCE.rglob("*.py")):
        inside = path.relative_to(SOURCE).as_posix()
        place = next((p for p in used if inside == p or inside.startswith(f"{p}/")), None)
        allowed = {**OWN_WORDS, **STILL}[place] if place else set()
        for name in sorted(names_in(path)):
            words = words_of(name) & unused
            faults += [f"{inside}: {name}"] if words - allowed else []
            if place:
                used[place] |= words & allowed
    assert not faults
    assert used == {**OWN_WORDS, **STILL}, "take what is no longer used off the lists"


def test_the_busiest_words_have_one_meaning_each() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = [w.strip() for row in re.findall(r"^\| ([^|]+) \|", text, flags=re.MULTILINE)
             for w in row.split(",")]  # fmt: skip
    assert len(words) == len(set(words))
    assert {"item", "run", "step", "policy", "recipe", "certainty", "progress"} <= set(words)


def phrases_not_on_pages() -> list[str]:
    """Return the phrases that pages and help do not use."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    listed = re.search(r"^Not used on pages: ([^.]+)\.", text, flags=re.MULTILINE)
    assert listed
    return [" ".join(phrase.split()) for phrase in listed[1].split(",")]


def page_texts() -> Iterator[tuple[str, str]]:
    """Yield what pages show: of templates the text, of scripts and modules their strings."""
    for path in sorted(SOURCE.glob("*/templates/*.html")):
        yield path.name, re.sub(r"{[#%].*?[#%]}|<[^>]*>", " ", path.read_text(encoding="utf-8"))
    scripts = [*SOURCE.glob("reports/templates/*.js"), *(ROOT / "frontend" / "src").rglob("*.ts")]
    for path in sorted(scripts):
        code = re.sub(r"^\s*(//|/?\*).*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        yield path.name, "\n".join(re.findall(r'"[^"\n]*"|`[^`]*`', code))
    for path in sorted((SOURCE / "reports").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docs = {ast.get_docstring(node, clean=False) for node in ast.walk(tree)
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)}  # fmt: skip
        strings = [node.value for node in ast.walk(tree)
                   if isinstance(node, ast.Constant) and isinstance(node.value, str)]  # fmt: skip
        yield path.name, "\n".join(one for one in strings if one not in docs)


def commands(command: click.Command, ctx: click.Context) -> Iterator[tuple[str, click.Command]]:
    """Yield every command with its path."""
    yield ctx.command_path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            inner = command.get_command(ctx, name)
            assert inner is not None
            yield from commands(inner, click.Context(inner, parent=ctx, info_name=name))


def test_pages_and_help_use_one_term_per_thing() -> None:
    phrases = phrases_not_on_pages()
    assert "not found" in phrases
    texts = dict(page_texts())
    for path, command in commands(main, click.Context(main, info_name="rubricate")):
        helps = [getattr(one, "help", "") or "" for one in command.params]
        texts[path] = " ".join([command.help or "", *helps])
    faults = [
        f"{name}: {phrase}"
        for name, text in texts.items()
        for phrase in phrases
        if re.search(rf"\b{phrase}\b", " ".join(text.split()), flags=re.IGNORECASE)
    ]
    assert not faults


def test_options_keep_to_the_glossary_and_have_help() -> None:
    unused = unused_words()
    for path, command in commands(main, click.Context(main, info_name="rubricate")):
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                words = words_of("_".join(option.opts).replace("-", "_"))
                assert not words & unused, f"{path}: {option.opts}"
                assert option.help, f"{path}: {option.opts} has no help"


HEADLESS = re.compile(
    r"(What|Whether|Who|Whose|Where|How|Why|Return (what|whose|whether|why|how|where|who|which))\b"
)


def test_docstrings_begin_with_a_verb_or_a_noun() -> None:
    faults = []
    folders = [SOURCE, *(ROOT / name for name in ("tests", "scripts", "benchmarks", "training"))]
    paths = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    assert len(paths) > 500
    for path in paths:
        inside = path.relative_to(ROOT)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node) or ""
                faults += [f"{inside}: {text.splitlines()[0]}"] if HEADLESS.match(text) else []
    assert not faults

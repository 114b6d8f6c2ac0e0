"""Names in the code keep to the glossary: what it does not use is no part of a name."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "rubricate"

# Tools' own words, in the modules that read and write their files.
OWN_WORDS = {
    "formats/conll.py": {"tag"},
    "formats/doccano.py": {"entity"},
    "formats/labelstudio": {"tag"},
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

"""Words and patterns of words stand in tables, not in the program."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "rubricate"
FOLDERS = (
    "reading",
    "requirement",
    "rules",
    "matchers",
    "lexicon",
    "screening",
    "scoring",
    "trust",
)
#: Modules that may hold words or expressions, and why.
EXCEPTIONS = {
    "reading/tokens.py": "the tokeniser, with its spelling",
    "reading/clean.py": "puts the marks of the table marks.tsv together",
    "lexicon/sources.py": "file formats of the sources of synonyms",
    "matchers/__init__.py": "how the settings of a matcher are written",
    "scoring/corrections.py": "how dates and columns of a table of corrections are written",
}
#: A list of words has at least so many; two words beside each other are a part of a rule.
LEAST_WORDS = 3
#: A word of a note, rather than a name of a column, a file or a kind.
WORD = re.compile(r"[a-z]+(?:/[a-z]+)?")
#: Beside "in": what asks for the words of a list.
ASKING = ("frozenset", "isdisjoint", "startswith", "endswith")
MODULES = [
    path
    for folder in FOLDERS
    for path in sorted((SOURCE / folder).rglob("*.py"))
    if path.relative_to(SOURCE).as_posix() not in EXCEPTIONS
]
#: Names of what the program itself makes, which are compared as words are: kinds of tokens,
#: negations, statistics, and the names that tables give to relatives.
KINDS = [
    {"low", "high", "wrong"},
    {"brother", "sister", "sibling"},
    {"wife", "husband", "partner"},
    {"son", "daughter", "child"},
]


def expressions(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the regular expressions of words that a module writes down."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and node.args):
            continue
        called = ast.unparse(node.func)
        if called == "word_set":
            yield node.lineno, "word_set"
        elif called.startswith("re.") and called != "re.escape":
            written = [one.value for one in ast.walk(node.args[0]) if isinstance(one, ast.Constant)]
            text = "".join(one for one in written if isinstance(one, str))
            # "\s" and "[^\W\d_]" name kinds of letters
            if re.search(r"[A-Za-z]{2}", re.sub(r"\\(?:x..|u....|.)|\(\?[a-zA-Z<:=!]+", "", text)):
                yield node.lineno, called


def lists(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the lists of words that a module compares words with."""
    named = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            asked = node.comparators
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ASKING:
            asked = node.args
        for one in asked:
            found = named.get(one.id, one) if isinstance(one, ast.Name) else one
            if isinstance(found, ast.Tuple | ast.List | ast.Set):
                values = {part.value for part in found.elts if isinstance(part, ast.Constant)}
                words = {part for part in values if isinstance(part, str) and WORD.fullmatch(part)}
                if len(words) >= LEAST_WORDS and words not in KINDS:
                    yield found.lineno, ", ".join(sorted(words))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_words_stand_in_tables(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [f"{path.name}:{line}: {what}" for line, what in (*expressions(tree), *lists(tree))]
    assert not found, "move into a table of src/rubricate/knowledge/data:\n" + "\n".join(found)


def test_the_search_finds_what_it_is_for() -> None:
    offending = """
import re
from rubricate.reading.tokens import word_set
A = word_set("no not")
B = re.compile(r"no (?:sign|evidence)")
def f(form, text):
    return form in ("no", "not", "nil") or re.search("denies", text) or form in G
G = ("he", "she", "they")
"""
    tree = ast.parse(offending)
    assert [line for line, _ in sorted((*expressions(tree), *lists(tree)))] == [4, 5, 7, 7, 8]
    harmless = r"""
import re
C = re.split(r"[.;\n]", text)
D = re.compile(r"(?P<n>\d+)|[^\W\d_]+")
E = form in (",", ";", "-") or kind in ("word", "number")
"""
    assert not [*expressions(ast.parse(harmless)), *lists(ast.parse(harmless))]


def test_exceptions_are_there() -> None:
    assert all((SOURCE / name).is_file() for name in EXCEPTIONS)

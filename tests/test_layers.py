"""Imports run one way as the architecture page draws it, and every name has one home."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "rubricate"

# Who may be imported by whom: a part imports only parts of lower layers, or of its own part.
LAYERS = [
    {"errors", "arrays"},
    {"spans", "files", "progress", "registry", "columns", "display", "stats", "batch"},
    {"rubric"},
    {"rows"},
    {"corpus"},
    {"builder", "merge", "splits", "summary", "text"},
    {"formats", "measures", "lexicon"},
    {"run"},
    {"agreement", "checking", "matchers"},
    {"neural"},
    {"evaluation", "trials", "trust"},
    {"reports"},
    {"study", "scoring"},
    {"store"},
    {"notebook", "web"},
    {"cli"},
]
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
# Parts of one layer that may still use each other, in this direction only.
BESIDE = {("stats", "errors"), ("batch", "files")}
MAX_LINES = 400
FILES = sorted(SOURCE.rglob("*.py"))

# What is not yet so. Both lists only shrink: an entry that is no longer needed fails its test.
SHARED_CLASS_NAMES: set[str] = set()
# Small modules with one importer that wait to be merged.
SMALL_WITH_ONE_IMPORTER: set[str] = set()
SMALL = 100


def part_of(path: Path) -> str:
    relative = path.relative_to(SOURCE)
    return relative.parts[0].removesuffix(".py")


def imported_parts(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [node.module or ""]
            if node.module == "rubricate":
                names = [f"rubricate.{alias.name}" for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("rubricate.")}
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_run_downwards(path: Path) -> None:
    part = part_of(path)
    if part in {"__init__", "__main__"}:
        return
    assert part in LEVEL, f"{part} has no layer: add it to LAYERS and to docs/architecture.md"
    for other in imported_parts(path) - {part, "__version__"}:
        assert other in LEVEL, f"{path.name} imports rubricate.{other}, which has no layer"
        lower = LEVEL[other] < LEVEL[part] or (part, other) in BESIDE
        assert lower, f"{path.relative_to(SOURCE)} imports upwards: {part} -> {other}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_files_stay_readable(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MAX_LINES
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "every module says in one sentence what it is for"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            length = (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
            assert length <= 60, f"{path.name}:{node.lineno} {node.name} has {length} lines"


def test_no_drawers() -> None:
    drawers = {"utils", "util", "helpers", "common", "misc", "base", "manager"}
    assert not drawers & {p.stem for p in SOURCE.rglob("*")}


def drawn_layers() -> list[set[str]]:
    """Return the layers of the diagram in docs/architecture.md, the lowest first."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    diagram = re.findall(r"^```\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)[0]
    lines = [line for line in diagram.splitlines() if line.strip() not in {"", "│"}]
    # names are two spaces apart, what they are for begins after more
    return [set(re.split(r"\s{3,}", line.strip())[0].split()) for line in reversed(lines)]


def test_the_diagram_is_true() -> None:
    assert drawn_layers() == LAYERS, "docs/architecture.md draws other layers than LAYERS"
    parts = {part_of(path) for path in FILES} - {"__init__", "__main__"}
    assert parts == set(LEVEL), "LAYERS and the folders of src/rubricate differ"


def classes() -> dict[str, list[str]]:
    """Return where each class is defined."""
    places = defaultdict(list)
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(SOURCE)))
    return places


def test_a_notes_way_is_short_and_true() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    way = text[text.index("## A note's way through `score`") : text.index("## The rows")]
    forms = re.findall(r"^\| \d \| ([^|]+) \|", way, flags=re.MULTILINE)
    assert 2 <= len(forms) <= 8
    assert {form.strip("`") for form in forms if "`" in form} <= classes().keys()


def test_every_class_has_its_own_name() -> None:
    places = classes()
    shared = {name: found for name, found in places.items() if len(found) > 1}
    new = {name: found for name, found in shared.items() if name not in SHARED_CLASS_NAMES}
    assert not new, "rename one of them"
    stale = sorted(SHARED_CLASS_NAMES - shared.keys())
    assert not stale, "unique now: take them off SHARED_CLASS_NAMES"


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


def importers() -> dict[str, set[str]]:
    """Return which modules import each module; names in registries count as imports."""
    known = {module_name(path) for path in FILES}
    found: dict[str, set[str]] = {name: set() for name in known}
    for path in FILES:
        text, own = path.read_text(encoding="utf-8"), module_name(path)
        names = set(re.findall(r'"rubricate\.([\w.]+)[:"]', text))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module:
                place = node.module.removeprefix("rubricate.")
                names |= {place, *(f"{place}.{alias.name}" for alias in node.names)}
                if node.module == "rubricate":
                    names |= {alias.name for alias in node.names}
        for name in names & known - {own}:
            found[name].add(own)
    return found


def test_small_modules_with_one_importer_are_part_of_it() -> None:
    users = importers()
    small = {
        module_name(path)
        for path in FILES
        if len(path.read_text(encoding="utf-8").splitlines()) < SMALL
        and path.stem not in {"__init__", "__main__"}
        and part_of(path) != "cli"  # one file per verb
        and len(users[module_name(path)]) < 2
    }
    new, stale = sorted(small - SMALL_WITH_ONE_IMPORTER), sorted(SMALL_WITH_ONE_IMPORTER - small)
    assert not new, "merge them into their importers"
    assert not stale, "merged or used elsewhere now: take them off SMALL_WITH_ONE_IMPORTER"

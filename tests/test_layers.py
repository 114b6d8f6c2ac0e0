"""Imports run one way, as the architecture page draws it."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "rubricate"

# Who may be imported by whom: a part imports only parts of lower layers, or of its own part.
LAYERS = [
    {"errors", "arrays"},
    {
        "spans",
        "files",
        "outputs",
        "progress",
        "registry",
        "columns",
        "display",
        "values",
        "frames",
        "stats",
        "batch",
    },
    {"rubric"},
    {"rows"},
    {"corpus"},
    {"knowledge"},
    {"builder", "merge", "splits", "summary", "reading"},
    {"formats", "evaluation", "lexicon", "requirement"},
    {"rules"},
    {"run"},
    {"checking", "matchers", "screening"},
    {"neural"},
    {"effects"},
    {"learning", "trials", "trust"},
    {"reports"},
    {"study", "scoring"},
    {"store"},
    {"notebook", "web"},
    {"cli"},
]
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
# Parts of one layer that may still use each other, in this direction only.
BESIDE = {("stats", "errors"), ("batch", "files"), ("files", "outputs")}
FILES = sorted(SOURCE.rglob("*.py"))


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
    assert part in LEVEL, f"{part} has no layer: add it to LAYERS, and run scripts/draw_layers.py"
    for other in imported_parts(path) - {part, "__version__"}:
        assert other in LEVEL, f"{path.name} imports rubricate.{other}, which has no layer"
        lower = LEVEL[other] < LEVEL[part] or (part, other) in BESIDE
        assert lower, f"{path.relative_to(SOURCE)} imports upwards: {part} -> {other}"


@pytest.mark.parametrize("path", sorted((SOURCE / "store").rglob("*.py")), ids=lambda p: p.stem)
def test_the_store_knows_nothing_of_http(path: Path) -> None:
    assert not re.search(r"\b(starlette|msgspec|uvicorn|http)\b", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_scoring_imports_no_training() -> None:
    """Training needs torch: it is imported where a model is fitted, inside the function."""
    training = "rubricate.neural.training"
    for path in FILES:
        if training.split(".")[1:] == list(path.relative_to(SOURCE).parts[:2]):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inside = part_of(path) in {"scoring", "run", "matchers"}
        for node in ast.walk(tree) if inside else tree.body:
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                found = [name for name in names if name.startswith(training)]
                assert not found, f"{path.relative_to(SOURCE)} imports {found}"


#: Rules of one family each. They claim, and know neither each other nor who decides.
FAMILIES = {
    "diagnosis", "measured", "modality", "person", "plan", "polarity",
    "tests", "time", "value",
}  # fmt: skip


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_a_family_of_rules_knows_no_other(family: str) -> None:
    tree = ast.parse((SOURCE / "rules" / f"{family}.py").read_text(encoding="utf-8"))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    used = {node.module for node in nodes if (node.module or "").startswith("rubricate.rules")}
    assert used <= {"rubricate.rules.reasons"}


def test_no_drawers() -> None:
    drawers = {"utils", "util", "helpers", "common", "misc", "base", "manager"}
    assert not drawers & {p.stem for p in SOURCE.rglob("*")}


#: Longest text beside a name of the drawing.
WIDTH = 71


def purpose(part: str) -> str:
    """Return the purpose of a part: the longest clauses of its first line that fit."""
    path = SOURCE / part / "__init__.py"
    text = (path if path.exists() else SOURCE / f"{part}.py").read_text(encoding="utf-8")
    said = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0].removesuffix(".")
    ends = [found.start() for found in re.finditer(r"[,:;.] |(?<=[?]) |$", said)]
    ends = [end for end in ends if said.count("(", 0, end) == said.count(")", 0, end)]
    return said[: max([end for end in ends if end <= WIDTH] or ends[:1])]


def drawing() -> str:
    """Draw the layers, the highest first, with what each part is for."""
    lines = []
    for parts in reversed(LAYERS):
        for place, part in enumerate(sorted(parts)):
            lines.append(f"{'│' if place else '▼'} {part:<12} {purpose(part)}")
    return "\n".join(lines)


def test_the_drawing_is_made_from_the_code() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert drawing() in text, "Run: python scripts/draw_layers.py"
    parts = {part_of(path) for path in FILES} - {"__init__", "__main__"}
    assert parts == set(LEVEL), "LAYERS and the folders of src/rubricate differ"

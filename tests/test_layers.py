"""Imports run one way, and no file grows into a drawer."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "rubricate"

# Who may be imported by whom: a part imports only parts of lower layers, or of its own part.
LAYERS = [
    {"errors"},
    {"spans", "files", "registry", "stats", "batch"},
    {"rubric"},
    {"rows"},
    {"corpus"},
    {"builder", "joining", "summary", "text"},
    {"formats", "measures", "lexicon"},
    {"agreement", "checking", "matchers"},
    {"neural"},
    {"evaluation", "trials", "trust"},
    {"reports"},
    {"study", "scoring"},
    {"cli", "web"},
]
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
# Parts of one layer that may still use each other, in this direction only.
BESIDE = {("joining", "builder"), ("stats", "errors")}
MAX_LINES = 400
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

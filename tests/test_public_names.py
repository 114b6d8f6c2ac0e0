import ast
import re
import subprocess
import sys
from pathlib import Path

import rubricate

SOURCE = Path(__file__).parents[1] / "src" / "rubricate"


def test_all_public_names_exist_and_are_sorted() -> None:
    assert rubricate.__all__ == sorted(rubricate.__all__)
    for name in rubricate.__all__:
        assert getattr(rubricate, name) is not None
    assert set(rubricate._PLACES) == set(rubricate.__all__) - {"__version__"}


def test_type_checkers_know_every_public_name() -> None:
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    block = next(top for top in tree.body if isinstance(top, ast.If))
    names = {
        name.name for top in block.body if isinstance(top, ast.ImportFrom) for name in top.names
    }
    assert names == set(rubricate._PLACES)


def test_importing_the_package_or_the_command_loads_nothing_heavy() -> None:
    code = (
        "import sys, rubricate, rubricate.cli; "
        "print([m for m in ('numpy','polars','scipy','jinja2','cassis') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_tables_of_parameters_stand_on_public_names_alone() -> None:
    public = {*rubricate.__all__, "EvidenceComponent"}  # spaCy finds it by its entry point
    table = re.compile(r"^(Parameters|Returns|Raises)\n-+$", re.MULTILINE)
    found = [
        f"{path.relative_to(SOURCE)}: {top.name}"
        for path in sorted(SOURCE.rglob("*.py"))
        for top in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(top, ast.FunctionDef | ast.ClassDef) and top.name not in public
        for part in ast.walk(top)
        if isinstance(part, ast.FunctionDef | ast.ClassDef)
        if table.search(ast.get_docstring(part) or "")
    ]
    assert not found, "say in a line or two what is not plain from names and types"

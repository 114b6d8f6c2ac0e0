"""The example notebook runs from its first cell to its last, and every result shows itself."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook.ipynb"


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    shown = 0
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] != "code":
            continue
        assert not cell["outputs"], "kept without outputs"
        body = ast.parse("".join(cell["source"]), f"cell {number}")
        last = body.body[-1]
        if isinstance(last, ast.Expr):
            # A notebook shows the value of a cell's last line.
            del body.body[-1]
            exec(compile(body, f"cell {number}", "exec"), names)
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)  # noqa: S307
            assert value._repr_html_() if hasattr(value, "_repr_html_") else repr(value)
            shown += 1
        else:
            exec(compile(body, f"cell {number}", "exec"), names)
    assert sum(cell["cell_type"] == "code" for cell in notebook["cells"]) == 10
    assert shown >= 8
    assert list(tmp_path.iterdir()) == [], "no folder is written unless asked"

"""Code that nothing in the package uses is deleted, or listed here with the reason why it stays."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest
import vulture

SOURCE = Path(__file__).parents[1] / "src"
#: Commands are called by the name they are registered under.
DECORATORS = ["@click.*", "@*.command", "@*.group", "@step", "@verb"]
#: Fields of results and settings are written and read as a whole (`asdict`, JSON, tables).
FIELD = re.compile(r"\s+\w+: ")

#: Name (or pattern) of what nothing uses, and who does.
PUBLIC = {
    "__getattr__": "Python calls it",
    "__dir__": "Python calls it",
    "find_class": "pickle calls it",
    "comparison_": "users read it: the errors before and after fitting",
    "list_commands": "click calls it",
    "get_command": "click calls it",
    "format_commands": "click calls it",
    "format_options": "click calls it",
    "command_class": "click reads it",
    "get_metavar": "click calls it",
    "freeze_panes": "openpyxl reads it",
    "quotePrefix": "openpyxl reads it",
    "highlight_color": "python-docx reads it",
    "author": "python-docx reads it",
    "superscript": "python-docx reads it",
    "underline": "python-docx reads it",
    "*_page": "for those who use the package from Python",
    "compress_type": "zipfile reads it",
    "log_severity_level": "onnxruntime reads it",
    "*_op_num_threads": "onnxruntime reads it",
    "post_processor": "tokenizers reads it",
    "intermediate_result": "scipy passes it by name",
    "*Matcher": "named in the registry of matchers",
    "BIOC_XML": "named in the registry of formats",
    "CAS_JSON": "named in the registry of formats",
    "SUBMISSION": "named in the registry of formats",
    "DOCBIN": "named in the registry of formats",
    "PRODIGY": "named in the registry of formats",
    "TABLE": "named in the registry of formats",
    "TEXTS": "named in the registry of formats",
    "serve": "the command line of a worker process calls it",
    "to_frame": "for those who use the package from Python",
    "_repr_html_": "notebooks call it",
    "deep": "scikit-learn gives it by name",
    "set_params": "scikit-learn calls it",
    "EvidenceComponent": "spaCy finds it by its entry point",
    "average_models": "for those who use the package from Python",
    "data_location": "onnx reads it",
    "symbolic": "torch's exporter calls it",
    "total_tokens": "anyio reads it",
    "regex": "starlette reads it",
    "export_packed": "training/ship.py",
    "fit_hidden": "training/learn_shared.py",
    "predict_corpus": "for matchers of other packages",
    "contradiction": "for those who use the package from Python",
    "why_contradicted": "for those who use the package from Python",
}
#: Dead code that is still there: delete it, and its line here.
TO_DELETE: list[str] = []


@cache
def unused() -> dict[str, str]:
    """Return the names that nothing in the package uses, and where they are."""
    search = vulture.Vulture(ignore_decorators=DECORATORS)
    search.scavenge([SOURCE])
    found = {}
    for item in search.get_unused_code(min_confidence=60):
        line = item.filename.read_text(encoding="utf-8").splitlines()[item.first_lineno - 1]
        if item.typ != "variable" or not FIELD.match(line):
            place = item.filename.relative_to(SOURCE)
            found[item.name] = f"{place}:{item.first_lineno}: {item.typ} {item.name}"
    return found


def test_nothing_is_dead() -> None:
    known = [*PUBLIC, *TO_DELETE]
    dead = [
        place
        for name, place in unused().items()
        if not any(fnmatchcase(name, pattern) for pattern in known)
    ]
    assert not dead, "delete these, or say in PUBLIC who uses them:\n" + "\n".join(dead)


def test_dead_code_would_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "module.py").write_text("def nobody_calls_this():\n    return 1\n")
    monkeypatch.setitem(globals(), "SOURCE", tmp_path)
    unused.cache_clear()
    try:
        with pytest.raises(AssertionError, match=r"module\.py:1: function nobody_calls_this"):
            test_nothing_is_dead()
    finally:
        unused.cache_clear()

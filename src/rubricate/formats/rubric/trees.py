"""Rubrics in YAML and TOML files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rubricate.errors import InputError, MissingExtraError, did_you_mean, shown
from rubricate.formats.encoding import Json, metadata_from_json, rubric_to_json
from rubricate.formats.reading import Faults, has_lone_surrogate, read_text, read_toml
from rubricate.formats.rubric.records import FLOOR_FAULT, Records, add_floor, match_columns
from rubricate.rubric import Rubric, Scalar

_ODD_CHARACTER = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_RUBRIC_KEYS = ("case", "title", "floor", "metadata", "features")


class Branch(Json):
    """A mapping of a tree, with the line it begins in."""

    line: int | None = None


def read_yaml_tree(path: Path, faults: Faults) -> Any:
    """Return the file as tables, lists and texts.

    Scalars stay as they are written (``No`` is not false, ``1.10`` not 1.1); only what is below
    ``metadata`` gets a type.
    """
    try:
        import yaml
    except ImportError:
        raise MissingExtraError("YAML files") from None
    text = read_text(path, faults.how.limits)
    loader = None
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        return None if node is None else _Nodes(loader, faults, path).value(node)
    except yaml.reader.ReaderError as error:
        character = f"U+{int(error.character):04X}"
        line = text.count("\n", 0, error.position) + 1
        faults.add(f"not valid YAML: character {character} is not allowed", line=line)
        return Branch()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "unexpected character"
        faults.add(f"not valid YAML: {problem}", line=None if mark is None else mark.line + 1)
        return Branch()
    except RecursionError:
        faults.add("not valid YAML: nested too deeply")
        return Branch()
    finally:
        if loader is not None:
            loader.dispose()


class _Nodes:
    """Turns the nodes of a YAML file into values, as many and as deep as the limits allow.

    An alias is another look at the same node: a file of ten lines can have a billion of them.
    """

    def __init__(self, loader: Any, faults: Faults, path: Path) -> None:
        self.loader = loader
        self.faults = faults
        self.path = path
        self.n_values = 0

    def value(self, node: Any, depth: int = 1) -> Any:
        import yaml

        self.n_values += 1
        limits = self.faults.how.limits
        self.faults.how.limits.check(
            "cells", self.n_values, "the file has {} values or more", self.path
        )
        limits.check("depth", depth, "the file has {} levels or more", self.path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, depth + 1) for item in node.value]
        if isinstance(node, yaml.ScalarNode):
            return None if node.tag == "tag:yaml.org,2002:null" else self.text(node)
        table = Branch()
        table.line = node.start_mark.line + 1
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                self.faults.add("a key must be a text", line=line)
            elif key.value in table:
                self.faults.add(f"key {shown(key.value)} occurs again", line=line)
            elif key.value == "metadata":
                table[key.value] = self.metadata(value)
            else:
                table[self.text(key)] = self.value(value, depth + 1)
        return table

    def text(self, node: Any) -> str:
        if has_lone_surrogate(node.value):
            what = "holds half a surrogate pair, which no UTF-8 file can hold"
            self.faults.add(f"a text {what}", line=node.start_mark.line + 1)
            return "wrong"
        return str(node.value)

    def metadata(self, node: Any) -> Any:
        """Return a table whose values have types; None stands for what is no such table."""
        import yaml

        if isinstance(node, yaml.ScalarNode):
            return None if node.tag == "tag:yaml.org,2002:null" else [""]
        pairs = node.value if isinstance(node, yaml.MappingNode) else [(node, node)]
        found: Json = {}
        for key, value in pairs:
            if not (isinstance(key, yaml.ScalarNode) and isinstance(value, yaml.ScalarNode)):
                return [""]
            try:
                item = self.loader.construct_object(value, deep=True)
            except (ValueError, OverflowError, yaml.YAMLError):
                item = [""]
            found[self.text(key)] = self.text(value) if isinstance(item, str) else item
        return found


def read_toml_tree(path: Path, faults: Faults) -> Any:
    """Return the file as tables, lists and texts; only what is below ``metadata`` has a type."""
    try:
        return _from_toml(read_toml(path, faults.how.limits))
    except InputError as error:
        faults.found += error.faults
        return Branch()


def _from_toml(value: Any) -> Any:
    if isinstance(value, dict):
        return Branch({k: v if k == "metadata" else _from_toml(v) for k, v in value.items()})
    if isinstance(value, list):
        return [_from_toml(item) for item in value]
    return str(value)


def tree_records(tree: Any, default_case: str, faults: Faults) -> Records:
    """Return the features of a tree.

    It is a list of rubrics (``case``, ``title``, ``metadata``, ``features``) or of features, a
    table with such a list under ``rubrics`` or ``features``, or a table from a case to its rubric
    or its features. Features are a list, or a table from id to feature; a feature is a table, or
    just its text.
    """
    reader = _TreeReader(default_case, faults)
    if isinstance(tree, list):
        reader.add_all(tree)
    elif isinstance(tree, Branch) and "rubrics" in tree:
        reader.check_keys(tree, ("rubrics",), "the file")
        reader.add_all(tree["rubrics"])
    elif isinstance(tree, Branch) and "features" in tree:
        reader.add_rubric(tree)
    elif isinstance(tree, Branch):
        for case, value in tree.items():
            if not case.startswith("_"):
                reader.add_case(case, value)
    elif tree is not None:
        faults.add("expected a list or a table of rubrics")
    return reader.records


class _TreeReader:
    """Collects the features of a tree, wherever they hang."""

    def __init__(self, default_case: str, faults: Faults) -> None:
        self.faults = faults
        self.records = Records(default_case)

    def add_all(self, items: Any) -> None:
        """Add a list whose items are rubrics or features."""
        if not isinstance(items, list):
            self.faults.add("expected a list of rubrics", line=_line(items))
            return
        for item in items:
            if isinstance(item, Branch) and "features" in item:
                self.add_rubric(item)
            else:
                self.add_feature(item, "")

    def add_case(self, case: str, value: Any) -> None:
        """Add what hangs below the name of a case."""
        if isinstance(value, Branch) and "features" in value:
            self.add_rubric(value, case)
        else:
            self.add_features(value, case)

    def add_rubric(self, table: Branch, case: str = "") -> None:
        """Add a rubric with its head."""
        self.check_keys(table, _RUBRIC_KEYS, "a rubric")
        head = {key: table.get(key) or "" for key in ("case", "title")}
        for key, value in head.items():
            if not isinstance(value, str):
                self.faults.add(f"the {key} must be a text or a number", line=table.line)
                head[key] = ""
        case = head["case"].strip() or case.strip()
        owner = case or self.records.default_case
        if head["title"].strip():
            self.records.titles[owner] = head["title"].strip()
        try:
            self.records.metadata[owner] = metadata_from_json(table.get("metadata"))
        except (TypeError, AttributeError):
            message = "metadata must be a table of texts, numbers, true, false and null"
            self.faults.add(message, line=table.line)
        floor = table.get("floor")
        if floor is not None and (
            not isinstance(floor, str) or add_floor(self.records, owner, floor) is None
        ):
            self.faults.add(FLOOR_FAULT.format(shown(str(floor))), line=table.line)
        self.add_features(table["features"], case)

    def add_features(self, value: Any, case: str) -> None:
        """Add the features of one case; without a name, each may have its own."""
        case = case.strip()
        if case in self.records.cases:
            self.faults.add(f"case {case!r} has several rubrics", line=_line(value))
        if case:
            self.records.cases.append(case)
        if isinstance(value, Branch):
            for identifier, item in value.items():
                self.add_feature(item, case, identifier.strip(), value.line)
        elif isinstance(value, list):
            for item in value:
                self.add_feature(item, case)
        elif value is not None:
            self.faults.add(f"the features of case {case!r} must be a list or a table")

    def add_feature(
        self, item: Any, case: str, identifier: str = "", line: int | None = None
    ) -> None:
        """Add one feature: a table, or its text."""
        number = len(self.records.features) + 1
        place = _line(item) or line
        if self.faults.unit == "row":
            place = number
        if isinstance(item, Branch):
            names = list(item)
            columns = match_columns(names, lambda m: self.faults.add(m, line=place))
            values = {column: item[names[i]] for i, column in columns.items()}
        else:
            values = {"text": item}
        for column in [c for c, value in values.items() if isinstance(value, list | dict)]:
            self.faults.add(f"the feature's {column} must be a text or a number", line=place)
            values[column] = "1" if column == "weight" else "wrong"
        plain = {c: value.strip() for c, value in values.items() if value and value.strip()}
        if identifier:
            plain["id"] = identifier
        self.records.add(plain, case, place)

    def check_keys(self, table: Branch, allowed: Sequence[str], what: str) -> None:
        """Report keys that mean nothing."""
        for key in table:
            if key not in allowed and not key.startswith("_"):
                hint = did_you_mean(key, allowed, otherwise=f"; known: {', '.join(allowed)}")
                self.faults.add(f"{what} has no key {key!r}{hint}", line=table.line)


def _line(value: Any) -> int | None:
    return value.line if isinstance(value, Branch) else None


def _rubric_tree(rubric: Rubric) -> Json:
    tree = rubric_to_json(rubric)
    features = tree.pop("features")
    return {**tree, "features": features}


def write_yaml_tree(rubrics: Sequence[Rubric], path: Path) -> None:
    """Write the rubrics as a list under ``rubrics``."""
    try:
        import yaml
    except ImportError:
        raise MissingExtraError("YAML files") from None

    class Dumper(yaml.SafeDumper):
        pass

    def represent(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        # In any other style, PyYAML writes these line breaks as they are and reads them as "\n".
        style = '"' if _ODD_CHARACTER.search(text) else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(str, represent)
    tree = {"rubrics": [_rubric_tree(rubric) for rubric in rubrics]}
    text = yaml.dump(tree, Dumper=Dumper, allow_unicode=True, sort_keys=False, width=100)
    path.write_bytes(text.encode())


def write_toml_tree(rubrics: Sequence[Rubric], path: Path) -> None:
    """Write the rubrics as tables ``[[rubrics]]``; metadata that are None are left out."""
    lines: list[str] = []
    for rubric in rubrics:
        tree = _rubric_tree(rubric)
        features, metadata = tree.pop("features"), tree.pop("metadata", {})
        lines += ["[[rubrics]]", *_toml_lines(tree), ""]
        if metadata:
            lines += ["[rubrics.metadata]", *_toml_lines(metadata), ""]
        for feature in features:
            lines += ["[[rubrics.features]]", *_toml_lines(feature), ""]
    path.write_bytes("\n".join(lines).encode())


def _toml_lines(table: Mapping[str, Scalar]) -> list[str]:
    return [f"{_toml_key(k)} = {_toml_value(v)}" for k, v in table.items() if v is not None]


def _toml_key(key: str) -> str:
    is_bare = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if is_bare else _toml_value(key)


def _toml_value(value: Scalar) -> str:
    """Return a value as TOML writes it; its texts are JSON's, but for DEL."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", r"\u007f")
    return repr(value)

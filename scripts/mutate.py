"""Change small things in the code at random, and see which changes the tests notice.

A comparison is turned, a number moved by one, ``and`` becomes ``or``, a ``not`` is dropped, plus
becomes minus, a result is lost. Each change is made alone, in a copy of the tree; the tests that
mirror the changed file run, and with ``--wide`` those of its whole package where these notice
nothing; ``--quick`` leaves out tests that start processes or take long. A change that no test
notices shows where a test is missing.

    python scripts/mutate.py measures stats --number 40 --seed 1
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[1]
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add}


@dataclass(frozen=True)
class Mutation:
    """One change: the file, the place in it, what stood there and what stands there now."""

    file: str
    line: int
    start: int
    end: int
    kind: str
    before: str
    after: str


@dataclass(frozen=True)
class Outcome:
    """Verdict of the tests on a change: killed, timeout (noticed, too) or survived."""

    mutation: Mutation
    result: str
    tests: str


def changed(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the kinds of change a node allows, each with what it becomes."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        other = COMPARISONS[type(node.ops[0])]()
        yield "comparison", ast.Compare(node.left, [other], node.comparators)
    elif isinstance(node, ast.BoolOp):
        other_op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "and/or", ast.BoolOp(other_op, node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not", node.operand
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield "plus/minus", ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right)
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield "constant", ast.Constant(node.value + 1)
        yield "constant", ast.Constant(node.value - 1)
    elif isinstance(node, ast.Return) and not is_none(node.value):
        yield "return", ast.Return(ast.Constant(None))


def is_none(node: ast.AST | None) -> bool:
    """Return True if a node returns nothing, or None."""
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def code_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk over what runs: no annotations, no decorators, no types that only a checker reads."""
    for name, value in ast.iter_fields(tree):
        if name in {"annotation", "returns", "decorator_list", "type_params"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or is_typing(child):
                continue
            yield child
            yield from code_nodes(child)


def is_typing(node: ast.AST) -> bool:
    """Return True if a node is ``if TYPE_CHECKING:`` or an alias of types."""
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
        return isinstance(node.value.op, ast.BitOr)
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript)


def mutations(path: Path) -> Iterator[Mutation]:
    """Yield every change a file allows."""
    text = path.read_text(encoding="utf-8")
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in code_nodes(ast.parse(text)):
        for kind, new in changed(node):
            start = starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
            end = starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
            before = text.encode()[start:end].decode()
            after = ast.unparse(ast.fix_missing_locations(new))
            after = after if kind in {"constant", "return"} else f"({after})"
            line = node.lineno  # type: ignore[attr-defined]
            file = str(path.relative_to(ROOT))
            yield Mutation(file, line, start, end, kind, before, after)


def drawn(packages: Sequence[str], number: int, seed: int) -> list[Mutation]:
    """Draw changes of the packages' files, all equally likely."""
    files = sorted(
        path for name in packages for path in (ROOT / "src" / "rubricate" / name).rglob("*.py")
    )
    every = [one for path in files for one in mutations(path)]
    return random.Random(seed).sample(every, min(number, len(every)))


def mirror_tests(file: str) -> list[str]:
    """Return the tests that mirror a file: its own, or those of its folder that name it, or all."""
    inside = Path(file).relative_to("src/rubricate")
    folder = Path("tests") / inside.parent
    name = inside.parent.name if inside.stem == "__init__" else inside.stem
    own = folder / f"test_{name}.py"
    if (ROOT / own).exists():
        return [str(own)]
    module = ".".join(("rubricate", *inside.with_suffix("").parts)).removesuffix(".__init__")
    named = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / folder).glob("test_*.py"))
        if re.search(rf"\b{re.escape(module)}\b", path.read_text(encoding="utf-8"))
    ]
    return named or [str(folder)]


def copy_tree(target: Path) -> None:
    """Copy what tests need; big data files are linked."""

    def copy(source: str, place: str) -> None:
        if source.endswith(".py"):
            shutil.copyfile(source, place)
        else:
            Path(place).symlink_to(source)

    for folder in ("src", "tests", "docs"):
        shutil.copytree(
            ROOT / folder, target / folder, copy_function=copy,
            ignore=shutil.ignore_patterns("__pycache__"),
        )  # fmt: skip
    for name in ("pyproject.toml", "conftest.py", "README.md", "CHANGELOG.md"):
        shutil.copyfile(ROOT / name, target / name)


def passes(tree: Path, tests: Sequence[str], timeout: float, *, quick: bool) -> bool | None:
    """Return True if the tests pass in a tree; None if they take too long.

    Processor time counts, not the clock, so that a busy machine changes nothing.
    """
    command = [sys.executable, "-P", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider",
               "-p", "no:xdist", "--hypothesis-seed=0", *tests]  # fmt: skip
    if quick:
        command += ["-m", "not slow and not engine and not browser"]
    environment = os.environ | {"PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(timeout), math.ceil(timeout) + 5))

    try:
        # The clock ends only what waits for ever.
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, check=False,
            preexec_fn=limit, timeout=20 * timeout,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return None
    return done.returncode == 0


def judge(mutation: Mutation, tree: Path, *, wide: bool, quick: bool, timeout: float) -> Outcome:
    """Make one change in a tree, run the tests, and take the change back."""
    place = tree / mutation.file
    original = place.read_bytes()
    after = mutation.after.encode()
    place.write_bytes(original[: mutation.start] + after + original[mutation.end :])
    rounds = [[*mirror_tests(mutation.file), mutation.file]]
    if wide:
        package = Path(mutation.file).relative_to("src/rubricate").parts[0].removesuffix(".py")
        rounds.append([f"tests/{package}"])
    try:
        for tests in rounds:
            found = passes(tree, tests, timeout, quick=quick)
            if not found:
                result = "timeout" if found is None else "killed"
                return Outcome(mutation, result, tests[0])
    finally:
        place.write_bytes(original)
    return Outcome(mutation, "survived", rounds[-1][0])


def run(
    chosen: Sequence[Mutation], jobs: int, *, wide: bool, quick: bool, timeout: float
) -> list[Outcome]:
    """Judge every change, several at a time in as many copies of the tree."""
    with tempfile.TemporaryDirectory() as scratch:
        trees: SimpleQueue[Path] = SimpleQueue()
        for number in range(jobs):
            copy_tree(Path(scratch) / str(number))
            trees.put(Path(scratch) / str(number))

        def one(mutation: Mutation) -> Outcome:
            tree = trees.get()
            try:
                found = judge(mutation, tree, wide=wide, quick=quick, timeout=timeout)
            finally:
                trees.put(tree)
            print(line_of(found), file=sys.stderr, flush=True)
            return found

        with ThreadPoolExecutor(jobs) as pool:
            return list(pool.map(one, chosen))


def line_of(found: Outcome) -> str:
    """Return an outcome as a line of a table."""
    change = found.mutation
    before, after = (" ".join(text.split())[:48] for text in (change.before, change.after))
    place = f"{change.file.removeprefix('src/rubricate/')}:{change.line}"
    return f"{found.result:<9} {place:<34} {change.kind:<11} {before}  ->  {after}"


def main() -> None:
    """Read the options, judge the changes, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="+", help="folders under src/rubricate")
    parser.add_argument("--number", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--timeout", type=float, default=300, help="seconds of processor time for one run of tests"
    )
    parser.add_argument("--wide", action="store_true", help="then run the whole package's tests")
    parser.add_argument("--quick", action="store_true", help="leave out slow and engine tests")
    parser.add_argument("--json", action="store_true", dest="as_json")
    given = parser.parse_args()
    chosen = drawn(given.packages, given.number, given.seed)
    found = run(chosen, given.jobs, wide=given.wide, quick=given.quick, timeout=given.timeout)
    killed = sum(one.result != "survived" for one in found)
    late = sum(one.result == "timeout" for one in found)
    if given.as_json:
        lines = [{**asdict(one.mutation), "result": one.result} for one in found]
        print(
            json.dumps(
                {"killed": killed, "by_timeout": late, "of": len(found), "mutations": lines},
                indent=1,
            )
        )
        return
    for one in sorted(found, key=lambda one: (one.result, one.mutation.file, one.mutation.line)):
        print(line_of(one))
    share = killed / max(len(found), 1)
    print(f"{killed} of {len(found)} killed ({share:.0%}), {late} of these by the time limit")


if __name__ == "__main__":
    main()

"""Behaviour of all commands: sections of help, old names, -q and -v, and the configuration file."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from rubricate.cli import VERBS, main
from rubricate.cli.command import LONG_HELP, Option, VerbCommand
from rubricate.cli.sections import SECTIONS

ROOT = Path(__file__).parents[2]
ALL_VERBS = [verb for verbs in VERBS.values() for verb in verbs]


def all_commands(
    command: click.Command = main, parent: click.Context | None = None
) -> list[tuple[click.Context, click.Command]]:
    context = click.Context(command, info_name=command.name or "rubricate", parent=parent)
    found = [(context, command)]
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            found += all_commands(child, context)
    return found


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("notes.csv").write_text(
        "id,case,note\n1,a,45M with fever and cough for three days no chest pain\n"
        "2,b,45M with fever and cough for three days no chest pain\n",
        encoding="utf-8",
    )
    Path("rubric.csv").write_text("case,text\na,Fever\nb,Cough\n", encoding="utf-8")
    return tmp_path


def test_long_help_has_no_long_list() -> None:
    listed: set[str] = set()
    for context, command in all_commands():
        options = [o for o in command.get_params(context) if isinstance(o, click.Option)]
        listed |= {name for option in options for name in option.opts}
        if len(options) <= LONG_HELP:
            continue
        help_text = command.get_help(context)
        sections = re.split(r"^\S.*:$", click.unstyle(help_text), flags=re.MULTILINE)
        for section in sections:
            n_options = len(re.findall(r"^  -", section, flags=re.MULTILINE))
            assert n_options <= 12, f"{context.command_path}: {section}"
    arranged = [name for names in SECTIONS.values() for name in names]
    assert len(set(arranged)) == len(arranged)
    # Names that come with the next release of other options may stand here already.
    assert set(arranged) - listed <= {"--available-notes"}


def test_every_option_says_what_it_does() -> None:
    for context, command in all_commands():
        for option in command.get_params(context):
            if isinstance(option, click.Option) and not option.hidden:
                words = option.help or ""
                assert words[:1].isupper() or words[:1] == "-", (context.command_path, option.opts)
                assert words.endswith("."), (context.command_path, option.opts)


def test_old_names_of_options_work_with_a_warning_and_are_not_shown(folder: Path) -> None:
    renamed = [
        (context, option)
        for context, command in all_commands()
        for option in command.params
        if isinstance(option, Option) and option.formerly
    ]
    assert {old for _, option in renamed for old in option.formerly} >= {
        "--review", "--case", "--longest", "--note-seconds", "--keep", "--senior",
    }  # fmt: skip
    for context, option in renamed:
        for old in option.formerly:
            assert not re.search(rf"{old}\b(?!-)", context.command.get_help(context)), old
    done = run("describe", "notes.csv", "--case=c", "--json")
    assert json.loads(done.stdout)["cases"][0]["case"] == "c"
    assert "--case is now called --assign-case" in done.stderr
    new = run("describe", "notes.csv", "--assign-case", "c", "--json")
    assert new.stdout == done.stdout and "now called" not in new.stderr


@pytest.mark.parametrize(
    ("old", "new"),
    [("trust audit", "history"), ("study audit", "check-table"), ("study rehearse", "simulate")],
)
def test_old_names_of_commands_work_with_a_warning(old: str, new: str) -> None:
    done = run(*old.split(), "--help")
    assert done.exit_code == 0 and f"is now called {new}" in done.stderr
    assert old.split()[1] not in run(old.split()[0], "--help").stdout.split()


def test_case_means_one_thing(folder: Path) -> None:
    for context, command in all_commands():
        shown = {name for o in command.params if not getattr(o, "hidden", False) for name in o.opts}
        assert "--case" not in shown, context.command_path
    asked = json.loads(run("rubric", "rubric.csv", "--where", "case=b", "--json").stdout)
    assert [one["case"] for one in asked["cases"]] == ["b"]
    assert run("rubric", "rubric.csv", "--case", "b", "--json").stdout == json.dumps(
        asked, ensure_ascii=False, indent=2
    ) + "\n"  # fmt: skip
    assert run("rubric", "rubric.csv", "--where", "site=b").exit_code == 2


def test_a_misspelt_command_of_a_group_is_told_the_nearest() -> None:
    done = run("trust", "verfy")
    assert done.exit_code == 2 and "did you mean 'verify'?" in done.stderr


def test_quiet_hides_remarks_and_keeps_results_warnings_and_errors(folder: Path) -> None:
    loud, quiet = run("describe", "notes.csv"), run("describe", "notes.csv", "-q")
    assert loud.stdout == quiet.stdout
    assert "info:" in loud.stderr and "info:" not in quiet.stderr
    assert "Error:" in run("describe", "nowhere.csv", "-q").stderr
    assert "now called" in run("describe", "notes.csv", "-q", "--case", "c").stderr


def test_verbose_tells_the_time_and_where_an_error_arose(folder: Path) -> None:
    assert re.search(r"describe took \d", run("describe", "notes.csv", "-v").stderr)
    failed = run("describe", "notes.csv", "--input-format", "brat", "-v")
    assert failed.exit_code == 1 and failed.exception and not isinstance(
        failed.exception, SystemExit
    )  # fmt: skip


def test_the_configuration_file_sets_options(folder: Path) -> None:
    own = Path("rubricate.toml")
    own.write_text('[describe]\nwhere = ["case=a"]\n', encoding="utf-8")
    done = run("describe", "notes.csv", "--json")
    assert json.loads(done.stdout)["notes"] == 1
    assert "rubricate.toml sets --where" in done.stderr
    # The command line is stronger, and the other file is read only without this one.
    assert (
        json.loads(run("describe", "notes.csv", "--where", "case=b,a", "--json").stdout)["notes"]
        == 2
    )
    shared = Path("pyproject.toml")
    shared.write_text('[tool.rubricate.describe]\nassign-case = "c"\n', encoding="utf-8")
    assert json.loads(run("describe", "notes.csv", "--json").stdout)["cases"][0]["case"] == "a"
    own.unlink()
    assert json.loads(run("describe", "notes.csv", "--json").stdout)["cases"][0]["case"] == "c"
    shared.write_text('[tool.rubricate.describe]\ncase = "d"\n', encoding="utf-8")
    done = run("describe", "notes.csv", "--json")
    assert json.loads(done.stdout)["cases"][0]["case"] == "d"
    assert "case is now called assign-case" in done.stderr
    shared.write_text('[tool.other]\nx = "c"\n', encoding="utf-8")
    assert json.loads(run("describe", "notes.csv", "--json").stdout)["notes"] == 2


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("[describ]\n", "describe"),
        ("[describe]\nwher = 'case=a'\n", "where"),
        ("[describe]\njson = 3\n", "true or false"),
        ("[describe]\ninput-format = ['table', 'brat']\n", "one text"),
        ("[describe.where]\nx = 1\n", "need a text"),
        ("[trust.drft]\n", "drift"),
        ("describe = 3\n", "table"),
        ("[describe\n", "TOML"),
        (f"a = {'[' * 5000}{']' * 5000}\n", "TOML"),
        (f"a = {'9' * 5000}\n", "TOML"),
    ],
)
def test_a_wrong_configuration_file_is_wrong_usage(text: str, near: str, folder: Path) -> None:
    Path("rubricate.toml").write_text(text, encoding="utf-8")
    group = "trust drift notes.csv notes.csv" if "trust" in text else "describe notes.csv"
    done = run(*group.split())
    assert done.exit_code == 2, done.output
    assert "rubricate.toml" in done.stderr and near in done.stderr


@pytest.mark.parametrize("text", ["tool.rubricate = 3\n", "tool = 'tool.rubricate'\n"])
def test_a_shared_configuration_without_a_table_for_us_ends_no_command(
    text: str, folder: Path
) -> None:
    Path("pyproject.toml").write_text(text, encoding="utf-8")
    assert isinstance(run("describe", "notes.csv").exception, SystemExit | None)


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("score notes.csv --out out", "overwrite = true"),
        ("score notes.csv --out out", "accept-log = true"),
        ("score notes.csv --out out", "accept_log = true"),
        ("score notes.csv --out out", "dask = 'tcp://10.0.0.1:8786'"),
        ("trust report run notes.csv", "accept-edited = true"),
        ("serve start", "others-may-read = true"),
        ("serve start", "oidc = 'https://login.example'"),
        ("serve verify .", "database = 'postgresql://me@db.example/notes'"),
    ],
)
def test_a_configuration_file_of_others_lifts_no_guard_and_connects_nowhere(
    command: str, line: str, folder: Path
) -> None:
    words = command.split()
    table = words[0] if words[0] == "score" else ".".join(words[:2])
    Path("rubricate.toml").write_text(f"[{table}]\n{line}\n", encoding="utf-8")
    done = run(*words)
    assert done.exit_code == 2 and "rubricate.toml" in done.stderr
    assert f"--{line.split()[0].replace('_', '-')}" in done.stderr


def test_errors_are_json_where_that_is_asked_for(folder: Path) -> None:
    Path("notes.csv").write_text("id,note\n1,no fever\n1,cough\n", encoding="utf-8")
    Path("other.csv").touch()
    Path("broken.jsonl").write_text('{"rubricate": 1, "kind": "corpus"}\n{"x"\n', encoding="utf-8")
    wrong = {
        ("describe", "nowhere.csv"): ("argument", 2),
        ("describe",): ("usage", 2),
        ("nonsense",): ("usage", 2),
        ("describe", "notes.csv", "--where", "x"): ("usage", 2),
        ("describe", "broken.jsonl", "--input-format", "jsonl"): ("input", 1),
        ("describe", "open-notes", "--input-format", "brta"): ("unknown-name", 2),
        ("rubric", "rubric.csv", "--out", "rubric.csv"): ("argument", 2),
        ("rubric", "rubric.csv", "--out", "other.csv"): ("output-exists", 1),
    }
    for words, (code, exit_code) in wrong.items():
        done = run(*words, "--json")
        assert done.exit_code == exit_code and not done.stdout, words
        error = json.loads(done.stderr.splitlines()[-1])["error"]
        assert (error["code"], error["exit_code"]) == (code, exit_code), words
        assert error["message"] and set(error) == {
            "code", "message", "exit_code", "path", "line", "faults",
        }  # fmt: skip
        if code == "input":
            assert error["path"] == "broken.jsonl" and error["line"] == 1
            assert error["faults"][0]["unit"] == "line"
        if code == "output-exists":
            assert error["path"] == "other.csv"
        if "nowhere.csv" in words:
            assert error["path"] == "nowhere.csv"


def coloured(tmp_path: Path, **environment: str) -> bytes:
    """Return the output of a failing command on a terminal."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-P", "-m", "rubricate", "describe", "nowhere.csv"]
    subprocess.run(
        command, stderr=follower, stdout=follower, stdin=follower, check=False, cwd=tmp_path,
        env={**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, **environment},
    )  # fmt: skip
    os.close(follower)
    shown = b""
    try:
        while piece := os.read(leader, 10_000):
            shown += piece
    except OSError:  # how a terminal says that its other side is closed
        pass
    os.close(leader)
    return shown


@pytest.mark.skipif(os.name == "nt", reason="needs a terminal of its own")
def test_colour_is_for_terminals_and_can_be_switched_off(tmp_path: Path) -> None:
    assert b"\x1b[" in coloured(tmp_path, TERM="xterm")
    assert b"\x1b[" not in coloured(tmp_path, TERM="xterm", NO_COLOR="1")
    assert "\x1b[" not in run("describe", "nowhere.csv").stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_verbs_and_options(shell: str) -> None:
    assert "_RUBRICATE_COMPLETE" in run("completion", shell).stdout

    def complete(line: str) -> str:
        words = line.split(" ")
        environment = {
            **os.environ, "_RUBRICATE_COMPLETE": f"{shell}_complete", "COMP_WORDS": line,
            "COMP_CWORD": words[-1] if shell == "fish" else str(len(words) - 1),
        }  # fmt: skip
        code = "from rubricate.cli import main; main(prog_name='rubricate')"
        done = subprocess.run(
            [sys.executable, "-P", "-c", code], env=environment, capture_output=True, text=True
        )
        return done.stdout

    assert "score" in complete("rubricate sc")
    assert "--rubric" in complete("rubricate score --ru")


def test_the_page_on_exit_codes_has_every_command() -> None:
    page = (ROOT / "docs" / "exit-codes.md").read_text(encoding="utf-8")
    for verb in ALL_VERBS:
        assert f"| `rubricate {verb}` |" in page, verb
    for context, command in all_commands():
        if any("--fail" in option.opts for option in command.params):
            path = context.command_path.removeprefix("main ").removeprefix("rubricate ")
            assert f"{path.split()[-1]}" in page and "--fail" in page
        if not isinstance(command, click.Group):
            assert isinstance(command, VerbCommand), context.command_path


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize(
    "command", ["lexicon build --umls PIPE --out new", "rubric PIPE", "score notes.csv --out new "
                "--rubric PIPE", "trust verify PIPE"],
)  # fmt: skip
def test_a_pipe_is_refused_and_not_waited_for(command: str, folder: Path) -> None:
    os.mkfifo("pipe")
    done = run(*command.replace("PIPE", "pipe").split())
    assert done.exit_code in (1, 2) and "pipe" in done.stderr


@pytest.mark.parametrize(
    "given",
    [
        ["convert", "", "out.jsonl", "--output-format", "jsonl"],
        ["convert", "notes", "", "--output-format", "jsonl"],
        ["rubric", ""],
        ["score", "", "--rubric", "r.csv", "--out", "run"],
        ["score", "notes", "--rubric", "", "--out", "run"],
        ["score", "notes", "--rubric", "r.csv", "--out", ""],
    ],
    ids=" ".join,
)
def test_an_empty_path_is_not_the_working_folder(
    given: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shells leave it where a variable is not set."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("no fever", encoding="utf-8")
    (tmp_path / "r.csv").write_text("case,feature,text\nc,f,Fever\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    done = run(*given)
    assert done.exit_code == 2
    assert sorted(tmp_path.rglob("*")) == before

from pathlib import Path

import pytest
from click.testing import CliRunner

from rubricate.errors import (
    SHOWN_FAULTS,
    SHOWN_NAMES,
    ArgumentError,
    Fault,
    InputError,
    MissingExtraError,
    RubricateError,
    UnknownNameError,
    did_you_mean,
    nearest,
)


def test_all_faults_are_kept_even_where_not_all_are_shown() -> None:
    error = InputError([Fault(f"fault {i}", Path("f.csv"), i + 1, "row") for i in range(50)])
    assert len(error.faults) == 50
    lines = str(error).splitlines()
    assert len(lines) == SHOWN_FAULTS + 2
    assert "50" in lines[0]
    assert "30" in lines[-1]


def test_errors_are_also_what_python_calls_them() -> None:
    assert isinstance(InputError("x"), ValueError)
    assert isinstance(UnknownNameError("format", "a", ["b"]), LookupError)
    assert isinstance(MissingExtraError("CAS", "formats"), ImportError)
    assert "rubricate[formats]" in str(MissingExtraError("CAS", "formats"))


def test_of_very_many_known_names_only_the_first_are_shown() -> None:
    names = [f"note {i}" for i in range(SHOWN_NAMES)]
    assert str(UnknownNameError("note", "x", names)).endswith(f"Known: {', '.join(names)}")
    message = str(UnknownNameError("note", "x", [*names, "last but one", "last"]))
    assert names[-1] in message and "last" not in message and "2 more" in message


@pytest.mark.parametrize(
    ("name", "near"),
    [("brta", "brat"), ("BRAT", "brat"), ("Label-Studio", "labelstudio"), ("table", "")],
)
def test_the_nearest_name_is_told_whatever_its_case(name: str, near: str) -> None:
    known = ["nbme", "brat", "labelstudio"]
    assert nearest(name, known) == near
    told = did_you_mean(name, known, otherwise="; none")
    assert told == (f"; did you mean {near!r}?" if near else "; none")


def test_what_was_asked_for_and_what_was_found_have_their_exit_codes() -> None:
    assert (InputError("x").exit_code, MissingExtraError("CAS", "formats").exit_code) == (1, 1)
    assert (ArgumentError("x").exit_code, UnknownNameError("rule", "a", []).exit_code) == (2, 2)


def test_a_place_is_told_as_far_as_known() -> None:
    assert str(Fault("bad", Path("a"), 3)) == "a, line 3: bad"
    assert str(Fault("bad", line=3)) == "line 3: bad"
    assert str(Fault("bad")) == "bad"


def test_messages_name_parameters_in_python_and_flags_in_commands(tmp_path: Path) -> None:
    import rubricate as r
    from rubricate.cli import main

    notes = tmp_path / "notes.csv"
    notes.write_text("id,text\n1,cough\n", encoding="utf-8")
    with pytest.raises(RubricateError) as caught:
        r.score(notes)
    assert "rubric=FILE" in str(caught.value) and "--" not in str(caught.value)
    done = CliRunner().invoke(main, ["score", str(notes), "--out", str(tmp_path / "out")])
    assert done.exit_code == 2 and "--rubric FILE" in done.output

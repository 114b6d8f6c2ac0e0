from __future__ import annotations

import pytest
from click.testing import CliRunner

from rubricate.cli import main
from rubricate.cli.measuring import shown
from rubricate.display import shown_number
from rubricate.stats import BOOTSTRAP_METHODS, METHODS, Estimate

NAN = float("nan")


@pytest.mark.parametrize(
    ("command", "names"),
    [
        (["plan"], METHODS),
        (["study", "audit"], METHODS),
        (["evaluate"], BOOTSTRAP_METHODS),
        (["agree"], BOOTSTRAP_METHODS),
    ],
)
def test_help_lists_the_methods_of_the_table(command: list[str], names: tuple[str, ...]) -> None:
    result = CliRunner().invoke(main, [*command, "--help"])
    assert result.exit_code == 0
    shown_help = "".join(result.output.split())
    assert "|".join(names) in shown_help


def test_a_method_that_is_not_in_the_table_is_refused() -> None:
    result = CliRunner().invoke(main, ["evaluate", "x", "y", "--interval", "wald"])
    assert result.exit_code == 2
    assert all(name in result.output for name in BOOTSTRAP_METHODS)


def test_undefined_values_are_dashes() -> None:
    assert (shown_number(NAN), shown_number(0.25), shown_number(0.25, "+.1f")) == (
        "–",
        "0.250",
        "+0.2",
    )
    assert shown(Estimate(0.5, 0.25, 0.75)) == "0.250 to 0.750"
    assert shown(Estimate(0.5, 0.25, NAN)) == shown(Estimate(NAN)) == "–"

"""The table of precedence is read whole, and every fault of it is named."""

from __future__ import annotations

import pytest

from rubricate.errors import InputError
from rubricate.knowledge.rows import table_rows
from rubricate.rules.precedence import precedence, read_rows, rule_names
from rubricate.rules.reasons import reason_table


def test_rows_stand_in_the_order_of_their_stages() -> None:
    numbers = [row.stage for row in precedence()]
    assert numbers == sorted(numbers)
    assert all(row.next == 0 or row.next > row.stage for row in precedence())


def test_every_rule_has_words_for_people() -> None:
    assert set(rule_names()) <= set(reason_table())


@pytest.mark.parametrize(
    ("place", "cell"),
    [(0, "x"), (1, "side.unknown"), (3, "note"), (5, "now"), (7, "x"), (8, "maybe"), (14, "2")],
)
def test_a_faulty_row_is_refused(place: int, cell: str) -> None:
    good = [row for row in table_rows("precedence.tsv", folder="rules") if row[0] == "30"]
    assert [row.rule for row in read_rows(good)] == ["plan.return", "plan.started"]
    bad = list(good[0])
    bad[place] = cell
    with pytest.raises(InputError) as error:
        read_rows([bad, good[1], good[1]])
    assert str(error.value).count("precedence.tsv") == 3

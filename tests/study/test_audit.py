from pathlib import Path

import pytest

from rubricate.errors import InputError
from rubricate.study.audit import audit_table

# Tables 1 and 3 of Canales et al. 2021 (TP inferred from printed precision and recall).
TABLE_3 = Path(__file__).parents[1] / "resources" / "study" / "table3.csv"


def test_the_six_misprints_of_table_3_are_caught_and_nothing_else() -> None:
    audit = audit_table(TABLE_3)
    assert len(audit.cells) == 90
    flagged = {(c.row, c.cell): round(c.recomputed, 2) for c in audit.flagged}
    assert flagged == {
        ("Salmeterol + fluticasone", "f1"): 0.69,
        ("Omalizumab", "f1"): 0.88,
        ("Extrinsic asthma", "f1_high"): 0.92,
        ("Gastroesophageal reflux syndrome", "f1_high"): 0.98,
        ("Obesity", "f1_high"): 0.99,
        ("Omalizumab", "f1_high"): 0.95,
    }


def test_cells_that_no_counts_could_give_are_called_impossible() -> None:
    states = {(c.row, c.cell): c.state for c in audit_table(TABLE_3).flagged}
    assert states["Salmeterol + fluticasone", "f1"] == "impossible"
    assert states["Extrinsic asthma", "f1_high"] == "impossible"


def test_limits_of_f1_by_the_better_rule_are_right_too(tmp_path: Path) -> None:
    # 271, 18, 10: through the Jaccard index .929 to .967, by the paper's corners .919 to .973.
    head = "name,tp,fp,fn,precision_low,precision_high,recall_low,recall_high,f1_low,f1_high\n"
    row = "a,271,18,10,.903,.963,.936,.983,{}\n"
    for limits in (".929,.967", ".919,.973"):
        assert not audit_table(write(tmp_path, head + row.format(limits))).flagged
    wrong = audit_table(write(tmp_path, head + row.format(".80,1.00"))).flagged
    assert {c.state for c in wrong} == {"impossible"}


def write(tmp_path: Path, text: str) -> Path:
    place = tmp_path / "t.csv"
    place.write_text(text, encoding="utf-8")
    return place


def test_counts_alone_are_enough(tmp_path: Path) -> None:
    audit = audit_table(write(tmp_path, "name,tp,fp,fn\na,8,2,2\nb,0,0,0\n"))
    assert audit.cells == ()
    assert audit.rows[0].values["precision"] == 0.8


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name,tp\na,3\n",
        "name,tp,fp,fn\na,3,x,1\n",
        "name,tp,fp,fn\na,3,-1,1\n",
        "name,tp,detections,manual\na,9,8,10\n",
        "name,tp,fp,fn,f2\na,3,1,1,.5\n",
        "name,tp,fp,fn,f1\na,3,1,1,high\n",
        "name,tp,fp,fn,f1\na,3,1,1,75%\n",
        "name,tp,fp,fn,detections,manual\na,3,1,1,9,4\n",
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError):
        audit_table(write(tmp_path, text))


def test_a_value_that_the_counts_leave_undefined_is_flagged_in_words(tmp_path: Path) -> None:
    (cell,) = audit_table(write(tmp_path, "name,tp,fp,fn,precision\na,0,0,3,1.00\n")).flagged
    assert cell.reason == "the counts leave it undefined"


def test_all_faults_come_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        audit_table(write(tmp_path, "name,tp,fp,fn\na,x,1,1\nb,1,1,1\nc,1,-1,1\n"))
    assert [fault.line for fault in caught.value.faults] == [2, 4]


def test_rounding_takes_halves_either_way(tmp_path: Path) -> None:
    # 1 of 8 is .125: printed .13 (halves up) and .12 (halves to even) are both right.
    for shown in (".13", ".12"):
        assert not audit_table(
            write(tmp_path, f"name,tp,fp,fn,precision\na,1,7,1,{shown}\n")
        ).flagged


def test_a_table_saved_by_a_spreadsheet_has_the_same_errors(tmp_path: Path) -> None:
    # It writes 0.90 as 0.9 and 1.00 as 1.0; by cell only three of the six were found.
    lines = TABLE_3.read_text(encoding="utf-8").splitlines()
    saved = [lines[0]]
    for line in lines[1:]:
        cells = [str(float(cell)) if "." in cell else cell for cell in line.split(",")]
        saved.append(",".join(cells))
    place = tmp_path / "saved.csv"
    place.write_text("\n".join(saved), encoding="utf-8")
    audit = audit_table(place)
    original = audit_table(TABLE_3)
    assert len(audit.flagged) == 6
    assert [(c.row, c.cell) for c in audit.flagged] == [(c.row, c.cell) for c in original.flagged]
    assert set(audit.decimals.values()) == {2}
    assert "longest cell" in audit.assumption
    stated = audit_table(place, decimals=2)
    assert stated.flagged == audit.flagged
    assert "as stated" in stated.assumption

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rubricate.cli import VERBS, main


@pytest.fixture(autouse=True)
def _verb_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    if not any("plan" in verbs for verbs in VERBS.values()):
        monkeypatch.setitem(VERBS, "Plan", {"plan": ("sample sizes", "rubricate.cli.plan")})


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["plan", *arguments])


def plan(*arguments: str) -> dict:
    done = run(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


ASTHMA = ("--precision", ".85", "--recall", ".80", "--half-width", ".05", "--confidence", ".95")


# Canales et al. 2021 print 249 + 270 = 519 and 42 + 45 = 87 a hospital for "48.5 %"; SLiCE gives
# these at .48 and 514 at .485.
def test_slice_gives_the_published_numbers() -> None:
    found = plan(*ASTHMA, "--frequency", ".48", "--sites", "6", "--method", "slice")
    assert (found["positives"], found["negatives"], found["total"]) == (249, 270, 519)
    assert found["per_site"] == {"positives": 42, "negatives": 45, "total": 87}
    assert plan(*ASTHMA, "--frequency", ".485", "--method", "slice")["total"] == 514


# SLiCE's own test values.
@pytest.mark.parametrize(("kind", "total"), [("internal", 883), ("external", 831)])
def test_slice_own_example(kind: str, total: int) -> None:
    found = plan(
        "--precision", ".80", "--recall", ".85", "--frequency", ".30",
        "--frequency-kind", kind, "--method", "slice",
    )  # fmt: skip
    assert found["total"] == total


# shared facts: assured sizes 282/291/298 at .80 and 236/245/252 at .85.
@pytest.mark.parametrize(
    ("assurance", "sizes"), [(".8", (236, 282)), (".9", (245, 291)), (".95", (252, 298))]
)
def test_assurance_is_the_default_method(assurance: str, sizes: tuple[int, int]) -> None:
    found = plan(*ASTHMA, "--frequency", ".48", "--assurance", assurance)
    assert found["method"] == "assurance"
    assert (found["n_precision"], found["n_recall"]) == sizes


@pytest.mark.parametrize(
    "idle",
    [
        ("--total", "100"),
        ("--variable", "smoking"),
        ("--annotator", "ann"),
        ("--method", "slice", "--assurance", ".8"),
    ],
)
def test_an_option_that_would_change_nothing_is_refused(idle: tuple[str, ...]) -> None:
    done = run(*ASTHMA, "--frequency", ".48", *idle)
    assert done.exit_code == 2
    assert idle[-2] in done.output


def test_wrong_options_of_the_design_are_named_with_the_others() -> None:
    done = run("--precision", "1", "--recall", ".8", "--frequency", ".5", "--half-width", ".7",
               "--sites", "0", "--pool", "0", "--method", "guess")  # fmt: skip
    assert done.exit_code == 2
    for option in ("--precision", "--half-width", "--sites", "--pool", "--method"):
        assert option in done.output


def test_a_small_pool_needs_fewer_and_clusters_need_more() -> None:
    plain = plan(*ASTHMA, "--frequency", ".48")["total"]
    assert plan(*ASTHMA, "--frequency", ".48", "--pool", "800")["total"] < plain
    assert plan(*ASTHMA, "--frequency", ".48", "--design-effect", "1.5")["total"] > plain


def test_design_effect_from_a_pilot(tmp_path: Path) -> None:
    place = tmp_path / "pilot.csv"
    place.write_text("successes,trials\n" + "3,3\n0,3\n" * 3)
    found = plan(*ASTHMA, "--frequency", ".48", "--design-effect-from", str(place))
    assert found["design_effect"] == pytest.approx(3.6)
    place.write_text("successes,trials\n4,3\nx,1\n")
    done = run(*ASTHMA, "--frequency", ".48", "--design-effect-from", str(place))
    assert done.exit_code == 1
    assert all(f"row {n}" in done.output for n in (2, 3))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--precision", "1", "--recall", ".8", "--frequency", ".4"), "--precision"),
        (("--precision", ".8", "--recall", "0", "--frequency", ".4"), "--recall"),
        (("--precision", ".8", "--recall", ".8", "--frequency", "1"), "--frequency"),
        (("--precision", ".8", "--recall", ".8"), "--frequency"),
        ((*ASTHMA[:4], "--frequency", ".4", "--half-width", "0"), "--half-width"),
        ((*ASTHMA[:4], "--frequency", ".4", "--interval", "wald"), "--interval"),
        ((*ASTHMA[:4], "--frequency", ".4", "--frequency-kind", "inner"), "--frequency-kind"),
        ((*ASTHMA[:4], "--frequency", ".4", "--method", "guess"), "method"),
        ((*ASTHMA[:4], "--frequency", ".4", "--sites", "0"), "sites"),
        ((*ASTHMA[:4], "--frequency", ".95"), "frequency"),
        ((*ASTHMA[:4], "--frequency", ".4", "--method", "slice", "--pool", "9"), "pool"),
    ],
)
def test_wrong_values_name_the_option_and_exit_2(arguments: tuple[str, ...], named: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert named in done.output


def test_all_wrong_options_are_named_at_once() -> None:
    done = run("--precision", "1", "--recall", "2", "--frequency", ".4", "--confidence", "1")
    assert done.exit_code == 2
    assert all(name in done.output for name in ("--precision", "--recall", "--confidence"))


def test_frequency_from_a_corpus() -> None:
    found = plan(
        "--precision", ".95", "--recall", ".95", "--frequency-kind", "external",
        "--frequency-from", "open-notes", "--variable", "12", "--annotator", "reference",
    )  # fmt: skip
    # 83 of the 100 notes of case 0 hold "Tobacco use".
    assert found["frequency_estimate"]["value"] == pytest.approx(0.83)
    assert found["expected"]["frequency"] == pytest.approx(0.83)


def test_frequency_from_needs_a_variable_that_exists() -> None:
    arguments = ("--precision", ".8", "--recall", ".8", "--frequency-from", "open-notes")
    assert "--variable" in run(*arguments).output
    wrong = run(*arguments, "--variable", "no such words", "--annotator", "reference")
    assert wrong.exit_code == 1


@pytest.mark.parametrize("suffix", ["csv", "toml"])
def test_several_variables(tmp_path: Path, suffix: str) -> None:
    place = tmp_path / f"variables.{suffix}"
    text = {
        "csv": "name,precision,recall,frequency\nasthma,.85,.80,.48\nobesity,.90,.85,.10\n",
        "toml": "[asthma]\nprecision=.85\nrecall=.80\nfrequency=.48\n"
        "[obesity]\nprecision=.90\nrecall=.85\nfrequency=.10\n",
    }[suffix]
    if suffix == "toml":
        text = text.replace("=.", "=0.")
    place.write_text(text, encoding="utf-8")
    found = plan("--variables", str(place), "--total", "600")
    assert found["underpowered"] == ["obesity"]
    assert [v["plan"]["total"] for v in found["variables"]] == [577, 2358]


def test_faults_of_a_variables_file_come_together(tmp_path: Path) -> None:
    place = tmp_path / "v.csv"
    place.write_text("name,precision,recall,frequency\na,2,.8,.4\n,.8,.8,.4\nb,x,.8,.4\n")
    done = run("--variables", str(place))
    assert done.exit_code == 1
    assert all(f"row {n}" in done.output for n in (2, 3, 4))


def test_the_table_is_readable() -> None:
    done = run(*ASTHMA, "--frequency", ".48", "--sites", "6", "--method", "slice")
    assert done.exit_code == 0
    assert "519" in done.output
    assert "87" in done.output


def test_the_plot_is_written_once(tmp_path: Path) -> None:
    place = tmp_path / "plan.html"
    arguments = (*ASTHMA, "--frequency", ".48", "--plot", str(place))
    assert run(*arguments).exit_code == 0
    assert "<svg" in place.read_text(encoding="utf-8")
    assert run(*arguments).exit_code == 1
    assert run(*arguments, "--overwrite").exit_code == 0
    assert run(*arguments[:-1], str(tmp_path / "plan.pdf")).exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "key", "n"),
    [
        (
            ("--method", "kappa", "--kappa", ".8", "--frequency", ".3", "--half-width", ".1"),
            "n_on_average",
            167,
        ),
        (("--method", "icc", "--icc", ".8", "--half-width", ".1"), "n_on_average", 55),
        (("--method", "icc", "--icc", ".8", "--half-width", ".1"), "n", 81),
        (("--method", "icc-test", "--icc", ".8", "--least", ".6", "--confidence", ".9"), "n", 39),
        (
            (
                "--method",
                "non-inferiority-independent",
                "--margin",
                ".1",
                "--rate",
                ".85",
                "--reference-rate",
                ".85",
            ),
            "n",
            201,
        ),
        (("--method", "auc", "--auc", ".9", "--frequency", ".3"), "n", 238),
        (("--method", "non-inferiority", "--margin", ".03", "--discordant", ".1"), "n", 873),
        (("--method", "sequential", "--goal", ".8", "--rate", ".88"), "fixed_units", 226),
        (("--method", "route", "--max-error", ".05", "--error-rate", "0"), "total", 89),
    ],
)
def test_other_methods(arguments: tuple[str, ...], key: str, n: int) -> None:
    found = plan(*arguments)
    assert found["method"] == arguments[1]
    assert found[key] == n
    assert f"{n:,}" in run(*arguments).output


def test_clusters_need_more() -> None:
    alone = ("--method", "icc", "--icc", ".8", "--half-width", ".1")
    patients = ("--cluster-size", "3", "--cluster-correlation", ".3")
    assert plan(*alone, *patients)["n"] == 130  # 81 times 1.6
    assert plan(*ASTHMA, "--frequency", ".48", *patients)["design_effect"] == pytest.approx(1.6)
    for wrong in (patients[:2], (*patients, "--design-effect", "2")):
        done = run(*alone, *wrong)
        assert done.exit_code == 2
        assert "--cluster" in done.output and "----" not in done.output


def test_other_methods_name_what_is_missing_and_what_is_idle() -> None:
    done = run("--method", "kappa", "--precision", ".8", "--frequency", ".3")
    assert done.exit_code == 2
    assert "--kappa is missing" in done.output
    assert "--precision means nothing" in done.output
    assert "--kappa means nothing" in run(*ASTHMA, "--frequency", ".48", "--kappa", ".8").output


def test_an_unknown_method_is_named_before_anything_is_missing() -> None:
    done = run("--method", "kapa")
    assert done.exit_code == 2 and "did you mean 'kappa'" in done.output
    assert "--precision" not in done.output


def test_a_pilot_of_one_annotator_is_no_pilot(tmp_path: Path) -> None:
    (tmp_path / "n.txt").write_text("fever", encoding="utf-8")
    (tmp_path / "n.ann").write_text("T1\tFever 0 5\tfever\n", encoding="utf-8")
    done = run("--pilot", str(tmp_path))
    assert done.exit_code == 1 and "two annotators" in done.output


def test_a_pilot_is_measured_as_the_study_will_be() -> None:
    found = plan(
        "--pilot", "open-notes", "--reference-annotator", "reference", "--annotator",
        "second_rater", "--measure", "characters", "--half-width", ".01",
    )  # fmt: skip
    assert found["pilot_notes"] == 200
    assert 10 < found["notes"] < 200
    assert found["met"] >= 0.9


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("assurance", (*ASTHMA, "--frequency", ".48")),
        ("slice", (*ASTHMA, "--frequency", ".48", "--sites", "6")),
        ("kappa", ("--kappa", ".8", "--frequency", ".3", "--half-width", ".1")),
        ("route", ("--max-error", ".05", "--error-rate", "0")),
    ],
)
def test_the_first_word_is_the_method(method: str, options: tuple[str, ...]) -> None:
    assert plan(method, *options) == plan("--method", method, *options)


def test_help_of_a_method_has_its_options_only() -> None:
    page = run("kappa", "--help").stdout
    assert "--kappa" in page
    assert "--precision" not in page
    assert "--method" not in run("--help").stdout


def test_an_unknown_method_is_told_the_nearest() -> None:
    done = run("kapa")
    assert done.exit_code == 2
    assert "kappa" in done.stderr

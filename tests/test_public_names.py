import subprocess
import sys

import rubricate


def test_all_public_names_exist_and_are_sorted() -> None:
    assert rubricate.__all__ == sorted(rubricate.__all__)
    for name in rubricate.__all__:
        assert getattr(rubricate, name) is not None
    assert set(rubricate._PLACES) == set(rubricate.__all__) - {"__version__"}


def test_importing_the_package_or_the_command_loads_nothing_heavy() -> None:
    code = (
        "import sys, rubricate, rubricate.cli; "
        "print([m for m in ('numpy','polars','scipy','jinja2','cassis') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"

"""Checks of the numbers that reach the statistics, each giving faults instead of raising."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rubricate.errors import Fault, InputError


def inside_unit(name: str, value: float) -> list[Fault]:
    """Return a fault unless `value` lies strictly between 0 and 1.

    >>> [str(fault) for fault in inside_unit("precision", 1.0)]
    ['precision is 1.0: it must lie strictly between 0 and 1']
    """
    if math.isfinite(value) and 0.0 < value < 1.0:
        return []
    return [Fault(f"{name} is {value}: it must lie strictly between 0 and 1")]


def shares(**values: float) -> list[Fault]:
    """Return a fault for each value that does not lie strictly between 0 and 1.

    >>> [str(fault) for fault in shares(recall=0.8, half_width=0)]
    ['half-width is 0: it must lie strictly between 0 and 1']
    """
    named = ((name.replace("_", "-"), value) for name, value in values.items())
    return [fault for name, value in named for fault in inside_unit(name, value)]


def at_least(name: str, value: float, least: float) -> list[Fault]:
    """Return a fault unless `value` is finite and at least `least`.

    >>> [str(fault) for fault in at_least("sites", 0, 1)]
    ['sites is 0: it must be at least 1']
    """
    if isinstance(value, int) and value >= 2**63:  # no array holds it
        return [Fault(f"{name} is too large")]
    if math.isfinite(value) and value >= least:
        return []
    return [Fault(f"{name} is {value}: it must be at least {least}")]


def one_of(name: str, value: str, allowed: Sequence[str]) -> list[Fault]:
    """Return a fault unless `value` is one of `allowed`.

    >>> [str(fault) for fault in one_of("interval", "wald", ["wilson"])]
    ["interval is 'wald': it must be one of wilson"]
    """
    if value in allowed:
        return []
    return [Fault(f"{name} is {value!r}: it must be one of {', '.join(allowed)}")]


def design_faults(sites: int, pool: int | None, design_effect: float) -> list[Fault]:
    """Return what is wrong with the sites, the finite pool and the design effect of a plan."""
    faults = at_least("sites", sites, 1) + at_least("design-effect", design_effect, 1)
    return faults + ([] if pool is None else at_least("pool", pool, 1))


def raise_if_any(faults: Sequence[Fault]) -> None:
    """Raise one `InputError` with every fault, if there is any.

    >>> raise_if_any([])
    """
    if faults:
        raise InputError(faults)

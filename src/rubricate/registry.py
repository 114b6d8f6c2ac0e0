"""Names that lead to code: a lazy table from a name to ``"module:attribute"``."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

from rubricate.errors import UnknownNameError


class Registry(Mapping[str, Any]):
    """A frozen table of names; what a name stands for is imported when it is first asked for.

    Installed packages may add names through the entry-point group ``rubricate.<group>``; a name
    that is already taken is refused.

    >>> table = Registry("number", {"pi": "math:pi"})
    >>> round(table["pi"], 2)
    3.14
    >>> "tau" in table
    False
    """

    def __init__(self, kind: str, places: Mapping[str, str], *, group: str = "") -> None:
        self.kind = kind
        self._places = dict(places)
        self._group = group

    def _all(self) -> dict[str, str]:
        if self._group:
            from importlib.metadata import entry_points

            for point in entry_points(group=self._group):
                if self._places.setdefault(point.name, point.value) != point.value:
                    raise UnknownNameError(
                        f"free {self.kind} name for {point.value}", point.name, list(self._places)
                    )
            self._group = ""
        return self._places

    def __getitem__(self, name: str) -> Any:
        places = self._all()
        if name not in places:
            raise UnknownNameError(self.kind, name, list(places))
        module, _, attribute = places[name].partition(":")
        return getattr(importlib.import_module(module), attribute)

    def __contains__(self, name: object) -> bool:
        return name in self._all()

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

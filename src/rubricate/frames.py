"""Data frames of pandas and polars: the columns of one that came in, and results in its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pandas
    import polars

#: A data frame of either library; a LazyFrame is collected when it is read.
Frame: TypeAlias = "pandas.DataFrame | polars.DataFrame | polars.LazyFrame"


def is_frame(value: object) -> bool:
    """Tell whether a value is a data frame, of pandas or polars.

    >>> import polars
    >>> is_frame(polars.LazyFrame({"a": [1]})), is_frame(["text"])
    (True, False)
    """
    kinds = {f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(value).__mro__}
    return bool(kinds & {"pandas.DataFrame", "polars.DataFrame", "polars.LazyFrame"})


def frame_columns(frame: Frame) -> tuple[list[str], list[list[Any]]]:
    """Return the names of the columns, and the cells of each column.

    The named index of a pandas frame comes first, as one or more columns.

    >>> import polars
    >>> frame_columns(polars.LazyFrame({"id": [1, 2], "text": ["a", "b"]}))
    (['id', 'text'], [[1, 2], ['a', 'b']])
    """
    whole: Any = frame.collect() if hasattr(frame, "collect") else frame
    names = [str(name) for name in whole.columns]
    # By place, because a pandas frame may have a name twice.
    cells = (
        [list(whole.iloc[:, i]) for i in range(len(names))]
        if hasattr(whole, "iloc")
        else [column.to_list() for column in whole.iter_columns()]
    )
    index: Any = getattr(whole, "index", None)
    levels = [] if index is None else list(enumerate(index.names))
    more = [(str(name), list(index.get_level_values(i)))
            for i, name in levels if name is not None and str(name) not in names]  # fmt: skip
    return [*(name for name, _ in more), *names], [*(own for _, own in more), *cells]


def rows_as_columns(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    """Return the columns of rows given as dictionaries; what a row does not have is None.

    >>> rows_as_columns([{"id": 1, "text": "a"}, {"text": "b"}])
    (['id', 'text'], [[1, None], ['a', 'b']])
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [*map(str, names)], [[row.get(name) for row in rows] for name in names]


def frame_like(like: object, table: polars.DataFrame) -> Any:
    """Return a polars table in the kind of another frame: pandas, lazy, or else polars.

    >>> import polars
    >>> frame_like(polars.LazyFrame(), polars.DataFrame({"a": [1]})).collect().rows()
    [(1,)]
    """
    if hasattr(like, "collect"):
        return table.lazy()
    if not hasattr(like, "iloc"):
        return table
    import pandas

    return pandas.DataFrame({name: table[name].to_list() for name in table.columns})


def frame_kind(frame: object) -> Any:
    """Return a frame of the same kind without its columns: what results need to know of it.

    Of pandas it keeps the index; of anything that is no frame, None is left.
    """
    if hasattr(frame, "iloc"):
        own: Any = frame if hasattr(frame, "columns") else frame.to_frame()  # type: ignore[attr-defined]
        return own[[]]
    if hasattr(frame, "collect"):
        import polars

        return polars.LazyFrame()
    return None

"""Columns as pandas or xarray objects, for users who have these packages."""

import importlib
from typing import Any

from pskit.trace.schema import Columns, Tables


def to_pandas(columns: Columns) -> Any:
    """Make a ``pandas.DataFrame`` of one table's columns; ModuleNotFoundError says what to install.

    A column x with rows of numbers becomes x_1, x_2, ...
    """
    flat: dict[str, Any] = {}
    for name, values in columns.items():
        if values.ndim == 1:
            flat[name] = values
        else:
            flat |= {f"{name}_{i}": values[:, i - 1] for i in range(1, values.shape[1] + 1)}
    return _package("pandas", "to_pandas").DataFrame(flat)


def to_xarray(tables: Tables) -> Any:
    """Make an ``xarray.Dataset`` with variables ``TABLE.COLUMN`` along one dimension per table.

    Rows of numbers have a second one, ``TABLE.COLUMN.entry``. ModuleNotFoundError says what to install.
    """
    variables = {
        f"{table}.{column}": (table if values.ndim == 1 else (table, f"{table}.{column}.entry"), values)
        for table, columns in tables.items()
        for column, values in columns.items()
    }
    return _package("xarray", "to_xarray").Dataset(variables)


def _package(name: str, method: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ModuleNotFoundError(
            f"{method} needs the package {name}: pip install {name}", name=name
        ) from None

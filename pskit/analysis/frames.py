"""Columns as pandas or xarray objects, for users who have these packages."""

import importlib
from typing import Any

from pskit.trace.schema import Columns, Tables


def to_pandas(columns: Columns) -> Any:
    """Make a ``pandas.DataFrame`` of one table's columns; ModuleNotFoundError says what to install."""
    return _package("pandas", "to_pandas").DataFrame(dict(columns))


def to_xarray(tables: Tables) -> Any:
    """Make an ``xarray.Dataset`` with variables ``TABLE.COLUMN`` along one dimension per table.

    ModuleNotFoundError says what to install.
    """
    variables = {
        f"{table}.{column}": (table, values)
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

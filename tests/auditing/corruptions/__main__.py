"""Prints the table of planted faults."""

from tests.auditing.corruptions import table

print(table())

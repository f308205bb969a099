"""Compiled inner loops of the applications, each with a plain twin that the tests take as the oracle."""

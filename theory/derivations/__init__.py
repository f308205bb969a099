"""SymPy derivations of the formulas, one module per theorem, each compared with its NumPy function by a test.

Nothing here is imported by `theory` itself: `from theory.derivations import thm5` loads SymPy. A function
either returns an expression in the symbols of its module, or a difference of two expressions that simplifies
to 0.
"""

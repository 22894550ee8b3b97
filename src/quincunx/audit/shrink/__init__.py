"""Counterexamples made small: smaller pairs of worlds, as long as they show the same."""

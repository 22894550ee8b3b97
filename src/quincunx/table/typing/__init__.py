"""Typing rules of operators: type, NULL, bounds and step of a result, proved from those of its arguments."""

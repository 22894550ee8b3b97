"""Samples against a claim: lower confidence bounds on what a mechanism leaks, from its outputs alone."""

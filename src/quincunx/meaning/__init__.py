"""What a guarantee means for one person: how far a belief about them can move."""

from quincunx.meaning.posterior import Posterior, describe, posterior_bounds, sentence

__all__ = ["Posterior", "describe", "posterior_bounds", "sentence"]

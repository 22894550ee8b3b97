"""Four promises about beliefs, as regions of beliefs before and after, and the picture that compares them."""

from quincunx.meaning.shapes.figure import figure
from quincunx.meaning.shapes.shape import Adversarial, APosterioriNoiseless, Differential, PositiveMembership, Shape

__all__ = ["APosterioriNoiseless", "Adversarial", "Differential", "PositiveMembership", "Shape", "figure"]

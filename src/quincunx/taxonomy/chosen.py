"""The seven choices of a definition, as those see them who are asked by it: which fit, and what five blocks say."""

from __future__ import annotations

from typing import Protocol

from quincunx.taxonomy.background import Background
from quincunx.taxonomy.computation import Computation
from quincunx.taxonomy.formalism import Formalism
from quincunx.taxonomy.neighbourhood import Neighbourhood
from quincunx.taxonomy.quantification import Quantification
from quincunx.taxonomy.relativisation import Relativisation
from quincunx.taxonomy.variation import Variation


class Chosen(Protocol):
    """One choice along each dimension."""

    @property
    def quantification(self) -> Quantification:
        """How much is lost."""
        ...

    @property
    def neighbourhood(self) -> Neighbourhood:
        """What is compared."""
        ...

    @property
    def variation(self) -> Variation:
        """How the loss varies."""
        ...

    @property
    def background(self) -> Background:
        """What the attacker knows."""
        ...

    @property
    def formalism(self) -> Formalism:
        """How a gain is told."""
        ...

    @property
    def relativisation(self) -> Relativisation:
        """Compared with what."""
        ...

    @property
    def computation(self) -> Computation:
        """How much the attacker can compute."""
        ...

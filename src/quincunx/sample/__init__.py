"""A generated sample: people who do not exist, with a plan to publish statistics about them."""

from quincunx.sample.files import blank, plan_for, write_plan_for, write_sample
from quincunx.sample.proposal import Answers, Asked
from quincunx.sample.world import World, world

__all__ = ["World", "world", "write_plan_for", "write_sample"]

"""Data swapping: the method of the censuses of 1990 to 2010, with its guarantee."""

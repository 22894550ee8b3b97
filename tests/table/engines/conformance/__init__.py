"""The same questions over every engine: equal integers, and nothing that fails."""

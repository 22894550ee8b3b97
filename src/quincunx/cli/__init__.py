"""The command line: `quincunx`, or `qx` for short."""

from quincunx.cli.app import main

__all__ = ["main"]

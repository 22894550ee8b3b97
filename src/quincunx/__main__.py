"""`python -m quincunx`: the command line, where its scripts are not on the path."""

from quincunx.cli import main

if __name__ == "__main__":
    main()

"""How light the core is: time of `import quincunx`, modules it loads, size of a fresh environment, against the limits.

python bench/footprint.py            # import time and modules
python bench/footprint.py --install  # also installs into a fresh environment and weighs it
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
IMPORT_LIMIT_SECONDS = 0.3
SIZE_LIMIT_MB = 300
EVERYTHING = "import quincunx as qx; [getattr(qx, name) for name in qx.__all__]; qx.noise.discrete_laplace(1)"


def seconds(code: str, repeats: int = 9) -> float:
    """Median wall time of a fresh interpreter running `code`, less that of one that runs nothing, interleaved."""
    with_code, without = [], []
    for _ in range(repeats):
        for times, text in ((with_code, code), (without, "pass")):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", text], check=True)
            times.append(time.perf_counter() - start)
    return statistics.median(with_code) - statistics.median(without)


def installed_megabytes() -> float:
    """Size of site-packages with the core and its dependencies, without pip, freshly installed."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = Path(folder) / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-compile", str(ROOT)], check=True)
        site = next(Path(folder).glob("lib/python*/site-packages"))
        subprocess.run([python, "-c", EVERYTHING], check=True)
        files = [path for path in site.rglob("*") if path.is_file() and path.relative_to(site).parts[0] != "pip"]
        return sum(path.stat().st_size for path in files) / 1e6


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", action="store_true", help="weigh a fresh environment")
    parser.add_argument("--json", action="store_true", help="print one JSON value")
    options = parser.parse_args()
    rows: list[tuple[str, float, float | None, str]] = [
        ("import quincunx", seconds("import quincunx"), IMPORT_LIMIT_SECONDS, "s"),
        ("import, touch every room, draw once", seconds(EVERYTHING), None, "s"),
    ]
    if options.install:
        rows.append(("core environment", installed_megabytes(), float(SIZE_LIMIT_MB), "MB"))
    if options.json:
        print(
            json.dumps([dict(zip(("what", "measured", "limit", "unit"), row, strict=True)) for row in rows], indent=2)
        )
        return
    print(f"{'what':<46}{'measured':>12}{'limit':>12}{'ratio':>8}")
    for what, measured, limit, unit in rows:
        bound = f"{limit:>9.1f} {unit:<2}{measured / limit:>8.2f}" if limit else f"{'none':>9}"
        print(f"{what:<46}{measured:>9.3f} {unit:<2}{bound}")


if __name__ == "__main__":
    main()

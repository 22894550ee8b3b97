"""Every page that people open, in a browser: 400, 800 and 1200 pixels wide, light and dark."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from quincunx.audit import self_audit
from tests.audit.self_audit.test_page import outcome, report
from tests.datasets import required
from tests.pages.browser import Browser, program
from tests.release.world import session as opened_session

pytestmark = pytest.mark.ci

WIDTHS = (400, 800, 1200)
# What a notebook puts around an output: its own colours, and cells that do not clip.
NOTEBOOK = (
    "<!DOCTYPE html><html><head><style>:root {{ color-scheme: light dark }} "
    "body {{ font: 14px sans-serif; margin: 1rem; color: #111; background: #fff }} "
    "@media (prefers-color-scheme: dark) {{ body {{ color: #eee; background: #111 }} }}"
    "</style></head><body>{}</body></html>"
)
NUMBERS = "COUNT(*) AS visits, COUNT(DISTINCT person_id) AS people, AVG(age) AS age"
QUESTION = f"SELECT region, {NUMBERS} FROM visits GROUP BY region"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if program() is None:
        (pytest.fail if required("chromium") else pytest.skip)("no chromium (Debian: apt-get install chromium)")
    with Browser() as opened:
        yield opened


def pages() -> dict[str, str]:
    """The pages, with what makes them hardest: long names, long events, numbers beyond every bound."""
    long = outcome(name="RandomizedResponse" * 3, event="x" * 400, words="values one apart " * 8, tightness=7.5)
    found = {
        "self-audit": self_audit.page(report()),
        "self-audit, long": self_audit.page(report(claims=(outcome(), long))),
    }
    with opened_session() as session:
        found["answer"] = NOTEBOOK.format(session.sql(QUESTION, spend="1/10")._repr_html_())
        opened = session.explain(QUESTION, spend="1/10")._repr_html_().replace("<details>", "<details open>")
        found["explanation"] = NOTEBOOK.format(opened)
    return found


@pytest.fixture(scope="module")
def shown() -> dict[str, str]:
    return pages()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["self-audit", "self-audit, long", "answer", "explanation"])
def test_a_page_can_be_read(browser: Browser, shown: dict[str, str], name: str, width: int, dark: bool) -> None:
    found = browser.show(shown[name], width, dark=dark)
    assert (found["width"], found["dark"]) == (width, dark)
    assert found["texts"] >= 3
    assert found["page"] <= width, f"the page is {found['page']} wide"
    assert found["wide"] == []
    assert found["cut"] == []
    assert found["small"] == []
    assert found["faint"] == []


def test_the_check_sees_what_cannot_be_read(browser: Browser) -> None:
    broken = (
        "<body style='background: #fff; margin: 0'><pre style='width: 900px'>wide</pre>"
        "<p style='font-size: 7px'>small</p><p style='color: #bbb'>faint</p>"
        "<p style='width: 60px; overflow: hidden; white-space: nowrap'>cut off here</p>"
    )
    found = browser.show(broken, 400, dark=False)
    assert found["page"] > 400
    assert found["wide"] == ["PRE."]
    assert [words for words, _ in found["small"]] == ["small"]
    assert [row[0] for row in found["faint"]] == ["faint"]
    assert found["cut"] == ["cut off here"]
    # Text without a colour of its own disappears on a page that is painted white in the dark.
    lost = "<meta name=color-scheme content=dark><body style='background: #fff'><p>lost</p>"
    assert [row[0] for row in browser.show(lost, 400, dark=True)["faint"]] == ["lost"]

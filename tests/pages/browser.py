"""Headless Chromium over its debugging pipe: pages at a width, in light or dark, what is measured on them, pictures."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

# Run in the page: what a reader would stumble over. A colour is compared with the nearest ground that is painted.
MEASURE = """
(() => {
  const found = {dark: matchMedia('(prefers-color-scheme: dark)').matches, width: innerWidth, wide: [], small: [],
    faint: [], cut: [], texts: 0, page: document.documentElement.scrollWidth};
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => c <= .03928 ? c / 12.92 :
    ((c + .055) / 1.055) ** 2.4).reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = channels(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return found.dark ? [18, 18, 18] : [255, 255, 255];
  };
  const scrolls = (element) => {
    for (let at = element; at; at = at.parentElement)
      if (['auto', 'scroll'].includes(getComputedStyle(at).overflowX)) return true;
    return false;
  };
  for (const element of document.body.querySelectorAll('*')) {
    const box = element.getBoundingClientRect();
    if (box.width === 0 || getComputedStyle(element).visibility === 'hidden') continue;
    if (box.right > innerWidth + 1 && !scrolls(element)) found.wide.push(element.tagName + '.' + element.className);
    const said = [...element.childNodes].filter((node) => node.nodeType === 3 && node.data.trim());
    if (!said.length) continue;
    found.texts += 1;
    const words = said[0].data.trim().slice(0, 40), style = getComputedStyle(element);
    if (parseFloat(style.fontSize) < 11.5) found.small.push([words, style.fontSize]);
    if (element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0 && style.overflowX !== 'visible' &&
      !scrolls(element)) found.cut.push(words);
    const [a, b] = [light(channels(style.color)), light(ground(element))];
    const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (contrast < 4.5) found.faint.push([words, style.color, ground(element).join(), contrast]);
  }
  return JSON.stringify(found);
})()
"""


def program() -> str | None:
    """The browser, where one is installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One browser process with one page, closed with the block."""

    def __enter__(self) -> Self:
        path = program()
        assert path is not None
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()

        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]
        started = [path, *flags, "--remote-debugging-pipe", f"--user-data-dir={self._folder.name}", "about:blank"]
        # The browser reads commands from descriptor 3 and answers on 4.
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "bash", *started],
            pass_fds=(theirs_in, theirs_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        self._read, self._write = os.fdopen(ours_in, "rb", buffering=0), os.fdopen(ours_out, "wb", buffering=0)
        self._asked, self._rest, self._session = 0, b"", None
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait(timeout=30)
        self._read.close()
        self._write.close()
        self._folder.cleanup()

    def show(self, html: str, width: int, *, dark: bool) -> dict[str, Any]:
        """Lay the page out at this width and colour scheme; what is measured on it."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._ask("Emulation.setEmulatedMedia", features=scheme)
        self._ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        frame = self._ask("Page.getFrameTree")["frameTree"]["frame"]["id"]
        self._ask("Page.setDocumentContent", frameId=frame, html=html)
        answer = self._ask("Runtime.evaluate", expression=MEASURE, returnByValue=True)
        found: dict[str, Any] = json.loads(answer["result"]["value"])
        return found

    def picture(self, path: Path) -> Path:
        """The top of what is shown, as a PNG file."""
        taken = self._ask("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(taken["data"]))
        return path

    def _ask(self, method: str, **parameters: object) -> dict[str, Any]:
        self._asked += 1
        asked: dict[str, object] = {"id": self._asked, "method": method, "params": parameters}
        if self._session is not None:
            asked["sessionId"] = self._session
        self._write.write(json.dumps(asked).encode() + b"\0")
        while True:
            while b"\0" not in self._rest:
                more = self._read.read(1 << 16)
                assert more, "the browser ended"
                self._rest += more
            said, _, self._rest = self._rest.partition(b"\0")
            answer = json.loads(said)
            if answer.get("id") == self._asked:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

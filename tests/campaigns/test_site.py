"""The site as a reader gets it in Chromium: tables and consoles are within reach, in light and in dark."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from campaigns.browser import Browser

REPO = Path(__file__).parents[2]
PAGES = ["", "tutorial", "pulsar", "command-line", "contracts/delayed-delivery"]
SCREENS = {"phone": (390, 844), "tablet": (768, 1024), "desk": (1280, 900)}
SCHEMES = {"light": "default", "dark": "slate"}
READY = """(async () => {
  const all = (what, is) => [...document.querySelectorAll(what)].every(is);
  const ready = () => all("pre > code", (code) => code.parentElement.querySelector("button"))
    && all("article table", (table) => table.closest(".md-typeset__scrollwrap"));
  while (!ready()) await new Promise((done) => setTimeout(done, 10));
})()"""
WRONG = """((width) => {
  const wrong = [], box = (node) => node.getBoundingClientRect(), wide = document.documentElement.scrollWidth;
  if (wide > width) wrong.push(`the page is ${wide} px wide`);
  for (const table of document.querySelectorAll("article table")) {
    const { borderRightWidth } = getComputedStyle(table.closest(".md-typeset__scrollwrap"));
    if (!parseFloat(borderRightWidth)) wrong.push(`no frame: ${table.textContent.slice(0, 40)}`);
  }
  for (const code of document.querySelectorAll("pre > code")) {
    const cut = code.scrollWidth - code.clientWidth, start = code.textContent.slice(0, 40);
    if (width < 600 && cut > 0) wrong.push(`${cut} px out of sight: ${start}`);
    const button = code.parentElement.querySelector("button");
    if (box(button).left < box(code).right) wrong.push(`below the button: ${start}`);
  }
  return wrong;
})"""
VERDICT = """(() => {
  const code = document.querySelector("pre > code"), texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  while (!texts.nextNode().data.includes("verdict"));
  const word = document.createRange(), start = texts.currentNode.data.indexOf("verdict");
  word.setStart(texts.currentNode, start);
  word.setEnd(texts.currentNode, start + "verdict".length);
  const { right, bottom } = word.getBoundingClientRect();
  return right < code.getBoundingClientRect().right && bottom < innerHeight;
})()"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    if not find_spec("mkdocs"):
        (pytest.fail if os.environ.get("CI") else pytest.skip)("needs the extra `docs`")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    subprocess.run(command, cwd=REPO, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, check=True)
    return folder


@pytest.mark.parametrize("page", PAGES)
def test_tables_and_consoles_are_whole_and_colours_are_the_reader_s(
    chromium: Browser, shots: Path, site: Path, page: str
) -> None:
    for screen, (width, height) in SCREENS.items():
        for scheme, colours in SCHEMES.items():
            chromium.open(site / page / "index.html", width, height, scheme)
            chromium.evaluate(READY)
            chromium.picture(shots / f"site-{page.replace('/', '-') or 'index'}-{screen}-{scheme}.png")
            assert chromium.evaluate(f"{WRONG}({width})") == [], screen
            assert chromium.evaluate("document.body.dataset.mdColorScheme") == colours


def test_the_first_screen_shows_the_verdicts(chromium: Browser, site: Path) -> None:
    chromium.open(site / "index.html", *SCREENS["desk"], "light")
    chromium.evaluate(READY)
    assert chromium.evaluate(VERDICT)

"""The site builds strictly: all blocks run, all links lead somewhere, nothing is fetched from elsewhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from bellcrank.cli.library import examples
from bellcrank.files import loads
from bellcrank.verify import cases

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md"))
LOADED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src", "object": "data"}
"""What a browser fetches by itself."""


class Page(HTMLParser):
    """Links, places and what is fetched."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.places |= {value for key in ("id", "name") if (value := given.get(key))}
        if tag == "a" and (where := given.get("href")):
            self.links.append(where)
        if tag in LOADED and (where := given.get(LOADED[tag])):
            self.fetched.append(where)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Page]:
    """The built pages."""
    folder = tmp_path_factory.mktemp("site").resolve()
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    command += ["-d", str(folder / "doctrees"), str(DOCS), str(folder / "html")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-6000:]
    found = sorted((folder / "html").rglob("*.html"))
    made = [path for path in found if "_made" not in path.parts and "_static" not in path.parts]
    return {path: Page(path) for path in made}


def test_every_page_is_there(site: dict[Path, Page]) -> None:
    names = {str(path).partition("/html/")[2].removesuffix(".html") for path in site}
    for source in [*PAGES, *DOCS.glob("reference/*.rst")]:
        assert str(source.relative_to(DOCS).with_suffix("")) in names


def test_nothing_is_fetched_from_elsewhere(site: dict[Path, Page]) -> None:
    for page in site.values():
        assert not [where for where in page.fetched if re.match(r"(\w+:)?//", where)], page.path
        assert "@import" not in page.path.read_text(encoding="utf-8")
    root = next(iter(site)).parents[0]
    while not (root / "_static").is_dir():
        root = root.parent
    sheets = list(root.rglob("*.css"))
    assert sheets
    for sheet in sheets:
        fetched = re.findall(r"url\(\s*['\"]?([^)'\"]+)", sheet.read_text(encoding="utf-8"))
        assert not [where for where in fetched if re.match(r"(https?:)?//", where)], sheet


def _targets(page: Page) -> Iterator[tuple[str, Path, str]]:
    for where in [*page.links, *page.fetched]:
        if re.match(r"(\w+:)", where):
            continue
        path, place = urldefrag(where)
        path = path.partition("?")[0]
        yield where, (page.path.parent / unquote(path)).resolve() if path else page.path, unquote(place)


def test_links_lead_somewhere(site: dict[Path, Page]) -> None:
    broken = []
    for page in site.values():
        for where, target, place in _targets(page):
            if not target.exists() or (place and target in site and place not in site[target].places):
                broken.append(f"{page.path.name}: {where}")
    assert not broken, broken[:20]


def test_all_examples_are_in_the_gallery(site: dict[Path, Page]) -> None:
    gallery = next(page for path, page in site.items() if path.name == "gallery.html")
    for name in examples():
        assert "example-" + name.replace("_", "-") in gallery.places


def test_all_cases_are_in_the_manual(site: dict[Path, Page]) -> None:
    manual = next(page for path, page in site.items() if path.name == "verification.html")
    assert {f"case-{name}" for name in cases.known_cases()} <= manual.places


@pytest.mark.parametrize("name", ["pendulum", "slider-crank-impact", "two-balls", "slider-crank"])
def test_stored_numbers_are_those_of_the_cases(name: str) -> None:
    known = {
        c["case"]: c for c in json.loads((DOCS / "verification.json").read_text(encoding="utf-8"))["cases"]
    }
    (case,) = cases.find([name])
    for kept, found in zip(known[name]["quantities"], case.quantities(), strict=True):
        assert kept["quantity"] == found.quantity
        assert kept["reference"] == pytest.approx(found.reference, rel=1e-12)
        assert kept["ok"]
        assert kept["value"] == pytest.approx(found.value, abs=2 * abs(found.tolerance) + 1e-9, rel=1e-6)


def test_model_files_on_the_pages_are_read() -> None:
    blocks = [
        b for page in PAGES for b in re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    ]
    assert blocks
    for block in blocks:
        loads(block).mechanism()


def test_python_on_the_pages_is_run() -> None:
    """Blocks that are only shown would rot."""
    for page in PAGES:
        assert "```python" not in page.read_text(encoding="utf-8"), f"{page.name}: use a block that runs"


def test_exudyn_on_its_page_gives_the_same() -> None:
    """Its method is of second order: with steps of 1 ms it is a few millionths off."""
    pytest.importorskip("exudyn")
    page = (DOCS / "coming_from.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^:name: exudyn\n(.*?)```", page, re.S | re.M)
    (ours,) = [b for b in re.findall(r"```yaml\n(.*?)```", page, re.S) if "name: cart and pendulum" in b]
    found: dict[str, float] = {}
    exec(code, found)
    run = loads(ours).simulate(2.0, output=2)
    assert found["place"] == pytest.approx(run["rail.displacement"][-1], abs=5e-6)


def test_pages_fit_windows_of_any_width(site: dict[Path, Page]) -> None:
    """No text runs out of a window, beside the list of pages or without it; code and tables scroll by themselves."""
    program = pytest.importorskip("view.live.chromium").PROGRAM
    if program is None:
        pytest.skip("there is no browser")
    from view.live.chromium import Browser

    wanted = ("html/howto/export.html", "html/theory/contact.html")
    pages = [path for path in site if str(path).endswith(wanted)]
    assert len(pages) == len(wanted)
    with Browser() as browser:
        for width in (700, 1100):
            with browser.page("about:blank", width, 800) as page:
                for path in pages:
                    page.open(path.as_uri())
                    page.until(f"location.href === {path.as_uri()!r} && document.readyState === 'complete'")
                    assert page.value("document.documentElement.scrollWidth") <= width, path.name

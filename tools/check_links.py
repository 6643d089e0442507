"""Look for dead links in built pages, and for places on the machine that built them: ``python tools/check_links.py docs/_build/html``.

Every ``href`` and ``src`` that stays on the site has to lead to a file, and its ``#place`` to an element of that page. Links that leave the
site are counted and not followed: everything here is read offline. A page that names a folder of this machine has shown a warning or an
error that its author did not see. `make docs` runs this after every build.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent


class Page(HTMLParser):
    """The links of a page, and the places in it that a link can lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name == "id" or (name == "name" and tag == "a"):
                self.places.add(value or "")


def dead_links(folder: Path) -> tuple[list[str], int, int]:
    """Give the dead links of a folder of pages, as sentences, the number of pages, and that of links which leave the site."""
    # What lies in _static belongs to the theme, and may be a template rather than a page.
    files = [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.relative_to(folder).parts]
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in files}
    dead, leaving = [], 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                leaving += parts.scheme in ("http", "https")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            place = unquote(parts.fragment)
            if not target.exists():
                dead.append(f"{path.relative_to(folder.resolve())}: there is no {link}")
            elif place and target in pages and place not in pages[target].places:
                dead.append(f"{path.relative_to(folder.resolve())}: {link} leads to no place on that page")
    return dead, len(pages), leaving


def machine_places(folder: Path, places: tuple[str, ...] = (str(ROOT), sys.prefix, sys.base_prefix)) -> list[str]:
    """Give the pages that name a folder of the machine which built them."""
    files = [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.relative_to(folder).parts]
    return [
        f"{path.relative_to(folder)}: names a folder of this machine"
        for path in files
        if any(f"{place}/" in path.read_text(encoding="utf-8") for place in places)
    ]


def main() -> int:
    """Print what was found; give 1 where a link is dead or a folder is named."""
    dead, pages, leaving = dead_links(Path(sys.argv[1]))
    named = machine_places(Path(sys.argv[1]))
    print("\n".join(dead + named))
    print(f"{pages} pages, {len(dead)} dead links; {leaving} links leave the site and were not followed.")
    return 1 if dead or named or not pages else 0


if __name__ == "__main__":
    sys.exit(main())

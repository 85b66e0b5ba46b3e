"""Fetch the front-end files that the site ships itself, so that no page ever asks another host.

Run `python -m tools.vendor_assets` with npm at hand after changing a version below, and
commit what it writes: users of aclweb need no npm. Each package is fetched with
`npm pack`, and `static/vendor/vendor.json` keeps its version, licence and the sha512 of
the archive, which is what the registry calls its integrity.

Of Tabler only the rules for the classes we use are kept (see TABLER_CLASSES): the whole
sheet is ten times as large, and its utility classes with `!important` would win over ours.
Of Apache ECharts only the parts that draw our charts are kept: see vendor_charts.py.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools import vendor_charts

VENDOR = Path(__file__).resolve().parent.parent / "static" / "vendor"


@dataclass(frozen=True)
class Package:
    """One npm package and the files taken from it: path in the archive -> path under static/vendor."""

    name: str
    version: str
    folder: str
    files: dict[str, str]


PACKAGES = (
    Package("@tabler/core", "1.6.1", "tabler", {"dist/css/tabler.min.css": "tabler/tabler.css"}),
    Package("@tabler/icons", "3.51.0", "icons", {}),
    Package(
        "@fontsource-variable/inter",
        "5.3.0",
        "inter",
        {
            "files/inter-latin-wght-normal.woff2": "inter/inter-latin.woff2",
            "files/inter-latin-ext-wght-normal.woff2": "inter/inter-latin-ext.woff2",
        },
    ),
    Package(
        "@fontsource-variable/jetbrains-mono",
        "5.3.0",
        "jetbrains-mono",
        {
            "files/jetbrains-mono-latin-wght-normal.woff2": "jetbrains-mono/jetbrains-mono-latin.woff2",
            "files/jetbrains-mono-latin-ext-wght-normal.woff2": "jetbrains-mono/jetbrains-mono-latin-ext.woff2",
        },
    ),
)

# Icons in use, by their Tabler names; they become one sprite.
ICONS = [
    "adjustments",
    "alert-triangle",
    "arrow-right",
    "arrows-exchange",
    "calendar-time",
    "check",
    "chevron-down",
    "chevron-right",
    "circle-plus",
    "clock",
    "copy",
    "database",
    "device-desktop",
    "download",
    "external-link",
    "eye",
    "filter",
    "flask",
    "git-pull-request",
    "help-circle",
    "history",
    "info-circle",
    "key",
    "keyboard",
    "link",
    "list",
    "lock",
    "lock-open",
    "logout",
    "menu-2",
    "message-question",
    "minus",
    "moon",
    "pencil",
    "player-play",
    "plus",
    "refresh",
    "search",
    "server",
    "sun",
    "trash",
    "user",
    "users",
    "x",
]

TABLER_CLASSES = frozenset(
    [
        "btn",
        "btn-primary",
        "btn-danger",
        "btn-link",
        "btn-sm",
        "btn-lg",
        "btn-icon",
        "disabled",
        "active",
        "show",
        "form-control",
        "form-select",
        "form-check",
        "form-check-input",
        "form-check-label",
        "form-label",
        "is-invalid",
        "invalid-feedback",
        "form-hint",
        "visually-hidden",
        "visually-hidden-focusable",
    ]
)

_CLASS = re.compile(r"\.(-?[A-Za-z_][\w-]*)")
_SOURCE_MAP = re.compile(r"/\*# sourceMappingURL=.*?\*/")


def rules(css: str) -> Iterator[tuple[str, str]]:
    """Yield (prelude, body) for each rule at the top level of a minified sheet."""
    depth = start = 0
    prelude = ""
    for place, letter in enumerate(css):
        if letter == "{":
            if depth == 0:
                prelude, start = css[start:place], place + 1
            depth += 1
        elif letter == "}":
            depth -= 1
            if depth == 0:
                yield prelude.strip(), css[start:place]
                start = place + 1
        elif letter == ";" and depth == 0:
            start = place + 1


def subset(css: str, classes: frozenset[str]) -> str:
    """Return the sheet with only the selectors whose classes are all in `classes`."""
    kept = []
    for prelude, body in rules(css):
        if prelude.startswith(("@media", "@supports")):
            inner = subset(body, classes)
            if inner:
                kept.append(f"{prelude}{{{inner}}}")
        elif not prelude.startswith("@"):
            selectors = [
                selector
                for selector in split_selectors(prelude)
                if set(_CLASS.findall(selector)) <= classes and ("theme" not in selector)
            ]
            if selectors:
                kept.append(f"{','.join(selectors)}{{{body}}}")
    return "\n".join(kept)


def split_selectors(prelude: str) -> Iterator[str]:
    """Yield the selectors of a list; a comma within parentheses is no separator."""
    depth, start = 0, 0
    for place, letter in enumerate(prelude):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            yield prelude[start:place]
            start = place + 1
    yield prelude[start:]


def sprite(folder: Path) -> str:
    """Return one SVG with a symbol for each icon in use."""
    symbols = []
    for name in ICONS:
        drawing = (folder / "icons" / "outline" / f"{name}.svg").read_text()
        paths = re.findall(r'<path (?!stroke="none")[^>]*/>', drawing)
        symbols.append(f'<symbol id="{name}" viewBox="0 0 24 24">{"".join(paths)}</symbol>')
    return '<svg xmlns="http://www.w3.org/2000/svg">\n' + "\n".join(symbols) + "\n</svg>\n"


def fetch(package: Package, scratch: Path) -> tuple[Path, str]:
    """Return the unpacked folder of a package and the integrity of its archive."""
    done = subprocess.run(
        ["npm", "pack", "--silent", f"{package.name}@{package.version}"],
        cwd=scratch,
        check=True,
        capture_output=True,
        text=True,
    )
    archive = scratch / done.stdout.strip().splitlines()[-1]
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode("ascii")
    target = scratch / package.folder
    with tarfile.open(archive) as packed:
        packed.extractall(target, filter="data")
    return target / "package", integrity


def copy_licence(source: Path, target: Path, scratch: Path) -> None:
    """Copy a package's licence text.

    @tabler/core packs none though its package.json says MIT: the text is taken from @tabler/icons,
    which has the same authors.
    """
    text = source / "LICENSE"
    if not text.exists():
        icons = next(package for package in PACKAGES if package.folder == "icons")
        text = fetch(icons, scratch)[0] / "LICENSE"
    shutil.copyfile(text, target / "LICENSE")


def vendor() -> None:
    """Write static/vendor afresh."""
    shutil.rmtree(VENDOR, ignore_errors=True)
    ledger = []
    with tempfile.TemporaryDirectory() as name:
        for package in PACKAGES:
            source, integrity = fetch(package, Path(name))
            for inside, outside in package.files.items():
                target = VENDOR / outside
                target.parent.mkdir(parents=True, exist_ok=True)
                if target.suffix == ".css":
                    text = subset(_SOURCE_MAP.sub("", (source / inside).read_text()), TABLER_CLASSES)
                    head = (
                        f"/* Part of {package.name} {package.version}, MIT licence: see LICENSE beside. */\n"
                    )
                    target.write_text(head + text + "\n")
                else:
                    shutil.copyfile(source / inside, target)
            if package.name == "@tabler/icons":
                (VENDOR / "icons").mkdir(parents=True, exist_ok=True)
                (VENDOR / "icons" / "sprite.svg").write_text(sprite(source))
            copy_licence(source, VENDOR / package.folder, scratch=Path(name))
            licence = json.loads((source / "package.json").read_text())["license"]
            ledger.append(
                {"name": package.name, "version": package.version, "licence": licence, "integrity": integrity}
            )
        building = Path(name) / "building"
        building.mkdir()
        ledger += vendor_charts.build(VENDOR / "echarts", building)
    (VENDOR / "vendor.json").write_text(json.dumps(ledger, indent=2) + "\n")
    for path in sorted(VENDOR.rglob("*")):
        if path.is_file():
            print(f"{path.stat().st_size:>9,} {path.relative_to(VENDOR)}")


if __name__ == "__main__":
    vendor()

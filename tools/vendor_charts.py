"""Build the part of Apache ECharts that the site's charts use, as one file that any page may load.

Run `python -m tools.vendor_assets` with npm at hand after changing a version or a part below, and commit what it
writes; it calls `build`. The packages are installed with the exact versions below (ECharts names those of zrender
and tslib exactly itself), and esbuild leaves out what no part needs. The same versions give the same bytes:
`static/vendor/vendor.json` keeps their SHA-256 beside the integrity of each archive.

The whole of ECharts is 1.1 MB; drawing bars on a grid alone takes 470 KB of it, all parts below 580 KB, of which
200 KB travel. So only pages with a chart load it, after everything else.

Charts are drawn as SVG: its texts are sharp in print, and zrender sets what would be style attributes through the
CSSOM, which the site's policy allows. Tooltips must be drawn too (`renderMode: "richText"`): those of HTML are
written with style attributes, which the policy forbids.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

ECHARTS = "6.1.0"
ESBUILD = "0.28.2"

CHARTS = ("BarChart", "HeatmapChart", "LineChart")
COMPONENTS = (
    "AriaComponent",
    "DataZoomInsideComponent",
    "DataZoomSliderComponent",
    "GridComponent",
    "TooltipComponent",
)
RENDERER = "SVGRenderer"

FILE = "echarts.js"
# Whose code is in the file, and under which licence; the text of each is beside it.
PACKAGES = {"echarts": "Apache-2.0", "zrender": "BSD-3-Clause", "tslib": "0BSD"}
_LICENCES = {
    "echarts/LICENSE": "LICENSE",
    "echarts/NOTICE": "NOTICE",
    "echarts/licenses/LICENSE-d3": "LICENSE-d3",
    "zrender/LICENSE": "LICENSE-zrender",
    "tslib/LICENSE.txt": "LICENSE-tslib",
}


def build(target: Path, scratch: Path) -> list[dict[str, Any]]:
    """Write the build and the licences to the folder `target`; return what is to be kept about it.

    scratch: an empty folder for the packages.
    """
    (scratch / "package.json").write_text('{"private": true}\n')
    wanted = [f"echarts@{ECHARTS}", f"esbuild@{ESBUILD}"]
    _run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", *wanted], scratch)
    target.mkdir(parents=True, exist_ok=True)
    (scratch / "charts.js").write_text(_entry())
    banner = f"/* Part of Apache ECharts {ECHARTS}, with zrender and tslib: see the licences beside. */"
    _run(
        [
            "node_modules/.bin/esbuild",
            "charts.js",
            "--bundle",
            "--minify",
            "--format=iife",
            "--global-name=echarts",
            "--target=es2022",
            "--legal-comments=none",
            "--log-level=warning",
            f"--banner:js={banner}",
            f"--outfile={target / FILE}",
        ],
        scratch,
    )
    for inside, outside in _LICENCES.items():
        shutil.copyfile(scratch / "node_modules" / inside, target / outside)
    locked = json.loads((scratch / "package-lock.json").read_text())["packages"]
    ledger: list[dict[str, Any]] = [
        {
            "name": name,
            "version": locked[f"node_modules/{name}"]["version"],
            "licence": licence,
            "integrity": locked[f"node_modules/{name}"]["integrity"],
        }
        for name, licence in PACKAGES.items()
    ]
    ledger[0]["built"] = {
        "file": f"{target.name}/{FILE}",
        "with": f"esbuild {ESBUILD}",
        "parts": [*CHARTS, *COMPONENTS, RENDERER],
        "sha256": hashlib.sha256((target / FILE).read_bytes()).hexdigest(),
    }
    return ledger


def _entry() -> str:
    """Return the module that is bundled: ECharts' `init`, with the parts above in use."""
    return "\n".join(
        [
            'import { init, use } from "echarts/core";',
            f'import {{ {", ".join(CHARTS)} }} from "echarts/charts";',
            f'import {{ {", ".join(COMPONENTS)} }} from "echarts/components";',
            f'import {{ {RENDERER} }} from "echarts/renderers";',
            f"use([{', '.join((*CHARTS, *COMPONENTS, RENDERER))}]);",
            "export { init };",
            "",
        ]
    )


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True)

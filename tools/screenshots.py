"""Take a picture of every page of a running site, for the docs: wide and narrow, light and dark.

    ./run                                                   (in another terminal)
    python tools/screenshots.py --address http://127.0.0.1:8000 --user ben

The password is asked for, or read from ACLWEB_PASSWORD. Pictures go to docs/screenshots as
WebP, named after the page, the width and the theme. Chromium makes the WebP itself, so no
other program is needed; look at them before committing.
"""

from __future__ import annotations

import argparse
import base64
import getpass
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, urlencode, urljoin

from playwright.sync_api import BrowserContext, Page, sync_playwright

OUT = Path(__file__).resolve().parent.parent / "docs" / "screenshots"
SIZES = {1440: 900, 390: 844}
THEMES = ("light", "dark")
TALLEST = {1440: 1300, 390: 1600}  # pixels; what lies below is more of the same
_NAMES = (
    "chromium",
    "chromium-headless-shell",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "chrome",
)

_RULE = {
    "resource_type": "TOPIC",
    "resource_name": "payments.",
    "pattern_type": "PREFIXED",
    "principal": "User:ledger-svc",
    "host": "*",
    "operation": "READ",
    "permission_type": "ALLOW",
}


_RANGE = _RULE | {"host": "10.20.0.0/16"}

_MAPPING = {
    "kind": "ssl",
    "rules": "RULE:^CN=([^,]*),OU=platform.*$/$1/L, DEFAULT",
    "names": "subject=O = Nordhavn, OU = risk, CN = fraud-detector\nCN=kafka-broker,OU=platform,O=Nordhavn",
}

_DRAFTS = {
    "first": "kafka-acls --bootstrap-server broker:9092 --add --allow-principal User:ledger-svc \\\n"
    "  --operation Read --topic payments.orders.v1",
    "second": "kafka-acls --bootstrap-server broker:9092 --add --allow-principal User:ledger-svc \\\n"
    "  --operation Read --topic payments. --resource-pattern-type prefixed",
    "new_topic": "payments.refunds.v2",
}


def pages(cluster: str) -> Mapping[str, str]:
    """Return the pages to take, by the name of their picture; they show the demo's clusters."""
    refused = urlencode(
        {
            "principal": "User:billing-svc",
            "operation": "DESCRIBE",
            "type": "TOPIC",
            "name": "payments.orders.v1",
            "host": "10.20.6.30",
        }
    )
    allowed = urlencode(
        {
            "principal": "User:ledger-svc",
            "operation": "READ",
            "type": "TOPIC",
            "name": "payments.orders.v1",
            "host": "",
        }
    )
    principal = quote("User:CN=fraud-detector,OU=risk,O=Nordhavn", safe="")
    there = f"/c/{cluster}"
    return {
        "home": f"/?cluster={cluster}",
        "home-refused": f"/?cluster={cluster}&{refused}",
        "home-allowed": f"/?cluster={cluster}&{allowed}",
        "explain": f"{there}/explain/?{refused}",
        "clusters": "/clusters/",
        "cluster": f"{there}/",
        "topics": f"{there}/topics/",
        "topic": f"{there}/topics/payments.orders.v1",
        "principals": f"{there}/principals/",
        "principal": f"{there}/principal/?name={principal}",
        "mapping": f"{there}/mapping/?{urlencode(_MAPPING)}",
        "acls": f"{there}/acls/",
        "acls-affects": f"{there}/acls/?resource_type=TOPIC&name=payments.orders.v1&match=affects",
        "search": f"{there}/search/?q=payments",
        "what-if": f"{there}/what-if/?{urlencode({'add': json.dumps(_RULE)})}",
        "drafts": f"{there}/compare/drafts/?{urlencode(_DRAFTS)}",
        "changes": "/changes/?tab=all",
        "what-if-range": f"{there}/what-if/?{urlencode({'add': json.dumps(_RANGE)})}",
        "insights": f"{there}/insights/",
        "coverage": f"{there}/insights/coverage/",
        "least-privilege": f"{there}/principal/least-privilege/?name={principal}",
        "log-sources": f"{there}/log-sources/",
        "findings": f"{there}/findings/?text=payments",
        "events": "/events/",
    }


# The page of the first of some links on another page.
_FIRST_OF = {
    "change": ("changes", "main a[href^='/changes/CR-']"),
    "denial": ("insights", "#denials a[href*='open=']"),
}


def sign_in(context: BrowserContext, address: str, user: str, password: str) -> None:
    page = context.new_page()
    page.goto(f"{address}/sign-in/")
    page.get_by_label("User name").fill(user)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_load_state("networkidle")
    if "/sign-in" in page.url:
        raise SystemExit(
            f"Signing in as {user!r} at {address} failed; give the password that the first start printed."
        )
    page.close()


def first_of(page: Page, list_address: str, links: str) -> str | None:
    """Return the address of the first of some links on a page, if there is one."""
    page.goto(list_address)
    link = page.locator(links).first
    return urljoin(list_address, link.get_attribute("href")) if link.count() else None


def take(page: Page, converter: Page, target: Path, width: int) -> None:
    """Write what the page shows as WebP."""
    height = min(int(page.evaluate("document.documentElement.scrollHeight")), TALLEST[width])
    page.set_viewport_size({"width": width, "height": max(SIZES[width], height)})
    png = page.screenshot()
    webp = converter.evaluate(
        """async (data) => {
            const image = new Image();
            image.src = "data:image/png;base64," + data;
            await image.decode();
            const canvas = new OffscreenCanvas(image.width, image.height);
            canvas.getContext("2d").drawImage(image, 0, 0);
            const blob = await canvas.convertToBlob({type: "image/webp", quality: 0.72});
            const bytes = new Uint8Array(await blob.arrayBuffer());
            let text = "";
            for (const byte of bytes) text += String.fromCharCode(byte);
            return btoa(text);
        }""",
        base64.b64encode(png).decode("ascii"),
    )
    target.write_bytes(base64.b64decode(webp))
    page.set_viewport_size({"width": width, "height": SIZES[width]})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--address", default="http://127.0.0.1:8000")
    parser.add_argument("--user", default="ben")
    parser.add_argument("--cluster", default="prod-eu")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--only", help="pages to take, separated by commas")
    given = parser.parse_args()
    password = os.environ.get("ACLWEB_PASSWORD") or getpass.getpass(f"Password of {given.user}: ")
    wanted = given.only.split(",") if given.only else None
    given.out.mkdir(parents=True, exist_ok=True)

    chromium = os.environ.get("ACLWEB_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    arguments = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        converter = browser.new_page()
        for width, height in SIZES.items():
            for theme in THEMES:
                context = browser.new_context(
                    viewport={"width": width, "height": height},
                    color_scheme="dark" if theme == "dark" else "light",
                    reduced_motion="reduce",
                )
                page = context.new_page()
                if wanted is None or "sign-in" in wanted:
                    page.goto(f"{given.address}/sign-in/")
                    take(page, converter, given.out / f"sign-in-{width}-{theme}.webp", width)
                sign_in(context, given.address, given.user, password)
                todo = dict(pages(given.cluster))
                for name, (where, links) in _FIRST_OF.items():
                    found = first_of(page, given.address + todo[where], links)
                    if found:
                        todo[name] = found.removeprefix(given.address)
                for name, path in todo.items():
                    if wanted is not None and name not in wanted:
                        continue
                    page.goto(given.address + path)
                    page.wait_for_load_state("networkidle")
                    target = given.out / f"{name}-{width}-{theme}.webp"
                    take(page, converter, target, width)
                    print(f"{target.stat().st_size:>8,} {target.name}", flush=True)
                context.close()
        browser.close()


if __name__ == "__main__":
    main()
